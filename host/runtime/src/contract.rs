//! Contract versions: which one a component was built for, and which ones this host supports. The version is part of
//! the export name, `notehost:domain/domain@1.0.0-rc.1`, so it is known before compilation.
//!
//! Versions match as in WebAssembly's linker: `1.2.0` and `1.4.1` are of one track, and so are `0.2.0` and `0.2.3`; a
//! pre-release such as `1.0.0-rc.1` is a track of its own.

use std::fmt;

use semver::Version;

/// The interface that every domain exports, without its version.
pub(super) const DOMAIN: &str = "notehost:domain/domain";

/// The longest version that is parsed.
const MAX_VERSION_BYTES: usize = 64;

/// A version of the contract.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Contract(Version);

/// A series of compatible versions; the host has an adapter for each that it supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Track {
    /// `wit/domain.wit`.
    V1Rc1,
}

/// The tracks that this host supports, the oldest first.
pub const SUPPORTED: [Track; 1] = [Track::V1Rc1];

impl Track {
    /// The version of the track that this host has.
    const fn version(self) -> &'static str {
        match self {
            Track::V1Rc1 => "1.0.0-rc.1",
        }
    }

    /// The same, parsed.
    pub fn newest(self) -> Contract {
        // `every_track_has_a_version` holds that this parses.
        Contract(Version::parse(self.version()).unwrap_or_else(|_| Version::new(0, 0, 0)))
    }

    /// Whether a component that was built for this version belongs to the track.
    pub(super) fn has(self, contract: &Contract) -> bool {
        self.newest().track() == contract.track()
    }

    /// The track that a version belongs to, if this host supports it.
    fn of(contract: &Contract) -> Option<Track> {
        SUPPORTED.into_iter().find(|track| track.has(contract))
    }
}

impl fmt::Display for Track {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.newest().track())
    }
}

impl Contract {
    /// The contract of an export, if it is the one that makes a component a domain.
    pub(super) fn of_export(name: &str) -> Option<Contract> {
        let version = name.strip_prefix(DOMAIN)?.strip_prefix('@')?;
        if version.len() > MAX_VERSION_BYTES {
            return None;
        }
        Version::parse(version).ok().map(Contract)
    }

    /// The name of the track that it belongs to: `1`, `0.2`, `1.0.0-rc.1`.
    pub fn track(&self) -> String {
        let Version { major, minor, .. } = self.0;
        match (self.0.pre.is_empty(), major, minor) {
            (false, ..) | (true, 0, 0) => self.0.to_string(),
            (true, 0, minor) => format!("0.{minor}"),
            (true, major, _) => major.to_string(),
        }
    }
}

impl fmt::Display for Contract {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Why no adapter fits a component.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContractError {
    /// It is not a domain component.
    #[error(
        "is not a domain: a domain exports `{DOMAIN}@{}` with the functions `describe` and `call`; this one exports {exports}",
        newest_supported()
    )]
    NoDomain {
        /// What it exports instead, as a list for people.
        exports: String,
    },
    /// It was built for a contract that this host does not support.
    #[error("needs contract {needs}; this host supports {}: {advice}", supported())]
    Unsupported {
        /// The track it was built for.
        needs: String,
        /// Who can act.
        advice: &'static str,
    },
}

/// The track by which a component with these exports is called: the newest that both sides support.
pub(super) fn track_of<'a>(
    exports: impl Iterator<Item = &'a str> + Clone,
) -> Result<Track, ContractError> {
    let contracts = exports.clone().filter_map(Contract::of_export);
    if let Some(track) = contracts
        .clone()
        .filter_map(|contract| Track::of(&contract))
        .max()
    {
        return Ok(track);
    }
    match contracts.max() {
        Some(needed) => Err(ContractError::Unsupported {
            advice: match needed > SUPPORTED[0].newest() {
                true => "upgrade notehost",
                false => "rebuild the component for a supported version",
            },
            needs: needed.track(),
        }),
        None => Err(ContractError::NoDomain {
            exports: quoted_list(exports),
        }),
    }
}

fn newest_supported() -> Contract {
    SUPPORTED[SUPPORTED.len() - 1].newest()
}

/// The tracks, as `1.0.0-rc.1 and 1`.
fn supported() -> String {
    let tracks: Vec<String> = SUPPORTED.iter().map(Track::to_string).collect();
    tracks.join(" and ")
}

/// The first names of an untrusted list, quoted.
fn quoted_list<'a>(names: impl Iterator<Item = &'a str> + Clone) -> String {
    const SHOWN: usize = 4;
    let shown: Vec<String> = names
        .clone()
        .take(SHOWN)
        .map(|name| format!("`{}`", name.chars().take(100).collect::<String>()))
        .collect();
    let more = names.count().saturating_sub(SHOWN);
    match (shown.is_empty(), more) {
        (true, _) => "nothing".into(),
        (false, 0) => shown.join(", "),
        (false, more) => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(exports: &[&str]) -> Result<Track, String> {
        track_of(exports.iter().copied()).map_err(|error| error.to_string())
    }

    fn domain(version: &str) -> String {
        format!("{DOMAIN}@{version}")
    }

    #[test]
    fn every_track_has_a_version() {
        for track in SUPPORTED {
            assert_eq!(track.newest().to_string(), track.version());
            assert_eq!(Track::of(&track.newest()), Some(track));
        }
        assert!(SUPPORTED.is_sorted_by_key(|track| track.newest()));
    }

    #[test]
    fn the_version_of_the_export_decides() {
        assert_eq!(track(&[&domain("1.0.0-rc.1")]), Ok(Track::V1Rc1));
        assert_eq!(track(&["b:c/d", &domain("1.0.0-rc.1")]), Ok(Track::V1Rc1));
        let several = ["9.0.0", "1.0.0-rc.1", "0.1.0"].map(domain);
        let several = several.each_ref().map(String::as_str);
        assert_eq!(track(&several), Ok(Track::V1Rc1));
        for (newer, needs) in [
            ("1.0.0-rc.2", "1.0.0-rc.2"),
            ("1.0.0", "1"),
            ("1.4.2", "1"),
            ("2.0.0-beta.1", "2.0.0-beta.1"),
        ] {
            assert_eq!(
                track(&[&domain(newer)]),
                Err(format!(
                    "needs contract {needs}; this host supports 1.0.0-rc.1: upgrade notehost"
                ))
            );
        }
        let older = track(&[&domain("0.1.0")]).expect_err("not supported");
        assert!(
            older.ends_with("rebuild the component for a supported version"),
            "{older}"
        );
    }

    #[test]
    fn compatible_versions_share_a_track() {
        let track = |version: &str| {
            Contract::of_export(&domain(version))
                .expect("a version")
                .track()
        };
        assert_eq!(track("1.2.0"), track("1.4.1"));
        assert_eq!(track("0.2.0"), track("0.2.7"));
        assert_ne!(track("0.2.0"), track("0.3.0"));
        assert_ne!(track("0.0.1"), track("0.0.2"));
        assert_ne!(track("1.0.0-rc.1"), track("1.0.0-rc.2"));
        assert_ne!(track("1.0.0-rc.1"), track("1.0.0"));
    }

    #[test]
    fn non_domains_list_their_exports() {
        let error = track(&["wasi:cli/run@0.2.0"]).expect_err("not a domain");
        assert!(error.contains("`describe` and `call`"), "{error}");
        assert!(
            error.contains("this one exports `wasi:cli/run@0.2.0`"),
            "{error}"
        );
        for none in [
            DOMAIN,
            "notehost:domain/domain@",
            "notehost:domain/domain@x.y.z",
            "notehost:domain/domain@1",
            "notehost:domain/domain@0.1.0.0",
            "notehost:domain/domains@0.1.0",
        ] {
            assert_eq!(Contract::of_export(none), None, "{none}");
        }
        let long = domain(&format!("1.0.0-{}", "x".repeat(MAX_VERSION_BYTES)));
        assert_eq!(Contract::of_export(&long), None);
        assert!(
            track(&[])
                .expect_err("not a domain")
                .ends_with("exports nothing")
        );
        let many = ["a", "b", "c", "d", "e", "f"];
        assert!(
            track(&many)
                .expect_err("not a domain")
                .ends_with("`d` and 2 more")
        );
    }
}
