//! Hashed word bigrams. A phrase query first intersects the posting lists of its bigrams, then verifies the few
//! candidates: common words occur in so many notes that comparing their positions in each would dominate the search.
//!
//! Hash collisions cost time, never a missed hit.

use notehost_sdk::words;

/// How many hashes there are, as a power of two: so many that few notes share one, so few that their dictionary is
/// small.
const BITS: u32 = 17;

/// The hashes of all bigrams of a text, in order.
pub(super) fn all(text: &str) -> Vec<u64> {
    let mut numbers = Vec::new();
    // An identifier and its parts have the same position: each forms bigrams with the words at the next one.
    let mut before: Vec<u64> = Vec::new();
    let mut here: Vec<u64> = Vec::new();
    let mut place = 0;
    words::for_each_word(text, |word| {
        if word.position != place {
            std::mem::swap(&mut before, &mut here);
            here.clear();
            if word.position != place + 1 {
                before.clear();
            }
            place = word.position;
        }
        let word = digest(word.text);
        here.push(word);
        numbers.extend(before.iter().map(|before| joined(*before, word)));
    });
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// The hashes of the bigrams among words at these positions.
pub(super) fn among(phrase: &[(usize, String)]) -> impl Iterator<Item = u64> {
    phrase
        .windows(2)
        .filter(|pair| pair[1].0 == pair[0].0 + 1)
        .map(|pair| joined(digest(&pair[0].1), digest(&pair[1].1)))
}

fn joined(word: u64, next: u64) -> u64 {
    let both = word.rotate_left(23) ^ next;
    both.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - BITS)
}

/// FNV-1a. It is on disk, so it stays as it is.
fn digest(word: &str) -> u64 {
    word.bytes().fold(0xcbf2_9ce4_8422_2325, |digest, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PIECES: &[&str] = &[
        "word",
        "Other",
        "parse_noteName",
        "日本",
        "語",
        "カ",
        " ",
        " ",
        ", ",
        "\n",
        "🦀",
        "é",
        "_",
        "x2y",
        "ไทย",
        "-",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        /// The bigrams of a phrase are among those of the text, whatever part of it is queried and however it is cut.
        #[test]
        fn bigrams_have_no_false_negatives(pieces in prop::collection::vec(prop::sample::select(PIECES), 1..20), from in 0usize..20, to in 0usize..20) {
            let text = pieces.concat();
            let (from, to) = (from.min(pieces.len()), to.min(pieces.len()));
            let part = pieces[from.min(to)..from.max(to)].concat();
            let rendered = all(&text);
            let mut places: std::collections::HashMap<String, Vec<usize>> = std::collections::HashMap::new();
            words::for_each_word(&text, |word| places.entry(word.text.to_owned()).or_default().push(word.position));
            let phrase = words::query_terms(&part);
            for pair in phrase.windows(2) {
                let stand = places.get(&pair[0].1).is_some_and(|firsts| firsts.iter().any(|first| {
                    places.get(&pair[1].1).is_some_and(|seconds| seconds.contains(&(first + pair[1].0 - pair[0].0)))
                }));
                for number in among(pair) {
                    prop_assert!(!stand || rendered.contains(&number), "{:?} {:?}", text, pair);
                }
            }
        }
    }
}
