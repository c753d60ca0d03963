//! Property tests: everything except tags keeps its bytes, and the tags afterwards are the expected ones.

use notehost_sdk::text::tags;
use proptest::prelude::*;

use super::*;
use crate::names::{is_same, prefix_length};

fn yaml() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("---\nz: 1 # c\n---\n".to_owned()),
        Just("---\ntags: [a, 'b/c', \"A/d\"] # c\nz:   1\n---\n".to_owned()),
        Just("---\r\ntags:\r\n- a # one\r\n# two\r\n- b\r\n- a/x\r\nz: 'q'\r\n---\r\n".to_owned()),
        Just("---\ntag: a, b c\n---\n".to_owned()),
        Just("---\ntags: \"#a\"\nTag: [n, 2024]\n---\n".to_owned()),
    ]
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("#a".to_owned()),
        Just("#A/x".to_owned()),
        Just("#b".to_owned()),
        Just(" ".to_owned()),
        Just("\n".to_owned()),
        Just("\r\n\r\n".to_owned()),
        Just("`#a`".to_owned()),
        Just("[[N#a]]".to_owned()),
        Just("- ".to_owned()),
        Just("# ".to_owned()),
        Just("```\n".to_owned()),
        Just(" #a, ".to_owned()),
        Just("| ".to_owned()),
        "[a-zé.!(]{1,4}",
    ]
}

fn note() -> impl Strategy<Value = String> {
    (yaml(), proptest::collection::vec(piece(), 0..14))
        .prop_map(|(yaml, pieces)| yaml + &pieces.concat())
}

fn names(note: &str) -> Vec<String> {
    tags(note).into_iter().map(|tag| tag.name).collect()
}

/// The characters of a note without tags, blanks and the tag lists of the frontmatter.
fn rest(note: &str, without: &[&str]) -> String {
    let mut text = note.to_owned();
    for tag in tags(note).into_iter().rev() {
        if let Some(range) = tag.range
            && without
                .iter()
                .any(|above| prefix_length(&tag.name, above).is_some())
        {
            text.replace_range(range, "");
        }
    }
    text
}

proptest! {
    #[test]
    fn renaming_changes_only_the_tag(note in note()) {
        let vault = Vault::in_memory().with("N.md", &note);
        let before = names(&note);
        let expected = |tag: &String| match prefix_length(tag, "a") {
            Some(length) => format!("new{}", &tag[length..]),
            None => tag.clone(),
        };
        if !before.iter().any(|tag| prefix_length(tag, "a").is_some()) {
            prop_assert_eq!(refused(&vault, "rename", json!({ "from": "a", "to": "new" })).code(), "not_found");
            return Ok(());
        }
        ok(&vault, "rename", json!({ "from": "a", "to": "new" }));
        let text = vault.text("N.md").unwrap();
        prop_assert_eq!(names(&text), before.iter().map(expected).collect::<Vec<_>>());
        // Renaming back restores every byte, except for the case of the renamed tags.
        ok(&vault, "rename", json!({ "from": "new", "to": "a" }));
        prop_assert_eq!(vault.text("N.md").unwrap().to_lowercase(), note.to_lowercase());
    }

    #[test]
    fn taking_keeps_other_tags_and_all_words(note in note()) {
        let vault = Vault::in_memory().with("N.md", &note);
        let taken = reply::<Domain>(&vault, "take", &json!({ "paths": ["N"], "tags": ["a"] }));
        let Ok(taken) = taken else {
            prop_assert_eq!(vault.text("N.md").unwrap(), note);
            return Ok(());
        };
        let text = vault.text("N.md").unwrap();
        let kept: Vec<String> = names(&note).into_iter().filter(|tag| prefix_length(tag, "a").is_none()).collect();
        prop_assert_eq!(names(&text), kept);
        // Only tags and adjacent blanks are removed from the body; a tag may remain as a word.
        let letters = |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).collect::<String>();
        let body = letters(notehost_sdk::text::body(&text));
        let before = letters(notehost_sdk::text::body(&rest(&note, &["a"])));
        prop_assert!(is_within(&before, &body), "{note:?} → {text:?}");
        let lost = taken.json()["items"][0]["inline"].as_u64().unwrap();
        prop_assert_eq!(lost as usize, tags(&note).iter().filter(|tag| tag.range.is_some() && prefix_length(&tag.name, "a").is_some()).count());
    }

    #[test]
    fn taking_reverts_adding(note in note()) {
        let vault = Vault::in_memory().with("N.md", &note);
        ok(&vault, "add", json!({ "paths": ["N"], "tags": ["fresh/one", "two"] }));
        let text = vault.text("N.md").unwrap();
        let body = notehost_sdk::text::body(&text);
        prop_assert_eq!(body, notehost_sdk::text::body(&note));
        let mut expected = names(&note);
        for tag in ["fresh/one", "two"] {
            expected.push(tag.to_owned());
        }
        let mut now = names(&text);
        expected.sort();
        now.sort();
        prop_assert_eq!(now, expected);
        prop_assert!(!names(&note).iter().any(|tag| is_same(tag, "two")));
        ok(&vault, "take", json!({ "paths": ["N"], "tags": ["fresh", "two"] }));
        prop_assert_eq!(vault.text("N.md").unwrap(), note);
    }
}

/// Whether one text is a subsequence of another.
fn is_within(text: &str, whole: &str) -> bool {
    let mut letters = whole.chars();
    text.chars()
        .all(|letter| letters.any(|other| other == letter))
}
