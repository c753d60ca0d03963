//! Base64 and data URIs. Base64 is decoded leniently: with or without padding, standard or URL-safe
//! alphabet, with line breaks, or as a data URI.

use base64::Engine as _;
use base64::alphabet::STANDARD as LETTERS;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use notehost_sdk::prelude::*;

/// Encodes bytes as base64.
pub(crate) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Encodes bytes as a data URI.
pub(crate) fn data_uri(mime: &str, bytes: &[u8]) -> String {
    format!("data:{mime};base64,{}", encode(bytes))
}

/// Decodes base64.
pub(crate) fn decode(text: &str) -> Result<Vec<u8>> {
    let text = text.trim();
    let text = match text.strip_prefix("data:") {
        None => text,
        Some(uri) => match uri.split_once(',') {
            Some((head, body)) if head.ends_with(";base64") => body,
            _ => {
                return Err(Error::validation(
                    "`base64` is a data URI without base64 content: give only the base64 text",
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
                "invalid base64 in `base64`: {error}; use `text` for plain text"
            ))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn common_variants_of_base64_are_decoded() {
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
        for invalid in ["a", "ä", "data:text/plain,x", "AA=A"] {
            assert_eq!(
                decode(invalid).unwrap_err().code(),
                "validation_error",
                "{invalid}"
            );
        }
    }

    proptest! {
        #[test]
        fn encoding_round_trips(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            prop_assert_eq!(decode(&encode(&bytes)).unwrap(), bytes.clone());
            prop_assert_eq!(decode(&data_uri("a/b", &bytes)).unwrap(), bytes);
        }
    }
}
