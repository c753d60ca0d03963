//! The terms of a query: stems, stop words, phrases and synonyms. The words themselves are in `synonyms.toml`.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use serde::Deserialize;

/// The weight of a synonym. With the weight of the word itself: 84.9 and 98.6 percent (see `ranking`).
const SYNONYM_WEIGHT: f32 = 0.85;

/// The file of words.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    stop_words: String,
    orders: String,
    phrases: HashMap<String, String>,
    synonyms: HashMap<String, String>,
}

struct Tables {
    stop_words: HashSet<String>,
    orders: HashSet<String>,
    /// Each with what replaces it, the longest first.
    phrases: Vec<(String, String)>,
    /// For each stem the stems of the words of actions that it may mean.
    synonyms: HashMap<String, Vec<String>>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    // A test parses it too, so it is valid.
    let file: File = toml::from_str(include_str!("synonyms.toml")).unwrap_or_default();
    let set = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    let mut phrases: Vec<(String, String)> = file
        .phrases
        .into_iter()
        .map(|(phrase, replacement)| (format!(" {phrase} "), format!(" {replacement} ")))
        .collect();
    phrases.sort_by_cached_key(|(phrase, _)| {
        let length = phrase.matches(' ').count();
        (std::cmp::Reverse(length), phrase.clone())
    });
    let mut synonyms: HashMap<String, Vec<String>> = HashMap::new();
    for (word, others) in &file.synonyms {
        for other in stems(others) {
            synonyms.entry(other).or_default().push(stem(word));
        }
    }
    Tables {
        stop_words: set(&file.stop_words),
        orders: set(&file.orders),
        phrases,
        synonyms,
    }
});

/// A parsed query.
pub(crate) struct Query {
    /// Each word as its stem, with the stems of its synonyms and their weights.
    terms: Vec<Vec<(String, f32)>>,
    is_order: bool,
}

impl Query {
    pub(crate) fn new(text: &str) -> Query {
        let mut text = format!(" {} ", words(text).collect::<Vec<_>>().join(" "));
        for (phrase, replacement) in &TABLES.phrases {
            text = text.replace(phrase, replacement);
        }
        let mut distinct: Vec<String> = Vec::new();
        for stem in without_stop_words(&text) {
            if !distinct.contains(&stem) {
                distinct.push(stem);
            }
        }
        let first = words(&text).find(|word| !TABLES.stop_words.contains(word));
        Query {
            terms: distinct.into_iter().map(variants).collect(),
            is_order: first.is_some_and(|word| TABLES.orders.contains(&word)),
        }
    }

    pub(crate) fn terms(&self) -> impl Iterator<Item = &[(String, f32)]> {
        self.terms.iter().map(Vec::as_slice)
    }

    /// How well this stem matches the query, directly or as a synonym: from 0 to 1.
    pub(crate) fn weight_of(&self, stem: &str) -> f32 {
        let variants = self.terms.iter().flatten();
        let same = variants.filter(|(variant, _)| variant == stem);
        same.map(|(_, weight)| *weight).fold(0.0, f32::max)
    }

    /// Whether it begins with an imperative that asks for a change, such as `rename`.
    pub(crate) fn is_order(&self) -> bool {
        self.is_order
    }
}

fn variants(stem: String) -> Vec<(String, f32)> {
    let synonyms = TABLES.synonyms.get(&stem).into_iter().flatten();
    let synonyms: Vec<_> = synonyms
        .map(|synonym| (synonym.clone(), SYNONYM_WEIGHT))
        .collect();
    [vec![(stem, 1.0)], synonyms].concat()
}

/// The stems of a text, in order.
pub(crate) fn stems(text: &str) -> Vec<String> {
    words(text).map(|word| stem(&word)).collect()
}

/// The stems of a text without stop words, in order.
pub(crate) fn without_stop_words(text: &str) -> impl Iterator<Item = String> {
    let kept = words(text).filter(|word| !TABLES.stop_words.contains(word));
    kept.map(|word| stem(&word))
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// A word without its ending: `notes`, `renaming`, `copied`.
fn stem(word: &str) -> String {
    let mut stem = word;
    if stem.len() > 4 && (stem.ends_with("ies") || stem.ends_with("ied")) {
        return format!("{}y", &stem[..stem.len() - 3]);
    }
    if stem.len() > 3 && stem.ends_with('s') && !stem.ends_with("ss") && !stem.ends_with("us") {
        stem = &stem[..stem.len() - 1];
    }
    for ending in ["ing", "ed"] {
        if let Some(short) = stem.strip_suffix(ending)
            && short.len() >= 3
        {
            stem = short;
            break;
        }
    }
    let stem = stem
        .strip_suffix('e')
        .filter(|short| short.len() >= 3)
        .unwrap_or(stem);
    match stem.as_bytes() {
        // `dropped`, `tagged`
        [.., one, other]
            if one == other
                && other.is_ascii_alphabetic()
                && stem.len() > 3
                && !matches!(other, b'l' | b's') =>
        {
            stem[..stem.len() - 1].to_owned()
        }
        _ => stem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn synonyms_file_parses() {
        let file: File = toml::from_str(include_str!("synonyms.toml")).expect("the words");
        assert!(file.synonyms.len() > 50 && file.phrases.len() > 50);
        for words in file.phrases.keys().chain(file.synonyms.keys()) {
            assert_eq!(
                *words,
                words.to_lowercase(),
                "words are compared in lower case"
            );
        }
    }

    #[test]
    fn word_forms_share_a_stem() {
        for (one, other) in [
            ("notes", "note"),
            ("renaming", "rename"),
            ("copied", "copy"),
            ("properties", "property"),
            ("dropped", "drop"),
            ("links", "linked"),
        ] {
            assert_eq!(stem(one), stem(other));
        }
        // In no script is a character cut in half.
        for word in ["ßß", "ノート", "†††", "ёёёё"] {
            assert!(!stem(word).is_empty());
        }
    }

    #[test]
    fn imperatives_ask_for_a_change() {
        for (text, is_order) in [
            ("which notes were removed", false),
            ("please delete this note", true),
            ("add a tag", true),
            ("tag these notes", true),
            ("notes with a tag", false),
            ("get rid of a note", true),
        ] {
            assert_eq!(Query::new(text).is_order(), is_order, "{text}");
        }
    }
}
