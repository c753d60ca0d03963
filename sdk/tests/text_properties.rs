//! Property tests of text edits: bytes outside the edit are unchanged.
#![cfg(feature = "markdown")]

use notehost_sdk::text::frontmatter::{locate, properties};
use notehost_sdk::text::section::{self, Extent};
use notehost_sdk::text::{self, Edit, Place, outline, set_properties};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// Common and unusual lines.
const LINES: &[&str] = &[
    "",
    "",
    "text",
    "# A",
    "## B",
    "### C ###",
    "# A > B",
    "# 日本 **語**",
    "Setext",
    "===",
    "---",
    "- item",
    "\t- [x] tabbed",
    "1. one",
    "> # quoted",
    "> [!note] callout",
    "```",
    "~~~",
    "# in code?",
    "<div>",
    "</div>",
    "%%",
    "%% c %%",
    "| a | b |",
    "|---|---|",
    "^id",
    "[[link|shown]] #tag 🦀👩‍👩‍👧",
    "[x]: /url",
    "    indented",
    "#",
    "  ",
    "\u{a0}",
    "a\rb",
    "\u{2028}",
    "key:: value",
    "$$",
    "***",
    "[^1]: note",
];

/// Frontmatter entries with distinct keys, in every style.
const ENTRIES: &[&str] = &[
    "title: \"Quoted: title\" # comment",
    "tags: [a, 'b' , \"c\"]",
    "aliases:\n  - one # first\n  # between\n  - \"two\"",
    "plain: word",
    "number: 42",
    "date: 2024-01-01",
    "none:",
    "nested:\n  k: v # kv\n  deep:\n    m: 1\n    n: [x]",
    "flow: {a: 1, b: {c: 'd'}}",
    "text: |\n  line\n\n  more",
    "folded: >-\n  one\n  two",
    "列表:\n- 一\n- 二 # 註",
    "dotted.key: 1",
    "'single': it's",
    "empty: []",
    "truth: yes",
    "spaced:    wide   # far",
    "long: [\n  a, # one\n  b\n]",
    "maps:\n  - k: 1\n    l: 2\n  - k: 3",
];

const COMMENTS: &[&str] = &["# a comment", "", " # indented comment"];

fn newline() -> impl Strategy<Value = &'static str> {
    prop_oneof![5 => Just("\n"), 3 => Just("\r\n")]
}

/// Joins lines with one line ending, or with mixed ones.
fn joined(lines: Vec<(String, &'static str)>, uniform: Option<&'static str>) -> String {
    lines
        .into_iter()
        .map(|(line, newline)| match uniform {
            Some(ending) => format!("{line}{ending}")
                .replace("\n", ending)
                .replace("\r\r\n", "\r\n"),
            None => format!("{line}{newline}"),
        })
        .collect()
}

fn yaml() -> impl Strategy<Value = Vec<String>> {
    proptest::sample::subsequence(ENTRIES.to_vec(), 0..ENTRIES.len())
        .prop_shuffle()
        .prop_flat_map(|entries| {
            let count = entries.len();
            (
                Just(entries),
                prop::collection::vec(prop::option::weighted(0.3, select(COMMENTS)), count),
            )
                .prop_map(|(entries, comments)| {
                    entries
                        .into_iter()
                        .zip(comments)
                        .flat_map(|(entry, comment)| {
                            comment
                                .into_iter()
                                .chain([entry])
                                .map(str::to_owned)
                                .collect::<Vec<_>>()
                        })
                        .collect()
                })
        })
}

fn note() -> impl Strategy<Value = String> {
    let line = prop_oneof![30 => select(LINES).prop_map(str::to_owned), 1 => "\\PC{0,40}", 1 => (2000usize..9000).prop_map(|length| "長x".repeat(length))];
    (
        any::<bool>(),
        prop::option::of(yaml()),
        prop::collection::vec((line, newline()), 0..30),
        prop::option::weighted(0.8, newline()),
        any::<bool>(),
    )
        .prop_map(|(mark, yaml, lines, uniform, ended)| {
            let fence = |line: &str| (line.to_owned(), uniform.unwrap_or("\n"));
            let mut all = Vec::new();
            if let Some(yaml) = yaml {
                all.push(fence("---"));
                all.extend(yaml.iter().map(|line| fence(line)));
                all.push(fence("---"));
            }
            all.extend(lines);
            let mut text = joined(all, uniform);
            if !ended {
                text.truncate(text.trim_end_matches(['\r', '\n']).len());
            }
            if mark {
                text.insert(0, '\u{feff}');
            }
            text
        })
}

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1000i32..1000).prop_map(|number| json!(f64::from(number) / 8.0)),
        select(
            &[
                "",
                "word",
                "two words",
                "yes",
                "1",
                "- x",
                "a: b",
                "#tag",
                "[[Note]]",
                "it's",
                "say \"hi\"",
                "back\\slash",
                "語, 🦀",
                "x\ny",
                "x\n\ny\n",
                "\nx\ny\n\n",
                " lead\ntwo",
                "---",
                "...",
                "a\r\nb",
                "tab\there",
                "'",
                "\"",
                "~",
                "null",
                "? x",
                "a #b",
                "!x",
                "2024-01-01",
                "%d",
                "@x",
                "{a}",
                "x:",
                "-",
                "\u{feff}x",
                "\u{85}",
                "key: |",
                "..",
                "1e5",
                "0o7",
                "12:30:00",
                "=",
                "<<"
            ][..]
        )
        .prop_map(Value::from),
        "\\PC{0,30}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    scalar.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(
                (
                    select(&["a", "b", "k", "new key", "m", "1", "列"][..]),
                    inner
                ),
                0..4
            )
            .prop_map(|pairs| Value::Object(
                pairs
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect()
            )),
        ]
    })
}

fn one(key: &str, value: Value) -> Map<String, Value> {
    Map::from_iter([(key.to_owned(), value)])
}

/// The lines of the YAML that do not belong to the entry of a key, in order.
fn other_lines<'a>(text: &'a str, entry: &str) -> Vec<&'a str> {
    let Some(found) = locate(text) else {
        return Vec::new();
    };
    let own: Vec<&str> = entry.lines().map(str::trim_end).collect();
    text[found.yaml]
        .lines()
        .filter(|line| !own.contains(&line.trim_end()))
        .collect()
}

/// Whether the lines of one list appear in another, in order.
fn is_subsequence(inner: &[&str], outer: &[&str]) -> bool {
    let mut outer = outer.iter();
    inner.iter().all(|line| outer.any(|other| other == line))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_outline_covers_the_body(text in note()) {
        let outline = outline(&text).unwrap();
        let mut at = outline.headings.first().map_or(outline.body.end, |heading| heading.range.start);
        prop_assert!(at >= outline.body.start);
        for (index, heading) in outline.headings.iter().enumerate() {
            prop_assert_eq!(heading.range.start, at);
            prop_assert_eq!(heading.own.start, heading.range.end);
            prop_assert!(heading.section.end >= heading.own.end);
            prop_assert_eq!(heading.line, text::line_of(&text, heading.range.start));
            let path = outline.path(index);
            match section::find(&outline, &path) {
                Ok(found) => prop_assert_eq!(outline.headings[found].line, heading.line),
                Err(text::TextError::AmbiguousSection { choices, .. }) => for choice in choices {
                    let found = section::find(&outline, &choice.section).unwrap();
                    prop_assert_eq!(outline.headings[found].line, choice.line);
                },
                Err(other) => prop_assert!(false, "{path}: {other}"),
            }
            at = heading.own.end;
        }
        prop_assert_eq!(at, text.len());
    }

    #[test]
    fn section_edits_change_nothing_outside_the_section(text in note(), pick in any::<prop::sample::Index>(), addition in "[a-z語]{1,9}(\n[a-z語]{0,9}){0,3}") {
        let outline = outline(&text).unwrap();
        if outline.headings.is_empty() {
            return Ok(());
        }
        let index = pick.index(outline.headings.len());
        let heading = &outline.headings[index];
        let path = outline.path(index);
        let path = match section::find(&outline, &path) {
            Err(text::TextError::AmbiguousSection { choices, .. }) => match choices.into_iter().find(|choice| choice.line == heading.line) { Some(choice) => choice.section, None => return Ok(()) },
            _ => path,
        };
        let (head, own_tail, tail) = (&text[..heading.range.end], &text[heading.own.end..], &text[heading.section.end..]);
        for edited in [section::append(&text, &path, &addition), section::prepend(&text, &path, &addition), section::replace(&text, &path, &addition, Extent::Own)] {
            let edited = edited.unwrap();
            prop_assert!(edited.starts_with(head) && edited.ends_with(own_tail));
            prop_assert!(edited[head.len()..].replace("\r\n", "\n").contains(addition.trim_end_matches('\n')));
        }
        let replaced = section::replace(&text, &path, &addition, Extent::Whole).unwrap();
        prop_assert!(replaced.starts_with(head) && replaced.ends_with(tail));
        let deleted = section::delete(&text, &path).unwrap();
        let gap = deleted.strip_prefix(&text[..heading.section.start]).and_then(|rest| rest.strip_suffix(tail));
        prop_assert!(gap.is_some_and(|gap| gap.trim().is_empty()));
        // The following sections are unchanged.
        let after = text::outline(&deleted).unwrap();
        let following = outline.headings.iter().filter(|other| other.range.start >= heading.section.end).map(|other| &other.raw);
        prop_assert!(after.headings.iter().rev().map(|other| &other.raw).zip(following.rev()).all(|(now, before)| now == before));
        let read = section::read(&text, &path, Extent::Whole).unwrap();
        prop_assert_eq!(read.text, &text[heading.section.clone()]);
    }

    #[test]
    fn edits_change_their_passage_only(text in note(), from in any::<prop::sample::Index>(), length in 1usize..40, new in "[a-z🦀\n]{0,12}") {
        prop_assume!(!text.is_empty());
        let start = text.floor_char_boundary(from.index(text.len()));
        let end = text.ceil_char_boundary((start + length).min(text.len()));
        let old = text[start..end].replace("\r\n", "\n");
        let edit = Edit { old: old.clone(), new: new.clone(), replace_all: false };
        if let Ok(edited) = text::apply_edits(&text, &[edit]) {
            prop_assert_eq!(edited.replacements, 1);
            prop_assert!(edited.text.starts_with(&text[..start]) || text[..start].ends_with('\r'));
            prop_assert!(edited.text.ends_with(&text[end..]) || text[..end].ends_with('\r'));
            prop_assert!(edited.text.replace("\r\n", "\n").contains(&new));
        }
        let all = Edit { old: old.clone(), new: new.clone(), replace_all: true };
        if !text.contains('\r') && let Ok(edited) = text::apply_edits(&text, &[all]) {
            prop_assert_eq!(edited.text, text.replace(&old, &new));
        }
    }

    #[test]
    fn additions_keep_the_note_around_them(text in note(), addition in "[a-z語]{1,9}(\n[a-z語]{0,9}){0,3}\n?") {
        let appended = text::append(&text, &addition).unwrap();
        prop_assert!(appended.starts_with(&text));
        let no_lines = text.trim_start_matches('\u{feff}').is_empty();
        prop_assert!(no_lines || appended.ends_with('\n') == text.ends_with('\n') || addition.ends_with("\n\n"));
        let start = text::body::start(&text);
        let prepended = text::prepend(&text, &addition).unwrap();
        prop_assert!(prepended.starts_with(&text[..start]) && prepended.ends_with(&text[start..]));
        let replaced = text::replace_body(&text, &addition).unwrap();
        prop_assert!(replaced.starts_with(&text[..start]));
        prop_assert_eq!(properties(&replaced).ok(), properties(&text).ok());
        if let Ok(inserted) = text::insert(&text, &addition, Place::After("text")) {
            let at = text::lines::count(&text[..text.find("text").unwrap()]);
            prop_assert!(at <= text::lines::count(&inserted));
            prop_assert!(inserted.len() > text.len());
        }
    }

    #[test]
    fn a_set_property_reads_back(text in note(), key in select(&["title", "tags", "aliases", "nested", "nested.k", "nested.deep.n", "flow", "flow.b", "flow.new", "text", "folded", "none", "new", "new.below", "dotted.key", "empty", "列表", "long", "maps", "plain", "spaced", "single"][..]), value in value()) {
        let Ok(before) = properties(&text) else { return Ok(()) };
        let edited = match set_properties(&text, &one(key, value.clone()), &[]) {
            Ok(edited) => edited,
            Err(text::TextError::NotNested { .. }) => return Ok(()),
            Err(error) => return Err(TestCaseError::fail(format!("{error}: {key} = {value}"))),
        };
        let after = properties(&edited).unwrap();
        let direct = after.get(key);
        let dotted = key.split('.').try_fold(&Value::Object(after.clone()), |value, key| value.get(key)).cloned();
        prop_assert!(direct == Some(&value) || dotted == Some(value.clone()), "{after:?}");
        // The body and all lines of other properties are unchanged.
        prop_assert!(edited.ends_with(text::body(&text)));
        let top = key.split('.').next().unwrap();
        let entry = ENTRIES.iter().find(|entry| entry.trim_start_matches('\'').starts_with(top)).copied().unwrap_or("");
        let (kept, now) = (other_lines(&text, entry), other_lines(&edited, ""));
        prop_assert!(is_subsequence(&kept, &now), "{kept:?} {now:?}");
        for (name, value) in before.iter().filter(|(name, _)| *name != top && *name != key) {
            prop_assert_eq!(after.get(name), Some(value));
        }
        // Setting the same value again changes nothing.
        prop_assert_eq!(set_properties(&edited, &one(key, value.clone()), &[]).unwrap(), edited);
        prop_assert_eq!(set_properties(&text, &before, &[]).unwrap(), text);
    }

    #[test]
    fn setting_and_removing_a_property_restores_the_note(text in note(), value in value()) {
        let Ok(before) = properties(&text) else { return Ok(()) };
        prop_assume!(locate(&text).is_none() || !before.is_empty());
        let edited = set_properties(&text, &one("zz.new", value), &[]).unwrap();
        prop_assert_eq!(set_properties(&edited, &Map::new(), &["zz.new".to_owned()]).unwrap(), text);
    }

    #[test]
    fn removing_all_properties_leaves_only_comments(text in note()) {
        let Ok(before) = properties(&text) else { return Ok(()) };
        let keys: Vec<String> = before.keys().cloned().collect();
        let bare = set_properties(&text, &Map::new(), &keys).unwrap();
        prop_assert!(bare.ends_with(text::body(&text)));
        prop_assert_eq!(properties(&bare).unwrap_or_default(), Map::new());
    }

    #[test]
    fn a_window_is_part_of_the_note(text in note(), offset in 0usize..40, limit in prop::option::of(0usize..10), tokens in prop::option::of(0usize..300)) {
        let window = text::window(&text, offset, limit, tokens);
        prop_assert!(text.contains(window.text));
        prop_assert!(window.to < window.from + limit.unwrap_or(usize::MAX - 100));
        if !window.cut {
            prop_assert_eq!(text::lines::count(window.text), window.to + 1 - window.from);
        }
        if let Some(tokens) = tokens {
            prop_assert!(text::approx_tokens(window.text) <= tokens);
        }
    }

    #[test]
    fn unusual_frontmatter_is_preserved(yaml in "([ab]: |- |[ab]|: |\\[|\\]|\\{|\\}|, |#|'|\"|\\||>|&a |\\*a|!t |\\? |%|\\n|\\n  |\\n- |\\t|語){0,25}", key in select(&["a", "b", "a.b", "c"][..]), value in value()) {
        let text = format!("---\n{yaml}\n---\nbody");
        let end = text.len() - text::body(&text).len();
        for edited in [set_properties(&text, &one(key, value), &[]), set_properties(&text, &Map::new(), &[key.to_owned()])].into_iter().flatten() {
            prop_assert!(edited.ends_with(&text[end..]));
            prop_assert!(properties(&edited).is_ok());
        }
    }
}
