//! What one asker sees of the graph, and what was derived from that. Rules are asked once per file and asker: a slot
//! keeps its path, so what was decided for it holds as long as the rules do.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::graph::Graph;
use super::links::{Incoming, Web};
use super::tags::TagTable;
use super::text::Slots;
use crate::vault::Transaction;

/// How many askers are remembered.
const MOST_KNOWN: usize = 64;
/// Of how many files it is remembered who links to them.
const MOST_LINKED: usize = 512;

/// What an asker sees.
#[derive(Clone)]
pub(super) struct Viewer {
    /// Every file that it may know of, also those that are gone.
    pub(super) sees: Arc<Slots>,
    /// The notes that its searches are made of: without those that are ignored.
    pub(super) finds: Arc<Slots>,
    derived: Arc<Derived>,
}

/// What was worked out for an asker, good for one generation of the graph.
#[derive(Default)]
struct Derived {
    web: Mutex<Option<(u64, Arc<Web>)>>,
    tags: Mutex<Option<(u64, Arc<TagTable>)>>,
    incoming: Mutex<(u64, HashMap<u32, Arc<Incoming>>)>,
}

/// What of it is there for an asker already, so that the next answer costs little.
#[derive(Clone, Copy, Default)]
pub(super) struct WorkedOut {
    pub(super) web: bool,
    pub(super) tags: bool,
}

impl Derived {
    fn worked_out(&self, generation: u64) -> WorkedOut {
        WorkedOut {
            web: is_of(&self.web, generation),
            tags: is_of(&self.tags, generation),
        }
    }
}

fn is_of<T>(place: &Mutex<Option<(u64, Arc<T>)>>, generation: u64) -> bool {
    let kept = place.lock().unwrap_or_else(PoisonError::into_inner);
    kept.as_ref().is_some_and(|(known, _)| *known == generation)
}

/// An asker, the notes that are expected, and how many of them it sees.
type Expecting = (u64, Arc<Vec<String>>, u64);

/// The askers of late.
#[derive(Default)]
pub(super) struct Viewers {
    known: Mutex<Vec<Known>>,
    /// How many of the notes that are expected an asker sees.
    expecting: Mutex<Vec<Expecting>>,
}

struct Known {
    identity: u64,
    sees: Arc<Slots>,
    /// How many slots were decided.
    decided: u32,
    finds: (u64, Arc<Slots>),
    derived: Arc<Derived>,
}

impl Viewers {
    /// What whoever began this transaction sees.
    pub(super) fn of(&self, transaction: &Transaction, graph: &Graph) -> Viewer {
        let identity = transaction.terms().rules.identity();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let place = known
            .iter()
            .position(|known| Some(known.identity) == identity);
        // Whoever asks again is the last to be forgotten.
        let mut viewer = match place {
            Some(place) => known.remove(place),
            None => Known {
                identity: identity.unwrap_or(0),
                sees: Arc::default(),
                decided: 0,
                finds: (u64::MAX, Arc::default()),
                derived: Arc::default(),
            },
        };
        if viewer.decided < graph.slots() {
            let sees = Arc::make_mut(&mut viewer.sees);
            for slot in viewer.decided..graph.slots() {
                // What is gone comes back in another slot.
                if let Some(file) = graph.file(slot)
                    && transaction.sees_file(&file.path)
                {
                    sees.insert(slot);
                }
            }
            viewer.decided = graph.slots();
        }
        if viewer.finds.0 != graph.generation {
            let finds = viewer.sees.and(&graph.notes).without(&graph.ignored);
            viewer.finds = (graph.generation, Arc::new(finds));
        }
        let answer = Viewer {
            sees: viewer.sees.clone(),
            finds: viewer.finds.1.clone(),
            derived: viewer.derived.clone(),
        };
        if identity.is_some() {
            known.push(viewer);
            if known.len() > MOST_KNOWN {
                known.remove(0);
            }
        }
        answer
    }
}

impl Viewers {
    /// What is worked out for whoever began this transaction, for a generation of the graph.
    pub(super) fn worked_out(&self, transaction: &Transaction, generation: u64) -> WorkedOut {
        let identity = transaction.terms().rules.identity();
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.iter().find(|known| Some(known.identity) == identity);
        known.map_or_else(WorkedOut::default, |known| {
            known.derived.worked_out(generation)
        })
    }

    /// How many of these notes whoever began this transaction sees; counted once.
    pub(super) fn count(&self, transaction: &Transaction, expected: &Arc<Vec<String>>) -> u64 {
        let count = || {
            let seen = expected.iter().filter(|path| transaction.sees_file(path));
            seen.count() as u64
        };
        let Some(identity) = transaction.terms().rules.identity() else {
            return count();
        };
        let mut known = self
            .expecting
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        known.retain(|(_, notes, _)| Arc::ptr_eq(notes, expected));
        if let Some((_, _, seen)) = known.iter().find(|(known, ..)| *known == identity) {
            return *seen;
        }
        let seen = count();
        known.truncate(MOST_KNOWN);
        known.push((identity, expected.clone(), seen));
        seen
    }
}

impl Viewer {
    /// Who links to whom, as far as it sees.
    pub(super) fn web(&self, graph: &Graph) -> Arc<Web> {
        kept(&self.derived.web, graph.generation, || {
            Web::new(graph, self)
        })
    }

    /// Who links to a file, as far as it sees.
    pub(super) fn incoming(
        &self,
        graph: &Graph,
        target: u32,
        find: impl FnOnce() -> Incoming,
    ) -> Arc<Incoming> {
        let place = &self.derived.incoming;
        let locked = || place.lock().unwrap_or_else(PoisonError::into_inner);
        if let (generation, known) = &*locked()
            && *generation == graph.generation
            && let Some(incoming) = known.get(&target)
        {
            return incoming.clone();
        }
        let incoming = Arc::new(find());
        let mut known = locked();
        if known.0 != graph.generation || known.1.len() >= MOST_LINKED {
            *known = (graph.generation, HashMap::new());
        }
        known.1.insert(target, incoming.clone());
        incoming
    }

    /// The tags that it sees.
    pub(super) fn tags(&self, graph: &Graph) -> Arc<TagTable> {
        kept(&self.derived.tags, graph.generation, || {
            TagTable::new(graph, &self.finds)
        })
    }
}

/// What is there for this generation, or else is made now. Two who ask at once may both make it.
fn kept<T>(
    place: &Mutex<Option<(u64, Arc<T>)>>,
    generation: u64,
    make: impl FnOnce() -> T,
) -> Arc<T> {
    let locked = || place.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((known, value)) = &*locked()
        && *known == generation
    {
        return value.clone();
    }
    let value = Arc::new(make());
    *locked() = Some((generation, value.clone()));
    value
}
