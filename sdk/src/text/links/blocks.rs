//! Finds prose: the leaf blocks of a note that can contain links, without code blocks, HTML blocks and comments.
//!
//! It uses the line numbers of comrak's block tree. A note that is too large for the tree is read line by line, with simpler
//! rules.

use std::borrow::Cow;
use std::ops::Range;

use comrak::nodes::NodeValue;
use comrak::{Arena, parse_document};

use super::inline::container_prefix;
use crate::text::dialect;
use crate::text::skeleton::skeleton;

/// The kind of a run of whole lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lines {
    Prose,
    TableRow,
    NoLinks,
}

/// A part of a note that can contain links and is parsed separately.
pub(super) struct Leaf {
    pub(super) range: Range<usize>,
    /// Whether it can contain reference definitions; a table cell cannot.
    pub(super) cell: bool,
}

/// The leaves of `body`, in order. Does not build a tree for more than `max_tree` bytes.
pub(super) fn leaves(body: &str, max_tree: usize) -> Vec<Leaf> {
    let starts = line_starts(body);
    let blocks = if body.len() > max_tree {
        by_lines(body, &starts)
    } else {
        by_tree(&structure(body))
    };
    let offset = |line: usize| starts.get(line).copied().unwrap_or(body.len());
    let mut leaves = Vec::new();
    let mut next = 0;
    for (lines, kind) in blocks {
        // Lines in no block: blank ones, and reference definitions, which comrak removes from its tree.
        if next < lines.start {
            leaves.push(Leaf {
                range: offset(next)..offset(lines.start),
                cell: false,
            });
        }
        let first = lines.start.max(next);
        next = next.max(lines.end);
        let range = offset(first)..offset(next);
        match kind {
            Lines::Prose => leaves.push(Leaf { range, cell: false }),
            Lines::TableRow => cells(body, range, &mut leaves),
            Lines::NoLinks => {}
        }
    }
    if offset(next) < body.len() {
        leaves.push(Leaf {
            range: offset(next)..body.len(),
            cell: false,
        });
    }
    leaves
}

/// The input for the parser. Most of its time is for inline content, which is relevant only if there may be reference
/// definitions, because the parser removes those from their paragraphs.
fn structure(body: &str) -> Cow<'_, str> {
    if body.contains("]:") {
        Cow::Borrowed(body)
    } else {
        Cow::Owned(skeleton(body))
    }
}

/// The start of each line; as in CommonMark a lone carriage return ends a line.
fn line_starts(body: &str) -> Vec<usize> {
    let bytes = body.as_bytes();
    let mut starts = vec![0];
    for (at, byte) in bytes.iter().enumerate() {
        if *byte == b'\n' || (*byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
            starts.push(at + 1);
        }
    }
    starts
}

/// The cells of a table row, separated by every unescaped pipe.
fn cells(body: &str, row: Range<usize>, leaves: &mut Vec<Leaf>) {
    let bytes = &body.as_bytes()[..row.end];
    let mut start = row.start;
    let mut at = row.start;
    while at < row.end {
        match bytes[at] {
            b'\\' if bytes.get(at + 1).is_some_and(u8::is_ascii_punctuation) => at += 1,
            b'|' => {
                leaves.push(Leaf {
                    range: start..at,
                    cell: true,
                });
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    leaves.push(Leaf {
        range: start..row.end,
        cell: true,
    });
}

/// The relevant blocks of `body`, as ranges of lines from 0, in order.
fn by_tree(body: &str) -> Vec<(Range<usize>, Lines)> {
    let arena = Arena::new();
    let root = parse_document(&arena, body, &dialect::options());
    let mut blocks = Vec::new();
    for node in root.descendants() {
        let data = node.data();
        let kind = match data.value {
            NodeValue::Paragraph | NodeValue::Heading(_) => Lines::Prose,
            NodeValue::TableRow(_) => Lines::TableRow,
            NodeValue::CodeBlock(_) | NodeValue::HtmlBlock(_) | NodeValue::MultilineComment(_) => {
                Lines::NoLinks
            }
            _ => continue,
        };
        let place = data.sourcepos;
        blocks.push((place.start.line.saturating_sub(1)..place.end.line, kind));
    }
    blocks.sort_by_key(|(lines, _)| lines.start);
    blocks
}

/// The construct without links that is open, and how it ends.
enum Within {
    Prose,
    Fence { marker: u8, length: usize },
    Comment(&'static str),
}

/// The same without a tree: recognizes fences, comments, tables and indented code outside lists.
fn by_lines(body: &str, starts: &[usize]) -> Vec<(Range<usize>, Lines)> {
    let mut blocks: Vec<(Range<usize>, Lines)> = Vec::new();
    let mut within = Within::Prose;
    let mut after_blank = true;
    let mut in_list = false;
    for (number, &start) in starts.iter().enumerate() {
        let line = &body[start..starts.get(number + 1).copied().unwrap_or(body.len())];
        let prefix = container_prefix(line);
        let content = line[prefix..].trim_end();
        let mut kind = Lines::NoLinks;
        match within {
            Within::Fence { marker, length } => {
                let run = content.bytes().take_while(|byte| *byte == marker).count();
                if run >= length && run == content.len() {
                    within = Within::Prose;
                }
            }
            Within::Comment(closer) => {
                if content.contains(closer) {
                    within = Within::Prose;
                }
            }
            Within::Prose => {
                let indent = line.len() - line.trim_start_matches(' ').len();
                let indented = indent >= 4 || line.starts_with('\t');
                if let Some((marker, length)) = fence(content) {
                    within = Within::Fence { marker, length };
                } else if content.starts_with("%%") && !content[2..].contains('%') {
                    within = Within::Comment("%%");
                } else if content.starts_with("<!--") {
                    if !content.contains("-->") {
                        within = Within::Comment("-->");
                    }
                } else if content.starts_with('|') {
                    kind = Lines::TableRow;
                } else if !(indented && after_blank && !in_list) {
                    kind = Lines::Prose;
                }
                if !content.is_empty() && !indented {
                    in_list = prefix > indent;
                }
            }
        }
        match blocks.last_mut() {
            Some((lines, last))
                if *last == kind && kind == Lines::Prose && !content.is_empty() && !after_blank =>
            {
                lines.end = number + 1;
            }
            _ => blocks.push((number..number + 1, kind)),
        }
        after_blank = content.is_empty();
    }
    blocks
}

/// The code fence that a line opens: its character and length.
pub(super) fn fence(content: &str) -> Option<(u8, usize)> {
    let marker = *content.as_bytes().first()?;
    let length = content.bytes().take_while(|byte| *byte == marker).count();
    let opens = match marker {
        b'`' => !content[length..].contains('`'),
        b'~' => true,
        _ => false,
    };
    (opens && length >= 3).then_some((marker, length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PIECES: &[&str] = &[
        "# ",
        "## ",
        "text",
        "a [[b]] c",
        "- ",
        "* ",
        "1. ",
        "2) ",
        "> ",
        "    ",
        "\t",
        "  ",
        "```",
        "~~~",
        "`",
        "%%",
        "===",
        "---",
        "<div>",
        "</div>",
        "<!-- ",
        " -->",
        "<",
        ">",
        "|",
        "|---|",
        "[x]",
        "[ ] ",
        "[[l]]",
        "[a]: /b",
        "[a]: <b c>",
        "[a]:",
        " 'title",
        "'",
        "\"",
        "[^1]: ",
        "x[^1]",
        "[!note]",
        "語",
        "\\",
        "$$",
        "**",
        ":",
        "=",
        "-",
        "[a](b.md)",
        "![i](j.png)",
        "\n",
        "\n",
        "\n",
        "\n",
        "\n\n",
        "\n    ",
        "\r\n",
        "\r",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

        /// Removing inline content does not change where prose is.
        #[test]
        fn a_skeleton_has_the_blocks_of_the_note(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..30)) {
            let text = pieces.concat();
            prop_assert_eq!(by_tree(&structure(&text)), by_tree(&text), "{:?}", text);
        }
    }
}
