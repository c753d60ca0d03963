//! Snippets: the lines of a note in which the words of a query occur.
//!
//! Exactness is not required: words are first searched for as bytes, and only without a match is the note tokenized.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memchr2, memrchr};
use notehost_sdk::index::Snippet;
use notehost_sdk::words;

use super::Tree;
use crate::limits::deadline::Deadline;
use notehost_vault::VaultError;

/// About as long as a line of a search result should be, in letters.
const SNIPPET_CHARS: usize = 160;
/// How many characters precede the word.
const CHARS_BEFORE_MATCH: usize = 50;
/// Limits of occurrences per word, and of words.
const MAX_PLACES: usize = 200;
const MAX_WORDS: usize = 32;

/// How much of a text of a `like` query is tokenized.
const MAX_LIKE_BYTES: usize = 4 << 10;
/// How much of a note is cut into words between two deadline checks.
const PIECE_BYTES: usize = 64 << 10;

/// The words of a query, collected once and searched for in every returned note.
pub(crate) struct QueryWords(Vec<String>);

impl QueryWords {
    pub(crate) fn of(tree: &Tree) -> QueryWords {
        let mut query_words = Vec::new();
        collect(tree, &mut query_words);
        query_words.truncate(MAX_WORDS);
        QueryWords(query_words)
    }

    /// The lines with the best matches, in document order.
    pub(crate) fn snippets(
        &self,
        text: &str,
        most: usize,
        deadline: &Deadline,
    ) -> Result<Vec<Snippet>, VaultError> {
        if most == 0 {
            return Ok(Vec::new());
        }
        let mut places = places_as_bytes(text, &self.0, deadline)?;
        // In ASCII the search for bytes is exact.
        if places.is_empty() && !text.is_ascii() {
            places = places_as_words(text, &self.0, deadline)?;
        }
        places.sort_unstable_by_key(|place| (place.range.start, place.word));

        let mut lines = lines_of(text, &places);
        lines.sort_by_key(|line| {
            (
                line.is_frontmatter,
                std::cmp::Reverse(line.worth),
                line.number,
            )
        });
        lines.truncate(most);
        lines.sort_unstable_by_key(|line| line.number);
        Ok(lines
            .into_iter()
            .map(|line| Snippet {
                line: line.number,
                text: cut(&text[line.range], line.first),
            })
            .collect())
    }
}

/// Where a word occurs.
struct Place {
    range: Range<usize>,
    /// Which of the words.
    word: usize,
    /// Whether it is a whole word.
    is_whole: bool,
}

/// A line in which words occur.
struct Line {
    number: u32,
    range: Range<usize>,
    /// Where its first word stands, from the beginning of the line.
    first: usize,
    /// How many different words, then how many of them as wholes.
    worth: (u32, u32),
    is_frontmatter: bool,
}

/// The words of a query tree, without negated ones.
fn collect(tree: &Tree, query_words: &mut Vec<String>) {
    let mut add = |word: String| {
        if !query_words.contains(&word) {
            query_words.push(word);
        }
    };
    match tree {
        Tree::All(trees) | Tree::Any(trees) => {
            for tree in trees {
                collect(tree, query_words);
            }
        }
        Tree::Words { text, .. } | Tree::Prefix { text, .. } => {
            let words = words::query_terms(text);
            if words.len() > 1 {
                // The line that has it all as it is written is the best.
                add(words::fold(text.trim()));
            }
            for (_, word) in words {
                add(word);
            }
        }
        Tree::Like(text) => {
            let text = &text[..text.floor_char_boundary(MAX_LIKE_BYTES)];
            let mut words: Vec<String> = words::query_terms(text)
                .into_iter()
                .map(|(_, word)| word)
                .collect();
            // Long words are more specific.
            words.sort_by_key(|word| std::cmp::Reverse(word.chars().count()));
            words.dedup();
            words.into_iter().take(MAX_WORDS).for_each(add);
        }
        Tree::Not(_) | Tree::Bitmap(_) => {}
    }
}

fn places_as_bytes(
    text: &str,
    query_words: &[String],
    deadline: &Deadline,
) -> Result<Vec<Place>, VaultError> {
    let mut places = Vec::new();
    for (word, letters) in query_words.iter().enumerate() {
        each_match(text.as_bytes(), letters.as_bytes(), deadline, |start| {
            let range = start..start + letters.len();
            if text.is_char_boundary(range.start) && text.is_char_boundary(range.end) {
                let is_whole = !ends_with_letter(&text[..range.start])
                    && !begins_with_letter(&text[range.end..]);
                places.push(Place {
                    range,
                    word,
                    is_whole,
                });
            }
        })?;
    }
    Ok(places)
}

fn places_as_words(
    text: &str,
    query_words: &[String],
    deadline: &Deadline,
) -> Result<Vec<Place>, VaultError> {
    let mut places = Vec::new();
    let mut begin = 0;
    while begin < text.len() && places.len() < MAX_PLACES * 4 {
        deadline.check()?;
        let end = piece_end(text, begin);
        words::for_each_word(&text[begin..end], |found| {
            for (word, letters) in query_words.iter().enumerate() {
                if places.len() < MAX_PLACES * 4 && found.text.contains(letters.as_str()) {
                    places.push(Place {
                        range: begin + found.range.start..begin + found.range.end,
                        word,
                        is_whole: found.text == letters,
                    });
                }
            }
        });
        begin = end;
    }
    Ok(places)
}

/// Where a piece ends that begins here: after a line, if one ends not much later.
fn piece_end(text: &str, begin: usize) -> usize {
    let least = text.len().min(begin + PIECE_BYTES);
    let most = text.len().min(least + PIECE_BYTES);
    match memchr(b'\n', &text.as_bytes()[least..most]) {
        Some(newline) => least + newline + 1,
        None => text.floor_char_boundary(most),
    }
}

/// Hands every place of a word to `take`, case-insensitive of ASCII letters.
fn each_match(
    text: &[u8],
    word: &[u8],
    deadline: &Deadline,
    mut take: impl FnMut(usize),
) -> Result<(), VaultError> {
    let Some((offset, rarest)) = word
        .iter()
        .enumerate()
        .min_by_key(|(_, byte)| commonness(**byte))
    else {
        return Ok(());
    };
    deadline.step()?;
    let (lower, upper) = (rarest.to_ascii_lowercase(), rarest.to_ascii_uppercase());
    let mut found = 0;
    let mut from = offset;
    while let Some(at) = text
        .get(from..)
        .and_then(|rest| memchr2(lower, upper, rest))
    {
        deadline.step()?;
        let start = from + at - offset;
        from += at + 1;
        let Some(there) = text.get(start..start + word.len()) else {
            return Ok(());
        };
        if there.eq_ignore_ascii_case(word) {
            take(start);
            found += 1;
            if found == MAX_PLACES {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The approximate frequency of a byte; the rarest byte of a word is searched for.
fn commonness(byte: u8) -> usize {
    const COMMON: &[u8] = b" etaoinsrhldcumfpgwybvkxjqz";
    if byte.is_ascii() {
        let lower = byte.to_ascii_lowercase();
        COMMON
            .iter()
            .position(|common| *common == lower)
            .map_or(0, |at| COMMON.len() - at)
    } else if byte >= 0xc0 {
        // The first bytes of letters are few, and all alike within a script.
        COMMON.len()
    } else {
        2
    }
}

fn ends_with_letter(text: &str) -> bool {
    text.chars().next_back().is_some_and(char::is_alphanumeric)
}

fn begins_with_letter(text: &str) -> bool {
    text.chars().next().is_some_and(char::is_alphanumeric)
}

/// The lines of places that are in order.
fn lines_of(text: &str, places: &[Place]) -> Vec<Line> {
    let bytes = text.as_bytes();
    let frontmatter = frontmatter_end(text);
    let mut lines: Vec<Line> = Vec::new();
    let mut counted = 0;
    let mut number = 1;
    let mut words: u64 = 0;
    let mut wholes: u64 = 0;
    for place in places {
        let at = place.range.start;
        let is_new = lines.last().is_none_or(|line| at >= line.range.end);
        if is_new {
            number += memchr_iter(b'\n', &bytes[counted..at]).count() as u32;
            counted = at;
            let start = memrchr(b'\n', &bytes[..at]).map_or(0, |newline| newline + 1);
            let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |newline| at + newline);
            lines.push(Line {
                number,
                range: start..end.max(at + 1).min(bytes.len()),
                first: at - start,
                worth: (0, 0),
                is_frontmatter: at < frontmatter,
            });
            words = 0;
            wholes = 0;
        }
        words |= 1 << place.word;
        if place.is_whole {
            wholes |= 1 << place.word;
        }
        if let Some(line) = lines.last_mut() {
            line.worth = (words.count_ones(), wholes.count_ones());
        }
    }
    lines
}

/// Where the properties end.
fn frontmatter_end(text: &str) -> usize {
    let is_rule = |line: &str| line.trim_end() == "---";
    let mut end = 0;
    for (at, line) in text.split_inclusive('\n').enumerate() {
        end += line.len();
        match at {
            0 if !is_rule(line.trim_start_matches('\u{feff}')) => return 0,
            0 => {}
            _ if is_rule(line) => return end,
            _ => {}
        }
    }
    0
}

/// A line without its margins, cut to what stands around a place in it.
fn cut(line: &str, place: usize) -> String {
    let trimmed = line.trim();
    if trimmed.chars().nth(SNIPPET_CHARS).is_none() {
        return trimmed.to_owned();
    }
    let start = line[..place]
        .char_indices()
        .rev()
        .take(CHARS_BEFORE_MATCH)
        .last()
        .map_or(place, |(at, _)| at);
    // At a word, if one begins near.
    let start = match line[start..place].find(char::is_whitespace) {
        Some(at) if start > 0 && at < CHARS_BEFORE_MATCH / 2 => start + at,
        _ => start,
    };
    let end = line[start..]
        .char_indices()
        .nth(SNIPPET_CHARS)
        .map_or(line.len(), |(at, _)| start + at);
    // Near the end of a line there is room for more before the place.
    let start = if end == line.len() {
        line.char_indices()
            .rev()
            .nth(SNIPPET_CHARS - 1)
            .map_or(0, |(at, _)| at)
            .min(start)
    } else {
        start
    };
    let mut snippet = String::with_capacity(end - start + 6);
    if !line[..start].trim().is_empty() {
        snippet.push('…');
    }
    snippet.push_str(line[start..end].trim());
    if !line[end..].trim().is_empty() {
        snippet.push('…');
    }
    snippet
}
