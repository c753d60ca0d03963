//! The environment of one call as its component sees it: clock, host, caller, conventions of the vault. Contains only
//! what the caller may know.

use std::sync::{Arc, Weak};

use notehost_sdk::host::{About, AboutDomain, CallerInfo, Conventions, LimitLeft, Now};

use super::live_rights::LiveRights;
use crate::features::conventions::{conventions, property_types};
use crate::stages::authorize::Allowed;
use crate::{Host, ProgressSink};
use notehost_config::TagPolicy;
use notehost_index::Index;
use notehost_policy::FrozenEnvironment;
use notehost_policy::auth::{Caller, Entrance};
use notehost_runtime::{CallEnvironment, CallRights, Progress, Repeatable, Used};
use notehost_vault::{Effect, Transaction, Vault, VaultError};

/// The environment of one call.
pub(crate) struct HostCallEnvironment {
    host: Weak<Host>,
    caller: Caller,
    vault: Arc<Vault>,
    index: Arc<Index>,
    live_rights: Arc<LiveRights>,
    progress: Option<ProgressSink>,
    frozen: Option<FrozenEnvironment>,
}

impl HostCallEnvironment {
    pub(crate) fn of(
        host: &Host,
        allowed: &Allowed,
        frozen: Option<&FrozenEnvironment>,
    ) -> HostCallEnvironment {
        HostCallEnvironment {
            host: host.shared(),
            caller: allowed.caller.clone(),
            vault: allowed.vault.clone(),
            index: allowed.index.clone(),
            live_rights: allowed.live_rights.clone(),
            progress: allowed.checked.found.request.progress.clone(),
            frozen: frozen.cloned(),
        }
    }
}

impl CallEnvironment for HostCallEnvironment {
    fn now(&self) -> Now {
        if let Some(stopped) = self.host.upgrade().and_then(|host| host.stopped_clock()) {
            return stopped;
        }
        let frozen = self.frozen.as_ref().and_then(|frozen| {
            let milliseconds = i64::try_from(frozen.milliseconds).ok()?;
            chrono::DateTime::from_timestamp_millis(milliseconds)
        });
        let now = match frozen {
            Some(frozen) => frozen.with_timezone(&chrono::Local),
            None => chrono::Local::now(),
        };
        Now {
            milliseconds: u64::try_from(now.timestamp_millis()).unwrap_or_default(),
            offset_minutes: now.offset().local_minus_utc() / 60,
            zone: iana_time_zone::get_timezone().ok(),
        }
    }

    fn repeatable(&self) -> Option<Repeatable> {
        self.frozen.as_ref().map(|frozen| Repeatable {
            milliseconds: frozen.milliseconds,
            seed: frozen.seed,
        })
    }

    fn about(&self) -> About {
        let Some(host) = self.host.upgrade() else {
            return About::default();
        };
        let settings = host.settings_of(&self.caller);
        let scopes = host.scopes_of(&self.caller);
        let domains = host.registry().snapshot();
        let is_read_only = settings
            .vaults
            .iter()
            .any(|vault| vault.id == self.vault.id() && vault.read_only);
        About {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            vault: self.vault.id().to_owned(),
            vaults: host.vault_ids_of(&self.caller),
            surface: settings.surface_of(self.caller.name()).as_str().to_owned(),
            read_only: settings.read_only || is_read_only,
            started: host.started(),
            tag_policy: match settings.tags.policy {
                TagPolicy::Open => "open".to_owned(),
                TagPolicy::Existing => "existing".to_owned(),
            },
            domains: domains
                .domains()
                .filter_map(|domain| {
                    let allowed = domain.actions.iter();
                    let allowed = allowed
                        .filter(|action| scopes.allow(&domain.name, domain.scope_of(action)));
                    let actions = u32::try_from(allowed.count()).unwrap_or(u32::MAX);
                    (actions > 0).then(|| AboutDomain {
                        name: domain.name.clone(),
                        version: domain.version.clone(),
                        actions,
                    })
                })
                .collect(),
        }
    }

    fn caller(&self) -> CallerInfo {
        let Some(host) = self.host.upgrade() else {
            return CallerInfo::default();
        };
        let settings = host.settings();
        let rates = &settings.rates;
        let is_counted = match self.caller.entrance() {
            Entrance::Http => true,
            Entrance::Stdio => rates.stdio,
            Entrance::CommandLine => false,
        };
        let limits = [
            (Effect::Read, rates.read),
            (Effect::Write, rates.write),
            (Effect::Delete, rates.delete),
        ];
        let limits = limits
            .into_iter()
            .filter(|(_, most)| is_counted && *most > 0);
        let vaults = host.vault_ids_of(&self.caller);
        CallerInfo {
            name: self.caller.name().to_owned(),
            scopes: host
                .scopes_of(&self.caller)
                .to_string()
                .split_whitespace()
                .map(str::to_owned)
                .collect(),
            bound_to: match (vaults.as_slice(), host.vault_ids().len()) {
                ([only], 2..) => Some(only.clone()),
                _ => None,
            },
            calls: host
                .audit()
                .calls_of(&self.caller.audit_name(), self.vault.id()),
            limits: limits
                .map(|(effect, per_minute)| LimitLeft {
                    effect: effect.as_str().to_owned(),
                    per_minute,
                    left: host.rates().left(&self.caller.key(), effect, rates),
                })
                .collect(),
        }
    }

    fn conventions(&self, transaction: &mut Transaction) -> Conventions {
        Conventions {
            property_types: property_types(&self.vault, &self.index, transaction),
            ..conventions(&self.vault, transaction)
        }
    }

    fn generation(&self) -> u64 {
        self.live_rights.generation()
    }

    fn began(&self) -> u64 {
        self.live_rights.began()
    }

    fn standing(&self) -> Result<CallRights, VaultError> {
        self.live_rights.now()
    }

    fn said(&self, stream: &'static str, line: &str) {
        if let Some(host) = self.host.upgrade() {
            let (domain, call) = (self.live_rights.domain(), self.live_rights.name());
            host.component_logs().write(domain, stream, &call, line);
        }
    }

    fn progress(&self, progress: Progress) {
        if let Some(sink) = &self.progress {
            sink.report(progress);
        }
    }

    fn used(&self, used: Used) {
        self.live_rights.note(|guest| guest.used = Some(used));
    }
}
