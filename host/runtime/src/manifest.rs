//! A component's manifest: the most that it can be granted, stated by its author in a custom section. An admin may
//! grant less. It is read before anything is run.

use serde::{Deserialize, Serialize};

use super::inspect::{InspectError, Reading, inspect};
use notehost_config::HostPattern;
use notehost_vault::Effect;

/// The name of the section.
pub const MANIFEST_SECTION: &str = "notehost:manifest";

/// The longest manifest that is taken.
const MAX_BYTES: usize = 64 << 10;

/// The ceiling of what a component can be granted. What it does not mention it does not limit, but for HTTP: a host
/// that is not named cannot be granted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Manifest {
    /// The most that any of its actions may do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// How much it may keep in its store, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store_bytes: Option<u64>,
    /// The hosts it may send HTTP requests to: `api.example.com`, `*.example.org`, `localhost:8080`; `*` leaves the choice to
    /// the admin.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub http: Vec<String>,
    /// What one call may use.
    #[serde(skip_serializing_if = "ManifestLimits::is_empty")]
    pub limits: ManifestLimits,
}

/// What one call may use at most.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ManifestLimits {
    /// Memory of an instance, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Time, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_ms: Option<u64>,
}

/// Why a manifest cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// It is not JSON of the right form.
    #[error("{0}")]
    Malformed(String),
    /// It is too long.
    #[error("it has {0} bytes; at most {MAX_BYTES} are allowed")]
    TooLong(usize),
    /// An invalid host.
    #[error(
        "`{0}` is not a valid HTTP host: write `api.example.com`, `*.example.org` or `localhost:8080`"
    )]
    BadHost(String),
    /// There are several that differ.
    #[error("the component contains two that differ")]
    Several,
}

impl ManifestLimits {
    fn is_empty(&self) -> bool {
        *self == ManifestLimits::default()
    }
}

impl Manifest {
    /// Read a manifest.
    pub fn parse(json: &[u8]) -> Result<Manifest, ManifestError> {
        if json.len() > MAX_BYTES {
            return Err(ManifestError::TooLong(json.len()));
        }
        // Serde would take a list of the values as well.
        if json.trim_ascii_start().first() != Some(&b'{') {
            return Err(ManifestError::Malformed("it is not a JSON object".into()));
        }
        let manifest: Manifest = serde_json::from_slice(json)
            .map_err(|error| ManifestError::Malformed(error.to_string()))?;
        match manifest
            .http
            .iter()
            .find(|host| HostPattern::parse(host).is_err())
        {
            Some(bad) => Err(ManifestError::BadHost(
                bad.chars().take(100).flat_map(char::escape_debug).collect(),
            )),
            None => Ok(manifest),
        }
    }
}

/// The component with this manifest, in the place of one that was put there the same way. For languages that cannot
/// put a section into what they build.
pub fn with_manifest(component: &[u8], manifest: &Manifest) -> Result<Vec<u8>, InspectError> {
    let own = Reading::of(component)?.manifest_sections;
    let mut packed = Vec::with_capacity(component.len() + 256);
    let mut at = 0;
    for section in own {
        packed.extend_from_slice(&component[at..section.start]);
        at = section.end;
    }
    packed.extend_from_slice(&component[at..]);
    let json = serde_json::to_vec(manifest)
        .map_err(|error| ManifestError::Malformed(error.to_string()))?;
    append_section(&mut packed, &json);
    // One that is deeper inside is the author's own word, and is not overruled.
    inspect(&packed)?;
    Ok(packed)
}

fn append_section(bytes: &mut Vec<u8>, data: &[u8]) {
    let mut content = Vec::with_capacity(MANIFEST_SECTION.len() + data.len() + 2);
    append_number(&mut content, MANIFEST_SECTION.len());
    content.extend_from_slice(MANIFEST_SECTION.as_bytes());
    content.extend_from_slice(data);
    // Custom sections have the number 0.
    bytes.push(0);
    append_number(bytes, content.len());
    bytes.extend_from_slice(&content);
}

/// As WebAssembly writes numbers: seven bits at a time, the lowest first.
fn append_number(bytes: &mut Vec<u8>, mut number: usize) {
    while number > 0x7f {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A component with nothing in it.
    const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

    fn parse(json: &str) -> Result<Manifest, String> {
        Manifest::parse(json.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn missing_fields_are_unlimited() {
        assert_eq!(parse("{}"), Ok(Manifest::default()));
        let whole = parse(
            r#"{"effect": "write", "store_bytes": 5, "http": ["api.example.com", "*.example.org", "localhost:8080", "[::1]:80"],
                "limits": {"memory_bytes": 7, "call_ms": 9}}"#,
        )
        .expect("a manifest");
        assert_eq!(whole.effect, Some(Effect::Write));
        assert_eq!(whole.limits.call_ms, Some(9));
        assert_eq!(whole.http.len(), 4);
    }

    #[test]
    fn invalid_manifests_are_refused() {
        assert!(parse("").is_err());
        assert!(parse("[]").is_err());
        assert!(
            parse(r#"{"efect": "read"}"#)
                .expect_err("a typing error")
                .contains("efect")
        );
        assert!(parse(r#"{"effect": "everything"}"#).is_err());
        assert!(parse(r#"{"store_bytes": -1}"#).is_err());
        for host in [
            "",
            "example.com/path",
            "a b",
            "a..b",
            "*.*.org",
            "localhost:0",
            "localhost:99999",
        ] {
            let json = serde_json::json!({ "http": [host] }).to_string();
            let error = parse(&json).expect_err(host);
            assert!(
                error.contains("is not a valid HTTP host"),
                "{host}: {error}"
            );
        }
    }

    #[test]
    fn with_manifest_adds_and_replaces_the_section() {
        let narrow = parse(r#"{"effect": "read"}"#).expect("a manifest");
        let wide = parse(&format!(
            r#"{{"effect": "delete", "http": ["{}.example"]}}"#,
            "a".repeat(60)
        ))
        .expect("a manifest");
        let first = with_manifest(EMPTY, &wide).expect("packed");
        assert_eq!(inspect(&first).expect("a component").manifest, Some(wide));
        let second = with_manifest(&first, &narrow).expect("packed");
        assert_eq!(
            inspect(&second).expect("a component").manifest,
            Some(narrow.clone())
        );
        assert_eq!(second, with_manifest(EMPTY, &narrow).expect("packed"));
    }

    #[test]
    fn differing_manifests_are_refused() {
        let mut twice = with_manifest(EMPTY, &Manifest::default()).expect("packed");
        append_section(&mut twice, b"{}");
        assert!(
            inspect(&twice).is_ok(),
            "the same once more says nothing new"
        );
        append_section(&mut twice, br#"{"effect": "read"}"#);
        let error = inspect(&twice).expect_err("which one?").to_string();
        assert!(error.contains("two"), "{error}");
        let mut broken = EMPTY.to_vec();
        append_section(&mut broken, b"{");
        let error = inspect(&broken).expect_err("no JSON").to_string();
        assert!(error.contains("manifest"), "{error}");
    }
}
