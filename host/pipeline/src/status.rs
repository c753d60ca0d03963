//! The status of components: resource use, failures, open circuit breakers. Read from the records, so that the command
//! line can show it beside a running server.

use serde::Serialize;

use crate::registry::Snapshot;
use notehost_config::SwitchReason;
use notehost_policy::open_breakers;
use notehost_records::audit::{durations, usage};
use notehost_records::database::{Database, DatabaseError};
use notehost_records::when;

/// The status of one component.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ComponentStatus {
    /// Its domain's name.
    pub name: String,
    /// Whether it can be called.
    pub enabled: bool,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The digest of its content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Why it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Why it is disabled, and by whom.
    #[serde(flatten)]
    pub off: SwitchReason,
    /// How many calls of this version were run.
    pub calls: u64,
    /// The median duration of the latest calls, in milliseconds.
    pub p50_ms: f64,
    /// The 99th percentile of the latest calls, in milliseconds.
    pub p99_ms: f64,
    /// The number of traps.
    pub traps: u64,
    /// The number of calls over a limit.
    pub over_limits: u64,
    /// The number of timeouts.
    pub timeouts: u64,
    /// The number of host calls denied by its grant.
    pub denials: u64,
    /// The most memory that one call used, in bytes.
    pub memory_bytes: u64,
    /// Its open circuit breakers.
    pub quarantine: Vec<OpenBreakerStatus>,
}

/// An open circuit breaker for output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenBreakerStatus {
    /// The caller it is open for; without it, all callers.
    #[serde(skip_serializing_if = "Option::is_none")]
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
    database: &Database,
    only: Option<&str>,
) -> Result<Vec<ComponentStatus>, DatabaseError> {
    let (used, taken) = (usage(database)?, durations(database)?);
    let resting = open_breakers(database)?;
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
        let rests = resting
            .iter()
            .filter(|rest| rest.component == domain.name && rest.digest == digest);
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
            quarantine: rests
                .map(|rest| OpenBreakerStatus {
                    for_caller: rest.caller.clone(),
                    reason: rest.reason.clone(),
                    since: when::iso(rest.since),
                    until: when::iso(rest.until),
                })
                .collect(),
            digest: Some(digest),
            ..ComponentStatus::default()
        });
    }
    for name in domains.disabled_domains() {
        let known = domains.switched_off(name, None).cloned();
        all.push(ComponentStatus {
            name: name.to_owned(),
            off: known.unwrap_or_default().reason,
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
