//! The host as a whole: what a running Notehost consists of.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::auth::Caller;
use crate::config::Settings;
use crate::policy::{BadGlob, Permissions};
use crate::registry::Registry;
use crate::runtime::{LoadError, Runtime};
use crate::vault::{Vault, VaultError, VaultSettings};

/// A running Notehost.
pub struct Host {
    settings: Arc<Settings>,
    runtime: Runtime,
    registry: Registry,
    vaults: Vec<Arc<Vault>>,
    /// By caller; they change only with the settings.
    permissions: Mutex<HashMap<String, Arc<Permissions>>>,
}

/// Why Notehost cannot run.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is nothing to serve.
    #[error("no vault is configured")]
    NoVault,
    /// A vault cannot be opened.
    #[error("{0}")]
    Vault(#[from] VaultError),
    /// The sandbox cannot be made.
    #[error(transparent)]
    Runtime(#[from] LoadError),
    /// A permission rule cannot be read.
    #[error(transparent)]
    Glob(#[from] BadGlob),
}

impl StartError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            StartError::NoVault => Some("name a folder: `notehost serve ~/notes`".into()),
            StartError::Vault(error) => error.hint(),
            StartError::Runtime(_) | StartError::Glob(_) => None,
        }
    }
}

impl Host {
    /// Open the vaults, finishing what a crash left, and load the components.
    pub async fn start(settings: Settings, state: &Path) -> Result<Arc<Host>, StartError> {
        if settings.vaults.is_empty() {
            return Err(StartError::NoVault);
        }
        // Every rule is read once now, so that none can fail at a call.
        for caller in settings.callers.keys().map(String::as_str).chain([""]) {
            Permissions::of_caller(&settings, caller)?;
        }
        let memory = VaultSettings {
            history_max_age: Duration::from_secs(settings.history.keep_days * 24 * 60 * 60),
            history_max_bytes: settings.history.keep_bytes,
            ..VaultSettings::default()
        };
        let mut vaults = Vec::new();
        for entry in &settings.vaults {
            vaults.push(Arc::new(Vault::open(
                &entry.id,
                &entry.path,
                state,
                memory,
            )?));
        }
        let runtime = Runtime::new(&settings.limits, &state.join("compiled"))?;
        let registry = Registry::load(&settings, &runtime, state).await;
        Ok(Arc::new(Host {
            settings: Arc::new(settings),
            runtime,
            registry,
            vaults,
            permissions: Mutex::default(),
        }))
    }

    /// Compile in the background what is not compiled yet, so that no call has to wait for it.
    pub fn warm_up(self: &Arc<Self>) {
        let host = self.clone();
        tokio::spawn(async move { host.registry.warm_up(&host.runtime).await });
    }

    /// The settings in force.
    pub fn settings(&self) -> Arc<Settings> {
        self.settings.clone()
    }

    /// Which components there are.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// What runs them.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The vaults' ids, in the order of the config.
    pub fn vault_ids(&self) -> Vec<String> {
        self.vaults
            .iter()
            .map(|vault| vault.id().to_owned())
            .collect()
    }

    pub(super) fn vaults(&self) -> &[Arc<Vault>] {
        &self.vaults
    }

    /// What a caller may do where.
    pub(super) fn permissions_of(&self, caller: &Caller) -> Result<Arc<Permissions>, BadGlob> {
        let mut known = self
            .permissions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(permissions) = known.get(caller.name()) {
            return Ok(permissions.clone());
        }
        let permissions = Arc::new(Permissions::of_caller(&self.settings, caller.name())?);
        known.insert(caller.name().to_owned(), permissions.clone());
        Ok(permissions)
    }
}
