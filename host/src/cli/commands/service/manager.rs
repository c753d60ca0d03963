//! The service manager of this user: where its files are, and its commands. Without a running one, as in containers and over
//! some ssh connections, nothing is started; that is an error with its own words.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use directories::BaseDirs;

use crate::cli::ui::failure::Failure;
use notehost_platform::process::user_id;
use notehost_platform::shell::quoted;

/// The label of the launchd agent.
pub(super) const LABEL: &str = "org.notehost.server";
/// The name of the systemd unit.
const UNIT: &str = "notehost.service";

/// A service manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Manager {
    /// A user unit of systemd
    Systemd,
    /// An agent of launchd
    Launchd,
}

/// Why the manager did not do what it was asked for.
#[derive(Debug)]
pub(super) enum ManagerError {
    /// Its program is not there.
    Missing(&'static str),
    /// Its program cannot be run.
    Unusable(&'static str, io::Error),
    /// It refused.
    Refused(String),
}

impl fmt::Display for ManagerError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ManagerError::Missing(program) => {
                write!(formatter, "`{program}` is not installed here")
            }
            ManagerError::Unusable(program, error) => write!(formatter, "`{program}`: {error}"),
            ManagerError::Refused(message) => formatter.write_str(message),
        }
    }
}

impl Manager {
    /// The manager of this system, if it has a supported one.
    pub(super) fn of_system() -> Option<Manager> {
        match std::env::consts::OS {
            "linux" => Some(Manager::Systemd),
            "macos" => Some(Manager::Launchd),
            _ => None,
        }
    }

    /// Its name.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Manager::Systemd => "systemd",
            Manager::Launchd => "launchd",
        }
    }

    /// The service file.
    pub(super) fn file(self) -> Result<PathBuf, Failure> {
        let folders = folders()?;
        Ok(match self {
            Manager::Systemd => folders.config_dir().join("systemd/user").join(UNIT),
            Manager::Launchd => {
                let agents = folders.home_dir().join("Library/LaunchAgents");
                agents.join(format!("{LABEL}.plist"))
            }
        })
    }

    /// Where the server's log goes; systemd has the journal.
    pub(super) fn log_file(self) -> Result<Option<String>, Failure> {
        match self {
            Manager::Systemd => Ok(None),
            Manager::Launchd => {
                let file = folders()?.home_dir().join("Library/Logs/notehost.log");
                super::utf8(file).map(Some)
            }
        }
    }

    /// The command that shows the log.
    pub(super) fn log_command(self) -> &'static str {
        match self {
            Manager::Systemd => "journalctl --user -u notehost",
            Manager::Launchd => "tail -f ~/Library/Logs/notehost.log",
        }
    }

    /// The command that starts the service, for people.
    pub(super) fn start_command(self, file: &Path) -> String {
        match self {
            Manager::Systemd => {
                format!("systemctl --user daemon-reload && systemctl --user enable --now {UNIT}")
            }
            Manager::Launchd => {
                let file = file.display().to_string();
                format!("launchctl bootstrap {} {}", domain(), quoted(&file))
            }
        }
    }

    /// Starts the service, now and at every login; one that runs with a changed file is restarted.
    pub(super) fn start(self, file: &Path, is_same: bool) -> Result<(), ManagerError> {
        match self {
            Manager::Systemd => {
                systemctl(&["daemon-reload"])?;
                systemctl(&["enable", "--now", UNIT])?;
                if !is_same {
                    systemctl(&["restart", UNIT])?;
                }
            }
            Manager::Launchd => {
                // An agent is loaded once; it is not an error that none is loaded yet.
                let _ = launchctl(&["bootout", &format!("{}/{LABEL}", domain())]);
                launchctl(&["bootstrap", &domain(), &file.display().to_string()])?;
            }
        }
        Ok(())
    }

    /// Stops the service and keeps it from starting again.
    pub(super) fn stop(self) -> Result<(), ManagerError> {
        let stopped = match self {
            Manager::Systemd => systemctl(&["disable", "--now", UNIT]),
            Manager::Launchd => launchctl(&["bootout", &format!("{}/{LABEL}", domain())]),
        };
        stopped.map(drop)
    }

    /// Lets the manager notice that the file is gone.
    pub(super) fn forget(self) {
        if self == Manager::Systemd {
            // Without a running manager there is nothing to notice.
            let _ = systemctl(&["daemon-reload"]);
        }
    }

    /// Whether the server runs in this state.
    pub(super) fn is_running(self, state: &str) -> bool {
        match self {
            Manager::Systemd => state.starts_with("active"),
            Manager::Launchd => state == "running",
        }
    }

    /// The state of the service in the manager's words.
    pub(super) fn state(self) -> Result<String, ManagerError> {
        match self {
            Manager::Systemd => {
                let shown = systemctl(&["show", "--property=ActiveState,UnitFileState", UNIT])?;
                let value = |key: &str| {
                    let line = shown.lines().find_map(|line| line.strip_prefix(key));
                    line.unwrap_or("unknown").to_owned()
                };
                Ok(format!(
                    "{}, {}",
                    value("ActiveState="),
                    value("UnitFileState=")
                ))
            }
            Manager::Launchd => {
                let shown = launchctl(&["print", &format!("{}/{LABEL}", domain())])?;
                let mut lines = shown.lines().map(str::trim);
                let state = lines.find_map(|line| line.strip_prefix("state = "));
                Ok(state.unwrap_or("loaded").to_owned())
            }
        }
    }
}

/// The launchd domain of this user's login.
fn domain() -> String {
    format!("gui/{}", user_id())
}

fn folders() -> Result<BaseDirs, Failure> {
    BaseDirs::new().ok_or_else(|| Failure::start("this user has no home folder"))
}

fn systemctl(words: &[&str]) -> Result<String, ManagerError> {
    ask("systemctl", &[&["--user"], words].concat())
}

fn launchctl(words: &[&str]) -> Result<String, ManagerError> {
    ask("launchctl", words)
}

/// Runs a command of the manager and returns what it prints.
fn ask(program: &'static str, words: &[&str]) -> Result<String, ManagerError> {
    let output = Command::new(program)
        .args(words)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => ManagerError::Missing(program),
            _ => ManagerError::Unusable(program, error),
        })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let reason: String = errors.trim().chars().take(500).collect();
    Err(ManagerError::Refused(format!(
        "`{program} {}` failed: {}",
        words.join(" "),
        match reason.as_str() {
            "" => "it states no reason",
            reason => reason,
        }
    )))
}
