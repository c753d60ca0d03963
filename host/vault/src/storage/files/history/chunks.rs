//! Content-defined chunking, so that two versions of a note share their unchanged parts.
//!
//! A rolling hash of the last 64 bytes decides where a chunk ends, so an insertion moves only the boundaries near it.
//! The history stores each chunk once per caller. Boundaries only affect how much is shared, never what is read back:
//! content is verified by its digest.

/// No chunk but the last of a content is shorter.
const MIN_BYTES: usize = 4 << 10;
/// No chunk is longer.
const MAX_BYTES: usize = 64 << 10;
/// A chunk ends where these bits of the hash are zero: on average 16 KiB after the shortest one.
const MASK: u64 = ((1 << 14) - 1) << 50;

/// A random number for each byte.
const GEAR: [u64; 256] = gear();

const fn gear() -> [u64; 256] {
    let mut table = [0; 256];
    let mut state: u64 = 0x6e6f_7465_686f_7374;
    let mut index = 0;
    while index < table.len() {
        // splitmix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        table[index] = mixed ^ (mixed >> 31);
        index += 1;
    }
    table
}

/// The chunks of a content, in order. Together they are the content.
pub(crate) fn chunks(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = content;
    std::iter::from_fn(move || {
        let (chunk, after) = rest.split_at(first_length(rest));
        rest = after;
        (!chunk.is_empty()).then_some(chunk)
    })
}

fn first_length(content: &[u8]) -> usize {
    let end = content.len().min(MAX_BYTES);
    if end <= MIN_BYTES {
        return end;
    }
    let mut hash = 0u64;
    for (offset, byte) in content[MIN_BYTES..end].iter().enumerate() {
        hash = (hash << 1).wrapping_add(GEAR[usize::from(*byte)]);
        if hash & MASK == 0 {
            return MIN_BYTES + offset + 1;
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Text that does not repeat itself.
    fn text(bytes: usize) -> Vec<u8> {
        let mut seed = blake3::Hasher::new();
        seed.update(b"chunks");
        let mut text = vec![0; bytes];
        seed.finalize_xof().fill(&mut text);
        text
    }

    #[test]
    fn an_edit_changes_only_the_chunks_around_it() {
        let before = text(1 << 20);
        for (place, inserted) in [
            (0, "front"),
            (before.len() / 2, "middle"),
            (before.len(), "end"),
        ] {
            let mut after = before.clone();
            after.splice(place..place, inserted.bytes());
            let known: HashSet<&[u8]> = chunks(&before).collect();
            let new: usize = chunks(&after)
                .filter(|chunk| !known.contains(chunk))
                .map(<[u8]>::len)
                .sum();
            assert!(new <= 3 * MAX_BYTES, "{inserted}: {new}");
        }
    }

    #[test]
    fn chunks_concatenate_to_the_content() {
        for content in [
            Vec::new(),
            text(1),
            text(MIN_BYTES),
            text(MIN_BYTES + 1),
            text(300_000),
            vec![b'a'; 300_000],
        ] {
            assert_eq!(chunks(&content).collect::<Vec<_>>().concat(), content);
            let mut lengths: Vec<usize> = chunks(&content).map(<[u8]>::len).collect();
            lengths.pop();
            assert!(
                lengths
                    .iter()
                    .all(|length| (MIN_BYTES..=MAX_BYTES).contains(length))
            );
        }
    }
}
