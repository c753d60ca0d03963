//! Log lines, always on stderr: stdout is for MCP and for results.

use std::io::{self, IsTerminal, Write};

use tracing_subscriber::EnvFilter;

use crate::cli::ui::failure::Failure;
use notehost_config::{LogFormat, Running};
use notehost_records::visible::{visible_json, visible_with_styles};

/// The values that are a level rather than a filter.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Starts logging, at the level `usual` unless another one was set.
pub(crate) fn start(running: &Running, usual: &str) -> Result<(), Failure> {
    let level = running.log.as_deref().unwrap_or(usual);
    let filter = EnvFilter::try_new(directives(level)).map_err(|error| {
        Failure::usage(format!("invalid `--log {level}`: {error}")).with_hint(format!(
            "expected one of {}, or a filter such as `notehost::vault=debug`",
            LEVELS.join(", ")
        ))
    })?;
    let is_json = running.log_format == LogFormat::Json;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(move || LogWriter { is_json });
    // A second start in one process keeps the first one's log.
    let _ = match running.log_format {
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
        LogFormat::Text => lines
            .with_ansi(io::stderr().is_terminal())
            .with_target(false)
            .try_init(),
    };
    Ok(())
}

/// Writes log lines to stderr. They contain paths, names and output of components, so control characters are made visible.
struct LogWriter {
    is_json: bool,
}

impl Write for LogWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut stderr = io::stderr().lock();
        if !stderr.is_terminal() {
            return stderr.write(line);
        }
        let text = String::from_utf8_lossy(line);
        let shown = match self.is_json {
            true => visible_json(&text),
            false => visible_with_styles(&text),
        };
        stderr.write_all(shown.as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// A level applies to Notehost's own crates: logs of its libraries are of little use to an admin.
fn directives(level: &str) -> String {
    match level.to_lowercase().as_str() {
        "off" => "off".to_owned(),
        // rmcp logs protocol errors, which are returned to the client anyway, and disconnects, which are not errors.
        level if LEVELS.contains(&level) => format!("error,rmcp=off,notehost={level}"),
        _ => level.to_owned(),
    }
}
