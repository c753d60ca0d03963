//! Extracts literals that every match of a pattern contains, so that the index can exclude notes without them.
//!
//! The extraction is conservative: a note without these literals has no match, but not all of them need to be found.

use crate::fold_name;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Shorter literals occur in too many notes to be useful.
const MIN_LITERAL_BYTES: usize = 3;
/// Larger sets of alternatives are not useful either.
const MAX_ALTERNATIVES: usize = 32;
/// The maximum number of lists in an index query.
const MAX_LISTS: usize = 8;

/// Every match contains at least one text of each list (case-insensitive).
pub(super) type Required = Vec<Vec<String>>;

/// The literals that a pattern requires.
pub(super) fn required(hir: &Hir) -> Required {
    let mut lists = within(hir);
    for list in &mut lists {
        list.sort();
        list.dedup();
    }
    lists.sort();
    lists.dedup();
    // The longest literals exclude the most notes.
    lists.sort_by_key(|list| std::cmp::Reverse(shortest(list)));
    lists.truncate(MAX_LISTS);
    lists
}

fn within(hir: &Hir) -> Required {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(_) => Vec::new(),
        HirKind::Literal(_) => joined([hir]),
        HirKind::Capture(capture) => within(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => within(&repetition.sub),
        HirKind::Repetition(_) => Vec::new(),
        HirKind::Concat(parts) => joined(parts),
        HirKind::Alternation(branches) => {
            let mut choices = Vec::new();
            for branch in branches {
                let lists = within(branch);
                let best = lists.into_iter().max_by_key(|list| shortest(list));
                match best {
                    Some(best) => choices.extend(best),
                    None => return Vec::new(),
                }
            }
            useful(choices).into_iter().collect()
        }
    }
}

/// The literals that a concatenation requires: adjacent literals form one text.
fn joined<'h>(parts: impl IntoIterator<Item = &'h Hir>) -> Required {
    let mut lists = Vec::new();
    let mut text = String::new();
    for part in parts {
        match part.kind() {
            HirKind::Look(_) | HirKind::Empty => {}
            HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
                Ok(literal) => text.push_str(literal),
                Err(_) => lists.extend(useful(vec![std::mem::take(&mut text)])),
            },
            HirKind::Class(class) if let Some(letter) = only_letter(class) => text.push(letter),
            _ => {
                lists.extend(useful(vec![std::mem::take(&mut text)]));
                lists.extend(within(part));
            }
        }
    }
    lists.extend(useful(vec![text]));
    lists
}

/// The letter of a class whose members differ only in case: `[kKK]` is `k`.
fn only_letter(class: &Class) -> Option<char> {
    let Class::Unicode(class) = class else {
        return None;
    };
    let mut letters = Vec::new();
    for range in class.ranges() {
        if u32::from(range.end()) - u32::from(range.start()) > 3 {
            return None;
        }
        letters.extend(range.start()..=range.end());
    }
    let folded = |letter: char| fold_name(letter.encode_utf8(&mut [0; 4]));
    let first = *letters.first()?;
    let all_same = letters
        .iter()
        .all(|letter| folded(*letter) == folded(first));
    all_same.then_some(first)
}

fn useful(choices: Vec<String>) -> Option<Vec<String>> {
    (shortest(&choices) >= MIN_LITERAL_BYTES && choices.len() <= MAX_ALTERNATIVES)
        .then_some(choices)
}

/// The length of the shortest text in bytes: a non-ASCII letter is as selective as two or three ASCII letters.
fn shortest(choices: &[String]) -> usize {
    choices.iter().map(String::len).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(pattern: &str) -> Vec<Vec<String>> {
        required(&regex_syntax::parse(pattern).unwrap())
    }

    #[test]
    fn required_literals_are_extracted() {
        for (pattern, expected) in [
            ("hello", vec![vec!["hello"]]),
            ("(?i)kiss", vec![vec!["kiss"]]),
            (r"foo\d+barr", vec![vec!["barr"], vec!["foo"]]),
            ("(alpha|beta)x", vec![vec!["alpha", "beta"]]),
            ("(alpha|b)x", vec![]),
            ("(hello)?", vec![]),
            ("(hello)+", vec![vec!["hello"]]),
            (r"\bword\b", vec![vec!["word"]]),
            ("日本", vec![vec!["日本"]]),
            ("a.c", vec![]),
            ("", vec![]),
        ] {
            let expected: Vec<Vec<String>> = expected
                .into_iter()
                .map(|list| list.into_iter().map(str::to_owned).collect())
                .collect();
            let mut found = texts(pattern);
            for list in &mut found {
                for text in list {
                    *text = fold_name(text);
                }
            }
            assert_eq!(found, expected, "{pattern}");
        }
    }

    proptest::proptest! {
        /// Every match contains the required literals.
        #[test]
        fn every_match_contains_the_required_literals(
            pattern in "(\\(\\?i\\))?(abc|\\[dD\\]ef|g[?]|hij[+]|\\(klm\\|nop\\)|[.]|ß|K){1,4}",
            text in "(abc|ABC|def|DEF|g|hij|klm|nop|NOP|ss|ß|k|K| ){0,8}",
        ) {
            let regex = regex::Regex::new(&pattern).unwrap();
            if let Some(found) = regex.find(&text) {
                let folded = fold_name(found.as_str());
                for list in texts(&pattern) {
                    proptest::prop_assert!(list.iter().any(|text| folded.contains(&fold_name(text))));
                }
            }
        }
    }
}
