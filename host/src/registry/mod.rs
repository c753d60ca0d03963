//! Which components there are: one immutable snapshot, swapped whole. A call keeps the snapshot that it began with,
//! so a component can be changed at any moment. Compiling and running is the runtime's affair.

mod descriptions;
mod domain;
mod embedded;

pub use domain::{Action, COMMON_ARGUMENTS, Domain};
pub use embedded::{EMBEDDED, Embedded};

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::watch;

use crate::auth::Scopes;
use crate::config::{ComponentSettings, Settings};
use crate::policy::{BadGlob, BadHost, Grant, Reach};
use crate::runtime::{Component, Description, LoadError, Manifest, Runtime};
use descriptions::Descriptions;

/// How long compiling in the background holds back for calls.
const HEAD_START: Duration = Duration::from_millis(50);

/// What a component imports that sends requests.
const REQUESTS: &str = "wasi:http/outgoing-handler@";

/// What is loaded, now.
pub struct Registry {
    current: ArcSwap<Snapshot>,
    changed: watch::Sender<u64>,
}

/// What is loaded, at one moment.
#[derive(Default)]
pub struct Snapshot {
    domains: BTreeMap<String, Arc<Domain>>,
    /// Switched off by the config.
    disabled: BTreeMap<String, Vec<String>>,
    broken: Vec<Broken>,
}

/// A component that the config names and that cannot be used.
#[derive(Debug, Clone)]
pub struct Broken {
    /// Its name in the config.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// Whether something that is not there was switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absence {
    /// Nobody knows it.
    Unknown,
    /// An admin switched it off.
    Disabled,
}

#[derive(Debug, thiserror::Error)]
enum AddError {
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Glob(#[from] BadGlob),
    #[error(transparent)]
    Host(#[from] BadHost),
    #[error("it calls itself `{found}`, and the config calls it `{expected}`")]
    OtherName { found: String, expected: String },
    #[error("this name belongs to the host's own domain")]
    OfHost,
    #[error(transparent)]
    Domain(#[from] domain::DomainError),
}

impl Registry {
    /// Load what is embedded, and what the config names. A component that cannot be used is told in the log and
    /// left out; it takes nothing else with it.
    pub async fn load(settings: &Settings, runtime: &Runtime, state: &Path) -> Registry {
        Registry {
            current: ArcSwap::from_pointee(Snapshot::load(settings, runtime, state).await),
            changed: watch::Sender::new(0),
        }
    }

    /// Follow a change of the settings: what they switch on or off comes and goes with one swap, and what callers
    /// are shown is said to have changed where it may have.
    pub async fn apply(
        &self,
        before: &Settings,
        settings: &Settings,
        runtime: &Runtime,
        state: &Path,
    ) {
        let is_other = |part: fn(&Settings) -> serde_json::Value| part(before) != part(settings);
        let components = is_other(|all| serde_json::to_value(&all.components).unwrap_or_default());
        if components {
            let mut snapshot = Snapshot::load(settings, runtime, state).await;
            snapshot.keep_compiled(&self.snapshot());
            self.current.store(Arc::new(snapshot));
        }
        // A caller with other scopes is shown other tools.
        if components || is_other(|all| serde_json::to_value(&all.callers).unwrap_or_default()) {
            self.changed.send_modify(|count| *count += 1);
        }
    }

    /// What is loaded now. Calls in flight keep the one they began with.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Counts the changes of the set.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Compile what is not compiled yet, one after the other, so that no call has to wait for it.
    pub async fn warm_up(&self, runtime: &Runtime) {
        for domain in self.snapshot().domains() {
            let Some(component) = &domain.component else {
                continue;
            };
            // What somebody waits for comes first.
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

impl Snapshot {
    async fn load(settings: &Settings, runtime: &Runtime, state: &Path) -> Snapshot {
        let kept = Descriptions::new(&state.join("descriptions"));
        let several_vaults = settings.vaults.len() > 1;
        let mut snapshot = Snapshot::default();
        for embedded in EMBEDDED {
            let switches = settings.components.get(embedded.name).cloned();
            let added = embedded_domain(embedded, several_vaults);
            snapshot.add(embedded.name, &switches.unwrap_or_default(), added);
        }
        snapshot.add_own();
        for (name, switches) in &settings.components {
            if let Some(path) = &switches.path {
                let added =
                    domain_from_file(name, path, switches, runtime, &kept, several_vaults).await;
                snapshot.add(name, switches, added);
            }
        }
        snapshot
    }

    /// What was compiled already is not compiled again.
    fn keep_compiled(&mut self, before: &Snapshot) {
        for (name, domain) in &mut self.domains {
            let old = before
                .domains
                .get(name)
                .and_then(|old| old.component.as_ref());
            if let (Some(old), Some(new)) = (old, &domain.component)
                && old.is_same_as(new)
            {
                let component = Some(old.clone());
                *domain = Arc::new(Domain {
                    component,
                    ..(**domain).clone()
                });
            }
        }
    }

    /// The domains that can be called, by name.
    pub fn domains(&self) -> impl Iterator<Item = &Arc<Domain>> {
        self.domains.values()
    }

    /// A domain that can be called.
    pub fn domain(&self, name: &str) -> Option<&Arc<Domain>> {
        self.domains.get(name)
    }

    /// What of it a caller with these scopes is shown.
    pub fn seen_with(&self, scopes: &Scopes) -> Snapshot {
        let seen = self
            .domains
            .iter()
            .filter_map(|(name, domain)| Some((name.clone(), Arc::new(domain.seen_with(scopes)?))));
        Snapshot {
            domains: seen.collect(),
            disabled: self.disabled.clone(),
            broken: Vec::new(),
        }
    }

    /// Components that the config names and that cannot be used.
    pub fn broken(&self) -> &[Broken] {
        &self.broken
    }

    /// Why a domain is not there.
    pub fn absence_of_domain(&self, name: &str) -> Absence {
        match self.disabled.get(name) {
            Some(actions) if actions.is_empty() => Absence::Disabled,
            _ => Absence::Unknown,
        }
    }

    /// Why an action of a domain that is there is not.
    pub fn absence_of_action(&self, domain: &str, action: &str) -> Absence {
        match self.disabled.get(domain) {
            Some(actions) if actions.iter().any(|name| name == action) => Absence::Disabled,
            _ => Absence::Unknown,
        }
    }

    /// The domain that the host itself offers.
    fn add_own(&mut self) {
        match Description::parse(include_str!("admin.json")) {
            Ok(description) => {
                let domain = Domain::of_host(description);
                self.domains.insert(domain.name.clone(), Arc::new(domain));
            }
            Err(error) => tracing::error!("{error}"),
        }
    }

    fn add(&mut self, name: &str, switches: &ComponentSettings, added: Result<Domain, AddError>) {
        if !switches.enabled {
            // An empty list stands for the whole domain.
            self.disabled.insert(name.to_owned(), Vec::new());
            return;
        }
        let is_taken = self
            .domains
            .get(name)
            .is_some_and(|taken| taken.component.is_none());
        let added = match is_taken {
            true => Err(AddError::OfHost),
            false => added,
        };
        match added {
            Ok(mut domain) => {
                let off: Vec<String> = switches
                    .actions
                    .iter()
                    .filter(|(_, on)| !**on)
                    .map(|(action, _)| action.clone())
                    .collect();
                domain.actions.retain(|action| !off.contains(&action.name));
                if !off.is_empty() {
                    self.disabled.insert(name.to_owned(), off);
                }
                self.domains.insert(domain.name.clone(), Arc::new(domain));
            }
            Err(error) => {
                tracing::error!(component = name, "left out: {error}");
                self.broken.push(Broken {
                    name: name.to_owned(),
                    reason: error.to_string(),
                });
            }
        }
    }
}

fn embedded_domain(embedded: &Embedded, several_vaults: bool) -> Result<Domain, AddError> {
    let description = Description::parse(embedded.description).map_err(LoadError::from)?;
    let component = Component::embedded(embedded.name, embedded.wasm, embedded.digest)?;
    Ok(Domain::new(
        description,
        component,
        Manifest::default(),
        Grant::everything(),
        several_vaults,
    )?)
}

async fn domain_from_file(
    name: &str,
    path: &Path,
    switches: &ComponentSettings,
    runtime: &Runtime,
    kept: &Descriptions,
    several_vaults: bool,
) -> Result<Domain, AddError> {
    let wasm = std::fs::read(path).map_err(|source| LoadError::Unreadable {
        name: name.to_owned(),
        source,
    })?;
    let component = Component::new(name, wasm)?;
    // Also where its description is known from before: another host may have asked for it.
    let inspected = component.inspect()?;
    let description = kept.of(&component, runtime).await?;
    if description.name != name {
        return Err(AddError::OtherName {
            found: description.name,
            expected: name.to_owned(),
        });
    }
    let grant = Grant::from_settings(&switches.grant)?;
    let manifest = inspected.manifest.unwrap_or_default();
    // Who cannot send a request reaches nothing, whatever it is granted.
    let mut imports = inspected.imports.iter();
    let reach = match imports.any(|import| import.starts_with(REQUESTS)) {
        true => Reach::new(&switches.grant.http, &manifest.http)?,
        false => Reach::nothing(),
    };
    let mut domain = Domain::new(description, component, manifest, grant, several_vaults)?;
    domain.reach = Arc::new(reach);
    Ok(domain)
}
