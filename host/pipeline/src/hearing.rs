//! What happens to the files of the vaults, for those who want to be told. Each hears only of what it may read at that
//! moment: what is hidden from a caller happens without a sound.

use std::sync::Arc;

use tokio::sync::broadcast;

use super::Host;
use notehost_index::{Edit, Index};
use notehost_policy::Both;
use notehost_policy::auth::{Caller, Scope};
use notehost_vault::{Access, Effect, Limits, Rules, Transaction, Vault};

/// So much may happen before somebody who does not listen misses some of it.
const MOST_UNHEARD: usize = 4096;

/// The domain that notes are read with, as resources too.
const READER: (&str, &str) = ("document", "read");

/// Something that happened to a file.
#[derive(Debug, Clone)]
pub struct Happened {
    /// The vault's id.
    pub vault: Arc<str>,
    /// The file.
    pub path: Arc<str>,
    /// What happened to it.
    pub edit: Edit,
}

/// Everything that happens, for those who may hear of it.
pub(super) struct Happenings(broadcast::Sender<Happened>);

impl Happenings {
    /// What happens in these vaults from now on.
    pub(super) fn of(vaults: &[Arc<Vault>], indexes: &[Arc<Index>]) -> Happenings {
        let (sender, _) = broadcast::channel(MOST_UNHEARD);
        for (vault, index) in vaults.iter().zip(indexes) {
            let (vault, sender): (Arc<str>, _) = (vault.id().into(), sender.clone());
            index.on_edit(move |edited| {
                // Nobody listens: nobody is told.
                let _ = sender.send(Happened {
                    vault: vault.clone(),
                    path: edited.path.into(),
                    edit: edited.edit,
                });
            });
        }
        Happenings(sender)
    }

    pub(super) fn listen(&self) -> broadcast::Receiver<Happened> {
        self.0.subscribe()
    }
}

/// What one caller may hear of, at one moment.
pub struct Hearing {
    vaults: Vec<(Arc<Vault>, Transaction)>,
}

impl Hearing {
    /// What a caller may hear of now: what it could read.
    pub fn of(host: &Host, caller: &Caller) -> Hearing {
        Hearing {
            vaults: looks(host, caller).unwrap_or_default(),
        }
    }

    /// Whether it may know of all of these files of the vault with this identity.
    pub(super) fn reaches_all(&self, identity: &str, paths: &[String]) -> bool {
        let mut vaults = self.vaults.iter();
        vaults.any(|(known, look)| {
            known.identity() == identity && paths.iter().all(|path| look.sees_file(path))
        })
    }

    /// Whether it may know of this file.
    pub fn reaches(&self, vault: &str, path: &str) -> bool {
        let mut vaults = self.vaults.iter();
        vaults.any(|(known, look)| known.id() == vault && look.sees_file(path))
    }
}

/// One vault as a caller sees it that reads notes.
pub(super) fn look(host: &Host, caller: &Caller, vault: &str) -> Option<(Arc<Vault>, Transaction)> {
    let mut looks = looks(host, caller)?.into_iter();
    looks.find(|(known, _)| known.id() == vault)
}

/// The vaults of a caller, if it may read notes at all. What it may see is what the component that reads them may.
fn looks(host: &Host, caller: &Caller) -> Option<Vec<(Arc<Vault>, Transaction)>> {
    if !host.still_holds(caller) {
        return None;
    }
    let rights = host.rights_of(caller).ok()?;
    let domains = host.registry().snapshot();
    let (domain, action) = READER;
    let reader = domains.domain(domain)?;
    reader.action(action)?;
    if !rights.scopes.allow(domain, Scope::Read) {
        return None;
    }
    let permissions = rights.permissions.clone();
    let rules: Arc<dyn Rules> = Arc::new(Both::new(permissions, reader.grant.clone()));
    let vaults = host.vaults_of(caller).ok()?.into_iter();
    let looks = vaults.map(|vault| {
        let look = vault.begin(Access {
            rules: rules.clone(),
            effect: Effect::Read,
            component: "host".into(),
            limits: Limits::default(),
        });
        (vault, look)
    });
    Some(looks.collect())
}
