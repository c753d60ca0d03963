//! Resource URIs: `notehost://vault/{vault}/{path}` for notes and files, `notehost://help/{domain}/{action}` for help.
//! Paths are percent-encoded, except their slashes.

/// The prefix of URIs of notes and files.
pub const VAULT_PREFIX: &str = "notehost://vault/";
/// The prefix of URIs of help.
pub const HELP_PREFIX: &str = "notehost://help/";

/// The longest name: a path of 4 KiB in which every second byte is encoded.
const MAX_URI_BYTES: usize = 8 << 10;

/// A parsed URI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceUri {
    /// A note or another file.
    File {
        /// The vault's id.
        vault: String,
        /// The path in it.
        path: String,
    },
    /// Help on a domain, or on one of its actions.
    Help {
        /// The domain.
        domain: String,
        /// The action, if any.
        action: Option<String>,
    },
}

impl ResourceUri {
    /// Parses a URI; `None` if it is not a Notehost URI.
    pub fn parse(uri: &str) -> Option<ResourceUri> {
        if uri.len() > MAX_URI_BYTES {
            return None;
        }
        if let Some(rest) = uri.strip_prefix(VAULT_PREFIX) {
            let (vault, path) = rest.split_once('/')?;
            let (vault, path) = (decoded(vault)?, decoded(path)?);
            return (!path.is_empty()).then_some(ResourceUri::File { vault, path });
        }
        let rest = uri.strip_prefix(HELP_PREFIX)?;
        let (domain, action) = match rest.split_once('/') {
            Some((domain, action)) => (domain, Some(decoded(action)?)),
            None => (rest, None),
        };
        let domain = decoded(domain)?;
        Some(ResourceUri::Help { domain, action })
    }
}

/// The URI of a note or file.
pub fn of_file(vault: &str, path: &str) -> String {
    format!("{VAULT_PREFIX}{}/{}", encoded(vault), encoded(path))
}

/// The URI of the help on a domain.
pub fn of_help(domain: &str) -> String {
    format!("{HELP_PREFIX}{}", encoded(domain))
}

/// Percent-encoding, which leaves the slashes between the parts of a path.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                encoded.push(byte.into())
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// Decodes percent-encoding; `None` if it is malformed or not UTF-8.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        if *byte == b'%' {
            let (digits, after) = after.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = after;
        } else {
            bytes.push(*byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_round_trip_through_uris() {
        for path in ["Plan.md", "Work/Über uns 100%.md", "日记/今天#1?.md"] {
            let uri = of_file("main", path);
            assert!(uri.is_ascii());
            let (vault, path) = ("main".to_owned(), path.to_owned());
            assert_eq!(
                ResourceUri::parse(&uri),
                Some(ResourceUri::File { vault, path })
            );
        }
    }

    #[test]
    fn malformed_uris_are_rejected() {
        for rest in ["main", "main/", "main/%", "main/%2", "main/%zz", "main/%ff"] {
            assert_eq!(
                ResourceUri::parse(&format!("{VAULT_PREFIX}{rest}")),
                None,
                "{rest}"
            );
        }
        let long = of_file("main", &"a".repeat(MAX_URI_BYTES));
        for other in [
            long.as_str(),
            "",
            "file:///etc/passwd",
            "notehost://else/main/a.md",
        ] {
            assert_eq!(ResourceUri::parse(other), None, "{other}");
        }
    }

    #[test]
    fn help_uris_name_a_domain_or_an_action() {
        let help = |action: Option<&str>| ResourceUri::Help {
            domain: "document".to_owned(),
            action: action.map(str::to_owned),
        };
        let parsed = ResourceUri::parse("notehost://help/document/read");
        assert_eq!(parsed, Some(help(Some("read"))));
        assert_eq!(ResourceUri::parse(&of_help("document")), Some(help(None)));
    }
}
