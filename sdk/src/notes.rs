//! Resolves the path or name in a caller's arguments to a single note or file, and reads and writes its text.

use crate::nearest::{KnownNames, SIMILAR_NAME};
use crate::{Code, Entry, Error, Kind, Result, Vault, fold_name, listed, quoted};
use serde_json::json;

/// Entries per `list` call when a whole folder is listed.
const LIST_PAGE_ENTRIES: u32 = 4096;
/// The maximum number of paths in an error.
const MAX_LISTED: usize = 5;

/// A note and its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Its path in the vault.
    pub path: String,
    /// Its text, byte for byte.
    pub text: String,
    /// Identifies this content.
    pub etag: String,
}

/// Whether a path names a note: a `.md` file.
pub fn is_note(path: &str) -> bool {
    path.len() > 3
        && path.is_char_boundary(path.len() - 3)
        && path[path.len() - 3..].eq_ignore_ascii_case(".md")
}

/// The top-level folder of a path; `.` for notes in the root.
pub fn notebook_of(path: &str) -> &str {
    path.split_once('/').map_or(".", |(notebook, _)| notebook)
}

/// The parent folder of a path; `""` for the root.
pub fn parent_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// The last part of a path, without `.md`.
pub fn stem_of(path: &str) -> &str {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    if is_note(name) {
        &name[..name.len() - 3]
    } else {
        name
    }
}

impl Vault {
    /// The path of the note that `name` identifies: its path, with or without `.md`, or its unique name, also written as
    /// a link (`[[Plan]]`).
    pub fn find_note(&self, name: &str) -> Result<String> {
        let name = unbracketed(name);
        if name.is_empty() {
            return Err(Error::validation("the note's path or name is empty"));
        }
        if let Some(path) = self.note_at(name) {
            return Ok(path);
        }
        let notes: Vec<String> = self
            .resolve(name, None)?
            .into_iter()
            .filter(|path| is_note(path))
            .collect();
        match notes.as_slice() {
            [] => Err(self.no_note(name)),
            [only] => Ok(only.clone()),
            // A full path is never ambiguous, even if other paths end with it.
            [first, ..] if is_exactly(first, name) => Ok(first.clone()),
            several => Err(Error::ambiguous(format!(
                "`{name}` matches {} notes; use the path of one of them: {}",
                several.len(),
                listed(several, MAX_LISTED)
            ))
            .with_details(json!({ "choices": several }))),
        }
    }

    /// The note at a path with or without `.md`.
    fn note_at(&self, path: &str) -> Option<String> {
        let paths = [path.to_owned(), format!("{path}.md")];
        let mut notes = paths.into_iter().filter(|path| is_note(path));
        notes.find_map(|path| self.file_at(&path))
    }

    fn file_at(&self, path: &str) -> Option<String> {
        let entry = self.stat(path).ok()?;
        (entry.kind == Kind::File).then_some(entry.path)
    }

    /// The path of the file that `name` identifies: any file by its path, then a note by its unique name, then another
    /// file by its unique name.
    pub fn find_file(&self, name: &str) -> Result<String> {
        let exact = unbracketed(name);
        if !exact.is_empty()
            && let Some(path) = self.note_at(exact).or_else(|| self.file_at(exact))
        {
            return Ok(path);
        }
        let no_note = match self.find_note(name) {
            Err(error) if error.kind() == Code::NotFound => error,
            other => return other,
        };
        let name = unbracketed(name);
        let files = self.resolve(name, None)?;
        match files.as_slice() {
            [] => Err(no_note),
            [only] => Ok(only.clone()),
            [first, ..] if is_exactly(first, name) => Ok(first.clone()),
            several => Err(Error::ambiguous(format!(
                "`{name}` matches {} files; use the path of one of them: {}",
                several.len(),
                listed(several, MAX_LISTED)
            ))
            .with_details(json!({ "choices": several }))),
        }
    }

    /// Reads a note. A file that is not UTF-8 is an error; invalid bytes are never replaced.
    pub fn read_note(&self, name: &str) -> Result<Note> {
        let path = self.find_note(name)?;
        self.read_text(&path)
    }

    /// The text of the file at exactly this path.
    pub fn read_text(&self, path: &str) -> Result<Note> {
        let blob = self.read(path)?;
        match String::from_utf8(blob.bytes) {
            Ok(text) => Ok(Note {
                path: path.to_owned(),
                text,
                etag: blob.etag,
            }),
            Err(error) => Err(Error::unsupported(format!(
                "`{path}` is not UTF-8 text (invalid byte at offset {}): it can be listed and moved, but not read as text",
                error.utf8_error().valid_up_to()
            ))),
        }
    }

    /// Writes new text to a note that was read, if the text differs.
    pub fn write_note(&self, note: &Note, text: &str) -> Result<()> {
        if note.text != text {
            self.write(&note.path, text.as_bytes(), Some(&note.etag))?;
        }
        Ok(())
    }

    /// The entry at a path, if it exists.
    pub fn entry(&self, path: &str) -> Result<Option<Entry>> {
        match self.stat(path) {
            Ok(entry) => Ok(Some(entry)),
            Err(error) if error.kind() == Code::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Every entry of a folder, or of everything below it.
    pub fn list_all(&self, folder: &str, recursive: bool) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        let mut after = None;
        loop {
            let page = self.list(folder, recursive, after.as_deref(), LIST_PAGE_ENTRIES)?;
            entries.extend(page.entries);
            after = page.next;
            if after.is_none() {
                return Ok(entries);
            }
        }
    }

    /// Every note below a folder.
    pub fn notes(&self, folder: &str) -> Result<Vec<Entry>> {
        let mut entries = self.list_all(folder, true)?;
        entries.retain(|entry| entry.kind == Kind::File && is_note(&entry.path));
        Ok(entries)
    }

    fn no_note(&self, name: &str) -> Error {
        // File systems allow no longer names, and comparing a long name with every note would be slow.
        const MAX_NAME_BYTES: usize = 255;
        let error = Error::not_found(format!("no note `{name}`"));
        if stem_of(name).len() > MAX_NAME_BYTES {
            return error;
        }
        let notes = self.notes("").unwrap_or_default().into_iter();
        let known: KnownNames<String> = notes
            .map(|entry| (stem_of(&entry.path).to_owned(), entry.path))
            .collect();
        let near = known.nearest(stem_of(name), SIMILAR_NAME, 3);
        if near.is_empty() {
            return error;
        }
        Error::not_found(format!(
            "no note `{name}`; similar names: {}",
            quoted(&near)
        ))
        .with_details(json!({ "nearest": near }))
    }
}

fn unbracketed(name: &str) -> &str {
    let name = name.trim();
    name.strip_prefix("[[")
        .and_then(|rest| rest.strip_suffix("]]"))
        .map_or(name, |inner| {
            inner.split(['|', '#']).next().unwrap_or(inner).trim()
        })
}

fn is_exactly(path: &str, name: &str) -> bool {
    let (path, name) = (fold_name(path), fold_name(name));
    path == name || path.strip_suffix(".md") == Some(name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tier;

    #[test]
    fn find_file_tries_path_then_note_name_then_file_name() {
        let vault = Vault::in_memory()
            .with("Work/Plan.md", "")
            .with("pic/a.png", "")
            .with("x/b.png", "")
            .with("y/b.png", "")
            .with("Hidden/c.png", "")
            .with("notes/a.csv.md", "")
            .with("a.csv", "")
            .allow("Hidden", Tier::None);
        assert_eq!(vault.find_file("[[plan]]").unwrap(), "Work/Plan.md");
        assert_eq!(vault.find_file("A.png").unwrap(), "pic/a.png");
        assert_eq!(vault.find_file("![[a.png|300]]").ok(), None);
        assert_eq!(vault.find_file("[[a.png|300]]").unwrap(), "pic/a.png");
        assert_eq!(vault.find_file("x/b.png").unwrap(), "x/b.png");
        assert_eq!(vault.find_file("A.csv").unwrap(), "a.csv");
        assert_eq!(vault.find_file("notes/a.csv").unwrap(), "notes/a.csv.md");
        assert_eq!(
            vault.find_file("b.png").unwrap_err().code(),
            "ambiguous_name"
        );
        assert_eq!(vault.find_file("c.png").unwrap_err().code(), "not_found");
        assert_eq!(vault.find_file(" ").unwrap_err().code(), "validation_error");
    }
}
