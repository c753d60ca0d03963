//! Finds the passage of a note that is most similar to a text, for errors about text that does not occur.
//!
//! It takes one pass over the note: pieces of lines are compared by shared words, and only the best candidates by
//! characters.

use super::lines;
use std::collections::HashSet;
use std::ops::Range;

/// A passage of a note.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Passage {
    /// The line of the file where it begins.
    pub line: usize,
    /// Its text, truncated.
    pub text: String,
}

/// Longer lines are compared in pieces.
const PIECE_BYTES: usize = 240;
const CANDIDATES: usize = 6;
const MAX_SHOWN_LINES: usize = 8;
const MAX_SHOWN_BYTES: usize = 400;

/// The passage of `note` most similar to `wanted`, if any shares a word with it.
pub(crate) fn find(note: &str, wanted: &str) -> Option<Passage> {
    let (lines_before, probe) = longest_line(wanted);
    let probe = &probe[..floor_boundary(probe, PIECE_BYTES)];
    let words: HashSet<u64> = words(probe).collect();
    let mut best: Vec<(usize, Range<usize>)> = Vec::with_capacity(CANDIDATES + 1);
    for piece in pieces(note) {
        let (mut shared, mut all) = (0, 0);
        for word in self::words(&note[piece.clone()]) {
            all += 1;
            shared += usize::from(words.contains(&word));
        }
        if shared == 0 {
            continue;
        }
        let score = shared.min(words.len()) * 2_000 / (all + words.len());
        if best.len() < CANDIDATES || best.last().is_some_and(|(lowest, _)| score > *lowest) {
            let place = best.partition_point(|(other, _)| *other >= score);
            best.insert(place, (score, piece));
            best.truncate(CANDIDATES);
        }
    }
    let similarity = |piece: &Range<usize>| {
        strsim::normalized_levenshtein(probe.trim(), note[piece.clone()].trim())
    };
    let (_, nearest) = best
        .into_iter()
        .rev()
        .max_by(|(_, one), (_, other)| similarity(one).total_cmp(&similarity(other)))?;
    Some(shown(note, nearest, lines_before, wanted.lines().count()))
}

/// The part of the note around the best piece, with as many lines as the wanted text.
fn shown(note: &str, nearest: Range<usize>, lines_before: usize, wanted_lines: usize) -> Passage {
    let line_start = lines::start_of_line(note, nearest.start);
    // In a long line show the piece itself, not the beginning of the line.
    let mut start = if nearest.start - line_start < PIECE_BYTES {
        line_start
    } else {
        nearest.start
    };
    for _ in 0..lines_before {
        if start == 0 || start != lines::start_of_line(note, start) {
            break;
        }
        let previous = lines::start_of_line(note, start - 1);
        if nearest.start - previous > MAX_SHOWN_BYTES / 2 {
            break;
        }
        start = previous;
    }
    let length: usize = note[start..]
        .split_inclusive('\n')
        .take(wanted_lines.clamp(1, MAX_SHOWN_LINES))
        .map(str::len)
        .sum();
    let text = &note[start..start + floor_boundary(&note[start..start + length], MAX_SHOWN_BYTES)];
    Passage {
        line: lines::line_of(note, start),
        text: text.trim_end().to_owned(),
    }
}

fn longest_line(text: &str) -> (usize, &str) {
    text.lines()
        .enumerate()
        .max_by_key(|(index, line)| (line.trim().len(), std::cmp::Reverse(*index)))
        .unwrap_or((0, ""))
}

/// The lines of the note; long lines in pieces.
fn pieces(note: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = note.get(at..).filter(|rest| !rest.is_empty())?;
        let window = &rest[..floor_boundary(rest, PIECE_BYTES)];
        let length = window
            .find('\n')
            .map_or(window.len(), |newline| newline + 1);
        let piece = at..at + length;
        at += length;
        Some(piece)
    })
}

/// Hashes of words, ASCII case-folded; in scripts without spaces every character is a word.
fn words(text: &str) -> impl Iterator<Item = u64> + '_ {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|run| !run.is_empty())
        .flat_map(|run| {
            let whole = run.is_ascii().then(|| hash(run.bytes()));
            let letters = (!run.is_ascii()).then(|| {
                run.chars()
                    .map(|character| hash(character.to_string().bytes()))
            });
            whole.into_iter().chain(letters.into_iter().flatten())
        })
}

/// FNV-1a: fast; collisions are harmless here.
fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3)
    })
}

fn floor_boundary(text: &str, limit: usize) -> usize {
    text.floor_char_boundary(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_passage_starts_where_the_wanted_text_would() {
        let note = "# Plan\n\nBuy milk and bread.\nCall Ana about the lease.\nSleep.\n";
        let found = find(note, "Buy milk and bread.\nCall Anna about a lease.\n").unwrap();
        assert_eq!(
            found,
            Passage {
                line: 3,
                text: "Buy milk and bread.\nCall Ana about the lease.".into()
            }
        );
    }

    #[test]
    fn a_text_without_a_common_word_has_no_closest_passage() {
        assert_eq!(find("alpha beta\n", "gamma"), None);
        assert_eq!(find("", "gamma"), None);
    }

    #[test]
    fn chinese_text_and_huge_lines_are_searched() {
        let note = format!("{} 今天下雨了 {}", "x ".repeat(10_000), "y ".repeat(10_000));
        let found = find(&note, "今天下雪了").unwrap();
        assert!(found.text.contains("今天下雨了"), "{found:?}");
        assert!(found.text.len() <= MAX_SHOWN_BYTES);
    }
}
