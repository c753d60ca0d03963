//! Which publishers are trusted, and the validation of that: an invalid key would reject everything that
//! its owner signs, and be noticed only at the next installation.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::ConfigError;
use super::check::InvalidSetting;

/// Which components are accepted. Built-in components need no signature.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrustSettings {
    /// Whether third-party components must be signed by one of the publishers.
    pub require_signed: bool,
    /// The trusted publishers.
    pub publishers: Vec<PublisherSettings>,
}

/// A trusted publisher.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublisherSettings {
    /// A name, chosen by the admin.
    pub name: String,
    /// Their public key, as minisign writes it: one line that begins with `RW`.
    pub key: String,
    /// The names of the components that they may sign; `None` is any.
    #[serde(default)]
    pub components: Option<Vec<String>>,
}

/// Validates the trusted publishers.
pub(super) fn check_trust(trust: &TrustSettings) -> Result<(), InvalidSetting> {
    let mut names: HashMap<&str, usize> = HashMap::new();
    let mut keys: HashMap<&str, &str> = HashMap::new();
    for (index, publisher) in trust.publishers.iter().enumerate() {
        let at = |key: &str, problem| {
            Err(InvalidSetting::new(
                format!("trust.publishers[{index}].{key}"),
                problem,
            ))
        };
        let name = publisher.name.as_str();
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            return at("name", ConfigError::new("the publisher has no name"));
        }
        if names.insert(name, index).is_some() {
            let problem = ConfigError::new(format!("duplicate publisher name `{name}`"));
            return at("name", problem);
        }
        if let Err(problem) = check_key(publisher) {
            return at("key", problem);
        }
        if let Some(other) = keys.insert(&publisher.key, name) {
            let problem = ConfigError::new(format!("`{other}` and `{name}` have the same key"))
                .with_hint("a key belongs to one publisher: keep one of the two");
            return at("key", problem);
        }
        if publisher.components.as_ref().is_some_and(Vec::is_empty) {
            let problem = ConfigError::new(format!("`{name}` has an empty list of components"))
                .with_hint("list components, or omit the key to allow any");
            return at("components", problem);
        }
    }
    Ok(())
}

fn check_key(publisher: &PublisherSettings) -> Result<(), ConfigError> {
    minisign_verify::PublicKey::from_base64(&publisher.key)
        .map(|_| ())
        .map_err(|_| {
            ConfigError::new(format!(
                "the key of `{}` is not a minisign public key",
                publisher.name
            ))
            .with_hint("it is the second line of their `minisign.pub`, and begins with `RW`")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "RWTLaRrpyqads4L2dO67cbIOyOT0Vlji8UxPy5ZeJG2g0fSOmwdEnmL+";

    fn refused(toml: &str) -> (String, String) {
        let trust: TrustSettings = toml::from_str(toml).expect("settings");
        let found = check_trust(&trust).expect_err(toml);
        (found.key, found.problem.to_string())
    }

    #[test]
    fn publishers_need_distinct_names_and_keys() {
        let one = format!("[[publishers]]\nname = 'ana'\nkey = '{KEY}'\n");
        let trust: TrustSettings = toml::from_str(&one).expect("settings");
        assert!(check_trust(&trust).is_ok());
        let other = one.replace("ana", "ben");
        for (toml, key, expected) in [
            (one.replace("ana", " "), "publishers[0].name", "has no name"),
            (
                one.replace(KEY, &KEY[..20]),
                "publishers[0].key",
                "not a minisign public key",
            ),
            (
                one.replace("RW", "QW"),
                "publishers[0].key",
                "not a minisign public key",
            ),
            (
                format!("{one}{one}"),
                "publishers[1].name",
                "duplicate publisher name",
            ),
            (format!("{one}{other}"), "publishers[1].key", "the same key"),
            (
                format!("{one}components = []\n"),
                "publishers[0].components",
                "empty list of components",
            ),
        ] {
            let (found, message) = refused(&toml);
            assert_eq!(found, format!("trust.{key}"));
            assert!(message.contains(expected), "{message}");
        }
    }
}
