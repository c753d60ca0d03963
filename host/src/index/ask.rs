//! What can be asked, and what is answered. In an action that writes, an answer decides what is written: so the index is
//! brought up to date first, and the answer is checked again at commit.

use std::sync::Arc;
use std::time::{Duration, Instant};

use notehost_sdk::index::{
    BacklinksOf, Condition, Field, Found, Query, Sort, SortBy, TagsOf, UnresolvedIn,
};
use notehost_sdk::is_note;
use notehost_sdk::text::moving::texts_in_links;
use serde::Serialize;

use super::core::Core;
use super::find::Broken;
use super::keeper::REBUILD;
use super::text::Failure;
use super::viewer::{Viewer, WorkedOut};
use super::{Index, find, links, names, tags};
use crate::vault::{Effect, Kind, Transaction, VaultError};

/// How long an action that writes waits for an index that is being built, if it has no deadline.
const PATIENCE: Duration = Duration::from_secs(20);
/// What is left of a call's time for the action itself.
const SPARED: Duration = Duration::from_millis(500);
/// The longest text in which names are looked for.
const LONGEST_TEXT: usize = 4 << 20;

/// A question to the index.
#[derive(Clone, Debug)]
pub enum Question {
    /// Notes that fulfil a condition.
    Find(Query),
    /// Links to a file.
    Backlinks(BacklinksOf),
    /// Links that lead nowhere.
    Unresolved(UnresolvedIn),
    /// Tags and how often they are used.
    Tags(TagsOf),
    /// Which note links to which.
    Edges,
    /// Every file.
    Files,
    /// The notes that the move of one of these files can concern.
    Linking(Vec<String>),
    /// The notes that may contain, for each list, one of its texts.
    Containing(Vec<Vec<String>>),
    /// The names of notes that stand in a text.
    NamesIn(String),
}

impl Question {
    /// Whether the answer is a matter of a millisecond, so that nobody has to step aside for it.
    fn is_quick(&self, worked_out: WorkedOut) -> bool {
        match self {
            Question::Find(query) => {
                let needs_web =
                    |sort: &Sort| matches!(sort.by, SortBy::Incoming | SortBy::Outgoing);
                query.limit <= 200
                    && (worked_out.web || !query.sort.iter().any(needs_web))
                    && !query.fields.contains(&Field::Degree)
                    && query.condition.as_ref().is_none_or(is_quick)
            }
            Question::Backlinks(of) => of.limit <= 200,
            Question::Tags(of) => worked_out.tags && of.under.is_empty() && of.limit <= 1000,
            Question::Unresolved(of) => worked_out.web && of.under.is_empty() && of.limit <= 200,
            _ => false,
        }
    }
}

fn is_quick(condition: &Condition) -> bool {
    match condition {
        Condition::All(inner) | Condition::Any(inner) => inner.iter().all(is_quick),
        Condition::Not(inner) => is_quick(inner),
        Condition::Like(_) | Condition::Has(_) | Condition::Path(_) => false,
        _ => true,
    }
}

/// What the index answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// As the contract has it.
    Json(String),
    /// Paths of notes, sorted.
    Paths(Vec<String>),
}

impl Index {
    /// Whether a question can be asked from a thread on which others wait.
    pub fn is_quick(&self, transaction: &Transaction, question: &Question) -> bool {
        if transaction.terms().effect != Effect::Read || !self.is_ready() {
            return false;
        }
        let worked_out = match self.core.is_settled() {
            true => {
                let generation = self.core.graph().generation;
                self.core.viewers.worked_out(transaction, generation)
            }
            // What was worked out is about to be worked out anew.
            false => WorkedOut::default(),
        };
        question.is_quick(worked_out)
    }

    /// Answers a question for whoever began this transaction.
    pub fn ask(
        &self,
        transaction: &mut Transaction,
        question: Question,
    ) -> Result<Answer, VaultError> {
        // Nobody serves: whoever asks first waits until there is something to be found.
        if self.start() {
            self.wait(Some(patience(transaction)));
        }
        if transaction.terms().effect == Effect::Read {
            return self.core.answer(transaction, &question);
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
            self.catch_up();
        }
        let answer = self.core.answer(transaction, &question)?;
        let core = self.core.clone();
        transaction.rely_on(
            digest(&answer),
            Arc::new(move |transaction| {
                let again = core.answer(transaction, &question).ok()?;
                Some(digest(&again))
            }),
        );
        Ok(answer)
    }

    /// An action that writes must not act on half of the notes.
    fn await_for(&self, transaction: &Transaction) -> Result<(), VaultError> {
        if self.wait(Some(patience(transaction))) {
            return Ok(());
        }
        let state = self.state(transaction);
        Err(VaultError::new(
            "unavailable",
            format!(
                "the index is still being built ({} of {} notes), and this action needs all of it: try again",
                state.done, state.total
            ),
        )
        .with_hint("`notehost index status` shows how far it is".to_owned()))
    }
}

/// Until when a call can wait for the index.
fn patience(transaction: &Transaction) -> Instant {
    let deadline = transaction.terms().limits.deadline;
    deadline.map_or_else(
        || Instant::now() + PATIENCE,
        |deadline| deadline.checked_sub(SPARED).unwrap_or(deadline),
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
    fn answer(&self, transaction: &Transaction, question: &Question) -> Result<Answer, VaultError> {
        self.settle();
        let graph = self.graph();
        let viewer = self.viewers.of(transaction, &graph);
        let sorted = |slots: Vec<u32>| {
            let seen = slots.iter().filter(|slot| viewer.sees.contains(**slot));
            let mut paths: Vec<String> = seen.map(|slot| graph.path(*slot).to_owned()).collect();
            paths.sort_unstable();
            paths.dedup();
            paths
        };
        match question {
            Question::Find(query) => match find::find(&graph, &self.texts(), &viewer, query) {
                Ok(found) => json(&found),
                Err(Broken::Question(error)) => Err(error),
                Err(Broken::Texts(failure)) => {
                    self.condemn(&failure);
                    json(&Found::default())
                }
            },
            Question::Backlinks(of) => json(&links::backlinks(&graph, &viewer, of)),
            Question::Unresolved(within) => json(&viewer.web(&graph).unresolved(within)),
            Question::Tags(of) if of.under.is_empty() => json(&viewer.tags(&graph).page(of)),
            Question::Tags(of) => json(&tags::under(&graph, &viewer.finds, &of.under).page(of)),
            Question::Edges => json(&viewer.web(&graph).told(&graph, &viewer)),
            Question::NamesIn(text) => {
                if text.len() > LONGEST_TEXT {
                    return Err(VaultError::too_large(format!(
                        "names are looked for in {LONGEST_TEXT} bytes at most"
                    )));
                }
                json(&names::names_in(&graph, &viewer, text))
            }
            Question::Files => {
                let all = graph.files().map(|(slot, _)| slot);
                Ok(Answer::Paths(sorted(all.collect())))
            }
            Question::Linking(files) => {
                let asking = files.iter().flat_map(|file| graph.asking_for(file));
                Ok(Answer::Paths(sorted(asking.collect())))
            }
            Question::Containing(texts) => {
                let mut paths = sorted(self.containing(texts, &viewer));
                // What is not read yet may contain anything.
                if let Some(expected) = self.expected() {
                    let unread = expected.iter().filter(|path| {
                        let slot = graph.slot(path);
                        slot.is_none_or(|slot| !graph.notes.contains(slot))
                            && transaction.sees_file(path)
                    });
                    paths.extend(unread.cloned());
                    paths.sort_unstable();
                    paths.dedup();
                }
                Ok(Answer::Paths(paths))
            }
        }
    }

    fn containing(&self, texts: &[Vec<String>], viewer: &Viewer) -> Vec<u32> {
        match self.texts().containing(texts, &viewer.finds) {
            Ok(slots) => slots.iter().collect(),
            // Nothing is narrowed then.
            Err(failure) => {
                self.condemn(&failure);
                viewer.finds.iter().collect()
            }
        }
    }

    /// The full-text half is damaged: it is made anew, and until then answers say that it is being built.
    fn condemn(&self, failure: &Failure) {
        tracing::warn!("the index is built anew: {failure}");
        self.expect(Some(Vec::new()));
        let _ = std::fs::write(self.folder.join(REBUILD), b"");
    }
}

fn json(value: &impl Serialize) -> Result<Answer, VaultError> {
    serde_json::to_string(value)
        .map(Answer::Json)
        .map_err(|error| VaultError::internal("tell an answer", error.to_string()))
}

fn digest(answer: &Answer) -> [u8; 32] {
    match answer {
        Answer::Json(text) => *blake3::hash(text.as_bytes()).as_bytes(),
        Answer::Paths(paths) => *blake3::hash(paths.join("\0").as_bytes()).as_bytes(),
    }
}
