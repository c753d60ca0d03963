//! Recent changes made through this server, and who made them.

use notehost_sdk::dates::{TIME_FORMATS, iso, parse_time_range};
use notehost_sdk::pages::{checked_limit, counted, more};
use notehost_sdk::prelude::*;

/// How many changes to fetch at once.
const BATCH_SIZE: u32 = 100;

/// List recent changes, the latest first: which notes were changed, by whom, with which action. Each can be undone.
///
/// Example: `{"since": "today"}`
#[args]
pub struct Changes {
    /// Only later changes: a date, a time, `today`, `-7d`, or the id of a change.
    pub since: Option<String>,
    /// Page size, 1–200 (default 20).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// A page of changes.
#[reply]
pub struct ChangeList {
    /// The changes, the latest first.
    pub items: Vec<ChangeItem>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
}

/// One change.
#[reply]
pub struct ChangeItem {
    /// Its id, for `document.undo`.
    pub change: String,
    /// The time.
    pub time: String,
    /// The caller.
    pub caller: String,
    /// The domain and action.
    pub action: String,
    /// The change that this one undoes.
    pub undoes: Option<String>,
    /// Whether a later change undid this one.
    pub undone: bool,
    /// The changed files; none if only folders or the data of a component changed.
    pub files: Vec<ChangedFile>,
}

/// A changed file.
#[reply]
pub struct ChangedFile {
    /// The file.
    pub path: String,
    /// `create`, `modify`, `rename` or `delete`.
    pub kind: String,
    /// Its previous path.
    pub from: Option<String>,
}

/// Where the list ends.
enum ListEnd {
    Never,
    Before(u64),
    AtChange(String),
}

impl Action for Changes {
    type Output = ChangeList;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<ChangeList> {
        let limit = checked_limit(self.limit, 20, 200)?;
        let end = end(vault, self.since.as_deref())?;
        let mut items: Vec<ChangeItem> = Vec::new();
        let mut after = self.cursor;
        loop {
            let page = vault.history(None, after.as_deref(), BATCH_SIZE)?;
            let is_last = (page.len() as u32) < BATCH_SIZE;
            after = page.last().map(|change| change.id.clone());
            for change in page {
                let is_over = match &end {
                    ListEnd::Never => false,
                    ListEnd::Before(time) => change.time < *time,
                    ListEnd::AtChange(id) => change.id == *id,
                };
                if is_over {
                    return Ok(ChangeList {
                        items,
                        next_cursor: None,
                    });
                }
                if items.len() == limit {
                    return Ok(ChangeList {
                        next_cursor: items.last().map(|last| last.change.clone()),
                        items,
                    });
                }
                items.push(change_item(change));
            }
            if is_last {
                return Ok(ChangeList {
                    items,
                    next_cursor: None,
                });
            }
        }
    }

    fn text(output: &ChangeList) -> String {
        if output.items.is_empty() {
            return "no changes".to_owned();
        }
        let lines: Vec<String> = output
            .items
            .iter()
            .map(|change| {
                let files: Vec<String> = change
                    .files
                    .iter()
                    .take(3)
                    .map(|file| format!("{} {}", file.kind, file.path))
                    .collect();
                let others = match change.files.len().saturating_sub(3) {
                    0 => String::new(),
                    others => format!(" and {}", counted(others as u64, "other file")),
                };
                let undone = if change.undone { " (undone)" } else { "" };
                format!(
                    "{} {} {} by {}: {}{others}{undone}",
                    change.time,
                    change.change,
                    change.action,
                    change.caller,
                    files.join(", ")
                )
            })
            .collect();
        lines.join("\n") + &more(output.next_cursor.as_ref())
    }
}

fn end(vault: &Vault, since: Option<&str>) -> Result<ListEnd> {
    let Some(since) = since.map(str::trim) else {
        return Ok(ListEnd::Never);
    };
    if let Some(time) = parse_time_range(since, &vault.now()) {
        return Ok(ListEnd::Before(time.from));
    }
    // An unknown id would list everything.
    let mut after = None;
    loop {
        let page = vault.history(None, after.as_deref(), BATCH_SIZE)?;
        if page.iter().any(|change| change.id == since) {
            return Ok(ListEnd::AtChange(since.to_owned()));
        }
        after = page.last().map(|change| change.id.clone());
        if (page.len() as u32) < BATCH_SIZE {
            break;
        }
    }
    Err(Error::validation(format!(
        "`since` is `{since}`, expected {TIME_FORMATS}, or the id of a change"
    )))
}

fn change_item(change: notehost_sdk::Change) -> ChangeItem {
    let files = change.files.into_iter().map(|file| ChangedFile {
        path: file.path,
        kind: file.kind.as_str().to_owned(),
        from: file.from,
    });
    ChangeItem {
        change: change.id,
        time: iso(change.time),
        caller: change.caller,
        action: change.action,
        undoes: change.undoes,
        undone: change.undone,
        files: files.collect(),
    }
}
