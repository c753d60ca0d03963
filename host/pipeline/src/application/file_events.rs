//! Events on the files of the vaults for subscribers. A subscriber receives only events on files that it may read at
//! that moment.

use std::sync::Arc;

use tokio::sync::broadcast;

use crate::Host;
use notehost_index::{Edit, Index};
use notehost_policy::Intersection;
use notehost_policy::auth::{Caller, Scope};
use notehost_vault::{Access, Effect, Limits, Rules, Transaction, Vault};

/// The number of events buffered for a slow subscriber.
const EVENT_BUFFER: usize = 4096;

/// The action that reads notes, also for resources.
const READER: (&str, &str) = ("document", "read");

/// An event on a file.
#[derive(Debug, Clone)]
pub struct FileEvent {
    /// The vault's id.
    pub vault: Arc<str>,
    /// The file.
    pub path: Arc<str>,
    /// What happened to it.
    pub edit: Edit,
}

/// The event streams of all vaults.
pub(crate) struct FileEvents(broadcast::Sender<FileEvent>);

impl FileEvents {
    /// Subscribes to the events of these vaults.
    pub(crate) fn of(vaults: &[Arc<Vault>], indexes: &[Arc<Index>]) -> FileEvents {
        let (sender, _) = broadcast::channel(EVENT_BUFFER);
        for (vault, index) in vaults.iter().zip(indexes) {
            let (vault, sender): (Arc<str>, _) = (vault.id().into(), sender.clone());
            index.on_edit(move |edited| {
                // Sending fails only if there are no subscribers.
                let _ = sender.send(FileEvent {
                    vault: vault.clone(),
                    path: edited.path.into(),
                    edit: edited.edit,
                });
            });
        }
        FileEvents(sender)
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<FileEvent> {
        self.0.subscribe()
    }
}

/// Filters events by what a caller may read at this moment.
pub struct EventFilter {
    vaults: Vec<(Arc<Vault>, Transaction)>,
}

impl EventFilter {
    /// The filter for a caller: what it may read now.
    pub fn of(host: &Host, caller: &Caller) -> EventFilter {
        EventFilter {
            vaults: readers(host, caller).unwrap_or_default(),
        }
    }

    /// Whether it may see all of these files of the vault with this identity.
    pub(crate) fn reaches_all(&self, identity: &str, paths: &[String]) -> bool {
        let mut vaults = self.vaults.iter();
        vaults.any(|(known, reader)| {
            known.identity() == identity && paths.iter().all(|path| reader.sees_file(path))
        })
    }

    /// Whether it may see this file.
    pub fn reaches(&self, vault: &str, path: &str) -> bool {
        let mut vaults = self.vaults.iter();
        vaults.any(|(known, reader)| known.id() == vault && reader.sees_file(path))
    }
}

/// One vault as visible to a reading caller.
pub(crate) fn reader(
    host: &Host,
    caller: &Caller,
    vault: &str,
) -> Option<(Arc<Vault>, Transaction)> {
    let mut readers = readers(host, caller)?.into_iter();
    readers.find(|(known, _)| known.id() == vault)
}

/// The vaults of a caller, if it may read notes at all. What it may see is what the component that reads them may.
fn readers(host: &Host, caller: &Caller) -> Option<Vec<(Arc<Vault>, Transaction)>> {
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
    let vaults = host.vaults_of(caller).ok()?.into_iter();
    let readers = vaults.filter_map(|vault| {
        let permissions = rights.in_vault(vault.id())?.permissions.clone();
        let rules: Arc<dyn Rules> = Arc::new(Intersection::new(permissions, reader.grant.clone()));
        let transaction = vault.begin(Access {
            rules,
            effect: Effect::Read,
            component: "host".into(),
            limits: Limits::default(),
        });
        Some((vault, transaction))
    });
    Some(readers.collect())
}
