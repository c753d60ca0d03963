//! Conversion to and from the contract's types of the `index` interface. A condition is a tree here, and a list there.

use serde_json::{Map, Value};

use super::notehost::domain::index as generated;
use crate::index as own;
use crate::wire::{list, optional, optional_list};
use crate::{same_cases, same_fields};

same_cases! {
    own::Part => generated::Part { Name, Headings, Text }
    own::Has => generated::Feature {
        Tags, Properties, Aliases, Headings, Links, BrokenLinks, Backlinks, Embeds, Blocks, Tasks, OpenTasks,
    }
    own::Field => generated::Field {
        Modified, Size, Etag, Properties, Tags, Aliases, Headings, Links, Blocks, Tasks, Degree,
    }
    generated::LinkKind => own::LinkKind { Wiki, Embed, Markdown, Image, Definition, Property }
}

same_fields! {
    own::Span => generated::Span { from, to }
    own::BacklinksQuery => generated::BacklinksQuery { path, offset, limit }
    own::UnresolvedQuery => generated::UnresolvedQuery { under, offset, limit, places }
    own::TagsQuery => generated::TagsQuery { prefix, under, by_count, offset, limit }
    generated::Snippet => own::Snippet { line, text }
    generated::TagAt => own::TagAt { tag, line, property }
    generated::HeadingAt => own::HeadingAt { level, text, line }
    generated::BlockAt => own::BlockAt { id, line }
    generated::TaskAt => own::TaskAt { status, text, line }
    generated::Degree => own::Degree { incoming, outgoing, broken }
    generated::Place => own::PlaceAt { path, line }
    generated::NameAt => own::NameAt { path, start, end, alias }
    generated::Found => own::Found { items: list, total, widened }
    generated::FoundNote => own::FoundNote {
        path, score, snippets: list, modified, size, etag, properties: parsed_properties, tags: optional_list, aliases,
        headings: optional_list, links: optional_list, blocks: optional_list, tasks: optional_list, degree: optional,
    }
    generated::LinkAt => own::LinkAt {
        kind: Into::into, target, fragment, text, line, path, rivals, fragment_found, external,
    }
    generated::Backlink => own::Backlink { path, line, context, kind: Into::into, fragment }
    generated::BacklinksPage => own::Backlinks { items: list, total, notes }
    generated::MissingTarget => own::Missing { target, count, places: list }
    generated::UnresolvedPage => own::Unresolved { items: list, total, links }
    generated::TagsPage => own::Tags { items: list, total }
}

fn parsed_properties(json: Option<String>) -> Option<Map<String, Value>> {
    json.map(|json| serde_json::from_str(&json).unwrap_or_default())
}

impl From<generated::TagCount> for own::TagCount {
    fn from(tag: generated::TagCount) -> Self {
        own::TagCount {
            tag: tag.tag,
            notes: tag.notes,
            own: tag.exact,
        }
    }
}

pub(super) fn query(query: &own::Query) -> generated::Query {
    generated::Query {
        where_: query.condition.as_ref().map(conditions).unwrap_or_default(),
        sort: query.sort.iter().map(sort).collect(),
        offset: query.offset,
        limit: query.limit,
        fields: query.fields.iter().map(|&field| field.into()).collect(),
        snippets: query.snippets,
    }
}

/// A condition and all that are nested in it, level by level: each refers to later ones.
fn conditions(whole: &own::Condition) -> Vec<generated::Condition> {
    let mut queue = vec![whole];
    let mut list = Vec::new();
    while let Some(&condition) = queue.get(list.len()) {
        let mut refer = |inner| {
            queue.push(inner);
            (queue.len() - 1) as u32
        };
        list.push(match condition {
            own::Condition::All(inner) => {
                generated::Condition::All(inner.iter().map(&mut refer).collect())
            }
            own::Condition::Any(inner) => {
                generated::Condition::Any(inner.iter().map(&mut refer).collect())
            }
            own::Condition::Not(inner) => generated::Condition::Not(refer(inner)),
            own::Condition::Words(given) => generated::Condition::Words(words(given)),
            own::Condition::Prefix(given) => generated::Condition::Prefix(words(given)),
            own::Condition::Like(text) => generated::Condition::Like(text.clone()),
            own::Condition::Under(folder) => generated::Condition::Under(folder.clone()),
            own::Condition::Path(glob) => generated::Condition::Path(glob.clone()),
            own::Condition::Tag(tag) => generated::Condition::Tag(tag.clone()),
            own::Condition::Property(test) => generated::Condition::Property(property(test)),
            own::Condition::Modified(span) => generated::Condition::Modified((*span).into()),
            own::Condition::Size(span) => generated::Condition::Size((*span).into()),
            own::Condition::LinksTo(path) => generated::Condition::LinksTo(path.clone()),
            own::Condition::LinkedFrom(path) => generated::Condition::LinkedFrom(path.clone()),
            own::Condition::Has(feature) => generated::Condition::Has((*feature).into()),
        });
    }
    list
}

fn words(words: &own::Words) -> generated::Words {
    generated::Words {
        text: words.text.clone(),
        part: words.part.map(generated::Part::from),
    }
}

fn property(test: &own::PropertyTest) -> generated::PropertyTest {
    let json = |value: &Option<Value>| value.as_ref().map(Value::to_string);
    generated::PropertyTest {
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

fn sort(sort: &own::Sort) -> generated::Sort {
    generated::Sort {
        by: match &sort.by {
            own::SortBy::Score => generated::SortKey::Score,
            own::SortBy::Path => generated::SortKey::Path,
            own::SortBy::Name => generated::SortKey::Name,
            own::SortBy::Modified => generated::SortKey::Modified,
            own::SortBy::Size => generated::SortKey::Size,
            own::SortBy::Incoming => generated::SortKey::Incoming,
            own::SortBy::Outgoing => generated::SortKey::Outgoing,
            own::SortBy::Property(key) => generated::SortKey::Property(key.clone()),
        },
        descending: sort.descending,
    }
}

impl From<generated::IndexState> for own::IndexState {
    fn from(state: generated::IndexState) -> Self {
        own::IndexState {
            state: match state.readiness {
                generated::Readiness::Building => own::Progress::Building,
                generated::Readiness::Ready => own::Progress::Ready,
            },
            done: state.done,
            total: state.total,
            assistant_tag: state.assistant_tag,
        }
    }
}

impl From<generated::LinkGraph> for own::Edges {
    fn from(graph: generated::LinkGraph) -> Self {
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
