//! The cards of the vault, as far as the caller may see its notes: found in the notes, joined with what is kept of them.

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

/// How many notes the index is asked for at once.
const AT_ONCE: u32 = 500;

/// A card.
#[derive(Debug, Clone)]
pub(crate) struct Card {
    pub(crate) id: String,
    pub(crate) path: String,
    pub(crate) deck: Option<String>,
    /// The place of its passage among those of the note.
    pub(crate) question: usize,
    pub(crate) sibling: usize,
    /// What is kept of it; made up where nothing is.
    pub(crate) record: Record,
    /// The note under which it is kept, if it is.
    pub(crate) kept_at: Option<String>,
    /// Its schedule in the note.
    pub(crate) written: Written,
}

/// What a note says of when a card is asked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Written {
    /// Nothing: its schedule is kept in the store.
    Nothing,
    /// This.
    Entry(Entry),
    /// Something that cannot be read.
    Unreadable,
}

/// When a card is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum When {
    /// It is new.
    Never,
    /// At a moment.
    At(i64),
    /// On a day.
    On(i64),
}

impl Card {
    /// How callers name it.
    pub(crate) fn handle(&self) -> String {
        format!("{}#{}", self.path, self.id)
    }

    /// What FSRS knows of it.
    pub(crate) fn memory(&self) -> Option<&Memory> {
        match &self.written {
            Written::Nothing => self.record.memory.as_ref(),
            Written::Entry(Entry::Fsrs(fsrs)) => fsrs.memory.as_ref(),
            _ => None,
        }
    }

    /// `new`, `learning`, `review`, `relearning`, or `unreadable`.
    pub(crate) fn state(&self) -> &'static str {
        match &self.written {
            Written::Entry(Entry::Sm2(_)) => Phase::Review.word(),
            Written::Unreadable => "unreadable",
            _ => self.memory().map_or("new", |memory| memory.phase.word()),
        }
    }

    /// When it is asked.
    pub(crate) fn when(&self, clock: &Clock) -> When {
        let by_phase = |memory: &Memory, at: i64, on: i64| match memory.phase {
            Phase::Review => When::On(on),
            _ => When::At(at),
        };
        match &self.written {
            Written::Nothing => self.record.memory.as_ref().map_or(When::Never, |memory| {
                by_phase(memory, self.record.due, self.record.day)
            }),
            Written::Entry(Entry::Sm2(sm2)) => When::On(sm2.due),
            Written::Entry(Entry::Fsrs(fsrs)) => {
                let memory = fsrs.memory.as_ref();
                memory.map_or(When::Never, |memory| {
                    by_phase(memory, fsrs.due, clock.day(fsrs.due))
                })
            }
            Written::Entry(Entry::New) | Written::Unreadable => When::Never,
        }
    }

    /// Whether it is to be asked now.
    pub(crate) fn is_due(&self, clock: &Clock) -> bool {
        let reached = match self.when(clock) {
            When::Never => false,
            When::At(moment) => moment <= clock.now,
            When::On(day) => day <= clock.today(),
        };
        reached && !self.record.suspended
    }

    /// Whether it was never asked, and may be.
    pub(crate) fn is_new(&self) -> bool {
        self.state() == "new" && !self.record.suspended
    }

    /// When it was last answered.
    pub(crate) fn last(&self) -> Option<i64> {
        match &self.written {
            Written::Entry(Entry::Fsrs(fsrs)) => fsrs.last,
            _ => Some(self.record.last).filter(|last| *last != 0),
        }
    }

    /// The days between the last answer and the day it is asked.
    pub(crate) fn interval(&self) -> Option<f64> {
        match &self.written {
            Written::Nothing => self.record.memory.map(|_| f64::from(self.record.interval)),
            Written::Entry(Entry::Sm2(sm2)) => Some(sm2.interval),
            Written::Entry(Entry::Fsrs(fsrs)) => fsrs.memory.map(|_| f64::from(fsrs.interval)),
            _ => None,
        }
    }

    /// How often it was forgotten.
    pub(crate) fn lapses(&self) -> u32 {
        match &self.written {
            Written::Entry(Entry::Fsrs(fsrs)) => fsrs.lapses,
            _ => self.record.lapses,
        }
    }

    /// How often it was answered.
    pub(crate) fn reps(&self) -> u32 {
        match &self.written {
            Written::Entry(Entry::Fsrs(fsrs)) => fsrs.reps,
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
    /// What share of its cards is to be remembered.
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

/// Which cards are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All that are marked as cards.
    All,
    /// Those of a deck and the decks below it.
    Deck(String),
    /// Those of a notebook.
    Notebook(String),
    /// All of a note, marked or not.
    Note(String),
}

/// The cards of a vault.
pub(crate) struct Collection<'v> {
    pub(crate) vault: &'v Vault,
    pub(crate) records: Records<'v>,
    pub(crate) clock: Clock,
    /// Of notes that were looked into: the ids of records that none of their cards has.
    left: RefCell<HashMap<String, HashSet<String>>>,
}

impl<'v> Collection<'v> {
    /// The cards of a vault.
    pub(crate) fn of(vault: &'v Vault) -> Collection<'v> {
        Collection {
            vault,
            records: Records::of(vault),
            clock: Clock::of(vault),
            left: RefCell::default(),
        }
    }

    /// The notes that have cards in a scope, in order of path, with only those cards.
    pub(crate) fn notes(&self, scope: &Scope) -> Result<Vec<CardNote>> {
        let mut found = Vec::new();
        for path in self.candidates(scope)? {
            let mut loaded = match self.vault.read_text(&path) {
                Ok(note) => self.load(note)?,
                // A note that is not text, or that went away since the index was made, has no cards.
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
        let mut paths: Vec<String> = Vec::new();
        loop {
            let page = self.vault.find(&Query {
                condition: Some(marked.clone()),
                offset: paths.len() as u64,
                limit: AT_ONCE,
                ..Query::default()
            })?;
            let ended =
                page.items.is_empty() || paths.len() + page.items.len() >= page.total as usize;
            paths.extend(page.items.into_iter().map(|item| item.path));
            if ended {
                break;
            }
        }
        let scheduled = self.vault.containing(&[vec![SCHEDULE.to_owned()]])?;
        paths.extend(scheduled.into_iter().filter(|path| is_note(path)));
        if let Scope::Notebook(notebook) = scope {
            paths.retain(|path| notebook_of(path) == notebook);
        }
        paths.sort();
        paths.dedup();
        Ok(paths)
    }

    /// A note with all that looks like a card in it.
    pub(crate) fn load(&self, note: Note) -> Result<CardNote> {
        let properties = frontmatter::properties(&note.text).unwrap_or_default();
        let questions = questions(&note.text, asks_for_bold(&properties));
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
        let mut kept_at: Vec<Option<String>> = matched
            .iter()
            .map(|at| at.map(|_| note.path.clone()))
            .collect();
        let mut adopted: HashSet<(String, String)> = HashSet::new();
        for (at, traits) in traits.iter().enumerate() {
            if records[at].is_none()
                && let Some((path, record)) = self.moved(&note.path, traits, &adopted)?
            {
                adopted.insert((path.clone(), record.id.clone()));
                kept_at[at] = Some(path);
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
                    kept_at: kept_at[at].take(),
                    written: written(&note.text, question, sibling),
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

    /// A record of a card that stood in another note and stands there no longer.
    fn moved(
        &self,
        path: &str,
        traits: &Traits,
        adopted: &HashSet<(String, String)>,
    ) -> Result<Option<(String, Record)>> {
        for other in self.records.elsewhere(&traits.front, path)? {
            // A note that this caller may not see keeps its cards, whether it is there or not.
            if self.vault.access(&other) == Tier::None {
                continue;
            }
            let left = self.left_in(&other)?;
            let found = self.records.of_note(&other)?.into_iter().find(|record| {
                record.front == traits.front
                    && left.contains(&record.id)
                    && !adopted.contains(&(other.clone(), record.id.clone()))
            });
            if let Some(record) = found {
                return Ok(Some((other, record)));
            }
        }
        Ok(None)
    }

    /// The ids of a note's records that none of its cards has.
    fn left_in(&self, path: &str) -> Result<HashSet<String>> {
        if let Some(known) = self.left.borrow().get(path) {
            return Ok(known.clone());
        }
        let records = self.records.of_note(path)?;
        let mut left: HashSet<String> = records.iter().map(|record| record.id.clone()).collect();
        if let Ok(note) = self.vault.read_text(path) {
            let properties = frontmatter::properties(&note.text).unwrap_or_default();
            let traits = traits_of(path, &questions(&note.text, asks_for_bold(&properties)));
            for at in identity::matched(&traits, &records).into_iter().flatten() {
                left.remove(&records[at].id);
            }
        }
        self.left.borrow_mut().insert(path.to_owned(), left.clone());
        Ok(left)
    }

    /// The note and the card that a handle names.
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
        // The note may have another name by now.
        for loaded in self.notes(&Scope::All)? {
            if let Some(card) = has(&loaded) {
                return Ok((loaded, card));
            }
        }
        Err(Error::not_found(format!(
            "no card `{handle}`: `list` returns the current cards"
        )))
    }

    /// Keep what is known of a card, at its note.
    pub(crate) fn keep(&self, card: &Card, record: Record) -> Result<()> {
        if let Some(other) = card.kept_at.as_ref().filter(|other| **other != card.path) {
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
    identity::name(path, &mut traits);
    traits
}

fn written(note: &str, question: &Question, sibling: usize) -> Written {
    let Some(comment) = &question.schedule else {
        return Written::Nothing;
    };
    match comment.entry(note, sibling) {
        None => Written::Entry(Entry::New),
        Some(Ok(entry)) => Written::Entry(entry),
        Some(Err(())) => Written::Unreadable,
    }
}

/// Whether a note wants its bold text to be guessed: `cloze: bold`.
pub(crate) fn asks_for_bold(properties: &Map<String, Value>) -> bool {
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

/// What share of its cards a note wants to be remembered: `retention: 0.85`.
fn retention(properties: &Map<String, Value>) -> Option<f32> {
    let value = properties.get("retention")?.as_f64()? as f32;
    Some(value).filter(|value| RETENTIONS.contains(value))
}
