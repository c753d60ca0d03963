//! Outgoing HTTP requests of one call: only to hosts that are granted now and were granted when the call began. Reading
//! actions and dry runs may send only requests that change nothing.
//!
//! A request cannot be undone, so it is not part of the call's transaction. A call that may have changed something
//! elsewhere is therefore not run again after a conflict in the vault.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use super::live_rights::LiveRights;
use crate::Host;
use crate::stages::validate::Checked;
use notehost_config::Destination;
use notehost_policy::HostGrant;
use notehost_records::audit::count_request;
use notehost_runtime::{CallRights, Denial, EgressPolicy, Permit};
use notehost_vault::Effect;

/// The safe methods of HTTP.
const SAFE_METHODS: [&str; 3] = ["GET", "HEAD", "OPTIONS"];

/// Outgoing requests of one call, across all its runs.
pub(crate) struct CallEgress {
    host: Weak<Host>,
    domain: Arc<str>,
    /// The grant at the start of the call; later grants apply to later calls.
    grant: Arc<HostGrant>,
    only_reading: bool,
    /// The rights of the call that can be revoked while it runs.
    live_rights: Arc<LiveRights>,
    has_sent: AtomicBool,
    may_have_changed: AtomicBool,
    denials: AtomicU64,
}

impl CallEgress {
    pub(crate) fn of(
        host: &Host,
        checked: &Checked,
        effect: Effect,
        live_rights: Arc<LiveRights>,
    ) -> CallEgress {
        let domain = &checked.found.domain;
        CallEgress {
            host: host.shared(),
            domain: domain.shared_name.clone(),
            grant: domain.reach.clone(),
            only_reading: effect == Effect::Read || checked.common.dry_run,
            live_rights,
            has_sent: AtomicBool::new(false),
            may_have_changed: AtomicBool::new(false),
            denials: AtomicU64::new(0),
        }
    }

    /// Whether a request was sent.
    pub(crate) fn was_asked(&self) -> bool {
        self.has_sent.load(Ordering::Relaxed)
    }

    /// Takes the number of requests refused since the last call of this function.
    pub(crate) fn take_denials(&self) -> u64 {
        self.denials.swap(0, Ordering::Relaxed)
    }

    /// Whether a request was sent that may have changed something elsewhere.
    pub(crate) fn may_have_changed(&self) -> bool {
        self.may_have_changed.load(Ordering::Relaxed)
    }
}

impl EgressPolicy for CallEgress {
    fn decide(&self, method: &str, to: &Destination) -> Result<Permit, Denial> {
        // A host must be granted now, and must have been when the call began.
        let host = self.host.upgrade().ok_or(Denial::NotGranted)?;
        let domains = host.registry().snapshot();
        let now = domains.domain(&self.domain).ok_or(Denial::NotGranted)?;
        let (Some(then), Some(now)) = (self.grant.decide(to), now.reach.decide(to)) else {
            return Err(Denial::NotGranted);
        };
        let rights = match self.live_rights.generation() == self.live_rights.began() {
            true => CallRights::default(),
            false => self.live_rights.now().map_err(|_| Denial::NotGranted)?,
        };
        let is_safe = SAFE_METHODS.contains(&method);
        if (self.only_reading || rights.closed.is_some()) && !is_safe {
            return Err(Denial::OnlyReading);
        }
        self.has_sent.store(true, Ordering::Relaxed);
        self.may_have_changed.fetch_or(!is_safe, Ordering::Relaxed);
        count_request(&self.domain, "sent");
        Ok(Permit {
            may_be_private: then.may_be_private && now.may_be_private,
        })
    }

    fn denied(&self, to: Option<&Destination>, why: Denial) {
        self.denials.fetch_add(1, Ordering::Relaxed);
        count_request(&self.domain, "denied");
        // Controlled by the guest: bounded, and control characters are shown.
        let shown: String = to
            .map_or_else(|| "nowhere".to_owned(), ToString::to_string)
            .chars()
            .take(300)
            .collect();
        let domain = &*self.domain;
        tracing::warn!(
            domain,
            "a request to {} was not sent: {why}",
            shown.escape_debug()
        );
    }
}
