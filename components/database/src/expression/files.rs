//! The attributes of files in expressions.

use super::evaluate::Evaluator;
use super::value::{Link, Value};
use super::vocabulary::FILE_FIELDS;
use notehost_sdk::index::FoundNote;
use notehost_sdk::{is_note, parent_of, stem_of};
use std::rc::Rc;

impl Evaluator<'_, '_> {
    /// An attribute of any file.
    pub(super) fn other_file(&self, path: &Rc<str>, name: &str) -> Result<Value, String> {
        if name == "file" {
            return Ok(Value::File(path.clone()));
        }
        let Some(field) = FILE_FIELDS.into_iter().find(|field| *field == name) else {
            return Err(format!("a file has no `{name}`"));
        };
        match self.row.filter(|row| *row.note.path == **path) {
            Some(row) => self.file_field(&row.note, field),
            None => match self.context.note(path) {
                Some(note) => self.file_field(&note, field),
                None => self.file_field(
                    &FoundNote {
                        path: path.to_string(),
                        ..FoundNote::default()
                    },
                    field,
                ),
            },
        }
    }

    pub(super) fn file_field(&self, note: &FoundNote, field: &str) -> Result<Value, String> {
        let path = note.path.as_str();
        let file_name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        let links = |is_wanted: fn(&notehost_sdk::index::LinkAt) -> bool| {
            let links = note
                .links
                .iter()
                .flatten()
                .filter(|link| !link.external && is_wanted(link));
            let links = links.filter(|link| !link.target.is_empty()).map(|link| {
                Value::Link(Rc::new(Link {
                    target: format!(
                        "{}{}",
                        link.target,
                        link.fragment.as_deref().unwrap_or_default()
                    ),
                    display: link.text.clone(),
                    is_external: false,
                }))
            });
            Value::list(links.collect())
        };
        Ok(match field {
            "name" | "basename" if is_note(path) => Value::text(stem_of(path)),
            "name" => Value::text(file_name),
            "basename" => Value::text(
                file_name
                    .rsplit_once('.')
                    .map_or(file_name, |(stem, _)| stem),
            ),
            "path" => Value::text(path),
            "folder" => Value::text(parent_of(path)),
            "ext" => Value::text(
                file_name
                    .rsplit_once('.')
                    .map_or("", |(_, extension)| extension),
            ),
            "size" => note
                .size
                .map_or(Value::Null, |size| Value::Number(size as f64)),
            // The vault stores no creation time.
            "mtime" | "ctime" => note
                .modified
                .map_or(Value::Null, |time| Value::Date(self.context.local(time))),
            "tags" => Value::list(tags(note).into_iter().map(Value::text).collect())?,
            "aliases" => Value::list(
                note.aliases
                    .iter()
                    .flatten()
                    .map(|alias| Value::text(alias.as_str()))
                    .collect(),
            )?,
            "links" => links(|link| !link.kind.is_embed())?,
            "embeds" => links(|link| link.kind.is_embed())?,
            "backlinks" => {
                let incoming = self.context.incoming(path).into_iter();
                Value::list(incoming.map(|path| Value::File(path.into())).collect())?
            }
            "properties" => Value::Object(Rc::new(note.properties.clone().unwrap_or_default())),
            _ => Value::File(path.into()),
        })
    }
}

/// The distinct tags of a note, without `#`.
pub(crate) fn tags(note: &FoundNote) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for tag in note.tags.iter().flatten() {
        if !names
            .iter()
            .any(|known| known.eq_ignore_ascii_case(&tag.tag))
        {
            names.push(&tag.tag);
        }
    }
    names
}
