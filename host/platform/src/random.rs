//! Random numbers of the operating system, and ids made from them. Nothing else in the host asks the system for randomness.

/// The system's random number generator failed.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error(transparent)]
pub struct RandomError(#[from] getrandom::Error);

/// The letters of ids: five bits each, without `l`, `o`, `0` and `1`, which are easily confused.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// An array of random bytes, for keys and seeds.
pub fn bytes<const N: usize>() -> Result<[u8; N], RandomError> {
    let mut random = [0; N];
    getrandom::fill(&mut random)?;
    Ok(random)
}

/// An unguessable id of so many lower-case letters and digits, with five random bits each.
pub fn id(letters: usize) -> Result<String, RandomError> {
    let mut random = vec![0; letters];
    getrandom::fill(&mut random)?;
    Ok(random
        .iter()
        .map(|byte| char::from(LETTERS[usize::from(byte % 32)]))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_plain_and_differ() {
        let one = id(40).expect("random numbers");
        assert_eq!(one.len(), 40);
        assert!(one.bytes().all(|byte| LETTERS.contains(&byte)), "{one}");
        assert_ne!(one, id(40).expect("random numbers"));
        assert_ne!(
            bytes::<32>().expect("random numbers"),
            bytes::<32>().expect("random numbers")
        );
    }
}
