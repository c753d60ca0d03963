//! The failure of a command: a message, a hint, and the exit code.

use std::io::Write;
use std::process::ExitCode;

use crate::cli::ui::terminal::Terminal;
use notehost_config::ConfigError;
use notehost_pipeline::StartError;
use notehost_runtime::LoadError;
use notehost_transport::TransportError;

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    message: String,
    hint: Option<String>,
}

impl Failure {
    /// The call failed.
    pub(crate) fn call(message: impl Into<String>) -> Failure {
        Failure::new(1, message)
    }

    /// The command line is invalid.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure::new(2, message)
    }

    /// The command could not start or connect.
    pub(crate) fn start(message: impl Into<String>) -> Failure {
        Failure::new(3, message)
    }

    fn new(code: u8, message: impl Into<String>) -> Failure {
        Failure {
            code,
            message: message.into(),
            hint: None,
        }
    }

    /// Adds a hint.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a hint, if there is one.
    pub(crate) fn with_any_hint(mut self, hint: Option<String>) -> Failure {
        self.hint = hint;
        self
    }

    /// What went wrong.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The hint.
    pub(crate) fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The exit code of the process.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }

    /// Prints the message and hint.
    pub(crate) fn print(&self, terminal: &Terminal) {
        let mut text = format!(
            "{} {}\n",
            terminal.bad("error:"),
            terminal.safe(&self.message)
        );
        if let Some(hint) = &self.hint {
            text.push_str(&format!(
                " {} {}\n",
                terminal.good("hint:"),
                terminal.safe(hint)
            ));
        }
        // A closed stderr cannot be reported.
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Failure::start(error.to_string()).with_any_hint(error.hint().map(str::to_owned))
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        Failure::start(error.to_string()).with_any_hint(error.hint())
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        Failure::start(error.to_string())
    }
}

impl From<TransportError> for Failure {
    fn from(error: TransportError) -> Self {
        Failure::start(error.to_string()).with_any_hint(error.hint().map(str::to_owned))
    }
}
