//! The answers of the index as the contract's types of the `index` interface.

use notehost_sdk::index as own;
use serde_json::{Map, Value};

use super::v1::bindings::notehost::domain::index as wire;
use notehost_sdk::wire::{list, optional, optional_list};
use notehost_sdk::{same_cases, same_fields};

same_cases! {
    own::LinkKind => wire::LinkKind { Wiki, Embed, Markdown, Image, Definition, Property }
}

same_fields! {
    own::Snippet => wire::Snippet { line, text }
    own::TagAt => wire::TagAt { tag, line, property }
    own::HeadingAt => wire::HeadingAt { level, text, line }
    own::BlockAt => wire::BlockAt { id, line }
    own::TaskAt => wire::TaskAt { status, text, line }
    own::Degree => wire::Degree { incoming, outgoing, broken }
    own::PlaceAt => wire::Place { path, line }
    own::NameAt => wire::NameAt { path, start, end, alias }
    own::Found => wire::Found { items: list, total, widened }
    own::FoundNote => wire::FoundNote {
        path, score, snippets: list, modified, size, etag, properties: properties_text, tags: optional_list, aliases,
        headings: optional_list, links: optional_list, blocks: optional_list, tasks: optional_list, degree: optional,
    }
    own::LinkAt => wire::LinkAt {
        kind: Into::into, target, fragment, text, line, path, rivals, fragment_found, external,
    }
    own::Backlink => wire::Backlink { path, line, context, kind: Into::into, fragment }
    own::Backlinks => wire::BacklinksPage { items: list, total, notes }
    own::Missing => wire::MissingTarget { target, count, places: list }
    own::Unresolved => wire::UnresolvedPage { items: list, total, links }
    own::Tags => wire::TagsPage { items: list, total }
}

fn properties_text(properties: Option<Map<String, Value>>) -> Option<String> {
    properties.map(|properties| Value::Object(properties).to_string())
}

impl From<own::TagCount> for wire::TagCount {
    fn from(tag: own::TagCount) -> Self {
        wire::TagCount {
            tag: tag.tag,
            notes: tag.notes,
            exact: tag.own,
        }
    }
}

impl From<Option<own::IndexState>> for wire::IndexState {
    fn from(state: Option<own::IndexState>) -> Self {
        match state {
            Some(state) => wire::IndexState {
                readiness: match state.state {
                    own::Progress::Building => wire::Readiness::Building,
                    own::Progress::Ready => wire::Readiness::Ready,
                },
                done: state.done,
                total: state.total,
                assistant_tag: state.assistant_tag,
            },
            // Nothing is known yet.
            None => wire::IndexState {
                readiness: wire::Readiness::Building,
                done: 0,
                total: 0,
                assistant_tag: None,
            },
        }
    }
}

impl From<own::Edges> for wire::LinkGraph {
    fn from(graph: own::Edges) -> Self {
        let (triples, _) = graph.edges.as_chunks();
        let edges = triples.iter().map(|&[source, target, links]| wire::Edge {
            source,
            target,
            links,
        });
        wire::LinkGraph {
            edges: edges.collect(),
            paths: graph.paths,
            broken: graph.broken,
        }
    }
}
