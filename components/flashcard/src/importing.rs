//! Cards from Anki: a package becomes a note for each deck, and its media become files.

use std::collections::{BTreeMap, HashMap};

use notehost_sdk::Steps;
use notehost_sdk::prelude::*;

use crate::changing::{NewCard, file_name, opening, passage};
use crate::decks::normal;
use crate::exporting::{package_path, refusal};
use crate::package::anki::{AnkiNote, Package};
use crate::package::html;

/// The largest package that is read, in bytes: it lies in memory beside what it holds.
const MOST: u64 = 20 << 20;
/// How many notes that were left out are told.
const TOLD: usize = 20;
/// The folder of media, where the owner has none.
const MEDIA: &str = "media";

/// Import an Anki package (`.apkg`) of the vault: a note with cards for each deck, media as files.
///
/// Example: `{"path": "Exports/Coffee.apkg", "to": "Learning"}`
#[args]
pub struct Import {
    /// The package.
    pub path: String,
    /// The folder for the notes, such as `Flashcards`.
    pub to: String,
}

/// What was imported.
#[reply]
pub struct Imported {
    /// The notes that were made.
    pub notes: Vec<String>,
    /// How many passages with cards they have.
    pub cards: usize,
    /// How many media files were made.
    pub media: usize,
    /// What was left out, and why; the first 20.
    pub left_out: Vec<LeftOut>,
    /// How many were left out.
    pub left_out_total: usize,
}

/// A note of the package that became no card.
#[reply]
pub struct LeftOut {
    /// How it begins.
    pub front: String,
    /// Why.
    pub reason: String,
}

impl Action for Import {
    type Output = Imported;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Imported> {
        let path = vault
            .find_file(package_path(&self.path)?)
            .map_err(|error| match error.kind() {
                Code::NotFound => Error::not_found(format!("no package `{}`", self.path)),
                _ => error,
            })?;
        let to = self.to.trim().trim_matches('/');
        if to.is_empty() {
            return Err(Error::validation(
                "`to` is empty: name a folder for the notes, such as `Flashcards`",
            ));
        }
        let size = vault.stat(&path)?.size;
        if size > MOST {
            return Err(Error::too_large(format!(
                "`{path}` has {} MiB, and may have {}: export single decks from Anki",
                size >> 20,
                MOST >> 20
            )));
        }
        let mut package =
            Package::open(vault.read(&path)?.bytes).map_err(|broken| refusal(&path, &broken))?;
        let mut steps = vault.steps(package.media.len() + package.notes.len());
        let media = media(vault, &mut package, to, &path, &mut steps)?;
        let embed = |name: &str| {
            format!(
                "![[{}]]",
                media.names.get(name).map_or(name, String::as_str)
            )
        };
        let mut decks: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut left_out = Vec::new();
        for note in &package.notes {
            steps.done("cards read");
            let deck = normal(&note.deck);
            match card(note, &embed) {
                Ok(passage) => decks.entry(deck).or_default().push(passage),
                Err(reason) => {
                    let front = note.fields.first().map_or("", String::as_str);
                    let front = html::to_markdown(front, &embed).chars().take(80).collect();
                    left_out.push(LeftOut { front, reason });
                }
            }
        }
        if decks.is_empty() {
            return Err(Error::unsupported(format!(
                "`{path}` holds no note that can become a card"
            )));
        }
        let mut notes = Vec::new();
        let mut cards = 0;
        for (deck, passages) in decks {
            cards += passages.len();
            let text = format!("{}{}\n", opening(&deck), passages.join("\n\n"));
            let note = format!("{to}/{}.md", file_name(&deck));
            vault.create(&note, text.as_bytes())?;
            notes.push(note);
        }
        let left_out_total = left_out.len();
        left_out.truncate(TOLD);
        Ok(Imported {
            notes,
            cards,
            media: media.made,
            left_out,
            left_out_total,
        })
    }
}

/// A note of Anki as a passage.
fn card(note: &AnkiNote, embed: &dyn Fn(&str) -> String) -> std::result::Result<String, String> {
    let fields: Vec<String> = note
        .fields
        .iter()
        .map(|field| html::to_markdown(field, embed))
        .collect();
    let (front, rest) = fields.split_first().ok_or("it has no fields")?;
    let back: Vec<&str> = rest
        .iter()
        .map(String::as_str)
        .filter(|field| !field.is_empty())
        .collect();
    let is_cloze = front.contains("{{c") && front.contains("}}");
    let new = match is_cloze {
        // What stands beside a cloze is shown with its answer; here it is part of the text.
        true => NewCard {
            front: [&[front.as_str()], back.as_slice()].concat().join("\n"),
            back: None,
            both: None,
        },
        false => NewCard {
            front: front.clone(),
            back: Some(back.join("\n")),
            both: (note.cards == 2 && fields.len() == 2).then_some(true),
        },
    };
    passage(&new, None, false).or_else(|reason| {
        // What looks like a separator or a marker is spelt so that it only looks like that to people.
        let spelt = |text: &str| {
            let lines = text.lines().map(|line| {
                let line = line
                    .replace("::", "&#58;&#58;")
                    .replace("%%", "&#37;&#37;")
                    .replace("```", "&#96;&#96;&#96;");
                let line = line
                    .replace(" >> ", " &gt;&gt; ")
                    .replace(" ;; ", " &#59;&#59; ")
                    .replace(" >< ", " &gt;&lt; ");
                let line = line.replace("<!--", "&lt;!--").replace("$$", "&#36;&#36;");
                match line.trim_start().chars().next() {
                    Some(
                        first @ ('#' | '-' | '+' | '*' | '>' | '?' | '|' | '[' | '^' | '0'..='9'),
                    ) => line
                        .trim_start()
                        .replacen(first, &format!("&#{};", first as u32), 1),
                    _ => line.trim_start().to_owned(),
                }
            });
            lines.collect::<Vec<_>>().join("\n").replace(" ^", " &#94;")
        };
        if is_cloze {
            return Err(reason);
        }
        let back = new.back.as_deref().map(spelt);
        passage(
            &NewCard {
                front: spelt(&new.front),
                back,
                both: new.both,
            },
            None,
            false,
        )
        .map_err(|_| reason)
    })
}

/// The media of a package, in the vault.
struct Media {
    /// The name in the vault of each name in the package.
    names: HashMap<String, String>,
    made: usize,
}

fn media(
    vault: &Vault,
    package: &mut Package,
    to: &str,
    path: &str,
    steps: &mut Steps<'_>,
) -> Result<Media> {
    let folder = match vault.conventions()?.attachments.as_deref() {
        Some("") => String::new(),
        Some("./") => to.to_owned(),
        Some(folder) => folder
            .strip_prefix("./")
            .map_or_else(|| folder.to_owned(), |own| format!("{to}/{own}")),
        None => format!("{to}/{MEDIA}"),
    };
    let folder = folder.trim_matches('/');
    let mut media = Media {
        names: HashMap::new(),
        made: 0,
    };
    for (name, file) in package.media.clone() {
        steps.done("media files");
        let Some(bytes) = package
            .medium(&file)
            .map_err(|broken| refusal(path, &broken))?
        else {
            continue;
        };
        let own = file_name(name.rsplit(['/', '\\']).next().unwrap_or(&name));
        let mut copy = 0;
        let taken = loop {
            let own = numbered(&own, copy);
            let place = if folder.is_empty() {
                own.clone()
            } else {
                format!("{folder}/{own}")
            };
            match vault.read(&place) {
                Ok(there) if there.bytes == bytes => break own,
                Ok(_) => copy += 1,
                Err(_) => {
                    vault.create(&place, &bytes)?;
                    media.made += 1;
                    break own;
                }
            }
        };
        media.names.insert(name, taken);
    }
    Ok(media)
}

/// The name of a copy: `a.png`, `a-1.png`, `a-2.png`.
fn numbered(name: &str, copy: usize) -> String {
    match (copy, name.rsplit_once('.')) {
        (0, _) => name.to_owned(),
        (copy, Some((stem, extension))) => format!("{stem}-{copy}.{extension}"),
        (copy, None) => format!("{name}-{copy}"),
    }
}
