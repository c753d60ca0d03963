//! `notehost serve` on a vault that another process holds: relays its client's session there. If that process ends, this one
//! connects to the next, or takes its place: with its own settings, and without its client noticing.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use notehost_config::{Loaded, SessionSettings, Settings, Source};
use notehost_pipeline::Host;
use notehost_platform::local_socket::{Detached, LocalStream};
use notehost_relay::{Connect, Connection, Hello, RelayError, SettingsUpdate, Welcome, relay};
use notehost_transport::{LocalSessions, stdio_streams, stop_requested};
use tokio::runtime::{Builder, Handle};
use tokio::sync::mpsc;

use crate::cli::reach::{Reached, Search};
use crate::cli::ui::failure::Failure;

/// How long requests may take after the client has closed its input.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(60);
/// How often the config file is checked for changes.
const WATCH_PERIOD: Duration = Duration::from_millis(200);
/// How long running work of the thread may take to end.
const CLOSE_GRACE: Duration = Duration::from_secs(1);

/// What this process serves once it has taken over.
struct Held {
    host: Arc<Host>,
    sessions: LocalSessions,
}

/// Finds the holder again and again; becomes it if there is none.
struct Connector {
    loaded: Loaded,
    source: Option<Source>,
    hello: Hello,
    state: PathBuf,
    pool: Handle,
    /// The first connection.
    first: Option<(Detached, Welcome)>,
    /// The holder's ids of the vaults, by those of this process.
    vault_ids: BTreeMap<String, String>,
    held: Option<Held>,
}

/// Relays the session of the client on stdio, beginning with this connection.
pub(super) async fn serve(
    loaded: Loaded,
    hello: Hello,
    first: (LocalStream, Welcome),
    parent_pid: Option<u32>,
) -> Result<(), Failure> {
    let (stream, welcome) = first;
    for note in &welcome.notes {
        tracing::warn!("{note}");
    }
    tracing::info!(
        "process {} holds the vault: this process relays to it",
        welcome.compatibility.process
    );
    let broken = |error: std::io::Error| Failure::start(format!("relaying failed: {error}"));
    let pool = Handle::current();
    let (sender, updates) = mpsc::channel(1);
    if let Some(source) = loaded.source() {
        pool.spawn(send_changes(source, hello.session.clone(), sender));
    }
    let connector = Connector {
        source: loaded.source(),
        state: loaded.running.state.clone(),
        loaded,
        hello,
        pool: pool.clone(),
        vault_ids: welcome.vaults.clone(),
        first: Some((Detached::of(stream).map_err(broken)?, welcome)),
        held: None,
    };
    // On a thread of its own: passing lines between threads only adds wake-ups.
    let relaying = tokio::task::spawn_blocking(move || {
        let thread = Builder::new_current_thread().enable_all().build();
        let mut connector = connector;
        let thread = match thread {
            Ok(thread) => thread,
            Err(error) => return (Err(RelayError::Io(error)), None),
        };
        let relayed = thread.block_on(async {
            let stop = stop_requested(parent_pid)?;
            let (input, output) = stdio_streams();
            let stopped = stop.cancelled();
            relay(
                input,
                output,
                stopped,
                updates,
                SHUTDOWN_GRACE,
                &mut connector,
            )
            .await
        });
        thread.shutdown_timeout(CLOSE_GRACE);
        (relayed, connector.held)
    });
    let (relayed, held) = relaying
        .await
        .map_err(|error| Failure::start(error.to_string()))?;
    // However it ended: what this process took over is handed over.
    if let Some(held) = held {
        held.sessions.close().await;
        held.host.audit().flush();
        held.host.component_logs().flush();
    }
    match relayed {
        Ok(()) => Ok(()),
        Err(RelayError::NoHolder { message, hint }) => {
            Err(Failure::start(message).with_any_hint(hint))
        }
        Err(error) => Err(Failure::start(error.to_string())),
    }
}

/// Sends the settings of the session whenever the config file changes.
async fn send_changes(source: Source, session: String, sender: mpsc::Sender<Vec<u8>>) {
    let mut is_being_written = false;
    loop {
        tokio::time::sleep(WATCH_PERIOD).await;
        let is_changed = source.changed();
        if is_being_written && !is_changed {
            match source.load() {
                Ok(loaded) => {
                    let update = SettingsUpdate {
                        session: session.clone(),
                        settings: SessionSettings::of(&loaded.settings),
                    };
                    if sender.send(update.to_line()).await.is_err() {
                        return;
                    }
                }
                Err(error) => tracing::warn!(
                    "the changed config file is invalid, the previous config stays in use: {error}"
                ),
            }
        }
        is_being_written = is_changed;
    }
}

impl Connector {
    /// The settings as the config file has them now.
    fn settings(&self) -> Settings {
        let loaded = self.source.as_ref().and_then(|source| source.load().ok());
        loaded.map_or_else(|| self.loaded.settings.clone(), |loaded| loaded.settings)
    }

    async fn find(&mut self) -> Result<(Detached, Welcome), Failure> {
        loop {
            let own = self.settings();
            self.hello.settings = SessionSettings::of(&own);
            let adopted = with_vault_ids(own, &self.vault_ids);
            let search = Search {
                settings: &adopted,
                state: &self.state,
                hello: &self.hello,
                pool: self.pool.clone(),
            };
            match search.reach().await? {
                Reached::There(stream, welcome) => {
                    let stream =
                        Detached::of(stream).map_err(|error| Failure::start(error.to_string()))?;
                    return Ok((stream, *welcome));
                }
                Reached::Here(host) => self.take_over(host).await?,
            }
        }
    }

    /// Serves the vaults from now on. Its own client comes over the local socket as all others do.
    async fn take_over(&mut self, host: Arc<Host>) -> Result<(), Failure> {
        tracing::info!("the process that served the vault has ended: this one takes over");
        let source = self.loaded.source();
        let starting = self.pool.spawn(async move {
            super::start(&host, source);
            LocalSessions::listen(&host).map(|sessions| Held { host, sessions })
        });
        let held = starting
            .await
            .map_err(|error| Failure::start(error.to_string()))?;
        let held = held.map_err(|error| {
            Failure::start(format!("cannot listen for other programs: {error}"))
        })?;
        self.held = Some(held);
        Ok(())
    }
}

impl Connect for Connector {
    async fn connect(&mut self) -> Result<Connection, RelayError> {
        let found = match self.first.take() {
            Some(first) => Ok(first),
            None => self.find().await,
        };
        let (stream, welcome) = found.map_err(|failure| RelayError::NoHolder {
            message: failure.message().to_owned(),
            hint: failure.hint().map(str::to_owned),
        })?;
        self.vault_ids = welcome.vaults;
        let (input, output) = stream.attach()?;
        Ok(Connection { input, output })
    }
}

/// The settings under the ids that the last holder gave the vaults: its history, which shows what calls did, is kept by id.
fn with_vault_ids(mut settings: Settings, ids: &BTreeMap<String, String>) -> Settings {
    let renamed = |id: &String| ids.get(id).unwrap_or(id).clone();
    for vault in &mut settings.vaults {
        vault.id = renamed(&vault.id);
    }
    for caller in settings.callers.values_mut() {
        for id in caller.vaults.iter_mut().flatten() {
            *id = renamed(id);
        }
    }
    settings
}
