//! Every index query, on a small vault.

use serde_json::{Value, json};

use crate::index::{
    BacklinksQuery, Condition, Degree, Field, Found, FoundNote, Progress, Query, TagsQuery,
    UnresolvedQuery,
};
use crate::{MemoryVault, Tier, Vault};

fn vault() -> MemoryVault {
    Vault::in_memory()
        .with(
            "Work/Plan.md",
            "---\ntitle: Grand plan\naliases: [Strategy]\ntags: [work]\nrating: 4\ndue: 2024-03-01\nowner: \"[[People/Ana|Ana]]\"\nnested:\n  deep: Yes it is\n---\n# Plan for 2024!\nThe quick brown fox. #VC/Project\n- [ ] call [[Ana]]\n- [x] see [[Missing]] and [[missing#x]] ^done\n## Café au lait\n![[photo.png]] [web](https://example.com)\n",
        )
        .with("Work/Log.md", "Quick notes about the fox.\n[[Plan#Plan for 2024]] [[plan#^DONE]] [[Plan#Nope]] [[#none]]\n#vc\n")
        .with("People/Ana.md", "Ana writes parse_noteName in 中文笔记.\n[[Log]] [[Log]] [[Gone]]\n")
        .with("Diary/Secret.md", "fox #hidden [[Plan]] [[Wanted]] brownish\n")
        .with("Empty.md", "")
        .with_bytes("Work/photo.png", &[0xff, 0xd8])
        .with_bytes("Broken.md", &[b'f', b'o', b'x', b' ', 0xff])
}

fn condition(value: Value) -> Option<Condition> {
    Some(serde_json::from_value(value).unwrap())
}

fn found(vault: &MemoryVault, value: Value) -> Found {
    let query = Query {
        condition: condition(value),
        limit: 100,
        ..Query::default()
    };
    vault.find(&query).unwrap()
}

fn paths(vault: &MemoryVault, value: Value) -> Vec<String> {
    let mut paths: Vec<String> = found(vault, value)
        .items
        .into_iter()
        .map(|note| note.path)
        .collect();
    paths.sort();
    paths
}

fn fields_of(vault: &MemoryVault, path: &str, field: Field) -> FoundNote {
    let query = Query {
        condition: condition(json!({ "under": path })),
        limit: 1,
        fields: vec![field],
        ..Query::default()
    };
    vault.find(&query).unwrap().items.remove(0)
}

#[test]
fn words_phrases_and_prefixes_match() {
    let vault = vault();
    let words = |text: &str| paths(&vault, json!({ "words": { "text": text } }));
    assert_eq!(
        words("FOX"),
        [
            "Broken.md",
            "Diary/Secret.md",
            "Work/Log.md",
            "Work/Plan.md"
        ]
    );
    assert_eq!(words("quick brown"), ["Work/Plan.md"]);
    assert_eq!(words("brown quick"), Vec::<String>::new());
    assert_eq!(words("cafe"), ["Work/Plan.md"]);
    assert_eq!(words("note"), ["People/Ana.md"]);
    assert_eq!(words("文笔"), ["People/Ana.md"]);
    assert_eq!(words("->"), Vec::<String>::new());
    let prefix = |text: &str| paths(&vault, json!({ "prefix": { "text": text } }));
    assert_eq!(prefix("brow"), ["Diary/Secret.md", "Work/Plan.md"]);
    assert_eq!(prefix("quick br"), ["Work/Plan.md"]);
}

#[test]
fn words_match_only_in_the_given_part() {
    let vault = vault();
    let within =
        |text: &str, part: &str| paths(&vault, json!({ "words": { "text": text, "in": part } }));
    assert_eq!(within("strategy", "name"), ["Work/Plan.md"]);
    assert_eq!(within("grand plan", "name"), ["Work/Plan.md"]);
    assert_eq!(within("plan", "headings"), ["Work/Plan.md"]);
    assert_eq!(within("quick", "headings"), Vec::<String>::new());
    assert_eq!(within("secret", "text"), Vec::<String>::new());
}

#[test]
fn a_word_without_whole_match_is_searched_within_words() {
    let vault = vault();
    let answer = found(&vault, json!({ "words": { "text": "rownis" } }));
    assert_eq!(answer.widened, ["rownis"]);
    assert_eq!(answer.items[0].path, "Diary/Secret.md");
    let hidden = vault.allow("Diary", Tier::None);
    let answer = found(&hidden, json!({ "words": { "text": "brownish" } }));
    assert_eq!((answer.total, answer.widened.len()), (0, 0));
}

#[test]
fn results_are_ranked_and_have_snippets() {
    let vault = vault();
    let query = Query {
        condition: condition(
            json!({ "all": [{ "words": { "text": "quick" } }, { "words": { "text": "fox" } }] }),
        ),
        limit: 1,
        snippets: 2,
        ..Query::default()
    };
    let answer = vault.find(&query).unwrap();
    assert_eq!((answer.total, answer.items.len()), (2, 1));
    assert_eq!(answer.items[0].path, "Work/Log.md");
    assert!(answer.items[0].score.unwrap() > 0.0);
    assert_eq!(
        answer.items[0].snippets[0].text,
        "Quick notes about the fox."
    );
    assert_eq!(answer.items[0].snippets[0].line, 1);
    let rest = vault.find(&Query { offset: 1, ..query }).unwrap();
    assert_eq!(rest.items[0].snippets[0].line, 12);
}

#[test]
fn every_kind_of_condition_matches() {
    let vault = vault().at(9_000_000_000_000).with("Work/New.md", "x");
    let all = |value: Value| paths(&vault, value);
    assert_eq!(all(json!({ "under": "People" })), ["People/Ana.md"]);
    assert_eq!(all(json!({ "under": "Peop" })), Vec::<String>::new());
    assert_eq!(all(json!({ "under": "" })).len(), 7);
    assert_eq!(all(json!({ "any": [] })), Vec::<String>::new());
    assert_eq!(
        all(json!({ "path": "work/*.MD" })),
        ["Work/Log.md", "Work/New.md", "Work/Plan.md"]
    );
    assert_eq!(
        all(json!({ "path": "**/{ana,l?g}.md" })),
        ["People/Ana.md", "Work/Log.md"]
    );
    assert_eq!(
        all(json!({ "path": "[!a-v]*/**" })),
        ["Work/Log.md", "Work/New.md", "Work/Plan.md"]
    );
    assert_eq!(all(json!({ "tag": "VC" })), ["Work/Log.md", "Work/Plan.md"]);
    assert_eq!(all(json!({ "tag": "vc/project" })), ["Work/Plan.md"]);
    assert_eq!(all(json!({ "not": { "under": "Work" } })).len(), 4);
    assert_eq!(
        all(json!({ "modified": { "from": 9_000_000_000_000u64 } })),
        ["Work/New.md"]
    );
    assert_eq!(all(json!({ "size": { "to": 1 } })), ["Empty.md"]);
    assert_eq!(all(json!({ "links_to": "Work/Log.md" })), ["People/Ana.md"]);
    assert_eq!(
        all(json!({ "links_to": "Work/photo.png" })),
        ["Work/Plan.md"]
    );
    assert_eq!(
        all(json!({ "linked_from": "Work/Plan.md" })),
        ["People/Ana.md"]
    );
    for (what, count) in [
        ("tags", 3),
        ("properties", 1),
        ("aliases", 1),
        ("headings", 1),
        ("links", 4),
        ("broken_links", 3),
        ("backlinks", 3),
        ("embeds", 1),
        ("blocks", 1),
        ("tasks", 1),
        ("open_tasks", 1),
    ] {
        assert_eq!(all(json!({ "has": what })).len(), count, "{what}");
    }
    let error = vault
        .find(&Query {
            condition: condition(json!({ "path": "a[" })),
            ..Query::default()
        })
        .unwrap_err();
    assert_eq!(error.message(), "`a[` is not a glob: `[` is not closed");
}

#[test]
fn property_tests_compare_by_value() {
    let vault = vault().with(
        "Work/Other.md",
        "---\nRating: [3, 9]\ndue: 2023-12-31\nnone:\n---\n",
    );
    let all = |value: Value| paths(&vault, json!({ "property": value }));
    let plan = ["Work/Plan.md"];
    let other = ["Work/Other.md"];
    assert_eq!(all(json!({ "key": "rating", "equals": 4.0 })), plan);
    assert_eq!(all(json!({ "key": "rating", "equals": "4" })), plan);
    assert_eq!(all(json!({ "key": "RATING", "greater": 4 })), other);
    assert_eq!(
        all(json!({ "key": "rating", "at_least": 4, "less": 4 })),
        other
    );
    assert_eq!(all(json!({ "key": "rating", "equals": [3, 9] })), other);
    assert_eq!(all(json!({ "key": "due", "at_least": "2024-01-01" })), plan);
    assert_eq!(all(json!({ "key": "due", "at_most": "2023-12-31" })), other);
    assert_eq!(all(json!({ "key": "nested.deep", "contains": "IT" })), plan);
    assert_eq!(all(json!({ "key": "owner", "equals": "ana" })), plan);
    assert_eq!(
        all(json!({ "key": "owner", "equals": "[[People/Ana]]" })),
        plan
    );
    assert_eq!(
        all(json!({ "key": "owner", "equals": "Bob" })),
        Vec::<String>::new()
    );
    assert_eq!(
        all(json!({ "key": "none", "exists": true })),
        Vec::<String>::new()
    );
    assert_eq!(all(json!({ "key": "rating", "exists": false })).len(), 5);
}

#[test]
fn sorting_puts_notes_without_the_property_last() {
    let vault = vault()
        .with("A.md", "---\nrating: 7\n---\n")
        .with("B.md", "---\nrating: none\n---\n");
    let ordered = |sort: Value| -> Vec<String> {
        let query = Query {
            sort: serde_json::from_value(sort).unwrap(),
            limit: 4,
            ..Query::default()
        };
        let found = vault.find(&query).unwrap().items;
        found.into_iter().map(|note| note.path).collect()
    };
    let rating = json!({ "by": { "property": "rating" } });
    assert_eq!(
        ordered(json!([rating])),
        ["Work/Plan.md", "A.md", "B.md", "Broken.md"]
    );
    assert_eq!(
        ordered(json!([{ "by": { "property": "rating" }, "descending": true }])),
        ["B.md", "A.md", "Work/Plan.md", "Broken.md"]
    );
    assert_eq!(
        ordered(json!([{ "by": "name" }])),
        ["A.md", "People/Ana.md", "B.md", "Broken.md"]
    );
    assert_eq!(
        ordered(json!([{ "by": "size", "descending": true }]))[0],
        "Work/Plan.md"
    );
    assert_eq!(
        ordered(json!([{ "by": "incoming", "descending": true }]))[0],
        "Work/Plan.md"
    );
}

#[test]
fn links_are_resolved() {
    let vault = vault();
    let links = fields_of(&vault, "Work/Log.md", Field::Links)
        .links
        .unwrap();
    let found: Vec<_> = links
        .iter()
        .map(|link| (link.path.as_deref().unwrap(), link.fragment_found))
        .collect();
    assert_eq!(
        found,
        [
            ("Work/Plan.md", Some(true)),
            ("Work/Plan.md", Some(true)),
            ("Work/Plan.md", Some(false)),
            ("Work/Log.md", Some(false))
        ]
    );
    let degree = |vault: &MemoryVault| {
        fields_of(vault, "Work/Plan.md", Field::Degree)
            .degree
            .unwrap()
    };
    let expected = Degree {
        incoming: 4,
        outgoing: 3,
        broken: 2,
    };
    assert_eq!(degree(&vault), expected);
    let hidden = vault.allow("Diary", Tier::None);
    assert_eq!(
        degree(&hidden),
        Degree {
            incoming: 3,
            ..expected
        }
    );
}

#[test]
fn backlinks_have_line_and_context_and_hide_invisible_notes() {
    let vault = vault().allow("Diary", Tier::None);
    let of = BacklinksQuery {
        path: "Work/Plan.md".into(),
        offset: 1,
        limit: 1,
    };
    let answer = vault.backlinks(&of).unwrap();
    assert_eq!((answer.total, answer.notes, answer.items.len()), (3, 1, 1));
    assert_eq!(answer.items[0].line, 2);
    assert_eq!(answer.items[0].fragment.as_deref(), Some("#^DONE"));
    let of = BacklinksQuery {
        path: "Diary/Secret.md".into(),
        offset: 0,
        limit: 1,
    };
    assert_eq!(vault.backlinks(&of).unwrap().total, 0);
}

#[test]
fn unresolved_targets_are_grouped_with_their_places() {
    let vault = vault().allow("Diary", Tier::None);
    let within = UnresolvedQuery {
        limit: 10,
        places: 1,
        ..UnresolvedQuery::default()
    };
    let answer = vault.unresolved(&within).unwrap();
    assert_eq!((answer.total, answer.links), (2, 3));
    assert_eq!(
        (answer.items[0].target.as_str(), answer.items[0].count),
        ("Missing", 2)
    );
    assert_eq!(
        (answer.items[0].places[0].line, answer.items[0].places.len()),
        (14, 1)
    );
    let answer = vault
        .unresolved(&UnresolvedQuery {
            under: "People".into(),
            ..within
        })
        .unwrap();
    assert_eq!((answer.total, answer.items[0].target.as_str()), (1, "Gone"));
}

#[test]
fn tags_are_counted_with_their_parents() {
    let vault = vault().allow("Diary", Tier::None);
    let of = TagsQuery {
        limit: 10,
        ..TagsQuery::default()
    };
    let tag_rows = |of: &TagsQuery| -> Vec<(String, u64, u64)> {
        let tags = vault.tags(of).unwrap().items;
        tags.into_iter()
            .map(|tag| (tag.tag, tag.notes, tag.own))
            .collect()
    };
    assert_eq!(
        tag_rows(&of),
        [
            ("VC".into(), 2, 1),
            ("VC/Project".into(), 1, 1),
            ("work".into(), 1, 1)
        ]
    );
    assert_eq!(
        tag_rows(&TagsQuery {
            by_count: true,
            offset: 1,
            limit: 1,
            ..of.clone()
        }),
        [("VC/Project".into(), 1, 1)]
    );
    assert_eq!(
        tag_rows(&TagsQuery {
            prefix: "vc/".into(),
            ..of.clone()
        })
        .len(),
        1
    );
    assert_eq!(
        tag_rows(&TagsQuery {
            under: "People".into(),
            ..of
        })
        .len(),
        0
    );
}

#[test]
fn edges_linking_and_state() {
    let vault = vault().allow("Diary", Tier::None);
    let edges = vault.edges().unwrap();
    assert_eq!(
        edges.paths,
        [
            "Broken.md",
            "Empty.md",
            "People/Ana.md",
            "Work/Log.md",
            "Work/Plan.md"
        ]
    );
    assert_eq!(edges.edges, [2, 3, 2, 3, 4, 3, 4, 2, 2]);
    assert_eq!(edges.broken, [0, 0, 1, 0, 2]);
    let linking = |file: &str| vault.linking(&[file.to_owned()]).unwrap();
    assert_eq!(linking("Other/ana.md"), ["Work/Plan.md"]);
    assert_eq!(linking("New/Gone.md"), ["People/Ana.md"]);
    assert_eq!(linking("x/PHOTO.png"), ["Work/Plan.md"]);
    assert_eq!(linking("Gone.txt"), Vec::<String>::new());
    let state = vault.index_state();
    assert_eq!(
        (state.state, state.done, state.total),
        (Progress::Ready, 5, 5)
    );
}

#[test]
fn text_search_ignores_unicode_normalization() {
    let vault = vault()
        .with("Marks.md", "re\u{301}sume\u{301}")
        .allow("Diary", Tier::None);
    let containing = |texts: &[&[&str]]| {
        let texts: Vec<Vec<String>> = texts
            .iter()
            .map(|choice| choice.iter().map(|text| (*text).to_owned()).collect())
            .collect();
        vault.containing(&texts).unwrap()
    };
    assert_eq!(containing(&[&["RÉSUMÉ"]]), ["Marks.md"]);
    assert_eq!(containing(&[&["sume"]]), ["Marks.md"]);
    assert_eq!(
        containing(&[&["QUICK", "笔记"], &["fox", "parse"]]),
        ["People/Ana.md", "Work/Log.md", "Work/Plan.md"]
    );
    assert_eq!(containing(&[&["fox "]]), ["Broken.md"]);
    assert_eq!(containing(&[]).len(), 6);
    assert_eq!(containing(&[&[]]).len(), 0);
}

#[test]
fn names_match_whole_words_longest_first() {
    let vault = vault()
        .with("Work/Plan B.md", "")
        .with("Old/Log.md", "")
        .with("笔记.md", "")
        .with("Cafe\u{301}.md", "");
    let text = "ANA had plan b, planned a logbook; Strategy: log 我的笔记本 Café";
    let names: Vec<(String, &str, bool)> = vault
        .names_in(text)
        .unwrap()
        .into_iter()
        .map(|name| {
            (
                name.path,
                &text[name.start as usize..name.end as usize],
                name.alias,
            )
        })
        .collect();
    assert_eq!(
        names,
        [
            ("People/Ana.md".to_owned(), "ANA", false),
            ("Work/Plan B.md".to_owned(), "plan b", false),
            ("Work/Plan.md".to_owned(), "Strategy", true),
            ("Old/Log.md".to_owned(), "log", false),
            ("Work/Log.md".to_owned(), "log", false),
            ("笔记.md".to_owned(), "笔记", false),
            ("Cafe\u{301}.md".to_owned(), "Café", false),
        ]
    );
    let hidden = vault.allow("People", Tier::None);
    assert_eq!(hidden.names_in("Ana").unwrap(), []);
}

#[test]
fn similarity_prefers_shared_rare_words() {
    let vault = vault();
    let answer = found(&vault, json!({ "like": "a quick brown fox and strategy" }));
    assert_eq!(answer.items[0].path, "Work/Plan.md");
    assert_eq!(found(&vault, json!({ "like": "..." })).total, 0);
}
