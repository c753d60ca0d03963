//! How the components are doing: what they used, how they failed, which of them rest. Made from the records, so that the
//! command line can tell it beside a running server.

use serde::Serialize;

use crate::registry::Snapshot;
use notehost_config::SwitchReason;
use notehost_policy::open_breakers;
use notehost_records::audit::{durations, usage};
use notehost_records::database::{Database, DatabaseError};
use notehost_records::when;

/// How one component is doing.
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
    /// Why it is switched off, and by whom.
    #[serde(flatten)]
    pub off: SwitchReason,
    /// How many calls of this version were run.
    pub calls: u64,
    /// Half of the latest were at least as fast, in milliseconds.
    pub p50_ms: f64,
    /// 99 of 100 of the latest were at least as fast, in milliseconds.
    pub p99_ms: f64,
    /// How many broke.
    pub traps: u64,
    /// How many wanted more than they may use.
    pub over_limits: u64,
    /// How many took too long.
    pub timeouts: u64,
    /// How many host functions were refused because of what it is granted.
    pub denials: u64,
    /// The most memory that one call used, in bytes.
    pub memory_bytes: u64,
    /// Whether it rests because it failed too often, and for whom.
    pub quarantine: Vec<OpenBreakerStatus>,
}

/// A rest, as it is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenBreakerStatus {
    /// The only caller that is kept away; without it everybody is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub for_caller: Option<String>,
    /// What the component did.
    pub reason: String,
    /// When it began.
    pub since: String,
    /// When a call is tried again.
    pub until: String,
}

/// How the components are doing; `only` is the name of one.
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
