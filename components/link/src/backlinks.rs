//! The backlinks of a file: links of other notes, and unlinked mentions of its name.

use notehost_sdk::index::{
    BacklinksQuery, Building, Condition, Field, Query, Sort, Words, building, unfinished,
};
use notehost_sdk::pages::{Span, counted, cursor_at, more, parse_cursor, unknown_cursor};
use notehost_sdk::prelude::*;
use notehost_sdk::{is_note, stem_of};

use crate::index_queries::{Kind, indexed};
use crate::mentions::{Name, Prose};

/// The maximum number of notes to read for mentions in one call; the page ends there, full or not.
const MAX_NOTES_READ: usize = 200;
/// How many notes to fetch per index query.
const BATCH_SIZE: u32 = 50;

/// List the backlinks of a note or file: every link to it, with line and context; optionally also unlinked mentions of
/// its name and aliases.
///
/// Example: `{"path": "Coffee/Beans"}`
/// Example (also where it is only mentioned): `{"path": "People/Hana", "mentions": "also"}`
#[args]
pub struct Backlinks {
    /// The note or file: path, unique name or `[[link]]`.
    pub path: String,
    /// Unlinked mentions in prose (default `none`):
    pub mentions: Option<Mentions>,
    /// Page size, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// Whether to search for mentions.
#[args]
#[derive(Copy, PartialEq, Eq)]
pub enum Mentions {
    /// links only.
    None,
    /// links, then mentions.
    Also,
    /// mentions only.
    Only,
}

/// The backlinks of a file.
#[reply]
pub struct BacklinkPage {
    /// The file.
    pub path: String,
    /// Links by path and line, then mentions by path and line.
    pub items: Vec<Backlink>,
    /// Cursor of the next page. A page of mentions may be shorter than `limit` and not be the last.
    pub next_cursor: Option<String>,
    /// Number of links to it; mentions are not counted.
    pub total: Option<u64>,
    /// Number of notes with those links.
    pub notes: Option<u64>,
    /// Present while the index is being built.
    pub index: Option<Building>,
}

/// A link to a file, or a mention of it.
#[reply]
pub struct Backlink {
    /// The note that contains it.
    pub path: String,
    /// The line number in the file, from 1.
    pub line: u32,
    /// The text of that line, truncated around the link.
    pub context: String,
    /// The syntax of the link; missing for a mention.
    pub kind: Option<Kind>,
    /// The fragment that the link points to: `#Heading`, `#^block`.
    pub fragment: Option<String>,
    /// The mentioning words; missing for a link.
    pub mention: Option<String>,
}

impl Action for Backlinks {
    type Output = BacklinkPage;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<BacklinkPage> {
        let limit = Span::new(self.limit, None)?.limit;
        let mentions = self.mentions.unwrap_or(Mentions::None);
        let from = Position::parse(self.cursor.as_deref(), mentions)?;
        let path = vault.find_file(&self.path)?;
        let mut backlinks = BacklinkPage {
            path,
            items: Vec::new(),
            next_cursor: None,
            total: None,
            notes: None,
            index: building(vault),
        };
        let mentioned = match from {
            Position::Links(begin) => {
                backlinks.take_links(vault, begin, limit)?;
                (mentions == Mentions::Also && backlinks.next_cursor.is_none())
                    .then_some(MentionPosition::default())
            }
            Position::Mentions(mentioned) => Some(mentioned),
        };
        if let Some(mentioned) = mentioned {
            backlinks.take_mentions(vault, mentioned, limit)?;
        }
        Ok(backlinks)
    }

    fn text(output: &BacklinkPage) -> String {
        let mut text = match (output.total, output.notes) {
            (Some(total), Some(notes)) => format!(
                "{} in {} to `{}`",
                counted(total, "link"),
                counted(notes, "note"),
                output.path
            ),
            _ => format!("mentions of `{}`", output.path),
        };
        let mut note = "";
        for item in &output.items {
            if item.path != note {
                note = &item.path;
                text.push_str(&format!("\n{note}"));
            }
            let what = if item.mention.is_some() {
                " (mention)"
            } else {
                ""
            };
            text.push_str(&format!("\n{:>5}{what}  {}", item.line, item.context));
        }
        text + &more(output.next_cursor.as_ref()) + &unfinished(output.index.as_ref())
    }
}

impl BacklinkPage {
    fn take_links(&mut self, vault: &Vault, begin: usize, limit: usize) -> Result<()> {
        let found = vault.backlinks(&BacklinksQuery {
            path: self.path.clone(),
            offset: begin as u64,
            limit: u32::try_from(limit).unwrap_or(u32::MAX),
        })?;
        let end = begin + found.items.len();
        if !found.items.is_empty() && (end as u64) < found.total {
            self.next_cursor = Some(cursor_at(end));
        }
        self.total = Some(found.total);
        self.notes = Some(found.notes);
        self.items = found
            .items
            .into_iter()
            .map(|link| Backlink {
                path: link.path,
                line: link.line,
                context: link.context,
                kind: Some(link.kind.into()),
                fragment: link.fragment,
                mention: None,
            })
            .collect();
        Ok(())
    }

    /// Fills the page with mentions, from where the last page ended.
    fn take_mentions(&mut self, vault: &Vault, from: MentionPosition, limit: usize) -> Result<()> {
        let texts = names_of(vault, &self.path)?;
        let names: Vec<Name> = texts.iter().filter_map(|text| Name::new(text)).collect();
        if names.is_empty() {
            return Ok(());
        }
        let mut skip = from.within;
        let mut number = from.note;
        loop {
            let page = vault.find(&mentioning(&texts, &self.path, number as u64))?;
            for note in &page.items {
                if self.items.len() >= limit || number - from.note >= MAX_NOTES_READ {
                    self.next_cursor = Some(MentionPosition::cursor(number, skip));
                    return Ok(());
                }
                // Skip notes that are not text.
                if let Ok(note) = vault.read_text(&note.path) {
                    let found = Prose::of(&note.text).of_names(&names);
                    let room = limit - self.items.len();
                    let taken = found.len().saturating_sub(skip).min(room);
                    let rest = found.len().saturating_sub(skip + taken);
                    let shown = found.into_iter().skip(skip).take(taken);
                    self.items.extend(shown.map(|mention| Backlink {
                        path: note.path.clone(),
                        line: mention.line,
                        mention: Some(note.text[mention.range].to_owned()),
                        context: mention.context,
                        kind: None,
                        fragment: None,
                    }));
                    if rest > 0 {
                        self.next_cursor = Some(MentionPosition::cursor(number, skip + taken));
                        return Ok(());
                    }
                }
                skip = 0;
                number += 1;
            }
            if page.items.is_empty() || number as u64 >= page.total {
                return Ok(());
            }
        }
    }
}

/// The name and the aliases of a file.
fn names_of(vault: &Vault, path: &str) -> Result<Vec<String>> {
    let mut names = vec![stem_of(path).to_owned()];
    if is_note(path) {
        // The aliases of a note that is not in the index are unknown.
        let aliases = indexed(vault, path, vec![Field::Aliases]).map(|note| note.aliases);
        names.extend(aliases.ok().flatten().unwrap_or_default());
    }
    Ok(names)
}

/// A query for notes that contain one of the names, except the note itself.
fn mentioning(names: &[String], path: &str, offset: u64) -> Query {
    let words = names.iter().map(|name| {
        Condition::Words(Words {
            text: name.clone(),
            part: None,
        })
    });
    Query {
        condition: Some(Condition::All(vec![
            Condition::Any(words.collect()),
            Condition::Not(Box::new(Condition::Under(path.to_owned()))),
        ])),
        sort: Sort::by_path(),
        offset,
        limit: BATCH_SIZE,
        ..Query::default()
    }
}

/// The position that a cursor encodes.
enum Position {
    /// After this many links.
    Links(usize),
    Mentions(MentionPosition),
}

/// A position among mentions: after all of `note` notes and `within` mentions of the next one.
#[derive(Default)]
struct MentionPosition {
    note: usize,
    within: usize,
}

impl MentionPosition {
    fn cursor(note: usize, within: usize) -> String {
        format!("m{note:x}.{within:x}")
    }

    fn parse(cursor: &str) -> Option<MentionPosition> {
        let (note, within) = cursor.strip_prefix('m')?.split_once('.')?;
        Some(MentionPosition {
            note: usize::from_str_radix(note, 16).ok()?,
            within: usize::from_str_radix(within, 16).ok()?,
        })
    }
}

impl Position {
    fn parse(cursor: Option<&str>, mentions: Mentions) -> Result<Position> {
        let Some(cursor) = cursor else {
            return Ok(match mentions {
                Mentions::Only => Position::Mentions(MentionPosition::default()),
                Mentions::None | Mentions::Also => Position::Links(0),
            });
        };
        let links = parse_cursor(cursor).filter(|_| mentions != Mentions::Only);
        let mentioned = MentionPosition::parse(cursor).filter(|_| mentions != Mentions::None);
        links
            .map(Position::Links)
            .or(mentioned.map(Position::Mentions))
            .ok_or_else(|| unknown_cursor(cursor))
    }
}
