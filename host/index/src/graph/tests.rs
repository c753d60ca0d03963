//! The lists of the note graph after any sequence of edits, against the same lists made by a scan of what is left.

use notehost_sdk::text::facts::facts;
use proptest::prelude::*;

use super::*;

/// A step: a path, and the new text of the note or `None` where it is removed.
fn steps() -> impl Strategy<Value = Vec<(String, Option<String>)>> {
    let word = prop::sample::select(vec![
        "[[Plan]] ",
        "[[plan|x]] ",
        "[[Work/Plan.md]] ",
        "[y](Note.md) ",
        "[z](https://example.org) ",
        "#tag ",
        "#Tag ",
        "#tag/deep ",
    ]);
    let text =
        (prop::collection::vec(word, 0..12), any::<bool>()).prop_map(|(words, has_alias)| {
            let head = match has_alias {
                true => "---\naliases: [Other, other, Third]\ntags: [tag, deep]\n---\n",
                false => "",
            };
            format!("{head}{}\n", words.concat())
        });
    let path = prop::sample::select(vec!["Plan.md", "Work/Plan.md", "Note.md", "a/b/NOTE.md"]);
    prop::collection::vec(
        (path.prop_map(str::to_owned), prop::option::of(text)),
        1..24,
    )
}

fn file(path: &str, text: &str) -> File {
    let stamp = r#"{"identity":1,"size":1,"modified":1,"changed":1,"is_exact":true}"#;
    File {
        path: path.into(),
        stamp: serde_json::from_str(stamp).expect("a stamp"),
        is_unsure: false,
        note: Some(Note::new("etag", 1, facts(text))),
    }
}

/// Every list of a graph, made from its files alone. Doc ids come in ascending order, so each list is sorted.
fn scanned(graph: &Graph) -> Graph {
    let mut scan = Graph::default();
    for (doc_id, file) in graph.files() {
        let name = fold_name(last_part(&file.path));
        scan.by_name.entry(name.into()).or_default().push(doc_id);
        let keys = file.note.as_ref().expect("all are notes").keys();
        scan.notes.insert(doc_id);
        for name in &keys.link_names {
            scan.linking.entry(name.clone()).or_default().push(doc_id);
        }
        for (tag, count) in &keys.tags {
            let spellings = scan.tags.entry(fold_name(tag).into()).or_default();
            let count = *count;
            let tagged = spellings.entry(tag.clone()).or_default();
            tagged.push(Tagged { doc_id, count });
        }
        for alias in &keys.aliases {
            scan.aliases.entry(alias.clone()).or_default().push(doc_id);
        }
    }
    scan
}

proptest! {
    #[test]
    fn graph_lists_match_a_scan_after_random_edits(steps in steps()) {
        let mut graph = Graph::default();
        for (path, text) in steps {
            match text {
                Some(text) => {
                    graph.put(file(&path, &text), false);
                }
                None => {
                    graph.remove(&path);
                }
            }
            let scan = scanned(&graph);
            prop_assert_eq!(&graph.by_name, &scan.by_name);
            prop_assert_eq!(&graph.linking, &scan.linking);
            prop_assert_eq!(&graph.tags, &scan.tags);
            prop_assert_eq!(&graph.aliases, &scan.aliases);
            prop_assert_eq!(&graph.notes, &scan.notes);
        }
    }
}

#[test]
fn the_work_of_many_properties_is_known_for_as_long_as_their_note_is_there() {
    let mut graph = Graph::default();
    let keys: String = (0..1000).map(|key| format!("key{key}: {key}\n")).collect();
    graph.put(file("Many.md", &format!("---\n{keys}---\n")), false);
    assert!(graph.property_steps > 1000 / 64);
    graph.put(file("Many.md", "---\nkey: 1\n---\n"), false);
    assert_eq!(graph.property_steps, 0);
    graph.put(file("Many.md", &format!("---\n{keys}---\n")), false);
    graph.remove("Many.md");
    assert_eq!(graph.property_steps, 0);
}

#[test]
fn repeated_values_find_a_note_once() {
    let mut graph = Graph::default();
    let doc_id = graph.put(
        file("Plan.md", "#tag #tag #Tag [[Note]] [[note]] [[Note.md]]\n"),
        false,
    );
    assert_eq!(graph.sources_naming("Work/Note.md"), [doc_id]);
    let spellings: Vec<_> = graph.tags["tag"].iter().collect();
    assert_eq!(
        spellings,
        [
            (&"Tag".into(), &vec![Tagged { doc_id, count: 1 }]),
            (&"tag".into(), &vec![Tagged { doc_id, count: 2 }]),
        ]
    );
    graph.remove("Plan.md");
    assert!(graph.tags.is_empty() && graph.linking.is_empty() && graph.by_name.is_empty());
}
