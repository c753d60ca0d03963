//! Content that a caller dropped from a note over several calls: the arithmetic, without disk or clock.
//!
//! The words of a note are either the caller's own (it added them within the window) or not. Dropping its own words is
//! free. Every other word that it drops is lost, until the caller brings it back. The share that is lost is measured
//! against what would be there without this caller: the words that are not its own, and those that it lost. One call that
//! replaces half of a note and nine calls that each replace half of what is left are judged alike.
//!
//! Words that move from one note to another within a call are not lost, and do not become the caller's own either. What was
//! lost around them goes with them, in proportion: a note of moved words is judged like the note that they came from.
//! Words that come back from the trash or from the history do not become the caller's own, unless they were: what it added
//! and dropped is its own again, so that nobody enlarges a note by undoing what it dropped of itself.

use serde::{Deserialize, Serialize};

use super::weights::{MANY_LINES, TextWeights, WORDS_PER_LINE, share};
use super::word_bag::{Bag, sum, take};

/// The counting window in hours.
pub(super) const WINDOW_HOURS: i64 = 24;
/// How many different words are remembered per note and kind. Of the caller's own words that do not fit only the number is
/// kept; when they are dropped they count as somebody else's, except for a small share of the note.
pub(super) const MAX_WORDS: usize = 64 << 10;
/// One of so many words may be taken for one of the caller's own that only the number is known of.
const FREE_SHARE: u64 = 20;

/// What one caller did to one note within the window.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ledger {
    /// Words that the caller added.
    own: Bag,
    /// Words that it added and dropped again: if they are restored, they are its own again.
    dropped: Bag,
    /// Words of others that it dropped and has not brought back.
    lost: Bag,
    /// How much it dropped, by hour.
    hours: Vec<Hour>,
}

/// What was dropped within an hour.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Hour {
    hour: i64,
    words: u64,
    /// Lines with something on them that went with those words.
    lines: u64,
    /// Words that the caller added and that are not in `own`.
    own_more: u64,
    /// Words that were dropped and taken for some of those.
    free: u64,
    /// Words that the caller added and dropped, and that are not in `dropped`.
    dropped_more: u64,
    /// Lines that it joined with others: they can no longer be seen to be lost.
    joined: u64,
}

/// One note of a call.
pub(super) struct NoteEdit<'w> {
    pub(super) ledger: Ledger,
    pub(super) text: &'w TextWeights,
}

impl Ledger {
    /// How many words of others were dropped.
    pub(super) fn lost_words(&self) -> u64 {
        self.hours.iter().map(|hour| hour.words).sum()
    }

    /// How many lines were dropped of a note that has so many words of others, those that were dropped among them. Lines
    /// that were joined first are dropped as its words are.
    fn lost_lines(&self, others: u64) -> u64 {
        let sum = |of: fn(&Hour) -> u64| self.hours.iter().map(of).sum::<u64>();
        let lost = u128::from(self.lost_words().min(others));
        let joined = u128::from(sum(|hour| hour.joined)) * lost / u128::from(others.max(1));
        let joined = u64::try_from(joined).unwrap_or(u64::MAX);
        let lines = sum(|hour| hour.lines).saturating_add(joined);
        lines.max(self.lost_words() / WORDS_PER_LINE)
    }

    /// How many of the words that leave a note are the caller's own.
    pub(super) fn own_among(&self, text: &TextWeights) -> u64 {
        let known = text.removed.iter().map(|(word, count)| {
            let own = self.own.get(word).map_or(0, |own| *own.min(count));
            u64::from(own)
        });
        let known: u64 = known.sum();
        let rest = sum(&text.removed) - known + text.removed_more;
        known + rest.min(self.own_more())
    }

    /// A person approved: counting restarts. The caller's additions stay its own.
    pub(super) fn reset(&mut self) {
        self.lost.clear();
        for hour in &mut self.hours {
            (hour.words, hour.lines, hour.free, hour.joined) = (0, 0, 0, 0);
        }
        self.tidy();
    }

    /// Keeps the sums only.
    pub(super) fn slim(&mut self, hour: i64) {
        let own = sum(&self.own);
        self.own.clear();
        self.lost.clear();
        if own > 0 {
            self.hour(hour).own_more += own;
        }
        self.slim_dropped(hour);
    }

    fn slim_dropped(&mut self, hour: i64) {
        let dropped = sum(&self.dropped);
        self.dropped.clear();
        if dropped > 0 {
            self.hour(hour).dropped_more += dropped;
        }
    }

    fn expire(&mut self, hour: i64) {
        self.hours
            .retain(|one| one.hour > hour - WINDOW_HOURS && one.hour <= hour);
    }

    fn hour(&mut self, hour: i64) -> &mut Hour {
        let at = self.hours.partition_point(|one| one.hour < hour);
        if self.hours.get(at).is_none_or(|one| one.hour != hour) {
            let new = Hour {
                hour,
                ..Hour::default()
            };
            self.hours.insert(at, new);
        }
        &mut self.hours[at]
    }

    /// Words came back: what was dropped last is taken off first, with its lines.
    fn credit_returned(&mut self, mut words: u64) {
        for hour in self.hours.iter_mut().rev() {
            let back = words.min(hour.words);
            hour.lines = share(hour.lines, hour.words - back, hour.words);
            hour.words -= back;
            words -= back;
        }
    }

    /// How many of the caller's own words are in the note, at most.
    fn own_words(&self) -> u64 {
        sum(&self.own) + self.own_more()
    }

    fn own_more(&self) -> u64 {
        self.hours.iter().map(|hour| hour.own_more).sum()
    }

    /// How many more words may be taken for the caller's own, in a note with so many words of which so many at least are
    /// those of others. A note that a caller fills with words of its own loses no more of the others' for it.
    fn free_words(&self, words: u64, others: u64) -> u64 {
        let free: u64 = self.hours.iter().map(|hour| hour.free).sum();
        let base = match others {
            0 => words,
            others => others,
        };
        let most = (base.saturating_add(free) / FREE_SHARE).saturating_sub(free);
        most.min(self.own_more())
    }

    /// Takes so many dropped words for the caller's own.
    fn take_own_more(&mut self, hour: i64, words: u64) {
        let mut left = words;
        for one in &mut self.hours {
            let taken = left.min(one.own_more);
            one.own_more -= taken;
            left -= taken;
        }
        if words > 0 {
            let now = self.hour(hour);
            now.free += words;
            now.dropped_more += words;
        }
    }

    /// Words of the caller's own are no longer in the note.
    fn drop_own(&mut self, hour: i64, word: u64, count: u32) {
        if !add(&mut self.dropped, word, count) {
            self.hour(hour).dropped_more += u64::from(count);
        }
    }

    /// So many words were restored that are not known one by one: as many as the caller dropped of its own are its own again.
    fn restore_own_more(&mut self, hour: i64, words: u64) {
        let mut left = words;
        for one in &mut self.hours {
            let taken = left.min(one.dropped_more);
            one.dropped_more -= taken;
            left -= taken;
        }
        if words > left {
            self.hour(hour).own_more += words - left;
        }
    }

    /// The caller added words.
    fn add_own(&mut self, hour: i64, word: u64, count: u32) {
        if !add(&mut self.own, word, count) {
            self.hour(hour).own_more += u64::from(count);
        }
    }

    /// Removes empty hours.
    fn tidy(&mut self) {
        self.hours.retain(|one| {
            let empty = Hour {
                hour: one.hour,
                ..Hour::default()
            };
            *one != empty
        });
    }
}

/// Counts a call that changes these notes. Returns for each note whether the call drops content of others and the sum of
/// what the caller dropped meets the floor.
pub(super) fn count(notes: &mut [NoteEdit<'_>], hour: i64) -> Vec<bool> {
    let edits: Vec<Edit> = notes
        .iter_mut()
        .map(|note| {
            note.ledger.expire(hour);
            Edit::of(note, hour)
        })
        .collect();
    // What others wrote and is only moved within this call stays theirs.
    let mut moved = moved(notes, &edits);
    let mut arriving = moved.clone();
    let moving = sum(&moved);
    let mut carried = Vec::new();
    let mut judged = Vec::new();
    for (note, edit) in notes.iter_mut().zip(&edits) {
        let ledger = &mut note.ledger;
        let earlier = ledger.lost_words();
        let (mut lost, mut gone) = (Bag::new(), 0);
        for (word, count) in &edit.removed {
            let left = take(&mut moved, *word, *count);
            gone += u64::from(left);
            if *count > left {
                lost.insert(*word, count - left);
                add(&mut ledger.lost, *word, count - left);
            }
        }
        let lines = note.text.lines_of(&lost, edit.removed_more);
        let lost = sum(&lost) + edit.removed_more;
        if lost > 0 || note.text.joined > 0 {
            let now = ledger.hour(hour);
            now.words += lost;
            now.lines += lines;
            now.joined += note.text.joined;
        }
        if gone > 0 {
            // Of what others wrote and is still there, so much leaves.
            let stays = edit.others.saturating_sub(lost);
            carried.extend(ledger.hours.iter().map(|one| Hour {
                words: share(one.words, gone, stays),
                lines: share(one.lines, gone, stays),
                joined: share(one.joined, gone, stays),
                own_more: 0,
                free: 0,
                dropped_more: 0,
                ..*one
            }));
        }
        judged.push(earlier);
    }
    for (note, earlier) in notes.iter_mut().zip(&mut judged) {
        let ledger = &mut note.ledger;
        let (mut back, mut came, mut restored) = (0, 0, 0);
        for (word, count) in &note.text.added {
            let arrived = take(&mut arriving, *word, *count);
            came += u64::from(arrived);
            let returned = take(&mut ledger.lost, *word, count - arrived);
            back += u64::from(returned);
            let new = count - arrived - returned;
            let again = take(&mut ledger.dropped, *word, new);
            match note.text.is_restored {
                false => ledger.add_own(hour, *word, new),
                true => {
                    ledger.add_own(hour, *word, again);
                    restored += u64::from(new - again);
                }
            }
        }
        if note.text.is_restored {
            if note.text.added_more > 0 {
                ledger.slim_dropped(hour);
            }
            ledger.restore_own_more(hour, restored + note.text.added_more);
        } else if note.text.added_more > 0 {
            ledger.hour(hour).own_more += note.text.added_more;
        }
        ledger.credit_returned(back);
        for one in &carried {
            let words = share(one.words, came, moving);
            let now = ledger.hour(one.hour);
            now.words += words;
            now.lines += share(one.lines, came, moving);
            now.joined += share(one.joined, came, moving);
            // This note did not lose it.
            *earlier += words;
        }
        ledger.tidy();
    }
    let all = notes.iter().zip(&edits).zip(judged);
    all.map(|((note, edit), earlier)| {
        let now = note.ledger.lost_words();
        let others = edit.others + earlier;
        let is_over = now * 2 > others || note.ledger.lost_lines(others) > MANY_LINES;
        now > earlier && is_over
    })
    .collect()
}

/// What a call does to what others wrote in one note.
struct Edit {
    /// Words of others that leave the note.
    removed: Bag,
    /// More of them, of which only the number is known.
    removed_more: u64,
    /// How many words of others were in the note, at least.
    others: u64,
}

impl Edit {
    /// Takes the caller's own words that leave the note off the ledger.
    fn of(note: &mut NoteEdit<'_>, hour: i64) -> Edit {
        let mut removed = note.text.removed.clone();
        let mut dropped = Vec::new();
        if let Some(before) = &note.text.before {
            // Somebody else may have removed what the caller added.
            note.ledger.own.retain(|word, count| {
                let there = before.get(word).map_or(0, |there| *there.min(count));
                dropped.push((*word, *count - there));
                *count = there;
                *count > 0
            });
        }
        let words = note.text.words_before;
        let others = words.saturating_sub(note.ledger.own_words());
        let own = &mut note.ledger.own;
        removed.retain(|word, count| {
            let taken = take(own, *word, *count);
            dropped.push((*word, taken));
            *count -= taken;
            *count > 0
        });
        for (word, count) in dropped {
            note.ledger.drop_own(hour, word, count);
        }
        let free = note.ledger.free_words(words, others);
        let mut left = free;
        removed.retain(|_, count| {
            let taken = u32::try_from(left).unwrap_or(u32::MAX).min(*count);
            *count -= taken;
            left -= u64::from(taken);
            *count > 0
        });
        let more = left.min(note.text.removed_more);
        note.ledger.take_own_more(hour, free - left + more);
        Edit {
            removed,
            removed_more: note.text.removed_more - more,
            others,
        }
    }
}

/// How many of each word leave one of these notes and arrive in another.
fn moved(notes: &[NoteEdit<'_>], edits: &[Edit]) -> Bag {
    let mut removed = Bag::new();
    let mut added = Bag::new();
    for (note, edit) in notes.iter().zip(edits) {
        for (word, count) in &edit.removed {
            *removed.entry(*word).or_default() += count;
        }
        for (word, count) in &note.text.added {
            *added.entry(*word).or_default() += count;
        }
    }
    removed
        .into_iter()
        .filter_map(|(word, count)| Some((word, count.min(*added.get(&word)?))))
        .collect()
}

/// Adds so many of a word to a bag of a ledger; `false` if there is no room.
fn add(bag: &mut Bag, word: u64, count: u32) -> bool {
    let fits = bag.len() < MAX_WORDS || bag.contains_key(&word);
    if count > 0 && fits {
        let known = bag.entry(word).or_default();
        *known = known.saturating_add(count);
    }
    fits
}

#[cfg(test)]
mod tests;
