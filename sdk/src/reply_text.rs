//! The text of a reply with a list: a first line, a line per item, and what is missing from it.

use std::fmt::Display;

use crate::index::{Building, unfinished};
use crate::pages::more;

/// The text of a reply, line by line.
///
/// ```
/// use notehost_sdk::ReplyText;
/// use notehost_sdk::pages::counted;
///
/// let (notes, next_cursor) = ([("A.md", Some(3)), ("B.md", None)], Some("n2".to_owned()));
/// let text: String = ReplyText::new(counted(5, "note"))
///     .lines(notes, |(path, line)| {
///         ReplyText::new(path).and(line.map(|line| format!(", line {line}")))
///     })
///     .more(&next_cursor)
///     .into();
/// assert_eq!(text, "5 notes\nA.md, line 3\nB.md\nmore: call again with `cursor` \"n2\"");
/// ```
#[derive(Debug, Clone)]
pub struct ReplyText(String);

impl ReplyText {
    /// A text with this first line.
    pub fn new(first: impl Into<String>) -> ReplyText {
        ReplyText(first.into())
    }

    /// Adds to the last line, if there is something to add.
    pub fn and(mut self, part: Option<impl Display>) -> ReplyText {
        if let Some(part) = part {
            self.0.push_str(&part.to_string());
        }
        self
    }

    /// Adds a line.
    pub fn line(mut self, line: impl Display) -> ReplyText {
        self.0.push_str(&format!("\n{line}"));
        self
    }

    /// Adds a line, if there is one.
    pub fn line_if(self, line: Option<impl Display>) -> ReplyText {
        match line {
            Some(line) => self.line(line),
            None => self,
        }
    }

    /// Adds a line for each item.
    pub fn lines<T, L: Display>(
        self,
        items: impl IntoIterator<Item = T>,
        line: impl FnMut(T) -> L,
    ) -> ReplyText {
        items.into_iter().map(line).fold(self, ReplyText::line)
    }

    /// Adds how to get the next page, if there is one.
    pub fn more(mut self, next_cursor: &Option<String>) -> ReplyText {
        self.0.push_str(&more(next_cursor.as_ref()));
        self
    }

    /// Adds that results may be missing, while the index is being built.
    pub fn unfinished(mut self, building: &Option<Building>) -> ReplyText {
        self.0.push_str(&unfinished(building.as_ref()));
        self
    }
}

/// A line of a list can be a text with optional parts.
impl Display for ReplyText {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl From<ReplyText> for String {
    fn from(text: ReplyText) -> String {
        text.0
    }
}
