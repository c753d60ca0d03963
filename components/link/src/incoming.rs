//! What leads to a file: links of other notes, and mentions of its name that could be links.

use notehost_sdk::index::{BacklinksQuery, Condition, Field, Query, Sort, SortBy, Words};
use notehost_sdk::prelude::*;
use notehost_sdk::{is_note, stem_of};

use crate::asking::{Kind, indexed};
use crate::mentions::{Name, Prose};
use notehost_sdk::index::{Building, building, unfinished};
use notehost_sdk::pages::counted;
use notehost_sdk::pages::{Span, cursor_at, more, parse_cursor, unknown_cursor};

/// How many notes are read for mentions in one call; after them a page ends, full or not.
const MOST_READ: usize = 200;
/// How many notes the index is asked for at once.
const AT_ONCE: u32 = 50;

/// List the backlinks of a note or file: every link that leads to it, with line and context; if you like also unlinked
/// mentions of its name and aliases.
///
/// Example: `{"path": "Coffee/Beans"}`
/// Example (also where it is only mentioned): `{"path": "People/Hana", "mentions": "also"}`
#[args]
pub struct Backlinks {
    /// The note or file: path, unique name or `[[link]]`.
    pub path: String,
    /// Mentions in prose that are no links (default `none`):
    pub mentions: Option<Mentions>,
    /// How many, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// Whether to look for mentions.
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

/// What leads to a file.
#[reply]
pub struct Incoming {
    /// The file.
    pub path: String,
    /// Links by path and line, then mentions by path and line.
    pub items: Vec<IncomingLink>,
    /// For the next page. A page of mentions may have fewer items than asked for and still be followed by another.
    pub next_cursor: Option<String>,
    /// How many links lead to it; mentions are not counted.
    pub total: Option<u64>,
    /// In how many notes those links stand.
    pub notes: Option<u64>,
    /// Only while the index is being built.
    pub index: Option<Building>,
}

/// A link to a file, or a mention of it.
#[reply]
pub struct IncomingLink {
    /// The note in which it stands.
    pub path: String,
    /// The line of the file, from 1.
    pub line: u32,
    /// The text of that line, cut to what stands around it.
    pub context: String,
    /// How the link is written; nothing for a mention.
    pub kind: Option<Kind>,
    /// The place in the file that the link leads to: `#Heading`, `#^block`.
    pub fragment: Option<String>,
    /// The words that mention it; nothing for a link.
    pub mention: Option<String>,
}

impl Action for Backlinks {
    type Output = Incoming;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Incoming> {
        let limit = Span::new(self.limit, None)?.limit;
        let mentions = self.mentions.unwrap_or(Mentions::None);
        let from = Progress::parse(self.cursor.as_deref(), mentions)?;
        let path = vault.find_file(&self.path)?;
        let mut incoming = Incoming {
            path,
            items: Vec::new(),
            next_cursor: None,
            total: None,
            notes: None,
            index: building(vault),
        };
        let mentioned = match from {
            Progress::Links(begin) => {
                incoming.take_links(vault, begin, limit)?;
                (mentions == Mentions::Also && incoming.next_cursor.is_none())
                    .then_some(Mentioned::default())
            }
            Progress::Mentions(mentioned) => Some(mentioned),
        };
        if let Some(mentioned) = mentioned {
            incoming.take_mentions(vault, mentioned, limit)?;
        }
        Ok(incoming)
    }

    fn text(output: &Incoming) -> String {
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

impl Incoming {
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
            .map(|link| IncomingLink {
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

    /// Fill the page with mentions, from where the last page ended.
    fn take_mentions(&mut self, vault: &Vault, from: Mentioned, limit: usize) -> Result<()> {
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
                if self.items.len() >= limit || number - from.note >= MOST_READ {
                    self.next_cursor = Some(Mentioned::cursor(number, skip));
                    return Ok(());
                }
                // A note that is no text mentions nothing that could be told.
                if let Ok(note) = vault.read_text(&note.path) {
                    let found = Prose::of(&note.text).of_names(&names);
                    let room = limit - self.items.len();
                    let taken = found.len().saturating_sub(skip).min(room);
                    let rest = found.len().saturating_sub(skip + taken);
                    let shown = found.into_iter().skip(skip).take(taken);
                    self.items.extend(shown.map(|mention| IncomingLink {
                        path: note.path.clone(),
                        line: mention.line,
                        mention: Some(note.text[mention.range].to_owned()),
                        context: mention.context,
                        kind: None,
                        fragment: None,
                    }));
                    if rest > 0 {
                        self.next_cursor = Some(Mentioned::cursor(number, skip + taken));
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

/// The words that mean a file: its name and its aliases.
fn names_of(vault: &Vault, path: &str) -> Result<Vec<String>> {
    let mut names = vec![stem_of(path).to_owned()];
    if is_note(path) {
        // A note that is not in the index has no aliases that could be asked for.
        let aliases = indexed(vault, path, vec![Field::Aliases]).map(|note| note.aliases);
        names.extend(aliases.ok().flatten().unwrap_or_default());
    }
    Ok(names)
}

/// The notes in which one of some names stands, but for the note itself.
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
        sort: vec![Sort {
            by: SortBy::Path,
            descending: false,
        }],
        offset,
        limit: AT_ONCE,
        ..Query::default()
    }
}

/// How far a caller has come.
enum Progress {
    /// So many links were told.
    Links(usize),
    Mentions(Mentioned),
}

/// Which mentions were told: all of so many notes, and so many of the next one.
#[derive(Default)]
struct Mentioned {
    note: usize,
    within: usize,
}

impl Mentioned {
    fn cursor(note: usize, within: usize) -> String {
        format!("m{note:x}.{within:x}")
    }

    fn parse(cursor: &str) -> Option<Mentioned> {
        let (note, within) = cursor.strip_prefix('m')?.split_once('.')?;
        Some(Mentioned {
            note: usize::from_str_radix(note, 16).ok()?,
            within: usize::from_str_radix(within, 16).ok()?,
        })
    }
}

impl Progress {
    fn parse(cursor: Option<&str>, mentions: Mentions) -> Result<Progress> {
        let Some(cursor) = cursor else {
            return Ok(match mentions {
                Mentions::Only => Progress::Mentions(Mentioned::default()),
                Mentions::None | Mentions::Also => Progress::Links(0),
            });
        };
        let links = parse_cursor(cursor).filter(|_| mentions != Mentions::Only);
        let mentioned = Mentioned::parse(cursor).filter(|_| mentions != Mentions::None);
        links
            .map(Progress::Links)
            .or(mentioned.map(Progress::Mentions))
            .ok_or_else(|| unknown_cursor(cursor))
    }
}
