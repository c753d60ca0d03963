//! The headings of a note and the bytes of their sections.
//!
//! Only top-level headings count: those inside a quote, callout, list item, code, HTML or comment do not start a section.

use super::error::TextError;
use super::skeleton::skeleton;
use super::{body, dialect, frontmatter};
use comrak::nodes::{NodeHeading, NodeValue};
use comrak::{Arena, parse_document};
use std::ops::Range;

/// The largest note that has an outline.
pub const MAX_BYTES: usize = 8 * 1024 * 1024;

/// The largest skeleton: the parser's tree of a larger one would exceed a component's memory. It corresponds to several
/// hundred thousand lines.
const MAX_SKELETON_BYTES: usize = 1024 * 1024;

/// The separator in heading paths: `Plan > Risks`.
pub const PATH_SEPARATOR: &str = " > ";

/// A heading and its section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// The text as Obsidian shows it, without markup.
    pub text: String,
    /// The text as written, without the heading markers.
    pub raw: String,
    /// Its line in the file.
    pub line: usize,
    /// Whether it is underlined with `===` or `---`.
    pub setext: bool,
    /// The heading of the enclosing section, as an index into [`Outline::headings`].
    pub parent: Option<usize>,
    /// The line or lines of the heading, with their line ending.
    pub range: Range<usize>,
    /// The text up to the next heading of any level.
    pub own: Range<usize>,
    /// The heading and the text up to the next heading of the same or a higher level.
    pub section: Range<usize>,
}

/// The structure of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// The frontmatter with its delimiters, if any.
    pub frontmatter: Option<Range<usize>>,
    /// Everything after the frontmatter and the byte order mark.
    pub body: Range<usize>,
    /// The headings, in document order.
    pub headings: Vec<Heading>,
}

impl Outline {
    /// The names of the headings down to this one, joined with [`PATH_SEPARATOR`].
    pub fn path(&self, index: usize) -> String {
        let mut names = vec![self.headings[index].name()];
        let mut parent = self.headings[index].parent;
        while let Some(above) = parent {
            names.push(self.headings[above].name());
            parent = self.headings[above].parent;
        }
        names.reverse();
        names.join(PATH_SEPARATOR)
    }
}

impl Heading {
    /// The text, or only the markers for an empty heading.
    pub fn name(&self) -> String {
        if self.text.is_empty() {
            "#".repeat(self.level.into())
        } else {
            self.text.clone()
        }
    }
}

/// The structure of a note.
///
/// # Errors
/// [`TextError::TooLarge`] above [`MAX_BYTES`], and for a smaller note with too many short lines.
pub fn outline(text: &str) -> Result<Outline, TextError> {
    within(text.len(), MAX_BYTES)?;
    let frontmatter = frontmatter::locate(text).map(|found| found.block);
    let body = body::start(text)..text.len();
    let mut headings = locate(text, body.start)?;
    let starts: Vec<(usize, u8)> = headings
        .iter()
        .map(|heading| (heading.range.start, heading.level))
        .collect();
    let mut open: Vec<usize> = Vec::new();
    for (index, heading) in headings.iter_mut().enumerate() {
        open.retain(|above| starts[*above].1 < heading.level);
        heading.parent = open.last().copied();
        open.push(index);
        heading.own.end = starts
            .get(index + 1)
            .map_or(text.len(), |(start, _)| *start);
    }
    // Backwards, so that the end of the next section is known. This keeps the computation linear in the number of
    // headings.
    let mut ends = [text.len(); 7];
    for heading in headings.iter_mut().rev() {
        let level = usize::from(heading.level);
        heading.section.end = ends[level];
        ends[level..].fill(heading.range.start);
    }
    Ok(Outline {
        frontmatter,
        body,
        headings,
    })
}

fn locate(text: &str, body: usize) -> Result<Vec<Heading>, TextError> {
    let structure = skeleton(&text[body..]);
    within(structure.len(), MAX_SKELETON_BYTES)?;
    let arena = Arena::new();
    let root = parse_document(&arena, &structure, &dialect::options());
    let mut lines = Lines::new(text, body);
    let mut headings = Vec::new();
    for node in root.children() {
        let data = node.data();
        let NodeValue::Heading(NodeHeading { level, setext, .. }) = data.value else {
            continue;
        };
        let position = data.sourcepos;
        let start = lines.start_of(position.start.line);
        let line = lines.file_line;
        let underline = lines.start_of(position.end.line);
        let end = lines.start_of(position.end.line + 1);
        // The parser continues on the line where a comment ends; that is not a heading.
        if !text[start..end]
            .bytes()
            .take(position.start.column - 1)
            .all(|byte| byte.is_ascii_whitespace())
        {
            continue;
        }
        let raw = if setext {
            joined(&text[start..underline])
        } else {
            without_marks(&text[start..end]).to_owned()
        };
        headings.push(Heading {
            level,
            text: shown_text(&raw),
            raw,
            line,
            setext,
            parent: None,
            range: start..end,
            own: end..end,
            section: start..end,
        });
    }
    Ok(headings)
}

fn within(bytes: usize, limit: usize) -> Result<(), TextError> {
    if bytes > limit {
        Err(TextError::TooLarge { bytes, limit })
    } else {
        Ok(())
    }
}

/// The lines of a setext heading joined to one.
fn joined(lines: &str) -> String {
    lines
        .split(['\r', '\n'])
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// A heading without the `#` before it and, if separated by a space, after it.
fn without_marks(line: &str) -> &str {
    let marked = line.trim().trim_start_matches('#');
    let open = marked.trim_end_matches('#');
    if open.is_empty() || open.ends_with([' ', '\t']) {
        open.trim()
    } else {
        marked.trim()
    }
}

/// The text of a heading without markup, comments and HTML tags.
fn shown_text(raw: &str) -> String {
    if !raw.contains(['*', '_', '[', '<', '`', '$', '=', '~', '\\', '&', '%']) {
        return raw.to_owned();
    }
    let arena = Arena::new();
    // The parser removes the trailing `#`; without it, a `#` of the text would be removed.
    let heading = parse_document(&arena, &format!("# {raw} #"), &dialect::options());
    let mut shown = String::new();
    for node in heading.descendants() {
        match &node.data().value {
            NodeValue::Text(text) => shown.push_str(text),
            NodeValue::Code(code) => shown.push_str(&code.literal),
            NodeValue::Math(math) => shown.push_str(&math.literal),
            _ => {}
        }
    }
    shown.trim().to_owned()
}

/// Converts the parser's line numbers, requested in ascending order, to byte offsets.
///
/// For the parser a lone carriage return ends a line; for the file's line numbers it does not.
struct Lines<'a> {
    bytes: &'a [u8],
    offset: usize,
    parser_line: usize,
    file_line: usize,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str, body: usize) -> Self {
        Self {
            bytes: text.as_bytes(),
            offset: body,
            parser_line: 1,
            file_line: super::lines::line_of(text, body),
        }
    }

    fn start_of(&mut self, line: usize) -> usize {
        while self.parser_line < line && self.offset < self.bytes.len() {
            let rest = &self.bytes[self.offset..];
            let content = rest
                .iter()
                .position(|byte| matches!(byte, b'\r' | b'\n'))
                .unwrap_or(rest.len());
            let (ending, is_file_line) = match &rest[content..] {
                [b'\r', b'\n', ..] => (2, 1),
                [b'\n', ..] => (1, 1),
                [b'\r', ..] => (1, 0),
                _ => (0, 0),
            };
            self.offset += content + ending;
            self.file_line += is_file_line;
            self.parser_line += 1;
        }
        self.offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<(u8, String, usize, &str)> {
        outline(text)
            .unwrap()
            .headings
            .into_iter()
            .map(|heading| {
                (
                    heading.level,
                    heading.text,
                    heading.line,
                    &text[heading.range],
                )
            })
            .collect()
    }

    #[test]
    fn headings_have_line_numbers_and_byte_ranges() {
        let text = "\u{feff}---\r\na: 1\r\n---\r\n# 日本 ##\r\ntext\r\n\r\nSet\r\next\r\n===\r\n  ### Deep";
        assert_eq!(
            shown(text),
            [
                (1, "日本".into(), 4, "# 日本 ##\r\n"),
                (1, "Set ext".into(), 7, "Set\r\next\r\n===\r\n"),
                (3, "Deep".into(), 10, "  ### Deep")
            ]
        );
    }

    #[test]
    fn text_that_only_resembles_headings_is_ignored() {
        let text = "```\n# code\n```\n<div>\n# html\n</div>\n\n> # quote\n\n- # item\n\n> [!note] x\n> # callout\n\n%%\n# comment\n%%\n\n    # indented\n\n#tag\n\\# escaped\n";
        assert_eq!(shown(text), []);
    }

    #[test]
    fn markup_is_stripped_from_the_text_but_kept_in_raw() {
        let text = "## **b** [[x|y]] `c` ==h== #tag $m$ [t](u) %%hid%%a\\*b\n";
        let heading = &outline(text).unwrap().headings[0];
        assert_eq!(heading.text, "b y c h #tag m t a*b");
        assert_eq!(
            heading.raw,
            "**b** [[x|y]] `c` ==h== #tag $m$ [t](u) %%hid%%a\\*b"
        );
    }

    #[test]
    fn sections_nest_by_level() {
        let text = "intro\n# A\n### B\nb\n## C\n# D\nd";
        let outline = outline(text).unwrap();
        let sections: Vec<&str> = outline
            .headings
            .iter()
            .map(|heading| &text[heading.section.clone()])
            .collect();
        assert_eq!(
            sections,
            ["# A\n### B\nb\n## C\n", "### B\nb\n", "## C\n", "# D\nd"]
        );
        assert_eq!(outline.path(1), "A > B");
        assert_eq!(
            outline
                .headings
                .iter()
                .map(|heading| heading.parent)
                .collect::<Vec<_>>(),
            [None, Some(0), Some(0), None]
        );
    }

    #[test]
    fn lone_carriage_returns_do_not_end_lines() {
        assert_eq!(
            shown("a\rb\n# c\rd\n# e"),
            [(1, "c".into(), 2, "# c\r"), (1, "e".into(), 3, "# e")]
        );
    }

    #[test]
    fn a_too_large_note_is_an_error() {
        let text = "x".repeat(MAX_BYTES + 1);
        assert_eq!(
            outline(&text).unwrap_err(),
            TextError::TooLarge {
                bytes: MAX_BYTES + 1,
                limit: MAX_BYTES
            }
        );
    }
}
