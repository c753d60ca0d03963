//! Names for blocks without an id, derived from their text: a name stays valid when the block moves or its surroundings
//! change, and becomes invalid when its text changes.
//!
//! A name has three parts: a hash of kind and text; a MinHash sketch of the words, to find the most similar block if no hash
//! matches; and, only if several blocks of a note are equal, the ordinal, their number, and a hash of the adjacent lines.

use std::collections::HashMap;

use super::{BlockKind, Blocks};
use crate::text::Passage;
use crate::words;

/// Hexadecimal digits of the hash in a name.
const HASH_DIGITS: usize = 10;
/// Hashes in the sketch, two digits each.
const SKETCH_HASHES: usize = 4;
/// The maximum length of the most similar block's text in an error.
const MAX_NEAREST_BYTES: usize = 300;

/// The name of a block within its note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// `^id`, or a name derived from its text.
    pub fragment: String,
}

/// Why a name does not identify a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockLookupError {
    /// It is neither an id nor a generated name.
    Malformed,
    /// No block has this id.
    NoId,
    /// The text of the block changed, or the block was removed.
    Changed {
        /// The index of the most similar block, and its text.
        nearest: Option<(usize, Passage)>,
    },
    /// Several blocks match.
    Several(Vec<usize>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Name {
    hash: String,
    sketch: String,
    /// Among equal blocks: the ordinal, their number, and the hash of the adjacent lines.
    among: Option<(usize, usize, String)>,
}

impl Name {
    fn parse(written: &str) -> Option<Name> {
        let mut parts = written.strip_prefix('b')?.split('.');
        let digits = parts.next()?;
        let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if digits.len() != HASH_DIGITS + 2 * SKETCH_HASHES || !is_hex(digits) {
            return None;
        }
        let digits = digits.to_ascii_lowercase();
        let among = match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (None, ..) => None,
            (Some(place), Some(count), Some(beside), None)
                if beside.len() == 8 && is_hex(beside) =>
            {
                let count: usize = count.parse().ok()?;
                let place: usize = place.parse().ok()?;
                Some((place.checked_sub(1)?, count, beside.to_ascii_lowercase()))
            }
            _ => return None,
        };
        Some(Name {
            hash: digits[..HASH_DIGITS].to_owned(),
            sketch: digits[HASH_DIGITS..].to_owned(),
            among,
        })
    }
}

impl Blocks<'_> {
    /// The names of all blocks, each unique in the note.
    pub fn names(&self) -> Vec<Named> {
        let hashes = self.hashes();
        let mut equals: HashMap<&str, usize> = HashMap::new();
        for hash in &hashes {
            *equals.entry(hash).or_default() += 1;
        }
        let mut ids: HashMap<String, usize> = HashMap::new();
        for id in self.all.iter().filter_map(|block| block.id.as_ref()) {
            *ids.entry(id.name.to_ascii_lowercase()).or_default() += 1;
        }
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let mut names = Vec::with_capacity(self.all.len());
        for (index, hash) in hashes.iter().enumerate() {
            let place = seen.entry(hash).or_default();
            *place += 1;
            let id = self.all[index].id.as_ref();
            let only = id.filter(|id| ids.get(&id.name.to_ascii_lowercase()) == Some(&1));
            let words = || sketch(&self.text_of(index));
            let fragment = match (only, equals.get(hash.as_str())) {
                (Some(id), _) => format!("^{}", id.name),
                (None, Some(1)) => format!("b{hash}{}", words()),
                (None, count) => format!(
                    "b{hash}{}.{place}.{}.{}",
                    words(),
                    count.copied().unwrap_or_default(),
                    self.adjacent_hash(index)
                ),
            };
            names.push(Named { fragment });
        }
        names
    }

    /// The block with a name.
    ///
    /// # Errors
    /// If no block has that name any more, or several match.
    pub fn find(&self, written: &str) -> Result<usize, BlockLookupError> {
        if let Some(id) = written.strip_prefix('^') {
            return match self.with_id(id.trim()).as_slice() {
                [] => Err(BlockLookupError::NoId),
                [only] => Ok(*only),
                several => Err(BlockLookupError::Several(several.to_vec())),
            };
        }
        let name = Name::parse(written).ok_or(BlockLookupError::Malformed)?;
        let hashes = self.hashes();
        let equals: Vec<usize> = (0..hashes.len())
            .filter(|at| hashes[*at] == name.hash)
            .collect();
        match (equals.as_slice(), &name.among) {
            ([], _) => Err(BlockLookupError::Changed {
                nearest: self.nearest(&name.sketch),
            }),
            ([only], None) => Ok(*only),
            (several, None) => Err(BlockLookupError::Several(several.to_vec())),
            (several, Some((place, count, beside))) => self
                .select_equal(several, *place, *count, beside)
                .ok_or_else(|| BlockLookupError::Several(several.to_vec())),
        }
    }

    /// Selects one of several equal blocks: the one with the same adjacent lines, or, if their number is unchanged, the one
    /// with the same ordinal and at least one unchanged adjacent line.
    fn select_equal(
        &self,
        equals: &[usize],
        place: usize,
        count: usize,
        beside: &str,
    ) -> Option<usize> {
        let mut same = equals
            .iter()
            .filter(|at| self.adjacent_hash(**at) == beside);
        if let (Some(only), None) = (same.next(), same.next()) {
            return Some(*only);
        }
        let at = *equals.get(place).filter(|_| equals.len() == count)?;
        let now = self.adjacent_hash(at);
        (now[..4] == beside[..4] || now[4..] == beside[4..]).then_some(at)
    }

    /// The hash of each block.
    fn hashes(&self) -> Vec<String> {
        (0..self.all.len())
            .map(|index| {
                let mut hasher = blake3::Hasher::new();
                hasher.update(self.all[index].kind.as_str().as_bytes());
                hasher.update(b"\n");
                hasher.update(self.text_of(index).as_bytes());
                hasher.finalize().to_hex()[..HASH_DIGITS].to_owned()
            })
            .collect()
    }

    /// Hashes of the nearest non-blank lines before and after a block.
    fn adjacent_hash(&self, index: usize) -> String {
        let range = &self.all[index].range;
        let is_filled = |line: &&str| !line.trim().is_empty();
        // The start of its first line counts as the line before, which distinguishes nested equal blocks.
        let before = self.text[..range.start].split('\n').rev().find(is_filled);
        let after = self.text[range.end..].split('\n').find(is_filled);
        let hash = |line: Option<&str>| {
            let hash = blake3::hash(line.unwrap_or_default().trim().as_bytes());
            hash.to_hex()[..4].to_owned()
        };
        format!("{}{}", hash(before), hash(after))
    }

    fn nearest(&self, wanted: &str) -> Option<(usize, Passage)> {
        let shared = |index: usize| {
            let own = sketch(&self.text_of(index));
            own.as_bytes()
                .chunks(2)
                .zip(wanted.as_bytes().chunks(2))
                .filter(|(one, other)| one == other)
                .count()
        };
        // Of equal blocks the last is the innermost.
        let (likeness, index) = (0..self.all.len())
            .filter(|at| self.all[*at].kind != BlockKind::List)
            .map(|at| (shared(at), at))
            .max()?;
        (likeness > 0).then(|| {
            let text = self.text_of(index);
            let end = text.floor_char_boundary(MAX_NEAREST_BYTES);
            let passage = Passage {
                line: self.all[index].line,
                text: text[..end].to_owned(),
            };
            (index, passage)
        })
    }
}

/// A MinHash sketch of the words: similar texts share some of its hashes.
fn sketch(text: &str) -> String {
    let mut least = [u64::MAX; SKETCH_HASHES];
    words::for_each_word(text, |word| {
        let mut hash = word
            .text
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
            });
        for slot in &mut least {
            // A step of a linear congruential generator gives the next hash of the word.
            hash = hash
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
            *slot = (*slot).min(hash ^ (hash >> 29));
        }
    });
    least
        .iter()
        .map(|hash| format!("{:02x}", hash >> 13 & 0xff))
        .collect()
}
