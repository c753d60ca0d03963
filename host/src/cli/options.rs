//! The flags that several commands take.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use super::failure::Failure;
use notehost_config::{self as config, Confirm, Given, Loaded, LogFormat, Surface, parse_address};
use notehost_pipeline::registry::{Registry, Snapshot};
use notehost_runtime::{LoadError, Runtime};
use notehost_vault::Tier;

/// Flags of every command that reads the settings.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct Common {
    /// The config file, instead of the one in the platform's place
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// The folder for what this machine keeps: index, compiled code, history
    #[arg(long, value_name = "DIR")]
    pub(super) state: Option<PathBuf>,
    /// What is logged to stderr: error, warn, info, debug, trace, or a filter such as `notehost::vault=debug`
    #[arg(long, value_name = "LEVEL")]
    pub(super) log: Option<String>,
    /// How it is logged
    #[arg(long, value_name = "FORMAT")]
    pub(super) log_format: Option<LogFormat>,
}

impl Common {
    /// Whether a flag names settings or a state of this machine.
    pub(super) fn is_named(&self) -> bool {
        self.config.is_some() || self.state.is_some()
    }

    /// What these flags say, and nothing else.
    pub(super) fn given(self) -> Given {
        Given {
            config: self.config,
            state: self.state,
            log: self.log,
            log_format: self.log_format,
            ..Given::default()
        }
    }
}

/// Everything that decides what is served and how.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct Serving {
    /// The folder of notes, or the id of a configured vault
    pub(super) vault: Option<PathBuf>,
    #[command(flatten)]
    pub(super) common: Common,
    /// Serve over HTTP instead of stdio [without ADDR: 127.0.0.1:8765]
    #[arg(
        long,
        value_name = "ADDR",
        num_args = 0..=1,
        default_missing_value = "127.0.0.1:8765",
        value_parser = http_address
    )]
    pub(super) http: Option<SocketAddr>,
    /// Serve over HTTP without authentication, only on loopback: every user and container of this machine is a caller
    #[arg(long)]
    pub(super) no_auth: bool,
    /// What clients may do in notebooks that nothing names: none, r, rw or rwd
    #[arg(long, value_name = "TIER")]
    pub(super) allow: Option<Tier>,
    /// How the tools are presented to a client
    #[arg(long, value_name = "S")]
    pub(super) surface: Option<Surface>,
    /// When a person is asked before a change lands
    #[arg(long, value_name = "WHEN")]
    pub(super) confirm: Option<Confirm>,
    /// Take only components that a trusted publisher signed, besides those that came with Notehost
    #[arg(long)]
    pub(super) require_signed: bool,
}

impl Serving {
    /// What these flags say.
    pub(super) fn given(self) -> Given {
        Given {
            vault: self.vault,
            http: self.http,
            no_auth: self.no_auth.then_some(true),
            allow: self.allow,
            surface: self.surface,
            confirm: self.confirm,
            require_signed: self.require_signed,
            ..self.common.given()
        }
    }
}

/// The settings as flags, the environment and the config file say them.
pub(super) fn load(given: Given) -> Result<Loaded, Failure> {
    let loaded = config::load(given, &|name| std::env::var_os(name))?;
    // Before anything is created there: a folder with somebody else's files is refused.
    notehost_records::state_folder::check_state(&loaded.running.state)
        .map_err(|error| Failure::start(error.to_string()))?;
    Ok(loaded)
}

fn http_address(text: &str) -> Result<SocketAddr, String> {
    parse_address(text).map_err(|problem| {
        if text.contains(['/', '\\', '~']) {
            // `--http` takes what follows it.
            format!(
                "{problem}; write the folder before `--http`, or `--http={}`",
                config::DEFAULT_ADDRESS
            )
        } else {
            problem
        }
    })
}

/// Run something that waits.
pub(super) fn block_on<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::start(format!("cannot start threads: {error}")))?;
    let outcome = runtime.block_on(work);
    // A commit that is under way may end; a thread that waits for a terminal's input would never.
    runtime.shutdown_timeout(Duration::from_secs(1));
    Ok(outcome)
}

/// Every component, without a vault to use it on: enough to say what they can do.
pub(super) async fn load_components(loaded: &Loaded) -> Result<Arc<Snapshot>, LoadError> {
    let state = &loaded.running.state;
    let runtime = Runtime::new(&loaded.settings.sandbox_limits(), &state.join("compiled"))?;
    Ok(Registry::load(&loaded.settings, &runtime, state)
        .await
        .snapshot())
}
