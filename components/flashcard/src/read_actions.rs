//! The read actions `decks`, `list` and `get`.

use std::collections::BTreeMap;

use notehost_sdk::index::{Building, building};
use notehost_sdk::pages::{Span, counted};
use notehost_sdk::prelude::*;
use notehost_sdk::scheduling::Scheduler;
use notehost_sdk::{fold_name, notebook_of, quoted};

use crate::collection::{Card, CardNote, Collection, Scope};
use crate::decks::normal;
use crate::reply::{CardItem, Previews, full_item, item, line, previews};

/// The maximum number of decks in an error.
const MAX_LISTED_DECKS: usize = 10;

/// List the flashcard decks: how many cards each has, how many are due, how many are new.
///
/// Example: `{}`
#[args]
pub struct ListDecks {
    /// Page size, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// A page of decks.
#[reply]
pub struct DeckPage {
    /// Sorted by name. The numbers of a deck include its subdecks.
    pub items: Vec<DeckItem>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Total number on all pages.
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
    /// Number of cards.
    pub cards: u64,
    /// Number of cards due now.
    pub due: u64,
    /// Number of new cards.
    pub new: u64,
    /// Number of suspended cards.
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
        ReplyText::new(counted(output.total, "deck"))
            .lines(&output.items, |deck| {
                format!(
                    "- {}: {}, {} due, {} new",
                    deck.deck,
                    counted(deck.cards, "card"),
                    deck.due,
                    deck.new
                )
            })
            .more(&output.next_cursor)
            .unfinished(&output.index)
            .into()
    }
}

/// List the flashcards of the vault, a deck, a notebook or a note; filter by state: due, new, learned, suspended.
///
/// Example: `{"deck": "coffee", "state": "due"}`
/// Example (of a note): `{"path": "Coffee/Brewing flashcards"}`
#[args]
pub struct List {
    /// Scope (default: given by `deck`, `notebook` or `path`, else `all`):
    pub scope: Option<Where>,
    /// The deck, including subdecks.
    pub deck: Option<String>,
    /// The notebook.
    pub notebook: Option<String>,
    /// The note.
    pub path: Option<String>,
    /// Only cards in this state (default: all):
    pub state: Option<State>,
    /// Page size, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// The scope of a list.
#[args]
#[derive(Copy, PartialEq, Eq)]
pub enum Where {
    /// the whole vault.
    All,
    /// the cards of `deck`.
    Deck,
    /// the cards of `notebook`.
    Notebook,
    /// the cards of the note `path`.
    Note,
}

/// The state of a card.
#[args]
#[derive(Copy, PartialEq, Eq)]
pub enum State {
    /// due now.
    Due,
    /// never reviewed.
    New,
    /// reviewed before.
    Learned,
    /// suspended.
    Suspended,
}

/// A page of cards.
#[reply]
pub struct CardPage {
    /// Sorted by path and line.
    pub items: Vec<CardItem>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Total number on all pages.
    pub total: u64,
    /// Only while the index is being built.
    pub index: Option<Building>,
}

/// The scope given by the arguments.
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
    let mut passed = named
        .iter()
        .filter_map(|(place, name)| Some((*place, (*name)?)));
    let place = match (place, passed.next(), passed.next()) {
        (Some(place), ..) => place,
        (None, Some((place, _)), None) => place,
        (None, None, _) => Where::All,
        (None, Some(_), Some(_)) => {
            return Err(Error::validation(
                "`deck`, `notebook` and `path` are mutually exclusive: pass one, or select one with `scope`",
            ));
        }
    };
    let lacks = |word: &str, field: &str| {
        Error::validation(format!("`scope` is `{word}`, which requires `{field}`"))
    };
    match place {
        Where::All => Ok(Scope::All),
        Where::Deck => {
            let deck = normal(deck.ok_or_else(|| lacks("deck", "deck"))?);
            if deck.is_empty() {
                return Err(Error::validation(
                    "`deck` is empty: `decks` lists the decks",
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
        let notes = notes_in(&collection, &scope)?;
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
        ReplyText::new(counted(output.total, "card"))
            .lines(&output.items, line)
            .more(&output.next_cursor)
            .unfinished(&output.index)
            .into()
    }
}

/// The notes with cards in a scope. A deck must have cards.
pub(crate) fn notes_in(collection: &Collection<'_>, scope: &Scope) -> Result<Vec<CardNote>> {
    let notes = collection.notes(scope)?;
    match scope {
        Scope::Deck(deck) if notes.is_empty() => Err(no_deck(collection, deck)?),
        _ => Ok(notes),
    }
}

/// The error for an unknown deck, listing the known ones.
pub(crate) fn no_deck(collection: &Collection<'_>, deck: &str) -> Result<Error> {
    let notes = collection.notes(&Scope::All)?;
    let mut known: Vec<&String> = notes
        .iter()
        .flat_map(|loaded| &loaded.cards)
        .filter_map(|card| card.deck.as_ref())
        .collect();
    known.sort();
    known.dedup();
    Ok(Error::not_found(match known.is_empty() {
        true => format!("no deck `{deck}`: there are no cards yet, `create` adds cards"),
        false => format!(
            "no deck `{deck}`; known decks: {}",
            quoted(known.iter().take(MAX_LISTED_DECKS))
        ),
    }))
}

/// Read one flashcard: question, answer, schedule and memory state (stability, difficulty, retrievability).
///
/// Example: `{"card": "Coffee/Brewing flashcards.md#4b9ce0bb"}`
#[args]
pub struct Get {
    /// The card id from `list` or `next`.
    pub card: String,
}

/// A card with its schedule and memory state.
#[reply]
pub struct CardDetails {
    /// The card.
    pub card: CardItem,
    /// Etag of its note.
    pub etag: String,
    /// Notation: `line`, `lines` or `cloze`.
    pub shape: String,
    /// Where its schedule is stored: `note` or `store`.
    pub kept_in: String,
    /// `fsrs` or `sm2`.
    pub scheduler: String,
    /// Number of reviews.
    pub reps: u32,
    /// Number of lapses.
    pub lapses: u32,
    /// FSRS stability: days until retrievability drops to 90 %.
    pub stability: Option<f64>,
    /// FSRS difficulty, 1 (easy) to 10.
    pub difficulty: Option<f64>,
    /// Probability of recall now, 0 to 1.
    pub retrievability: Option<f64>,
    /// Next interval for each rating.
    pub answers: Option<Previews>,
    /// Ids of the other cards from the same text.
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
            card: full_item(&loaded, &card, &collection),
            etag: loaded.note.etag.clone(),
            shape: question.shape.as_str().to_owned(),
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

/// Rounds a number to three decimal places.
pub(crate) fn rounded(number: f32) -> f64 {
    (f64::from(number) * 1000.0).round() / 1000.0
}
