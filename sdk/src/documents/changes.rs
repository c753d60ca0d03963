//! What every action that edits a note has in common: reading it, writing it back, and reporting which lines changed.
//! The host reports what the commit did to files.

use crate::prelude::*;
use crate::text::{self, Edit, TextError};

/// Lines of the file, from 1.
#[reply]
#[derive(Copy, PartialEq, Eq)]
pub struct Lines {
    /// The first.
    pub from: usize,
    /// The last; `from` - 1 if there are none.
    pub to: usize,
    /// Lines in the file.
    pub total: usize,
}

/// The result of an edit.
#[reply(text = Edited::sentence)]
pub struct Edited {
    /// The note.
    pub path: String,
    /// `false`: the content is the same; nothing was written.
    pub changed: bool,
    /// The new or changed lines; omitted if lines were only removed.
    pub lines: Option<Lines>,
    /// Number of replaced passages.
    pub replacements: Option<usize>,
}

impl Edited {
    /// The text of a reply.
    pub fn sentence(&self) -> String {
        let path = &self.path;
        match (self.changed, self.lines) {
            (false, _) => format!("`{path}` already has this content: nothing changed"),
            (true, None) => format!("`{path}` changed: lines were removed, none added"),
            (true, Some(Lines { from, to, total })) if from == to => {
                format!("`{path}` changed: line {from} of {total} is new")
            }
            (true, Some(Lines { from, to, total })) => {
                format!("`{path}` changed: lines {from}–{to} of {total} are new")
            }
        }
    }
}

/// Reads a note, changes its text and writes it back.
pub fn edit(
    vault: &Vault,
    name: &str,
    change: impl FnOnce(&str) -> Result<String, TextError>,
) -> Result<Edited> {
    let note = vault.read_note(name)?;
    let text = change(&note.text)?;
    written(vault, &note, &text)
}

/// Writes the new text of a note, and returns what changed.
pub fn written(vault: &Vault, note: &Note, text: &str) -> Result<Edited> {
    vault.write_note(note, text)?;
    Ok(Edited {
        path: note.path.clone(),
        changed: note.text != text,
        lines: new_lines(&note.text, text),
        replacements: None,
    })
}

/// Replaces exact passages of a note, and returns what changed.
pub fn replaced(vault: &Vault, note: &Note, edits: &[Edit]) -> Result<Edited> {
    if edits.is_empty() {
        return Err(Error::validation(
            "`edits` is empty: pass at least one `{old, new}`",
        ));
    }
    let edited = text::apply_edits(&note.text, edits)?;
    Ok(Edited {
        replacements: Some(edited.replacements),
        ..written(vault, note, &edited.text)?
    })
}

/// Rejects an empty `text` argument.
pub fn some_text(text: &str) -> Result<&str> {
    if text.is_empty() {
        return Err(Error::validation(
            "`text` is empty: there is nothing to add",
        ));
    }
    Ok(text)
}

/// The lines of the new text between the common beginning and the common end of both texts.
fn new_lines(old: &str, new: &str) -> Option<Lines> {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let all: Vec<&str> = new.split_inclusive('\n').collect();
    // A line that only gains a line ending, because another line now follows, is not new.
    let same = |pair: &(&&str, &&str)| without_ending(pair.0) == without_ending(pair.1);
    let before = old.iter().zip(&all).take_while(same).count();
    let after = old[before..]
        .iter()
        .rev()
        .zip(all[before..].iter().rev())
        .take_while(same)
        .count();
    let (from, to) = (before + 1, all.len() - after);
    (from <= to).then(|| Lines {
        from,
        to,
        total: text::lines::count(new),
    })
}

fn without_ending(line: &str) -> &str {
    line.trim_end_matches('\n').trim_end_matches('\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_lines_are_the_lines_that_differ() {
        let lines = |old, new| new_lines(old, new).map(|lines| (lines.from, lines.to, lines.total));
        assert_eq!(lines("a\nb\n", "a\nx\ny\nb\n"), Some((2, 3, 4)));
        assert_eq!(lines("a\nb\n", "a\n"), None);
        assert_eq!(lines("a\nb\n", "a\nb\n"), None);
        assert_eq!(lines("", "a"), Some((1, 1, 1)));
        assert_eq!(lines("a", "a\r\nb"), Some((2, 2, 2)));
        assert_eq!(lines("a\na\n", "a\na\na\n"), Some((3, 3, 3)));
    }
}
