//! Settings that change while Notehost runs. A file that cannot be used leaves everything as it is, and that is told:
//! in the log, and to whoever asks.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use super::Host;
use crate::config::{ConfigError, Edit, Source, in_force};

/// How often the file is looked at.
const PERIOD: Duration = Duration::from_secs(1);

/// The file that is watched, and what is wrong with it.
pub(super) struct Watching {
    source: Source,
    problem: Mutex<Option<String>>,
    /// One after the other: the file's last state must be the one that holds.
    turn: tokio::sync::Mutex<()>,
}

/// Why other settings are not in force.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReloadError {
    /// There is no file to read them from.
    #[error("there is no config file to read again")]
    NoFile,
    /// The file cannot be used.
    #[error("{0}")]
    Unusable(String),
}

impl Host {
    /// Put what the config file says in force whenever it changes.
    pub fn watch(self: &Arc<Self>, source: Source) {
        let watching = Watching {
            source,
            problem: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        };
        if self.watching.set(watching).is_err() {
            return;
        }
        tokio::spawn(keep_looking(Arc::downgrade(self)));
    }

    /// Put what the config file says now in force. Returns the keys that changed and wait for a restart.
    pub async fn reload(&self) -> Result<Vec<&'static str>, ReloadError> {
        let watching = self.watching.get().ok_or(ReloadError::NoFile)?;
        let _turn = watching.turn.lock().await;
        self.read_again(watching).await
    }

    async fn read_again(&self, watching: &Watching) -> Result<Vec<&'static str>, ReloadError> {
        // A change after this moment is met at the next look.
        watching.source.changed();
        let outcome = self.take_over(&watching.source).await;
        let mut problem = watching
            .problem
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match outcome {
            Ok(waiting) => {
                *problem = None;
                tracing::info!("the config file was read again");
                if !waiting.is_empty() {
                    tracing::warn!("waits for a restart: {}", waiting.join(", "));
                }
                Ok(waiting)
            }
            Err(told) => {
                tracing::warn!(
                    "the config file changed and cannot be used, so nothing changed: {told}"
                );
                *problem = Some(told.clone());
                Err(ReloadError::Unusable(told))
            }
        }
    }

    /// Change the config file, and put what it says then in force.
    pub async fn edit_config(
        &self,
        change: impl FnOnce(&mut Edit) -> Result<(), ConfigError>,
    ) -> Result<(), ReloadError> {
        let watching = self.watching.get().ok_or(ReloadError::NoFile)?;
        let _turn = watching.turn.lock().await;
        let edited = watching.source.edit(change);
        edited.map_err(|error| ReloadError::Unusable(sentence(&error)))?;
        self.read_again(watching).await.map(|_| ())
    }

    /// What is wrong with the config file, if the settings in force are older than it.
    pub fn config_problem(&self) -> Option<String> {
        let problem = &self.watching.get()?.problem;
        problem
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    async fn take_over(&self, source: &Source) -> Result<Vec<&'static str>, String> {
        let loaded = source.load().map_err(|error| sentence(&error))?;
        let (settings, waiting) = in_force(&self.settings(), loaded.settings);
        let applied = self.apply(settings).await;
        applied.map_err(|error| error.to_string()).map(|()| waiting)
    }
}

async fn keep_looking(host: Weak<Host>) {
    loop {
        tokio::time::sleep(PERIOD).await;
        let Some(host) = host.upgrade() else {
            return;
        };
        if host
            .watching
            .get()
            .is_some_and(|watching| watching.source.changed())
        {
            // It is told in there.
            let _ = host.reload().await;
        }
    }
}

fn sentence(error: &ConfigError) -> String {
    match error.hint() {
        Some(hint) => format!("{error} ({hint})"),
        None => error.to_string(),
    }
}
