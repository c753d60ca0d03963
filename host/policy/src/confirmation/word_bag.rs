//! Word counts of texts: multisets of word hashes, and the parts in which two texts differ.
//!
//! Words are separated by white space. In scripts without spaces (Chinese, Japanese, Thai, …) every character counts as
//! a pair with the next one, so that texts are not considered alike because they share characters.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher as _, RandomState};

use notehost_sdk::text::links;

/// A word counts as one for every so many characters, and at least as one.
const PIECE_CHARS: usize = 16;

/// A multiset of words, as hashes.
pub(super) type Bag = BTreeMap<u64, u32>;

/// The placeholder word for any link.
const ANY_LINK: &str = " [[]] ";

/// The words of a text as a multiset; `None` if more than so many of them are different.
pub(super) fn bag(text: &str, max_different: usize) -> Option<Bag> {
    // Words repeat, and hashing is the larger part of the work.
    let mut counts: HashMap<&str, u32> = HashMap::new();
    let mut fits = true;
    each_word(text, |word| {
        fits &= counts.len() <= max_different;
        if fits {
            *counts.entry(word).or_default() += 1;
        }
    });
    if counts.len() > max_different {
        return None;
    }
    let mut bag = Bag::new();
    for (word, count) in counts {
        *bag.entry(hash(word)).or_default() += count;
    }
    Some(bag)
}

/// How many words a text has.
pub(super) fn count_words(text: &str) -> u64 {
    let mut count = 0;
    each_word(text, |_| count += 1);
    count
}

/// The words of a text in their order, by their hashes.
pub(super) fn hashed_words(text: &str) -> Vec<u64> {
    let mut words = Vec::new();
    each_word(text, |word| words.push(hash(word)));
    words
}

/// A text in which every link is the same word. Where links follow a rename, one is as good as another.
pub(super) fn with_links_alike(text: &str) -> String {
    let mut alike = String::with_capacity(text.len());
    let mut rest = 0;
    for link in links::parse(text) {
        // A link may lie within another.
        if link.range.start >= rest {
            alike.push_str(&text[rest..link.range.start]);
            alike.push_str(ANY_LINK);
            rest = link.range.end;
        }
    }
    alike.push_str(&text[rest..]);
    alike
}

/// How many words are in a bag.
pub(super) fn sum(bag: &Bag) -> u64 {
    bag.values().map(|count| u64::from(*count)).sum()
}

/// Takes up to so many of a word out of a bag; returns how many there were.
pub(super) fn take(bag: &mut Bag, word: u64, most: u32) -> u32 {
    let Some(count) = bag.get_mut(&word) else {
        return 0;
    };
    let taken = most.min(*count);
    *count -= taken;
    if *count == 0 {
        bag.remove(&word);
    }
    taken
}

/// Takes what both bags contain out of both.
pub(super) fn cancel(one: &mut Bag, other: &mut Bag) {
    one.retain(|word, count| {
        *count -= take(other, *word, *count);
        *count > 0
    });
}

/// The lines that have something on them.
pub(super) fn filled_lines(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.split(['\n', '\r']);
    lines.filter(|line| !line.trim().is_empty())
}

/// Two texts without the lines that both of them have, wherever those are. `None` if more than so many are different.
pub(super) fn differing_lines(
    old: &str,
    new: &str,
    max_different: usize,
) -> Option<(String, String)> {
    // Lines are distinguished by a hash with a random key, so that nobody can make two that look alike; the lines
    // themselves would take much more memory.
    let keys = RandomState::new();
    let mut counts: HashMap<u64, u32> = HashMap::new();
    for line in filled_lines(new) {
        *counts.entry(keys.hash_one(line)).or_default() += 1;
        if counts.len() > max_different {
            return None;
        }
    }
    let add = |text: &mut String, line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    let (mut only_old, mut only_new) = (String::new(), String::new());
    for line in filled_lines(old) {
        match counts.get_mut(&keys.hash_one(line)) {
            Some(count) if *count > 0 => *count -= 1,
            _ => add(&mut only_old, line),
        }
    }
    for line in filled_lines(new) {
        if let Some(count) = counts.get_mut(&keys.hash_one(line))
            && *count > 0
        {
            *count -= 1;
            add(&mut only_new, line);
        }
    }
    Some((only_old, only_new))
}

/// Two texts without the beginning and the end that they have in common.
pub(super) struct Middles<'t> {
    /// Cut between words.
    pub(super) words: (&'t str, &'t str),
    /// Cut between lines.
    pub(super) lines: (&'t str, &'t str),
}

pub(super) fn middles<'t>(before: &'t str, after: &'t str) -> Middles<'t> {
    let alike = |(a, b): &(u8, u8)| a == b;
    let bytes = before.bytes().zip(after.bytes());
    let common = bytes.take_while(alike).count();
    // After white space a word begins in both; the byte before it is the same in both.
    let start = before[..before.floor_char_boundary(common)]
        .char_indices()
        .rev()
        .find(|(_, c)| c.is_whitespace())
        .map_or(0, |(at, c)| at + c.len_utf8());
    let (old, new) = (&before[start..], &after[start..]);
    let common = old
        .bytes()
        .rev()
        .zip(new.bytes().rev())
        .take_while(alike)
        .count();
    let tail = old.ceil_char_boundary(old.len() - common);
    let end = old[tail..]
        .char_indices()
        .find(|(_, c)| c.is_whitespace())
        .map_or(old.len(), |(at, _)| tail + at);
    // What is before the start is the same in both texts, and so is what is behind the end.
    let breaks = ['\n', '\r'];
    let line_start = before[..start].rfind(breaks).map_or(0, |at| at + 1);
    let end = start + end;
    let line_end = before[end..].find(breaks);
    let line_end = line_end.map_or(before.len(), |at| end + at);
    let both = |start: usize, end: usize| {
        let end_after = after.len() - (before.len() - end);
        (&before[start..end], &after[start..end_after])
    };
    Middles {
        words: both(start, end),
        lines: both(line_start, line_end),
    }
}

fn hash(word: &str) -> u64 {
    // Nobody can find a word that is counted as one of somebody else's.
    let hash = blake3::hash(word.as_bytes());
    let first = hash.as_bytes().first_chunk();
    first.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Goes through the words of a text.
fn each_word<'t>(text: &'t str, mut each: impl FnMut(&'t str)) {
    for word in text.split_whitespace() {
        match word.is_ascii() {
            true => each_piece(word, &mut each),
            false => each_part(word, &mut each),
        }
    }
}

/// The pieces of a word of a script with spaces; most words are one. The last has up to twice the characters.
fn each_piece<'t>(mut word: &'t str, each: &mut impl FnMut(&'t str)) {
    while word.len() >= 2 * PIECE_CHARS
        && let Some((end, _)) = word.char_indices().nth(PIECE_CHARS)
        && word[end..].chars().nth(PIECE_CHARS - 1).is_some()
    {
        let (piece, rest) = word.split_at(end);
        each(piece);
        word = rest;
    }
    each(word);
}

/// The parts of a word in which some characters may be of scripts without spaces.
fn each_part<'t>(word: &'t str, each: &mut impl FnMut(&'t str)) {
    let mut start = 0;
    let mut characters = word.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        if !is_unspaced(character) {
            continue;
        }
        if start < at {
            each_piece(&word[start..at], each);
        }
        start = at + character.len_utf8();
        let end = match characters.peek() {
            Some((next, pair)) if is_unspaced(*pair) => next + pair.len_utf8(),
            _ => start,
        };
        each(&word[at..end]);
    }
    if start < word.len() {
        each_piece(&word[start..], each);
    }
}

/// Whether a character is of a script that does not put spaces between words. Korean does.
fn is_unspaced(character: char) -> bool {
    matches!(character,
        // Thai, Lao, Tibetan, Myanmar, Khmer and their neighbours.
        '\u{0e00}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{1950}'..='\u{19ff}'
        | '\u{1a20}'..='\u{1aaf}' | '\u{1b00}'..='\u{1b7f}' | '\u{a980}'..='\u{a9ff}'
        | '\u{aa60}'..='\u{aadf}'
        // Chinese, Japanese, Yi; their punctuation and wide forms.
        | '\u{2e80}'..='\u{312f}' | '\u{3190}'..='\u{31ff}' | '\u{3200}'..='\u{a4cf}'
        | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe4f}' | '\u{ff00}'..='\u{ffef}'
        | '\u{16fe0}'..='\u{18cff}' | '\u{1aff0}'..='\u{1b2ff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let mut words = Vec::new();
        each_word(text, |word| words.push(word));
        words
    }

    fn all(text: &str) -> Bag {
        bag(text, 1000).expect("few words")
    }

    #[test]
    fn distinct_words_are_bounded() {
        assert_eq!(all("a b a").len(), 2);
        assert!(bag("a b a", 1).is_none());
        let lines = |old: &str, new: &str, most| differing_lines(old, new, most);
        assert_eq!(
            lines("b\na\na\n", "a\n\nc\r\n", 2),
            Some(("b\na\n".into(), "c\n".into()))
        );
        assert_eq!(lines("a\n", "a\nb\n", 1), None);
        assert_eq!(
            with_links_alike("see [[a]], [b](c.md)"),
            "see  [[]] ,  [[]] "
        );
    }

    #[test]
    fn scripts_without_spaces_are_counted_by_characters() {
        assert_eq!(words("one two\nthree"), ["one", "two", "three"]);
        assert_eq!(words("Tomás 한국어 문장"), ["Tomás", "한국어", "문장"]);
        assert_eq!(words("买牛奶"), ["买牛", "牛奶", "奶"]);
        assert_eq!(words("a买b 牛"), ["a", "买", "b", "牛"]);
        assert_eq!(count_words("ประเทศไทย"), 9);
        assert_eq!(count_words(&"a".repeat(31)), 1);
        assert_eq!(words(&"ü".repeat(40)), ["ü".repeat(16), "ü".repeat(24)]);
        assert_eq!(count_words(&"a".repeat(20_000)), 1250);
        assert_eq!(count_words("庭に水をやる。"), 7);
        assert_eq!(filled_lines("a\n\n \t\nb\r\n\r\nc").count(), 3);
    }

    proptest! {
        #[test]
        fn middles_contain_every_difference(a in "[ab ü水\n]{0,30}", b in "[ab ü水\n]{0,30}") {
            let middles = middles(&a, &b);
            let rest = differing_lines(middles.lines.0, middles.lines.1, 100).expect("few");
            let without = |whole: &str, part: &str| {
                let mut rest = all(whole);
                for (word, count) in all(part) {
                    prop_assert_eq!(take(&mut rest, word, count), count);
                }
                Ok(rest)
            };
            for (old, new) in [middles.words, middles.lines, (&rest.0, &rest.1)] {
                prop_assert_eq!(without(&a, old)?, without(&b, new)?);
            }
            for line in filled_lines(middles.lines.0) {
                prop_assert!(filled_lines(&a).any(|whole| whole == line));
            }
        }

        /// Every character that is not white space is in a word, in order; each of an unspaced script begins one.
        #[test]
        fn nothing_is_left_out(text in "[ab ü水火ก\n]{0,30}") {
            let found = words(&text);
            prop_assert_eq!(found.len() as u64, sum(&all(&text)));
            prop_assert_eq!(found.len() as u64, count_words(&text));
            let unspaced = text.chars().filter(|c| is_unspaced(*c)).count();
            prop_assert!(found.len() >= unspaced);
            let again: String = found
                .iter()
                .map(|word| match word.chars().next() {
                    Some(first) if is_unspaced(first) => first.to_string(),
                    _ => (*word).to_owned(),
                })
                .collect();
            prop_assert_eq!(again, text.split_whitespace().collect::<String>());
        }
    }
}
