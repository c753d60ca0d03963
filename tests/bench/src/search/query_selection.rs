//! Chooses the query terms of any vault: reads all notes once and picks common and rare ones.

use std::collections::HashMap;
use std::fs;

use anyhow::Result;

use super::query::{Kind, VaultQuery};
use crate::vaults::Notes;

/// Number of different queries of each kind.
const QUERIES_PER_KIND: usize = 5;
/// Number of different notes to read.
const NOTES_TO_READ: usize = 200;

/// The chosen queries.
pub(crate) struct QuerySelection {
    pub(crate) kinds: Vec<Kind>,
    /// The path of the note with the most backlinks.
    pub(crate) hub: String,
    /// Total size of the notes in bytes.
    pub(crate) bytes: usize,
}

/// Per term, the number of notes that contain it and the last such note.
type Counts = HashMap<String, (usize, usize)>;

#[derive(Default)]
struct TermCounts {
    words: Counts,
    /// Pairs of adjacent characters of a script without spaces.
    pairs: Counts,
    tags: Counts,
    /// Targets of wikilinks, in lower case.
    targets: Counts,
    bytes: usize,
}

/// Reads all notes and chooses.
pub(crate) fn choose(notes: &Notes) -> Result<QuerySelection> {
    let mut terms = TermCounts::default();
    for (number, path) in notes.notes.iter().enumerate() {
        let text = fs::read_to_string(notes.folder.join(path))?;
        terms.note(&text, number);
    }
    let hub = hub(&terms, &notes.notes);
    let count = notes.notes.len();
    let common: Vec<String> = nearest(&terms.words, count, |word| word.len() >= 4);
    let rare = nearest(&terms.words, 3, |word| word.len() >= 6);
    let middle = nearest(&terms.words, count / 50 + 1, |word| word.len() >= 6);
    let pairs = nearest(&terms.pairs, count / 100 + 1, |_| true);
    let tag = nearest(&terms.tags, count, |_| true).into_iter().next();
    let kind = |what, bar: Option<f64>, queries: Vec<VaultQuery>| Kind {
        what,
        bar: bar.map(|milliseconds| milliseconds * 1e3),
        queries,
    };
    let step = (count / NOTES_TO_READ).max(1);
    let read = notes.notes.iter().step_by(step).take(NOTES_TO_READ);
    let kinds = vec![
        kind(
            "search, common word",
            Some(1.0),
            all(&common, VaultQuery::Word),
        ),
        kind("search, rare word", Some(1.0), all(&rare, VaultQuery::Word)),
        kind("search, phrase", Some(1.0), phrases(notes, &terms)?),
        kind("search, CJK", Some(1.0), all(&pairs, VaultQuery::Unspaced)),
        kind(
            "search, prefix",
            Some(1.0),
            middle
                .iter()
                .map(|word| VaultQuery::Prefix(word[..5].to_owned()))
                .collect(),
        ),
        kind(
            "regex, stem of a rare word",
            None,
            rare.iter()
                .map(|word| VaultQuery::Pattern(format!("\\b{}[a-z]+\\b", &word[..5])))
                .collect(),
        ),
        kind(
            "regex, dates",
            None,
            vec![VaultQuery::Pattern("\\b\\d{4}-0[1-6]-\\d{2}\\b".into())],
        ),
        kind(
            "backlinks of the hub",
            Some(0.3),
            vec![VaultQuery::Backlinks(hub.clone())],
        ),
        kind("tags", Some(0.3), vec![VaultQuery::Tags]),
        kind(
            "notes of a tag",
            Some(0.3),
            tag.into_iter().map(VaultQuery::Tagged).collect(),
        ),
        kind("unresolved links", Some(0.3), vec![VaultQuery::Unresolved]),
        kind(
            "read a note",
            Some(0.12),
            read.cloned().map(VaultQuery::Read).collect(),
        ),
    ];
    Ok(QuerySelection {
        // A vault without Chinese text gets no such queries.
        kinds: kinds
            .into_iter()
            .filter(|kind| !kind.queries.is_empty())
            .collect(),
        hub,
        bytes: terms.bytes,
    })
}

/// The first word that a kind of queries searches for.
pub(crate) fn first_word(kind: &Kind) -> Option<String> {
    kind.queries.iter().find_map(|query| match query {
        VaultQuery::Word(word) => Some(word.clone()),
        _ => None,
    })
}

fn all(words: &[String], query: impl Fn(String) -> VaultQuery) -> Vec<VaultQuery> {
    words.iter().cloned().map(query).collect()
}

impl TermCounts {
    fn note(&mut self, text: &str, number: usize) {
        self.bytes += text.len();
        let runs = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        for run in runs {
            // Words on which all tokenizers agree.
            if (4..=20).contains(&run.len()) && run.bytes().all(|byte| byte.is_ascii_alphabetic()) {
                if run.bytes().all(|byte| byte.is_ascii_lowercase()) {
                    count(&mut self.words, run, number);
                } else {
                    count(&mut self.words, &run.to_ascii_lowercase(), number);
                }
            }
        }
        let mut before = None;
        for (at, letter) in text.char_indices() {
            let end = at + letter.len_utf8();
            let is_unspaced = matches!(letter, '\u{3041}'..='\u{30FF}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}');
            if let (true, Some(from)) = (is_unspaced, before) {
                count(&mut self.pairs, &text[from..end], number);
            }
            before = is_unspaced.then_some(at);
        }
        for (at, mark) in text.match_indices(" #") {
            let after = &text[at + mark.len()..];
            let end =
                after.find(|letter: char| !letter.is_alphanumeric() && !"/-_".contains(letter));
            let tag = &after[..end.unwrap_or(after.len())];
            // A `#` in a code comment is not a tag.
            if tag.contains(char::is_alphabetic) && !text[..at].ends_with("//") {
                count(&mut self.tags, tag, number);
            }
        }
        for after in text.split("[[").skip(1) {
            let end = after
                .find(['|', '#', ']', '\\', '\n'])
                .unwrap_or(after.len());
            let name = after[..end].rsplit('/').next().unwrap_or_default();
            if !name.is_empty() {
                count(&mut self.targets, &name.to_lowercase(), number);
            }
        }
    }
}

fn count(counts: &mut Counts, thing: &str, note: usize) {
    match counts.get_mut(thing) {
        Some((count, last)) if *last != note => {
            *count += 1;
            *last = note;
        }
        Some(_) => {}
        None => {
            counts.insert(thing.to_owned(), (1, note));
        }
    }
}

/// The terms whose count is nearest to the wanted one; deterministic.
fn nearest(counts: &Counts, target_count: usize, fits: impl Fn(&str) -> bool) -> Vec<String> {
    let mut things: Vec<(usize, &String)> = counts
        .iter()
        .filter(|(thing, _)| fits(thing))
        .map(|(thing, (count, _))| (count.abs_diff(target_count), thing))
        .collect();
    things.sort_unstable();
    things
        .into_iter()
        .take(QUERIES_PER_KIND)
        .map(|(_, thing)| thing.clone())
        .collect()
}

/// Two adjacent words that are both as common as possible, but not in most notes.
fn phrases(notes: &Notes, terms: &TermCounts) -> Result<Vec<VaultQuery>> {
    let all = notes.notes.len();
    let commonness = |word: &str| {
        let count = terms.words.get(word).map_or(0, |(count, _)| *count);
        let is_plain = word.bytes().all(|byte| byte.is_ascii_lowercase());
        if is_plain && count <= all / 2 {
            count
        } else {
            0
        }
    };
    let mut phrases: Vec<(usize, String)> = Vec::new();
    let step = (all / 50).max(1);
    for path in notes.notes.iter().step_by(step) {
        let text = fs::read_to_string(notes.folder.join(path))?;
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            phrases.extend(words.windows(2).map(|pair| {
                let rarer = commonness(pair[0]).min(commonness(pair[1]));
                (rarer, pair.join(" "))
            }));
        }
    }
    phrases.retain(|(commonness, _)| *commonness > 0);
    phrases.sort_unstable_by(|left, right| right.cmp(left));
    phrases.dedup();
    phrases.truncate(QUERIES_PER_KIND);
    Ok(phrases
        .into_iter()
        .map(|(_, phrase)| VaultQuery::Phrase(phrase))
        .collect())
}

/// The note `Hub`, or else the note with the most links to its name.
fn hub(terms: &TermCounts, notes: &[String]) -> String {
    let mut by_name: HashMap<String, Vec<&String>> = HashMap::new();
    for path in notes {
        let name = path.rsplit('/').next().unwrap_or(path);
        let name = name.trim_end_matches(".md").to_lowercase();
        by_name.entry(name).or_default().push(path);
    }
    let unique = |name: &str| match by_name.get(name).map(Vec::as_slice) {
        Some([path]) => Some((*path).clone()),
        _ => None,
    };
    let most_linked = || {
        let mut targets: Vec<(usize, &String)> = terms
            .targets
            .iter()
            .map(|(name, (count, _))| (*count, name))
            .collect();
        targets.sort_unstable_by(|left, right| right.cmp(left));
        targets.into_iter().find_map(|(_, name)| unique(name))
    };
    unique("hub")
        .or_else(most_linked)
        .unwrap_or_else(|| notes[0].clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_once_per_note() {
        let mut terms = TermCounts::default();
        terms.note("alpha Alpha [[Folder/Some note#x|y]] #area/one 中文字", 0);
        terms.note("alpha code_alpha [[some note]] #area/one", 1);
        assert_eq!(terms.words["alpha"].0, 2);
        assert_eq!(terms.targets["some note"].0, 2);
        assert_eq!(terms.tags["area/one"].0, 2);
        assert_eq!(terms.pairs.len(), 2);
        assert_eq!(nearest(&terms.words, 2, |_| true)[0], "alpha");
    }
}
