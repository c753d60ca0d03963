//! The status of components: resource use, failures, open circuit breakers. Read from the records, so that the command
//! line can show it beside a running server.

use notehost_sdk::reply;

use crate::registry::Snapshot;
use notehost_records::audit::durations;
use notehost_records::when;
use notehost_records::{Records, RecordsError};

/// The status of one component.
#[reply]
#[derive(Default, PartialEq)]
pub struct ComponentStatus {
    /// The domain.
    pub name: String,
    /// Whether it can be called.
    pub enabled: bool,
    /// Its version.
    pub version: Option<String>,
    /// The digest of its content.
    pub digest: Option<String>,
    /// Why it cannot be used.
    pub problem: Option<String>,
    /// Why it is switched off.
    pub because: Option<String>,
    /// Who switched it off.
    pub by: Option<String>,
    /// How many calls of this version were run.
    pub calls: u64,
    /// The median duration of the latest calls, in milliseconds.
    #[schemars(range(min = 0))]
    pub p50_ms: f64,
    /// The 99th percentile of the latest calls, in milliseconds.
    #[schemars(range(min = 0))]
    pub p99_ms: f64,
    /// The number of calls that trapped.
    pub traps: u64,
    /// The number of calls over a limit.
    pub over_limits: u64,
    /// The number of calls that took too long.
    pub timeouts: u64,
    /// The number of host functions refused because of its grant.
    pub denials: u64,
    /// The most memory that one call used, in bytes.
    pub memory_bytes: u64,
    /// Its open circuit breakers: calls are refused because it failed too often.
    pub quarantine: Vec<OpenBreakerStatus>,
}

/// An open circuit breaker for output.
#[reply]
#[derive(PartialEq, Eq)]
pub struct OpenBreakerStatus {
    /// The only caller that is refused; without it, all are.
    pub for_caller: Option<String>,
    /// Why it opened.
    pub reason: String,
    /// When it opened.
    pub since: String,
    /// When a trial call is let through.
    pub until: String,
}

/// The status of all components, or of the one named `only`.
pub fn component_status(
    domains: &Snapshot,
    records: &dyn Records,
    only: Option<&str>,
) -> Result<Vec<ComponentStatus>, RecordsError> {
    let (used, taken) = (records.component_usage()?, durations(records)?);
    let open = records.open_breakers()?;
    let mut all = Vec::new();
    for domain in domains.domains() {
        let Some(component) = &domain.component else {
            continue;
        };
        let digest = component.digest().to_owned();
        let by_digest = (domain.name.clone(), digest.clone());
        let by_version = (domain.name.clone(), domain.version.clone());
        let sum = used.get(&by_digest).copied().unwrap_or_default();
        let durations = taken.get(&by_version).copied().unwrap_or_default();
        let breakers = open
            .iter()
            .filter(|open| open.component == domain.name && open.digest == digest);
        all.push(ComponentStatus {
            name: domain.name.clone(),
            enabled: true,
            version: Some(domain.version.clone()),
            calls: sum.calls,
            p50_ms: durations.p50_ms,
            p99_ms: durations.p99_ms,
            traps: sum.traps,
            over_limits: sum.over_limits,
            timeouts: sum.timeouts,
            denials: sum.denials,
            memory_bytes: sum.memory_bytes,
            quarantine: breakers
                .map(|open| OpenBreakerStatus {
                    for_caller: open.caller.clone(),
                    reason: open.reason.clone(),
                    since: when::iso(open.since),
                    until: when::iso(open.until),
                })
                .collect(),
            digest: Some(digest),
            ..ComponentStatus::default()
        });
    }
    for name in domains.disabled_domains() {
        let known = domains.switched_off(name, None);
        let reason = known.map(|off| off.reason.clone()).unwrap_or_default();
        all.push(ComponentStatus {
            name: name.to_owned(),
            because: reason.because,
            by: reason.by,
            ..ComponentStatus::default()
        });
    }
    for broken in domains.broken() {
        all.push(ComponentStatus {
            name: broken.name.clone(),
            problem: Some(broken.reason.clone()),
            ..ComponentStatus::default()
        });
    }
    all.retain(|one| only.is_none_or(|only| one.name == only));
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}
