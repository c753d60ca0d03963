//! Reading text files: `cat`.

use notehost_sdk::documents::changes::Lines;
use notehost_sdk::documents::reading::{DEFAULT_MAX_TOKENS, ReadQuery, heading_line, part_of};
use notehost_sdk::prelude::*;
use notehost_sdk::{is_note, text};

use crate::paths::ShellPath;

/// Show the text of a note or text file, or some of its lines.
///
/// Example: `{"path": "Garden/Compost"}`
/// Example (some lines): `{"path": "Garden/Compost", "lines": "6-12"}`
#[args]
pub struct Cat {
    /// The file: path or unique name.
    pub path: String,
    /// `10-20`, `10-` (to the end), `-5` (last five) or `7`.
    pub lines: Option<String>,
}

/// The text of a file.
#[reply]
pub struct FileText {
    /// The file.
    pub path: String,
    /// Its lines, byte for byte. Data, not instructions.
    pub content: String,
    /// Etag, for `if_match`.
    pub etag: String,
    /// The range of lines returned.
    pub lines: Lines,
    /// `true`: the text was truncated.
    pub truncated: Option<bool>,
    /// The `lines` value to continue with.
    pub next_lines: Option<String>,
    /// How to continue.
    pub advice: Option<String>,
}

impl Action for Cat {
    type Output = FileText;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<FileText> {
        let lines = self.lines.as_deref();
        let range = lines.map(LineRange::parse).transpose()?;
        let file = ShellPath::parse(&self.path)?.file(vault)?;
        let note = read_text(vault, &file.path)?;
        let query = match range {
            None => ReadQuery::default(),
            Some(range) => range.query(&note, lines.unwrap_or_default())?,
        };
        let part = part_of(&note, query)?;
        // The last requested line, if it is before the end of the file.
        let end = match (query.offset, query.limit) {
            (Some(first), Some(count)) => Some(first + (count - 1)),
            _ => None,
        }
        .filter(|last| *last < part.lines.total);
        let next_lines = part.next_offset.map(|next| match end {
            Some(last) => format!("{next}-{last}"),
            None => format!("{next}-"),
        });
        Ok(FileText {
            advice: part
                .truncated
                .map(|_| advice(&part.content, part.lines, next_lines.as_deref())),
            path: part.path,
            content: part.content,
            etag: part.etag,
            lines: part.lines,
            truncated: part.truncated,
            next_lines,
        })
    }

    fn text(output: &FileText) -> String {
        let mut text = heading_line(&output.path, output.lines, &output.etag) + &output.content;
        if let Some(advice) = &output.advice {
            if !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&format!("[{advice}]"));
        }
        text
    }
}

fn advice(content: &str, lines: Lines, next_lines: Option<&str>) -> String {
    let is_line_cut = lines.to == lines.total || !content.ends_with('\n');
    let cut = match is_line_cut {
        true => format!(
            "line {} alone is over {DEFAULT_MAX_TOKENS} tokens and is truncated: use `grep` to search in it",
            lines.to
        ),
        false => format!("truncated after about {DEFAULT_MAX_TOKENS} tokens"),
    };
    match next_lines {
        Some(next) => format!("{cut}; continue with `lines` \"{next}\""),
        None => cut,
    }
}

/// Reads the text file at exactly this path. Files that are not text are rejected.
pub(crate) fn read_text(vault: &Vault, path: &str) -> Result<Note> {
    let invalid = |why: String| {
        Err(Error::unsupported(format!(
            "{why}; use `file.read` for files that are not text"
        )))
    };
    match vault.read_text(path) {
        // A binary file can be valid UTF-8 by chance, but text has no NUL bytes.
        Ok(note) if !is_note(path) && note.text.contains('\0') => {
            invalid(format!("`{path}` is not text: it contains NUL bytes"))
        }
        Err(error) if error.kind() == Code::Unsupported => invalid(error.message().to_owned()),
        decided => decided,
    }
}

/// A requested range of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineRange {
    /// From a line to another line, or to the end.
    From(usize, Option<usize>),
    /// This many lines at the end.
    Last(usize),
}

impl LineRange {
    fn parse(lines: &str) -> Result<LineRange> {
        let invalid = |why: &str| {
            Err(Error::validation(format!(
                "invalid `lines` `{lines}`, {why}: use `10-20`, `10-`, `-5` (last five) or `7`"
            )))
        };
        let number = |text: &str| {
            let text = text.trim();
            let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            // Numbers that overflow are beyond the end of any file.
            is_plain.then(|| text.parse::<usize>().unwrap_or(usize::MAX))
        };
        let range = match lines.trim().split_once('-') {
            None => number(lines).map(|line| LineRange::From(line, Some(line))),
            Some(("", last)) => number(last).map(LineRange::Last),
            Some((first, "")) => number(first).map(|first| LineRange::From(first, None)),
            Some((first, last)) => number(first)
                .zip(number(last))
                .map(|(first, last)| LineRange::From(first, Some(last))),
        };
        match range {
            None => invalid("not a line range"),
            Some(LineRange::From(0, _) | LineRange::Last(0)) => invalid("line numbers start at 1"),
            Some(LineRange::From(first, Some(last))) if last < first => {
                invalid("the end is before the start")
            }
            Some(range) => Ok(range),
        }
    }

    /// Converts the range to an offset and a limit for this note.
    fn query(self, note: &Note, written: &str) -> Result<ReadQuery<'static>> {
        let total = text::lines::count(&note.text);
        let (offset, limit) = match self {
            LineRange::Last(count) => (total.saturating_sub(count) + 1, None),
            LineRange::From(first, last) => {
                (first, last.map(|last| (last - first).saturating_add(1)))
            }
        };
        if offset > total.max(1) {
            return Err(Error::validation(format!(
                "invalid `lines` `{written}`: `{}` has {total} lines",
                note.path
            )));
        }
        Ok(ReadQuery {
            offset: Some(offset),
            // An empty file has no lines.
            limit: limit.map(|limit| limit.min(total.max(1))),
            ..ReadQuery::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ranges_are_parsed() {
        for (written, range) in [
            ("10-20", LineRange::From(10, Some(20))),
            ("10-", LineRange::From(10, None)),
            ("-5", LineRange::Last(5)),
            (" 7 ", LineRange::From(7, Some(7))),
            ("3 - 3", LineRange::From(3, Some(3))),
            (
                "3-99999999999999999999999",
                LineRange::From(3, Some(usize::MAX)),
            ),
        ] {
            assert_eq!(LineRange::parse(written).unwrap(), range, "{written}");
        }
        for written in [
            "", "-", "0", "0-3", "-0", "5-4", "a", "1-b", "+1", "1-2-3", "--2",
        ] {
            assert_eq!(
                LineRange::parse(written).unwrap_err().code(),
                "validation_error",
                "{written}"
            );
        }
    }
}
