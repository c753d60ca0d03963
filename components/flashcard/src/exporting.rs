//! Cards for Anki: a package with notes, schedules and media.

use std::collections::HashMap;

use notehost_sdk::prelude::*;
use notehost_sdk::text::links::{self, Kind};

use crate::cards::{Question, Shape};
use crate::collection::{Card, CardNote, Collection, Scope, When, Written};
use crate::comment::Entry;
use crate::looking::{no_deck, scope};
use crate::package::anki::{Model, NewCard, NewNote, package};
use crate::package::{Broken, html};

/// How much media a package may have, in bytes.
const MOST_MEDIA: usize = 24 << 20;
/// How far before today days are counted from.
const BEFORE: i64 = 3650;
const SOUNDS: [&str; 10] = [
    "mp3", "wav", "ogg", "oga", "m4a", "flac", "opus", "mp4", "webm", "mov",
];

/// Export flashcards to an Anki package (`.apkg`) in the vault, with their media and schedules.
///
/// Example: `{"path": "Exports/Coffee.apkg", "deck": "coffee"}`
#[args]
pub struct Export {
    /// The file to make, ending in `.apkg`.
    pub path: String,
    /// Only this deck.
    pub deck: Option<String>,
    /// Replace a package that is there.
    pub overwrite: Option<bool>,
}

/// What was exported.
#[reply]
pub struct Exported {
    /// The package.
    pub path: String,
    /// How many notes of Anki it has.
    pub notes: usize,
    /// How many cards.
    pub cards: usize,
    /// How many media files.
    pub media: usize,
    /// Media that cards name and that are not there.
    pub missing: Vec<String>,
}

impl Action for Export {
    type Output = Exported;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Exported> {
        let path = package_path(&self.path)?;
        let is_there = vault.stat(path).is_ok();
        if is_there && self.overwrite != Some(true) {
            return Err(Error::already_exists(format!(
                "`{path}` is already there: choose another `path`, or set `overwrite` to replace it"
            )));
        }
        let scope = scope(vault, None, self.deck.as_deref(), None, None)?;
        let collection = Collection::of(vault);
        let loaded = collection.notes(&scope)?;
        if loaded.is_empty() {
            return Err(match &scope {
                Scope::Deck(deck) => no_deck(&collection, deck)?,
                _ => Error::not_found("there are no cards to export"),
            });
        }
        let mut media = Media::default();
        let mut notes = Vec::new();
        for note in &loaded {
            for (index, question) in note.questions.iter().enumerate() {
                let cards = note.siblings(index);
                if !cards.is_empty() {
                    notes.push(told(note, question, cards, &collection, &mut media)?);
                }
            }
        }
        let clock = &collection.clock;
        let crt = clock.begin_of(clock.today() - BEFORE).div_euclid(1000);
        let (count, missing) = (media.files.len(), media.missing);
        let bytes = package(&notes, media.files, crt, clock.now)
            .map_err(|broken| refusal(path, &broken))?;
        match is_there {
            true => vault.write(path, &bytes, None)?,
            false => vault.create(path, &bytes)?,
        };
        Ok(Exported {
            path: path.to_owned(),
            cards: notes.iter().map(|note| note.cards.len()).sum(),
            notes: notes.len(),
            media: count,
            missing,
        })
    }
}

/// The path of a package, if it can be one.
pub(crate) fn package_path(path: &str) -> Result<&str> {
    let path = path.trim();
    let is_package =
        path.to_ascii_lowercase().ends_with(".apkg") && path.len() > 5 && !path.ends_with("/.apkg");
    match is_package {
        true => Ok(path),
        false => Err(Error::validation(format!(
            "`path` is `{path}`: an Anki package ends in `.apkg`, such as `Exports/spanish.apkg`"
        ))),
    }
}

/// Why a package cannot be read or made.
pub(crate) fn refusal(path: &str, broken: &Broken) -> Error {
    match broken {
        Broken::Not(reason) => Error::unsupported(format!("`{path}`: {reason}")),
        Broken::TooLarge(reason) => Error::too_large(format!("`{path}`: {reason}")),
    }
}

/// A passage as a note of Anki.
fn told(
    loaded: &CardNote,
    question: &Question,
    cards: &[Card],
    collection: &Collection<'_>,
    media: &mut Media,
) -> Result<NewNote> {
    let mut html = |markdown: &str| -> Result<String> {
        Ok(html::from_markdown(&media.embedded(
            markdown,
            &loaded.note.path,
            collection.vault,
        )?))
    };
    let (model, fields) = match (&question.shape, &question.numbered) {
        (Shape::Cloze, Some(text)) => (Model::Cloze, [html(text)?, String::new()]),
        _ => {
            let side = &question.sides[0];
            let model = if question.sides.len() > 1 {
                Model::Both
            } else {
                Model::Forward
            };
            (model, [html(&side.front)?, html(&side.back)?])
        }
    };
    let first = cards.iter().map(|card| &card.id).next();
    Ok(NewNote {
        guid: format!("notehost-{}", first.map_or("", String::as_str)),
        model,
        fields,
        deck: cards[0]
            .deck
            .as_deref()
            .unwrap_or("flashcards")
            .replace('/', "::"),
        cards: cards
            .iter()
            .map(|card| schedule(card, collection))
            .collect(),
    })
}

fn schedule(card: &Card, collection: &Collection<'_>) -> NewCard {
    let clock = &collection.clock;
    let from = clock.today() - BEFORE;
    let review = match card.when(clock) {
        When::On(day) => Some((
            (day - from).max(0),
            card.interval().map_or(1, |days| (days as i64).max(1)),
        )),
        // What is in its first steps begins anew: Anki has its own.
        When::At(_) | When::Never => None,
    };
    NewCard {
        review,
        ease: match &card.written {
            Written::Entry(Entry::Sm2(sm2)) => sm2.ease * 10,
            _ => 2500,
        },
        reps: card.reps(),
        lapses: card.lapses(),
        suspended: card.record.suspended,
        memory: card
            .memory()
            .map(|memory| (memory.stability, memory.difficulty)),
    }
}

/// The media of a package.
#[derive(Default)]
struct Media {
    files: Vec<(String, Vec<u8>)>,
    /// The name of each file of the vault.
    names: HashMap<String, String>,
    missing: Vec<String>,
    size: usize,
}

impl Media {
    /// A text in which embedded files are as Anki shows them, and links are only their words.
    fn embedded(&mut self, markdown: &str, path: &str, vault: &Vault) -> Result<String> {
        let mut text = String::with_capacity(markdown.len());
        let mut from = 0;
        for link in links::parse(markdown) {
            if link.range.start < from {
                continue;
            }
            let shown = match link.kind {
                _ if link.external => continue,
                Kind::Embed | Kind::Image => match self.file(&link.target, path, vault)? {
                    Some(name) => shown(&name),
                    None => html::escaped(link.display(markdown)),
                },
                Kind::Wiki | Kind::Markdown => html::escaped(link.display(markdown)),
                Kind::Definition | Kind::Property => continue,
            };
            text.push_str(&markdown[from..link.range.start]);
            text.push_str(&shown);
            from = link.range.end;
        }
        text.push_str(&markdown[from..]);
        Ok(text)
    }

    /// The name in the package of a file that a card names.
    fn file(&mut self, target: &str, path: &str, vault: &Vault) -> Result<Option<String>> {
        let found = vault.resolve(target, Some(path))?.into_iter().next();
        let Some(file) = found.filter(|file| !notehost_sdk::is_note(file)) else {
            if !self.missing.iter().any(|known| known == target) {
                self.missing.push(target.to_owned());
            }
            return Ok(None);
        };
        if let Some(name) = self.names.get(&file) {
            return Ok(Some(name.clone()));
        }
        let bytes = vault.read(&file)?.bytes;
        self.size += bytes.len();
        if self.size > MOST_MEDIA {
            return Err(Error::too_large(format!(
                "the media of these cards have more than {} MiB: export one `deck` at a time",
                MOST_MEDIA >> 20
            )));
        }
        let own = file.rsplit('/').next().unwrap_or(&file);
        let is_taken = self
            .files
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case(own));
        let name = if is_taken {
            format!("{}-{own}", self.files.len())
        } else {
            own.to_owned()
        };
        self.files.push((name.clone(), bytes));
        self.names.insert(file, name.clone());
        Ok(Some(name))
    }
}

/// A file as a field of Anki shows it.
fn shown(name: &str) -> String {
    let extension = name
        .rsplit('.')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    match SOUNDS.contains(&extension.as_str()) {
        true => format!("[sound:{name}]"),
        false => format!("<img src=\"{}\">", html::escaped(name)),
    }
}
