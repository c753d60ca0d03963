//! Finds names and aliases of notes in a text: whole words, ignoring case and Unicode normalization.

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

use super::View;
use super::scan::Scan;
use crate::index::NameAt;
use crate::words::{self, Form};
use crate::{Result, stem_of};

/// A letter of a folded text, with the bytes of the original letter.
type Letter = (char, usize, usize);

struct Name<'s> {
    path: &'s str,
    letters: Vec<char>,
    alias: bool,
}

/// From left to right, the longest match at each place; one entry for each note with that name.
pub(in crate::memory) fn names_in(view: &View<'_>, text: &str) -> Result<Vec<NameAt>> {
    let scan = Scan::of(view);
    let names = names(&scan);
    let letters: Vec<Letter> = letters(text).collect();
    let inside = inside_words(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        let standing: Vec<(usize, &Name<'_>)> = names
            .iter()
            .filter_map(|name| Some((end_of(name, text, &letters, &inside, at)?, name)))
            .collect();
        let Some(longest) = standing.iter().map(|(end, _)| *end).max() else {
            at += 1;
            continue;
        };
        let start = letters[at].1;
        for (_, name) in standing.iter().filter(|(end, _)| *end == longest) {
            found.push(NameAt {
                path: name.path.to_owned(),
                start: u32::try_from(start).unwrap_or(u32::MAX),
                end: u32::try_from(longest).unwrap_or(u32::MAX),
                alias: name.alias,
            });
        }
        while letters
            .get(at)
            .is_some_and(|(_, start, _)| *start < longest)
        {
            at += 1;
        }
    }
    Ok(found)
}

/// Each name of each note once, in order of path.
fn names(scan: &Scan) -> Vec<Name<'_>> {
    let mut names: Vec<Name<'_>> = Vec::new();
    for note in &scan.notes {
        let own = [(stem_of(&note.path), false)];
        let aliases = note
            .facts
            .aliases
            .iter()
            .map(|alias| (alias.as_str(), true));
        for (name, alias) in own.into_iter().chain(aliases) {
            let name = Name {
                path: &note.path,
                letters: letters(name.trim()).map(|(letter, ..)| letter).collect(),
                alias,
            };
            let is_known =
                |known: &Name<'_>| known.path == name.path && known.letters == name.letters;
            if !name.letters.is_empty() && !names.iter().any(is_known) {
                names.push(name);
            }
        }
    }
    names
}

/// The end of a name that starts at a letter, if it does.
fn end_of(
    name: &Name<'_>,
    text: &str,
    letters: &[Letter],
    inside: &[bool],
    at: usize,
) -> Option<usize> {
    let standing = letters.get(at..at + name.letters.len())?;
    let is_same = standing
        .iter()
        .zip(&name.letters)
        .all(|((letter, ..), wanted)| letter == wanted);
    let (_, start, _) = standing.first()?;
    let (_, last, end) = standing.last()?;
    // A letter that folds to several must match completely.
    let begins = at == 0 || letters[at - 1].1 != *start;
    let ends = letters
        .get(at + standing.len())
        .is_none_or(|next| next.1 != *last);
    let goes_on = text[*end..].chars().next().is_some_and(is_combining_mark);
    (is_same && begins && ends && !goes_on && !inside[*start] && !inside[*end]).then_some(*end)
}

/// For each byte offset of a text, including its end: whether it is within a word.
fn inside_words(text: &str) -> Vec<bool> {
    let mut inside = vec![false; text.len() + 1];
    words::for_each_word(text, |word| {
        if matches!(word.form, Form::Whole | Form::Cut) {
            inside[word.range.start + 1..word.range.end].fill(true);
        }
    });
    inside
}

/// The letters of a text in NFC and case-folded.
fn letters(text: &str) -> impl Iterator<Item = Letter> {
    text.char_indices().flat_map(|(at, letter)| {
        let end = at + letter.len_utf8();
        let apart: String = std::iter::once(letter).nfd().collect();
        let folded = caseless::default_case_fold_str(&apart);
        let folded: Vec<char> = folded.nfd().collect();
        folded.into_iter().map(move |letter| (letter, at, end))
    })
}
