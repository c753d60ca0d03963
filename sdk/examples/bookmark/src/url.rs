//! A minimal URL type with the parts that a request needs.

use std::fmt;

use notehost_sdk::{Error, Result};

/// A URL: `scheme://authority/path?query`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    pub is_secure: bool,
    /// The host, with the port if given.
    pub authority: String,
    /// Begins with `/`.
    pub path_and_query: String,
}

impl Url {
    /// Parses a URL as people write it.
    pub fn parse(text: &str) -> Result<Url> {
        let text = text.trim();
        let (scheme, rest) = text.split_once("://").unwrap_or_default();
        let is_secure = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => {
                return Err(Error::validation(format!(
                    "`{text}` is not a web URL: it must start with `https://` or `http://`"
                )));
            }
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let is_odd = |letter: char| letter.is_whitespace() || letter.is_control() || letter == '@';
        if authority.is_empty() || authority.contains(is_odd) {
            return Err(Error::validation(format!("`{text}` has no host")));
        }
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(Url {
            is_secure,
            authority: authority.to_ascii_lowercase(),
            path_and_query: escaped(&format!("{slash}{path}")),
        })
    }

    /// The target of a redirect from this URL.
    pub fn join(&self, location: &str) -> Option<Url> {
        let whole = if location.contains("://") {
            location.to_owned()
        } else if let Some(rest) = location.strip_prefix("//") {
            format!("{}://{rest}", self.scheme())
        } else if location.starts_with('/') {
            format!("{}{location}", self.origin())
        } else {
            let path = self.path_and_query.split('?').next().unwrap_or_default();
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            format!("{}{folder}/{location}", self.origin())
        };
        Url::parse(&whole).ok()
    }

    /// The scheme and the host.
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme(), self.authority)
    }

    /// The host without its port.
    pub fn host(&self) -> &str {
        self.authority
            .rsplit_once(':')
            .map_or(&self.authority, |(host, _)| host)
    }

    /// The entry in a grant that permits the host.
    pub fn grant_entry(&self) -> String {
        match self.is_secure {
            true => self.authority.clone(),
            false => self.origin(),
        }
    }

    fn scheme(&self) -> &'static str {
        match self.is_secure {
            true => "https",
            false => "http",
        }
    }
}

/// Percent-encodes spaces and other characters that a request cannot contain.
fn escaped(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'!'..=b'~' if !b"\"<>\\^`{|}".contains(&byte) => escaped.push(char::from(byte)),
            byte => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

impl fmt::Display for Url {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", self.origin(), self.path_and_query)
    }
}
