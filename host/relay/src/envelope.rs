//! The outside of a JSON-RPC message: its id, method and parameters as they are written. The rest of a message is not
//! parsed, and a message is changed by replacing a few of its bytes.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// What a message is.
#[derive(Debug, Deserialize)]
pub(crate) struct Envelope<'a> {
    #[serde(borrow, default)]
    pub(crate) jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) result: Option<&'a RawValue>,
}

/// What parameters may have that matters here.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Params<'a> {
    /// Also where it is `null`.
    #[serde(borrow, default, rename = "_meta", deserialize_with = "present")]
    pub(crate) meta: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) uri: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) request_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) progress_token: Option<&'a RawValue>,
    #[serde(default)]
    pub(crate) progress: Option<f64>,
}

fn present<'de: 'a, 'a, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// What `_meta` may have that matters here.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Meta<'a> {
    #[serde(borrow, default, rename = "progressToken")]
    pub(crate) progress_token: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/subscriptionId")]
    pub(crate) subscription: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    /// The envelope of a line; `None` for anything that is not one JSON object.
    pub(crate) fn of(line: &'a [u8]) -> Option<Envelope<'a>> {
        // A list could be read as an envelope too.
        let is_object = line.trim_ascii_start().first() == Some(&b'{');
        is_object.then(|| serde_json::from_slice(line).ok())?
    }

    /// The parameters, empty if there are none or other ones.
    pub(crate) fn params(&self) -> Params<'a> {
        let params = self.params.map(RawValue::get).unwrap_or_default();
        serde_json::from_str(params).unwrap_or_default()
    }
}

impl<'a> Params<'a> {
    /// The metadata, empty if there is none or another one.
    pub(crate) fn meta(&self) -> Meta<'a> {
        let meta = self.meta.map(RawValue::get).unwrap_or_default();
        serde_json::from_str(meta).unwrap_or_default()
    }
}

/// Where a value that was parsed from a line is in it.
pub(crate) fn place(line: &[u8], value: &RawValue) -> Range<usize> {
    let start = value.get().as_ptr().addr() - line.as_ptr().addr();
    start..start + value.get().len()
}

/// The line with other bytes at a place.
pub(crate) fn spliced(line: &[u8], place: Range<usize>, with: &[u8]) -> Vec<u8> {
    let mut changed = Vec::with_capacity(line.len() + with.len());
    changed.extend_from_slice(&line[..place.start]);
    changed.extend_from_slice(with);
    changed.extend_from_slice(&line[place.end..]);
    changed
}

/// The line with one more member at the end of an object in it, and where the member begins. At the end it takes precedence
/// over an earlier one of the same name. `None` if the value is not an object.
pub(crate) fn with_member(
    line: &[u8],
    object: &RawValue,
    member: &str,
) -> Option<(Vec<u8>, usize)> {
    let inside = object.get().strip_prefix('{')?.strip_suffix('}')?;
    let comma = match inside.trim_ascii().is_empty() {
        true => "",
        false => ",",
    };
    let end = place(line, object).end - 1;
    let text = format!("{comma}{member}");
    Some((spliced(line, end..end, text.as_bytes()), end + comma.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_added_without_changing_the_rest() {
        for (params, changed) in [
            (r#"{ }"#, r#"{ "a":1}"#),
            (r#"{"b":"}"}"#, r#"{"b":"}","a":1}"#),
            (r#"{"a":0}"#, r#"{"a":0,"a":1}"#),
        ] {
            let line = format!("{{\"id\" : 1,\"params\":{params}}}\n");
            let envelope = Envelope::of(line.as_bytes()).expect("an envelope");
            let object = envelope.params.expect("params");
            let (made, at) = with_member(line.as_bytes(), object, "\"a\":1").expect("an object");
            let expected = format!("{{\"id\" : 1,\"params\":{changed}}}\n");
            assert_eq!(String::from_utf8_lossy(&made), expected);
            assert!(made[at..].starts_with(b"\"a\":1"));
        }
    }

    #[test]
    fn metadata_that_is_null_is_present() {
        let params = |text: &str| {
            let line = format!("{{\"params\":{text}}}");
            let envelope = Envelope::of(line.as_bytes()).expect("an envelope");
            envelope.params().meta.map(|meta| meta.get().to_owned())
        };
        assert_eq!(params(r#"{"_meta":null}"#).as_deref(), Some("null"));
        assert_eq!(
            params(r#"{"_meta":{"a":1}}"#).as_deref(),
            Some(r#"{"a":1}"#)
        );
        assert_eq!(params("{}"), None);
    }

    #[test]
    fn other_texts_have_no_envelope() {
        for text in ["", "[]", "7", "{", "\u{1}"] {
            assert!(Envelope::of(text.as_bytes()).is_none(), "{text}");
        }
        assert!(Envelope::of(br#"{"id":null}"#).expect("one").id.is_none());
    }
}
