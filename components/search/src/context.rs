//! The best passages of the best notes, packed into a token budget.

use std::collections::HashSet;

use notehost_sdk::index::{
    Building, Condition, Field, Found, FoundNote, Query, Words, building, unfinished,
};
use notehost_sdk::prelude::*;
use notehost_sdk::text::approx_tokens;
use notehost_sdk::{is_note, words};

use crate::passages::{Lines, Passage};
use crate::text::rounded;
use crate::{query, restrictions};
use notehost_sdk::matching::{Skipped, read};

/// The maximum number of notes to read.
const MAX_NOTES: u32 = 20;
/// The maximum number of passages per note.
const MAX_PASSAGES_PER_NOTE: u32 = 6;
/// How many of the best notes to follow links from.
const LINK_SOURCES: usize = 5;
/// The maximum number of linked notes to return.
const MAX_LINKED_NOTES: usize = 8;
/// The maximum size of the passage of a linked note, in tokens.
const LINKED_TOKENS: usize = 80;
/// The share of the budget that is reserved for linked notes, in percent.
const RESERVED_PERCENT: usize = 15;
/// The overhead of a passage besides its text and path, in tokens.
const PASSAGE_OVERHEAD_TOKENS: usize = 6;

/// Collect what the notes say about a question: the best passages of the best notes, plus the beginnings of
/// notes that they link to, packed into a token budget. `left_out` lists what did not fit.
///
/// Example: `{"query": "What must I buy for Saturday?", "budget_tokens": 1500}`
#[args]
pub struct Context {
    /// A query as in `text`. If no note has all words of a plain question, notes with some of them are used.
    pub query: String,
    /// The maximum total size in tokens, 100–50000 (default 2000).
    pub budget_tokens: Option<usize>,
    /// Folder, note or glob.
    pub path: Option<String>,
    /// Tags the notes must have, all of them.
    pub tags: Option<Vec<String>>,
}

/// Passages of notes.
#[reply]
pub struct PackedContext {
    /// The passages: notes by relevance, then linked notes.
    pub items: Vec<PassageItem>,
    /// Approximate total size in tokens.
    pub tokens: usize,
    /// Number of notes that match the query.
    pub total: u64,
    /// True if no note has all the words: these have some of them.
    pub loosened: Option<bool>,
    /// Notes without a passage, and why.
    pub left_out: Option<Vec<Skipped>>,
    /// Present while the index is being built: notes may be missing.
    pub index: Option<Building>,
}

/// A passage.
#[reply]
pub struct PassageItem {
    /// The note.
    pub path: String,
    /// Its first line number.
    pub line: usize,
    /// Its last line number.
    pub to_line: usize,
    /// The heading path of its section.
    pub section: Option<String>,
    /// The full lines.
    pub text: String,
    /// The relevance score of the note.
    pub score: Option<f64>,
    /// For a note that does not match itself: the note that links to it.
    pub linked_from: Option<String>,
    /// Whether the passage was truncated to fit.
    pub cut: Option<bool>,
}

impl Action for Context {
    type Output = PackedContext;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<PackedContext> {
        let budget = match self.budget_tokens.unwrap_or(2000) {
            budget @ 100..=50_000 => budget,
            budget => {
                return Err(Error::validation(format!(
                    "`budget_tokens` is {budget}; it must be 100 to 50000"
                )));
            }
        };
        let (found, loosened) = self.find(vault)?;
        let mut packer = Packer::new(budget);
        let candidates = packer.read(vault, &found.items)?;
        packer.passages(&candidates, budget - budget * RESERVED_PERCENT / 100);
        packer.linked(vault, &found.items)?;
        packer.passages(&candidates, budget);
        packer.record_left_out(&found);
        let tokens = packer.used;
        let left_out = std::mem::take(&mut packer.left_out);
        Ok(PackedContext {
            items: packer.into_items(),
            tokens,
            total: found.total,
            loosened: loosened.then_some(true),
            left_out: (!left_out.is_empty()).then_some(left_out),
            index: building(vault),
        })
    }

    fn text(output: &PackedContext) -> String {
        let mut text = match output.items.len() {
            0 => "no results".to_owned(),
            count => format!("{count} passages, about {} tokens", output.tokens),
        };
        if output.loosened.is_some() {
            text.push_str("\nno note has all of the words: these have some of them");
        }
        for item in &output.items {
            text.push_str(&format!(
                "\n\n## {}:{}-{}",
                item.path, item.line, item.to_line
            ));
            if let Some(section) = &item.section {
                text.push_str(&format!(" ({section})"));
            }
            if let Some(from) = &item.linked_from {
                text.push_str(&format!(" (linked from {from})"));
            }
            text.push('\n');
            text.push_str(&item.text);
        }
        let mut left_out = output.left_out.iter().flatten().peekable();
        if left_out.peek().is_some() {
            text.push_str("\n\nleft out:");
        }
        for note in left_out {
            text.push_str(&format!("\n{} ({})", note.path, note.reason));
        }
        text + &unfinished(output.index.as_ref())
    }
}

impl Context {
    /// The notes that match; if there are none and the query is a plain question, notes that match some of its words.
    fn find(&self, vault: &Vault) -> Result<(Found, bool)> {
        let mut restrictions = Vec::new();
        restrictions.extend(restrictions::path_condition(vault, self.path.as_deref())?);
        restrictions.extend(restrictions::tag_conditions(self.tags.as_deref())?);
        let find = |condition: Condition| {
            let mut conditions = vec![condition];
            conditions.extend(restrictions.clone());
            vault.find(&Query {
                condition: Some(restrictions::all_of(conditions)),
                limit: MAX_NOTES,
                fields: vec![Field::Links],
                snippets: MAX_PASSAGES_PER_NOTE,
                ..Query::default()
            })
        };
        let found = find(query::parse(&self.query, &vault.now())?)?;
        // Matches within other words are no better than matches of some of the words.
        let is_poor = found.total == 0 || !found.widened.is_empty();
        let Some(plain) =
            query::plain_words(&self.query).filter(|words| is_poor && words.len() > 1)
        else {
            return Ok((found, false));
        };
        let plain = plain
            .into_iter()
            .filter(|word| !words::query_terms(word).is_empty());
        let some = plain.map(|text| Condition::Words(Words { text, part: None }));
        let loosened = find(Condition::Any(some.collect()))?;
        Ok((loosened, true))
    }
}

/// A note that may contribute passages.
struct Candidate {
    path: String,
    score: Option<f64>,
    text: String,
    /// The best first.
    passages: Vec<Passage>,
}

/// The passages chosen so far.
struct Packer {
    budget: usize,
    used: usize,
    /// By note and passage, so that they can be sorted.
    chosen: Vec<(usize, usize, PassageItem)>,
    left_out: Vec<Skipped>,
}

impl Packer {
    fn new(budget: usize) -> Packer {
        Packer {
            budget,
            used: 0,
            chosen: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// Reads the matching notes.
    fn read(&mut self, vault: &Vault, found: &[FoundNote]) -> Result<Vec<Candidate>> {
        let mut candidates = Vec::new();
        for hit in found {
            let note = match read(vault, &hit.path)? {
                Ok(note) => note,
                Err(skipped) => {
                    self.left_out.push(skipped);
                    continue;
                }
            };
            let lines = Lines::of(&note.text);
            let places = hit.snippets.iter().map(|snippet| snippet.line as usize);
            let mut passages = lines.around(places);
            if passages.is_empty() {
                // The note matches by name or property: use its beginning.
                passages.extend(lines.beginning(LINKED_TOKENS * 2));
            }
            if passages.is_empty() {
                self.left_out.push(Skipped {
                    path: note.path.clone(),
                    reason: "the note has no text".to_owned(),
                });
            }
            candidates.push(Candidate {
                path: note.path,
                score: hit.score.map(rounded),
                text: note.text,
                passages,
            });
        }
        Ok(candidates)
    }

    /// Takes the best passage of each note, then the second best of each, and so on, up to a limit.
    fn passages(&mut self, candidates: &[Candidate], limit: usize) {
        for rank in 0..MAX_PASSAGES_PER_NOTE as usize {
            for (number, candidate) in candidates.iter().enumerate() {
                let is_chosen = self
                    .chosen
                    .iter()
                    .any(|(note, passage, _)| (*note, *passage) == (number, rank));
                let Some(passage) = candidate.passages.get(rank).filter(|_| !is_chosen) else {
                    continue;
                };
                let overhead = overhead(&candidate.path, passage);
                let room = limit.saturating_sub(self.used).saturating_sub(overhead);
                let fitting = if passage.tokens() <= room {
                    Some(passage.clone())
                } else {
                    Lines::of(&candidate.text).cut(passage, room)
                };
                let Some(fitting) = fitting else {
                    continue;
                };
                let is_cut = fitting.lines != passage.lines;
                self.used += overhead + fitting.tokens();
                let item = PassageItem {
                    score: candidate.score,
                    cut: is_cut.then_some(true),
                    ..passage_item(&candidate.path, fitting)
                };
                self.chosen.push((number, rank, item));
            }
        }
    }

    /// Takes the beginnings of notes that the best notes link to.
    fn linked(&mut self, vault: &Vault, found: &[FoundNote]) -> Result<()> {
        let mut known: HashSet<&str> = found.iter().map(|note| note.path.as_str()).collect();
        let mut targets = Vec::new();
        for note in found.iter().take(LINK_SOURCES) {
            let links = note.links.iter().flatten();
            let leading = links.filter_map(|link| link.path.as_deref());
            for target in leading.filter(|target| is_note(target)) {
                if known.insert(target) {
                    targets.push((target, &note.path));
                }
            }
        }
        for (number, (target, from)) in targets.into_iter().enumerate() {
            let left_out = |reason: &str| Skipped {
                path: target.to_owned(),
                reason: format!("linked from `{from}`; {reason}"),
            };
            if number >= MAX_LINKED_NOTES {
                self.left_out
                    .push(left_out("over the limit of linked notes"));
                continue;
            }
            let note = match read(vault, target)? {
                Ok(note) => note,
                Err(skipped) => {
                    self.left_out.push(skipped);
                    continue;
                }
            };
            let lines = Lines::of(&note.text);
            let Some(passage) = lines.beginning(LINKED_TOKENS) else {
                continue;
            };
            let cost = overhead(target, &passage) + passage.tokens();
            if self.used + cost > self.budget {
                self.left_out.push(left_out("over the budget"));
                continue;
            }
            self.used += cost;
            let item = PassageItem {
                linked_from: Some(from.clone()),
                ..passage_item(target, passage)
            };
            self.chosen.push((MAX_NOTES as usize + number, 0, item));
        }
        Ok(())
    }

    /// Records which of the matching notes have no passage.
    fn record_left_out(&mut self, found: &Found) {
        for note in &found.items {
            let is_included = self
                .chosen
                .iter()
                .any(|(_, _, item)| item.path == note.path);
            let is_known = self.left_out.iter().any(|left| left.path == note.path);
            if !is_included && !is_known {
                self.left_out.push(Skipped {
                    path: note.path.clone(),
                    reason: "over the budget".to_owned(),
                });
            }
        }
    }

    /// The passages by note, in line order within each note.
    fn into_items(self) -> Vec<PassageItem> {
        let mut chosen = self.chosen;
        chosen.sort_by_key(|(note, _, item)| (*note, item.line));
        chosen.into_iter().map(|(_, _, item)| item).collect()
    }
}

fn passage_item(path: &str, passage: Passage) -> PassageItem {
    PassageItem {
        path: path.to_owned(),
        line: *passage.lines.start(),
        to_line: *passage.lines.end(),
        section: passage.section,
        text: passage.text,
        score: None,
        linked_from: None,
        cut: None,
    }
}

/// The overhead of a passage in tokens, without its text.
fn overhead(path: &str, passage: &Passage) -> usize {
    let section = passage.section.as_deref().unwrap_or_default();
    PASSAGE_OVERHEAD_TOKENS + approx_tokens(path) + approx_tokens(section)
}
