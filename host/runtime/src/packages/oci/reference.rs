//! References to components in a registry: `oci://HOST[:PORT]/NAME[:TAG|@sha256:…]`.

use std::fmt;
use std::str::FromStr;

const SCHEME: &str = "oci://";
/// The tag of a reference that names none.
const LATEST: &str = "latest";
const MAX_NAME_LENGTH: usize = 255;
const MAX_TAG_LENGTH: usize = 128;

/// The location of a component in a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Host, and port where it is not the usual one.
    registry: String,
    name: String,
    tag: Option<String>,
    digest: Option<String>,
}

/// A text that names nothing in a registry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a valid component reference: {reason}")]
pub struct BadReference {
    text: String,
    reason: &'static str,
}

impl BadReference {
    /// A hint for the person who can act.
    pub fn hint(&self) -> &'static str {
        "use `oci://registry.example.org/team/todo:1.0.0`, or `@sha256:…` instead of the tag to pin the content"
    }
}

impl Reference {
    /// Whether a text means to be one: anything else is the name of a file.
    pub fn is_meant_by(text: &str) -> bool {
        text.starts_with(SCHEME)
    }

    /// The registry's host, with its port where it has one.
    pub fn registry(&self) -> &str {
        &self.registry
    }

    /// The name within the registry.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The content that it is pinned to: the digest of a manifest.
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// The same, pinned to one content.
    pub fn pinned_to(&self, digest: &str) -> Reference {
        Reference {
            digest: Some(digest.to_owned()),
            tag: None,
            ..self.clone()
        }
    }

    /// Whether the registry is this machine: only there is plain HTTP spoken.
    pub(super) fn is_loopback(&self) -> bool {
        let host = host_of(&self.registry);
        host == "localhost"
            || host
                .trim_start_matches('[')
                .trim_end_matches(']')
                .parse::<std::net::IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    }

    /// As the client of registries wants it.
    pub(super) fn for_client(&self) -> oci_client::Reference {
        let (registry, name) = (self.registry.clone(), self.name.clone());
        match (&self.digest, &self.tag) {
            (Some(digest), _) => oci_client::Reference::with_digest(registry, name, digest.clone()),
            (None, tag) => {
                let tag = tag.as_deref().unwrap_or(LATEST);
                oci_client::Reference::with_tag(registry, name, tag.to_owned())
            }
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{SCHEME}{}/{}", self.registry, self.name)?;
        match (&self.digest, &self.tag) {
            (Some(digest), _) => write!(formatter, "@{digest}"),
            (None, Some(tag)) => write!(formatter, ":{tag}"),
            (None, None) => write!(formatter, ":{LATEST}"),
        }
    }
}

impl FromStr for Reference {
    type Err = BadReference;

    fn from_str(text: &str) -> Result<Self, BadReference> {
        let bad = |reason| BadReference {
            text: text.to_owned(),
            reason,
        };
        let rest = text
            .strip_prefix(SCHEME)
            .ok_or_else(|| bad("it does not start with `oci://`"))?;
        let (registry, path) = rest
            .split_once('/')
            .ok_or_else(|| bad("there is no `/` after the host"))?;
        if !is_registry(registry) {
            return Err(bad("the part before the first `/` is not a host"));
        }
        let (path, digest) = match path.split_once('@') {
            Some((path, digest)) => (path, Some(digest)),
            None => (path, None),
        };
        let (name, tag) = match path.rsplit_once(':') {
            Some((name, tag)) => (name, Some(tag)),
            None => (path, None),
        };
        if !is_name(name) {
            return Err(bad(
                "a name may contain a-z, 0-9, `.`, `_` and `-`, in parts separated by `/`",
            ));
        }
        if tag.is_some_and(|tag| !is_tag(tag)) {
            return Err(bad("a tag may contain letters, digits, `.`, `_` and `-`"));
        }
        if digest.is_some_and(|digest| !is_digest(digest)) {
            return Err(bad("a digest is `sha256:` and 64 digits of 0-9 and a-f"));
        }
        Ok(Reference {
            registry: registry.to_owned(),
            name: name.to_owned(),
            tag: tag.map(str::to_owned),
            digest: digest.map(str::to_owned),
        })
    }
}

fn host_of(registry: &str) -> &str {
    match registry.rfind(']') {
        Some(end) => &registry[..=end],
        None => registry.split(':').next().unwrap_or(registry),
    }
}

fn is_registry(text: &str) -> bool {
    let host = host_of(text);
    let is_host = match host.strip_prefix('[') {
        Some(rest) => rest
            .strip_suffix(']')
            .is_some_and(|address| address.parse::<std::net::Ipv6Addr>().is_ok()),
        None => {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
            !host.is_empty() && host.chars().all(plain) && !host.starts_with(['.', '-'])
        }
    };
    let is_port = match text[host.len()..].strip_prefix(':') {
        Some(port) => port.parse::<u16>().is_ok_and(|port| port > 0),
        None => text.len() == host.len(),
    };
    is_host && is_port
}

fn is_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_part = |part: &str| {
        let bytes = part.as_bytes();
        bytes.first().is_some_and(|byte| is_plain(*byte))
            && bytes.last().is_some_and(|byte| is_plain(*byte))
            && bytes
                .iter()
                .all(|byte| is_plain(*byte) || b"._-".contains(byte))
            && !part.contains("..")
    };
    text.len() <= MAX_NAME_LENGTH && text.split('/').all(is_part)
}

fn is_tag(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.len() <= MAX_TAG_LENGTH
        && text.bytes().next().is_some_and(is_plain)
        && text
            .bytes()
            .all(|byte| is_plain(byte) || matches!(byte, b'.' | b'-'))
}

/// Whether a text names a content.
pub(super) fn is_digest(text: &str) -> bool {
    text.strip_prefix("sha256:").is_some_and(|digits| {
        digits.len() == 64
            && digits
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_round_trip() {
        let digest = format!("sha256:{}", "0a".repeat(32));
        for (text, displayed) in [
            (
                "oci://registry.example.org/todo",
                "oci://registry.example.org/todo:latest",
            ),
            (
                "oci://localhost:5000/team/todo:1.0.0",
                "oci://localhost:5000/team/todo:1.0.0",
            ),
            ("oci://[::1]:5000/todo:v1", "oci://[::1]:5000/todo:v1"),
            (
                &format!("oci://example.org/todo@{digest}"),
                &format!("oci://example.org/todo@{digest}"),
            ),
            (
                &format!("oci://example.org/todo:1@{digest}"),
                &format!("oci://example.org/todo@{digest}"),
            ),
        ] {
            let reference: Reference = text.parse().expect(text);
            assert_eq!(reference.to_string(), displayed);
        }
    }

    #[test]
    fn invalid_references_are_refused_with_a_reason() {
        for (text, reason) in [
            ("registry.example.org/todo", "start with"),
            ("oci://todo", "no `/`"),
            ("oci:///todo", "not a host"),
            ("oci://a b/todo", "not a host"),
            ("oci://user@host/todo", "not a host"),
            ("oci://host:0/todo", "not a host"),
            ("oci://host:99999/todo", "not a host"),
            ("oci://[::1/todo", "not a host"),
            ("oci://host/", "a name may contain"),
            ("oci://host/Todo", "a name may contain"),
            ("oci://host/../todo", "a name may contain"),
            ("oci://host/a//b", "a name may contain"),
            ("oci://host/todo?x=1", "a name may contain"),
            ("oci://host/todo:", "a tag may contain"),
            ("oci://host/todo:a b", "a tag may contain"),
            ("oci://host/todo@sha256:12", "a digest is"),
            (
                "oci://host/todo@md5:d41d8cd98f00b204e9800998ecf8427e",
                "a digest is",
            ),
        ] {
            let error = text.parse::<Reference>().expect_err(text).to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn only_this_machine_is_loopback() {
        for (host, is_loopback) in [
            ("localhost:5000", true),
            ("127.0.0.1:5000", true),
            ("127.8.8.8", true),
            ("[::1]:5000", true),
            ("localhost.example.org", false),
            ("10.0.0.1:5000", false),
            ("registry.example.org", false),
        ] {
            let reference: Reference = format!("oci://{host}/todo").parse().expect(host);
            assert_eq!(reference.is_loopback(), is_loopback, "{host}");
        }
    }
}
