//! The lock file: the installed version of each component, and the previous one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The form of the file. A newer one is not touched.
pub(super) const FORM: u32 = 1;
/// How many versions of before are kept, to go back to.
const MAX_PREVIOUS: usize = 5;

/// Everything that is installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// The form of the file.
    pub(super) form: u32,
    /// By name.
    #[serde(default)]
    pub components: BTreeMap<String, Installed>,
    /// The newest version that was installed under each name, also of components that were removed: an older one is a
    /// downgrade. Somebody who allows a downgrade lowers it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub newest: BTreeMap<String, String>,
}

/// A component that is installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    /// What runs.
    #[serde(flatten)]
    pub current: Version,
    /// What ran before, the latest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub previous: Vec<Version>,
}

/// One version of a component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// As the component says.
    pub version: String,
    /// Of its content, `sha256:…`.
    pub digest: String,
    /// In bytes.
    pub size: u64,
    /// The contract that it was built for.
    pub contract: String,
    /// Where it came from: a file, or `oci://…`.
    pub source: String,
    /// Who signed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publisher: Option<String>,
    /// When it was installed, in milliseconds since 1970.
    pub installed: i64,
}

impl Default for Lock {
    fn default() -> Self {
        Lock {
            form: FORM,
            components: BTreeMap::new(),
            newest: BTreeMap::new(),
        }
    }
}

impl Lock {
    /// A component gets another version; the one that it had can be gone back to.
    pub(super) fn put(&mut self, name: &str, version: Version) {
        self.newest.insert(name.to_owned(), version.version.clone());
        match self.components.get_mut(name) {
            // The same content again is not another version.
            Some(installed) if installed.current.digest == version.digest => {
                installed.current = version;
            }
            Some(installed) => {
                let before = std::mem::replace(&mut installed.current, version);
                installed.previous.insert(0, before);
                installed.previous.truncate(MAX_PREVIOUS);
            }
            None => {
                let installed = Installed {
                    current: version,
                    previous: Vec::new(),
                };
                self.components.insert(name.to_owned(), installed);
            }
        }
    }

    /// The version that a component must not be older than.
    pub fn newest(&self, name: &str) -> Option<&str> {
        let newest = self.newest.get(name).map(String::as_str);
        // A lock of before did not write it down.
        newest.or_else(|| Some(self.components.get(name)?.current.version.as_str()))
    }

    /// The digests of everything that is or was.
    pub(super) fn digests(&self) -> impl Iterator<Item = &str> {
        self.components.values().flat_map(|installed| {
            let versions = std::iter::once(&installed.current).chain(&installed.previous);
            versions.map(|version| version.digest.as_str())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(number: &str) -> Version {
        Version {
            version: number.into(),
            digest: format!("sha256:{number}"),
            size: 1,
            contract: "1.0.0-rc.1".into(),
            source: "todo.wasm".into(),
            publisher: None,
            installed: 0,
        }
    }

    #[test]
    fn what_ran_before_is_kept_the_latest_first() {
        let mut lock = Lock::default();
        for number in ["1", "2", "2", "3"] {
            lock.put("todo", version(number));
        }
        let installed = &lock.components["todo"];
        assert_eq!(installed.current.version, "3");
        let before: Vec<&str> = installed
            .previous
            .iter()
            .map(|version| version.version.as_str())
            .collect();
        assert_eq!(before, ["2", "1"]);
        lock.components.remove("todo");
        assert_eq!(lock.newest("todo"), Some("3"));
    }

    #[test]
    fn parsing_and_display_round_trip() {
        let mut lock = Lock::default();
        lock.put("todo", version("1"));
        lock.put("todo", version("2"));
        let text = toml::to_string(&lock).expect("TOML");
        assert_eq!(toml::from_str::<Lock>(&text).expect("a lock"), lock);
    }
}
