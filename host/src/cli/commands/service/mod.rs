//! `notehost service`: a long-lived server for this user, as a systemd user unit or a launchd agent. `definition` has the
//! text of the file, `manager` asks the service manager to start and stop it.
//!
//! The file contains only the command line: tokens and secrets stay in the state folder and in the config.

mod definition;
mod manager;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::json;

use self::definition::{Definition, is_ours};
use self::manager::{Manager, ManagerError};
use crate::cli::commands::serve;
use crate::cli::options::{self, ServeFlags};
use crate::cli::ui::failure::Failure;
use crate::cli::ui::output::print_json;
use crate::cli::ui::terminal::Terminal;
use notehost_config::{AuthMode, DEFAULT_ADDRESS, Loaded, LogFormat, Origin, Overrides};
use notehost_platform::private;

/// The maximum size of a service file that is read.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// How long a server has to fail at its start.
const START_TIME: Duration = Duration::from_millis(700);

/// Install, show and remove a long-lived server for this user.
///
/// The service serves over HTTP and starts at login. It is a systemd user unit on Linux and a launchd agent on macOS.
#[derive(Debug, Args)]
pub(crate) struct Service {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write the service file and start the server, now and at every login
    Install(Install),
    /// Show whether the service is installed and running
    Status(Status),
    /// Stop the server and remove the service file
    Uninstall(Uninstall),
}

#[derive(Debug, Args)]
struct Install {
    #[command(flatten)]
    serving: ServeFlags,
    /// The service manager [the one of this system]
    #[arg(long, value_name = "NAME")]
    manager: Option<Manager>,
    /// Print the service file, write nothing
    #[arg(long)]
    print: bool,
    /// Write the service file without starting the server
    #[arg(long, conflicts_with = "print")]
    no_start: bool,
}

#[derive(Debug, Args)]
struct Status {
    /// Print JSON even on a terminal
    #[arg(long)]
    json_output: bool,
}

#[derive(Debug, Args)]
struct Uninstall {}

impl Service {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        match self.command {
            Command::Install(command) => command.run(),
            Command::Status(command) => command.run(),
            Command::Uninstall(_) => uninstall(),
        }
    }
}

impl Install {
    fn run(self) -> Result<ExitCode, Failure> {
        let manager = match self.manager {
            Some(manager) if self.print => manager,
            Some(manager) if Manager::of_system() != Some(manager) => {
                return Err(Failure::usage(format!(
                    "this system does not use {}",
                    manager.as_str()
                ))
                .with_hint("with `--print` its service file is printed"));
            }
            _ => this_manager()?,
        };
        let mut given = self.serving.given();
        given.http = given.http.or(Some(DEFAULT_ADDRESS));
        let loaded = options::load(given.clone())?;
        serve::check(&loaded)?;
        let definition = Definition {
            program: program()?,
            words: words(&given, &loaded)?,
            log: manager.log_file()?,
        };
        let text = definition.text(manager)?;
        if self.print {
            Terminal::stdout().print(&text);
            return Ok(ExitCode::SUCCESS);
        }
        let file = manager.file()?;
        let terminal = Terminal::stderr();
        let shown = file.display();
        let is_same = match installed(&file)? {
            Some(before) if !is_ours(&before) => return Err(foreign(&file)),
            before => before.as_deref() == Some(text.as_str()),
        };
        if is_same {
            terminal.print(&format!("{shown} is up to date\n"));
        } else {
            let folder = file.parent().unwrap_or(Path::new("."));
            private::create_missing(folder)
                .and_then(|()| private::replace_file(&file, text.as_bytes()))
                .map_err(|error| Failure::call(format!("cannot write `{shown}`: {error}")))?;
            terminal.print(&format!("{shown} was written\n"));
        }
        warn_of_variables(&terminal, &loaded);
        if self.no_start {
            terminal.print(&format!("start it: {}\n", manager.start_command(&file)));
            return Ok(ExitCode::SUCCESS);
        }
        manager
            .start(&file, is_same)
            .map_err(|error| not_started(manager, &file, &error))?;
        // A server that ends at once was started as well.
        std::thread::sleep(START_TIME);
        match manager.state() {
            Ok(state) if manager.is_running(&state) => {}
            Ok(state) => return Err(not_running(manager, &state)),
            Err(error) => return Err(not_started(manager, &file, &error)),
        }
        let address = loaded.running.http.unwrap_or(DEFAULT_ADDRESS);
        let scheme = match loaded.settings.http.tls_cert {
            Some(_) => "https",
            None => "http",
        };
        terminal.print(&format!(
            "the server is started, now and at every login: {scheme}://{address}/mcp\n\
             its log: {}\nconnect a client: notehost connect CLIENT --http {scheme}://{address}/mcp\n",
            manager.log_command()
        ));
        Ok(ExitCode::SUCCESS)
    }
}

/// The path of this program.
fn program() -> Result<String, Failure> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::start(format!("cannot find the path of this program: {error}"))
    })?;
    utf8(program)
}

/// The arguments of the server. It has neither this working directory nor these variables: what they set is written out.
fn words(given: &Overrides, loaded: &Loaded) -> Result<Vec<String>, Failure> {
    let mut words = vec!["serve".to_owned()];
    let is_given = |key: &str| matches!(loaded.origin(key), Origin::Flag(_) | Origin::Variable(_));
    let settings = &loaded.settings;
    if is_given("vaults") {
        let vault = &settings.vaults[0];
        words.push(match &given.vault {
            Some(named) if *named == Path::new(&vault.id) => vault.id.clone(),
            _ => absolute(&vault.path)?,
        });
    }
    let mut flag = |name: &str, value: String| words.extend([name.to_owned(), value]);
    if let Some(file) = &loaded.file {
        flag("--config", absolute(file)?);
    }
    flag("--state", absolute(&loaded.running.state)?);
    let address = loaded.running.http.unwrap_or(DEFAULT_ADDRESS);
    flag("--http", address.to_string());
    if is_given("permissions.default") {
        flag("--allow", settings.permissions.default.to_string());
    }
    if is_given("tool_surface") {
        flag("--surface", settings.surface.as_str().to_owned());
    }
    if let Some(log) = &loaded.running.log {
        flag("--log", log.clone());
    }
    if loaded.running.log_format == LogFormat::Json {
        flag("--log-format", "json".to_owned());
    }
    for (name, is_on) in [
        (
            "--no-auth",
            is_given("auth.mode") && settings.auth.mode == AuthMode::None,
        ),
        ("--require-signed", given.require_signed),
    ] {
        words.extend(is_on.then(|| name.to_owned()));
    }
    Ok(words)
}

fn absolute(path: &Path) -> Result<String, Failure> {
    let path = std::path::absolute(path)
        .map_err(|error| Failure::usage(format!("`{}`: {error}", path.display())))?;
    utf8(path)
}

fn utf8(path: PathBuf) -> Result<String, Failure> {
    path.into_os_string().into_string().map_err(|path| {
        Failure::usage(format!(
            "`{}` is not UTF-8 and cannot be written to a service file",
            path.display()
        ))
    })
}

/// A secret in a variable is not written to the file, and the service does not have the variable.
fn warn_of_variables(terminal: &Terminal, loaded: &Loaded) {
    if let Some(name) = &loaded.settings.auth.jwt.secret_env {
        terminal.print(&terminal.warning(&format!(
            "the service does not have the variable {name} of `auth.jwt.secret_env`: use `auth.jwt.secret_file`\n"
        )));
    }
}

fn this_manager() -> Result<Manager, Failure> {
    Manager::of_system().ok_or_else(|| {
        Failure::start("services are supported with systemd (Linux) and launchd (macOS) only")
            .with_hint("start the server by other means: `notehost serve --http`")
    })
}

/// The text of an installed service file. Anything but a plain file, such as a link to it, is somebody else's.
fn installed(file: &Path) -> Result<Option<String>, Failure> {
    let unreadable =
        |error: io::Error| Failure::call(format!("cannot read `{}`: {error}", file.display()));
    match fs::symlink_metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(error)),
        Ok(found) if !found.is_file() || found.len() > MAX_FILE_BYTES => Err(foreign(file)),
        Ok(_) => {
            let bytes = fs::read(file).map_err(unreadable)?;
            Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
        }
    }
}

fn foreign(file: &Path) -> Failure {
    Failure::call(format!(
        "`{}` was not written by `notehost service install`; it is left as it is",
        file.display()
    ))
    .with_hint("move it away first; `notehost service install --print` shows the file that would be written")
}

fn not_started(manager: Manager, file: &Path, error: &ManagerError) -> Failure {
    Failure::call(format!(
        "the service is installed, but the server was not started: {error}"
    ))
    .with_hint(format!("start it later: {}", manager.start_command(file)))
}

fn not_running(manager: Manager, state: &str) -> Failure {
    Failure::call(format!(
        "the service is installed, but the server does not keep running: {state}"
    ))
    .with_hint(format!("its log has the reason: {}", manager.log_command()))
}

impl Status {
    fn run(self) -> Result<ExitCode, Failure> {
        let manager = this_manager()?;
        let file = manager.file()?;
        let text = installed(&file)?;
        let command = text
            .as_deref()
            .and_then(|text| definition::command(manager, text));
        let is_ours = text.as_deref().is_some_and(is_ours);
        let state = match &text {
            Some(_) => manager.state(),
            None => Ok("not installed".to_owned()),
        };
        let terminal = Terminal::stdout();
        if self.json_output || !terminal.is_terminal() {
            print_json(
                &terminal,
                json!({
                    "installed": text.is_some(),
                    "file": file.display().to_string(),
                    "manager": manager.as_str(),
                    "own": is_ours,
                    "command": command,
                    "state": state.as_deref().ok(),
                    "problem": state.as_ref().err().map(ToString::to_string),
                }),
            );
        } else {
            let state = match &state {
                Ok(state) => state.clone(),
                Err(error) => format!("unknown: {error}"),
            };
            let mut lines = format!("{}: {state}\n", file.display());
            if let Some(command) = command {
                lines.push_str(&format!("runs {command}\n"));
            }
            if text.is_some() && !is_ours {
                lines.push_str("it was not written by `notehost service install`\n");
            }
            terminal.print(&terminal.safe(&lines));
        }
        Ok(ExitCode::from(u8::from(text.is_none())))
    }
}

fn uninstall() -> Result<ExitCode, Failure> {
    let manager = this_manager()?;
    let file = manager.file()?;
    let terminal = Terminal::stderr();
    let shown = file.display();
    match installed(&file)? {
        None => {
            terminal.print(&format!(
                "no service is installed: `{shown}` does not exist\n"
            ));
            return Ok(ExitCode::SUCCESS);
        }
        Some(text) if !is_ours(&text) => return Err(foreign(&file)),
        Some(_) => {}
    }
    // A file that is removed first could not be stopped by its name.
    let stopped = manager.stop();
    fs::remove_file(&file)
        .map_err(|error| Failure::call(format!("cannot remove `{shown}`: {error}")))?;
    manager.forget();
    terminal.print(&format!("{shown} was removed\n"));
    stopped.map_err(|error| {
        Failure::call(format!(
            "the service file was removed, but the server may still run: {error}"
        ))
    })?;
    Ok(ExitCode::SUCCESS)
}
