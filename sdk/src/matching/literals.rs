//! Texts that stand in everything that a pattern matches, so that the index can tell which notes need not be looked at.
//!
//! What is returned may be less than could be said, but never more: a note without these texts has no match.

use crate::fold_name;
use regex_syntax::hir::{Class, Hir, HirKind};

/// A shorter text stands in so many notes that asking for it is no help.
const SHORTEST: usize = 3;
/// So many choices are no help either.
const MOST_CHOICES: usize = 32;
/// How many lists are asked for.
const MOST_LISTS: usize = 8;

/// For each list: one of its texts stands in every match, whatever the case.
pub(super) type Required = Vec<Vec<String>>;

/// The texts that a pattern needs.
pub(super) fn required(hir: &Hir) -> Required {
    let mut lists = within(hir);
    for list in &mut lists {
        list.sort();
        list.dedup();
    }
    lists.sort();
    lists.dedup();
    // The longest texts leave out the most notes.
    lists.sort_by_key(|list| std::cmp::Reverse(shortest(list)));
    lists.truncate(MOST_LISTS);
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

/// What parts that follow each other need: neighbours that are letters are one text.
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

/// The letter that a class is, whatever the case: `[kKK]` is `k`.
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
    (shortest(&choices) >= SHORTEST && choices.len() <= MOST_CHOICES).then_some(choices)
}

/// How much the shortest of several texts says: a letter that is not ASCII says as much as two or three that are.
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
    fn what_every_match_has_is_found() {
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
        /// Whatever matches has the texts that were promised.
        #[test]
        fn nothing_is_promised_that_is_not_kept(
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
