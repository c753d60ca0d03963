//! Blocks of difficult notes: kinds, bytes, and the effect of edits on other blocks.

use super::*;

/// Each block as `kind: text`, indented by its depth.
fn shown(note: &str) -> Vec<String> {
    let read = blocks(note).unwrap();
    (0..read.len())
        .map(|at| {
            format!(
                "{}{}: {}",
                "  ".repeat(read[at].depth),
                read[at].kind.as_str(),
                read.text_of(at).replace('\n', "⏎")
            )
        })
        .collect()
}

#[track_caller]
fn found(note: &str, text: &str) -> usize {
    let read = blocks(note).unwrap();
    let all = 0..read.len();
    all.clone()
        .filter(|at| read[*at].kind != BlockKind::List)
        .find(|at| read.text_of(*at) == text)
        .unwrap_or_else(|| {
            let texts: Vec<String> = all.map(|at| read.text_of(at)).collect();
            panic!("no block {text:?} among {texts:?}")
        })
}

#[track_caller]
fn inserted(note: &str, place: impl Fn(usize) -> Place, at: &str, text: &str) -> String {
    let read = blocks(note).unwrap();
    insert(&read, place(found(note, at)), text).unwrap().text
}

#[test]
fn every_kind_has_its_bytes() {
    let note = "---\na: 1\n---\n# Head ^h\n\npara\nmore ^p\n\n- a\n  - [ ] b\n    c\n1. x\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n^t\n\n> [!note]- Title\n> text\n> - i\n\n> quote\nlazy\n\n```rust\n# no\n\n```\n\n$$\nx^2\n$$\n\n<div>\n</div>\n\n[^1]: foot\n    more\n\n%%\nhid\n%%\n\n---\n\n[ref]: /url\n";
    assert_eq!(
        shown(note),
        [
            "frontmatter: ---⏎a: 1⏎---",
            "heading: # Head ^h",
            "paragraph: para⏎more ^p",
            "list: - a⏎  - [ ] b⏎    c",
            "  item: - a⏎  - [ ] b⏎    c",
            "    paragraph: a",
            "    list: - [ ] b⏎  c",
            "      task: - [ ] b⏎  c",
            "        paragraph: [ ] b⏎c",
            "list: 1. x",
            "  item: 1. x",
            "    paragraph: x",
            "table: | a | b |⏎|---|---|⏎| 1 | 2 |⏎⏎^t",
            "callout: > [!note]- Title⏎> text⏎> - i",
            "  paragraph: text",
            "  list: - i",
            "    item: - i",
            "      paragraph: i",
            "quote: > quote⏎lazy",
            "  paragraph: quote⏎lazy",
            "code: ```rust⏎# no⏎⏎```",
            "math: $$⏎x^2⏎$$",
            "html: <div>⏎</div>",
            "footnote: [^1]: foot⏎    more",
            "  paragraph: foot⏎more",
            "comment: %%⏎hid⏎%%",
            "thematic_break: ---",
            "definition: [ref]: /url",
        ]
    );
    let read = blocks(note).unwrap();
    let ids: Vec<(&str, &str)> = read
        .iter()
        .filter_map(|block| Some((block.kind.as_str(), block.id.as_ref()?.name.as_str())))
        .collect();
    assert_eq!(ids, [("heading", "h"), ("paragraph", "p"), ("table", "t")]);
}

#[test]
fn tabs_quote_markers_and_carriage_returns_are_stripped() {
    assert_eq!(
        shown("\u{feff}- a\r\n\t- b\r\n\t  c\r\n\t\t1. d ^x\r\n> - q\r\n>   r\r\n>\r\n>   s"),
        [
            "list: - a⏎\t- b⏎\t  c⏎\t\t1. d ^x",
            "  item: - a⏎\t- b⏎\t  c⏎\t\t1. d ^x",
            "    paragraph: a",
            "    list: - b⏎  c⏎\t1. d ^x",
            "      item: - b⏎  c⏎\t1. d ^x",
            "        paragraph: b⏎c",
            "        list: 1. d ^x",
            "          item: 1. d ^x",
            "            paragraph: d ^x",
            "quote: > - q⏎>   r⏎>⏎>   s",
            "  list: - q⏎  r⏎⏎  s",
            "    item: - q⏎  r⏎⏎  s",
            "      paragraph: q⏎r",
            "      paragraph: s",
        ]
    );
}

#[test]
fn inserted_text_is_adapted_to_its_place() {
    let after = |at| Place::After(at);
    let before = |at| Place::Before(at);
    let last = |at| Place::Last(Some(at));
    let first = |at| Place::First(Some(at));
    for (note, place, at, text, expected) in [
        (
            "A\n\nB\n",
            &after as &dyn Fn(usize) -> Place,
            "A",
            "N",
            "A\n\nN\n\nB\n",
        ),
        ("A\n\nB\n", &before, "B", "N", "A\n\nN\n\nB\n"),
        (
            "A\r\n\r\nB",
            &after,
            "B",
            "N\nM",
            "A\r\n\r\nB\r\n\r\nN\r\nM",
        ),
        ("# H\nB\n", &first, "# H", "N", "# H\nN\n\nB\n"),
        ("# H\nB\n# I\n", &last, "# H", "N", "# H\nB\n\nN\n# I\n"),
        ("# H\n", &last, "# H", "N", "# H\n\nN\n"),
        ("- a\n- b\n", &after, "- a", "- n", "- a\n- n\n- b\n"),
        ("- a\n- b\n", &after, "- a", "n\nm", "- a\n- n\n  m\n- b\n"),
        ("- [x] a\n", &before, "- [x] a", "n", "- [ ] n\n- [x] a\n"),
        (
            "9. a\n",
            &after,
            "9. a",
            "- n\n  - m",
            "9. a\n10. n\n    - m\n",
        ),
        ("- a\n\n- b\n", &after, "- b", "- n", "- a\n\n- b\n\n- n\n"),
        ("- a\n", &last, "- a", "- n", "- a\n  - n\n"),
        ("- a\n", &last, "- a", "n", "- a\n\n  n\n"),
        (
            "- a\n\t- b\n- c\n",
            &last,
            "- c",
            "- n",
            "- a\n\t- b\n- c\n\t- n\n",
        ),
        (
            "- a\n\t- b\n",
            &last,
            "- a\n\t- b",
            "- n",
            "- a\n\t- b\n\t- n\n",
        ),
        ("> a\n", &after, "a", "n", "> a\n>\n> n\n"),
        ("> a\n", &before, "a", "n", "> n\n>\n> a\n"),
        ("> [!x] T\n", &last, "> [!x] T", "n", "> [!x] T\n> n\n"),
        (
            "> [!x] T\n> a\nlater\n\nB",
            &last,
            "> [!x] T\n> a\nlater",
            "- n",
            "> [!x] T\n> a\nlater\n>\n> - n\n\nB",
        ),
        ("[^1]: a\n", &last, "[^1]: a", "n", "[^1]: a\n\n    n\n"),
    ] {
        assert_eq!(
            inserted(note, place, at, text),
            expected,
            "{note:?} {text:?}"
        );
    }
    for (note, text, expected) in [
        ("", "N", "N"),
        ("\n\n", "N", "N\n\n"),
        ("---\na: 1\n---", "N", "---\na: 1\n---\n\nN"),
        ("\u{feff}", "- N", "\u{feff}- N"),
    ] {
        let read = blocks(note).unwrap();
        let changed = insert(&read, Place::First(None), text).unwrap();
        assert_eq!(changed.text, expected);
    }
}

#[test]
fn text_that_absorbs_other_blocks_is_rejected() {
    for (note, at, text) in [
        ("A\n\nB\n", "A", "```\nopen"),
        ("A\n\nB\n", "A", "%%\nopen"),
        ("A\n\nB\n", "A", "<!-- open"),
        ("A\n\nB\n", "A", "^id"),
    ] {
        let read = blocks(note).unwrap();
        let error = insert(&read, Place::After(found(note, at)), text).unwrap_err();
        assert_eq!(
            error.code(),
            crate::Code::ValidationError,
            "{text}: {error}"
        );
    }
    let read = blocks("- a\n").unwrap();
    assert!(insert(&read, Place::Before(2), "x").is_err());
    let read = blocks("---\na: 1\n---\n").unwrap();
    assert!(insert(&read, Place::Before(0), "x").is_err());
}

#[test]
fn removing_leaves_no_gap_and_merges_nothing() {
    for (note, at, expected) in [
        ("A\n\nX\n\nB\n", "X", "A\n\nB\n"),
        ("A\n\nX\n", "X", "A\n"),
        ("X\n\nA", "X", "A"),
        ("A\n# X\nB\n", "# X", "A\n\nB\n"),
        ("- a\n- x\n  - y\n- b\n", "- x\n  - y", "- a\n- b\n"),
        ("- a\n  - x\n\nB", "- x", "- a\n\nB"),
        ("> a\n>\n> x\n", "x", "> a\n"),
        ("> x\n\nB", "x", "B"),
        ("> [!n] T\n> x\n", "x", "> [!n] T\n"),
        ("|a|\n|-|\n\n^t\n\nB\n", "|a|\n|-|\n\n^t", "B\n"),
    ] {
        let read = blocks(note).unwrap();
        let changed = remove(&read, found(note, at)).unwrap();
        assert_eq!(changed.text, expected, "{note:?}");
    }
}

#[test]
fn items_move_with_their_children() {
    let note = "- a\n- b\n\t- c\n\n\t  more\n- d\n";
    let read = blocks(note).unwrap();
    let item = found(note, "- b\n\t- c\n\n\t  more");
    let moved = relocate(&read, item, Place::Last(Some(found(note, "- d")))).unwrap();
    assert_eq!(moved.text, "- a\n- d\n\t- b\n\t\t- c\n\n\t\t  more\n");
    let back = blocks(&moved.text).unwrap();
    let item = found(&moved.text, "- b\n\t- c\n\n\t  more");
    let target = found(&moved.text, "- a");
    assert_eq!(
        relocate(&back, item, Place::After(target)).unwrap().text,
        note
    );
    assert!(relocate(&read, found(note, "- a"), Place::After(found(note, "- a"))).is_err());
}

#[test]
fn replacing_keeps_lines_and_ids() {
    for (note, at, text, expected) in [
        (
            "> a\n>b\nlazy\n",
            "a\nb\nlazy",
            "a\nX\nlazy",
            "> a\n>X\nlazy\n",
        ),
        ("A ^i\r\n\r\nB", "A ^i", "N\nM", "N\r\nM ^i\r\n\r\nB"),
        (
            "- a ^i\n  - b\n",
            "- a ^i\n  - b",
            "- n\n  - b",
            "- n ^i\n  - b\n",
        ),
        (
            "|a|\n|-|\n\n^t\n",
            "|a|\n|-|\n\n^t",
            "|b|\n|-|",
            "|b|\n|-|\n\n^t\n",
        ),
        (
            "> a\nlazy\n",
            "> a\nlazy",
            "> a\nlazy\nnew",
            "> a\nlazy\n> new\n",
        ),
        ("A\n# X\nB\n", "# X", "N", "A\n\nN\n\nB\n"),
        ("- a\n  b\n", "a\nb", "a\nb\n\nc", "- a\n  b\n\n  c\n"),
    ] {
        let read = blocks(note).unwrap();
        let changed = replace(&read, found(note, at), text).unwrap();
        assert_eq!(changed.text, expected, "{note:?}");
    }
    let read = blocks("---\na: 1\n---\nB").unwrap();
    assert_eq!(
        replace(&read, 0, "---\nb: 2\n---").unwrap().text,
        "---\nb: 2\n---\nB"
    );
    assert!(replace(&read, 0, "---\nb: [\n---").is_err());
    assert!(replace(&read, 0, "none").is_err());
    assert!(replace(&read, 1, " \n").is_err());
}

#[test]
fn ids_are_added_where_obsidian_expects_them() {
    for (note, at, expected) in [
        ("A\nB\n", "A\nB", "A\nB ^i\n"),
        ("- a\n  - b\n", "- a\n  - b", "- a ^i\n  - b\n"),
        ("- a\n", "a", "- a ^i\n"),
        ("Head\n===\n", "Head\n===", "Head ^i\n===\n"),
        ("|a|\n|-|\nB\n", "|a|\n|-|\nB", "|a|\n|-|\nB\n\n^i\n"),
        (
            "```\nx\n```\nB\n",
            "```\nx\n```",
            "```\nx\n```\n\n^i\n\nB\n",
        ),
        ("> q\n", "> q", "> q\n\n^i\n"),
    ] {
        let read = blocks(note).unwrap();
        let changed = identify(&read, found(note, at), "i").unwrap();
        assert_eq!(changed.text, expected, "{note:?}");
    }
    assert!(identify(&blocks("---\n").unwrap(), 0, "i").is_err());
}

#[test]
fn names_survive_edits_elsewhere() {
    let note = "# H\n\nalpha beta gamma\n\n- same\n- other\n- same\n";
    let read = blocks(note).unwrap();
    let names = read.names();
    let para = found(note, "alpha beta gamma");
    let edited = format!("new\n\n{note}\nmore\n");
    let after = blocks(&edited).unwrap();
    let at = after.find(&names[para].fragment).unwrap();
    assert_eq!(after.text_of(at), "alpha beta gamma");
    let items: Vec<usize> = (0..read.len())
        .filter(|at| read[*at].kind == BlockKind::Item)
        .collect();
    assert_ne!(names[items[0]], names[items[2]]);
    let third = after.find(&names[items[2]].fragment).unwrap();
    assert_eq!(after[third].line, 9);

    let changed = note.replace("beta", "delta");
    let after = blocks(&changed).unwrap();
    let Err(BlockLookupError::Changed {
        nearest: Some((_, passage)),
    }) = after.find(&names[para].fragment)
    else {
        panic!("it changed");
    };
    assert_eq!(
        (passage.line, passage.text.as_str()),
        (3, "alpha delta gamma")
    );

    // One of two equal blocks was removed: the text alone does not show which one is left.
    let fewer = blocks("- x\n- same\n- y\n").unwrap();
    assert!(matches!(
        fewer.find(&names[items[0]].fragment),
        Err(BlockLookupError::Several(_))
    ));
    let doubled = blocks("alpha beta gamma\n\nalpha beta gamma\n").unwrap();
    assert!(matches!(
        doubled.find(&names[para].fragment),
        Err(BlockLookupError::Several(_))
    ));
    assert!(matches!(
        read.find("nothing"),
        Err(BlockLookupError::Malformed)
    ));
    assert!(matches!(read.find("^no"), Err(BlockLookupError::NoId)));
}
