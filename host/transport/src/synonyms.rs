//! Query terms: stems, stop words and synonyms. The words themselves are in `synonyms.toml`.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use serde::Deserialize;

/// The weight of a common word.
const LIGHT_WORD: f32 = 0.6;
/// The weight of a synonym.
const OTHER_WORD: f32 = 0.88;

/// The file of words.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    silent: String,
    light: String,
    orders: String,
    first_orders: String,
    removing: String,
    questions: String,
    phrases: HashMap<String, String>,
    said: HashMap<String, String>,
}

struct Tables {
    silent: HashSet<String>,
    orders: HashSet<String>,
    first_orders: HashSet<String>,
    removing: HashSet<String>,
    questions: HashSet<String>,
    /// By stem.
    light: HashSet<String>,
    /// The longest first.
    phrases: Vec<(String, String)>,
    /// Phrases and the stems that they stand for.
    meant: HashMap<String, Vec<String>>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    // A test reads it as well, so it can be read.
    let file: File = toml::from_str(include_str!("synonyms.toml")).unwrap_or_default();
    let set = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    let mut phrases: Vec<(String, String)> = file
        .phrases
        .into_iter()
        .map(|(phrase, words)| (format!(" {phrase} "), format!(" {words} ")))
        .collect();
    let long_first = |phrase: &str| {
        (
            std::cmp::Reverse(phrase.matches(' ').count()),
            phrase.to_owned(),
        )
    };
    phrases.sort_by_cached_key(|(phrase, _)| long_first(phrase));
    let mut meant: HashMap<String, Vec<String>> = HashMap::new();
    for (word, said) in &file.said {
        for said in stems(said) {
            meant.entry(said).or_default().push(stem(word));
        }
    }
    Tables {
        silent: set(&file.silent),
        orders: set(&file.orders),
        first_orders: set(&file.first_orders),
        removing: set(&file.removing),
        questions: set(&file.questions),
        light: stems(&file.light).into_iter().collect(),
        phrases,
        meant,
    }
});

/// A parsed query.
pub(super) struct Query {
    /// Each word as its stem, with the stems of its synonyms and their weights.
    words: Vec<Vec<(String, f32)>>,
    intent: Intent,
}

/// The intent: to read, to change, or to remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Intent {
    Look,
    Change,
    Remove,
}

impl Query {
    pub(super) fn new(text: &str) -> Query {
        let mut text = format!(" {} ", words(text).collect::<Vec<_>>().join(" "));
        for (phrase, words) in &TABLES.phrases {
            text = text.replace(phrase, words);
        }
        let mut said: Vec<String> = Vec::new();
        for word in words(&text).filter(|word| !TABLES.silent.contains(word)) {
            let stem = stem(&word);
            if !said.contains(&stem) {
                said.push(stem);
            }
        }
        let intent = intent(&text);
        let words = said.into_iter().map(variants).collect();
        Query { words, intent }
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &[(String, f32)]> {
        self.words.iter().map(Vec::as_slice)
    }

    /// How well this stem matches the query, directly or as a synonym: from 0 to 1.
    pub(super) fn says(&self, stem: &str) -> f32 {
        let variants = self.words.iter().flatten();
        let same = variants.filter(|(variant, _)| variant == stem);
        same.map(|(_, weight)| *weight).fold(0.0, f32::max)
    }

    /// The intent of the query.
    pub(super) fn intent(&self) -> Intent {
        self.intent
    }
}

/// The intent follows from the first imperative or question word.
fn intent(text: &str) -> Intent {
    let is_order = |word: &String| TABLES.orders.contains(word);
    let is_question = |word: &String| TABLES.questions.contains(word);
    let first = words(text).next();
    let first = first.filter(|word| TABLES.first_orders.contains(word));
    let telling = || words(text).find(|word| is_order(word) || is_question(word));
    match first.or_else(telling) {
        Some(word) if TABLES.removing.contains(&word) => Intent::Remove,
        Some(word) if !is_question(&word) => Intent::Change,
        _ => Intent::Look,
    }
}

fn variants(stem: String) -> Vec<(String, f32)> {
    let own = if TABLES.light.contains(&stem) {
        LIGHT_WORD
    } else {
        1.0
    };
    let others = TABLES.meant.get(&stem).into_iter().flatten();
    let others: Vec<_> = others
        .map(|other| (other.clone(), own * OTHER_WORD))
        .collect();
    [vec![(stem, own)], others].concat()
}

/// The stems of a text, in order.
pub(super) fn stems(text: &str) -> Vec<String> {
    words(text).map(|word| stem(&word)).collect()
}

/// The stems of a description, without stop words.
pub(super) fn telling_stems(text: &str) -> Vec<String> {
    let telling = words(text).filter(|word| !TABLES.silent.contains(word));
    telling.map(|word| stem(&word)).collect()
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
        assert!(file.said.len() > 50 && file.phrases.len() > 50);
        for words in file.phrases.keys().chain(file.said.keys()) {
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
        // Whatever the script, nothing is cut within a letter.
        for word in ["ßß", "ノート", "†††", "ёёёё"] {
            assert!(!stem(word).is_empty());
        }
    }

    #[test]
    fn questions_read_and_imperatives_change() {
        for (text, intent) in [
            ("which notes were removed", Intent::Look),
            ("please delete this note", Intent::Remove),
            ("add a tag", Intent::Change),
            ("tag these notes", Intent::Change),
            ("notes with a tag", Intent::Look),
        ] {
            assert_eq!(Query::new(text).intent(), intent, "{text}");
        }
    }
}
