//! How bytes and names are written where they cannot stand as they are. Base64 is read as callers write it: with or
//! without padding, in either alphabet, with line breaks, as a data URI.

use base64::Engine as _;
use base64::alphabet::STANDARD as LETTERS;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use notehost_sdk::prelude::*;

/// Bytes as base64.
pub(crate) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Bytes as a URI that holds them.
pub(crate) fn data_uri(mime: &str, bytes: &[u8]) -> String {
    format!("data:{mime};base64,{}", encode(bytes))
}

/// The bytes of a base64 text.
pub(crate) fn decode(text: &str) -> Result<Vec<u8>> {
    let text = text.trim();
    let text = match text.strip_prefix("data:") {
        None => text,
        Some(uri) => match uri.split_once(',') {
            Some((head, body)) if head.ends_with(";base64") => body,
            _ => {
                return Err(Error::validation(
                    "`base64` is a data URI whose content is not base64: give the base64 text alone",
                ));
            }
        },
    };
    let letters: Vec<u8> = text
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            byte => byte,
        })
        .collect();
    let lenient =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(&LETTERS, lenient)
        .decode(&letters)
        .map_err(|error| {
            Error::validation(format!(
                "`base64` cannot be decoded: {error}; for plain text use `text` instead"
            ))
        })
}

/// What `%20` and the like stand for; what does not decode stays.
pub(crate) fn percent_decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digit = |offset: usize| {
            let byte = *bytes.get(at + offset)?;
            char::from(byte).to_digit(16)
        };
        match (bytes[at], digit(1), digit(2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high << 4 | low) as u8);
                at += 3;
            }
            (byte, ..) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_common_spelling_is_read() {
        for spelling in [
            "+/+/AA==",
            "-_-_AA",
            " +/+/\r\nAA== ",
            "data:image/png;base64,+/+/AA==",
        ] {
            assert_eq!(
                decode(spelling).unwrap(),
                [0xfb, 0xff, 0xbf, 0],
                "{spelling}"
            );
        }
        for wrong in ["a", "ä", "data:text/plain,x", "AA=A"] {
            assert_eq!(
                decode(wrong).unwrap_err().code(),
                "validation_error",
                "{wrong}"
            );
        }
    }

    proptest! {
        #[test]
        fn what_is_encoded_comes_back(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            prop_assert_eq!(decode(&encode(&bytes)).unwrap(), bytes.clone());
            prop_assert_eq!(decode(&data_uri("a/b", &bytes)).unwrap(), bytes);
        }
    }
}
