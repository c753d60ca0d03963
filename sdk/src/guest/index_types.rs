//! Conversion to and from the contract's types of the `index` interface. A condition is a tree here, and a list there.

use serde_json::Value;

use super::notehost::domain::index as wire;
use crate::index as own;

/// Implements `From` for records with the same fields.
macro_rules! same_fields {
    ($($from:ty => $to:ty { $($field:ident),+ $(,)? })+) => {$(
        impl From<$from> for $to {
            fn from(value: $from) -> Self {
                Self { $($field: value.$field),+ }
            }
        }
    )+};
}

/// Implements `From` for enums with the same cases.
macro_rules! same_cases {
    ($($from:ty => $to:ty { $($case:ident),+ $(,)? })+) => {$(
        impl From<$from> for $to {
            fn from(value: $from) -> Self {
                match value {
                    $(<$from>::$case => <$to>::$case),+
                }
            }
        }
    )+};
}

same_cases! {
    own::Part => wire::Part { Name, Headings, Text }
    own::Has => wire::Feature {
        Tags, Properties, Aliases, Headings, Links, BrokenLinks, Backlinks, Embeds, Blocks, Tasks, OpenTasks,
    }
    own::Field => wire::Field {
        Modified, Size, Etag, Properties, Tags, Aliases, Headings, Links, Blocks, Tasks, Degree,
    }
    wire::LinkKind => own::LinkKind { Wiki, Embed, Markdown, Image, Definition, Property }
}

same_fields! {
    own::Span => wire::Span { from, to }
    own::BacklinksQuery => wire::BacklinksQuery { path, offset, limit }
    own::UnresolvedQuery => wire::UnresolvedQuery { under, offset, limit, places }
    own::TagsQuery => wire::TagsQuery { prefix, under, by_count, offset, limit }
    wire::Snippet => own::Snippet { line, text }
    wire::TagAt => own::TagAt { tag, line, property }
    wire::HeadingAt => own::HeadingAt { level, text, line }
    wire::BlockAt => own::BlockAt { id, line }
    wire::TaskAt => own::TaskAt { status, text, line }
    wire::Degree => own::Degree { incoming, outgoing, broken }
    wire::Place => own::PlaceAt { path, line }
    wire::NameAt => own::NameAt { path, start, end, alias }
}

/// The list with each item converted.
pub(super) fn list<From, To: std::convert::From<From>>(items: Vec<From>) -> Vec<To> {
    items.into_iter().map(To::from).collect()
}

pub(super) fn query(query: &own::Query) -> wire::Query {
    wire::Query {
        where_: query.condition.as_ref().map(conditions).unwrap_or_default(),
        sort: query.sort.iter().map(sort).collect(),
        offset: query.offset,
        limit: query.limit,
        fields: query.fields.iter().map(|&field| field.into()).collect(),
        snippets: query.snippets,
    }
}

/// A condition and all that are nested in it, level by level: each refers to later ones.
fn conditions(whole: &own::Condition) -> Vec<wire::Condition> {
    let mut queue = vec![whole];
    let mut list = Vec::new();
    while let Some(&condition) = queue.get(list.len()) {
        let mut refer = |inner| {
            queue.push(inner);
            (queue.len() - 1) as u32
        };
        list.push(match condition {
            own::Condition::All(inner) => {
                wire::Condition::All(inner.iter().map(&mut refer).collect())
            }
            own::Condition::Any(inner) => {
                wire::Condition::Any(inner.iter().map(&mut refer).collect())
            }
            own::Condition::Not(inner) => wire::Condition::Not(refer(inner)),
            own::Condition::Words(given) => wire::Condition::Words(words(given)),
            own::Condition::Prefix(given) => wire::Condition::Prefix(words(given)),
            own::Condition::Like(text) => wire::Condition::Like(text.clone()),
            own::Condition::Under(folder) => wire::Condition::Under(folder.clone()),
            own::Condition::Path(glob) => wire::Condition::Path(glob.clone()),
            own::Condition::Tag(tag) => wire::Condition::Tag(tag.clone()),
            own::Condition::Property(test) => wire::Condition::Property(property(test)),
            own::Condition::Modified(span) => wire::Condition::Modified((*span).into()),
            own::Condition::Size(span) => wire::Condition::Size((*span).into()),
            own::Condition::LinksTo(path) => wire::Condition::LinksTo(path.clone()),
            own::Condition::LinkedFrom(path) => wire::Condition::LinkedFrom(path.clone()),
            own::Condition::Has(feature) => wire::Condition::Has((*feature).into()),
        });
    }
    list
}

fn words(words: &own::Words) -> wire::Words {
    wire::Words {
        text: words.text.clone(),
        part: words.part.map(wire::Part::from),
    }
}

fn property(test: &own::PropertyTest) -> wire::PropertyTest {
    let json = |value: &Option<Value>| value.as_ref().map(Value::to_string);
    wire::PropertyTest {
        key: test.key.clone(),
        exists: test.exists,
        equals: json(&test.equals),
        contains: test.contains.clone(),
        greater: json(&test.greater),
        at_least: json(&test.at_least),
        less: json(&test.less),
        at_most: json(&test.at_most),
    }
}

fn sort(sort: &own::Sort) -> wire::Sort {
    wire::Sort {
        by: match &sort.by {
            own::SortBy::Score => wire::SortKey::Score,
            own::SortBy::Path => wire::SortKey::Path,
            own::SortBy::Name => wire::SortKey::Name,
            own::SortBy::Modified => wire::SortKey::Modified,
            own::SortBy::Size => wire::SortKey::Size,
            own::SortBy::Incoming => wire::SortKey::Incoming,
            own::SortBy::Outgoing => wire::SortKey::Outgoing,
            own::SortBy::Property(key) => wire::SortKey::Property(key.clone()),
        },
        descending: sort.descending,
    }
}

impl From<wire::IndexState> for own::IndexState {
    fn from(state: wire::IndexState) -> Self {
        own::IndexState {
            state: match state.readiness {
                wire::Readiness::Building => own::Progress::Building,
                wire::Readiness::Ready => own::Progress::Ready,
            },
            done: state.done,
            total: state.total,
            assistant_tag: state.assistant_tag,
        }
    }
}

impl From<wire::Found> for own::Found {
    fn from(found: wire::Found) -> Self {
        own::Found {
            items: list(found.items),
            total: found.total,
            widened: found.widened,
        }
    }
}

impl From<wire::FoundNote> for own::FoundNote {
    fn from(note: wire::FoundNote) -> Self {
        own::FoundNote {
            path: note.path,
            score: note.score,
            snippets: list(note.snippets),
            modified: note.modified,
            size: note.size,
            etag: note.etag,
            properties: note
                .properties
                .map(|json| serde_json::from_str(&json).unwrap_or_default()),
            tags: note.tags.map(list),
            aliases: note.aliases,
            headings: note.headings.map(list),
            links: note.links.map(list),
            blocks: note.blocks.map(list),
            tasks: note.tasks.map(list),
            degree: note.degree.map(own::Degree::from),
        }
    }
}

impl From<wire::LinkAt> for own::LinkAt {
    fn from(link: wire::LinkAt) -> Self {
        own::LinkAt {
            kind: link.kind.into(),
            target: link.target,
            fragment: link.fragment,
            text: link.text,
            line: link.line,
            path: link.path,
            rivals: link.rivals,
            fragment_found: link.fragment_found,
            external: link.external,
        }
    }
}

impl From<wire::BacklinksPage> for own::Backlinks {
    fn from(page: wire::BacklinksPage) -> Self {
        let items = page.items.into_iter().map(|link| own::Backlink {
            path: link.path,
            line: link.line,
            context: link.context,
            kind: link.kind.into(),
            fragment: link.fragment,
        });
        own::Backlinks {
            items: items.collect(),
            total: page.total,
            notes: page.notes,
        }
    }
}

impl From<wire::UnresolvedPage> for own::Unresolved {
    fn from(page: wire::UnresolvedPage) -> Self {
        let items = page.items.into_iter().map(|missing| own::Missing {
            target: missing.target,
            count: missing.count,
            places: list(missing.places),
        });
        own::Unresolved {
            items: items.collect(),
            total: page.total,
            links: page.links,
        }
    }
}

impl From<wire::TagsPage> for own::Tags {
    fn from(page: wire::TagsPage) -> Self {
        let items = page.items.into_iter().map(|tag| own::TagCount {
            tag: tag.tag,
            notes: tag.notes,
            own: tag.exact,
        });
        own::Tags {
            items: items.collect(),
            total: page.total,
        }
    }
}

impl From<wire::LinkGraph> for own::Edges {
    fn from(graph: wire::LinkGraph) -> Self {
        let edges = graph.edges.into_iter();
        own::Edges {
            paths: graph.paths,
            edges: edges
                .flat_map(|edge| [edge.source, edge.target, edge.links])
                .collect(),
            broken: graph.broken,
        }
    }
}
