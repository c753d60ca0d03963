//! The queries of the index and their answers. In an action that writes, an answer determines what is written: so the
//! index is updated first, and the answer is validated again at commit.
//!
//! `caller_view` decides what the caller sees, and everything else here computes from that: `find` with `filter` and
//! `sort` answers conditions; `links`, `link_graph`, `tags` and `names` read the graph; `complete` completes what a person
//! types.

pub(crate) mod caller_view;
pub(crate) mod complete;
mod filter;
pub(crate) mod find;
pub(crate) mod link_graph;
pub(crate) mod links;
pub(crate) mod names;
pub(crate) mod sort;
pub(crate) mod tags;

use notehost_sdk::Code;
use std::sync::Arc;
use std::time::{Duration, Instant};

use notehost_sdk::index::{
    Backlinks, BacklinksQuery, Condition, Edges, Field, Found, NameAt, Query, Sort, SortBy, Tags,
    TagsQuery, Unresolved, UnresolvedQuery,
};
use notehost_sdk::is_note;
use notehost_sdk::text::moving::texts_in_links;
use serde::Serialize;

use crate::Index;
use crate::core::Core;
use crate::indexer::REBUILD;
use crate::limits::answer_budget::AnswerBudget;
use crate::limits::bounds::{self, MAX_TEXT_BYTES};
use crate::limits::deadline::{CancelFlag, Deadline};
use crate::limits::order::in_order;
use crate::text::{Bitmap, Failure};
use caller_view::{CachedParts, CallerView};
use find::FindError;
use notehost_vault::{Effect, Kind, Transaction, VaultError};

/// How long an action that writes waits for an index that is being built, if it has no deadline.
const DEFAULT_BUILD_WAIT: Duration = Duration::from_secs(20);
/// What is left of a call's time for the action itself.
const ANSWER_RESERVE: Duration = Duration::from_millis(500);

/// A question to the index.
#[derive(Clone, Debug)]
pub enum Question {
    /// Notes that fulfil a condition.
    Find(Query),
    /// Links to a file.
    Backlinks(BacklinksQuery),
    /// Links without a target.
    Unresolved(UnresolvedQuery),
    /// Tags and how often they are used.
    Tags(TagsQuery),
    /// Which note links to which.
    Edges,
    /// Every file.
    Files,
    /// The notes that the move of one of these files can concern.
    Linking(Vec<String>),
    /// The notes that may contain, for each list, one of its texts.
    Containing(Vec<Vec<String>>),
    /// The names of notes that occur in a text.
    NamesIn(String),
}

impl Question {
    /// The kind of the question, for traces.
    fn as_str(&self) -> &'static str {
        match self {
            Question::Find(_) => "find",
            Question::Backlinks(_) => "backlinks",
            Question::Unresolved(_) => "unresolved",
            Question::Tags(_) => "tags",
            Question::Edges => "edges",
            Question::Files => "files",
            Question::Linking(_) => "linking",
            Question::Containing(_) => "containing",
            Question::NamesIn(_) => "names_in",
        }
    }

    /// Refuses a question that is too large to be worth an answer.
    ///
    /// # Errors
    /// `too_large`, or `validation_error` if conditions nest too deep
    pub fn check(&self) -> Result<(), VaultError> {
        match self {
            Question::Find(query) => bounds::check_query(query),
            Question::Containing(texts) => bounds::check_texts(texts),
            Question::NamesIn(text) if text.len() > MAX_TEXT_BYTES => Err(VaultError::too_large(
                format!("a text to find names in may have {MAX_TEXT_BYTES} bytes at most"),
            )),
            _ => Ok(()),
        }
    }

    /// Whether the answer should be a matter of a millisecond, so that nobody has to step aside for it. It is an estimate:
    /// how much a note holds shows only when it is looked at.
    fn is_quick(&self, cached_parts: CachedParts, notes: usize, property_steps: usize) -> bool {
        match self {
            Question::Find(query) => {
                let needs_web =
                    |sort: &Sort| matches!(sort.by, SortBy::Incoming | SortBy::Outgoing);
                query.limit <= 200
                    && (cached_parts.link_graph || !query.sort.iter().any(needs_web))
                    && !query.fields.contains(&Field::Degree)
                    && bounds::is_quick(query, notes, property_steps)
            }
            Question::Backlinks(of) => of.limit <= 200,
            Question::Tags(of) => cached_parts.tags && of.under.is_empty() && of.limit <= 1000,
            Question::Unresolved(of) => {
                cached_parts.link_graph && of.under.is_empty() && of.limit <= 200
            }
            _ => false,
        }
    }
}

/// What the index answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// To [`Question::Find`].
    Found(Found),
    /// To [`Question::Backlinks`].
    Backlinks(Backlinks),
    /// To [`Question::Unresolved`].
    Unresolved(Unresolved),
    /// To [`Question::Tags`].
    Tags(Tags),
    /// To [`Question::Edges`].
    Edges(Edges),
    /// To [`Question::NamesIn`].
    Names(Vec<NameAt>),
    /// Paths of notes, sorted: to every other question.
    Paths(Vec<String>),
}

/// The answer to a question of the matching kind.
macro_rules! answer_type {
    ($($case:ident => $type:ty),+ $(,)?) => {$(
        impl TryFrom<Answer> for $type {
            type Error = VaultError;

            fn try_from(answer: Answer) -> Result<Self, VaultError> {
                match answer {
                    Answer::$case(answer) => Ok(answer),
                    _ => Err(VaultError::broken("the index answered another question")),
                }
            }
        }
    )+};
}

answer_type! {
    Found => Found,
    Backlinks => Backlinks,
    Unresolved => Unresolved,
    Tags => Tags,
    Edges => Edges,
    Names => Vec<NameAt>,
    Paths => Vec<String>,
}

impl Index {
    /// Answers a question on an async worker, if that takes about a millisecond and nothing has to be waited for; `None`
    /// if not.
    pub fn ask_if_quick(
        &self,
        transaction: &Transaction,
        question: &Question,
    ) -> Option<Result<Answer, VaultError>> {
        if !self.is_quick(transaction, question) {
            return None;
        }
        let deadline = &Deadline::quick(transaction);
        let answer = match question {
            Question::Find(_) => {
                let question = self.with_explicit(question.clone());
                self.core.answer(transaction, &question, deadline)
            }
            _ => self.core.answer(transaction, question, deadline),
        };
        match answer {
            Err(error) if error.code() == Code::Timeout => None,
            answer => Some(answer),
        }
    }

    /// Whether the query can run on the async worker.
    pub(crate) fn is_quick(&self, transaction: &Transaction, question: &Question) -> bool {
        if transaction.access().effect != Effect::Read || !self.is_ready() {
            return false;
        }
        // Notes that a commit changed are read first, however large they are.
        if !self.core.is_settled() || !self.core.texts().is_quick_to_search() {
            return false;
        }
        let Ok(graph) = self.core.graph_until(&Deadline::quick(transaction)) else {
            return false;
        };
        let (generation, notes) = (graph.generation, graph.notes.len());
        let property_steps = graph.property_steps;
        drop(graph);
        let cached_parts = self.core.caller_views.cached_parts(transaction, generation);
        question.is_quick(cached_parts, notes, property_steps)
    }

    /// A question with every condition made explicit.
    fn with_explicit(&self, mut question: Question) -> Question {
        if let Question::Find(Query {
            condition: Some(condition),
            ..
        }) = &mut question
        {
            *condition = self.explicit(std::mem::replace(condition, Condition::All(Vec::new())));
        }
        question
    }

    /// Answers a question for the caller of this transaction.
    pub fn ask(
        &self,
        transaction: &mut Transaction,
        question: Question,
    ) -> Result<Answer, VaultError> {
        self.ask_cancellable(transaction, question, None)
    }

    /// The same, until the answer is no longer needed.
    pub fn ask_cancellable(
        &self,
        transaction: &mut Transaction,
        question: Question,
        cancelled: Option<&CancelFlag>,
    ) -> Result<Answer, VaultError> {
        question.check()?;
        let question = self.with_explicit(question);
        let deadline = &Deadline::of(transaction, cancelled);
        // No process serves the vault: the first query waits until there is something to find.
        if self.start() {
            self.wait(Some(build_deadline(transaction)));
        }
        if transaction.access().effect == Effect::Read {
            return self.core.answer(transaction, &question, deadline);
        }
        if !self.is_ready() {
            match &question {
                Question::Linking(files) => return by_scan(transaction, files),
                Question::Files => return listed(transaction, |_| true),
                _ => {}
            }
            self.await_for(transaction)?;
        }
        if !transaction.relies_on_answers() {
            self.catch_up(deadline)?;
        }
        let answer = self.core.answer(transaction, &question, deadline)?;
        let core = self.core.clone();
        transaction.rely_on(
            digest(&answer)?,
            Arc::new(move |transaction| {
                let deadline = &Deadline::of(transaction, None);
                let again = core.answer(transaction, &question, deadline).ok()?;
                digest(&again).ok()
            }),
        );
        Ok(answer)
    }

    /// An action that writes must not act on half of the notes.
    fn await_for(&self, transaction: &Transaction) -> Result<(), VaultError> {
        if self.wait(Some(build_deadline(transaction))) {
            return Ok(());
        }
        let state = self.state(transaction)?;
        Err(VaultError::new(
            Code::Unavailable,
            format!(
                "the index is still being built ({} of {} notes), and this action needs all of it: try again",
                state.done, state.total
            ),
        )
        .with_hint("`notehost index status` shows the progress".to_owned()))
    }
}

/// Until when a call may wait for an index that is being built.
fn build_deadline(transaction: &Transaction) -> Instant {
    let deadline = transaction.access().limits.deadline;
    deadline.map_or_else(
        || Instant::now() + DEFAULT_BUILD_WAIT,
        |deadline| deadline.checked_sub(ANSWER_RESERVE).unwrap_or(deadline),
    )
}

/// The notes that mention one of these files, read one by one: for as long as the index is being built.
fn by_scan(transaction: &mut Transaction, files: &[String]) -> Result<Answer, VaultError> {
    let paths = files.iter().map(String::as_str);
    match texts_in_links(paths) {
        Some(texts) => transaction.mentioning(&texts).map(Answer::Paths),
        None => listed(transaction, is_note),
    }
}

/// The files that the disk has, without the index.
fn listed(
    transaction: &mut Transaction,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Answer, VaultError> {
    let mut files = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let page = transaction.list("", true, after.as_deref(), 10_000)?;
        let entries = page.entries.into_iter();
        let paths = entries.filter(|entry| entry.kind == Kind::File);
        files.extend(paths.map(|entry| entry.path).filter(|path| is_wanted(path)));
        after = page.next;
        if after.is_none() {
            files.sort_unstable();
            return Ok(Answer::Paths(files));
        }
    }
}

impl Core {
    /// Answers a question, from an index that has every commit that was made before.
    pub(crate) fn answer(
        &self,
        transaction: &Transaction,
        question: &Question,
        deadline: &Deadline,
    ) -> Result<Answer, VaultError> {
        let kind = question.as_str();
        let _span = tracing::debug_span!("index.query", vault = self.vault.id(), kind).entered();
        question.check()?;
        self.settle_until(deadline)?;
        deadline.check()?;
        let graph = self.graph_until(deadline)?;
        let view = self.caller_views.of(transaction, &graph, deadline)?;
        let (page, list) = (&AnswerBudget::of_page(), &AnswerBudget::of_list());
        let sorted = |doc_ids: &mut dyn Iterator<Item = u32>| {
            let mut seen: Vec<u32> = Vec::new();
            for doc_id in doc_ids {
                deadline.step()?;
                if view.sees.contains(doc_id) {
                    seen.push(doc_id);
                }
            }
            let by_path = |one: &u32, other: &u32| graph.path(*one).cmp(graph.path(*other));
            let mut paths: Vec<String> = Vec::with_capacity(seen.len());
            for doc_id in in_order(seen, by_path, deadline)? {
                let path = graph.path(doc_id);
                list.take_item([path.len()])?;
                paths.push(path.to_owned());
            }
            paths.dedup();
            Ok::<Vec<String>, VaultError>(paths)
        };
        match question {
            Question::Find(query) => {
                match find::find(&graph, &self.texts(), &view, query, page, deadline) {
                    Ok(found) => Ok(Answer::Found(found)),
                    Err(FindError::Question(error)) => Err(error),
                    Err(FindError::Texts(failure)) => {
                        self.request_rebuild(&failure);
                        Ok(Answer::Found(Found::default()))
                    }
                }
            }
            Question::Backlinks(of) => {
                let backlinks = links::backlinks(&graph, &view, of, page, deadline)?;
                Ok(Answer::Backlinks(backlinks))
            }
            Question::Unresolved(within) => {
                let link_graph = view.link_graph(&graph, deadline)?;
                let unresolved = link_graph.unresolved(&graph, within, page, deadline)?;
                Ok(Answer::Unresolved(unresolved))
            }
            Question::Tags(of) if of.under.is_empty() => {
                let tags = view.tags(&graph, deadline)?.page(of, page, deadline)?;
                Ok(Answer::Tags(tags))
            }
            Question::Tags(of) => {
                let tags = tags::under(&graph, &view.finds, &of.under, deadline)?;
                Ok(Answer::Tags(tags.page(of, page, deadline)?))
            }
            Question::Edges => {
                let link_graph = view.link_graph(&graph, deadline)?;
                let edges = link_graph.rendered(&graph, &view, list, deadline)?;
                Ok(Answer::Edges(edges))
            }
            Question::NamesIn(text) => {
                let names = names::names_in(&graph, &view, text, page, deadline)?;
                Ok(Answer::Names(names))
            }
            Question::Files => {
                let all = sorted(&mut graph.files().map(|(doc_id, _)| doc_id))?;
                Ok(Answer::Paths(all))
            }
            Question::Linking(files) => {
                let mut mentioning = Bitmap::default();
                for file in files {
                    deadline.check()?;
                    for doc_id in graph.sources_naming(file) {
                        deadline.step()?;
                        mentioning.insert(doc_id);
                    }
                }
                Ok(Answer::Paths(sorted(&mut mentioning.iter())?))
            }
            Question::Containing(texts) => {
                let found = self.containing(texts, &view, deadline)?;
                let mut paths = sorted(&mut found.iter())?;
                // What is not read yet may contain anything.
                if let Some(expected) = self.expected() {
                    for path in expected.iter() {
                        deadline.step()?;
                        let doc_id = graph.doc_id(path);
                        if doc_id.is_none_or(|doc_id| !graph.notes.contains(doc_id))
                            && transaction.sees_file(path)
                        {
                            list.take_item([path.len()])?;
                            paths.push(path.clone());
                        }
                    }
                    paths.sort_unstable();
                    paths.dedup();
                }
                Ok(Answer::Paths(paths))
            }
        }
    }

    fn containing(
        &self,
        texts: &[Vec<String>],
        view: &CallerView,
        deadline: &Deadline,
    ) -> Result<Bitmap, VaultError> {
        match self.texts().containing_until(texts, &view.finds, deadline) {
            Ok(doc_ids) => Ok(doc_ids),
            Err(Failure::Stopped(error)) => Err(error),
            // Nothing is narrowed then.
            Err(failure) => {
                self.request_rebuild(&failure);
                Ok((*view.finds).clone())
            }
        }
    }

    /// The full-text half is damaged: it is rebuilt, and until then answers say that it is being built.
    fn request_rebuild(&self, failure: &Failure) {
        tracing::warn!("rebuilding the index: {failure}");
        self.expect(Some(Vec::new()));
        let _ = std::fs::write(self.folder.join(REBUILD), b"");
    }
}

/// Identifies an answer.
fn digest(answer: &Answer) -> Result<[u8; 32], VaultError> {
    let bytes = match answer {
        Answer::Paths(paths) => paths.join("\0").into_bytes(),
        answer => serde_json::to_vec(answer).map_err(|error| {
            VaultError::internal("serialize an index answer", error.to_string())
        })?,
    };
    Ok(*blake3::hash(&bytes).as_bytes())
}
