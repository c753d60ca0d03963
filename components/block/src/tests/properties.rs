//! Property tests on random notes made of difficult pieces: bytes outside an edit stay, names are unique, moves are
//! reversible.

use notehost_sdk::text::blocks::{
    BlockKind, Blocks, Place, blocks, identify, insert, relocate, remove, replace,
};
use proptest::prelude::*;

const PIECES: [&str; 46] = [
    "# Head",
    "## Two ^h",
    "Set\n===",
    "para",
    "para\nmore",
    "para ^id",
    "- a",
    "- a\n- b",
    "- a\n  - b\n    - c",
    "* x\n\t* y",
    "1. one\n2. two",
    "10) ten",
    "- [ ] task\n  text",
    "- [x] done ^t",
    "- a\n\n  para in item",
    "-",
    "- ```\n  code\n  ```",
    "> quote",
    "> a\n> b\nlazy",
    "> [!note] T\n> body",
    "> [!tip]-",
    "> - q\n>   r",
    "> > deep",
    "```\ncode\n\n# no\n```",
    "~~~\nopen",
    "    indented",
    "$$\nx\n$$",
    "<div>\n</div>",
    "<!-- c -->",
    "<!-- open",
    "%%\nhidden\n%%",
    "%% inline %%",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "^own",
    "---",
    "***",
    "[^1]: foot\n    more",
    "[ref]: /url",
    "漢字 語",
    "  - odd",
    "\ttab",
    "a\rb",
    "- - nested",
    "1. a\n   1. b",
    "text %% c",
    "\u{a0}",
];

const GAPS: [&str; 5] = ["\n\n", "\n", "\n\n\n", "\n \n", "\n\n\n\n"];

fn note() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec((0..PIECES.len(), 0..GAPS.len()), 0..9);
    (pieces, any::<bool>(), 0..4_u8, any::<bool>()).prop_map(|(pieces, returns, front, ended)| {
        let mut note = match front {
            0 => "---\na: 1 # c\n---\n".to_owned(),
            1 => "\u{feff}".to_owned(),
            _ => String::new(),
        };
        let count = pieces.len();
        for (number, (piece, gap)) in pieces.into_iter().enumerate() {
            note.push_str(PIECES[piece]);
            if number + 1 < count || ended {
                note.push_str(GAPS[gap]);
            }
        }
        match returns {
            true => note.replace('\n', "\r\n"),
            false => note,
        }
    })
}

/// Asserts that every byte is in exactly one block, or blank between two.
fn covers(read: &Blocks<'_>) {
    let note = read.note();
    let mut end = 0;
    for at in read.children(None) {
        let range = &read[at].range;
        assert!(range.start >= end && range.end <= note.len(), "{note:?}");
        let gap = note[end..range.start].trim_start_matches('\u{feff}');
        assert!(
            gap.bytes().all(|byte| b" \t\r\n".contains(&byte)),
            "{note:?}: {gap:?}"
        );
        end = range.end;
    }
    let gap = note[end..].trim_start_matches('\u{feff}');
    assert!(
        gap.bytes().all(|byte| b" \t\r\n".contains(&byte)),
        "{note:?}: {gap:?}"
    );
    for at in 0..read.len() {
        let mut end = read[at].range.start;
        for child in read.children(Some(at)) {
            let inner = &read[child].range;
            assert!(
                inner.start >= end && inner.end <= read[at].range.end,
                "{note:?}"
            );
            end = inner.end;
        }
    }
}

/// The blocks without lists, as kind and text, ignoring blank lines: a separating blank line may remain after a removal.
fn kinds_and_texts(note: &str) -> Vec<(BlockKind, String)> {
    let read = blocks(note).unwrap();
    (0..read.len())
        .filter(|at| read[*at].kind != BlockKind::List)
        .map(|at| {
            let text = read.text_of(at);
            let lines: Vec<&str> = text
                .lines()
                .filter(|line| !line.trim_matches(['>', ' ']).is_empty())
                .collect();
            (read[at].kind, lines.join("\n"))
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn blocks_cover_the_note_and_have_unique_names(note in note()) {
        let read = blocks(&note).unwrap();
        covers(&read);
        let names = read.names();
        for (at, name) in names.iter().enumerate() {
            prop_assert_eq!(read.find(&name.fragment), Ok(at), "{:?} {}", note, name.fragment);
            let same = replace(&read, at, &read.text_of(at)).unwrap();
            prop_assert_eq!(&same.text, &note);
        }
    }

    #[test]
    fn update_changes_only_its_block(note in note(), at in any::<prop::sample::Index>(), piece in 0..PIECES.len()) {
        let read = blocks(&note).unwrap();
        prop_assume!(!read.is_empty());
        let at = at.index(read.len());
        if let Ok(changed) = replace(&read, at, PIECES[piece]) {
            let range = &read[at].range;
            // Everything before the block is kept, except a separating blank line.
            prop_assert!(changed.text.ends_with(&note[range.end..]), "{:?}", changed.text);
            let kept = note[..range.start].rfind('\n').map_or(0, |end| end + 1);
            prop_assert!(changed.text.starts_with(&note[..kept]), "{:?}", changed.text);
            covers(&blocks(&changed.text).unwrap());
        }
    }

    #[test]
    fn removing_an_inserted_block_restores_the_note(note in note(), at in any::<prop::sample::Index>(), piece in 0..PIECES.len(), way in 0..4_u8) {
        let read = blocks(&note).unwrap();
        prop_assume!(!read.is_empty());
        let at = at.index(read.len());
        let place = match way {
            0 => Place::Before(at),
            1 => Place::After(at),
            2 => Place::First(Some(at)),
            _ => Place::Last(Some(at)),
        };
        if let Ok(changed) = insert(&read, place, PIECES[piece]) {
            let added = changed.text.len() - note.len();
            let begin = note.bytes().zip(changed.text.bytes()).take_while(|(a, b)| a == b).count();
            // The old text is kept: the new text is the old one with an insertion.
            let fits = (0..=begin).rev().any(|cut| {
                note.is_char_boundary(cut) && changed.text.is_char_boundary(cut + added)
                    && note[..cut] == changed.text[..cut] && note[cut..] == changed.text[cut + added..]
            });
            prop_assert!(fits, "{:?}", changed.text);
            let after = blocks(&changed.text).unwrap();
            covers(&after);
            // Removing the only inserted block restores the note; of several, the first is removed.
            let new: Vec<usize> = (0..after.len())
                .filter(|at| after[*at].range == changed.range && after[*at].kind != BlockKind::List)
                .collect();
            if let Some(first) = new.first()
                && after.children(after[*first].parent).count() > 1
                && let Ok(without) = remove(&after, *first)
            {
                prop_assert_eq!(kinds_and_texts(&without.text), kinds_and_texts(&note), "{:?}", changed.text);
            }
        }
    }

    #[test]
    fn remove_keeps_all_other_blocks(note in note(), at in any::<prop::sample::Index>()) {
        let read = blocks(&note).unwrap();
        prop_assume!(!read.is_empty());
        let at = at.index(read.len());
        if let Ok(changed) = remove(&read, at) {
            covers(&blocks(&changed.text).unwrap());
            let removed = at..read[at].next;
            let expected = leaves(&read, |leaf| !removed.contains(&leaf));
            let left = blocks(&changed.text).unwrap();
            prop_assert_eq!(leaves(&left, |_| true), expected, "{:?}", changed.text);
        }
    }

    #[test]
    fn identified_block_is_found_by_its_id(note in note(), at in any::<prop::sample::Index>()) {
        let read = blocks(&note).unwrap();
        prop_assume!(!read.is_empty());
        let at = at.index(read.len());
        if let Ok(changed) = identify(&read, at, "new-id") {
            let after = blocks(&changed.text).unwrap();
            let had = read.iter().filter(|block| block.id.is_some()).count();
            let has = after.iter().filter(|block| block.id.is_some()).count();
            prop_assert!(has == had + 1 || changed.text == note, "{:?}", changed.text);
        }
    }

    #[test]
    fn moving_back_within_a_list_restores_the_note(from in 0..6_usize, to in 0..6_usize, returns in any::<bool>(), tabs in any::<bool>()) {
        let mut note = "# L\n\n- a\n  - a1\n    more\n- b ^b\n- c\n  - c1\n  - c2\n- [ ] d\n- e\n  text\n- f\n\nend\n".to_owned();
        if tabs {
            note = note.replace("    more", "\t  more").replace("\n  - ", "\n\t- ");
        }
        if returns {
            note = note.replace('\n', "\r\n");
        }
        let read = blocks(&note).unwrap();
        let items: Vec<usize> = (0..read.len()).filter(|at| read[*at].kind.is_item() && read[*at].depth == 1).collect();
        prop_assume!(from != to);
        let moved = relocate(&read, items[from], Place::After(items[to])).unwrap();
        let after = blocks(&moved.text).unwrap();
        let now: Vec<usize> = (0..after.len()).filter(|at| after[*at].kind.is_item() && after[*at].depth == 1).collect();
        prop_assert_eq!(now.len(), items.len());
        let place = now.iter().position(|at| after.text_of(*at) == read.text_of(items[from])).unwrap();
        let back = match from {
            0 => Place::Before(now[0]),
            _ => {
                let neighbour = read.text_of(items[from - 1]);
                Place::After(*now.iter().find(|at| after.text_of(**at) == neighbour).unwrap())
            }
        };
        let back = match back {
            Place::Before(at) if at == now[place] => moved.text.clone(),
            Place::After(at) if place > 0 && at == now[place - 1] => moved.text.clone(),
            back => relocate(&after, now[place], back).unwrap().text,
        };
        prop_assert_eq!(back, note);
    }

    #[test]
    fn moving_an_item_below_another_and_back_restores_the_note(from in 0..4_usize, on in 1..4_usize, returns in any::<bool>()) {
        let mut note = "- a\n\t- a1\n- b\n- c\n\n  para\n- d\n".to_owned();
        if returns {
            note = note.replace('\n', "\r\n");
        }
        let to = (from + on) % 4;
        let read = blocks(&note).unwrap();
        let items = outer_items(&read);
        let text = read.text_of(items[from]);
        let moved = relocate(&read, items[from], Place::Last(Some(items[to]))).unwrap();
        let after = blocks(&moved.text).unwrap();
        let now = (0..after.len()).find(|at| after[*at].kind.is_item() && after.text_of(*at) == text).unwrap();
        prop_assert!(after[now].depth > 1);
        let left = outer_items(&after);
        let back = match from.checked_sub(1) {
            None => Place::Before(left[0]),
            Some(above) => Place::After(left[above]),
        };
        prop_assert_eq!(relocate(&after, now, back).unwrap().text, note);
    }
}

/// The blocks that are not containers, as kind and text.
fn leaves(read: &Blocks<'_>, is_wanted: impl Fn(usize) -> bool) -> Vec<(BlockKind, String)> {
    (0..read.len())
        .filter(|at| !read[*at].kind.is_container() && is_wanted(*at))
        .map(|at| (read[at].kind, read.text_of(at)))
        .collect()
}

/// The top-level items of a note.
fn outer_items(read: &Blocks<'_>) -> Vec<usize> {
    let all = 0..read.len();
    all.filter(|at| read[*at].kind.is_item() && read[*at].depth == 1)
        .collect()
}
