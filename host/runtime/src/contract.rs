//! Contract versions: which one a component was built for, and which ones this host supports. The version is part of
//! the export name, `notehost:domain/domain@0.1.0`, so it is known before compilation.

use std::fmt;

/// The interface that every domain exports, without its version.
pub(super) const DOMAIN: &str = "notehost:domain/domain";

/// A version of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Contract {
    major: u32,
    minor: u32,
    patch: u32,
}

/// A run of versions that go together; the host has an adapter for each that it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Track {
    /// The first one: `wit/domain.wit`.
    V0_1,
    /// `wit/0.2/domain.wit`.
    V0_2,
}

/// The tracks that this host speaks, the oldest first.
pub const SPOKEN: [Track; 2] = [Track::V0_1, Track::V0_2];

impl Track {
    /// The version of the track that this host has.
    pub const fn newest(self) -> Contract {
        let minor = match self {
            Track::V0_1 => 1,
            Track::V0_2 => 2,
        };
        Contract {
            major: 0,
            minor,
            patch: 0,
        }
    }

    /// The track that a version belongs to, if this host speaks it.
    fn of(contract: Contract) -> Option<Track> {
        SPOKEN.into_iter().find(|track| {
            let newest = track.newest();
            (newest.major, newest.minor) == (contract.major, contract.minor)
        })
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
        // What comes after a hyphen or a plus is a release that is not finished: it has the form of its version.
        let version = version.split(['-', '+']).next()?;
        let mut parts = version.split('.').map(str::parse);
        let contract = Contract {
            major: parts.next()?.ok()?,
            minor: parts.next()?.ok()?,
            patch: parts.next().unwrap_or(Ok(0)).ok()?,
        };
        parts.next().is_none().then_some(contract)
    }

    /// The versions that go together with this one, as people call them: `0.1`.
    pub fn track(self) -> String {
        format!("{}.{}", self.major, self.minor)
    }
}

impl fmt::Display for Contract {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// Why no adapter fits a component.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContractError {
    /// It is not a domain component.
    #[error(
        "is not a domain: a domain exports `{DOMAIN}@{}` with the functions `describe` and `call`; this one exports {exports}",
        newest_spoken()
    )]
    NoDomain {
        /// What it exports instead, in words.
        exports: String,
    },
    /// It was built for a contract that this host does not speak.
    #[error("needs contract {needs}; this host supports {}: {advice}", spoken())]
    NotSpoken {
        /// The track it was built for.
        needs: String,
        /// Who can act.
        advice: &'static str,
    },
}

/// The track by which a component with these exports is called: the newest that both sides speak.
pub(super) fn track_of<'a>(
    exports: impl Iterator<Item = &'a str> + Clone,
) -> Result<Track, ContractError> {
    let contracts = exports.clone().filter_map(Contract::of_export);
    if let Some(track) = contracts.clone().filter_map(Track::of).max() {
        return Ok(track);
    }
    match contracts.max() {
        Some(needed) => Err(ContractError::NotSpoken {
            needs: needed.track(),
            advice: match needed > SPOKEN[0].newest() {
                true => "upgrade notehost",
                false => "rebuild the component for one of these",
            },
        }),
        None => Err(ContractError::NoDomain {
            exports: in_words(exports),
        }),
    }
}

fn newest_spoken() -> Contract {
    SPOKEN[SPOKEN.len() - 1].newest()
}

/// `0.1 and 0.2`.
fn spoken() -> String {
    let tracks: Vec<String> = SPOKEN.iter().map(Track::to_string).collect();
    tracks.join(" and ")
}

/// Some names of a list that a stranger made.
fn in_words<'a>(names: impl Iterator<Item = &'a str> + Clone) -> String {
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

    #[test]
    fn the_version_of_the_export_decides() {
        let domain = |version: &str| format!("{DOMAIN}@{version}");
        assert_eq!(track(&[&domain("0.1.0")]), Ok(Track::V0_1));
        assert_eq!(track(&[&domain("0.1.7"), "b:c/d"]), Ok(Track::V0_1));
        assert_eq!(track(&[&domain("0.2.0")]), Ok(Track::V0_2));
        let several = [&domain("0.2.1"), &domain("0.1.0"), &domain("9.0.0")];
        assert_eq!(track(&several.map(String::as_str)), Ok(Track::V0_2));
        assert_eq!(
            track(&[&domain("0.3.0")]),
            Err("needs contract 0.3; this host supports 0.1 and 0.2: upgrade notehost".into())
        );
        let older = track(&[&domain("0.0.4")]).expect_err("nobody speaks it");
        assert!(older.ends_with("rebuild the component for one of these"));
    }

    #[test]
    fn non_domains_list_their_exports() {
        let error = track(&["wasi:cli/run@0.2.0"]).expect_err("no domain");
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
        assert!(
            track(&[])
                .expect_err("no domain")
                .ends_with("exports nothing")
        );
        let many = ["a", "b", "c", "d", "e", "f"];
        assert!(
            track(&many)
                .expect_err("no domain")
                .ends_with("`d` and 2 more")
        );
    }
}
