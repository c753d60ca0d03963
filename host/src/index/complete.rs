//! What may follow what somebody has typed: notes, tags, properties, headings. As every answer it is made for one asker,
//! from what it sees.

use std::collections::BTreeSet;

use notehost_sdk::index::TagsOf;
use notehost_sdk::{fold_name, stem_of};

use super::Index;
use super::graph::Graph;
use super::viewer::Viewer;
use crate::vault::Transaction;

/// What is to be completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completing<'a> {
    /// The path or name of a note.
    Note,
    /// A tag, with or without `#`.
    Tag,
    /// The name of a property.
    Property,
    /// A heading of the note with this path or name.
    Heading(&'a str),
}

impl Index {
    /// Everything of the kind that the asker sees and that fits what was typed: what begins with it first, then paths
    /// whose name begins with it, then what has it somewhere; each in order.
    pub fn complete(
        &self,
        transaction: &Transaction,
        completing: Completing<'_>,
        typed: &str,
    ) -> Vec<String> {
        self.core.settle();
        let graph = self.core.graph();
        let viewer = self.core.viewers.of(transaction, &graph);
        let names: Vec<String> = match completing {
            Completing::Note => {
                let notes = viewer.finds.iter();
                notes.map(|slot| graph.path(slot).to_owned()).collect()
            }
            Completing::Tag => {
                let all = TagsOf {
                    limit: u32::MAX,
                    ..TagsOf::default()
                };
                let tags = viewer.tags(&graph).page(&all).items.into_iter();
                tags.map(|tag| tag.tag).collect()
            }
            Completing::Property => {
                let notes = viewer.finds.iter().filter_map(|slot| graph.note(slot));
                let properties = notes.filter_map(|note| note.properties.as_deref());
                let names: BTreeSet<&String> = properties.flat_map(|all| all.keys()).collect();
                names.into_iter().cloned().collect()
            }
            Completing::Heading(note) => headings(&graph, &viewer, note),
        };
        let typed = match completing {
            Completing::Tag => typed.strip_prefix('#').unwrap_or(typed),
            _ => typed,
        };
        fitting(names, typed)
    }
}

/// The headings of a note, each once.
fn headings(graph: &Graph, viewer: &Viewer, note: &str) -> Vec<String> {
    let with_extension = format!("{note}.md");
    let exact = [note, &with_extension];
    let exact = exact.into_iter().find_map(|path| graph.slot(path));
    let named = || {
        let asked = fold_name(note);
        let mut slots = viewer.finds.iter();
        slots.find(|slot| fold_name(stem_of(graph.path(*slot))) == asked)
    };
    let slot = exact
        .or_else(named)
        .filter(|slot| viewer.sees.contains(*slot));
    let Some(note) = slot.and_then(|slot| graph.note(slot)) else {
        return Vec::new();
    };
    let headings = note.rest().headings.into_iter();
    let texts: BTreeSet<String> = headings.map(|heading| heading.text).collect();
    texts.into_iter().collect()
}

/// Of these names those that fit what was typed, the best first.
pub fn fitting(names: Vec<String>, typed: &str) -> Vec<String> {
    let typed = fold_name(typed);
    let mut fitting: Vec<(u8, String)> = names
        .into_iter()
        .filter_map(|name| {
            let folded = fold_name(&name);
            let rank = match () {
                () if folded.starts_with(&typed) => 0,
                () if stem_of(&folded).starts_with(&typed) => 1,
                () if folded.contains(&typed) => 2,
                () => return None,
            };
            Some((rank, name))
        })
        .collect();
    fitting.sort_unstable();
    fitting.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_so_comes_before_what_has_it_somewhere() {
        let names = ["Work/Plan.md", "Planning.md", "Work/A plan.md", "Garden.md"];
        let names = names.map(str::to_owned).to_vec();
        let expected = ["Planning.md", "Work/Plan.md", "Work/A plan.md"];
        assert_eq!(fitting(names, "plan"), expected);
    }
}
