//! The rights of a running call: those it began with, minus everything revoked since. A running call compares one
//! generation number at each host call; only if that changed are the rights looked up again.
//!
//! Every revocation takes effect: permissions, scopes, a token, the component's grant, a switch, the kill switch.
//! Narrowed permissions narrow the vault handle, so that a note is not found or a write is denied; what would refuse a
//! new call altogether ends the running one. Rights granted meanwhile are not added.

use notehost_sdk::Code;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::registry::{Absence, Domain};
use crate::stages::authorize::{out_of_scope, refuse_if_read_only};
use crate::stages::resolve::switched_off;
use crate::{CallError, Host};
use notehost_policy::auth::{Caller, Proof, Scope};
use notehost_policy::{Grant, Intersection};
use notehost_records::audit::Failure;
use notehost_runtime::{CallRights, Used};
use notehost_vault::{Effect, Rules, Transaction, VaultError};

/// The rights of one running call, and the outcome of its guest.
pub(crate) struct LiveRights {
    host: Weak<Host>,
    caller: Caller,
    domain: Arc<str>,
    action: String,
    effect: Effect,
    vault: String,
    is_dry: bool,
    /// The generation of rights, and its value before anything was looked up for this call.
    generation: Arc<AtomicU64>,
    began: u64,
    /// Identifies the caller's rules at the start.
    rules: String,
    grant: Arc<Grant>,
    /// Counts the calls of this process, to tell them apart in a component's log.
    number: u64,
    guest: Mutex<GuestOutcome>,
}

/// The guest's resource use and outcome so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct GuestOutcome {
    /// The resources it used, once it has ended.
    pub(crate) used: Option<Used>,
    /// How it failed, if by its own fault.
    pub(crate) failure: Option<Failure>,
    /// Whether it returned a reply or an error.
    pub(crate) has_answered: bool,
}

/// The values that a call is authorized with.
pub(crate) struct CallStart<'call> {
    pub(crate) caller: &'call Caller,
    pub(crate) domain: &'call Domain,
    pub(crate) action: &'call str,
    pub(crate) effect: Effect,
    pub(crate) vault: &'call str,
    pub(crate) is_dry: bool,
    pub(crate) generation: u64,
    pub(crate) rules: String,
}

impl LiveRights {
    pub(crate) fn new(host: &Host, start: CallStart<'_>) -> LiveRights {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        LiveRights {
            host: host.shared(),
            caller: start.caller.clone(),
            domain: start.domain.shared_name.clone(),
            action: start.action.to_owned(),
            effect: start.effect,
            vault: start.vault.to_owned(),
            is_dry: start.is_dry,
            generation: host.registry().generation().clone(),
            began: start.generation,
            rules: start.rules,
            grant: start.domain.grant.clone(),
            number: CALLS.fetch_add(1, Ordering::Relaxed) + 1,
            guest: Mutex::default(),
        }
    }

    /// The current generation.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The generation when the call was authorized.
    pub(crate) fn began(&self) -> u64 {
        self.began
    }

    /// The name of the call in its component's log.
    pub(crate) fn name(&self) -> String {
        format!("{}#{}", self.action, self.number)
    }

    pub(crate) fn domain(&self) -> &Arc<str> {
        &self.domain
    }

    pub(crate) fn guest_outcome(&self) -> GuestOutcome {
        *self.guest.lock()
    }

    /// Updates the guest's outcome.
    pub(crate) fn note(&self, note: impl FnOnce(&mut GuestOutcome)) {
        note(&mut self.guest.lock());
    }

    /// Narrows a transaction to the current rights, immediately before its commit.
    pub(crate) fn renew(&self, transaction: &mut Transaction) -> Result<(), VaultError> {
        if self.generation() != self.began {
            let now = self.now()?;
            transaction.narrow(now.rules);
            transaction.close(now.closed);
        }
        Ok(())
    }

    /// The current rights of the call; an error if a new call like this one would be refused.
    pub(crate) fn now(&self) -> Result<CallRights, VaultError> {
        // The host is gone: nothing can have been revoked.
        let Some(host) = self.host.upgrade() else {
            return Ok(CallRights::default());
        };
        self.look_up(&host).map_err(|error| {
            let message = format!(
                "access was revoked while the call ran; nothing was changed: {}",
                error.message
            );
            let revoked = VaultError::new(error.code, message);
            match error.hint {
                Some(hint) => revoked.with_hint(hint),
                None => revoked,
            }
        })
    }

    fn look_up(&self, host: &Host) -> Result<CallRights, CallError> {
        if self.caller.proof() == Proof::Token && host.is_revoked(self.caller.name()) {
            let message = format!("the token `{}` was revoked", self.caller.name());
            return Err(CallError::new(Code::Unauthorized, message));
        }
        if self.caller.has_expired() {
            let message = format!("the token of `{}` has expired", self.caller.name());
            return Err(CallError::new(Code::Unauthorized, message));
        }
        let grant = self.grant_now(host)?;
        let rights = host
            .rights_of(&self.caller)
            .map_err(|error| CallError::new(Code::InternalError, error.to_string()))?;
        let needed = Scope::of(self.effect);
        if !rights.scopes.allow(&self.domain, needed) {
            let action = format!("{}.{}", self.domain, self.action);
            return Err(out_of_scope(action, needed, &rights.scopes));
        }
        let Some(here) = rights.in_vault(&self.vault) else {
            let message = format!("no vault `{}`", self.vault);
            return Err(CallError::new(Code::NotFound, message));
        };
        let closed = match self.effect > Effect::Read && !self.is_dry {
            true => refuse_if_read_only(&host.settings_of(&self.caller), &self.vault).err(),
            false => None,
        };
        let is_as_before = here.rules == self.rules && Arc::ptr_eq(&grant, &self.grant);
        Ok(CallRights {
            rules: (!is_as_before).then(|| -> Arc<dyn Rules> {
                Arc::new(Intersection::new(here.permissions.clone(), grant))
            }),
            closed: closed.map(|error| {
                let closed = VaultError::new(error.code, error.message);
                closed.with_hint(error.hint.unwrap_or_default())
            }),
        })
    }

    /// The component's current grant. If another version was installed, the call continues with the one it began with.
    fn grant_now(&self, host: &Host) -> Result<Arc<Grant>, CallError> {
        let domains = host.registry().snapshot();
        let off = |action: Option<&str>| {
            let known = domains.switched_off(&self.domain, action);
            switched_off(&self.domain, action, known)
        };
        if let Some(domain) = domains.domain(&self.domain) {
            if domain.action(&self.action).is_none()
                && domains.absence_of_action(&self.domain, &self.action) == Absence::Disabled
            {
                return Err(off(Some(&self.action)));
            }
            return Ok(domain.grant.clone());
        }
        if domains.absence_of_domain(&self.domain) == Absence::Disabled {
            return Err(off(None));
        }
        // A broken new version does not affect running calls of the old one.
        let mut broken = domains.broken().iter();
        match broken.any(|broken| *broken.name == *self.domain) {
            true => Ok(self.grant.clone()),
            false => {
                let message = format!("the component `{}` was removed", self.domain);
                Err(CallError::new(Code::Disabled, message))
            }
        }
    }
}
