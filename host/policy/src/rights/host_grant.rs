//! The hosts that a component may send requests to: those granted by an admin and requested by its manifest.

use notehost_config::{Destination, HostPattern};

/// The hosts that a component may send requests to, for all callers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostGrant {
    granted: Vec<HostPattern>,
    /// The hosts that its manifest requests.
    ceiling: Vec<HostPattern>,
}

/// A host that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{host}` is not a host: {reason}")]
pub struct BadHost {
    /// What was written.
    pub host: String,
    /// What is wrong with it.
    pub reason: String,
}

/// What a permitted request may connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Within {
    /// The admin named this very address, or this machine: it may be a private one.
    pub may_be_private: bool,
}

impl HostGrant {
    /// No host.
    pub fn nothing() -> HostGrant {
        HostGrant::default()
    }

    /// Creates a grant from granted and requested hosts.
    pub fn new(granted: &[String], ceiling: &[String]) -> Result<HostGrant, BadHost> {
        Ok(HostGrant {
            granted: patterns(granted)?,
            ceiling: patterns(ceiling)?,
        })
    }

    /// Whether any host may be allowed. May return `true` if the lists have nothing in common, but never `false` if a
    /// host is allowed.
    pub fn is_open(&self) -> bool {
        !self.granted.is_empty() && !self.ceiling.is_empty()
    }

    /// Whether a request may go there.
    pub fn decide(&self, to: &Destination) -> Option<Within> {
        let is_requested =
            |pattern: &HostPattern| pattern.matches_everything() || pattern.covers(to);
        if !self.ceiling.iter().any(is_requested) {
            return None;
        }
        let mut covering = self.granted.iter().filter(|pattern| pattern.covers(to));
        let first = covering.next()?;
        Some(Within {
            may_be_private: first.is_literal() || covering.any(HostPattern::is_literal),
        })
    }
}

fn patterns(hosts: &[String]) -> Result<Vec<HostPattern>, BadHost> {
    let parsed = hosts.iter().map(|host| {
        HostPattern::parse(host).map_err(|reason| BadHost {
            host: host.clone(),
            reason,
        })
    });
    parsed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use notehost_config::Scheme;

    fn reach(granted: &[&str], ceiling: &[&str]) -> HostGrant {
        let owned = |hosts: &[&str]| -> Vec<String> {
            hosts.iter().map(|host| (*host).to_owned()).collect()
        };
        HostGrant::new(&owned(granted), &owned(ceiling)).expect("hosts")
    }

    fn https(host: &str) -> Destination {
        Destination::new(Scheme::Https, host, None)
    }

    #[test]
    fn intersection_needs_both() {
        let reach = reach(&["*.example.org", "other.net"], &["a.example.org"]);
        assert!(reach.is_open());
        assert!(reach.decide(&https("a.example.org")).is_some());
        assert!(reach.decide(&https("b.example.org")).is_none());
        assert!(reach.decide(&https("other.net")).is_none());
    }

    #[test]
    fn hosts_need_a_grant_and_a_request() {
        for reach in [reach(&[], &["*"]), reach(&["*"], &[]), HostGrant::nothing()] {
            assert!(!reach.is_open());
            assert!(reach.decide(&https("example.org")).is_none());
        }
    }

    #[test]
    fn wildcard_manifests_leave_hosts_to_the_admin() {
        let reach = reach(&["*", "http://10.0.0.7:9000"], &["*"]);
        let private = Destination::new(Scheme::Http, "10.0.0.7", Some(9000));
        assert!(
            reach
                .decide(&private)
                .is_some_and(|within| within.may_be_private)
        );
        // Not written as an address: the connection refuses it.
        let other = reach.decide(&https("10.0.0.7"));
        assert!(other.is_some_and(|within| !within.may_be_private));
        assert!(
            reach
                .decide(&Destination::new(Scheme::Http, "10.0.0.7", None))
                .is_none()
        );
    }

    #[test]
    fn explicit_host_grants_count_under_wildcards() {
        let reach = reach(&["http://*:9000", "localhost:9000"], &["*"]);
        let local = Destination::new(Scheme::Http, "localhost", Some(9000));
        assert!(
            reach
                .decide(&local)
                .is_some_and(|within| within.may_be_private)
        );
    }
}
