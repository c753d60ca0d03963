//! Ids of changes, transactions and trash entries: short, sortable by time, and not guessable.

use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher, Hasher},
    sync::atomic::{AtomicU64, Ordering},
};

use notehost_platform::clock::now_millis;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A new id: nine characters of time, seven of chance.
pub(crate) fn new_id() -> String {
    static LAST: AtomicU64 = AtomicU64::new(0);
    // Two ids of one process never share a time, so they sort as they were made.
    let now = now_millis();
    let time = LAST
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| {
            Some(now.max(last + 1))
        })
        .map_or(now, |last| now.max(last + 1));
    // The keys of a `RandomState` come from the system's randomness.
    let chance = RandomState::new().build_hasher().finish();
    let digit = |value: u64, place: u32| char::from(ALPHABET[(value >> (5 * place) & 31) as usize]);
    (0..9)
        .rev()
        .map(|place| digit(time, place))
        .chain((0..7).map(|place| digit(chance, place)))
        .collect()
}

/// Whether a text from outside could be an id at all: only such a text becomes a file name.
pub(crate) fn is_id(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| ALPHABET.contains(&byte))
}
