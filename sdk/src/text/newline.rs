//! The line ending of a note, and its use for inserted lines.

use super::splice::Splice;
use std::borrow::Cow;

/// A line ending. A lone carriage return does not count as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Newline {
    /// `\n`
    Lf,
    /// `\r\n`
    CrLf,
}

impl Newline {
    /// The most common line ending of a text; `None` if it has none.
    pub fn of(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let all = bytes.iter().filter(|byte| **byte == b'\n').count();
        let with_return = bytes.windows(2).filter(|pair| *pair == b"\r\n").count();
        match all {
            0 => None,
            _ if with_return * 2 > all => Some(Self::CrLf),
            _ => Some(Self::Lf),
        }
    }

    /// The bytes of the line ending.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }

    /// The same text with this line ending throughout.
    pub fn convert(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Lf if text.contains("\r\n") => Cow::Owned(text.replace("\r\n", "\n")),
            Self::CrLf if text.contains('\n') => {
                Cow::Owned(text.replace("\r\n", "\n").replace('\n', "\r\n"))
            }
            _ => Cow::Borrowed(text),
        }
    }
}

/// An addition with the note's line ending, or unchanged if the note has none.
pub(crate) fn in_style_of<'a>(note: &str, addition: &'a str) -> Cow<'a, str> {
    Newline::of(note).map_or(Cow::Borrowed(addition), |newline| newline.convert(addition))
}

/// The line ending for new lines of a note: its own, else that of the addition.
pub(crate) fn of_either(note: &str, addition: &str) -> &'static str {
    Newline::of(note)
        .or_else(|| Newline::of(addition))
        .unwrap_or(Newline::Lf)
        .as_str()
}

/// The text without the line ending of its last line.
pub(crate) fn without_final(text: &str) -> &str {
    text.strip_suffix("\r\n")
        .or_else(|| text.strip_suffix('\n'))
        .unwrap_or(text)
}

/// Inserts whole lines at the byte `at`, which must be the start of a line or the end of the note.
///
/// A note without a final line ending has none afterwards; an empty note becomes the addition, unchanged.
pub(crate) fn insert_lines(note: &str, at: usize, addition: &str) -> Splice {
    if note.is_empty() || addition.is_empty() {
        return Splice::insert(at, addition);
    }
    let newline = of_either(note, addition);
    let converted = in_style_of(note, addition);
    let lines = without_final(&converted);
    // A note of only a byte order mark has no lines, so no line ending is needed before the addition.
    let unfinished_line = at == note.len() && !note.ends_with('\n') && note != "\u{feff}";
    if unfinished_line {
        Splice::insert(at, format!("{newline}{lines}"))
    } else {
        Splice::insert(at, format!("{lines}{newline}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_common_line_ending_is_used() {
        assert_eq!(Newline::of("a\r\nb\r\nc\n"), Some(Newline::CrLf));
        assert_eq!(Newline::of("a\r\nb\n"), Some(Newline::Lf));
        assert_eq!(Newline::of("a\rb"), None);
    }

    #[test]
    fn converting_changes_line_endings_only() {
        assert_eq!(Newline::CrLf.convert("a\nb\r\nc\r"), "a\r\nb\r\nc\r");
        assert_eq!(Newline::Lf.convert("a\nb\r\nc\r"), "a\nb\nc\r");
    }
}
