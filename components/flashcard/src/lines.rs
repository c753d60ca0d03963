//! Splits a note into lines and classifies them: frontmatter, code, math and comments cannot contain cards.
//!
//! Notes are parsed line by line, as the editors that introduced these notations do, in one linear pass.

use std::ops::Range;

use notehost_sdk::text::body;

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Empty or only spaces.
    Blank,
    /// Text that is parsed for cards.
    Prose,
    /// Code, math or a table row: may be part of a card but does not start one.
    Inert,
    /// A comment: not part of any card.
    Comment,
    /// A schedule comment on a line of its own.
    Schedule,
}

/// A line.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// Its bytes, without the line ending.
    pub(crate) range: Range<usize>,
    /// Start of the next line.
    pub(crate) next: usize,
    /// Its kind.
    pub(crate) kind: Kind,
    /// Its number in the file, 1-based.
    pub(crate) number: usize,
}

/// The prefix of a schedule comment.
pub(crate) const SCHEDULE: &str = "<!--SR:";

enum OpenBlock {
    Prose,
    Fence { marker: u8, length: usize },
    Math,
    PercentComment,
    HtmlComment,
}

/// The lines of a note's body.
pub(crate) fn lines(note: &str) -> Vec<Line> {
    let start = body::start(note);
    let first = 1 + note[..start].matches('\n').count();
    let mut at = start;
    let mut within = OpenBlock::Prose;
    let mut lines: Vec<Line> = Vec::new();
    for (number, whole) in (first..).zip(note[start..].split_inclusive('\n')) {
        let text = whole.strip_suffix('\n').unwrap_or(whole);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let after_blank = lines
            .last()
            .is_none_or(|line| matches!(line.kind, Kind::Blank));
        let in_code = lines
            .last()
            .is_some_and(|line| line.kind == Kind::Inert && is_indented(&note[line.range.clone()]));
        let kind = kind_of(text, &mut within, after_blank, in_code);
        lines.push(Line {
            range: at..at + text.len(),
            next: at + whole.len(),
            kind,
            number,
        });
        at += whole.len();
    }
    lines
}

fn kind_of(text: &str, within: &mut OpenBlock, after_blank: bool, in_code: bool) -> Kind {
    let content = text[marker_length(text)..].trim();
    match within {
        OpenBlock::Fence { marker, length } => {
            // Strip list markers and `>` first, so that a fence inside them also ends inside them.
            let bare = text.trim_start_matches([' ', '\t', '>']).trim_end();
            if fence(bare) == Some((*marker, bare.len())) && bare.len() >= *length {
                *within = OpenBlock::Prose;
            }
            return Kind::Inert;
        }
        OpenBlock::Math => {
            if content.contains("$$") {
                *within = OpenBlock::Prose;
            }
            return Kind::Inert;
        }
        OpenBlock::PercentComment => {
            if content.contains("%%") {
                *within = OpenBlock::Prose;
            }
            return Kind::Comment;
        }
        OpenBlock::HtmlComment => {
            if content.contains("-->") {
                *within = OpenBlock::Prose;
            }
            return Kind::Comment;
        }
        OpenBlock::Prose => {}
    }
    if content.is_empty() {
        return Kind::Blank;
    }
    if (after_blank || in_code) && is_indented(text) && !is_list_item(text) {
        return Kind::Inert;
    }
    if let Some((marker, length)) = fence(content) {
        *within = OpenBlock::Fence { marker, length };
        return Kind::Inert;
    }
    if let Some(rest) = content.strip_prefix("$$") {
        if !rest.contains("$$") {
            *within = OpenBlock::Math;
        }
        return Kind::Inert;
    }
    if content
        .strip_prefix("%%")
        .is_some_and(|rest| !rest.contains("%%"))
    {
        *within = OpenBlock::PercentComment;
        return Kind::Comment;
    }
    if content.starts_with(SCHEDULE) {
        if content.ends_with("-->") {
            return Kind::Schedule;
        }
        if content.contains("-->") {
            return Kind::Prose;
        }
    }
    if content.starts_with("<!--") {
        match content.find("-->") {
            None => *within = OpenBlock::HtmlComment,
            Some(end) if end + 3 < content.len() => return Kind::Prose,
            Some(_) => {}
        }
        return Kind::Comment;
    }
    if let Some(open) = content.rfind("%%")
        && content.matches("%%").count() % 2 == 1
        && !content[..open].contains('`')
    {
        *within = OpenBlock::PercentComment;
        return Kind::Prose;
    }
    if let Some(open) = content.rfind("<!--")
        && !content[open..].contains("-->")
        && !content[..open].contains('`')
    {
        *within = OpenBlock::HtmlComment;
        return Kind::Prose;
    }
    if content.starts_with('|') {
        return Kind::Inert;
    }
    Kind::Prose
}

/// The code fence that a line opens: its character and length.
fn fence(content: &str) -> Option<(u8, usize)> {
    let marker = *content.as_bytes().first()?;
    if marker != b'`' && marker != b'~' {
        return None;
    }
    let length = content.bytes().take_while(|byte| *byte == marker).count();
    let is_fence = length >= 3 && !(marker == b'`' && content[length..].contains('`'));
    is_fence.then_some((marker, length))
}

fn is_indented(text: &str) -> bool {
    text.starts_with("    ") || text.starts_with('\t')
}

fn is_list_item(text: &str) -> bool {
    marker_length(text) > text.len() - text.trim_start().len()
}

/// The length of the leading markers of a line: `>`, list markers, task boxes, heading hashes, and the spaces around
/// them.
pub(crate) fn marker_length(line: &str) -> usize {
    let mut rest = line;
    loop {
        let trimmed = rest.trim_start_matches([' ', '\t', '\u{feff}']);
        let after = after_marker(trimmed);
        match after {
            Some(after) => rest = after,
            None => return line.len() - trimmed.len(),
        }
    }
}

/// The text after its first marker.
fn after_marker(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let is_apart = |rest: &&str| rest.is_empty() || rest.starts_with([' ', '\t']);
    match bytes.first()? {
        b'>' => Some(&text[1..]),
        b'-' | b'*' | b'+' => Some(&text[1..]).filter(is_apart),
        b'#' => {
            let count = bytes.iter().take_while(|byte| **byte == b'#').count();
            Some(&text[count..]).filter(|rest| count <= 6 && is_apart(rest))
        }
        b'0'..=b'9' => {
            let count = bytes
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            let rest = text[count..].strip_prefix(['.', ')'])?;
            Some(rest).filter(|rest| count <= 9 && is_apart(rest))
        }
        // A task box with any character in it.
        b'[' => {
            let mut letters = text[1..].chars();
            let status = letters.next()?;
            let rest = letters.as_str().strip_prefix(']')?;
            Some(rest).filter(|rest| status != '[' && status != '^' && is_apart(rest))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(note: &str) -> String {
        let letter = |line: &Line| match line.kind {
            Kind::Blank => '_',
            Kind::Prose => 'p',
            Kind::Inert => 'i',
            Kind::Comment => 'c',
            Kind::Schedule => 's',
        };
        lines(note).iter().map(letter).collect()
    }

    #[test]
    fn code_math_and_comments_are_classified() {
        assert_eq!(kinds("---\na: b::c\n---\na\n\nb"), "p_p");
        assert_eq!(kinds("```\na::b\n\n````\na\n"), "iiiip");
        assert_eq!(kinds("~~~x\n```\n~~~~\na"), "iiip");
        assert_eq!(kinds("> ```\n> a::b\n> ```\n> a"), "iiip");
        assert_eq!(kinds("- x\n  ```\n  a\n  ```\n- y"), "piiip");
        assert_eq!(kinds("$$\na::b\n$$\n$$x$$\na"), "iiiip");
        assert_eq!(kinds("%%\na::b\n%%\n%% x %%\na"), "cccpp");
        assert_eq!(kinds("<!--\na::b\n-->\n<!-- x -->\na"), "ccccp");
        assert_eq!(kinds("a %% b\nc::d\n%% e\nf"), "pccp");
        assert_eq!(kinds("\n    a::b\n    c\n\na\n    b"), "_ii_pp");
        assert_eq!(kinds("\n    - a::b\n"), "_p");
        assert_eq!(kinds("a\n<!--SR:!2020-01-01,1,250-->\nb"), "psp");
        assert_eq!(kinds("| a::b | c |\n`<!--` a\nb"), "ipp");
    }

    #[test]
    fn marker_length_covers_leading_markers() {
        for (line, rest) in [
            ("- [ ] a", "a"),
            ("> - 12. a", "a"),
            ("### a", "a"),
            ("#a", "#a"),
            ("-a", "-a"),
            ("[a](b)", "[a](b)"),
            ("[[a]]", "[[a]]"),
            ("\t* a", "a"),
            ("", ""),
        ] {
            assert_eq!(&line[marker_length(line)..], rest, "{line}");
        }
    }
}
