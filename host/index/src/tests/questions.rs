//! Every kind of query, to compare the answers of two indexes.

use notehost_sdk::index::{
    BacklinksQuery, Condition, Field, Has, Part, PropertyTest, Query, Sort, SortBy, Span,
    TagsQuery, UnresolvedQuery, Words,
};

use super::PATHS;
use crate::Question;

pub(super) fn words(text: &str) -> Condition {
    Condition::Words(Words {
        text: text.into(),
        part: None,
    })
}

fn property(key: &str, test: impl FnOnce(&mut PropertyTest)) -> Condition {
    let mut property = PropertyTest {
        key: key.into(),
        ..PropertyTest::default()
    };
    test(&mut property);
    Condition::Property(property.into())
}

fn conditions() -> Vec<Condition> {
    let within = |text: &str, part| {
        Condition::Words(Words {
            text: text.into(),
            part: Some(part),
        })
    };
    let prefix = |text: &str| {
        Condition::Prefix(Words {
            text: text.into(),
            part: None,
        })
    };
    let mut all = vec![
        words("plan"),
        words("beta gamma"),
        words("gamma beta"),
        words("NAIVE"),
        words("天気"),
        words("天"),
        words("국어"),
        words("שלום"),
        words("🎉"),
        words("note"),
        words("parse_notename"),
        words("arty"),
        words("->"),
        prefix("bet"),
        prefix("my no"),
        prefix("今日"),
        within("plan", Part::Name),
        within("別名", Part::Name),
        within("goals", Part::Headings),
        within("goals", Part::Text),
        Condition::Under("Work".into()),
        Condition::Under("Plan.md".into()),
        Condition::Path("work/**/*.md".into()),
        Condition::Path("*.md".into()),
        Condition::Tag("WORK".into()),
        Condition::Tag("work/urgent".into()),
        property("status", |test| test.equals = Some("done".into())),
        property("rating", |test| test.at_least = Some(4.into())),
        property("due", |test| test.less = Some("2024-06-01".into())),
        property("list", |test| test.contains = Some("b".into())),
        property("see", |test| test.exists = Some(true)),
        Condition::Size(Span {
            from: Some(20),
            to: Some(60),
        }),
        Condition::LinksTo("Plan.md".into()),
        Condition::LinksTo("Work/pic.png".into()),
        Condition::LinkedFrom("Plan.md".into()),
        Condition::All(vec![words("plan"), Condition::Tag("work".into())]),
        Condition::Any(vec![
            words("beta"),
            Condition::Tag("reading".into()),
            words("計画"),
        ]),
        Condition::All(vec![
            words("plan"),
            Condition::Not(Box::new(words("beta"))),
            Condition::Not(Box::new(Condition::Under("Zoo".into()))),
        ]),
        Condition::Not(Box::new(words("plan"))),
        Condition::All(Vec::new()),
        Condition::Any(Vec::new()),
    ];
    all.extend(
        [
            Has::Tags,
            Has::Properties,
            Has::Aliases,
            Has::Headings,
            Has::Links,
            Has::BrokenLinks,
            Has::Backlinks,
            Has::Embeds,
            Has::Blocks,
            Has::Tasks,
            Has::OpenTasks,
        ]
        .map(Condition::Has),
    );
    all
}

pub(super) fn questions() -> Vec<Question> {
    let sorted = |by: SortBy, descending| vec![Sort { by, descending }];
    let mut all = Vec::new();
    for condition in conditions() {
        all.push(Question::Find(Query {
            condition: Some(condition),
            limit: 100,
            snippets: 2,
            ..Query::default()
        }));
    }
    for sort in [
        sorted(SortBy::Path, true),
        sorted(SortBy::Name, false),
        sorted(SortBy::Size, true),
        sorted(SortBy::Modified, true),
        sorted(SortBy::Incoming, true),
        sorted(SortBy::Outgoing, true),
        sorted(SortBy::Property("rating".into()), true),
        sorted(SortBy::Property("status".into()), false),
    ] {
        all.push(Question::Find(Query {
            sort,
            offset: 1,
            limit: 3,
            fields: vec![
                Field::Size,
                Field::Etag,
                Field::Properties,
                Field::Tags,
                Field::Aliases,
                Field::Headings,
                Field::Links,
                Field::Blocks,
                Field::Tasks,
                Field::Degree,
            ],
            ..Query::default()
        }));
    }
    for path in PATHS {
        all.push(Question::Backlinks(BacklinksQuery {
            path: path.into(),
            offset: 0,
            limit: 50,
        }));
        all.push(Question::Linking(vec![path.into()]));
    }
    for under in ["", "Work"] {
        all.push(Question::Unresolved(UnresolvedQuery {
            under: under.into(),
            offset: 0,
            limit: 50,
            places: 10,
        }));
        all.push(Question::Tags(TagsQuery {
            under: under.into(),
            limit: 50,
            ..TagsQuery::default()
        }));
    }
    all.push(Question::Tags(TagsQuery {
        prefix: "wo".into(),
        by_count: true,
        limit: 50,
        ..TagsQuery::default()
    }));
    all.extend([Question::Edges, Question::Files]);
    all.push(Question::NamesIn(
        "See the plan and My note, cafe\u{301}, 計画と別名 but no planet".into(),
    ));
    all
}

pub(super) fn is_scored(question: &Question) -> bool {
    matches!(question, Question::Find(query) if query.sort.is_empty())
}
