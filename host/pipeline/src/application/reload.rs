//! Reloading of settings at run time. An unusable file changes nothing, and is reported in the log and in the status.

use std::collections::HashSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;

use crate::Host;
use notehost_config::{ConfigError, Edit, Source, in_force};

/// How often the config file and the tokens are checked.
const PERIOD: Duration = Duration::from_millis(200);
/// How long a changed file must stay unchanged before it is read.
const DEBOUNCE: Duration = Duration::from_millis(50);

/// The watched file, and its problem.
pub(crate) struct Watching {
    source: Source,
    problem: Mutex<Option<String>>,
    /// Serializes reloads: the file's last state must win.
    turn: tokio::sync::Mutex<()>,
}

/// Why a reload failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReloadError {
    /// There is no file to read them from.
    #[error("there is no config file to reload")]
    NoFile,
    /// The file cannot be used.
    #[error("{0}")]
    Unusable(String),
}

impl Host {
    /// Reloads the config file whenever it changes.
    pub fn watch(self: &Arc<Self>, source: Source) {
        let watching = Watching {
            source,
            problem: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        };
        // Called once; a second call has no effect.
        let _ = self.watching.set(watching);
    }

    /// Follows changes on disk: the config file, and the files that components come from.
    pub fn follow_files(self: &Arc<Self>) {
        tokio::spawn(poll_files(Arc::downgrade(self)));
    }

    /// Reloads the components if a file that they come from changed.
    pub async fn refresh_components(&self) {
        let settings = self.settings();
        if !self.registry().files_changed(&settings, self.state()) {
            return;
        }
        let _turn = self.refreshing.lock().await;
        let (settings, runtime) = (self.settings(), self.runtime());
        self.registry()
            .refresh(&settings, runtime, self.state())
            .await;
        tracing::info!("the components were reloaded");
    }

    /// Checks regularly whether tokens were revoked, also by the command line: running calls of their callers must not
    /// finish.
    pub fn watch_tokens(self: &Arc<Self>) {
        let host = Arc::downgrade(self);
        let started = std::thread::Builder::new()
            .name("notehost-tokens".into())
            .spawn(move || poll_tokens(&host));
        if let Err(error) = started {
            tracing::error!("running calls of revoked tokens will not be stopped: {error}");
        }
    }

    /// Reloads the config file. Returns the changed keys that take effect after a restart.
    pub async fn reload(&self) -> Result<Vec<&'static str>, ReloadError> {
        let watching = self.watching.get().ok_or(ReloadError::NoFile)?;
        let _turn = watching.turn.lock().await;
        self.read_again(watching).await
    }

    async fn read_again(&self, watching: &Watching) -> Result<Vec<&'static str>, ReloadError> {
        // A change after this moment is noticed at the next poll.
        watching.source.changed();
        let outcome = self.take_over(&watching.source).await;
        let mut problem = watching.problem.lock();
        match outcome {
            Ok(waiting) => {
                *problem = None;
                tracing::info!("the config file was reloaded");
                if !waiting.is_empty() {
                    tracing::warn!("takes effect after a restart: {}", waiting.join(", "));
                }
                Ok(waiting)
            }
            Err(reason) => {
                tracing::warn!(
                    "the changed config file is invalid, the previous config stays in use: {reason}"
                );
                *problem = Some(reason.clone());
                Err(ReloadError::Unusable(reason))
            }
        }
    }

    /// Changes the config file and reloads it.
    pub async fn edit_config(
        &self,
        change: impl FnOnce(&mut Edit) -> Result<(), ConfigError>,
    ) -> Result<(), ReloadError> {
        let watching = self.watching.get().ok_or(ReloadError::NoFile)?;
        let _turn = watching.turn.lock().await;
        let edited = watching.source.edit(change);
        edited.map_err(|error| ReloadError::Unusable(with_hint(&error)))?;
        self.read_again(watching).await.map(|_| ())
    }

    /// Whether there is a config file that is read again when it changes.
    pub(crate) fn config_is_known(&self) -> bool {
        self.watching.get().is_some()
    }

    /// What is wrong with the config file, if the settings in force are older than it.
    pub fn config_problem(&self) -> Option<String> {
        let problem = &self.watching.get()?.problem;
        problem.lock().clone()
    }

    async fn take_over(&self, source: &Source) -> Result<Vec<&'static str>, String> {
        let loaded = source.load().map_err(|error| with_hint(&error))?;
        let (settings, waiting) = in_force(&self.settings(), loaded.settings);
        let applied = self.apply(settings).await;
        applied.map_err(|error| error.to_string()).map(|()| waiting)
    }
}

async fn poll_files(host: Weak<Host>) {
    // Editors truncate a file before they write it: a changed file is read once it stays unchanged.
    let mut is_being_written = false;
    loop {
        tokio::time::sleep(if is_being_written { DEBOUNCE } else { PERIOD }).await;
        let Some(host) = host.upgrade() else {
            return;
        };
        let watching = host.watching.get();
        let is_changed = watching.is_some_and(|watching| watching.source.changed());
        if is_being_written && !is_changed {
            // It reports problems itself.
            let _ = host.reload().await;
        }
        is_being_written = is_changed;
        if !is_being_written {
            host.refresh_components().await;
        }
    }
}

fn poll_tokens(host: &Weak<Host>) {
    let mut known = HashSet::new();
    loop {
        let Some(host) = host.upgrade() else {
            return;
        };
        match host.tokens().revoked() {
            Ok(revoked) if revoked != known => {
                known.clone_from(&revoked);
                host.set_revoked(revoked);
            }
            Ok(_) => {}
            Err(error) => tracing::warn!("revoked tokens cannot be looked up: {error}"),
        }
        drop(host);
        std::thread::sleep(PERIOD);
    }
}

fn with_hint(error: &ConfigError) -> String {
    match error.hint() {
        Some(hint) => format!("{error} ({hint})"),
        None => error.to_string(),
    }
}
