//! The flags that several commands take.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use crate::cli::ui::failure::Failure;
use crate::cli::ui::terminal::Terminal;
use notehost_config::{
    self as config, Confirm, Loaded, LogFormat, Overrides, Surface, parse_address,
};
use notehost_pipeline::registry::{Registry, Snapshot};
use notehost_runtime::{LoadError, Runtime};
use notehost_vault::Tier;

/// The flag of every command that prints a table or JSON.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct OutputFlags {
    /// Print JSON even on a terminal
    #[arg(long)]
    json_output: bool,
}

impl OutputFlags {
    /// Whether the output is JSON: requested, or not for a person.
    pub(crate) fn is_json(self, terminal: &Terminal) -> bool {
        self.json_output || !terminal.is_terminal()
    }
}

/// Flags of every command that reads the settings.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Common {
    /// The config file, instead of the platform's default
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The state folder: index, compiled code, history
    #[arg(long, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
    /// The log level on stderr: error, warn, info, debug, trace, or a filter such as `notehost::vault=debug`
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log: Option<String>,
    /// The log format
    #[arg(long, value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
}

impl Common {
    /// Whether a flag names a config file or state folder of this machine.
    pub(crate) fn is_named(&self) -> bool {
        self.config.is_some() || self.state.is_some()
    }

    /// The settings of these flags.
    pub(crate) fn given(self) -> Overrides {
        Overrides {
            config: self.config,
            state: self.state,
            log: self.log,
            log_format: self.log_format,
            ..Overrides::default()
        }
    }
}

/// The flags that select what is served and how.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ServeFlags {
    /// The folder of notes, or the id of a configured vault
    pub(crate) vault: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Serve over HTTP instead of stdio [without ADDR: 127.0.0.1:8765]
    #[arg(
        long,
        value_name = "ADDR",
        num_args = 0..=1,
        default_missing_value = "127.0.0.1:8765",
        value_parser = http_address
    )]
    pub(crate) http: Option<SocketAddr>,
    /// With --http: serve the client on stdio too, and end with it
    #[arg(long)]
    pub(crate) stdio: bool,
    /// Serve over HTTP without authentication, only on loopback: every user and container of this machine is a caller
    #[arg(long)]
    pub(crate) no_auth: bool,
    /// What clients may do in notebooks not listed in the config: none, r, rw or rwd; a `default` of a vault or a caller in the
    /// config overrides it
    #[arg(long, value_name = "TIER")]
    pub(crate) allow: Option<Tier>,
    /// How the tools are presented to a client
    #[arg(long, value_name = "S")]
    pub(crate) surface: Option<Surface>,
    /// When a change needs confirmation by a person
    #[arg(long, value_name = "WHEN")]
    pub(crate) confirm: Option<Confirm>,
    /// Accept only built-in components and components signed by a trusted publisher
    #[arg(long)]
    pub(crate) require_signed: bool,
}

impl ServeFlags {
    /// The settings of these flags.
    pub(crate) fn given(self) -> Overrides {
        Overrides {
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

/// Loads the settings from flags, the environment and the config file.
pub(crate) fn load(given: Overrides) -> Result<Loaded, Failure> {
    let loaded = config::load(given, &|name| std::env::var_os(name))?;
    // Before anything is created there: a folder with other files is refused.
    notehost_records::state_folder::check_state(&loaded.running.state)
        .map_err(|error| Failure::start(error.to_string()))?;
    Ok(loaded)
}

fn http_address(text: &str) -> Result<SocketAddr, String> {
    parse_address(text).map_err(|problem| {
        if text.contains(['/', '\\', '~']) {
            // `--http` takes the next word as its value.
            format!(
                "{problem}; put the folder before `--http`, or write `--http={}`",
                config::DEFAULT_ADDRESS
            )
        } else {
            problem
        }
    })
}

/// Runs a future to completion.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::start(format!("cannot start threads: {error}")))?;
    let outcome = runtime.block_on(work);
    // A commit in progress may finish; a thread that reads from a terminal would never return.
    runtime.shutdown_timeout(Duration::from_secs(1));
    Ok(outcome)
}

/// Loads every component, without a vault: enough to describe their actions.
pub(crate) async fn load_components(loaded: &Loaded) -> Result<Arc<Snapshot>, LoadError> {
    let state = &loaded.running.state;
    let runtime = Runtime::new(&loaded.settings.sandbox_limits(), &state.join("compiled"))?;
    Ok(Registry::load(&loaded.settings, &runtime, state)
        .await
        .snapshot())
}
