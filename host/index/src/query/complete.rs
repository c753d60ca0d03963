//! Completion of notes, tags, properties and headings, limited to what the caller sees.

use std::collections::BTreeSet;
use std::time::Duration;

use notehost_sdk::{fold_name, stem_of};

use super::caller_view::CallerView;
use crate::Index;
use crate::graph::Graph;
use crate::limits::deadline::Deadline;
use notehost_vault::{Transaction, VaultError};

/// What is to be completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind<'a> {
    /// The path or name of a note.
    Note,
    /// A tag, with or without `#`.
    Tag,
    /// The name of a property.
    Property,
    /// A heading of the note with this path or name.
    Heading(&'a str),
}

/// The time limit of a completion: a person is typing.
const COMPLETION_TIME: Duration = Duration::from_millis(1000);

impl Index {
    /// Everything of the kind that the caller sees and that fits what was typed: what begins with it first, then paths
    /// whose name begins with it, then what has it somewhere; each in order. Nothing if that takes too long.
    ///
    /// Not for async workers: it reads what commits changed, and goes through all notes.
    pub fn complete(
        &self,
        transaction: &Transaction,
        completing: CompletionKind<'_>,
        typed: &str,
    ) -> Vec<String> {
        let deadline = &Deadline::within(transaction, COMPLETION_TIME);
        let completed = self.complete_until(transaction, completing, typed, deadline);
        completed.unwrap_or_default()
    }

    pub(crate) fn complete_until(
        &self,
        transaction: &Transaction,
        completing: CompletionKind<'_>,
        typed: &str,
        deadline: &Deadline,
    ) -> Result<Vec<String>, VaultError> {
        self.core.settle_until(deadline)?;
        let graph = self.core.graph_until(deadline)?;
        let view = self.core.caller_views.of(transaction, &graph, deadline)?;
        let typed = match completing {
            CompletionKind::Tag => typed.strip_prefix('#').unwrap_or(typed),
            _ => typed,
        };
        let mut fitting = NameMatches::new(typed);
        match completing {
            CompletionKind::Note => {
                for doc_id in view.finds.iter() {
                    deadline.step()?;
                    fitting.offer(graph.path(doc_id));
                }
            }
            CompletionKind::Tag => {
                for tag in view.tags(&graph, deadline)?.names() {
                    deadline.step()?;
                    fitting.offer(tag);
                }
            }
            CompletionKind::Property => {
                let mut names: BTreeSet<&String> = BTreeSet::new();
                for note in view.finds.iter().filter_map(|doc_id| graph.note(doc_id)) {
                    deadline.before_all(note.property_bytes())?;
                    names.extend(note.properties.iter().flat_map(|all| all.keys()));
                }
                for name in names {
                    deadline.step()?;
                    fitting.offer(name);
                }
            }
            CompletionKind::Heading(note) => {
                for heading in headings(&graph, &view, note, deadline)? {
                    deadline.step()?;
                    fitting.offer(&heading);
                }
            }
        }
        deadline.check()?;
        Ok(fitting.best_first())
    }
}

/// The headings of a note, each once.
fn headings(
    graph: &Graph,
    view: &CallerView,
    note: &str,
    deadline: &Deadline,
) -> Result<BTreeSet<String>, VaultError> {
    let with_extension = format!("{note}.md");
    let exact = [note, &with_extension];
    let mut doc_id = exact.into_iter().find_map(|path| graph.doc_id(path));
    if doc_id.is_none() {
        let name = fold_name(note);
        for other in view.finds.iter() {
            deadline.step()?;
            if fold_name(stem_of(graph.path(other))) == name {
                doc_id = Some(other);
                break;
            }
        }
    }
    let doc_id = doc_id.filter(|doc_id| view.sees.contains(*doc_id));
    let Some(note) = doc_id.and_then(|doc_id| graph.note(doc_id)) else {
        return Ok(BTreeSet::new());
    };
    deadline.before(note.rest_bytes())?;
    let headings = note.rest().headings.into_iter();
    Ok(headings.map(|heading| heading.text).collect())
}

/// Names that fit what was typed, each with how well.
struct NameMatches {
    typed: String,
    names: Vec<(u8, String)>,
}

impl NameMatches {
    fn new(typed: &str) -> NameMatches {
        NameMatches {
            typed: fold_name(typed),
            names: Vec::new(),
        }
    }

    fn offer(&mut self, name: &str) {
        let folded = fold_name(name);
        let rank = match self.typed.as_str() {
            typed if folded.starts_with(typed) => 0,
            typed if stem_of(&folded).starts_with(typed) => 1,
            typed if folded.contains(typed) => 2,
            _ => return,
        };
        self.names.push((rank, name.to_owned()));
    }

    fn best_first(mut self) -> Vec<String> {
        self.names.sort_unstable();
        self.names.into_iter().map(|(_, name)| name).collect()
    }
}

/// Of these names those that fit what was typed, the best first.
pub fn fitting(names: Vec<String>, typed: &str) -> Vec<String> {
    let mut fitting = NameMatches::new(typed);
    for name in names {
        fitting.offer(&name);
    }
    fitting.best_first()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_matches_come_before_infix_matches() {
        let names = ["Work/Plan.md", "Planning.md", "Work/A plan.md", "Garden.md"];
        let names = names.map(str::to_owned).to_vec();
        let expected = ["Planning.md", "Work/Plan.md", "Work/A plan.md"];
        assert_eq!(fitting(names, "plan"), expected);
    }
}
