//! `notehost component dev`: builds a project, loads it into a server, and rebuilds it on every change. A failed
//! build changes nothing: the previous version stays loaded.
//!
//! Two targets: its own server, on sample notes or a given folder, where a typed line is a call; or a
//! running server, through the component store that it watches.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::dev_server::{LoadedBuild, OwnServer, RunningServer, Target};
use super::project::Project;
use super::prompt;
use super::watch::Watch;
use crate::cli::commands::serve::demo::Demo;
use crate::cli::logging;
use crate::cli::options::{self, Common};
use crate::cli::ui::failure::Failure;
use crate::cli::ui::terminal::Terminal;
use notehost_config::{Confirm, Loaded, Overrides};
use notehost_platform::{files, private};
use notehost_transport::{self as transport, ServeOptions};
use notehost_vault::Tier;

/// The default log filter: warnings and errors, and the logs of the component itself.
const DEFAULT_LOG: &str = "error,rmcp=off,notehost=warn,notehost::runtime=info";

/// Build a project, run it on notes, and rebuild it on every change.
///
/// It runs in its own server, on sample notes or on those of `--vault`; or it is loaded into the server that runs with
/// `--state` or `--config`. Ctrl-C ends it.
#[derive(Debug, Args)]
pub(super) struct Dev {
    /// The project's folder
    #[arg(default_value = ".")]
    project: PathBuf,
    /// Run it on the notes in this folder [sample notes]
    #[arg(long, value_name = "DIR", conflicts_with_all = ["state", "config"])]
    vault: Option<PathBuf>,
    /// The tier of those notes: none, r, rw or rwd
    #[arg(long, value_name = "TIER", requires = "vault")]
    allow: Option<Tier>,
    /// The address of its own server [any free port on loopback]
    #[arg(long, value_name = "ADDR", conflicts_with_all = ["state", "config"])]
    http: Option<SocketAddr>,
    /// Serve without authentication: every user and container of this machine is a caller
    #[arg(long, conflicts_with_all = ["state", "config"])]
    no_auth: bool,
    #[command(flatten)]
    common: Common,
}

impl Dev {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let project = Project::at(&self.project)?;
        if self.common.state.is_some() || self.common.config.is_some() {
            let loaded = options::load(self.common.given())?;
            logging::start(&loaded.running, DEFAULT_LOG)?;
            return options::block_on(in_running_server(project, loaded))?;
        }
        let address = self.http.unwrap_or((Ipv4Addr::LOCALHOST, 0).into());
        let demo = match self.vault {
            None => Some(Demo::make().map_err(|error| {
                Failure::start(format!("cannot create the sample notes: {error}"))
            })?),
            Some(_) => None,
        };
        let sample = demo.as_ref();
        if let Some(demo) = sample {
            let usual = Overrides {
                ignore_file: true,
                ..Overrides::default()
            };
            share_compiled_code(demo, &options::load(usual)?);
        }
        let loaded = options::load(Overrides {
            // It is isolated from the config of real notes.
            ignore_file: true,
            vault: self.vault.or_else(|| sample.map(Demo::notes)),
            state: sample.map(Demo::state),
            allow: self.allow.or(sample.map(|_| Tier::Delete)),
            confirm: sample.map(|_| Confirm::Never),
            no_auth: self.no_auth.then_some(true),
            ..self.common.given()
        })?;
        logging::start(&loaded.running, DEFAULT_LOG)?;
        loaded.check()?;
        options::block_on(in_own_server(project, loaded, address))?
    }
}

/// The sample notes are new each time; compiled code is reused.
fn share_compiled_code(demo: &Demo, usual: &Loaded) {
    let compiled = usual.running.state.join("compiled");
    // The cache checks the mode of the folder.
    let shared = private::create_missing(&compiled)
        .and_then(|()| private::create_folder(&demo.state()))
        .and_then(|()| files::link_folder(&compiled, &demo.state().join("compiled")));
    if let Err(error) = shared {
        tracing::debug!("compiled code is not shared: {error}");
    }
}

/// Serves and loads every build, until Ctrl-C.
async fn in_own_server(
    project: Project,
    loaded: Loaded,
    address: SocketAddr,
) -> Result<ExitCode, Failure> {
    let notes = loaded
        .settings
        .vaults
        .first()
        .map(|vault| vault.path.clone());
    let own = OwnServer::start(loaded).await?;
    let host = own.host().clone();
    host.start_indexes();
    let terminal = Terminal::stderr();
    terminal.print(&format!(
        "the notes are in {}\n",
        notes.unwrap_or_default().display()
    ));
    let options = ServeOptions {
        surface: host.settings().surface,
        parent_pid: None,
        ..ServeOptions::default()
    };
    let served = transport::serve_http(host.clone(), address, options);
    tokio::select! {
        // It ends on Ctrl-C, or if it cannot start.
        served = served => served?,
        failed = follow(project, Target::OwnServer(own)) => return Err(failed),
    }
    host.audit().flush();
    Ok(ExitCode::SUCCESS)
}

/// Hands every build to the running server, until Ctrl-C.
async fn in_running_server(project: Project, loaded: Loaded) -> Result<ExitCode, Failure> {
    let running = RunningServer::open(loaded)?;
    tokio::select! {
        _ = tokio::signal::ctrl_c() => Ok(ExitCode::SUCCESS),
        failed = follow(project, Target::RunningServer(Box::new(running))) => Err(failed),
    }
}

/// Builds now and on every change, and makes the typed calls. Only a failure that no change of the
/// sources can fix ends it.
async fn follow(project: Project, place: Target) -> Failure {
    let terminal = Terminal::stderr();
    let mut watch = match Watch::start(&project) {
        Ok(watch) => watch,
        Err(failure) => return failure,
    };
    let mut following = BuildLoop {
        terminal,
        project,
        place,
        current: None,
    };
    following.build().await;
    let mut lines = typed_lines();
    loop {
        tokio::select! {
            path = watch.next() => {
                let shown = path.strip_prefix(following.project.folder()).unwrap_or(&path);
                terminal.print(&terminal.faint(&format!("\n{} changed\n", shown.display())));
                following.build().await;
            }
            Some(line) = lines.recv() => following.handle_line(&line).await,
        }
    }
}

/// The lines typed on stdin.
fn typed_lines() -> UnboundedReceiver<String> {
    let (sender, lines) = unbounded_channel();
    // A separate thread, because reading from a terminal cannot be interrupted.
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

struct BuildLoop {
    terminal: Terminal,
    project: Project,
    place: Target,
    /// The loaded component, if any.
    current: Option<LoadedBuild>,
}

impl BuildLoop {
    /// Builds and loads the result; a failure is reported, and the previous build stays loaded.
    async fn build(&mut self) {
        let began = Instant::now();
        let taken = match self.project.build().await {
            Ok(file) => self.take(&file, began.elapsed()).await,
            Err(failure) => Err(failure),
        };
        if let Err(failure) = taken {
            failure.print(&self.terminal);
            let next = match &self.current {
                Some(LoadedBuild { description, .. }) => format!(
                    "`{}` {} is still loaded; waiting for a change\n",
                    description.name,
                    self.terminal.safe(&description.version)
                ),
                None => "waiting for a change\n".to_owned(),
            };
            self.terminal.print(&self.terminal.faint(&next));
        }
    }

    async fn take(&mut self, file: &Path, took: Duration) -> Result<(), Failure> {
        let Some(taken) = self.place.take(file, self.current.as_ref()).await? else {
            self.terminal.print("built; the component is unchanged\n");
            return Ok(());
        };
        self.report(&taken, took);
        self.current = Some(taken);
        Ok(())
    }

    /// Reports the loaded build and its differences.
    fn report(&self, taken: &LoadedBuild, took: Duration) {
        let terminal = &self.terminal;
        let mut text = format!(
            "{} `{}` {} ({}, {} KB) in {:.1} s\n",
            terminal.good("ready:"),
            taken.description.name,
            terminal.safe(&taken.description.version),
            self.project.language(),
            taken.inspected.size / 1000,
            took.as_secs_f64(),
        );
        match &taken.difference {
            None => text.push_str(&prompt::overview(terminal, &taken.description)),
            Some(difference) if difference.is_empty() => {
                text.push_str("  its description is unchanged\n");
            }
            Some(difference) => {
                for change in difference.changes() {
                    let words = terminal.safe(&change.words);
                    text.push_str(&match change.widens {
                        true => {
                            let mark = terminal.warning("! wider access:");
                            format!("  {mark} {words}\n")
                        }
                        false => format!("  {words}\n"),
                    });
                }
            }
        }
        for note in &taken.notes {
            text.push_str(&format!("  {note}\n"));
        }
        terminal.print(&text);
    }

    async fn handle_line(&mut self, line: &str) {
        let Some(LoadedBuild { description, .. }) = &self.current else {
            return self.terminal.print("nothing to call yet\n");
        };
        match &self.place {
            Target::OwnServer(own) => prompt::handle_line(own.host(), description, line).await,
            Target::RunningServer(_) => {
                let hint = format!(
                    "call it in the running server: `notehost call {} ACTION …`\n",
                    description.name
                );
                self.terminal.print(&hint);
            }
        }
    }
}
