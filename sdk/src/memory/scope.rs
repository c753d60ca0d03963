//! What the caller and the action may do together: tiers per notebook, narrowed within one, and the action's effect.

use std::collections::BTreeMap;

use super::paths;
use crate::{Code, Effect, Error, Kind, Result, Tier, fold_name, notebook_of};

#[derive(Debug)]
pub(super) struct Scope {
    pub(super) default: Tier,
    pub(super) effect: Effect,
    /// By folded path: names are the same whatever their case, for permissions as for files.
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

    /// What the caller may do with a file or folder at a path, whatever the action may.
    pub(super) fn tier(&self, path: &str, kind: Kind) -> Tier {
        if paths::check(path).is_err() || paths::is_closed(path) {
            return Tier::None;
        }
        if path.is_empty() {
            // The vault itself can be listed by anybody; what is in it is asked for one by one.
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

    /// Refuse unless the caller may do that much with a file or folder at a path.
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
        .with_hint(needed.granting(notebook(path, kind))))
    }

    /// Refuse an action that said that it only reads.
    pub(super) fn may_write(&self) -> Result<()> {
        match self.effect {
            Effect::Read => Err(dishonest("reading", "write")),
            Effect::Write | Effect::Delete => Ok(()),
        }
    }

    /// Refuse an action that did not say that it removes.
    pub(super) fn may_remove(&self) -> Result<()> {
        match self.effect {
            Effect::Read => Err(dishonest("reading", "remove")),
            Effect::Write => Err(dishonest("writing", "remove")),
            Effect::Delete => Ok(()),
        }
    }
}

/// The notebook that a file or folder lies in; a top-level folder is one itself.
fn notebook(path: &str, kind: Kind) -> &str {
    match kind {
        Kind::Folder if !path.contains('/') => path,
        Kind::File | Kind::Folder => notebook_of(path),
    }
}

/// An action does what it did not say it would.
fn dishonest(declared: &str, doing: &str) -> Error {
    Error::new(
        Code::PermissionDenied,
        format!("the action is declared as {declared}, so it may not {doing}"),
    )
    .with_hint("this is a fault of the component, not of permissions")
}
