//! Lossless edits of the YAML of a database: only the affected lines change, all other bytes stay.
//!
//! The SDK edits the frontmatter of notes losslessly. The YAML of a database is passed to it as frontmatter: the whole
//! document for top-level keys, or the lines of one view, with its dash replaced by a space, for the keys of that view.
//! The result is parsed and compared with the intended mapping.

use crate::base::mapping;
use crate::open::{Database, Source};
use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::{Map, Value};
use notehost_sdk::text::{self, Newline, Splice, splice};
use std::ops::Range;

/// An edit of the YAML of a database.
pub(crate) struct YamlEdit<'d> {
    source: &'d Source,
    name: &'d str,
    yaml: String,
}

impl<'d> YamlEdit<'d> {
    /// Starts an edit of a database. A folder has no YAML to edit.
    pub(crate) fn of(database: &'d Database) -> Result<YamlEdit<'d>> {
        let Some(source) = &database.source else {
            return Err(Error::unsupported(format!(
                "`{}` is a folder: it has no views to edit",
                database.name
            )));
        };
        Ok(YamlEdit {
            source,
            name: &database.name,
            yaml: source.yaml().to_owned(),
        })
    }

    /// The current YAML mapping.
    pub(crate) fn all(&self) -> Result<Map<String, Value>> {
        mapping(&self.yaml, self.name, self.source.line)
    }

    /// Sets and removes top-level keys.
    pub(crate) fn set(&mut self, set: &Map<String, Value>, remove: &[String]) -> Result<()> {
        let newline = self.newline();
        self.yaml = set_keys(&self.yaml, set, remove, newline).ok_or_else(|| self.refusal())?;
        Ok(())
    }

    /// Sets and removes keys of a view.
    pub(crate) fn set_in_view(
        &mut self,
        index: usize,
        set: &Map<String, Value>,
        remove: &[String],
    ) -> Result<()> {
        let before = self.all()?;
        let newline = self.newline();
        let mut intended = before.clone();
        let view = intended
            .get_mut("views")
            .and_then(|views| views.get_mut(index))
            .and_then(Value::as_object_mut)
            .ok_or_else(|| self.refusal())?;
        for key in remove {
            view.shift_remove(key);
        }
        for (key, value) in set {
            view.insert(key.clone(), value.clone());
        }
        let whole = Map::from_iter([("views".to_owned(), intended["views"].clone())]);
        let edited = self
            .edited_view(index, set, remove, newline)
            .filter(|edited| mapping(edited, self.name, 1).is_ok_and(|all| all == intended));
        // Views in flow style have no lines of their own, so the whole list is rewritten.
        let edited = match edited {
            None if !self.has_block_views() => set_keys(&self.yaml, &whole, &[], newline),
            edited => edited,
        };
        match edited {
            Some(edited) if mapping(&edited, self.name, 1).is_ok_and(|all| all == intended) => {
                self.yaml = edited;
                Ok(())
            }
            _ => Err(self.refusal()),
        }
    }

    /// Writes the file if it changed. Returns whether it did.
    pub(crate) fn write(self, vault: &Vault) -> Result<bool> {
        let note = &self.source.note;
        let edited = splice::apply(
            &note.text,
            vec![Splice::replace(self.source.yaml.clone(), self.yaml)],
        )?;
        vault.write_note(note, &edited)?;
        Ok(edited != note.text)
    }

    fn newline(&self) -> &'static str {
        Newline::of(&self.source.note.text)
            .unwrap_or(Newline::Lf)
            .as_str()
    }

    fn refusal(&self) -> Error {
        Error::unsupported(format!(
            "the YAML of `{}` cannot be edited without changing other lines: edit its text instead",
            self.name
        ))
    }

    fn has_block_views(&self) -> bool {
        !view_lines(&self.yaml).is_empty()
    }

    /// The YAML with one view edited.
    fn edited_view(
        &self,
        index: usize,
        set: &Map<String, Value>,
        remove: &[String],
        newline: &str,
    ) -> Option<String> {
        let ViewLines { lines, dash } = view_lines(&self.yaml).into_iter().nth(index)?;
        let item = &self.yaml[lines.clone()];
        let dash = dash - lines.start;
        let mapping = format!("{} {}", &item[..dash], &item[dash + 1..]);
        let edited = set_keys(&mapping, set, remove, newline)?;
        // The dash moves to the new first line.
        let is_free = edited.get(dash..dash + 1) == Some(" ")
            && edited[..dash].bytes().all(|byte| byte == b' ');
        let edited = is_free.then(|| format!("{}-{}", &edited[..dash], &edited[dash + 1..]))?;
        splice::apply(&self.yaml, vec![Splice::replace(lines, edited)]).ok()
    }
}

/// Edits keys of a YAML mapping with the frontmatter editor of the SDK.
fn set_keys(
    yaml: &str,
    set: &Map<String, Value>,
    remove: &[String],
    newline: &str,
) -> Option<String> {
    let is_open = !yaml.is_empty() && !yaml.ends_with('\n');
    let end = if is_open { newline } else { "" };
    let note = format!("---{newline}{yaml}{end}---{newline}");
    let edited = text::set_properties(&note, set, remove).ok()?;
    // The SDK removes a frontmatter that has no keys left.
    if edited.is_empty() {
        return Some(String::new());
    }
    let inner = edited
        .strip_prefix(&format!("---{newline}"))?
        .strip_suffix(&format!("---{newline}"))?;
    let inner = if is_open {
        inner.strip_suffix(newline).unwrap_or(inner)
    } else {
        inner
    };
    Some(inner.to_owned())
}

/// The lines of a view and the position of its dash.
struct ViewLines {
    lines: Range<usize>,
    dash: usize,
}

/// The views of the block-style list under `views:`, in order; empty for other styles.
fn view_lines(yaml: &str) -> Vec<ViewLines> {
    let mut views: Vec<ViewLines> = Vec::new();
    let mut column = None;
    let mut in_views = false;
    let mut at = 0;
    // End of the last line that is neither blank nor a comment: later lines belong to no view.
    let mut end = 0;
    for line in yaml.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let content = line.trim_start_matches(' ');
        let indent = line.len() - content.len();
        let is_blank = content.trim().is_empty() || content.starts_with('#');
        let is_dash = content
            .strip_prefix('-')
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\r', '\n']));
        if !in_views {
            let rest = line.strip_prefix("views:");
            in_views = rest
                .is_some_and(|rest| rest.trim().is_empty() || rest.trim_start().starts_with('#'));
            continue;
        }
        if is_blank {
            continue;
        }
        if is_dash && column.is_none_or(|column| column == indent) {
            column = Some(indent);
            if let Some(last) = views.last_mut() {
                last.lines.end = end;
            }
            views.push(ViewLines {
                lines: start..at,
                dash: start + indent,
            });
        } else if column.is_none_or(|column| indent <= column) {
            break;
        }
        end = at;
    }
    if let Some(last) = views.last_mut() {
        last.lines.end = end.max(last.lines.start);
    }
    views
}

/// Serialises a mapping as the text of a `.base` file.
pub(crate) fn to_yaml(all: &Map<String, Value>) -> Result<String> {
    set_keys("", all, &[], "\n").ok_or_else(|| {
        Error::validation("the database cannot be written as YAML: use simpler names".to_owned())
    })
}
