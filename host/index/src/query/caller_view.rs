//! What one caller sees of the graph, and data derived from that. Rules are evaluated once per file and caller: a doc
//! id keeps its path, so a decision holds as long as the rules do.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

use super::link_graph::LinkGraph;
use super::links::Incoming;
use super::tags::TagTable;
use crate::graph::Graph;
use crate::limits::deadline::Deadline;
use crate::text::Bitmap;
use notehost_vault::{Transaction, VaultError};

/// For how many callers a view is cached.
const MAX_REMEMBERED_CALLERS: usize = 64;
/// For how many files their backlinks are cached.
const MAX_REMEMBERED_BACKLINKS: usize = 512;

/// The files that a caller sees.
#[derive(Clone)]
pub(crate) struct CallerView {
    /// Every file that it may see, also removed ones.
    pub(crate) sees: Arc<Bitmap>,
    /// The notes that its searches are made of: without those that are ignored.
    pub(crate) finds: Arc<Bitmap>,
    derived: Arc<Derived>,
}

/// Data derived for a caller, valid for one generation of the graph.
#[derive(Default)]
struct Derived {
    link_graph: Mutex<Option<(u64, Arc<LinkGraph>)>>,
    tags: Mutex<Option<(u64, Arc<TagTable>)>>,
    incoming: Mutex<(u64, HashMap<u32, Arc<Incoming>>)>,
}

/// Which derived data is cached for a caller.
#[derive(Clone, Copy, Default)]
pub(crate) struct CachedParts {
    pub(crate) link_graph: bool,
    pub(crate) tags: bool,
}

impl Derived {
    fn cached_parts(&self, generation: u64) -> CachedParts {
        CachedParts {
            link_graph: is_of(&self.link_graph, generation),
            tags: is_of(&self.tags, generation),
        }
    }
}

fn is_of<T>(place: &Mutex<Option<(u64, Arc<T>)>>, generation: u64) -> bool {
    let kept = place.lock();
    kept.as_ref().is_some_and(|(known, _)| *known == generation)
}

/// A caller, the notes that are expected, and how many of them it sees.
type Expecting = (u64, Arc<Vec<String>>, u64);

/// The views of recent callers.
#[derive(Default)]
pub(crate) struct CallerViews {
    known: Mutex<Vec<Known>>,
    /// How many of the notes that are expected a caller sees.
    expecting: Mutex<Vec<Expecting>>,
}

#[derive(Clone)]
struct Known {
    identity: u64,
    sees: Arc<Bitmap>,
    /// How many doc ids were decided.
    decided: u32,
    finds: (u64, Arc<Bitmap>),
    derived: Arc<Derived>,
}

impl CallerViews {
    /// What the caller of this transaction sees. Rules are evaluated without blocking other callers; what was decided
    /// before the deadline passed is kept for the next question.
    pub(crate) fn of(
        &self,
        transaction: &Transaction,
        graph: &Graph,
        deadline: &Deadline,
    ) -> Result<CallerView, VaultError> {
        let identity = transaction.access().rules.identity();
        let mut view = self.taken(identity);
        let mut decided = Ok(());
        if view.decided < graph.doc_ids() {
            let sees = Arc::make_mut(&mut view.sees);
            for doc_id in view.decided..graph.doc_ids() {
                decided = deadline.step();
                if decided.is_err() {
                    break;
                }
                // What is gone comes back in another doc id.
                if let Some(file) = graph.file(doc_id)
                    && transaction.sees_file(&file.path)
                {
                    sees.insert(doc_id);
                }
                view.decided = doc_id + 1;
            }
        }
        if view.finds.0 != graph.generation {
            let finds = view.sees.and(&graph.notes).without(&graph.ignored);
            // Not all of them, if the deadline passed.
            let generation = decided.as_ref().map_or(u64::MAX, |()| graph.generation);
            view.finds = (generation, Arc::new(finds));
        }
        let answer = CallerView {
            sees: view.sees.clone(),
            finds: view.finds.1.clone(),
            derived: view.derived.clone(),
        };
        if identity.is_some() {
            self.remember(view);
        }
        decided.map(|()| answer)
    }

    /// The cached view of a caller.
    fn taken(&self, identity: Option<u64>) -> Known {
        let known = self.known.lock();
        let found = known.iter().find(|known| Some(known.identity) == identity);
        found.cloned().unwrap_or_else(|| Known {
            identity: identity.unwrap_or(0),
            sees: Arc::default(),
            decided: 0,
            finds: (u64::MAX, Arc::default()),
            derived: Arc::default(),
        })
    }

    /// The most recent caller is evicted last.
    fn remember(&self, view: Known) {
        let mut known = self.known.lock();
        let place = known
            .iter()
            .position(|known| known.identity == view.identity);
        let view = match place.map(|place| known.remove(place)) {
            // Another query of the same caller was faster.
            Some(other) if other.decided > view.decided => other,
            _ => view,
        };
        known.push(view);
        if known.len() > MAX_REMEMBERED_CALLERS {
            known.remove(0);
        }
    }
}

impl CallerViews {
    /// What is worked out for the caller of this transaction, for a generation of the graph.
    pub(crate) fn cached_parts(&self, transaction: &Transaction, generation: u64) -> CachedParts {
        let identity = transaction.access().rules.identity();
        let known = self.known.lock();
        let known = known.iter().find(|known| Some(known.identity) == identity);
        known.map_or_else(CachedParts::default, |known| {
            known.derived.cached_parts(generation)
        })
    }

    /// How many of these notes the caller of this transaction sees; counted once.
    pub(crate) fn count(
        &self,
        transaction: &Transaction,
        expected: &Arc<Vec<String>>,
        deadline: &Deadline,
    ) -> Result<u64, VaultError> {
        let identity = transaction.access().rules.identity();
        let locked = || self.expecting.lock();
        {
            let mut known = locked();
            known.retain(|(_, notes, _)| Arc::ptr_eq(notes, expected));
            if let Some((_, _, seen)) = known.iter().find(|(known, ..)| Some(*known) == identity) {
                return Ok(*seen);
            }
        }
        let mut seen = 0;
        for path in expected.iter() {
            deadline.step()?;
            seen += u64::from(transaction.sees_file(path));
        }
        if let Some(identity) = identity {
            let mut known = locked();
            known.truncate(MAX_REMEMBERED_CALLERS);
            known.push((identity, expected.clone(), seen));
        }
        Ok(seen)
    }
}

impl CallerView {
    /// The link graph of what it sees.
    pub(crate) fn link_graph(
        &self,
        graph: &Graph,
        deadline: &Deadline,
    ) -> Result<Arc<LinkGraph>, VaultError> {
        kept(&self.derived.link_graph, graph.generation, || {
            LinkGraph::new(graph, self, deadline)
        })
    }

    /// The backlinks of a file among what it sees.
    pub(crate) fn incoming(
        &self,
        graph: &Graph,
        target: u32,
        find: impl FnOnce() -> Result<Incoming, VaultError>,
    ) -> Result<Arc<Incoming>, VaultError> {
        let place = &self.derived.incoming;
        let locked = || place.lock();
        if let (generation, known) = &*locked()
            && *generation == graph.generation
            && let Some(incoming) = known.get(&target)
        {
            return Ok(incoming.clone());
        }
        let incoming = Arc::new(find()?);
        let mut known = locked();
        if known.0 != graph.generation || known.1.len() >= MAX_REMEMBERED_BACKLINKS {
            *known = (graph.generation, HashMap::new());
        }
        known.1.insert(target, incoming.clone());
        Ok(incoming)
    }

    /// The tags that it sees.
    pub(crate) fn tags(
        &self,
        graph: &Graph,
        deadline: &Deadline,
    ) -> Result<Arc<TagTable>, VaultError> {
        kept(&self.derived.tags, graph.generation, || {
            TagTable::new(graph, &self.finds, deadline)
        })
    }
}

/// The cached value of this generation, or a new one. Two concurrent queries may both compute it.
fn kept<T>(
    place: &Mutex<Option<(u64, Arc<T>)>>,
    generation: u64,
    make: impl FnOnce() -> Result<T, VaultError>,
) -> Result<Arc<T>, VaultError> {
    let locked = || place.lock();
    if let Some((known, value)) = &*locked()
        && *known == generation
    {
        return Ok(value.clone());
    }
    let value = Arc::new(make()?);
    *locked() = Some((generation, value.clone()));
    Ok(value)
}
