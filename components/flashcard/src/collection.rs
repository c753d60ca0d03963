//! The cards of the notes visible to the caller, joined with their stored records.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use notehost_sdk::index::{Condition, PropertyTest, Query};
use notehost_sdk::prelude::*;
use notehost_sdk::scheduling::{Memory, Phase, RETENTIONS};
use notehost_sdk::serde_json::{Map, Value};
use notehost_sdk::text::{frontmatter, tags};
use notehost_sdk::{is_note, notebook_of};

use crate::cards::{Question, questions};
use crate::clock::Clock;
use crate::comment::Entry;
use crate::decks::{Decks, PROPERTY, TAG};
use crate::identity::{self, Traits};
use crate::lines::SCHEDULE;
use crate::records::{Record, Records};

/// A card.
#[derive(Debug, Clone)]
pub(crate) struct Card {
    pub(crate) id: String,
    pub(crate) path: String,
    pub(crate) deck: Option<String>,
    /// The index of its passage in the note.
    pub(crate) question: usize,
    pub(crate) sibling: usize,
    /// Its stored record, or a new one.
    pub(crate) record: Record,
    /// The note under which its record is stored, if there is one.
    pub(crate) record_path: Option<String>,
    /// Its schedule in the note.
    pub(crate) note_schedule: NoteSchedule,
}

/// The schedule of a card in its note.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NoteSchedule {
    /// None: the schedule is in the store.
    Absent,
    /// A valid entry.
    Entry(Entry),
    /// An invalid entry.
    Unreadable,
}

/// When a card is due.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum DueTime {
    /// Never: it is new.
    Never,
    /// At a moment.
    At(i64),
    /// On a day.
    On(i64),
}

impl Card {
    /// Its id for callers.
    pub(crate) fn handle(&self) -> String {
        format!("{}#{}", self.path, self.id)
    }

    /// Its FSRS memory state.
    pub(crate) fn memory(&self) -> Option<&Memory> {
        match &self.note_schedule {
            NoteSchedule::Absent => self.record.memory.as_ref(),
            NoteSchedule::Entry(Entry::Fsrs(fsrs)) => fsrs.memory.as_ref(),
            _ => None,
        }
    }

    /// `new`, `learning`, `review`, `relearning`, or `unreadable`.
    pub(crate) fn state(&self) -> &'static str {
        match &self.note_schedule {
            NoteSchedule::Entry(Entry::Sm2(_)) => Phase::Review.as_str(),
            NoteSchedule::Unreadable => "unreadable",
            _ => self.memory().map_or("new", |memory| memory.phase.as_str()),
        }
    }

    /// When it is due.
    pub(crate) fn due_time(&self, clock: &Clock) -> DueTime {
        let by_phase = |memory: &Memory, at: i64, on: i64| match memory.phase {
            Phase::Review => DueTime::On(on),
            _ => DueTime::At(at),
        };
        match &self.note_schedule {
            NoteSchedule::Absent => self
                .record
                .memory
                .as_ref()
                .map_or(DueTime::Never, |memory| {
                    by_phase(memory, self.record.due, self.record.day)
                }),
            NoteSchedule::Entry(Entry::Sm2(sm2)) => DueTime::On(sm2.due),
            NoteSchedule::Entry(Entry::Fsrs(fsrs)) => {
                let memory = fsrs.memory.as_ref();
                memory.map_or(DueTime::Never, |memory| {
                    by_phase(memory, fsrs.due, clock.day(fsrs.due))
                })
            }
            NoteSchedule::Entry(Entry::New) | NoteSchedule::Unreadable => DueTime::Never,
        }
    }

    /// Whether it is due now.
    pub(crate) fn is_due(&self, clock: &Clock) -> bool {
        let reached = match self.due_time(clock) {
            DueTime::Never => false,
            DueTime::At(moment) => moment <= clock.now,
            DueTime::On(day) => day <= clock.today(),
        };
        reached && !self.record.suspended
    }

    /// Whether it is new and not suspended.
    pub(crate) fn is_new(&self) -> bool {
        self.state() == "new" && !self.record.suspended
    }

    /// When it was last reviewed.
    pub(crate) fn last(&self) -> Option<i64> {
        match &self.note_schedule {
            NoteSchedule::Entry(Entry::Fsrs(fsrs)) => fsrs.last,
            _ => Some(self.record.last).filter(|last| *last != 0),
        }
    }

    /// Days between the last review and the due date.
    pub(crate) fn interval(&self) -> Option<f64> {
        match &self.note_schedule {
            NoteSchedule::Absent => self.record.memory.map(|_| f64::from(self.record.interval)),
            NoteSchedule::Entry(Entry::Sm2(sm2)) => Some(sm2.interval),
            NoteSchedule::Entry(Entry::Fsrs(fsrs)) => fsrs.memory.map(|_| f64::from(fsrs.interval)),
            _ => None,
        }
    }

    /// Number of lapses.
    pub(crate) fn lapses(&self) -> u32 {
        match &self.note_schedule {
            NoteSchedule::Entry(Entry::Fsrs(fsrs)) => fsrs.lapses,
            _ => self.record.lapses,
        }
    }

    /// Number of reviews.
    pub(crate) fn reps(&self) -> u32 {
        match &self.note_schedule {
            NoteSchedule::Entry(Entry::Fsrs(fsrs)) => fsrs.reps,
            _ => self.record.reps,
        }
    }
}

/// A note and its cards.
pub(crate) struct CardNote {
    pub(crate) note: Note,
    pub(crate) questions: Vec<Question>,
    pub(crate) cards: Vec<Card>,
    pub(crate) decks: Decks,
    /// Desired retention for its cards.
    pub(crate) retention: Option<f32>,
}

impl CardNote {
    /// The passage of a card.
    pub(crate) fn question(&self, card: &Card) -> &Question {
        &self.questions[card.question]
    }

    /// A card and its siblings. Cards are in the order of their passages.
    pub(crate) fn siblings(&self, question: usize) -> &[Card] {
        let from = self.cards.partition_point(|card| card.question < question);
        let rest = &self.cards[from..];
        &rest[..rest.partition_point(|card| card.question == question)]
    }
}

/// A selection of cards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All cards that belong to a deck.
    All,
    /// The cards of a deck and its subdecks.
    Deck(String),
    /// The cards of a notebook.
    Notebook(String),
    /// All cards of a note, also those without a deck.
    Note(String),
}

/// The cards of a vault.
pub(crate) struct Collection<'v> {
    pub(crate) vault: &'v Vault,
    pub(crate) records: Records<'v>,
    pub(crate) clock: Clock,
    /// Cache by note: the ids of records that match none of its cards.
    orphans: RefCell<HashMap<String, HashSet<String>>>,
}

impl<'v> Collection<'v> {
    /// The cards of a vault.
    pub(crate) fn of(vault: &'v Vault) -> Collection<'v> {
        Collection {
            vault,
            records: Records::of(vault),
            clock: Clock::of(vault),
            orphans: RefCell::default(),
        }
    }

    /// The notes that have cards in a scope, in order of path, with only those cards.
    pub(crate) fn notes(&self, scope: &Scope) -> Result<Vec<CardNote>> {
        let mut found = Vec::new();
        for path in self.candidates(scope)? {
            let mut loaded = match self.vault.read_text(&path) {
                Ok(note) => self.load(note)?,
                // A note that is not text, or was deleted after indexing, has no cards.
                Err(_) if !matches!(scope, Scope::Note(_)) => continue,
                Err(error) => return Err(error),
            };
            loaded.cards.retain(|card| match scope {
                Scope::Note(_) => true,
                Scope::Deck(wanted) => card
                    .deck
                    .as_ref()
                    .is_some_and(|deck| crate::decks::is_in(deck, wanted)),
                Scope::All | Scope::Notebook(_) => card.deck.is_some(),
            });
            if !loaded.cards.is_empty() {
                found.push(loaded);
            }
        }
        Ok(found)
    }

    /// The notes that may have cards.
    fn candidates(&self, scope: &Scope) -> Result<Vec<String>> {
        if let Scope::Note(path) = scope {
            return Ok(vec![path.clone()]);
        }
        let marked = Condition::Any(vec![
            Condition::Tag(TAG.to_owned()),
            Condition::Property(Box::new(PropertyTest {
                key: PROPERTY.to_owned(),
                exists: Some(true),
                ..PropertyTest::default()
            })),
            Condition::Path(format!("{TAG}/**")),
            Condition::Path(format!("**/{TAG}/**")),
        ]);
        let marked = self.vault.find_all(Query {
            condition: Some(marked),
            ..Query::default()
        });
        let mut paths: Vec<String> = marked.map(|note| Ok(note?.path)).collect::<Result<_>>()?;
        let scheduled = self.vault.containing(&[vec![SCHEDULE.to_owned()]])?;
        paths.extend(scheduled.into_iter().filter(|path| is_note(path)));
        if let Scope::Notebook(notebook) = scope {
            paths.retain(|path| notebook_of(path) == notebook);
        }
        paths.sort();
        paths.dedup();
        Ok(paths)
    }

    /// Parses a note and joins its cards with their records.
    pub(crate) fn load(&self, note: Note) -> Result<CardNote> {
        let properties = frontmatter::properties(&note.text).unwrap_or_default();
        let questions = questions(&note.text, is_bold_cloze(&properties));
        let places: Vec<Range<usize>> = questions
            .iter()
            .map(|question| question.range.clone())
            .collect();
        let decks = Decks::of(&note.path, &properties, &tags(&note.text), &places);
        let traits = traits_of(&note.path, &questions);
        let kept = self.records.of_note(&note.path)?;
        let matched = identity::matched(&traits, &kept);
        let mut records: Vec<Option<Record>> = matched
            .iter()
            .map(|at| at.map(|at| kept[at].clone()))
            .collect();
        let mut record_path: Vec<Option<String>> = matched
            .iter()
            .map(|at| at.map(|_| note.path.clone()))
            .collect();
        let mut adopted: HashSet<(String, String)> = HashSet::new();
        for (at, traits) in traits.iter().enumerate() {
            if records[at].is_none()
                && let Some((path, record)) =
                    self.record_from_other_note(&note.path, traits, &adopted)?
            {
                adopted.insert((path.clone(), record.id.clone()));
                record_path[at] = Some(path);
                records[at] = Some(record);
            }
        }
        let ids = identity::ids(&traits, &records);
        let mut cards = Vec::with_capacity(traits.len());
        for (index, question) in questions.iter().enumerate() {
            let deck = decks.deck(&question.range, question.schedule.is_some());
            for sibling in 0..question.sides.len() {
                let at = cards.len();
                let Traits {
                    front, back, block, ..
                } = traits[at].clone();
                let mut record = records[at].take().unwrap_or_default();
                record = Record {
                    id: ids[at].clone(),
                    sibling,
                    block,
                    front,
                    back,
                    ..record
                };
                cards.push(Card {
                    id: ids[at].clone(),
                    path: note.path.clone(),
                    deck: deck.clone(),
                    question: index,
                    sibling,
                    record,
                    record_path: record_path[at].take(),
                    note_schedule: note_schedule(&note.text, question, sibling),
                });
            }
        }
        Ok(CardNote {
            retention: retention(&properties),
            note,
            questions,
            cards,
            decks,
        })
    }

    /// The record of a card that was moved here from another note.
    fn record_from_other_note(
        &self,
        path: &str,
        traits: &Traits,
        adopted: &HashSet<(String, String)>,
    ) -> Result<Option<(String, Record)>> {
        for other in self.records.other_paths(&traits.front, path)? {
            // The records of notes hidden from the caller are never taken over.
            if self.vault.access(&other) == Tier::None {
                continue;
            }
            let orphans = self.orphaned_ids(&other)?;
            let found = self.records.of_note(&other)?.into_iter().find(|record| {
                record.front == traits.front
                    && orphans.contains(&record.id)
                    && !adopted.contains(&(other.clone(), record.id.clone()))
            });
            if let Some(record) = found {
                return Ok(Some((other, record)));
            }
        }
        Ok(None)
    }

    /// The ids of the records of a note that match none of its cards.
    fn orphaned_ids(&self, path: &str) -> Result<HashSet<String>> {
        if let Some(known) = self.orphans.borrow().get(path) {
            return Ok(known.clone());
        }
        let records = self.records.of_note(path)?;
        let mut orphans: HashSet<String> = records.iter().map(|record| record.id.clone()).collect();
        if let Ok(note) = self.vault.read_text(path) {
            let properties = frontmatter::properties(&note.text).unwrap_or_default();
            let traits = traits_of(path, &questions(&note.text, is_bold_cloze(&properties)));
            for at in identity::matched(&traits, &records).into_iter().flatten() {
                orphans.remove(&records[at].id);
            }
        }
        self.orphans
            .borrow_mut()
            .insert(path.to_owned(), orphans.clone());
        Ok(orphans)
    }

    /// The note and the card with this id.
    pub(crate) fn card(&self, handle: &str) -> Result<(CardNote, Card)> {
        let handle = handle.trim();
        let (path, id) = handle.rsplit_once('#').unwrap_or(("", handle));
        let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_id {
            return Err(Error::validation(format!(
                "invalid `card` `{handle}`: pass a card id from `list` or `next`, such as `Spanish.md#1f3a9c0d`"
            )));
        }
        let has = |loaded: &CardNote| {
            loaded
                .cards
                .iter()
                .find(|card| card.id.eq_ignore_ascii_case(id))
                .cloned()
        };
        if !path.is_empty()
            && let Ok(path) = self.vault.find_note(path)
        {
            let loaded = self.load(self.vault.read_text(&path)?)?;
            if let Some(card) = has(&loaded) {
                return Ok((loaded, card));
            }
        }
        // The note may have been renamed.
        for loaded in self.notes(&Scope::All)? {
            if let Some(card) = has(&loaded) {
                return Ok((loaded, card));
            }
        }
        Err(Error::not_found(format!(
            "no card `{handle}`: `list` returns the current cards"
        )))
    }

    /// Saves the record of a card under its note.
    pub(crate) fn save_record(&self, card: &Card, record: Record) -> Result<()> {
        if let Some(other) = card
            .record_path
            .as_ref()
            .filter(|other| **other != card.path)
        {
            self.records.put(other, &card.id, None)?;
        }
        self.records.put(&card.path, &card.id, Some(record))
    }
}

fn traits_of(path: &str, questions: &[Question]) -> Vec<Traits> {
    let of_question = |question: &Question| -> Vec<Traits> {
        let sides = question.sides.iter().enumerate();
        let traits = |(at, side): (usize, &crate::cards::Side)| {
            Traits::of(&side.front, &side.back, question.block.as_ref(), at)
        };
        sides.map(traits).collect()
    };
    let mut traits: Vec<Traits> = questions.iter().flat_map(of_question).collect();
    identity::assign_ids(path, &mut traits);
    traits
}

fn note_schedule(note: &str, question: &Question, sibling: usize) -> NoteSchedule {
    let Some(comment) = &question.schedule else {
        return NoteSchedule::Absent;
    };
    match comment.entry(note, sibling) {
        None => NoteSchedule::Entry(Entry::New),
        Some(Ok(entry)) => NoteSchedule::Entry(entry),
        Some(Err(())) => NoteSchedule::Unreadable,
    }
}

/// Whether bold text is a cloze in a note: `cloze: bold`.
pub(crate) fn is_bold_cloze(properties: &Map<String, Value>) -> bool {
    let says = |value: &Value| match value {
        Value::String(text) => text.to_ascii_lowercase().contains("bold"),
        Value::Array(items) => items.iter().any(|item| {
            item.as_str()
                .is_some_and(|text| text.eq_ignore_ascii_case("bold"))
        }),
        _ => false,
    };
    properties
        .iter()
        .any(|(key, value)| key.eq_ignore_ascii_case("cloze") && says(value))
}

/// The desired retention set in a note: `retention: 0.85`.
fn retention(properties: &Map<String, Value>) -> Option<f32> {
    let value = properties.get("retention")?.as_f64()? as f32;
    Some(value).filter(|value| RETENTIONS.contains(value))
}
