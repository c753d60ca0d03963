//! The registry of components: one immutable snapshot, swapped whole. A call keeps the snapshot that it began with, so
//! a component can be changed at any moment. Compiling and running belong to the runtime.

mod candidate;
mod capabilities;
mod descriptions;
mod difference;
mod domain;
mod examples;
mod listing;
mod loading;
mod offer;
mod snapshot;

pub use candidate::{Candidate, Refused};
pub use difference::{Change, Difference};
pub use domain::{Action, COMMON_ARGUMENTS, Domain, DomainError, Origin};
pub use examples::Example;
pub use notehost_embedded::{EMBEDDED, Embedded};
pub use offer::{Offer, OfferError};
pub use snapshot::{Absence, Broken, Snapshot, SwitchedOff};

pub use notehost_runtime::{Piece, pieces};

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::watch;

use crate::admin;
use descriptions::Descriptions;
use notehost_config::Settings;
use notehost_platform::files::Stamp;
use notehost_runtime::packages::{Packages, signature};
use notehost_runtime::{Description, Runtime};

/// How long background compilation yields to calls.
const HEAD_START: Duration = Duration::from_millis(50);

/// The current snapshot.
pub struct Registry {
    current: ArcSwap<Snapshot>,
    changed: watch::Sender<u64>,
    /// A generation number that changes with every change, for running calls.
    generation: Arc<AtomicU64>,
    /// The state of the component files at the last check.
    files: Mutex<Files>,
}

type Files = Vec<(PathBuf, Option<Stamp>)>;

impl Registry {
    /// Loads embedded, installed and configured components. A component that cannot be used is logged and skipped,
    /// without affecting others.
    pub async fn load(settings: &Settings, runtime: &Runtime, state: &Path) -> Registry {
        // Checked first: a later change is noticed at the next check.
        let files = Mutex::new(files(settings, state));
        let snapshot = Snapshot::load(settings, runtime, state, None).await;
        Registry {
            current: ArcSwap::from_pointee(snapshot),
            changed: watch::Sender::new(0),
            generation: Arc::new(AtomicU64::new(1)),
            files,
        }
    }

    /// Applies changed settings: enabled and disabled components are swapped at once, and clients are notified if what
    /// they see may have changed.
    pub async fn apply(
        &self,
        before: &Settings,
        settings: &Settings,
        runtime: &Runtime,
        state: &Path,
    ) {
        let is_other = |part: fn(&Settings) -> Value| part(before) != part(settings);
        let is_changed = is_other(|all| serde_json::to_value(&all.components).unwrap_or_default())
            || before.trust != settings.trust
            || before.component_folder != settings.component_folder;
        if is_changed {
            self.refresh(settings, runtime, state).await;
        } else if is_other(|all| serde_json::to_value(&all.callers).unwrap_or_default()) {
            // A caller with other scopes is shown other tools.
            self.changed.send_modify(|count| *count += 1);
        }
    }

    /// Whether a component file changed since the last check: the lock file of installed components, a file named in
    /// the config, a file of the component folder.
    pub fn files_changed(&self, settings: &Settings, state: &Path) -> bool {
        let now = files(settings, state);
        let mut seen = self.files.lock();
        let is_new = *seen != now;
        *seen = now;
        is_new
    }

    /// Reloads everything and swaps the snapshot. Running calls finish on the old one.
    pub async fn refresh(&self, settings: &Settings, runtime: &Runtime, state: &Path) {
        // Checked first: a later change is noticed at the next check, and nothing is loaded twice.
        self.files_changed(settings, state);
        let before = self.snapshot();
        let snapshot = Snapshot::load(settings, runtime, state, Some(&before)).await;
        self.current.store(Arc::new(snapshot));
        self.advance_generation();
        self.changed.send_modify(|count| *count += 1);
    }

    /// The current snapshot. Running calls keep the one they began with.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// The generation of what is loaded and allowed. A running call compares it with the one it began with, which is
    /// cheaper than looking everything up again.
    pub fn generation(&self) -> &Arc<AtomicU64> {
        &self.generation
    }

    /// Advances the generation: running calls look up their rights again.
    pub fn advance_generation(&self) {
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Counts the changes of the set.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Compiles the remaining components one by one, so that no call has to wait for it.
    pub async fn warm_up(&self, runtime: &Runtime) {
        for domain in self.snapshot().domains() {
            let Some(component) = &domain.component else {
                continue;
            };
            // Calls that wait for a component come first.
            tokio::time::sleep(HEAD_START).await;
            while runtime.is_compiling() {
                tokio::time::sleep(HEAD_START).await;
            }
            if let Err(error) = component.prepare(runtime).await {
                tracing::error!("{error}");
            }
        }
    }
}

/// The cached description of the component with this digest; embedded ones are always known.
pub fn known_description(digest: &str, state: &Path) -> Option<Description> {
    let embedded = EMBEDDED.iter().find(|embedded| embedded.digest() == digest);
    match embedded {
        Some(embedded) => Description::parse(embedded.description).ok(),
        None => Descriptions::of_state(state).kept(digest),
    }
}

/// The description of the host's own domain.
pub fn own_description() -> Value {
    admin::describe()
}

/// The domain of a description, without a component that could run it: for tests of what is derived from descriptions.
#[doc(hidden)]
pub fn described(description: Description) -> Domain {
    Domain::without_component(description)
}

/// The current state of the component files.
fn files(settings: &Settings, state: &Path) -> Files {
    let named = loading::files(settings).into_iter();
    let named = named.flat_map(|(_, path)| [signature::file_beside(&path), path]);
    let watched = named.chain([Packages::of(state).lock_file()]);
    watched
        .map(|path| {
            let stamp = Stamp::of(&path);
            (path, stamp)
        })
        .collect()
}
