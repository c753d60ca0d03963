//! The notes that fulfil a query: conditions about words go to the full-text half, all others to the graph, and both
//! meet here.

use std::sync::Arc;

use notehost_sdk::index::{Condition, Field, Found, FoundNote, Query, Sort, SortBy};

use super::bounds::{self, MAX_RESULTS};
use super::deadline::Deadline;
use super::filter::fulfilling;
use super::graph::Graph;
use super::links;
use super::record::Note;
use super::room::Room;
use super::sort::sorted;
use super::text::{Failure, SoughtWords, Texts, Tree};
use super::viewer::Viewer;
use notehost_vault::VaultError;

/// Why there is no answer.
pub(super) enum Broken {
    /// The question is at fault.
    Question(VaultError),
    /// The full-text half is, and has to be made anew.
    Texts(Failure),
}

impl From<VaultError> for Broken {
    fn from(error: VaultError) -> Broken {
        Broken::Question(error)
    }
}

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Broken {
        match failure {
            Failure::Stopped(error) => Broken::Question(error),
            failure => Broken::Texts(failure),
        }
    }
}

/// A note that fits, and how well.
pub(super) type Hit = (u32, Option<f32>);

/// The notes that fulfil a query, as one asker sees them.
pub(super) fn find(
    graph: &Graph,
    texts: &Texts,
    viewer: &Viewer,
    query: &Query,
    room: &Room,
    deadline: &Deadline,
) -> Result<Found, Broken> {
    bounds::check_query(query)?;
    let limit = query.limit.min(MAX_RESULTS) as usize;
    let offset = usize::try_from(query.offset).unwrap_or(usize::MAX);
    let everything = Condition::All(Vec::new());
    let condition = query.condition.as_ref().unwrap_or(&everything);
    let asks_words = has_words(condition);
    let by_score = match query.sort.as_slice() {
        [] => asks_words,
        [
            Sort {
                by: SortBy::Score,
                descending: true,
            },
        ] => asks_words,
        _ => false,
    };
    let tree = match asks_words {
        true => Some(tree(graph, viewer, condition, deadline)?),
        false => None,
    };
    let mut found = Found::default();
    let page = offset..offset.saturating_add(limit);
    let hits: Vec<Hit> = match &tree {
        Some(tree) if by_score => {
            let by_path = |one: u32, other: u32| graph.path(one).cmp(graph.path(other));
            let best = texts.best_until(tree, &viewer.finds, page.end, &by_path, deadline)?;
            found.total = best.total;
            found.widened = best.widened;
            let hits = best.hits.into_iter().skip(offset);
            hits.map(|hit| (hit.slot, Some(hit.score))).collect()
        }
        Some(tree) => {
            let all = texts.all_until(tree, &viewer.finds, deadline)?;
            found.total = all.total;
            found.widened = all.widened;
            let hits = all.hits.into_iter();
            let hits: Vec<Hit> = hits.map(|hit| (hit.slot, Some(hit.score))).collect();
            sorted(graph, viewer, &hits, &query.sort, page, deadline)?
        }
        None => {
            let fitting = fulfilling(graph, viewer, condition, deadline)?;
            found.total = fitting.len() as u64;
            let hits: Vec<Hit> = fitting.iter().map(|slot| (slot, None)).collect();
            sorted(graph, viewer, &hits, &query.sort, page, deadline)?
        }
    };
    let sought = match &tree {
        Some(tree) if query.snippets > 0 => Some(SoughtWords::of(tree)),
        _ => None,
    };
    let teller = Teller {
        graph,
        viewer,
        fields: &query.fields,
        room,
        deadline,
    };
    for hit in hits {
        deadline.check()?;
        let mut note = teller.told(hit)?;
        if let Some(sought) = &sought {
            // All of a note is unpacked for a line of it.
            deadline.before(graph.size(hit.0))?;
            if let Some(text) = texts.text_of(hit.0, deadline)? {
                note.snippets = sought.snippets(&text, query.snippets as usize, deadline)?;
                for snippet in &note.snippets {
                    room.take_item([snippet.text.len()])?;
                }
            }
        }
        found.items.push(note);
    }
    Ok(found)
}

fn has_words(condition: &Condition) -> bool {
    match condition {
        Condition::All(inner) | Condition::Any(inner) => inner.iter().any(has_words),
        Condition::Not(inner) => has_words(inner),
        Condition::Words(_) | Condition::Prefix(_) | Condition::Like(_) => true,
        _ => false,
    }
}

/// The condition with everything about facts answered already.
fn tree(
    graph: &Graph,
    viewer: &Viewer,
    condition: &Condition,
    deadline: &Deadline,
) -> Result<Tree, VaultError> {
    let slots = |facts: &Condition| -> Result<Tree, VaultError> {
        let fitting = fulfilling(graph, viewer, facts, deadline)?;
        Ok(Tree::Slots(Arc::new(fitting)))
    };
    if !has_words(condition) {
        return slots(condition);
    }
    let inner = |inner: &[Condition]| -> Result<Vec<Tree>, VaultError> {
        let trees = inner.iter();
        trees
            .map(|condition| tree(graph, viewer, condition, deadline))
            .collect()
    };
    Ok(match condition {
        Condition::All(all) => Tree::All(inner(all)?),
        Condition::Any(any) => Tree::Any(inner(any)?),
        Condition::Not(not) => Tree::Not(Box::new(tree(graph, viewer, not, deadline)?)),
        Condition::Words(words) => Tree::Words {
            text: words.text.clone(),
            part: words.part,
        },
        Condition::Prefix(words) => Tree::Prefix {
            text: words.text.clone(),
            part: words.part,
        },
        Condition::Like(text) => Tree::Like(text.clone()),
        facts => slots(facts)?,
    })
}

/// Makes the items of an answer.
struct Teller<'q> {
    graph: &'q Graph,
    viewer: &'q Viewer,
    fields: &'q [Field],
    room: &'q Room,
    deadline: &'q Deadline,
}

impl Teller<'_> {
    fn told(&self, (slot, score): Hit) -> Result<FoundNote, VaultError> {
        let (graph, viewer, room) = (self.graph, self.viewer, self.room);
        room.take_item([graph.path(slot).len()])?;
        let mut told = FoundNote {
            path: graph.path(slot).to_owned(),
            score: score.map(rounded),
            ..FoundNote::default()
        };
        let Some(file) = graph.file(slot) else {
            return Ok(told);
        };
        let asks = |field: Field| self.fields.contains(&field);
        told.modified = asks(Field::Modified).then(|| file.stamp.modified_millis());
        told.size = asks(Field::Size).then(|| file.stamp.size());
        let Some(note) = &file.note else {
            return Ok(told);
        };
        told.etag = asks(Field::Etag).then(|| note.etag.to_string());
        if asks(Field::Properties) {
            self.deadline.before_all(note.property_bytes())?;
            room.take(note.property_bytes())?;
            let properties = note.properties.as_deref();
            told.properties = Some(properties.cloned().unwrap_or_default());
        }
        if asks(Field::Links) {
            let links = links::outgoing(graph, viewer, slot, room, self.deadline)?;
            told.links = Some(links);
        }
        if asks(Field::Degree) {
            told.degree = Some(viewer.web(graph, self.deadline)?.degree(slot));
        }
        self.tell_rest(note, &mut told)?;
        Ok(told)
    }

    fn tell_rest(&self, note: &Note, told: &mut FoundNote) -> Result<(), VaultError> {
        let asks = |field: Field| self.fields.contains(&field);
        let of_rest = [
            Field::Tags,
            Field::Aliases,
            Field::Headings,
            Field::Blocks,
            Field::Tasks,
        ];
        if !of_rest.into_iter().any(asks) {
            return Ok(());
        }
        let bytes = note.rest_bytes();
        self.deadline.before(bytes)?;
        // What does not fit when it is packed, does not when it is unpacked.
        self.room.check(bytes)?;
        let rest = note.rest();
        told.tags = self.kept(Field::Tags, rest.tags, |tag| tag.tag.len())?;
        told.aliases = self.kept(Field::Aliases, rest.aliases, String::len)?;
        told.headings = self.kept(Field::Headings, rest.headings, |heading| heading.text.len())?;
        told.blocks = self.kept(Field::Blocks, rest.blocks, |block| block.id.len())?;
        told.tasks = self.kept(Field::Tasks, rest.tasks, |task| task.text.len())?;
        Ok(())
    }

    /// What a note has of a field, if that is asked for.
    fn kept<T>(
        &self,
        field: Field,
        items: Vec<T>,
        bytes: impl Fn(&T) -> usize,
    ) -> Result<Option<Vec<T>>, VaultError> {
        if !self.fields.contains(&field) {
            return Ok(None);
        }
        for item in &items {
            self.deadline.step()?;
            self.room.take_item([bytes(item)])?;
        }
        Ok(Some(items))
    }
}

/// Scores are told with four digits: more says nothing.
fn rounded(score: f32) -> f64 {
    (f64::from(score) * 10_000.0).round() / 10_000.0
}
