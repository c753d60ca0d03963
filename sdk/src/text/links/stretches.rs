//! A note cut at places where Markdown begins anew, so that one part of it can be read without the others.
//!
//! After a blank line, a line that begins with a letter at its very beginning is a paragraph of its own, whatever stood
//! above it, unless a fence, an HTML block or a comment is open. Notes in which that is not plain to see are not cut.

use std::ops::Range;

use super::blocks::fence;
use super::inline::container_prefix;

/// The parts of `body`, in order, that a parser reads alike on their own and in their place.
pub(super) fn stretches(body: &str) -> Vec<Range<usize>> {
    let whole = 0..body.len();
    cuts(body).unwrap_or_else(|| Vec::from([whole]))
}

fn cuts(body: &str) -> Option<Vec<Range<usize>>> {
    // Definitions are taken out of paragraphs, comments go on over blank lines, and a lone carriage return ends a line.
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
        // Other white space is text to Markdown.
        let content = line.trim_end_matches([' ', '\t', '\r', '\n']);
        if let Some((marker, length)) = open {
            let run = content.bytes().take_while(|byte| *byte == marker).count();
            if run >= length && run == content.len() {
                open = None;
            }
        } else if has_fences && (content.contains("```") || content.contains("~~~")) {
            // Only a fence that begins its line belongs to nothing but the note.
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
    use super::super::{Link, Wanted, blocks};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_note_is_cut_where_paragraphs_begin() {
        let parts = |text: &'static str| -> Vec<&str> {
            stretches(text)
                .into_iter()
                .map(|part| &text[part])
                .collect()
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

        /// Prose is where it was, whether a note is read whole or in parts.
        #[test]
        fn parts_are_read_as_they_are_in_their_place(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..30)) {
            let text = pieces.concat();
            let prose = |range: Range<usize>| {
                let begin = range.start;
                let leaves = blocks::leaves(&text[range], usize::MAX).into_iter();
                // Blank lines between two parts may belong to either.
                leaves
                    .map(|leaf| (begin + leaf.range.start..begin + leaf.range.end, leaf.cell))
                    .filter(|(range, _)| !text[range.clone()].trim().is_empty())
                    .map(|(range, cell)| (range.start, text[range].trim_end().to_owned(), cell))
                    .collect::<Vec<_>>()
            };
            let parts: Vec<_> = stretches(&text).into_iter().flat_map(prose).collect();
            prop_assert_eq!(parts, prose(0..text.len()), "{:?}", text);
        }

        /// No link that is wanted is missed, and each is told as it is told otherwise.
        #[test]
        fn wanted_links_are_found(frontmatter: bool, pieces in prop::collection::vec(prop::sample::select(PIECES), 0..30)) {
            let above = if frontmatter { "---\nup: \"[[b]]\"\n---\n" } else { "" };
            let text = above.to_owned() + &pieces.concat();
            let wanted = Wanted::new(["A/b.md"]);
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
