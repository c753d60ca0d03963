//! Reduces a note to the text that determines its block structure.
//!
//! The parser's tree takes about a hundred times the bytes of a dense line, nearly all of it for inline content. Only the
//! beginnings of lines matter for blocks, so the parser gets only those. Line numbers, and the columns where blocks start,
//! are unchanged.

/// The note without inline content.
pub(super) fn skeleton(body: &str) -> String {
    let mut kept = String::with_capacity(body.len() / 8);
    for line in body.split_inclusive('\n') {
        let content = line.trim_end_matches(['\r', '\n']);
        match inside(content) {
            Some(cut) => {
                kept.push_str(&content[..cut]);
                // Keep one letter, or a paragraph would become a blank line or an empty item.
                kept.push('x');
                kept.push_str(&line[content.len()..]);
            }
            None => kept.push_str(line),
        }
    }
    kept
}

/// The start of the part of a line that is irrelevant for block structure.
fn inside(line: &str) -> Option<usize> {
    // Keep lines with fences, comments, tables, HTML or lone carriage returns whole.
    if line.contains(['|', '<', '\r'])
        || ["```", "~~~", "%%"].iter().any(|mark| line.contains(mark))
    {
        return None;
    }
    let letter = line.find(char::is_alphabetic)?;
    let cut = match line[..letter].find('[') {
        None => letter,
        // Other brackets than those of wikilinks and tasks may be a definition or a callout. A task without text is an
        // item without a paragraph.
        Some(bracket) => {
            let rest = &line[bracket..];
            let is_task = rest.char_indices().nth(2).is_some_and(|(at, _)| {
                rest[at..]
                    .strip_prefix("] ")
                    .is_some_and(|text| !text.trim().is_empty())
            });
            (rest.starts_with("[[") || is_task).then_some(bracket)?
        }
    };
    // The line may end a comment or tag that started on an earlier line.
    (!line[cut..].contains('>')).then_some(cut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::dialect;
    use comrak::nodes::NodeValue;
    use comrak::{Arena, parse_document};
    use proptest::prelude::*;

    #[test]
    fn only_inline_content_is_removed() {
        assert_eq!(
            skeleton(
                "# Title here\r\n- [ ] task *x*\n> quoted text\n1. one\n\n[ref]: /url\n- [[link]] x\n**bold**"
            ),
            "# x\r\n- x\n> x\n1. x\n\n[ref]: /url\n- x\n**x"
        );
    }

    /// Both cases were found by the property test below.
    #[test]
    fn comment_ends_and_empty_tasks_are_kept() {
        for text in ["<!-- \n[ ]  -->[x]\n# ", "- [x]  "] {
            assert_eq!(skeleton(text), text);
        }
    }

    /// The places and kinds of all blocks.
    fn headings(text: &str) -> Vec<(usize, usize, usize, u8, bool)> {
        let arena = Arena::new();
        let root = parse_document(&arena, text, &dialect::options());
        root.children()
            .filter_map(|node| {
                let data = node.data();
                let NodeValue::Heading(heading) = data.value else {
                    return None;
                };
                let position = data.sourcepos;
                Some((
                    position.start.line,
                    position.start.column,
                    position.end.line,
                    heading.level,
                    heading.setext,
                ))
            })
            .collect()
    }

    const PIECES: &[&str] = &[
        "# ", "## ", "#", "text", "a b", "- ", "* ", "1. ", "2) ", "> ", "    ", "\t", "  ", "```",
        "~~~", "`", "%%", "===", "---", "***", "<div>", "</div>", "<!-- ", " -->", "<", ">", "|",
        "|---|", "[x]", "[ ] ", "[[", "]]", "[a]: /b", "[^1]: ", "[!note]", "語", "🦀", "\\", "$$",
        "**", "_", ":", "\u{a0}", "=", "-", "\n", "\n", "\n", "\n\n", "\r\n", "\r",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_skeleton_has_the_headings_of_the_note(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
            let text = pieces.concat();
            prop_assert_eq!(headings(&skeleton(&text)), headings(&text), "{:?}", text);
        }
    }
}
