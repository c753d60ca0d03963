//! `notehost component log`: shows what a component printed and logged, in any process with the same state folder.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use crate::cli::options::{self, Common};
use crate::cli::ui::failure::Failure;
use crate::cli::ui::terminal::Terminal;
use notehost_config::Overrides;
use notehost_records::audit::{LogFollower, LogLine, log_lines};

/// The interval of polling for new lines.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Show what a component printed and logged.
///
/// Prints text on a terminal, one JSON object per line in a pipe. The log is bounded; the newest line is last.
#[derive(Debug, Args)]
pub(super) struct Log {
    /// The component, by its domain's name
    name: String,
    /// Number of lines, the latest
    #[arg(long, value_name = "N", default_value_t = 50)]
    lines: usize,
    /// Follow new lines until Ctrl-C
    #[arg(long)]
    follow: bool,
    /// Print JSON even on a terminal
    #[arg(long, visible_alias = "json")]
    json_output: bool,
    #[command(flatten)]
    common: Common,
}

impl Log {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if !self.name.chars().all(is_name) {
            return Err(Failure::usage(format!(
                "invalid component name `{}`",
                self.name
            )));
        }
        // Only flags and variables set the state folder: an invalid config must not prevent reading the logs.
        let loaded = options::load(Overrides {
            ignore_file: true,
            config: None,
            ..self.common.given()
        })?;
        let folder = loaded.running.state.join("logs");
        let unreadable = |error: io::Error| Failure::call(format!("cannot read the log: {error}"));
        let (lines, follower) = log_lines(&folder, &self.name, self.lines).map_err(unreadable)?;
        let terminal = Terminal::stdout();
        let as_json = self.json_output || !terminal.is_terminal();
        if lines.is_empty() && !self.follow && !as_json {
            let message = format!("{} has no log\n", self.name);
            terminal.print(&terminal.faint(&message));
        }
        if print(&terminal, &lines, as_json).is_err() || !self.follow {
            return Ok(ExitCode::SUCCESS);
        }
        options::block_on(async {
            tokio::select! {
                followed = follow(follower, as_json) => followed.map_err(unreadable),
                _ = tokio::signal::ctrl_c() => Ok(()),
            }
        })??;
        Ok(ExitCode::SUCCESS)
    }
}

/// Prints lines as they are logged, until the reader closes the pipe.
async fn follow(mut follower: LogFollower, as_json: bool) -> io::Result<()> {
    let terminal = Terminal::stdout();
    loop {
        if print(&terminal, &follower.more()?, as_json).is_err() {
            return Ok(());
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

fn print(terminal: &Terminal, lines: &[LogLine], as_json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in lines {
        if as_json {
            let line = serde_json::to_string(line)?;
            writeln!(out, "{}", terminal.safe_json(&line))?;
            continue;
        }
        let head = format!("{} {:<6} {}", line.time, line.stream, line.call);
        let text = terminal.safe(&line.text);
        let head = terminal.safe(head.trim_end());
        writeln!(out, "{} {text}", terminal.faint(&head))?;
    }
    out.flush()
}
