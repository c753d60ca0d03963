//! The `export` action: writes cards to an Anki package with notes, schedules and media.

use std::collections::HashMap;

use notehost_sdk::prelude::*;
use notehost_sdk::text::html::escape;
use notehost_sdk::text::links::{self, Kind};

use crate::cards::{Question, Shape};
use crate::collection::{Card, CardNote, Collection, DueTime, NoteSchedule, Scope};
use crate::comment::Entry;
use crate::package::anki::{Model, NewCard, NewNote, package};
use crate::package::{PackageError, html};
use crate::read_actions::{no_deck, scope};

/// Maximum total size of media.
const MAX_MEDIA_BYTES: usize = 24 << 20;
/// Days between the creation date of the collection (`crt`) and today.
const COLLECTION_AGE_DAYS: i64 = 3650;
const SOUNDS: [&str; 10] = [
    "mp3", "wav", "ogg", "oga", "m4a", "flac", "opus", "mp4", "webm", "mov",
];

/// Export flashcards to an Anki package (`.apkg`) in the vault, with their media and schedules.
///
/// Example: `{"path": "Exports/Coffee.apkg", "deck": "coffee"}`
#[args]
pub struct Export {
    /// The file to write, ending in `.apkg`.
    pub path: String,
    /// Only cards of this deck.
    pub deck: Option<String>,
    /// Replace an existing file.
    pub overwrite: Option<bool>,
}

/// The exported package.
#[reply]
pub struct ExportReport {
    /// Its path.
    pub path: String,
    /// Number of Anki notes.
    pub notes: usize,
    /// Number of cards.
    pub cards: usize,
    /// Number of media files.
    pub media: usize,
    /// Media referenced by cards that do not exist.
    pub missing: Vec<String>,
}

impl Action for Export {
    type Output = ExportReport;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<ExportReport> {
        let path = package_path(&self.path)?;
        let is_there = vault.stat(path).is_ok();
        if is_there && self.overwrite != Some(true) {
            return Err(Error::already_exists(format!(
                "`{path}` already exists: choose another `path`, or set `overwrite` to replace it"
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
                    notes.push(anki_note(note, question, cards, &collection, &mut media)?);
                }
            }
        }
        let clock = &collection.clock;
        let crt = clock
            .start_of(clock.today() - COLLECTION_AGE_DAYS)
            .div_euclid(1000);
        let (count, missing) = (media.files.len(), media.missing);
        let bytes = package(&notes, media.files, crt, clock.now)
            .map_err(|error| package_error(path, &error))?;
        match is_there {
            true => vault.write(path, &bytes, None)?,
            false => vault.create(path, &bytes)?,
        };
        Ok(ExportReport {
            path: path.to_owned(),
            cards: notes.iter().map(|note| note.cards.len()).sum(),
            notes: notes.len(),
            media: count,
            missing,
        })
    }
}

/// Validates the path of a package.
pub(crate) fn package_path(path: &str) -> Result<&str> {
    let path = path.trim();
    let is_package =
        path.to_ascii_lowercase().ends_with(".apkg") && path.len() > 5 && !path.ends_with("/.apkg");
    match is_package {
        true => Ok(path),
        false => Err(Error::validation(format!(
            "invalid `path` `{path}`: an Anki package ends in `.apkg`, such as `Exports/spanish.apkg`"
        ))),
    }
}

/// The error for a package that cannot be read or written.
pub(crate) fn package_error(path: &str, error: &PackageError) -> Error {
    match error {
        PackageError::Invalid(reason) => Error::unsupported(format!("`{path}`: {reason}")),
        PackageError::TooLarge(reason) => Error::too_large(format!("`{path}`: {reason}")),
    }
}

/// Converts a passage to an Anki note.
fn anki_note(
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
    let from = clock.today() - COLLECTION_AGE_DAYS;
    let review = match card.due_time(clock) {
        DueTime::On(day) => Some((
            (day - from).max(0),
            card.interval().map_or(1, |days| (days as i64).max(1)),
        )),
        // Cards in learning steps start over: Anki has its own steps.
        DueTime::At(_) | DueTime::Never => None,
    };
    NewCard {
        review,
        ease: match &card.note_schedule {
            NoteSchedule::Entry(Entry::Sm2(sm2)) => sm2.ease * 10,
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
    /// The name in the package by vault path.
    names: HashMap<String, String>,
    missing: Vec<String>,
    size: usize,
}

impl Media {
    /// Replaces embeds by the media syntax of Anki, and links by their display text.
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
                    Some(name) => media_markup(&name),
                    None => escape(link.display(markdown)),
                },
                Kind::Wiki | Kind::Markdown => escape(link.display(markdown)),
                Kind::Definition | Kind::Property => continue,
            };
            text.push_str(&markdown[from..link.range.start]);
            text.push_str(&shown);
            from = link.range.end;
        }
        text.push_str(&markdown[from..]);
        Ok(text)
    }

    /// The name in the package of a media file; adds the file if it is new.
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
        if self.size > MAX_MEDIA_BYTES {
            return Err(Error::too_large(format!(
                "the media of these cards exceed {} MiB: export one `deck` at a time",
                MAX_MEDIA_BYTES >> 20
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

/// The media syntax of Anki for a file.
fn media_markup(name: &str) -> String {
    let extension = name
        .rsplit('.')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    match SOUNDS.contains(&extension.as_str()) {
        true => format!("[sound:{name}]"),
        false => format!("<img src=\"{}\">", escape(name)),
    }
}
