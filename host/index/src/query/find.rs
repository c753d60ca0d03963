//! Runs a query: full-text conditions are evaluated by the text index, all others by the graph, and the results are
//! combined here.

use std::sync::Arc;

use notehost_sdk::index::{Condition, Field, Found, FoundNote, Query, Sort, SortBy};

use super::caller_view::CallerView;
use super::filter::fulfilling;
use super::links;
use super::sort::sorted;
use crate::graph::Graph;
use crate::graph::record::Note;
use crate::limits::answer_budget::AnswerBudget;
use crate::limits::bounds::{self, MAX_RESULTS};
use crate::limits::deadline::Deadline;
use crate::text::{Failure, QueryWords, Texts, Tree};
use notehost_vault::VaultError;

/// Why a query failed.
pub(crate) enum FindError {
    /// The query is invalid.
    Question(VaultError),
    /// The full-text half is damaged and must be rebuilt.
    Texts(Failure),
}

impl From<VaultError> for FindError {
    fn from(error: VaultError) -> FindError {
        FindError::Question(error)
    }
}

impl From<Failure> for FindError {
    fn from(failure: Failure) -> FindError {
        match failure {
            Failure::Stopped(error) => FindError::Question(error),
            failure => FindError::Texts(failure),
        }
    }
}

/// A note that fits, and how well.
pub(crate) type Hit = (u32, Option<f32>);

/// The notes that fulfil a query, as one caller sees them.
pub(crate) fn find(
    graph: &Graph,
    texts: &Texts,
    view: &CallerView,
    query: &Query,
    budget: &AnswerBudget,
    deadline: &Deadline,
) -> Result<Found, FindError> {
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
        true => Some(tree(graph, view, condition, deadline)?),
        false => None,
    };
    let mut found = Found::default();
    let page = offset..offset.saturating_add(limit);
    let hits: Vec<Hit> = match &tree {
        Some(tree) if by_score => {
            let by_path = |one: u32, other: u32| graph.path(one).cmp(graph.path(other));
            let best = texts.best_until(tree, &view.finds, page.end, &by_path, deadline)?;
            found.total = best.total;
            found.widened = best.widened;
            let hits = best.hits.into_iter().skip(offset);
            hits.map(|hit| (hit.doc_id, Some(hit.score))).collect()
        }
        Some(tree) => {
            let all = texts.all_until(tree, &view.finds, deadline)?;
            found.total = all.total;
            found.widened = all.widened;
            let hits = all.hits.into_iter();
            let hits: Vec<Hit> = hits.map(|hit| (hit.doc_id, Some(hit.score))).collect();
            sorted(graph, view, &hits, &query.sort, page, deadline)?
        }
        None => {
            let fitting = fulfilling(graph, view, condition, deadline)?;
            found.total = fitting.len() as u64;
            let hits: Vec<Hit> = fitting.iter().map(|doc_id| (doc_id, None)).collect();
            sorted(graph, view, &hits, &query.sort, page, deadline)?
        }
    };
    let sought = match &tree {
        Some(tree) if query.snippets > 0 => Some(QueryWords::of(tree)),
        _ => None,
    };
    let renderer = NoteRenderer {
        graph,
        view,
        fields: &query.fields,
        budget,
        deadline,
    };
    for hit in hits {
        deadline.check()?;
        let mut note = renderer.render(hit)?;
        if let Some(sought) = &sought {
            // All of a note is unpacked for a line of it.
            deadline.before(graph.size(hit.0))?;
            if let Some(text) = texts.text_of(hit.0, deadline)? {
                note.snippets = sought.snippets(&text, query.snippets as usize, deadline)?;
                for snippet in &note.snippets {
                    budget.take_item([snippet.text.len()])?;
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
    view: &CallerView,
    condition: &Condition,
    deadline: &Deadline,
) -> Result<Tree, VaultError> {
    let doc_ids = |facts: &Condition| -> Result<Tree, VaultError> {
        let fitting = fulfilling(graph, view, facts, deadline)?;
        Ok(Tree::Bitmap(Arc::new(fitting)))
    };
    if !has_words(condition) {
        return doc_ids(condition);
    }
    let inner = |inner: &[Condition]| -> Result<Vec<Tree>, VaultError> {
        let trees = inner.iter();
        trees
            .map(|condition| tree(graph, view, condition, deadline))
            .collect()
    };
    Ok(match condition {
        Condition::All(all) => Tree::All(inner(all)?),
        Condition::Any(any) => Tree::Any(inner(any)?),
        Condition::Not(not) => Tree::Not(Box::new(tree(graph, view, not, deadline)?)),
        Condition::Words(words) => Tree::Words {
            text: words.text.clone(),
            part: words.part,
        },
        Condition::Prefix(words) => Tree::Prefix {
            text: words.text.clone(),
            part: words.part,
        },
        Condition::Like(text) => Tree::Like(text.clone()),
        facts => doc_ids(facts)?,
    })
}

/// Makes the items of an answer.
struct NoteRenderer<'q> {
    graph: &'q Graph,
    view: &'q CallerView,
    fields: &'q [Field],
    budget: &'q AnswerBudget,
    deadline: &'q Deadline,
}

impl NoteRenderer<'_> {
    fn render(&self, (doc_id, score): Hit) -> Result<FoundNote, VaultError> {
        let (graph, view, budget) = (self.graph, self.view, self.budget);
        budget.take_item([graph.path(doc_id).len()])?;
        let mut rendered = FoundNote {
            path: graph.path(doc_id).to_owned(),
            score: score.map(rounded),
            ..FoundNote::default()
        };
        let Some(file) = graph.file(doc_id) else {
            return Ok(rendered);
        };
        let is_requested = |field: Field| self.fields.contains(&field);
        rendered.modified = is_requested(Field::Modified).then(|| file.stamp.modified_millis());
        rendered.size = is_requested(Field::Size).then(|| file.stamp.size());
        let Some(note) = &file.note else {
            return Ok(rendered);
        };
        rendered.etag = is_requested(Field::Etag).then(|| note.etag.to_string());
        if is_requested(Field::Properties) {
            self.deadline.before_all(note.property_bytes())?;
            budget.take(note.property_bytes())?;
            let properties = note.properties.as_deref();
            rendered.properties = Some(properties.cloned().unwrap_or_default());
        }
        if is_requested(Field::Links) {
            let links = links::outgoing(graph, view, doc_id, budget, self.deadline)?;
            rendered.links = Some(links);
        }
        if is_requested(Field::Degree) {
            rendered.degree = Some(view.link_graph(graph, self.deadline)?.degree(doc_id));
        }
        self.render_rest(note, &mut rendered)?;
        Ok(rendered)
    }

    fn render_rest(&self, note: &Note, rendered: &mut FoundNote) -> Result<(), VaultError> {
        let is_requested = |field: Field| self.fields.contains(&field);
        let of_rest = [
            Field::Tags,
            Field::Aliases,
            Field::Headings,
            Field::Blocks,
            Field::Tasks,
        ];
        if !of_rest.into_iter().any(is_requested) {
            return Ok(());
        }
        let bytes = note.rest_bytes();
        self.deadline.before(bytes)?;
        // What does not fit when it is packed, does not when it is unpacked.
        self.budget.check(bytes)?;
        let rest = note.rest();
        rendered.tags = self.kept(Field::Tags, rest.tags, |tag| tag.tag.len())?;
        rendered.aliases = self.kept(Field::Aliases, rest.aliases, String::len)?;
        rendered.headings =
            self.kept(Field::Headings, rest.headings, |heading| heading.text.len())?;
        rendered.blocks = self.kept(Field::Blocks, rest.blocks, |block| block.id.len())?;
        rendered.tasks = self.kept(Field::Tasks, rest.tasks, |task| task.text.len())?;
        Ok(())
    }

    /// What a note has of a field, if that is requested.
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
            self.budget.take_item([bytes(item)])?;
        }
        Ok(Some(items))
    }
}

/// Scores are rounded to four digits.
fn rounded(score: f32) -> f64 {
    (f64::from(score) * 10_000.0).round() / 10_000.0
}
