//! The actions `create`, `remove`, `suspend` and `resume`.

use std::ops::Range;

use notehost_sdk::prelude::*;
use notehost_sdk::text::newline::Newline;
use notehost_sdk::text::splice::Splice;
use notehost_sdk::text::{body, frontmatter};
use notehost_sdk::{Note, is_note};

use crate::cards::{Question, questions};
use crate::collection::{CardNote, Collection, Scope, is_bold_cloze};
use crate::decks::{TAG, normal, tag_of};
use crate::reply::{CardItem, full_item, item, line};
use crate::review::{ChangedCard, spliced};

/// Maximum number of cards per call.
const MAX_CARDS: usize = 100;
/// The folder of notes created for decks.
const FOLDER: &str = "Flashcards";
/// A card appended to another one to check that the other one ends.
const AFTER: &str = "after::it";

/// Add flashcards to a note or a deck; a missing note is created.
///
/// Example: `{"path": "Coffee/Brewing flashcards", "cards": [{"front": "Ratio of coffee to water", "back": "1 to
/// 16"}]}`
/// Example (a cloze, in a deck): `{"deck": "coffee", "cards": [{"front": "The bloom takes ==45== seconds."}]}`
#[args]
pub struct Create {
    /// The note; created if it ends in `.md` and does not exist.
    pub path: Option<String>,
    /// The deck, such as `languages/spanish`.
    pub deck: Option<String>,
    /// The cards, up to 100.
    pub cards: Vec<NewCard>,
}

/// A card to create.
#[args]
pub struct NewCard {
    /// The question; or, without `back`, a text with clozes: `==cloze==`, `{{cloze}}`.
    pub front: String,
    /// The answer.
    pub back: Option<String>,
    /// Also create the reverse card (answer to question).
    pub both: Option<bool>,
}

/// The created cards.
#[reply]
pub struct CreatedCards {
    /// The note they are in.
    pub path: String,
    /// The cards.
    pub items: Vec<CardItem>,
}

impl Action for Create {
    type Output = CreatedCards;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<CreatedCards> {
        if self.cards.is_empty() || self.cards.len() > MAX_CARDS {
            return Err(Error::validation(format!(
                "`cards` has {} cards, 1 to {MAX_CARDS} are allowed",
                self.cards.len()
            )));
        }
        let deck = self.deck.as_deref().map(normal);
        if deck.as_ref().is_some_and(String::is_empty) {
            return Err(Error::validation(
                "`deck` is empty: pass a deck such as `languages/spanish`",
            ));
        }
        let collection = Collection::of(vault);
        let target = target(&collection, self.path.as_deref(), deck.as_deref())?;
        let loaded = collection.load(target.note.clone())?;
        let tag = tag_for(&loaded, deck.as_deref())?;
        let bold = is_bold_cloze(&frontmatter::properties(&loaded.note.text).unwrap_or_default());
        let mut passages = Vec::new();
        for (at, card) in self.cards.iter().enumerate() {
            let passage = passage(card, tag.as_deref(), bold);
            passages.push(
                passage.map_err(|reason| Error::validation(format!("`cards[{at}]`: {reason}")))?,
            );
        }
        let text = with_passages(&loaded, &passages, bold)?;
        let etag = match target.is_new {
            true => vault.create(&loaded.note.path, text.as_bytes())?,
            false => vault.write(&loaded.note.path, text.as_bytes(), Some(&loaded.note.etag))?,
        };
        let old = loaded.questions.len();
        let path = loaded.note.path;
        let loaded = collection.load(Note {
            path: path.clone(),
            text,
            etag,
        })?;
        let new = loaded.cards.iter().filter(|card| card.question >= old);
        let items = new.map(|card| item(&loaded, card, &collection)).collect();
        Ok(CreatedCards { path, items })
    }

    fn text(output: &CreatedCards) -> String {
        let lines: Vec<String> = output.items.iter().map(line).collect();
        format!("in `{}`:\n{}", output.path, lines.join("\n"))
    }
}

/// The note to which cards are added.
struct Target {
    note: Note,
    is_new: bool,
}

fn target(collection: &Collection<'_>, path: Option<&str>, deck: Option<&str>) -> Result<Target> {
    let vault = collection.vault;
    let existing = |path: &str| {
        Ok(Target {
            note: vault.read_text(path)?,
            is_new: false,
        })
    };
    let new = |path: &str, deck: &str| Target {
        note: Note {
            path: path.to_owned(),
            text: deck_frontmatter(deck),
            etag: String::new(),
        },
        is_new: true,
    };
    match (path, deck) {
        (Some(path), _) => match vault.find_note(path) {
            Ok(found) => existing(&found),
            Err(error) if error.kind() == Code::NotFound && is_note(path) => {
                Ok(new(path, deck.unwrap_or(TAG)))
            }
            Err(error) => Err(error),
        },
        (None, Some(deck)) => {
            let is_its = |loaded: &CardNote| {
                let own = loaded.decks.of_note();
                own.is_some_and(|own| notehost_sdk::fold_name(own) == notehost_sdk::fold_name(deck))
                    && vault.access(&loaded.note.path) >= Tier::Write
            };
            if let Some(found) = collection
                .notes(&Scope::Deck(deck.to_owned()))?
                .into_iter()
                .find(is_its)
            {
                return Ok(Target {
                    note: found.note,
                    is_new: false,
                });
            }
            let path = format!("{FOLDER}/{}.md", file_name(deck));
            match vault.stat(&path) {
                Ok(entry) => existing(&entry.path),
                Err(_) => Ok(new(&path, deck)),
            }
        }
        (None, None) => Err(Error::validation(
            "no target: pass `path` (a note) or `deck`",
        )),
    }
}

/// A deck as a path, without characters that file systems or links do not allow.
pub(crate) fn file_name(deck: &str) -> String {
    let cleaned = |part: &str| {
        let part: String = part
            .chars()
            .map(|letter| {
                if letter.is_control() || r#"\:*?"<>|#^[]"#.contains(letter) {
                    '-'
                } else {
                    letter
                }
            })
            .collect();
        let part = part
            .trim()
            .trim_start_matches('.')
            .trim_end_matches('.')
            .trim()
            .to_owned();
        if part.is_empty() {
            "deck".to_owned()
        } else {
            part
        }
    };
    deck.split('/').map(cleaned).collect::<Vec<_>>().join("/")
}

/// The frontmatter of a new note of a deck.
pub(crate) fn deck_frontmatter(deck: &str) -> String {
    match tag_of(deck) {
        Some(tag) => format!("---\ntags:\n  - {tag}\n---\n"),
        None => format!("---\ndeck: {}\n---\n", json!(deck)),
    }
}

/// The tag that assigns new cards to a deck, unless the note already does.
fn tag_for(loaded: &CardNote, deck: Option<&str>) -> Result<Option<String>> {
    let known = loaded.decks.deck_at_end(loaded.note.text.len());
    let same = |known: &String| {
        deck.is_none_or(|deck| notehost_sdk::fold_name(known) == notehost_sdk::fold_name(deck))
    };
    if known.as_ref().is_some_and(same) {
        return Ok(None);
    }
    let Some(deck) = deck else {
        return Ok(Some(TAG.to_owned()));
    };
    if known.is_none()
        && notehost_sdk::fold_name(deck) == notehost_sdk::fold_name(loaded.decks.folder())
    {
        return Ok(Some(TAG.to_owned()));
    }
    tag_of(deck).map(Some).ok_or_else(|| {
        Error::validation(format!(
            "the deck `{deck}` cannot be written as a tag in `{}`: omit `path` to create a note for the deck",
            loaded.note.path
        ))
    })
}

/// Formats a card as a passage and parses it to verify that it yields the same card.
pub(crate) fn passage(
    card: &NewCard,
    tag: Option<&str>,
    bold: bool,
) -> std::result::Result<String, String> {
    let front = without_blank_lines(&card.front);
    let back = card.back.as_deref().map(without_blank_lines);
    if front.is_empty() || back.as_ref().is_some_and(String::is_empty) {
        return Err("`front` or `back` is empty".to_owned());
    }
    let both = card.both.unwrap_or(false);
    let tagged = tag.map_or_else(|| front.clone(), |tag| format!("#{tag} {front}"));
    let forms = match &back {
        None => vec![tagged],
        Some(back) => {
            let lines = format!("{tagged}\n{}\n{back}", if both { "??" } else { "?" });
            let line = format!("{tagged}{}{back}", if both { ":::" } else { "::" });
            if front.contains('\n') || back.contains('\n') {
                vec![lines]
            } else {
                vec![line, lines]
            }
        }
    };
    let is_it = |question: &Question| match &back {
        Some(back) => {
            let side = &question.sides[0];
            side.front == front
                && side.back == *back
                && question.sides.len() == 1 + usize::from(both)
        }
        None => question.numbered.is_some(),
    };
    // The card appended after it is only found if the passage leaves nothing open.
    let parses_as_card =
        |form: &String| match questions(&format!("{form}\n\n{AFTER}"), bold).as_slice() {
            [only, after] => {
                only.range == (0..form.len()) && is_it(only) && after.sides[0].front == "after"
            }
            _ => false,
        };
    forms.into_iter().find(parses_as_card).ok_or_else(|| match back {
        None => "no `back` and no cloze: mark the text to recall as `==cloze==` or `{{cloze}}`".to_owned(),
        Some(_) => "it would not be parsed as this card because of a separator (`::`, or `?` on its own line), a list or heading marker, an `^id`, or an open code block or comment: put such text in backticks".to_owned(),
    })
}

/// Appends passages to a note; fails unless they parse as cards and the existing cards stay the same.
fn with_passages(loaded: &CardNote, passages: &[String], bold: bool) -> Result<String> {
    let newline = Newline::of(&loaded.note.text)
        .unwrap_or(Newline::Lf)
        .as_str();
    let mut text = loaded.note.text.clone();
    let lines = passages.join("\n\n").replace('\n', newline);
    text = appended(&text, &lines, newline);
    let found = questions(&text, bold);
    let same =
        |(now, then): (&Question, &Question)| now.range == then.range && now.sides == then.sides;
    if found.len() == loaded.questions.len() + passages.len()
        && found.iter().zip(&loaded.questions).all(same)
    {
        return Ok(text);
    }
    Err(Error::validation(format!(
        "cannot add cards at the end of `{}`: close the code block, formula or comment that is open there",
        loaded.note.path
    )))
}

/// Replaces the blank lines of a side, which would end the card.
fn without_blank_lines(side: &str) -> String {
    let lines: Vec<&str> = side.trim().lines().map(str::trim_end).collect();
    let lines = lines
        .iter()
        .map(|line| if line.trim().is_empty() { "<br>" } else { line });
    lines.collect::<Vec<_>>().join("\n")
}

/// Appends a passage to a note after a blank line. [`removal_range`] is the inverse.
pub(crate) fn appended(text: &str, passage: &str, newline: &str) -> String {
    let is_empty = body::body(text).is_empty();
    let ends_line = text.is_empty() || text.ends_with('\n') || text == "\u{feff}";
    match (is_empty, ends_line) {
        (true, true) => format!("{text}{passage}{newline}"),
        (true, false) => format!("{text}{newline}{passage}"),
        (false, true) => format!("{text}{newline}{passage}{newline}"),
        (false, false) => format!("{text}{newline}{newline}{passage}"),
    }
}

/// The range to delete with a passage: its lines, and the blank line before it if a blank line or the end follows.
fn removal_range(text: &str, whole: &Range<usize>) -> Range<usize> {
    let mut range = whole.clone();
    let ends = |at: usize| {
        let before = &text[..at];
        let set_suspended = before.strip_suffix('\n')?;
        Some(
            set_suspended
                .strip_suffix('\r')
                .unwrap_or(set_suspended)
                .len(),
        )
    };
    let body = body::start(text);
    let ends_line = text[..range.end].ends_with('\n');
    if !ends_line && let Some(at) = ends(range.start).filter(|at| *at > 0) {
        range.start = at;
    }
    let set_suspended = &text[range.end..];
    let is_parted = set_suspended.is_empty()
        || set_suspended.starts_with('\n')
        || set_suspended.starts_with("\r\n");
    let blank_before = match ends_line {
        true => ends(range.start)
            .filter(|at| *at >= body && (*at == body || text[..*at].ends_with('\n'))),
        false => ends(range.start).filter(|at| *at >= body),
    };
    if let Some(at) = blank_before.filter(|_| is_parted) {
        range.start = at;
    }
    range
}

/// Remove a flashcard: deletes its text, schedule and sibling cards from the note.
///
/// Example: `{"card": "Coffee/Brewing flashcards.md#4b9ce0bb"}`
#[args]
pub struct Remove {
    /// The card id.
    pub card: String,
}

/// The removed card.
#[reply]
pub struct RemovedCard {
    /// The note it was in.
    pub path: String,
    /// Its first line.
    pub line: usize,
    /// Its question.
    pub front: String,
    /// Number of removed cards, including siblings.
    pub cards: usize,
}

impl Action for Remove {
    type Output = RemovedCard;
    const EFFECT: Effect = Effect::Delete;

    fn run(self, vault: &Vault) -> Result<RemovedCard> {
        let collection = Collection::of(vault);
        let (loaded, card) = collection.card(&self.card)?;
        let question = loaded.question(&card);
        let edited = spliced(
            &loaded,
            Splice::delete(removal_range(&loaded.note.text, &question.whole)),
        )?;
        vault.write_note(&loaded.note, &edited)?;
        for sibling in loaded
            .cards
            .iter()
            .filter(|other| other.question == card.question)
        {
            if let Some(path) = &sibling.record_path {
                collection.records.put(path, &sibling.id, None)?;
            }
        }
        collection.records.save()?;
        Ok(RemovedCard {
            path: card.path.clone(),
            line: question.line,
            front: question.sides[card.sibling].front.clone(),
            cards: question.sides.len(),
        })
    }
}

/// Suspend a flashcard: it is not shown for review until it is resumed.
///
/// Example: `{"card": "Coffee/Brewing flashcards.md#4b9ce0bb"}`
#[args]
pub struct Suspend {
    /// The card id.
    pub card: String,
}

/// Resume a suspended flashcard; it keeps its schedule.
///
/// Example: `{"card": "Coffee/Brewing flashcards.md#4b9ce0bb"}`
#[args]
pub struct Resume {
    /// The card id.
    pub card: String,
}

fn set_suspended(vault: &Vault, handle: &str, suspended: bool) -> Result<ChangedCard> {
    let collection = Collection::of(vault);
    let (loaded, mut card) = collection.card(handle)?;
    if card.record.suspended != suspended {
        card.record.suspended = suspended;
        card.record.leech &= suspended;
        collection.save_record(&card, card.record.clone())?;
        collection.records.save()?;
    }
    Ok(ChangedCard {
        card: full_item(&loaded, &card, &collection),
    })
}

impl Action for Suspend {
    type Output = ChangedCard;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<ChangedCard> {
        set_suspended(vault, &self.card, true)
    }

    fn text(output: &ChangedCard) -> String {
        format!("suspended: `{}`", output.card.card)
    }
}

impl Action for Resume {
    type Output = ChangedCard;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<ChangedCard> {
        set_suspended(vault, &self.card, false)
    }

    fn text(output: &ChangedCard) -> String {
        format!("resumed: `{}` is {}", output.card.card, output.card.state)
    }
}
