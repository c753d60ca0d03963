//! The error of invalid settings: the problem, its file and line, and a hint.

use std::fmt;
use std::path::{Path, PathBuf};

/// Invalid settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    file: Option<PathBuf>,
    line: Option<usize>,
    message: String,
    hint: Option<String>,
}

impl ConfigError {
    pub(super) fn new(message: impl Into<String>) -> ConfigError {
        ConfigError {
            file: None,
            line: None,
            message: message.into(),
            hint: None,
        }
    }

    pub(super) fn with_hint(mut self, hint: impl Into<String>) -> ConfigError {
        self.hint = Some(hint.into());
        self
    }

    pub(super) fn at(mut self, file: &Path, line: Option<usize>) -> ConfigError {
        self.file = Some(file.to_owned());
        self.line = line;
        self
    }

    /// The line of the file, from 1.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// How to fix it.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(formatter, "{}", file.display())?;
            if let Some(line) = self.line {
                write!(formatter, ":{line}")?;
            }
            formatter.write_str(": ")?;
        }
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for ConfigError {}
