//! Invented, pronounceable words: syllables of six scripts, frequent words shorter.

use std::collections::HashSet;

use super::random::{Random, Zipf};

/// The script of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    /// With an occasional accent.
    Latin,
    Cyrillic,
    Arabic,
    Chinese,
    Japanese,
    Korean,
}

impl Script {
    /// A random script; nearly always Latin.
    pub(crate) fn any(random: &mut Random) -> Script {
        match random.below(1000) {
            0..30 => Script::Chinese,
            30..45 => Script::Japanese,
            45..55 => Script::Korean,
            55..80 => Script::Cyrillic,
            80..95 => Script::Arabic,
            _ => Script::Latin,
        }
    }

    /// The separator between two words.
    pub(crate) fn gap(self) -> &'static str {
        match self {
            Script::Chinese | Script::Japanese => "",
            _ => " ",
        }
    }

    /// The end of a sentence.
    pub(crate) fn stop(self) -> &'static str {
        match self {
            Script::Chinese | Script::Japanese => "。",
            _ => ". ",
        }
    }
}

/// The words of all scripts.
pub(crate) struct Vocabulary {
    scripts: [(Vec<String>, Zipf); 6],
}

impl Vocabulary {
    /// Generates all words.
    pub(crate) fn new(seed: u64) -> Vocabulary {
        let make = |script: Script, count: usize| {
            let mut random = Random::new(seed, 0x0057_4F52_4453 + script as u64);
            (invented(script, count, &mut random), Zipf::new(count))
        };
        Vocabulary {
            scripts: [
                make(Script::Latin, 40_000),
                make(Script::Cyrillic, 8_000),
                make(Script::Arabic, 8_000),
                make(Script::Chinese, 8_000),
                make(Script::Japanese, 8_000),
                make(Script::Korean, 8_000),
            ],
        }
    }

    /// A word, weighted by frequency.
    pub(crate) fn word(&self, script: Script, random: &mut Random) -> &str {
        let (words, zipf) = &self.scripts[script as usize];
        &words[zipf.rank(random)]
    }

    /// A word, all equally likely: names use rarer words.
    pub(crate) fn name(&self, script: Script, random: &mut Random) -> &str {
        let (words, _) = &self.scripts[script as usize];
        random.one::<String>(&words[200..])
    }
}

fn invented(script: Script, count: usize, random: &mut Random) -> Vec<String> {
    let mut seen = HashSet::with_capacity(count);
    let mut words = Vec::with_capacity(count);
    while words.len() < count {
        // Frequent words are short.
        let syllables = match words.len() {
            0..150 => 1,
            150..4000 => 2,
            _ => 2 + random.below(3),
        };
        let word: String = (0..syllables).map(|_| syllable(script, random)).collect();
        // `Hub` is the name of a note whose links are counted.
        if word != "hub" && seen.insert(word.clone()) {
            words.push(word);
        }
    }
    words
}

fn syllable(script: Script, random: &mut Random) -> String {
    let of = |parts: [&str; 3], random: &mut Random| -> String {
        parts
            .iter()
            .map(|choices| {
                let choices: Vec<&str> = choices.split(' ').collect();
                *random.one(&choices)
            })
            .collect()
    };
    let letter = |first: u32, count: usize, random: &mut Random| {
        char::from_u32(first + random.below(count) as u32).unwrap_or(' ')
    };
    match script {
        Script::Latin => {
            let vowels = if random.chance(0.02) {
                "é ü ñi å ö ç"
            } else {
                "a e i o u ea ou ai"
            };
            let onsets = "b d f g h k l m n p r s t v z br dr gr kl pl st tr th sh";
            of([onsets, vowels, " n r s l m t nd rk st"], random)
        }
        Script::Cyrillic => of(
            [
                "б в г д ж з к л м н п р с т ч ш",
                "а е и о у я ю",
                " н р с л т й",
            ],
            random,
        ),
        Script::Arabic => of(
            ["ب ت ج د ر س ش ع ف ق ك ل م ن ه", "ا و ي  ", " ن ر ل م"],
            random,
        ),
        Script::Chinese => letter(0x4E00, 2500, random).to_string(),
        Script::Japanese if random.chance(0.4) => letter(0x5E00, 1200, random).to_string(),
        Script::Japanese => (0..2).map(|_| letter(0x3042, 80, random)).collect(),
        Script::Korean => letter(0xAC00, 8000, random).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_unique_and_alphabetic() {
        let vocabulary = Vocabulary::new(1);
        for (words, _) in &vocabulary.scripts {
            let different: HashSet<&String> = words.iter().collect();
            assert_eq!(different.len(), words.len());
            assert!(
                words
                    .iter()
                    .all(|word| word.chars().all(char::is_alphabetic))
            );
        }
    }
}
