//! The tokenizer of every search: the host's index and queries use the same tokens.
//!
//! - A run of letters, digits and `_` is a word, without case and accents: `Café` is `cafe`. An identifier is indexed as a
//!   whole and by its parts: `note` also finds `parse_noteName`.
//! - In scripts without spaces between words (Chinese, Japanese, Korean, Thai, …) every letter and every pair of adjacent
//!   letters is a word; queries use the pairs, so any part of a sentence is found.
//! - An emoji is a word. Everything else is a separator.
//!
//! Words have positions, for phrase queries.

use std::ops::Range;

use caseless::Caseless as _;
use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

/// Longer runs are split, so that data such as Base64 images does not fill the index with huge terms.
pub const MAX_WORD_BYTES: usize = 128;

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word<'w> {
    /// Folded: lower case, without accents.
    pub text: &'w str,
    /// Its bytes in the text.
    pub range: Range<usize>,
    /// Its position among the words.
    pub position: usize,
    /// Its form.
    pub form: Form,
}

/// The form of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// A run of letters and digits, or an emoji.
    Whole,
    /// A piece of a run that exceeds the maximum length.
    Cut,
    /// A part of an identifier.
    Part,
    /// A letter of a script without spaces.
    Single,
    /// Two adjacent letters of such a script.
    Pair,
}

/// Calls `take` for every word of a text, in order of position.
pub fn for_each_word(text: &str, mut take: impl FnMut(Word<'_>)) {
    let mut cutter = Cutter::default();
    let mut rest = 0;
    while let Some((start, class)) = next_start(text, rest) {
        let end = run_end(text, start, class);
        cutter.run(text, start..end, class, &mut take);
        rest = end;
    }
}

/// The words to look up to find a text, with their positions: one word as a term, several as a phrase. Empty if the text
/// has no words.
pub fn query_terms(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, Form, String)> = Vec::new();
    for_each_word(text, |word| {
        found.push((word.position, word.form, word.text.to_owned()));
    });
    let is_paired = |position: usize| {
        let pair_at = |at: usize| {
            found
                .iter()
                .any(|(position, form, _)| *position == at && *form == Form::Pair)
        };
        pair_at(position) || position.checked_sub(1).is_some_and(pair_at)
    };
    found
        .iter()
        .filter(|(position, form, _)| match form {
            Form::Whole | Form::Cut | Form::Pair => true,
            Form::Part => false,
            // A letter in a pair is covered by the pair.
            Form::Single => !is_paired(*position),
        })
        .map(|(position, _, word)| (*position, word.clone()))
        .collect()
}

/// A text folded like words: lower case, without accents, compatibility forms resolved.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    fold_into(text, &mut folded);
    folded
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Letters and digits of scripts with spaces.
    Spaced,
    /// Letters of scripts without.
    Unspaced,
    Emoji,
}

#[derive(Default)]
struct Cutter {
    position: usize,
    buffer: String,
}

impl Cutter {
    fn run(
        &mut self,
        text: &str,
        range: Range<usize>,
        class: Class,
        take: &mut impl FnMut(Word<'_>),
    ) {
        match class {
            Class::Spaced => self.spaced(text, range, take),
            Class::Unspaced => self.unspaced(text, range, take),
            Class::Emoji => {
                let letter = &text[range.clone()];
                take(Word {
                    text: letter,
                    range,
                    position: self.position,
                    form: Form::Whole,
                });
                self.position += 1;
            }
        }
    }

    fn spaced(&mut self, text: &str, range: Range<usize>, take: &mut impl FnMut(Word<'_>)) {
        let run = &text[range.clone()];
        // In `_emphasis_` the underscores are markup, not part of an identifier.
        let start = range.start + (run.len() - run.trim_start_matches('_').len());
        let run = run.trim_matches('_');
        if run.is_empty() {
            return;
        }
        if run.len() > MAX_WORD_BYTES {
            self.cut(run, start, take);
            return;
        }
        self.buffer.clear();
        fold_into(run, &mut self.buffer);
        if self.buffer.is_empty() {
            return;
        }
        take(Word {
            text: &self.buffer,
            range: start..start + run.len(),
            position: self.position,
            form: Form::Whole,
        });
        let mut parts = 0;
        for part in parts_of(run) {
            self.buffer.clear();
            fold_into(&run[part.clone()], &mut self.buffer);
            take(Word {
                text: &self.buffer,
                range: start + part.start..start + part.end,
                position: self.position + parts,
                form: Form::Part,
            });
            parts += 1;
        }
        self.position += parts.max(1);
    }

    fn cut(&mut self, run: &str, start: usize, take: &mut impl FnMut(Word<'_>)) {
        let mut from = 0;
        while from < run.len() {
            let mut to = (from + MAX_WORD_BYTES / 2).min(run.len());
            while !run.is_char_boundary(to) {
                to += 1;
            }
            self.buffer.clear();
            fold_into(&run[from..to], &mut self.buffer);
            if !self.buffer.is_empty() {
                take(Word {
                    text: &self.buffer,
                    range: start + from..start + to,
                    position: self.position,
                    form: Form::Cut,
                });
                self.position += 1;
            }
            from = to;
        }
    }

    fn unspaced(&mut self, text: &str, range: Range<usize>, take: &mut impl FnMut(Word<'_>)) {
        let run = &text[range.clone()];
        let composed: String = run.nfkc().collect();
        let is_exact = composed == run;
        let letters: Vec<(usize, char)> = composed.char_indices().collect();
        let place = |from: usize, to: usize| {
            if is_exact {
                range.start + from..range.start + to
            } else {
                range.clone()
            }
        };
        for (index, (at, letter)) in letters.iter().enumerate() {
            let end = at + letter.len_utf8();
            take(Word {
                text: &composed[*at..end],
                range: place(*at, end),
                position: self.position,
                form: Form::Single,
            });
            if let Some((next, second)) = letters.get(index + 1) {
                let end = next + second.len_utf8();
                take(Word {
                    text: &composed[*at..end],
                    range: place(*at, end),
                    position: self.position,
                    form: Form::Pair,
                });
            }
            self.position += 1;
        }
    }
}

/// Where the next run begins.
fn next_start(text: &str, from: usize) -> Option<(usize, Class)> {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte.is_ascii() {
            if byte.is_ascii_alphanumeric() || byte == b'_' {
                return Some((at, Class::Spaced));
            }
            at += 1;
        } else {
            let letter = text[at..].chars().next()?;
            if let Some(class) = class_of(letter) {
                return Some((at, class));
            }
            at += letter.len_utf8();
        }
    }
    None
}

/// Where a run of a class ends.
fn run_end(text: &str, start: usize, class: Class) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    if class == Class::Emoji {
        return start + text[start..].chars().next().map_or(1, char::len_utf8);
    }
    while at < bytes.len() {
        let byte = bytes[at];
        if byte.is_ascii() {
            if class != Class::Spaced || !(byte.is_ascii_alphanumeric() || byte == b'_') {
                break;
            }
            at += 1;
        } else {
            let Some(letter) = text[at..].chars().next() else {
                break;
            };
            // Marks belong to the preceding letter in every script.
            if class_of(letter) != Some(class) && !is_within(letter) {
                break;
            }
            at += letter.len_utf8();
        }
    }
    at
}

/// Characters that continue a run but do not start one: marks and joiners.
fn is_within(letter: char) -> bool {
    is_combining_mark(letter) || matches!(letter, '\u{200c}' | '\u{200d}' | '\u{ad}')
}

fn class_of(letter: char) -> Option<Class> {
    if is_unspaced(letter) {
        Some(Class::Unspaced)
    } else if is_emoji(letter) {
        Some(Class::Emoji)
    } else if letter.is_alphanumeric() || letter == '_' {
        Some(Class::Spaced)
    } else {
        None
    }
}

fn is_unspaced(letter: char) -> bool {
    matches!(letter,
        '\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}' | '\u{3130}'..='\u{318f}' // Hangul
        | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3031}'..='\u{3035}' | '\u{3038}'..='\u{303c}'
        | '\u{3041}'..='\u{3096}' | '\u{3099}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' // kana
        | '\u{3105}'..='\u{312f}' | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}' // Han
        | '\u{ff66}'..='\u{ffdc}' // half width
        | '\u{0e01}'..='\u{0e3a}' | '\u{0e40}'..='\u{0e4e}' | '\u{0e80}'..='\u{0edf}' // Thai, Lao
        | '\u{1000}'..='\u{103f}' | '\u{1050}'..='\u{109f}' | '\u{1780}'..='\u{17d3}' // Myanmar, Khmer
    )
}

fn is_emoji(letter: char) -> bool {
    matches!(letter, '\u{1f000}'..='\u{1f3fa}' | '\u{1f400}'..='\u{1faff}' | '\u{2190}'..='\u{21ff}'
        | '\u{2300}'..='\u{23ff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}')
}

/// The parts of an identifier; empty if the word has only one.
fn parts_of(run: &str) -> Vec<Range<usize>> {
    let is_plain = |run: &str| {
        run.bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            || run.bytes().skip(1).all(|byte| byte.is_ascii_lowercase())
    };
    if is_plain(run) {
        return Vec::new();
    }
    let mut parts = Vec::new();
    let mut start = 0;
    let mut before: Option<char> = None;
    let mut letters = run.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == '_' {
            if start < at {
                parts.push(start..at);
            }
            start = at + 1;
        } else if let Some(before) = before
            && before != '_'
            && letter.is_uppercase()
        {
            // `noteName`, and `HTMLText` before its last capital.
            let next_is_lower = letters.peek().is_some_and(|(_, next)| next.is_lowercase());
            if !before.is_uppercase() || next_is_lower {
                if start < at {
                    parts.push(start..at);
                }
                start = at;
            }
        }
        before = Some(letter);
    }
    if start < run.len() {
        parts.push(start..run.len());
    }
    if parts.len() < 2 { Vec::new() } else { parts }
}

fn fold_into(text: &str, folded: &mut String) {
    if text.is_ascii() {
        folded.extend(
            text.bytes()
                .map(|byte| char::from(byte.to_ascii_lowercase())),
        );
        return;
    }
    for letter in text.chars() {
        fold_letter(letter, folded);
    }
}

fn fold_letter(letter: char, folded: &mut String) {
    if letter.is_ascii() {
        folded.push(letter.to_ascii_lowercase());
        return;
    }
    if is_unspaced(letter) {
        folded.extend(std::iter::once(letter).nfkc());
        return;
    }
    for letter in std::iter::once(letter).nfkd() {
        if is_accent(letter) {
            continue;
        }
        if letter.is_ascii() {
            folded.push(letter.to_ascii_lowercase());
            continue;
        }
        for letter in std::iter::once(letter).default_case_fold() {
            match letter {
                'ø' => folded.push('o'),
                'ł' => folded.push('l'),
                'đ' | 'ð' => folded.push('d'),
                'ħ' => folded.push('h'),
                'ı' => folded.push('i'),
                'æ' => folded.push_str("ae"),
                'œ' => folded.push_str("oe"),
                'þ' => folded.push_str("th"),
                letter => folded.push(letter),
            }
        }
    }
}

/// Marks that are usually omitted in queries: accents, Hebrew points, Arabic vowels, and joiners.
fn is_accent(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{487}' | '\u{591}'..='\u{5bd}' | '\u{5bf}'
        | '\u{5c1}'..='\u{5c2}' | '\u{5c4}'..='\u{5c5}' | '\u{5c7}' | '\u{610}'..='\u{61a}' | '\u{640}'
        | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6dc}' | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{200c}'..='\u{200d}' | '\u{ad}'
        | '\u{fe00}'..='\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        for_each_word(text, |word| {
            assert!(
                text.is_char_boundary(word.range.start) && text.is_char_boundary(word.range.end)
            );
            words.push(format!("{}@{}", word.text, word.position));
        });
        words
    }

    #[test]
    fn case_and_accents_are_folded() {
        assert_eq!(
            words("Café, cafe\u{301}; Straße ŁÓDŹ"),
            ["cafe@0", "cafe@1", "strasse@2", "lodz@3"]
        );
        assert_eq!(words("שָׁלוֹם الكِتَاب"), ["שלום@0", "الكتاب@1"]);
        assert_eq!(words("ＡＢＣ ﬁnd"), ["abc@0", "find@1"]);
    }

    #[test]
    fn identifiers_are_indexed_whole_and_in_parts() {
        assert_eq!(
            words("parse_noteName x"),
            ["parse_notename@0", "parse@0", "note@1", "name@2", "x@3"]
        );
        assert_eq!(words("HTMLText"), ["htmltext@0", "html@0", "text@1"]);
        assert_eq!(
            words("_emphasis_ utf8 Plain URL"),
            ["emphasis@0", "utf8@1", "plain@2", "url@3"]
        );
    }

    #[test]
    fn scripts_without_spaces_are_searched_by_pairs() {
        assert_eq!(words("語言a"), ["語@0", "語言@0", "言@1", "a@2"]);
        assert_eq!(
            query_terms("Rust语言学"),
            [(0, "rust".into()), (1, "语言".into()), (2, "言学".into())]
        );
        assert_eq!(query_terms("学"), [(0, "学".into())]);
        assert_eq!(
            query_terms("학교"),
            query_terms("\u{1112}\u{1161}\u{11a8}\u{1100}\u{116d}")
        );
    }

    #[test]
    fn emoji_are_words() {
        assert_eq!(words("go 🎉✔️!"), ["go@0", "🎉@1", "✔@2"]);
        assert_eq!(query_terms("->"), []);
    }

    #[test]
    fn overlong_runs_are_split() {
        let blob = "a".repeat(1000);
        let mut forms = Vec::new();
        for_each_word(&blob, |word| forms.push((word.form, word.text.len())));
        assert!(
            forms
                .iter()
                .all(|(form, length)| *form == Form::Cut && *length <= MAX_WORD_BYTES)
        );
        assert_eq!(forms.iter().map(|(_, length)| length).sum::<usize>(), 1000);
    }
}
