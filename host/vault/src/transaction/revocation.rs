//! Revocation of rights during a transaction: when an admin removes rights, the next operation of the call is checked
//! against the reduced rules. Rights never grow beyond those at the start of the transaction.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    access::{GrantUsage, Rules, Tier},
    error::VaultError,
    path::{PRIVATE, is_below},
    transaction::Transaction,
    types::Kind,
};

/// What was allowed at the beginning and still is.
struct NarrowedRules {
    began: Arc<dyn Rules>,
    now: Arc<dyn Rules>,
}

impl Rules for NarrowedRules {
    fn tier(&self, path: &str) -> Tier {
        match self.began.tier(path) {
            Tier::None => Tier::None,
            tier => tier.min(self.now.tier(path)),
        }
    }

    fn tier_of(&self, path: &str, kind: Kind) -> Tier {
        match self.began.tier_of(path, kind) {
            Tier::None => Tier::None,
            tier => tier.min(self.now.tier_of(path, kind)),
        }
    }

    // No identity: so few calls meet a change that nothing needs to be kept for them.

    fn narrowed_by(&self, path: &str) -> Option<String> {
        let now = self.now.narrowed_by(path);
        now.or_else(|| self.began.narrowed_by(path))
    }

    fn grant_usage(&self) -> GrantUsage {
        let (began, now) = (self.began.grant_usage(), self.now.grant_usage());
        GrantUsage {
            hidden: began.hidden || now.hidden,
            narrowed: began.narrowed || now.narrowed,
        }
    }
}

impl Transaction {
    /// Go on with what these rules leave of what it began with; `None` is all of it.
    pub fn narrow(&mut self, now: Option<Arc<dyn Rules>>) {
        let began = Arc::clone(&self.began_rules);
        self.access.rules = match now {
            Some(now) => Arc::new(NarrowedRules { began, now }),
            None => began,
        };
    }

    /// Forbids further writes with this error, or allows them again.
    pub fn close(&mut self, refusal: Option<VaultError>) {
        self.closed = refusal;
    }

    /// Whether what is staged may be done by the rules that hold now. The rights of an operation were checked when it was
    /// staged; this checks whether a right that it used is gone.
    pub fn check_rights(&self) -> Result<(), VaultError> {
        if self.has_no_changes() {
            return Ok(());
        }
        if let Some(refusal) = &self.closed {
            return Err(refusal.clone());
        }
        if Arc::ptr_eq(&self.access.rules, &self.began_rules) {
            return Ok(());
        }
        for path in self.touched() {
            let needed = match self.trashed.contains_key(path) {
                true => Tier::Delete,
                false => Tier::Write,
            };
            let used = needed.min(self.tier_by(&self.began_rules, path));
            if self.tier(path) < used {
                return Err(self.denied(path, needed));
            }
        }
        Ok(())
    }

    /// Every path of the vault at which something staged changes something.
    fn touched(&self) -> BTreeSet<&str> {
        let origins = self.staged.values().flatten();
        let origins = origins.filter_map(|file| file.origin.as_ref());
        self.staged
            .keys()
            .chain(origins)
            .chain(self.trashed.keys())
            .chain(&self.restored)
            .chain(&self.new_folders)
            .chain(&self.gone_folders)
            .chain(self.naming.iter().map(|naming| &naming.path))
            .map(String::as_str)
            .filter(|path| !is_below(path, PRIVATE))
            .collect()
    }
}
