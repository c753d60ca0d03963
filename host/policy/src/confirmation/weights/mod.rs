//! What a call does to the words and lines of its notes. It depends on the bytes only, so it is computed once, before
//! anything is locked; `loss.rs` then counts it against what the caller did before.
//!
//! Lines that both texts have are left out first. Where what is left is too large, or has too many different words, only
//! sums are kept: everything between the first and the last difference then counts as removed and as added.

use std::collections::HashMap;

use super::loss::Ledger;
use super::word_bag::{
    Bag, bag, cancel, count_words, differing_lines, filled_lines, hashed_words, middles, sum, take,
    with_links_alike,
};
use notehost_vault::{ChangeKind, StagedChange};

/// A call that loses so many lines more has content dropped, however long its notes are.
pub(super) const MANY_LINES: u64 = 20;
/// So many words that are lost count as a line at least: lines may be joined before they are dropped.
pub(super) const WORDS_PER_LINE: u64 = 100;
/// Larger differences are not counted word by word.
const MAX_TEXT_BYTES: usize = 8 << 20;
/// Where links follow a rename, larger texts are compared as they are.
const MAX_LINKED_BYTES: usize = 1 << 20;
/// The maximum number of different words or lines of one text that are distinguished.
const MAX_DIFFERENT: usize = 256 << 10;

/// What one call may take to be counted word by word, so that its weights are never more than some tens of megabytes.
pub(super) struct Budget {
    /// Bytes of text that are gone through.
    bytes: usize,
    /// Different words that are kept.
    words: usize,
    /// Words of lines that are kept.
    words_in_lines: usize,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            bytes: 32 << 20,
            words: 512 << 10,
            words_in_lines: 1 << 20,
        }
    }
}

impl Budget {
    /// The words of a text, if they may be counted.
    fn bag(&mut self, text: &str) -> Option<Bag> {
        if text.len() > MAX_TEXT_BYTES {
            return None;
        }
        spend(&mut self.bytes, text.len())
            .then(|| bag(text, MAX_DIFFERENT.min(self.words)))
            .flatten()
    }

    /// The words that leave a text and that come to it.
    fn difference(&mut self, old: &str, new: &str) -> Option<(Bag, Bag)> {
        let (mut removed, mut added) = (self.bag(old)?, self.bag(new)?);
        cancel(&mut removed, &mut added);
        spend(&mut self.words, removed.len() + added.len()).then_some((removed, added))
    }
}

/// Take so much of what is left; `false` if there is not enough.
fn spend(left: &mut usize, amount: usize) -> bool {
    let rest = left.checked_sub(amount);
    *left = rest.unwrap_or(*left);
    rest.is_some()
}

/// The weights of all changes of a call.
#[derive(Debug, Clone, Default)]
pub struct CallWeights {
    pub(super) notes: Vec<NoteWeights>,
    lost_lines: u64,
    /// Whether content is replaced that cannot be counted.
    replaces_unseen: bool,
}

/// The weights of one change.
#[derive(Debug, Clone)]
pub(super) struct NoteWeights {
    pub(super) path: String,
    /// The earlier path of a note that is renamed.
    pub(super) from: Option<String>,
    pub(super) is_deleted: bool,
    /// `None` if it is not text, only renamed, or too large to show.
    pub(super) text: Option<TextWeights>,
    /// How many of its words are in none of the call's notes afterwards. What cannot be counted is more than anything.
    lost: u64,
}

/// What a change does to the words of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TextWeights {
    /// Words that leave the note.
    pub(super) removed: Bag,
    /// Words that come to it.
    pub(super) added: Bag,
    /// Words that leave it or come to it, of which only the number is known.
    pub(super) removed_more: u64,
    pub(super) added_more: u64,
    /// All words that were in the note; `None` if nothing leaves it, or if they are too many.
    pub(super) before: Option<Bag>,
    /// How many words were in the note.
    pub(super) words_before: u64,
    /// The lines of the old text most of whose words leave the note.
    lines: Lines,
    /// How many lines were joined with others.
    pub(super) joined: u64,
    /// The caller did not write what comes to it: it was in the trash or in the history.
    pub(super) is_restored: bool,
}

/// Lines, as the words on them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Lines {
    /// The words of all of them, one line after the other, and where each line ends.
    words: Vec<u64>,
    ends: Vec<usize>,
    /// Lines of which only the number is known.
    more: u64,
}

impl CallWeights {
    /// Go through the words of these changes.
    pub fn of(changes: &[StagedChange]) -> CallWeights {
        CallWeights::with_restored(changes, |_| false)
    }

    /// Go through the words of these changes, where the caller did not write the text of some notes: it comes from the
    /// trash or from the history, and stays that of its author.
    pub fn with_restored(
        changes: &[StagedChange],
        is_restored: impl Fn(&str) -> bool,
    ) -> CallWeights {
        let links_alike = changes.iter().any(|change| change.from.is_some());
        let mut budget = Budget::default();
        let mut replaces_unseen = false;
        let mut notes: Vec<NoteWeights> = changes
            .iter()
            .map(|change| {
                let seen = seen(change);
                let is_replaced = change.etag_before.is_some() && change.after.is_some();
                replaces_unseen |= is_replaced && seen.is_none();
                let text = seen.map(|(before, after)| TextWeights {
                    is_restored: is_restored(&change.path),
                    ..TextWeights::of(before, after, links_alike, &mut budget)
                });
                NoteWeights {
                    path: change.path.clone(),
                    from: change.from.clone(),
                    is_deleted: change.kind == ChangeKind::Delete,
                    text,
                    // What was not there, or is only renamed, loses nothing.
                    lost: match change.etag_before.is_some() && !is_only_renamed(change) {
                        true => u64::MAX,
                        false => 0,
                    },
                }
            })
            .collect();
        let lost_lines = count_lost(&mut notes);
        CallWeights {
            notes,
            lost_lines,
            replaces_unseen,
        }
    }

    /// How many words each change loses: words that were in the note and are in none of the notes afterwards. What cannot
    /// be counted is more than anything.
    pub fn lost_words(&self) -> impl Iterator<Item = u64> {
        self.notes.iter().map(|note| note.lost)
    }

    /// Whether content is lost, not only replaced or moved to another note: of some note more than half of the words are
    /// gone from all of these notes, or many lines are. That links follow a note that is renamed loses nothing.
    pub fn drops_content(&self) -> bool {
        let texts = || {
            let notes = self.notes.iter();
            notes.filter_map(|note| Some((note.text.as_ref()?, note.lost)))
        };
        let is_more_than_half =
            |(text, lost): (&TextWeights, u64)| lost.saturating_mul(2) > text.words_before;
        self.replaces_unseen || texts().any(is_more_than_half) || self.lost_lines > MANY_LINES
    }

    /// The notes that are there afterwards.
    pub(super) fn remaining(&self) -> impl Iterator<Item = &NoteWeights> {
        self.notes.iter().filter(|note| !note.is_deleted)
    }

    /// Whether no word leaves any note, as in most calls.
    pub fn only_adds(&self) -> bool {
        let mut notes = self.notes.iter();
        notes.all(|note| note.text.as_ref().is_some_and(TextWeights::only_adds) && !note.is_deleted)
    }
}

impl NoteWeights {
    /// How many words it loses, without those that the caller wrote. What cannot be counted is more than anything.
    pub(super) fn lost_of_others(&self, ledger: &Ledger) -> u64 {
        match (&self.text, self.lost) {
            (Some(text), lost) if lost < u64::MAX => lost.saturating_sub(ledger.own_among(text)),
            (_, lost) => lost,
        }
    }

    /// Where the note is before the call.
    pub(super) fn earlier_path(&self) -> &str {
        self.from.as_deref().unwrap_or(&self.path)
    }
}

impl TextWeights {
    pub(super) fn of(
        before: &str,
        after: &str,
        links_alike: bool,
        budget: &mut Budget,
    ) -> TextWeights {
        if links_alike && before.len() + after.len() <= MAX_LINKED_BYTES {
            let alike = [before, after].map(with_links_alike);
            return TextWeights::of(&alike[0], &alike[1], false, budget);
        }
        let middles = middles(before, after);
        let (old, new) = middles.lines;
        let size = old.len() + new.len();
        let rest = match size <= MAX_TEXT_BYTES && spend(&mut budget.bytes, size) {
            true => differing_lines(old, new, MAX_DIFFERENT),
            false => None,
        };
        let rest = rest.as_ref().map(|(old, new)| (old.as_str(), new.as_str()));
        let mut counted = None;
        for (old, new) in rest.into_iter().chain([middles.words]) {
            counted = budget.difference(old, new);
            if counted.is_some() {
                break;
            }
        }
        let Some((removed, added)) = counted else {
            let (old, new) = middles.words;
            return TextWeights {
                removed_more: count_words(old),
                added_more: count_words(new),
                words_before: count_words(before),
                lines: Lines {
                    more: filled_lines(old).count() as u64,
                    ..Lines::default()
                },
                ..TextWeights::default()
            };
        };
        let (old, new) = rest.unwrap_or_default();
        let lines = Lines::of(old, &removed, &mut budget.words_in_lines);
        let stay = filled_lines(old).count() as u64 - lines.count();
        let joined = match stay {
            0 => 0,
            _ => {
                let fresh = Lines::of(new, &added, &mut 0).count();
                let from_before = filled_lines(new).count() as u64 - fresh;
                stay.saturating_sub(from_before)
            }
        };
        if removed.is_empty() {
            // Nothing is judged, so nothing more has to be counted.
            return TextWeights {
                added,
                joined,
                ..TextWeights::default()
            };
        }
        let whole = budget
            .bag(before)
            .filter(|whole| spend(&mut budget.words, whole.len()));
        TextWeights {
            removed,
            added,
            words_before: match &whole {
                Some(whole) => sum(whole),
                None => count_words(before),
            },
            before: whole,
            lines,
            joined,
            ..TextWeights::default()
        }
    }

    pub(super) fn only_adds(&self) -> bool {
        self.removed.is_empty() && self.removed_more == 0
    }

    /// How many lines are lost with these words, and with so many of which only the number is known. Words that only
    /// move, or that are free to drop, are not among them.
    pub(super) fn lines_of(&self, lost: &Bag, lost_more: u64) -> u64 {
        let all = sum(lost) + lost_more;
        let unknown = share(self.lines.more, all, sum(&self.removed) + self.removed_more);
        (self.lines.lost(lost) + unknown).max(all / WORDS_PER_LINE)
    }
}

impl Lines {
    /// The lines of a text most of whose words are among these.
    fn of(text: &str, among: &Bag, budget: &mut usize) -> Lines {
        let mut lines = Lines::default();
        let mut left = among.clone();
        if left.is_empty() {
            return lines;
        }
        for line in filled_lines(text) {
            let words = hashed_words(line);
            if !is_mostly_among(&words, &mut left) {
                continue;
            }
            match spend(budget, words.len()) {
                true => {
                    lines.words.extend(words);
                    lines.ends.push(lines.words.len());
                }
                false => lines.more += 1,
            }
        }
        lines
    }

    fn count(&self) -> u64 {
        self.ends.len() as u64 + self.more
    }

    /// How many of them are lost with these words, as far as their words are known.
    fn lost(&self, lost: &Bag) -> u64 {
        if lost.is_empty() {
            return 0;
        }
        let mut left = lost.clone();
        let starts = std::iter::once(&0).chain(&self.ends);
        let lines = starts.zip(&self.ends);
        let lost = lines.filter(|(start, end)| {
            let words = self.words.get(**start..**end).unwrap_or_default();
            is_mostly_among(words, &mut left)
        });
        lost.count() as u64
    }
}

/// Whether most words of a line are in a bag. If so they are taken out: every word is on one line.
fn is_mostly_among(line: &[u64], bag: &mut Bag) -> bool {
    let mut taken = Vec::new();
    for word in line {
        if take(bag, *word, 1) > 0 {
            taken.push(*word);
        }
    }
    let is_most = taken.len() * 2 > line.len();
    if !is_most {
        for word in taken {
            *bag.entry(word).or_default() += 1;
        }
    }
    is_most
}

/// `value * part / whole`, rounded up, and never more than `value`.
pub(super) fn share(value: u64, part: u64, whole: u64) -> u64 {
    if part == 0 || whole == 0 {
        return 0;
    }
    let part = u128::from(part.min(whole));
    let shared = (u128::from(value) * part).div_ceil(u128::from(whole));
    u64::try_from(shared).unwrap_or(value)
}

/// Both texts of a change, if there are two that can be compared.
fn seen(change: &StagedChange) -> Option<(&str, &str)> {
    let is_unseen = change.etag_before.is_some() && change.before.is_none();
    if is_unseen || is_only_renamed(change) || change.before.is_none() && change.after.is_none() {
        return None;
    }
    let before = std::str::from_utf8(change.before.as_deref().unwrap_or_default()).ok()?;
    let after = std::str::from_utf8(change.after.as_deref().unwrap_or_default()).ok()?;
    Some((before, after))
}

fn is_only_renamed(change: &StagedChange) -> bool {
    change.kind == ChangeKind::Rename && change.before.is_none() && change.after.is_none()
}

/// Counts the words that each note loses, and returns how many lines all of them lose. Words that leave one note and come
/// to another are not lost.
fn count_lost(notes: &mut [NoteWeights]) -> u64 {
    // How many of each word these notes have more than before, or less.
    let mut net: HashMap<u64, i64> = HashMap::new();
    for text in notes.iter().filter_map(|note| note.text.as_ref()) {
        for (word, count) in &text.added {
            *net.entry(*word).or_default() += i64::from(*count);
        }
        for (word, count) in &text.removed {
            *net.entry(*word).or_default() -= i64::from(*count);
        }
    }
    let mut lines = 0;
    for note in notes {
        if let Some(text) = &note.text {
            let gone = text.removed.iter();
            let gone = gone.filter(|(word, _)| net.get(word).is_some_and(|net| *net < 0));
            let gone: Bag = gone.map(|(word, count)| (*word, *count)).collect();
            note.lost = sum(&gone) + text.removed_more;
            lines += text.lines_of(&gone, text.removed_more);
        }
    }
    lines
}

#[cfg(test)]
mod tests;
