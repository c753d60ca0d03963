//! Questions that are too large or out of time, and notes whose frontmatter is over a limit.

use std::time::{Duration, Instant};

use notehost_sdk::index::{
    BacklinksQuery, Condition, Field, PropertyTest, Sort, SortBy, TagsQuery, UnresolvedQuery,
};
use serde_json::json;

use super::*;
use crate::limits::answer_budget::AnswerBudget;
use crate::query::{find as finding, links, names};
use crate::{CancelFlag, MAX_RESULTS};

fn property() -> Condition {
    Condition::Property(Box::new(PropertyTest {
        key: "status".to_owned(),
        equals: Some(json!("open")),
        ..PropertyTest::default()
    }))
}

fn find(condition: Condition) -> Question {
    Question::Find(Query {
        condition: Some(condition),
        limit: 10,
        ..Query::default()
    })
}

fn small() -> World {
    let world = World::new();
    world.put("Plan.md", "---\nstatus: open\n---\nSee [[Note]] #tag\n");
    world.put("Note.md", "apple\n");
    world.catch_up();
    world
}

#[test]
fn queries_end_at_the_deadline_and_on_cancellation() {
    let world = small();
    for question in [
        find(property()),
        Question::Backlinks(
            serde_json::from_value(json!({"path": "Note.md", "limit": 1})).unwrap(),
        ),
        Question::Tags(serde_json::from_value(json!({"limit": 1})).unwrap()),
        Question::Edges,
        Question::NamesIn("Note".to_owned()),
        Question::Linking(vec!["Note.md".to_owned()]),
        Question::Containing(vec![vec!["apple".to_owned()]]),
    ] {
        let mut late = world.vault().begin(Access {
            rules: Arc::new(Hiding(None)),
            effect: Effect::Read,
            component: "test".into(),
            limits: Limits {
                deadline: Some(Instant::now() - Duration::from_secs(1)),
                ..Limits::default()
            },
        });
        let refused = world.index().ask(&mut late, question.clone());
        assert_eq!(refused.unwrap_err().code(), "timeout", "{question:?}");
        let cancelled = CancelFlag::default();
        cancelled.store(true, std::sync::atomic::Ordering::Relaxed);
        let mut left = begin(world.vault(), None, Effect::Read);
        let refused = world
            .index()
            .ask_cancellable(&mut left, question.clone(), Some(&cancelled));
        assert_eq!(refused.unwrap_err().code(), "timeout", "{question:?}");
        let mut transaction = begin(world.vault(), None, Effect::Read);
        assert!(world.index().ask(&mut transaction, question).is_ok());
    }
}

#[test]
fn queries_with_too_many_conditions_are_refused() {
    let world = small();
    let many = find(Condition::Any(vec![property(); 60_000]));
    let mut transaction = begin(world.vault(), None, Effect::Read);
    assert!(!world.index().is_quick(&transaction, &many));
    let refused = world.index().ask(&mut transaction, many);
    assert_eq!(refused.unwrap_err().code(), "too_large");
    assert!(world.index().is_quick(&transaction, &find(property())));
}

#[test]
fn a_note_whose_frontmatter_is_over_a_limit_is_found_without_properties() {
    let world = small();
    let bomb = format!("---\na: {}\n---\n# Head\n\npear #tag\n", "[".repeat(5000));
    world.put("Bomb.md", &bomb);
    world.catch_up();
    let by_word = world.ask(find(Condition::Words(notehost_sdk::index::Words {
        text: "pear".to_owned(),
        part: None,
    })));
    assert!(by_word.contains("Bomb.md"), "{by_word}");
    let with_properties = find(Condition::Has(notehost_sdk::index::Has::Properties));
    assert!(!world.ask(with_properties).contains("Bomb.md"));
    world.index().core.save();
    let report = crate::report(world.vault()).expect("a report");
    assert_eq!(report.unread_properties, ["Bomb.md"]);
}

/// How many keys the notes of [`heavy`] have each.
const KEYS: usize = 6000;

/// A vault of notes with very many properties.
fn heavy(notes: usize) -> World {
    let world = World::new();
    let keys: String = (0..KEYS).map(|key| format!("key{key}: {key}\n")).collect();
    for note in 0..notes {
        let last = format!("X:\n  Y: {}\n", note % 3);
        world.put(&format!("{note}.md"), &format!("---\n{keys}{last}---\n"));
    }
    world.catch_up();
    world
}

fn by_properties(count: usize) -> Query {
    let sort = (0..count).map(|key| Sort {
        by: SortBy::Property(["x.y".to_owned(), format!("none{key}.y")][key.min(1)].clone()),
        descending: false,
    });
    Query {
        sort: sort.collect(),
        limit: 200,
        ..Query::default()
    }
}

/// How many steps and checks a question takes, once it is known what its caller sees.
fn steps(world: &World, question: &Question) -> u64 {
    world.ask(question.clone());
    let transaction = begin(world.vault(), None, Effect::Read);
    let deadline = &Deadline::after(1 << 40);
    let answer = world.index().core.answer(&transaction, question, deadline);
    assert!(answer.is_ok());
    (1 << 40) - deadline.left()
}

#[test]
fn queries_over_many_properties_are_not_quick() {
    let notes = 12;
    let world = heavy(notes);
    let work = (notes * KEYS / 64) as u64;
    let sorted = Question::Find(by_properties(5));
    assert!(steps(&world, &sorted) > 5 * work);
    let test = Condition::Property(Box::new(PropertyTest {
        key: "x.y".to_owned(),
        exists: Some(true),
        ..PropertyTest::default()
    }));
    assert!(steps(&world, &find(test.clone())) > work);
    let all = Question::Find(Query {
        fields: vec![Field::Properties],
        limit: 200,
        ..Query::default()
    });
    assert!(steps(&world, &all) > work);
    // Sixteen sort keys are too much by the estimate; what the estimate lets through ends at the first such note. Texts
    // that are not built yet would make no question quick.
    assert!(world.index().core.texts().flush().is_ok());
    let transaction = begin(world.vault(), None, Effect::Read);
    let many = Question::Find(by_properties(16));
    assert!(!world.index().is_quick(&transaction, &many));
    assert!(world.index().is_quick(&transaction, &find(test.clone())));
    assert!(
        world
            .index()
            .ask_if_quick(&transaction, &find(test))
            .is_none()
    );
    assert_eq!(small().index().core.graph().property_steps, 0);
}

#[test]
fn a_sort_by_properties_ends_at_the_deadline() {
    let world = heavy(4);
    let question = Question::Find(by_properties(5));
    let most = steps(&world, &question);
    for left in [most / 4, most / 2, most - 1] {
        let transaction = begin(world.vault(), None, Effect::Read);
        let deadline = &Deadline::after(left);
        let refused = world.index().core.answer(&transaction, &question, deadline);
        assert_eq!(refused.unwrap_err().code(), "timeout", "after {left}");
    }
    assert!(world.ask(question).contains("\"total\":4"));
}

#[test]
fn sorting_long_values_checks_the_deadline_per_comparison() {
    let world = World::new();
    let long = "x".repeat(100_000);
    for note in 0..8 {
        world.put(
            &format!("{note}.md"),
            &format!("---\nx: {long}{note}\n---\n"),
        );
    }
    world.catch_up();
    let sorted = |descending| Query {
        sort: vec![Sort {
            by: SortBy::Property("x".to_owned()),
            descending,
        }],
        limit: 3,
        ..Query::default()
    };
    // Eight notes, of which most are compared once.
    let comparisons = 8;
    let steps = steps(&world, &Question::Find(sorted(false)));
    assert!(steps > comparisons * 100_000 / 1024, "{steps}");
    let found: Value = serde_json::from_str(&world.ask(Question::Find(sorted(true)))).unwrap();
    let paths = found["items"].as_array().unwrap().iter();
    let paths: Vec<&str> = paths.filter_map(|item| item["path"].as_str()).collect();
    assert_eq!(paths, ["7.md", "6.md", "5.md"]);
}

#[test]
fn an_answer_that_would_be_too_large_is_refused() {
    let world = small();
    world.put(
        "Many.md",
        "---\na: b\n---\n# Head\n\n[[Note]] [[Nowhere]] apple\n",
    );
    world.catch_up();
    let core = &world.index().core;
    let transaction = begin(world.vault(), None, Effect::Read);
    let (graph, none) = (core.graph(), &Deadline::none());
    let Ok(view) = core.caller_views.of(&transaction, &graph, none) else {
        panic!("a view")
    };
    let query = |fields: &[Field]| Query {
        limit: MAX_RESULTS,
        fields: fields.to_vec(),
        ..Query::default()
    };
    let found = |fields: &[Field], budget: &AnswerBudget| {
        let texts = core.texts();
        let found = finding::find(&graph, &texts, &view, &query(fields), budget, none);
        found.err().map(|broken| match broken {
            finding::FindError::Question(error) => error,
            finding::FindError::Texts(_) => panic!("the texts are broken"),
        })
    };
    let (link_graph, tags) = (view.link_graph(&graph, none), view.tags(&graph, none));
    let (Ok(link_graph), Ok(tags)) = (link_graph, tags) else {
        panic!("what is derived")
    };
    let links_to: BacklinksQuery =
        serde_json::from_value(json!({"path": "Note.md", "limit": 9})).unwrap();
    let missing = UnresolvedQuery {
        limit: 9,
        places: 9,
        ..UnresolvedQuery::default()
    };
    let all_tags = TagsQuery {
        limit: 9,
        ..TagsQuery::default()
    };
    type NamedQuery<'a> = (
        &'a str,
        Box<dyn Fn(&AnswerBudget) -> Option<notehost_vault::VaultError> + 'a>,
    );
    let queries: [NamedQuery<'_>; 9] = [
        ("paths", Box::new(|budget| found(&[], budget))),
        (
            "backlinks",
            Box::new(|budget| links::backlinks(&graph, &view, &links_to, budget, none).err()),
        ),
        (
            "unresolved",
            Box::new(|budget| link_graph.unresolved(&graph, &missing, budget, none).err()),
        ),
        (
            "tags",
            Box::new(|budget| tags.page(&all_tags, budget, none).err()),
        ),
        (
            "names",
            Box::new(|budget| names::names_in(&graph, &view, "Note", budget, none).err()),
        ),
        (
            "edges",
            Box::new(|budget| link_graph.rendered(&graph, &view, budget, none).err()),
        ),
        // With room for paths only.
        (
            "properties",
            Box::new(|budget| found(&[Field::Properties], budget)),
        ),
        ("links", Box::new(|budget| found(&[Field::Links], budget))),
        (
            "headings",
            Box::new(|budget| found(&[Field::Headings], budget)),
        ),
    ];
    for (number, (what, ask)) in queries.iter().enumerate() {
        let small = AnswerBudget::new(if number < 6 { 60 } else { 230 });
        let refused = ask(&small).unwrap_or_else(|| panic!("{what} are not counted"));
        assert_eq!(refused.code(), "too_large", "{what}");
        assert!(ask(&AnswerBudget::of_page()).is_none(), "{what}");
    }
    assert!(found(&[], &AnswerBudget::new(230)).is_none());
}
