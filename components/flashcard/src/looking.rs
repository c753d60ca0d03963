//! Looking at cards: decks, lists, one card, and which comes next.

use std::collections::BTreeMap;

use notehost_sdk::index::{Building, building, unfinished};
use notehost_sdk::pages::{Span, counted, more};
use notehost_sdk::prelude::*;
use notehost_sdk::scheduling::Scheduler;
use notehost_sdk::{fold_name, notebook_of};

use crate::collection::{Card, Collection, Scope};
use crate::decks::normal;
use crate::telling::{CardItem, Previews, item, line, previews, whole};

/// List the decks of flashcards: how many cards each has, how many are due, how many new.
///
/// Example: `{}`
#[args]
pub struct ListDecks {
    /// How many, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// Decks.
#[reply]
pub struct DeckPage {
    /// By name. A deck's numbers include those of the decks below it.
    pub items: Vec<DeckItem>,
    /// For the next page.
    pub next_cursor: Option<String>,
    /// How many there are.
    pub total: u64,
    /// Only while the index is being built.
    pub index: Option<Building>,
}

/// A deck.
#[reply]
#[derive(Default)]
pub struct DeckItem {
    /// Its name: `languages/spanish` for `#flashcards/languages/spanish`.
    pub deck: String,
    /// How many cards it has.
    pub cards: u64,
    /// How many are to be asked now.
    pub due: u64,
    /// How many were never asked.
    pub new: u64,
    /// How many are suspended.
    pub suspended: u64,
}

impl Action for ListDecks {
    type Output = DeckPage;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<DeckPage> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let collection = Collection::of(vault);
        let mut decks: BTreeMap<String, DeckItem> = BTreeMap::new();
        for loaded in collection.notes(&Scope::All)? {
            for card in &loaded.cards {
                let Some(deck) = &card.deck else { continue };
                let ends = deck
                    .match_indices('/')
                    .map(|(at, _)| at)
                    .chain([deck.len()]);
                for end in ends {
                    let name = &deck[..end];
                    let found = decks.entry(fold_name(name)).or_insert_with(|| DeckItem {
                        deck: name.to_owned(),
                        ..DeckItem::default()
                    });
                    found.cards += 1;
                    found.due += u64::from(card.is_due(&collection.clock));
                    found.new += u64::from(card.is_new());
                    found.suspended += u64::from(card.record.suspended);
                }
            }
        }
        let total = decks.len() as u64;
        let (items, next_cursor) = span.of(decks.into_values().collect());
        Ok(DeckPage {
            items,
            next_cursor,
            total,
            index: building(vault),
        })
    }

    fn text(output: &DeckPage) -> String {
        let mut text = counted(output.total, "deck");
        for deck in &output.items {
            text.push_str(&format!(
                "\n- {}: {}, {} due, {} new",
                deck.deck,
                counted(deck.cards, "card"),
                deck.due,
                deck.new
            ));
        }
        text + &more(output.next_cursor.as_ref()) + &unfinished(output.index.as_ref())
    }
}

/// List flashcards of the vault, a deck, a notebook or a note; all, or those due, new, learned.
///
/// Example: `{"deck": "coffee", "state": "due"}`
/// Example (of a note): `{"path": "Coffee/Brewing flashcards"}`
#[args]
pub struct List {
    /// Where (default: what the arguments below name, else `all`):
    pub scope: Option<Where>,
    /// The deck; decks below it are in it.
    pub deck: Option<String>,
    /// The notebook.
    pub notebook: Option<String>,
    /// The note.
    pub path: Option<String>,
    /// Which (default every):
    pub state: Option<State>,
    /// How many, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// Where to look.
#[args]
#[derive(Copy, PartialEq, Eq)]
pub enum Where {
    /// everywhere.
    All,
    /// in `deck`.
    Deck,
    /// in `notebook`.
    Notebook,
    /// in the note `path`.
    Note,
}

/// Which cards.
#[args]
#[derive(Copy, PartialEq, Eq)]
pub enum State {
    /// to be asked now.
    Due,
    /// never asked.
    New,
    /// asked before.
    Learned,
    /// suspended.
    Suspended,
}

/// Cards.
#[reply]
pub struct CardPage {
    /// In order of path and line.
    pub items: Vec<CardItem>,
    /// For the next page.
    pub next_cursor: Option<String>,
    /// How many there are.
    pub total: u64,
    /// Only while the index is being built.
    pub index: Option<Building>,
}

/// The scope that arguments name.
pub(crate) fn scope(
    vault: &Vault,
    place: Option<Where>,
    deck: Option<&str>,
    notebook: Option<&str>,
    path: Option<&str>,
) -> Result<Scope> {
    let named = [
        (Where::Deck, deck),
        (Where::Notebook, notebook),
        (Where::Note, path),
    ];
    let mut given = named
        .iter()
        .filter_map(|(place, name)| Some((*place, (*name)?)));
    let place = match (place, given.next(), given.next()) {
        (Some(place), ..) => place,
        (None, Some((place, _)), None) => place,
        (None, None, _) => Where::All,
        (None, Some(_), Some(_)) => {
            return Err(Error::validation(
                "`deck`, `notebook` and `path` exclude each other: name one, or say with `scope` which counts",
            ));
        }
    };
    let lacks = |word: &str, field: &str| {
        Error::validation(format!("`scope` is `{word}`: say which with `{field}`"))
    };
    match place {
        Where::All => Ok(Scope::All),
        Where::Deck => {
            let deck = normal(deck.ok_or_else(|| lacks("deck", "deck"))?);
            if deck.is_empty() {
                return Err(Error::validation(
                    "`deck` is empty: `decks` tells which there are",
                ));
            }
            Ok(Scope::Deck(deck))
        }
        Where::Notebook => {
            let notebook = notebook
                .ok_or_else(|| lacks("notebook", "notebook"))?
                .trim_end_matches('/');
            let is_there = notebook == "." || !notebook.is_empty() && vault.stat(notebook).is_ok();
            if !is_there || notebook.contains('/') {
                return Err(Error::not_found(format!("no notebook `{notebook}`")));
            }
            let spelt = if notebook == "." {
                notebook.to_owned()
            } else {
                vault.stat(notebook)?.path
            };
            Ok(Scope::Notebook(
                notebook_of(&format!("{spelt}/")).to_owned(),
            ))
        }
        Where::Note => Ok(Scope::Note(
            vault.find_note(path.ok_or_else(|| lacks("note", "path"))?)?,
        )),
    }
}

impl Action for List {
    type Output = CardPage;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<CardPage> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let scope = scope(
            vault,
            self.scope,
            self.deck.as_deref(),
            self.notebook.as_deref(),
            self.path.as_deref(),
        )?;
        let collection = Collection::of(vault);
        let fits = |card: &Card| match self.state {
            None => true,
            Some(State::Due) => card.is_due(&collection.clock),
            Some(State::New) => card.is_new(),
            Some(State::Learned) => !matches!(card.state(), "new" | "unreadable"),
            Some(State::Suspended) => card.record.suspended,
        };
        let mut items = Vec::new();
        let mut total = 0;
        let notes = collection.notes(&scope)?;
        if notes.is_empty()
            && let Scope::Deck(deck) = &scope
        {
            return Err(no_deck(&collection, deck)?);
        }
        for loaded in &notes {
            for card in loaded.cards.iter().filter(|card| fits(card)) {
                if (span.begin..span.begin.saturating_add(span.limit)).contains(&total) {
                    items.push(item(loaded, card, &collection));
                }
                total += 1;
            }
        }
        Ok(CardPage {
            next_cursor: span.next(items.len(), total as u64),
            items,
            total: total as u64,
            index: building(vault),
        })
    }

    fn text(output: &CardPage) -> String {
        let mut text = counted(output.total, "card");
        for item in &output.items {
            text.push('\n');
            text.push_str(&line(item));
        }
        text + &more(output.next_cursor.as_ref()) + &unfinished(output.index.as_ref())
    }
}

/// The refusal of a deck that is not there, with those that are.
pub(crate) fn no_deck(collection: &Collection<'_>, deck: &str) -> Result<Error> {
    let notes = collection.notes(&Scope::All)?;
    let mut known: Vec<&String> = notes
        .iter()
        .flat_map(|loaded| &loaded.cards)
        .filter_map(|card| card.deck.as_ref())
        .collect();
    known.sort();
    known.dedup();
    let told: Vec<String> = known
        .iter()
        .take(10)
        .map(|deck| format!("`{deck}`"))
        .collect();
    Ok(Error::not_found(match told.as_slice() {
        [] => format!("no deck `{deck}`: there are no cards yet; `create` makes some"),
        told => format!("no deck `{deck}`; there is {}", told.join(", ")),
    }))
}

/// Read one flashcard: question, answer, schedule, what is known of how well it is remembered.
///
/// Example: `{"card": "Coffee/Brewing flashcards.md#4b9ce0bb"}`
#[args]
pub struct Get {
    /// The card, as `list` or `next` tells it.
    pub card: String,
}

/// A card and all that is known of it.
#[reply]
pub struct CardDetails {
    /// The card.
    pub card: CardItem,
    /// Names the content of its note.
    pub etag: String,
    /// How it is written: `line`, `lines` or `cloze`.
    pub shape: String,
    /// Where its schedule is kept: `note` or `store`.
    pub kept_in: String,
    /// `fsrs` or `sm2`.
    pub scheduler: String,
    /// How often it was answered.
    pub reps: u32,
    /// How often it was forgotten.
    pub lapses: u32,
    /// After how many days it is remembered with 90 %.
    pub stability: Option<f64>,
    /// From 1 (easy) to 10.
    pub difficulty: Option<f64>,
    /// How likely it is remembered now, of 1.
    pub retrievability: Option<f64>,
    /// When it would be asked again after each answer.
    pub answers: Option<Previews>,
    /// The handles of the other cards of its passage.
    pub siblings: Vec<String>,
}

impl Action for Get {
    type Output = CardDetails;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<CardDetails> {
        let collection = Collection::of(vault);
        let (loaded, card) = collection.card(&self.card)?;
        let question = loaded.question(&card);
        let days = card
            .last()
            .map_or(0, |last| collection.clock.days_since(last));
        let memory = card.memory();
        let siblings = loaded
            .cards
            .iter()
            .filter(|other| other.question == card.question && other.id != card.id);
        let in_sm2 = question
            .schedule
            .as_ref()
            .is_some_and(|comment| !comment.is_fsrs(&loaded.note.text));
        Ok(CardDetails {
            card: whole(&loaded, &card, &collection),
            etag: loaded.note.etag.clone(),
            shape: question.shape.word().to_owned(),
            kept_in: if question.schedule.is_some() {
                "note"
            } else {
                "store"
            }
            .to_owned(),
            scheduler: if in_sm2 { "sm2" } else { "fsrs" }.to_owned(),
            reps: card.reps(),
            lapses: card.lapses(),
            stability: memory.map(|memory| rounded(memory.stability)),
            difficulty: memory.map(|memory| rounded(memory.difficulty)),
            retrievability: memory.map(|memory| rounded(Scheduler::retrievability(memory, days))),
            answers: previews(&loaded, &card, &collection)?,
            siblings: siblings.map(Card::handle).collect(),
        })
    }
}

/// A number as it is told: with as many digits as mean something.
pub(crate) fn rounded(number: f32) -> f64 {
    (f64::from(number) * 1000.0).round() / 1000.0
}
