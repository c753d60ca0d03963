//! The best passages of the best notes, packed into a budget of tokens.

use std::collections::HashSet;

use notehost_sdk::index::{Condition, Field, Found, FoundNote, Query, Words};
use notehost_sdk::prelude::*;
use notehost_sdk::text::approx_tokens;
use notehost_sdk::{is_note, words};

use crate::passages::{Lines, Passage};
use crate::text::rounded;
use crate::{narrowing, query};
use notehost_sdk::index::{Building, building, unfinished};
use notehost_sdk::matching::{Skipped, read};

/// How many notes are looked into.
const NOTES: u32 = 20;
/// How many places of each.
const PLACES: u32 = 6;
/// Of how many of the best notes the links are followed.
const LINKING: usize = 5;
/// How many linked notes are told.
const LINKED: usize = 8;
/// How much of a linked note is told, in tokens.
const LINKED_TOKENS: usize = 80;
/// What of the budget is kept for linked notes until they had their turn, in percent.
const KEPT: usize = 15;
/// What a passage costs beside its text and its path, in tokens.
const FRAME: usize = 6;

/// Collect what the notes say about a question: the best passages of the best notes, with the beginnings of notes that
/// they link to, packed into a token budget. `left_out` tells what did not fit.
///
/// Example: `{"query": "What must I buy for Saturday?", "budget_tokens": 1500}`
#[args]
pub struct Context {
    /// Words, as in `text`. If no note has all words of a plain question, notes with some of them are taken.
    pub query: String,
    /// How many tokens the passages may have, 100–50000 (default 2000).
    pub budget_tokens: Option<usize>,
    /// Folder, note or glob.
    pub path: Option<String>,
    /// Tags that the notes have, all of them.
    pub tags: Option<Vec<String>>,
}

/// Passages of notes.
#[reply]
pub struct Collected {
    /// The passages: notes in order of how well they fit, then linked ones.
    pub items: Vec<Told>,
    /// About how many tokens they have.
    pub tokens: usize,
    /// How many notes fit the query.
    pub total: u64,
    /// No note had all the words: these have some of them.
    pub loosened: Option<bool>,
    /// Notes that are not among the passages, and why.
    pub left_out: Option<Vec<Skipped>>,
    /// Only while the index is being built: notes may be missing.
    pub index: Option<Building>,
}

/// A passage.
#[reply]
pub struct Told {
    /// The note.
    pub path: String,
    /// Its first line.
    pub line: usize,
    /// Its last line.
    pub to_line: usize,
    /// The heading path of its section.
    pub section: Option<String>,
    /// The lines, whole.
    pub text: String,
    /// How well the note fits.
    pub score: Option<f64>,
    /// For a note that was not found itself: the note that links to it.
    pub linked_from: Option<String>,
    /// Whether more lines belong to it and did not fit.
    pub cut: Option<bool>,
}

impl Action for Context {
    type Output = Collected;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Collected> {
        let budget = match self.budget_tokens.unwrap_or(2000) {
            budget @ 100..=50_000 => budget,
            budget => {
                return Err(Error::validation(format!(
                    "`budget_tokens` is {budget}, and may be 100 to 50000"
                )));
            }
        };
        let (found, loosened) = self.find(vault)?;
        let mut packing = Packing::new(budget);
        let candidates = packing.read(vault, &found.items)?;
        packing.passages(&candidates, budget - budget * KEPT / 100);
        packing.linked(vault, &found.items)?;
        packing.passages(&candidates, budget);
        packing.leave_out(&found);
        let tokens = packing.used;
        let left_out = std::mem::take(&mut packing.left_out);
        Ok(Collected {
            items: packing.told(),
            tokens,
            total: found.total,
            loosened: loosened.then_some(true),
            left_out: (!left_out.is_empty()).then_some(left_out),
            index: building(vault),
        })
    }

    fn text(output: &Collected) -> String {
        let mut text = match output.items.len() {
            0 => "nothing was found".to_owned(),
            count => format!("{count} passages, about {} tokens", output.tokens),
        };
        if output.loosened.is_some() {
            text.push_str("\nno note has all of the words: these have some of them");
        }
        for told in &output.items {
            text.push_str(&format!(
                "\n\n## {}:{}-{}",
                told.path, told.line, told.to_line
            ));
            if let Some(section) = &told.section {
                text.push_str(&format!(" ({section})"));
            }
            if let Some(from) = &told.linked_from {
                text.push_str(&format!(" (linked from {from})"));
            }
            text.push('\n');
            text.push_str(&told.text);
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
    /// The notes that fit; where none does and the query is a plain question, those that fit some of it.
    fn find(&self, vault: &Vault) -> Result<(Found, bool)> {
        let mut narrower = Vec::new();
        narrower.extend(narrowing::within(vault, self.path.as_deref())?);
        narrower.extend(narrowing::tagged(self.tags.as_deref())?);
        let ask = |condition: Condition| {
            let mut conditions = vec![condition];
            conditions.extend(narrower.clone());
            vault.find(&Query {
                condition: Some(narrowing::all(conditions)),
                limit: NOTES,
                fields: vec![Field::Links],
                snippets: PLACES,
                ..Query::default()
            })
        };
        let found = ask(query::parse(&self.query, &vault.now())?)?;
        // One that is found only within other words is no better than some of the words.
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
        let loosened = ask(Condition::Any(some.collect()))?;
        Ok((loosened, true))
    }
}

/// A note that may be told of.
struct Candidate {
    path: String,
    score: Option<f64>,
    text: String,
    /// The best first.
    passages: Vec<Passage>,
}

/// What was chosen so far.
struct Packing {
    budget: usize,
    used: usize,
    /// By note and passage, so that they can be told in order.
    chosen: Vec<(usize, usize, Told)>,
    left_out: Vec<Skipped>,
}

impl Packing {
    fn new(budget: usize) -> Packing {
        Packing {
            budget,
            used: 0,
            chosen: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// Read the notes that were found.
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
                // It fits by its name or a property: what it begins with tells what it is.
                passages.extend(lines.beginning(LINKED_TOKENS * 2));
            }
            if passages.is_empty() {
                self.left_out.push(Skipped {
                    path: note.path.clone(),
                    reason: "it has no text".to_owned(),
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

    /// Take the best passage of each note, then the second of each, and so on, up to a limit.
    fn passages(&mut self, candidates: &[Candidate], limit: usize) {
        for rank in 0..PLACES as usize {
            for (number, candidate) in candidates.iter().enumerate() {
                let is_chosen = self
                    .chosen
                    .iter()
                    .any(|(note, passage, _)| (*note, *passage) == (number, rank));
                let Some(passage) = candidate.passages.get(rank).filter(|_| !is_chosen) else {
                    continue;
                };
                let frame = frame(&candidate.path, passage);
                let room = limit.saturating_sub(self.used).saturating_sub(frame);
                let fitting = if passage.tokens() <= room {
                    Some(passage.clone())
                } else {
                    Lines::of(&candidate.text).cut(passage, room)
                };
                let Some(fitting) = fitting else {
                    continue;
                };
                let is_cut = fitting.lines != passage.lines;
                self.used += frame + fitting.tokens();
                let told = Told {
                    score: candidate.score,
                    cut: is_cut.then_some(true),
                    ..told(&candidate.path, fitting)
                };
                self.chosen.push((number, rank, told));
            }
        }
    }

    /// Take the beginnings of notes that the best ones link to.
    fn linked(&mut self, vault: &Vault, found: &[FoundNote]) -> Result<()> {
        let mut known: HashSet<&str> = found.iter().map(|note| note.path.as_str()).collect();
        let mut targets = Vec::new();
        for note in found.iter().take(LINKING) {
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
            if number >= LINKED {
                self.left_out.push(left_out("others came first"));
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
            let cost = frame(target, &passage) + passage.tokens();
            if self.used + cost > self.budget {
                self.left_out.push(left_out("over the budget"));
                continue;
            }
            self.used += cost;
            let told = Told {
                linked_from: Some(from.clone()),
                ..told(target, passage)
            };
            self.chosen.push((NOTES as usize + number, 0, told));
        }
        Ok(())
    }

    /// Tell which of the notes that were found have no passage.
    fn leave_out(&mut self, found: &Found) {
        for note in &found.items {
            let is_told = self
                .chosen
                .iter()
                .any(|(_, _, told)| told.path == note.path);
            let is_known = self.left_out.iter().any(|left| left.path == note.path);
            if !is_told && !is_known {
                self.left_out.push(Skipped {
                    path: note.path.clone(),
                    reason: "over the budget".to_owned(),
                });
            }
        }
    }

    /// The passages, note by note, each note from its top.
    fn told(self) -> Vec<Told> {
        let mut chosen = self.chosen;
        chosen.sort_by_key(|(note, _, told)| (*note, told.line));
        chosen.into_iter().map(|(_, _, told)| told).collect()
    }
}

fn told(path: &str, passage: Passage) -> Told {
    Told {
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

/// What a passage costs beside its text.
fn frame(path: &str, passage: &Passage) -> usize {
    let section = passage.section.as_deref().unwrap_or_default();
    FRAME + approx_tokens(path) + approx_tokens(section)
}
