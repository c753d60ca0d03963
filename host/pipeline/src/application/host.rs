//! The host: what a running Notehost consists of.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use notehost_sdk::host::Now;
use tokio::sync::broadcast;

use super::file_events::{FileEvent, FileEvents};
use super::reload::Watching;
use super::rights::{BadRights, Rights, RightsBySettings};
use super::running_calls::RunningCalls;
use super::sessions::Sessions;
use crate::features::orientation::assistant_notes;
use crate::registry::Registry;
use crate::stages::circuit_breaker::CircuitBreakers;
use notehost_config::Settings;
use notehost_index::Index;
use notehost_platform::clock::now_millis;
use notehost_platform::random::RandomError;
use notehost_policy::auth::{Caller, Entrance, Proof, Scopes, Tokens};
use notehost_policy::{Approvals, DropLedger, Idempotency, Rates};
use notehost_records::audit::{Audit, ComponentLogs};
use notehost_records::{Records, RecordsError};
use notehost_runtime::{LoadError, Runtime};
use notehost_vault::{Vault, VaultError, VaultSettings};

/// A running Notehost.
pub struct Host {
    /// The current settings, with the rights derived from them.
    current: ArcSwap<RightsBySettings>,
    /// The sessions that have settings of their own.
    pub(crate) sessions: Sessions,
    running_calls: Arc<RunningCalls>,
    /// The source of the settings, if they can change.
    pub(crate) watching: OnceLock<Watching>,
    /// Serializes reloads, so that the last one wins.
    pub(crate) refreshing: tokio::sync::Mutex<()>,
    runtime: Runtime,
    registry: Registry,
    vaults: Vec<Arc<Vault>>,
    /// One per vault, in the same order.
    indexes: Vec<Arc<Index>>,
    file_events: FileEvents,
    state: PathBuf,
    tokens: Arc<Tokens>,
    approvals: Approvals,
    drops: Arc<DropLedger>,
    idempotency: Idempotency,
    rates: Rates,
    audit: Audit,
    component_logs: ComponentLogs,
    circuit_breakers: CircuitBreakers,
    /// The names of tokens known to be revoked.
    revoked: ArcSwap<HashSet<String>>,
    records: Arc<dyn Records>,
    /// The fixed time of the components' clock, if any.
    clock: ArcSwapOption<Now>,
    /// Its start time, in milliseconds since 1970.
    started: u64,
    weak: Weak<Host>,
}

/// Why Notehost cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is nothing to serve.
    #[error("no vault is configured")]
    NoVault,
    /// A vault cannot be opened.
    #[error("{0}")]
    Vault(#[from] VaultError),
    /// The sandbox cannot be created.
    #[error(transparent)]
    Runtime(#[from] LoadError),
    /// The records of calls cannot be used.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// A rule about a caller cannot be read.
    #[error(transparent)]
    Rights(#[from] BadRights),
    /// The system's random number generator failed.
    #[error("the random number generator failed: {0}")]
    Random(#[from] RandomError),
}

impl StartError {
    /// Whether another process holds a vault.
    pub fn is_held(&self) -> bool {
        matches!(self, StartError::Vault(error) if error.is_held())
    }

    /// A hint for the operator.
    pub fn hint(&self) -> Option<String> {
        match self {
            StartError::NoVault => Some("name a folder: `notehost serve ~/notes`".into()),
            StartError::Vault(error) => error.hint(),
            StartError::Runtime(_)
            | StartError::Records(_)
            | StartError::Rights(_)
            | StartError::Random(_) => None,
        }
    }
}

impl Host {
    /// Opens the vaults, recovering from a crash, and loads the components.
    pub async fn start(settings: Settings, state: &Path) -> Result<Arc<Host>, StartError> {
        if settings.vaults.is_empty() {
            return Err(StartError::NoVault);
        }
        let current = RightsBySettings::new(settings.clone())?;
        let memory = VaultSettings {
            history_max_age: Duration::from_secs(settings.history.keep_days * 24 * 60 * 60),
            history_max_bytes: settings.history.keep_bytes,
            ..VaultSettings::default()
        };
        // First, because it refuses a state folder of another user.
        let records = notehost_records::open(state)?;
        let mut vaults = Vec::new();
        for entry in &settings.vaults {
            vaults.push(Arc::new(Vault::open(
                &entry.id,
                &entry.path,
                state,
                memory,
            )?));
        }
        let indexes: Vec<Arc<Index>> = vaults.iter().map(Index::open).collect();
        set_assistant_notes(&indexes, &settings);
        let runtime = Runtime::new(&settings.sandbox_limits(), &state.join("compiled"))?;
        let registry = Registry::load(&settings, &runtime, state).await;
        let audit = Audit::start(&*records, &settings)?;
        // On a separate handle, so that checking a token does not wait for writes.
        let tokens = Arc::new(Tokens::new(records.reopen()?, state));
        let rates = Rates::open(records.clone())?;
        let idempotency = Idempotency::new(records.clone())?;
        Ok(Arc::new_cyclic(|weak| Host {
            current: ArcSwap::from_pointee(current),
            sessions: Sessions::default(),
            running_calls: Arc::default(),
            watching: OnceLock::new(),
            refreshing: tokio::sync::Mutex::default(),
            runtime,
            registry,
            file_events: FileEvents::of(&vaults, &indexes),
            indexes,
            vaults,
            state: state.to_owned(),
            tokens,
            approvals: Approvals::new(records.clone()),
            drops: Arc::new(DropLedger::new(records.clone())),
            idempotency,
            rates,
            audit,
            component_logs: ComponentLogs::new(&state.join("logs")),
            circuit_breakers: CircuitBreakers::new(records.clone()),
            revoked: ArcSwap::default(),
            records,
            clock: ArcSwapOption::empty(),
            started: now_millis(),
            weak: weak.clone(),
        }))
    }

    /// Compiles components in the background, so that no call has to wait for it.
    pub fn warm_up(self: &Arc<Self>) {
        let host = self.clone();
        tokio::spawn(async move { host.registry.warm_up(&host.runtime).await });
    }

    /// Starts the indexers, so that the indexes are ready for the first query.
    pub fn start_indexes(&self) {
        for index in &self.indexes {
            index.start();
        }
    }

    /// Subscribes to events on the files of all vaults. [`crate::EventFilter`] decides who may receive them.
    pub fn file_events(&self) -> broadcast::Receiver<FileEvent> {
        self.file_events.subscribe()
    }

    /// The index of each vault, with the vault's id.
    pub fn indexes(&self) -> impl Iterator<Item = (&str, &Arc<Index>)> {
        self.vaults
            .iter()
            .map(|vault| vault.id())
            .zip(&self.indexes)
    }

    /// The index of one of the vaults.
    pub(crate) fn index_of(&self, vault: &Arc<Vault>) -> Arc<Index> {
        let place = self
            .vaults
            .iter()
            .position(|known| Arc::ptr_eq(known, vault));
        self.indexes[place.unwrap_or(0)].clone()
    }

    /// The settings in force.
    pub fn settings(&self) -> Arc<Settings> {
        self.current.load().settings().clone()
    }

    /// The settings in force for a caller: those of its session, if it has one. A caller whose session is over gets those
    /// of the host, and no rights (`rights_of`).
    pub fn settings_of(&self, caller: &Caller) -> Arc<Settings> {
        let session = caller.session().and_then(|id| self.sessions.settings(id));
        match session {
            Some(session) => session.settings().clone(),
            None => self.settings(),
        }
    }

    /// The calls of local sessions that run.
    pub(crate) fn running_calls(&self) -> &Arc<RunningCalls> {
        &self.running_calls
    }

    /// Applies other settings to every call that starts from now on. What is opened at the start (vaults, the sandbox)
    /// stays as it is; components that are enabled or disabled are swapped, and clients are notified.
    pub async fn apply(&self, settings: Settings) -> Result<(), BadRights> {
        let before = self.settings();
        let current = RightsBySettings::new(settings)?;
        let settings = current.settings().clone();
        self.audit.apply(&settings);
        set_assistant_notes(&self.indexes, &settings);
        // The rights first: a new component must not run under the old permissions.
        self.current.store(Arc::new(current));
        self.sessions.renew(&settings);
        // Running calls notice it at their next step.
        self.registry.advance_generation();
        let _turn = self.refreshing.lock().await;
        self.registry
            .apply(&before, &settings, &self.runtime, &self.state)
            .await;
        Ok(())
    }

    /// A generation number that changes whenever the rights of calls change.
    pub(crate) fn generation(&self) -> u64 {
        self.registry.generation().load(Ordering::Acquire)
    }

    /// Whether a token is known to be revoked.
    pub(crate) fn is_revoked(&self, token: &str) -> bool {
        self.revoked.load().contains(token)
    }

    /// Whether a caller's credential is still valid: neither revoked nor expired.
    pub fn still_holds(&self, caller: &Caller) -> bool {
        let is_revoked = caller.proof() == Proof::Token && self.is_revoked(caller.name());
        !is_revoked && !caller.has_expired()
    }

    /// Revokes tokens: calls of their callers end at their next step.
    pub(crate) fn set_revoked(&self, tokens: HashSet<String>) {
        self.revoked.store(Arc::new(tokens));
        self.registry.advance_generation();
    }

    /// The logs of components.
    pub fn component_logs(&self) -> &ComponentLogs {
        &self.component_logs
    }

    /// The circuit breakers of the components.
    pub(crate) fn circuit_breakers(&self) -> &CircuitBreakers {
        &self.circuit_breakers
    }

    /// Its start time, in milliseconds since 1970.
    pub(crate) fn started(&self) -> u64 {
        self.started
    }

    /// Fixes the components' clock, for reproducible tests.
    pub fn stop_clock(&self, now: Now) {
        self.clock.store(Some(Arc::new(now)));
    }

    /// The fixed time of the components' clock, if any.
    pub(crate) fn stopped_clock(&self) -> Option<Now> {
        self.clock.load().as_deref().cloned()
    }

    /// A weak reference to the host, for tasks that may outlive a call.
    pub(crate) fn shared(&self) -> Weak<Host> {
        self.weak.clone()
    }

    /// Which components there are.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// What runs them.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The folder for what this machine keeps.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// The static tokens.
    pub fn tokens(&self) -> &Arc<Tokens> {
        &self.tokens
    }

    /// The approvals.
    pub fn approvals(&self) -> &Approvals {
        &self.approvals
    }

    /// The record of content dropped by callers.
    pub(crate) fn drops(&self) -> &Arc<DropLedger> {
        &self.drops
    }

    /// The rate limits of callers.
    pub fn rates(&self) -> &Rates {
        &self.rates
    }

    /// The audit log.
    pub fn audit(&self) -> &Audit {
        &self.audit
    }

    pub(crate) fn records(&self) -> &dyn Records {
        &*self.records
    }

    pub(crate) fn idempotency(&self) -> &Idempotency {
        &self.idempotency
    }

    /// The vaults' ids, in the order of the config.
    pub fn vault_ids(&self) -> Vec<String> {
        self.vaults
            .iter()
            .map(|vault| vault.id().to_owned())
            .collect()
    }

    /// The ids of the vaults that a caller may use. The first one is meant where it names none: the default vault, if it may
    /// use that.
    pub fn vault_ids_of(&self, caller: &Caller) -> Vec<String> {
        self.vaults_of(caller)
            .map(|vaults| vaults.iter().map(|vault| vault.id().to_owned()).collect())
            .unwrap_or_default()
    }

    /// The scopes of a caller.
    pub fn scopes_of(&self, caller: &Caller) -> Scopes {
        self.rights_of(caller)
            .map(|rights| rights.scopes.clone())
            .unwrap_or_default()
    }

    /// The vaults that a caller may use, the default one first.
    pub(crate) fn vaults_of(&self, caller: &Caller) -> Result<Vec<Arc<Vault>>, BadRights> {
        let rights = self.rights_of(caller)?;
        let vaults = rights
            .vaults()
            .filter_map(|id| self.vaults.iter().find(|vault| vault.id() == id));
        Ok(vaults.cloned().collect())
    }

    /// Whether a caller's client is trusted to ask its user and to report the answer. Other callers might answer their
    /// own questions, so their approvals are decided elsewhere.
    pub fn is_attended(&self, caller: &Caller) -> bool {
        let settings = self.settings_of(caller);
        let of = |name: &str| settings.callers.get(name).and_then(|own| own.attended);
        // A signed token may carry the name of a static one: it is not trusted for that, but it can be restricted by it.
        let configured = match caller.proof() {
            Proof::Signed => of(caller.name())
                .filter(|attended| !attended)
                .or_else(|| of(&caller.key())),
            Proof::Token | Proof::Place => of(caller.name()),
        };
        match (caller.entrance(), caller.proof()) {
            (Entrance::Http, Proof::Place) => false,
            (Entrance::Http, Proof::Token | Proof::Signed) => {
                configured.unwrap_or_else(|| caller.has_attended_token())
            }
            (Entrance::Stdio | Entrance::CommandLine, _) => configured.unwrap_or(true),
        }
    }

    /// What a caller may do.
    pub(crate) fn rights_of(&self, caller: &Caller) -> Result<Arc<Rights>, BadRights> {
        match caller.session() {
            None => self.current.load().of(caller),
            Some(id) => {
                let session = self.sessions.settings(id).ok_or(BadRights::NoSession)?;
                session.of(caller)
            }
        }
    }
}

/// Sets which notes are written for models, from the notebooks that the settings list for it.
fn set_assistant_notes(indexes: &[Arc<Index>], settings: &Settings) {
    for index in indexes {
        index.set_assistant_notes(assistant_notes(&settings.orientation));
    }
}
