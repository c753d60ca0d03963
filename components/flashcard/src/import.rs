//! The `import` action: an Anki package becomes one note for each deck, its media become files.

use std::collections::{BTreeMap, HashMap};

use notehost_sdk::Steps;
use notehost_sdk::prelude::*;

use crate::decks::normal;
use crate::edit_actions::{NewCard, deck_frontmatter, file_name, passage};
use crate::export::{package_error, package_path};
use crate::package::anki::{AnkiNote, Package};
use crate::package::html;

/// Maximum size of a package, which is in memory along with its content.
const MAX_PACKAGE_BYTES: u64 = 20 << 20;
/// Maximum number of reported skipped notes.
const MAX_REPORTED: usize = 20;
/// The default folder of media.
const MEDIA: &str = "media";

/// Import an Anki package (`.apkg`) from the vault: creates a note with cards for each deck, and media files.
///
/// Example: `{"path": "Exports/Coffee.apkg", "to": "Learning"}`
#[args]
pub struct Import {
    /// Path of the package.
    pub path: String,
    /// The folder for the notes, such as `Flashcards`.
    pub to: String,
}

/// The imported notes.
#[reply]
pub struct ImportReport {
    /// The created notes.
    pub notes: Vec<String>,
    /// Number of imported Anki notes.
    pub cards: usize,
    /// Number of created media files.
    pub media: usize,
    /// Skipped Anki notes and the reasons, at most 20.
    pub left_out: Vec<SkippedNote>,
    /// Number of skipped Anki notes.
    pub left_out_total: usize,
}

/// An Anki note that was skipped.
#[reply]
pub struct SkippedNote {
    /// The beginning of its first field.
    pub front: String,
    /// The reason.
    pub reason: String,
}

impl Action for Import {
    type Output = ImportReport;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<ImportReport> {
        let path = vault
            .find_file(package_path(&self.path)?)
            .map_err(|error| match error.kind() {
                Code::NotFound => Error::not_found(format!("no package `{}`", self.path)),
                _ => error,
            })?;
        let to = self.to.trim().trim_matches('/');
        if to.is_empty() {
            return Err(Error::validation(
                "`to` is empty: pass a folder for the notes, such as `Flashcards`",
            ));
        }
        let size = vault.stat(&path)?.size;
        if size > MAX_PACKAGE_BYTES {
            return Err(Error::too_large(format!(
                "`{path}` has {} MiB, the maximum is {}: export single decks from Anki",
                size >> 20,
                MAX_PACKAGE_BYTES >> 20
            )));
        }
        let mut package = Package::open(vault.read(&path)?.bytes)
            .map_err(|error| package_error(&path, &error))?;
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
                    left_out.push(SkippedNote { front, reason });
                }
            }
        }
        if decks.is_empty() {
            return Err(Error::unsupported(format!(
                "`{path}` contains no note that can be imported as a card"
            )));
        }
        let mut notes = Vec::new();
        let mut cards = 0;
        for (deck, passages) in decks {
            cards += passages.len();
            let text = format!("{}{}\n", deck_frontmatter(&deck), passages.join("\n\n"));
            let note = format!("{to}/{}.md", file_name(&deck));
            vault.create(&note, text.as_bytes())?;
            notes.push(note);
        }
        let left_out_total = left_out.len();
        left_out.truncate(MAX_REPORTED);
        Ok(ImportReport {
            notes,
            cards,
            media: media.made,
            left_out,
            left_out_total,
        })
    }
}

/// Converts an Anki note to a passage.
fn card(note: &AnkiNote, embed: &dyn Fn(&str) -> String) -> std::result::Result<String, String> {
    let fields: Vec<String> = note
        .fields
        .iter()
        .map(|field| html::to_markdown(field, embed))
        .collect();
    let (front, rest) = fields.split_first().ok_or("the note has no fields")?;
    let back: Vec<&str> = rest
        .iter()
        .map(String::as_str)
        .filter(|field| !field.is_empty())
        .collect();
    let is_cloze = front.contains("{{c") && front.contains("}}");
    let new = match is_cloze {
        // Anki shows the extra fields of a cloze with the answer; here they become part of the text.
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
        // Encode separators and markers as HTML entities, so that they are not parsed as such.
        let encoded = |text: &str| {
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
        let back = new.back.as_deref().map(encoded);
        passage(
            &NewCard {
                front: encoded(&new.front),
                back,
                both: new.both,
            },
            None,
            false,
        )
        .map_err(|_| reason)
    })
}

/// The imported media of a package.
struct Media {
    /// The name in the vault by name in the package.
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
            .map_err(|error| package_error(path, &error))?
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
