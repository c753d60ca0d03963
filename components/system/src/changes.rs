//! What was changed of late through this server, by whom.

use notehost_sdk::dates::{TIME_FORMATS, iso, parse_time_range};
use notehost_sdk::pages::{checked_limit, counted, more};
use notehost_sdk::prelude::*;

/// How many changes are asked for at once.
const AT_ONCE: u32 = 100;

/// What was changed of late, the latest first: which notes, by whom, with which action. Each can be undone.
///
/// Example: `{"since": "today"}`
#[args]
pub struct Changes {
    /// Only later ones: a date, a moment, `today`, `-7d`, or the id of a change.
    pub since: Option<String>,
    /// How many, 1–200 (default 20).
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// Changes.
#[reply]
pub struct ChangeList {
    /// The latest first.
    pub items: Vec<ChangeTold>,
    /// For the next page.
    pub next_cursor: Option<String>,
}

/// One change.
#[reply]
pub struct ChangeTold {
    /// Its id: `document.undo` takes it back.
    pub change: String,
    /// When.
    pub time: String,
    /// Who called.
    pub caller: String,
    /// Which action of which domain.
    pub action: String,
    /// The change that this one took back.
    pub undoes: Option<String>,
    /// Whether a later change took this one back.
    pub undone: bool,
    /// What happened to which files.
    pub files: Vec<FileTold>,
}

/// What happened to a file.
#[reply]
pub struct FileTold {
    /// The file.
    pub path: String,
    /// `create`, `modify`, `rename` or `delete`.
    pub kind: String,
    /// Where it was before.
    pub from: Option<String>,
}

/// Where the list ends.
enum End {
    Never,
    Before(u64),
    At(String),
}

impl Action for Changes {
    type Output = ChangeList;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<ChangeList> {
        let limit = checked_limit(self.limit, 20, 200)?;
        let end = end(vault, self.since.as_deref())?;
        let mut items: Vec<ChangeTold> = Vec::new();
        let mut after = self.cursor;
        loop {
            let page = vault.history(None, after.as_deref(), AT_ONCE)?;
            let is_last = (page.len() as u32) < AT_ONCE;
            after = page.last().map(|change| change.id.clone());
            for change in page {
                let is_over = match &end {
                    End::Never => false,
                    End::Before(time) => change.time < *time,
                    End::At(id) => change.id == *id,
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
                items.push(told(change));
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
            return "nothing was changed".to_owned();
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

fn end(vault: &Vault, since: Option<&str>) -> Result<End> {
    let Some(since) = since.map(str::trim) else {
        return Ok(End::Never);
    };
    if let Some(time) = parse_time_range(since, &vault.now()) {
        return Ok(End::Before(time.from));
    }
    // An id that nobody knows would list everything.
    let mut after = None;
    loop {
        let page = vault.history(None, after.as_deref(), AT_ONCE)?;
        if page.iter().any(|change| change.id == since) {
            return Ok(End::At(since.to_owned()));
        }
        after = page.last().map(|change| change.id.clone());
        if (page.len() as u32) < AT_ONCE {
            break;
        }
    }
    Err(Error::validation(format!(
        "`since` is `{since}`, and should be {TIME_FORMATS}, or the id of a change"
    )))
}

fn told(change: notehost_sdk::Change) -> ChangeTold {
    let files = change.files.into_iter().map(|file| FileTold {
        path: file.path,
        kind: file.kind.word().to_owned(),
        from: file.from,
    });
    ChangeTold {
        change: change.id,
        time: iso(change.time),
        caller: change.caller,
        action: change.action,
        undoes: change.undoes,
        undone: change.undone,
        files: files.collect(),
    }
}
