//! The permissions of a call: tiers per notebook, restrictions within notebooks, and the action's effect.

use std::collections::BTreeMap;

use super::paths;
use crate::{Code, Effect, Error, Kind, Result, Tier, fold_name, notebook_of};

#[derive(Debug)]
pub(super) struct Scope {
    pub(super) default: Tier,
    pub(super) effect: Effect,
    /// By folded path, because permissions ignore case as file lookup does.
    tiers: BTreeMap<String, Tier>,
}

impl Default for Scope {
    fn default() -> Scope {
        Scope {
            default: Tier::Delete,
            effect: Effect::Delete,
            tiers: BTreeMap::new(),
        }
    }
}

impl Scope {
    pub(super) fn allow(&mut self, path: &str, tier: Tier) {
        self.tiers.insert(fold_name(path), tier);
    }

    /// The caller's tier at a path, regardless of the action's effect.
    pub(super) fn tier(&self, path: &str, kind: Kind) -> Tier {
        if paths::check(path).is_err() || paths::is_closed(path) {
            return Tier::None;
        }
        if path.is_empty() {
            // Every caller may list the vault itself; its entries are checked individually.
            return Tier::Read;
        }
        let notebook = fold_name(notebook(path, kind));
        let whole = self.tiers.get(&notebook).copied().unwrap_or(self.default);
        let folded = fold_name(path);
        paths::folders_above(&folded)
            .skip(1)
            .chain(path.contains('/').then_some(folded.as_str()))
            .filter_map(|narrower| self.tiers.get(narrower))
            .fold(whole, |tier, narrower| tier.min(*narrower))
    }

    /// Rejects callers without this tier at a path.
    pub(super) fn require(&self, path: &str, kind: Kind, needed: Tier) -> Result<()> {
        if self.tier(path, kind) >= needed {
            return Ok(());
        }
        let verb = match needed {
            Tier::Delete => "remove",
            Tier::None | Tier::Read | Tier::Write => "write",
        };
        Err(Error::new(
            Code::PermissionDenied,
            format!("may not {verb} at `{path}`"),
        )
        .with_hint(needed.grant_hint(notebook(path, kind))))
    }

    /// Rejects writes of an action with the effect `Read`.
    pub(super) fn may_write(&self) -> Result<()> {
        match self.effect {
            Effect::Read => Err(effect_exceeded("reading", "write")),
            Effect::Write | Effect::Delete => Ok(()),
        }
    }

    /// Rejects deletions of an action without the effect `Delete`.
    pub(super) fn may_remove(&self) -> Result<()> {
        match self.effect {
            Effect::Read => Err(effect_exceeded("reading", "remove")),
            Effect::Write => Err(effect_exceeded("writing", "remove")),
            Effect::Delete => Ok(()),
        }
    }
}

/// The notebook of a file or folder; a top-level folder is one itself.
fn notebook(path: &str, kind: Kind) -> &str {
    match kind {
        Kind::Folder if !path.contains('/') => path,
        Kind::File | Kind::Folder => notebook_of(path),
    }
}

/// The error for an action that exceeds its declared effect.
fn effect_exceeded(declared: &str, doing: &str) -> Error {
    Error::new(
        Code::PermissionDenied,
        format!("the action is declared as {declared}, so it may not {doing}"),
    )
    .with_hint("this is a fault of the component, not of permissions")
}
