//! Changing the YAML of a database: only the lines that are concerned, all other bytes stay.
//!
//! The frontmatter of notes is changed losslessly by the SDK. YAML of a database is handed to it as such: as a whole for
//! the keys at its top, and one view alone for the keys of that view, its dash taken for a space meanwhile. What comes
//! out is read again and compared with what was meant.

use crate::base::mapping;
use crate::place::{Database, Source};
use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::{Map, Value};
use notehost_sdk::text::{self, Newline, Splice, splice};
use std::ops::Range;

/// The YAML of a database while it is changed.
pub(crate) struct Edit<'d> {
    source: &'d Source,
    name: &'d str,
    yaml: String,
}

impl<'d> Edit<'d> {
    /// Begins to change a database; a folder has nothing that could be.
    pub(crate) fn of(database: &'d Database) -> Result<Edit<'d>> {
        let Some(source) = &database.source else {
            return Err(Error::unsupported(format!(
                "`{}` is a folder: it has no views that could be changed",
                database.name
            )));
        };
        Ok(Edit {
            source,
            name: &database.name,
            yaml: source.yaml().to_owned(),
        })
    }

    /// All that the YAML says now.
    pub(crate) fn all(&self) -> Result<Map<String, Value>> {
        mapping(&self.yaml, self.name, self.source.line)
    }

    /// Gives keys at the top other values, and removes some.
    pub(crate) fn set(&mut self, set: &Map<String, Value>, remove: &[String]) -> Result<()> {
        let newline = self.newline();
        self.yaml = changed(&self.yaml, set, remove, newline).ok_or_else(|| self.refusal())?;
        Ok(())
    }

    /// Gives keys of a view other values, and removes some.
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
            .view_changed(index, set, remove, newline)
            .filter(|edited| mapping(edited, self.name, 1).is_ok_and(|all| all == intended));
        // Views on one line are written anew as a whole; nothing else of them can be known.
        let edited = match edited {
            None if !self.has_block_views() => changed(&self.yaml, &whole, &[], newline),
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

    /// Writes the file, if anything changed. Returns whether it did.
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
            "`{}` is written in a way that cannot be changed without touching other lines of it: edit its text instead",
            self.name
        ))
    }

    fn has_block_views(&self) -> bool {
        !view_lines(&self.yaml).is_empty()
    }

    /// The YAML with one view changed.
    fn view_changed(
        &self,
        index: usize,
        set: &Map<String, Value>,
        remove: &[String],
        newline: &str,
    ) -> Option<String> {
        let View { lines, dash } = view_lines(&self.yaml).into_iter().nth(index)?;
        let item = &self.yaml[lines.clone()];
        let dash = dash - lines.start;
        let mapping = format!("{} {}", &item[..dash], &item[dash + 1..]);
        let edited = changed(&mapping, set, remove, newline)?;
        // Whatever line comes first now gets the dash.
        let is_free = edited.get(dash..dash + 1) == Some(" ")
            && edited[..dash].bytes().all(|byte| byte == b' ');
        let edited = is_free.then(|| format!("{}-{}", &edited[..dash], &edited[dash + 1..]))?;
        splice::apply(&self.yaml, vec![Splice::replace(lines, edited)]).ok()
    }
}

/// YAML with some keys changed, as the SDK changes frontmatter.
fn changed(
    yaml: &str,
    set: &Map<String, Value>,
    remove: &[String],
    newline: &str,
) -> Option<String> {
    let is_open = !yaml.is_empty() && !yaml.ends_with('\n');
    let end = if is_open { newline } else { "" };
    let note = format!("---{newline}{yaml}{end}---{newline}");
    let edited = text::set_properties(&note, set, remove).ok()?;
    // A frontmatter that lost its last key is gone as a whole.
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

/// The lines of a view, and where its dash stands.
struct View {
    lines: Range<usize>,
    dash: usize,
}

/// The views in a block list below `views:`, in their order; none where they are written otherwise.
fn view_lines(yaml: &str) -> Vec<View> {
    let mut views: Vec<View> = Vec::new();
    let mut column = None;
    let mut in_views = false;
    let mut at = 0;
    // Where the last line ends that is no comment and not empty: what follows belongs to no view.
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
            views.push(View {
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

/// A `.base` file that says just this.
pub(crate) fn written(all: &Map<String, Value>) -> Result<String> {
    changed("", all, &[], "\n").ok_or_else(|| {
        Error::validation("the database cannot be written as YAML: use plainer names".to_owned())
    })
}
