//! Finds the known names that are most similar to a misspelt one, for suggestions in errors and replies. Every domain
//! suggests names with this; passages of text are compared in `text::similar_passage`.

use crate::fold_name;

/// The minimum similarity of names that are worth suggesting: a typo, a missing ending, another spelling.
pub const SIMILAR_NAME: f64 = 0.85;
/// The similarity of names that differ by one letter or one transposition. In a short name, that letter would weigh too
/// much.
const TYPO_SIMILARITY: f64 = 0.9;
/// Names shorter than this have no typos: most of them differ by one letter from each other.
const MIN_TYPO_CHARS: usize = 3;
/// The weight of each equal leading letter in the Jaro-Winkler similarity, and the number of letters that count.
const PREFIX_WEIGHT: f64 = 0.1;
const MAX_PREFIX_CHARS: usize = 4;
/// Letters are counted in this many classes.
const LETTER_CLASSES: usize = 32;

/// Names to compare with, each with what it names.
#[derive(Debug, Clone)]
pub struct KnownNames<T> {
    names: Vec<(Name, T)>,
}

impl<T> Default for KnownNames<T> {
    fn default() -> Self {
        KnownNames { names: Vec::new() }
    }
}

impl<T> KnownNames<T> {
    /// Adds a name. The same thing may have several names.
    pub fn add(&mut self, name: &str, value: T) {
        self.names.push((Name::new(name), value));
    }
}

impl<T> Extend<(String, T)> for KnownNames<T> {
    fn extend<I: IntoIterator<Item = (String, T)>>(&mut self, names: I) {
        names
            .into_iter()
            .for_each(|(name, value)| self.add(&name, value));
    }
}

impl<T> FromIterator<(String, T)> for KnownNames<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(names: I) -> Self {
        let mut known = KnownNames::default();
        known.extend(names);
        known
    }
}

impl<T: Ord> KnownNames<T> {
    /// The `most` things whose names are most similar to a name, the most similar first, then in the order of the things;
    /// each once.
    pub fn nearest(&self, name: &str, min_similarity: f64, most: usize) -> Vec<&T> {
        let wanted = Name::new(name);
        let mut near: Vec<(f64, &T)> = self
            .names
            .iter()
            .filter_map(|(known, value)| {
                let similarity = wanted.similarity(known, min_similarity)?;
                Some((similarity, value))
            })
            .collect();
        near.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(other.1)));
        let mut nearest: Vec<&T> = Vec::new();
        for (_, value) in near {
            if nearest.len() < most && !nearest.contains(&value) {
                nearest.push(value);
            }
        }
        nearest
    }
}

/// The known name that is most similar to a misspelt one, if any is similar enough.
pub fn nearest_name<'n>(
    misspelt: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    let mut names = KnownNames::default();
    known.into_iter().for_each(|name| names.add(name, name));
    names
        .nearest(misspelt, SIMILAR_NAME, 1)
        .first()
        .map(|name| **name)
}

/// A name, prepared for comparison.
#[derive(Debug, Clone)]
struct Name {
    folded: String,
    chars: usize,
    /// How often letters of each class occur.
    letters: [u8; LETTER_CLASSES],
}

impl Name {
    fn new(name: &str) -> Name {
        let folded = fold_name(name);
        let mut letters = [0u8; LETTER_CLASSES];
        let mut chars = 0;
        for letter in folded.chars() {
            let class = &mut letters[letter as usize % LETTER_CLASSES];
            *class = class.saturating_add(1);
            chars += 1;
        }
        Name {
            folded,
            chars,
            letters,
        }
    }

    /// The similarity of the names, from 0 to 1, unless it is below the minimum.
    fn similarity(&self, other: &Name, min: f64) -> Option<f64> {
        let common = self.common_letters(other);
        let similarity = match self.max_jaro_winkler(other, common) < min {
            true => 0.0,
            false => strsim::jaro_winkler(&self.folded, &other.folded),
        };
        let similarity = match self.is_typo_of(other, common) {
            true => similarity.max(TYPO_SIMILARITY),
            false => similarity,
        };
        (similarity >= min).then_some(similarity)
    }

    /// At least as many letters as both names have in common.
    fn common_letters(&self, other: &Name) -> usize {
        let pairs = self.letters.iter().zip(&other.letters);
        let common = pairs.map(|(one, other)| usize::from(*one.min(other))).sum();
        // A class that is full has an unknown number of letters.
        match self.letters.contains(&u8::MAX) && other.letters.contains(&u8::MAX) {
            true => self.chars.min(other.chars),
            false => common,
        }
    }

    /// An upper bound of the Jaro-Winkler similarity. It is much cheaper, and excludes almost all names.
    fn max_jaro_winkler(&self, other: &Name, common: usize) -> f64 {
        if common == 0 {
            return f64::from(u8::from(self.chars == 0 && other.chars == 0));
        }
        let common = common as f64;
        let jaro = (common / self.chars as f64 + common / other.chars as f64 + 1.0) / 3.0;
        let letters = self.folded.chars().zip(other.folded.chars());
        let prefix = letters
            .take(MAX_PREFIX_CHARS)
            .take_while(|(one, other)| one == other)
            .count();
        // Rounding must not make the bound too low.
        jaro + PREFIX_WEIGHT * prefix as f64 * (1.0 - jaro) + f64::EPSILON * 8.0
    }

    fn is_typo_of(&self, other: &Name, common: usize) -> bool {
        let longest = self.chars.max(other.chars);
        self.chars >= MIN_TYPO_CHARS
            && self.chars.abs_diff(other.chars) <= 1
            && common + 1 >= longest
            && strsim::osa_distance(&self.folded, &other.folded) <= 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn nearest<'n>(name: &str, known: &[&'n str]) -> Vec<&'n str> {
        let mut names = KnownNames::default();
        known.iter().for_each(|name| names.add(name, *name));
        let nearest = names.nearest(name, SIMILAR_NAME, 3);
        nearest.into_iter().copied().collect()
    }

    #[test]
    fn the_most_similar_name_is_first() {
        let known = ["Plan", "Planner", "Clan", "Garden"];
        assert_eq!(nearest("plam", &known), ["Plan"]);
        assert_eq!(nearest("PLAN", &known), ["Plan", "Planner", "Clan"]);
        assert_eq!(nearest("Lgo", &["Log", "Lager"]), ["Log"]);
        assert_eq!(nearest("ab", &["ac", "b"]), Vec::<&str>::new());
        assert_eq!(nearest("", &["", "a"]), [""]);
        assert_eq!(
            nearest_name("contian", ["contains", "trim"]),
            Some("contains")
        );
        assert_eq!(nearest_name("zzz", ["contains", "trim"]), None);
    }

    #[test]
    fn a_thing_with_several_names_is_listed_once() {
        let mut names = KnownNames::default();
        names.add("Tomato", "Garden/Tomato.md");
        names.add("Tomatoes", "Garden/Tomato.md");
        assert_eq!(
            names.nearest("Tomatos", SIMILAR_NAME, 3),
            [&"Garden/Tomato.md"]
        );
    }

    proptest! {
        #[test]
        fn the_bound_excludes_no_similar_name(one in "[a-eA\u{e9}\u{4eca} ]{0,12}", other in "[a-eA\u{e9}\u{4eca} ]{0,12}") {
            let similarity = strsim::jaro_winkler(&fold_name(&one), &fold_name(&other));
            let (one, other) = (Name::new(&one), Name::new(&other));
            let common = one.common_letters(&other);
            prop_assert!(similarity <= one.max_jaro_winkler(&other, common));
            let is_one_edit = strsim::osa_distance(&one.folded, &other.folded) <= 1;
            prop_assert_eq!(one.is_typo_of(&other, common), is_one_edit && one.chars >= MIN_TYPO_CHARS);
        }
    }
}
