//! Edits of a note's body: replace, append, prepend, insert at an anchor.

use super::error::TextError;
use super::newline::{self, insert_lines};
use super::splice::{self, Splice};
use super::{edits, frontmatter, lines, outline, section};
use std::ops::Range;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Where the body begins: after the frontmatter, or after the byte order mark.
pub fn start(text: &str) -> usize {
    frontmatter::locate(text).map_or_else(|| after_byte_order_mark(text), |found| found.block.end)
}

pub(crate) fn after_byte_order_mark(text: &str) -> usize {
    if text.starts_with(BYTE_ORDER_MARK) {
        BYTE_ORDER_MARK.len()
    } else {
        0
    }
}

/// The note without its frontmatter and byte order mark.
pub fn body(text: &str) -> &str {
    &text[start(text)..]
}

/// Replaces the body. Frontmatter and byte order mark are unchanged; the content gets the line ending of the note.
///
/// # Errors
/// None in practice; the type is that of every edit.
pub fn replace_body(text: &str, content: &str) -> Result<String, TextError> {
    let start = start(text);
    let mut with = newline::in_style_of(text, content).into_owned();
    if start > 0 && !text[..start].ends_with(['\n', '\u{feff}']) && !content.is_empty() {
        with.insert_str(0, newline::of_either(text, content));
    }
    splice::apply(text, vec![Splice::replace(start..text.len(), with)])
}

/// Adds lines at the end of the note. The last line has a line ending only if it had one before.
///
/// # Errors
/// None in practice; the type is that of every edit.
pub fn append(text: &str, addition: &str) -> Result<String, TextError> {
    splice::apply(text, vec![insert_lines(text, text.len(), addition)])
}

/// Adds lines at the beginning of the body, after the frontmatter.
///
/// # Errors
/// None in practice; the type is that of every edit.
pub fn prepend(text: &str, addition: &str) -> Result<String, TextError> {
    insert_at(text, start(text), addition)
}

/// The place of an insertion, relative to the lines of an anchor. The anchor is text of the note, or a heading path such
/// as `Plan > Risks`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    /// Above the first line of the anchor.
    Before(&'a str),
    /// Below the last line of the anchor.
    After(&'a str),
}

/// Inserts whole lines above or below an anchor that occurs exactly once.
///
/// # Errors
/// If the anchor occurs not at all, or more than once.
pub fn insert(text: &str, addition: &str, place: Place<'_>) -> Result<String, TextError> {
    let (anchor, what) = match place {
        Place::Before(anchor) => (anchor, "`before`"),
        Place::After(anchor) => (anchor, "`after`"),
    };
    let found = find_anchor(text, anchor, what)?;
    let at = match place {
        Place::Before(_) => lines::start_of_line(text, found.start),
        // A line ending at the end of the anchor belongs to its last line.
        Place::After(_) if text[found.clone()].ends_with('\n') => found.end,
        Place::After(_) => lines::end_of_line(text, found.end),
    };
    // The first line may start with a byte order mark.
    let at = at.max(after_byte_order_mark(text));
    insert_at(text, at, addition)
}

fn insert_at(text: &str, at: usize, addition: &str) -> Result<String, TextError> {
    let mut splice = insert_lines(text, at, addition);
    // For a note that is too large for an outline, skip this step.
    if let Ok(outline) = outline::outline(text) {
        section::separate_from_setext(text, &outline, &mut splice);
    }
    splice::apply(text, vec![splice])
}

fn find_anchor(text: &str, anchor: &str, what: &str) -> Result<Range<usize>, TextError> {
    let heading = || {
        outline::outline(text).and_then(|outline| {
            section::find(&outline, anchor).map(|index| outline.headings[index].range.clone())
        })
    };
    if anchor.starts_with('#') {
        // Try the anchor as a heading first: `## Plan` is also a substring of `### Plan`.
        match heading() {
            Err(TextError::NoSection { .. } | TextError::TooLarge { .. }) => {}
            found => return found,
        }
    }
    match edits::only_match(text, anchor, what) {
        Err(absent @ TextError::NoMatch { .. }) => match heading() {
            Err(TextError::NoSection { .. } | TextError::TooLarge { .. }) => Err(absent),
            found => found,
        },
        found => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appending_keeps_the_end_of_the_note() {
        assert_eq!(append("a\r\nb", "c\nd\n").unwrap(), "a\r\nb\r\nc\r\nd");
        assert_eq!(append("a\n\n", "b").unwrap(), "a\n\nb\n");
        assert_eq!(append("", "b\r\nc").unwrap(), "b\r\nc");
        assert_eq!(append("---\na: 1\n---", "b").unwrap(), "---\na: 1\n---\nb");
    }

    #[test]
    fn prepending_goes_after_the_frontmatter() {
        assert_eq!(
            prepend("\u{feff}---\r\na: 1\r\n---\r\n\r\nx", "y").unwrap(),
            "\u{feff}---\r\na: 1\r\n---\r\ny\r\n\r\nx"
        );
        assert_eq!(prepend("\u{feff}x", "y").unwrap(), "\u{feff}y\nx");
        assert_eq!(prepend("---\nx\n", "y").unwrap(), "y\n---\nx\n");
    }

    #[test]
    fn replacing_the_body_keeps_the_frontmatter() {
        assert_eq!(
            replace_body("\u{feff}---\r\na: 1\r\n---\r\nold\r\n", "x\ny").unwrap(),
            "\u{feff}---\r\na: 1\r\n---\r\nx\r\ny"
        );
        assert_eq!(
            replace_body("---\na: 1\n---", "x").unwrap(),
            "---\na: 1\n---\nx"
        );
        assert_eq!(replace_body("old", "x\r\n").unwrap(), "x\r\n");
    }

    #[test]
    fn lines_are_inserted_around_the_lines_of_the_anchor() {
        let text = "# A\nfirst line\nsecond\n### A\n";
        assert_eq!(
            insert(text, "new", Place::After("first")).unwrap(),
            "# A\nfirst line\nnew\nsecond\n### A\n"
        );
        assert_eq!(
            insert(text, "new", Place::Before("line\nsecond")).unwrap(),
            "# A\nnew\nfirst line\nsecond\n### A\n"
        );
        assert_eq!(
            insert(text, "new", Place::After("# A")).unwrap(),
            "# A\nnew\nfirst line\nsecond\n### A\n"
        );
        assert_eq!(
            insert(text, "new", Place::After("A > A")).unwrap(),
            "# A\nfirst line\nsecond\n### A\nnew\n"
        );
        assert_eq!(
            insert("a\nb", "new", Place::After("b")).unwrap(),
            "a\nb\nnew"
        );
        assert_eq!(
            insert("\u{feff}a\nb", "new", Place::Before("a")).unwrap(),
            "\u{feff}new\na\nb"
        );
    }

    #[test]
    fn a_line_inserted_above_a_setext_heading_stays_separate() {
        assert_eq!(
            insert("a\n\nHead\n===\n", "new", Place::Before("Head")).unwrap(),
            "a\n\nnew\n\nHead\n===\n"
        );
        assert_eq!(prepend("Head\n===\n", "new").unwrap(), "new\n\nHead\n===\n");
    }
}
