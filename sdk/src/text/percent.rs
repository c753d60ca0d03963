//! Percent-encoding of link destinations, URLs and attributes.

/// A path or a name, percent-encoded for a Markdown link destination or a URL; `/` is kept.
pub fn encode(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.~/".contains(letter);
    encode_where(text, |letter| !is_plain(letter))
}

/// Encodes the characters that `must` selects.
pub(crate) fn encode_where(text: &str, must: impl Fn(char) -> bool) -> String {
    let mut encoded = String::with_capacity(text.len());
    for letter in text.chars() {
        if must(letter) {
            for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
                encoded.push_str(&format!("%{byte:02X}"));
            }
        } else {
            encoded.push(letter);
        }
    }
    encoded
}

/// Decodes sequences such as `%20`. Invalid sequences stay as written, and so does a text that is not UTF-8 afterwards.
pub fn decode(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    String::from_utf8(decode_bytes(text.as_bytes())).unwrap_or_else(|_| text.to_owned())
}

/// Decodes the bytes of a text; invalid sequences stay as written.
pub(crate) fn decode_bytes(bytes: &[u8]) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&byte, tail)) = rest.split_first() {
        let sequence = match (byte, tail) {
            (b'%', [high, low, after @ ..]) => digit(*high).zip(digit(*low)).zip(Some(after)),
            _ => None,
        };
        match sequence {
            Some(((high, low), after)) => {
                decoded.push(high << 4 | low);
                rest = after;
            }
            None => {
                decoded.push(byte);
                rest = tail;
            }
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn invalid_sequences_stay_as_written() {
        assert_eq!(encode("A b/ä%.md"), "A%20b/%C3%A4%25.md");
        for text in ["100%", "%4", "%zz", "%ff", "a%e4b"] {
            assert_eq!(decode(text), text);
        }
        assert_eq!(decode("%e4%bb%8a%2Fx"), "今/x");
    }

    proptest! {
        #[test]
        fn encoding_round_trips(text in "\\PC{0,20}") {
            prop_assert_eq!(decode(&encode(&text)), text.clone());
        }
    }
}
