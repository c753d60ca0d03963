//! Splits a note into segments that can be parsed independently.
//!
//! After a blank line, an unindented line that starts with a letter is a new top-level paragraph, unless a fence, an HTML block
//! or a comment is open. Notes in which that is not certain are not split.

use std::ops::Range;

use super::blocks::fence;
use super::inline::container_prefix;

/// The segments of `body`, in order, which parse the same separately and in context.
pub(super) fn segments(body: &str) -> Vec<Range<usize>> {
    let whole = 0..body.len();
    cuts(body).unwrap_or_else(|| Vec::from([whole]))
}

fn cuts(body: &str) -> Option<Vec<Range<usize>>> {
    // Definitions are removed from paragraphs, comments continue over blank lines, and a lone carriage return ends a line.
    let bytes = body.as_bytes();
    let is_lone = |at: usize| bytes.get(at + 1) != Some(&b'\n');
    if body.contains("]:") || body.contains("%%") || memchr::memchr_iter(b'\r', bytes).any(is_lone)
    {
        return None;
    }
    let has_fences = body.contains("```") || body.contains("~~~");
    let has_tags = body.contains('<');
    let mut parts = Vec::new();
    let mut begin = 0;
    let mut open: Option<(u8, usize)> = None;
    let mut is_after_blank = false;
    let mut start = 0;
    for line in body.split_inclusive('\n') {
        // Other white space is text in Markdown.
        let content = line.trim_end_matches([' ', '\t', '\r', '\n']);
        if let Some((marker, length)) = open {
            let run = content.bytes().take_while(|byte| *byte == marker).count();
            if run >= length && run == content.len() {
                open = None;
            }
        } else if has_fences && (content.contains("```") || content.contains("~~~")) {
            // Only an unindented fence is certainly at the top level.
            open = Some(fence(content)?);
        } else if has_tags && line[container_prefix(line)..].starts_with('<') {
            return None;
        } else if is_after_blank && line.starts_with(char::is_alphabetic) {
            parts.push(begin..start);
            begin = start;
        }
        is_after_blank = content.is_empty();
        start += line.len();
    }
    parts.push(begin..body.len());
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::super::parse::{parse, parse_where};
    use super::super::{Link, TargetFilter, blocks};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn notes_are_split_at_paragraphs() {
        let parts = |text: &'static str| -> Vec<&str> {
            segments(text).into_iter().map(|part| &text[part]).collect()
        };
        assert_eq!(
            parts("a\nb\n\n- c\n\n  d\n\ne\n\n# f\ng\n\nh"),
            ["a\nb\n\n- c\n\n  d\n\n", "e\n\n# f\ng\n\n", "h"]
        );
        assert_eq!(parts("a\r\n\r\nb"), ["a\r\n\r\n", "b"]);
        assert_eq!(parts("```\n\na\n```\n\nb"), ["```\n\na\n```\n\n", "b"]);
        for whole in [
            "a\n\n- ```\n\nb",
            "a\n\n<div>\n\nb",
            "a\n\n> <b>\n\nb",
            "%% a\n\nb",
            "a\r\n\r\nb\rc",
            "[a]: b\n\nc",
            "",
        ] {
            assert_eq!(parts(whole), [whole]);
        }
    }

    const PIECES: &[&str] = &[
        "# ",
        "text",
        "a [[b]] c",
        "- ",
        "1. ",
        "> ",
        "    ",
        "\t",
        "  ",
        "```",
        "~~~",
        "`",
        "===",
        "---",
        "a <b>",
        "<div>",
        "<!-- ",
        "-->",
        "|",
        "|---|",
        "[ ] ",
        "[[l]]",
        "[!note]",
        "語",
        "$$",
        "%%",
        "[^1]",
        "a](",
        "[a](b.md)",
        "\n",
        "\n",
        "\n\n",
        "\n\n",
        "\n\n",
        "\n\na",
        "\n\u{a0}\na",
        "\r\n\r\na",
        "\r",
        "\n\n語",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

        /// The prose is the same for whole notes and for segments.
        #[test]
        fn segments_parse_as_in_context(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..30)) {
            let text = pieces.concat();
            let prose = |range: Range<usize>| {
                let begin = range.start;
                let leaves = blocks::leaves(&text[range], usize::MAX).into_iter();
                // Blank lines between two segments may belong to either.
                leaves
                    .map(|leaf| (begin + leaf.range.start..begin + leaf.range.end, leaf.cell))
                    .filter(|(range, _)| !text[range.clone()].trim().is_empty())
                    .map(|(range, cell)| (range.start, text[range].trim_end().to_owned(), cell))
                    .collect::<Vec<_>>()
            };
            let parts: Vec<_> = segments(&text).into_iter().flat_map(prose).collect();
            prop_assert_eq!(parts, prose(0..text.len()), "{:?}", text);
        }

        /// All wanted links are found, with the same fields.
        #[test]
        fn wanted_links_are_found(frontmatter: bool, pieces in prop::collection::vec(prop::sample::select(PIECES), 0..30)) {
            let above = if frontmatter { "---\nup: \"[[b]]\"\n---\n" } else { "" };
            let text = above.to_owned() + &pieces.concat();
            let wanted = TargetFilter::new(["A/b.md"]);
            let only_wanted = |mut links: Vec<Link>| {
                links.retain(|link| wanted.names(&link.target));
                links
            };
            prop_assert_eq!(
                only_wanted(parse_where(&text, |part| wanted.may_be_linked_from(part))),
                only_wanted(parse(&text)),
                "{:?}",
                text
            );
        }
    }
}
