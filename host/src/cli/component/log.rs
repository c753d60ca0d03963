//! `notehost component log`: what a component printed and logged, also in a server that runs or has ended.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use super::super::failure::Failure;
use super::super::options::{self, Common};
use super::super::terminal::Terminal;
use notehost_config::Given;
use notehost_records::audit::{LogFollower, LogLine, log_lines};

/// How often it is looked for more.
const POLL: Duration = Duration::from_millis(200);

/// See what a component printed and logged.
///
/// Lines of text on a terminal; one JSON object per line in a pipe. The last of a bounded log, the newest last.
#[derive(Debug, Args)]
pub(super) struct Log {
    /// The component, by its domain's name
    name: String,
    /// How many lines, the last ones
    #[arg(long, value_name = "N", default_value_t = 50)]
    lines: usize,
    /// Go on with new lines until Ctrl-C
    #[arg(long)]
    follow: bool,
    /// Print JSON also on a terminal
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
                "`{}` is no name of a component",
                self.name
            )));
        }
        // Where logs lie only flags and variables say: a broken config must not keep anybody from them.
        let loaded = options::load(Given {
            ignore_file: true,
            config: None,
            ..self.common.given()
        })?;
        let folder = loaded.running.state.join("logs");
        let unreadable =
            |error: io::Error| Failure::call(format!("the log cannot be read: {error}"));
        let (lines, follower) = log_lines(&folder, &self.name, self.lines).map_err(unreadable)?;
        let terminal = Terminal::stdout();
        let as_json = self.json_output || !terminal.is_terminal();
        if lines.is_empty() && !self.follow && !as_json {
            let told = format!("{} has said nothing\n", self.name);
            terminal.print(&terminal.faint(&told));
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

/// Print lines as they come, until nobody reads any more.
async fn follow(mut follower: LogFollower, as_json: bool) -> io::Result<()> {
    let terminal = Terminal::stdout();
    loop {
        if print(&terminal, &follower.more()?, as_json).is_err() {
            return Ok(());
        }
        tokio::time::sleep(POLL).await;
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
