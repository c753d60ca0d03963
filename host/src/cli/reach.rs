//! How a command reaches the vaults of its settings: it holds them itself, or it is connected to the process that does.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use notehost_client::Client;
use notehost_config::{Loaded, Settings};
use notehost_pipeline::{Host, StartError};
use notehost_platform::local_socket::LocalStream;
use notehost_platform::random;
use notehost_relay::{Hello, Role, Welcome, connect};
use notehost_vault::holder;
use tokio::runtime::Handle;

use crate::cli::ui::failure::Failure;

/// How long a command waits for a process that holds a vault and does not listen: one that starts or stops, or a command
/// that takes long.
const HOLDER_TIMEOUT: Duration = Duration::from_secs(30);
/// The same if that process has another state folder: it listens somewhere else, so only its end helps.
const FOREIGN_HOLDER_TIMEOUT: Duration = Duration::from_secs(1);
/// The longest pause between two attempts; the first is the shortest. Random, so that several programs that wait do not
/// try at the same time.
const MAX_PAUSE: Duration = Duration::from_millis(120);
const MIN_PAUSE: Duration = Duration::from_millis(4);

/// The process that a command works with.
pub(crate) enum Reached {
    /// This one.
    Here(Arc<Host>),
    /// Another one.
    There(LocalStream, Box<Welcome>),
}

/// Looks for the process that holds the vaults.
pub(crate) struct Search<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) state: &'a Path,
    pub(crate) hello: &'a Hello,
    /// Where a host runs, if there will be one.
    pub(crate) pool: Handle,
}

impl Search<'_> {
    /// Connects to the process that holds the vaults; if there is none, this one becomes it.
    pub(crate) async fn reach(&self) -> Result<Reached, Failure> {
        let began = Instant::now();
        let mut pause = MIN_PAUSE;
        loop {
            match connect(self.state, self.hello).await {
                Ok(Some(Ok((stream, welcome)))) => {
                    return Ok(Reached::There(stream, Box::new(welcome)));
                }
                Ok(Some(Err(refusal))) => {
                    return Err(Failure::start(refusal.message).with_hint(refusal.hint));
                }
                Ok(None) => {}
                Err(error) => tracing::debug!("the local socket cannot be used: {error}"),
            }
            let held = match self.held() {
                Some(held) => held,
                None => match self.start().await {
                    Ok(host) => return Ok(Reached::Here(host)),
                    Err(error) if error.is_held() => {
                        let hint = error.hint().unwrap_or_default();
                        (error.to_string(), hint)
                    }
                    Err(error) => return Err(error.into()),
                },
            };
            let is_elsewhere = held.0.contains("another state folder");
            let timeout = match is_elsewhere {
                true => FOREIGN_HOLDER_TIMEOUT,
                false => HOLDER_TIMEOUT,
            };
            if began.elapsed() > timeout {
                return Err(Failure::start(held.0).with_hint(held.1));
            }
            tokio::time::sleep(random_part(pause)).await;
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    /// Who holds one of the vaults, seen without trying to hold it.
    fn held(&self) -> Option<(String, String)> {
        let holders = self.settings.vaults.iter();
        let mut holders =
            holders.filter_map(|vault| holder(&vault.id, &vault.path, self.state).ok()?);
        let holder = holders.next()?;
        let holder = match holder.split_once(' ') {
            Some((process, program)) if !process.ends_with(',') => {
                format!("{process} (`{program}`)")
            }
            _ => holder,
        };
        Some((
            format!("the vault is already served by process {holder}"),
            "that process does not accept other programs: stop it, or use its state folder (`--state DIR`)".to_owned(),
        ))
    }

    async fn start(&self) -> Result<Arc<Host>, StartError> {
        let (settings, state) = (self.settings.clone(), self.state.to_owned());
        let starting = self
            .pool
            .spawn(async move { Host::start(settings, &state).await });
        match starting.await {
            Ok(started) => started,
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        }
    }
}

fn random_part(pause: Duration) -> Duration {
    let byte = random::bytes::<1>().map_or(255, |[byte]| byte);
    pause.mul_f64(0.5 + f64::from(byte) / 510.0)
}

/// A new session's line for these settings. A vault that cannot be opened is reported by a host, with a better reason.
pub(crate) async fn hello(role: Role, loaded: &Loaded) -> Result<Hello, Failure> {
    let session = random::id(26).map_err(|error| Failure::start(error.to_string()))?;
    match Hello::new(role, &session, &loaded.settings) {
        Ok(hello) => Ok(hello),
        Err(error) => {
            Host::start(loaded.settings.clone(), &loaded.running.state).await?;
            Err(Failure::start(format!("a vault cannot be opened: {error}")))
        }
    }
}

/// Reaches the vaults for a command: a host of this process, or a client of another one.
pub(crate) async fn for_command(
    loaded: &Loaded,
    caller: Option<&str>,
) -> Result<Result<Arc<Host>, Client>, Failure> {
    let caller = caller.map(str::to_owned);
    let hello = hello(Role::CommandLine { caller }, loaded).await?;
    let search = Search {
        settings: &loaded.settings,
        state: &loaded.running.state,
        hello: &hello,
        pool: Handle::current(),
    };
    match search.reach().await? {
        Reached::Here(host) => Ok(Ok(host)),
        Reached::There(stream, welcome) => {
            for note in &welcome.notes {
                tracing::debug!("{note}");
            }
            Ok(Err(Client::local(stream, welcome.compatibility.process)?))
        }
    }
}
