//! `notehost audit`: the audit log of calls, with callers and outcomes. Reads the records only, so it works with
//! and without a running server.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use crate::cli::options::{self, Common};
use crate::cli::records;
use crate::cli::ui::failure::Failure;
use crate::cli::ui::output::print_json;
use crate::cli::ui::terminal::Terminal;
use notehost_config::nearest;
use notehost_pipeline::Code;
use notehost_platform::private;
use notehost_records::Records;
use notehost_records::audit::{Filter, Row};
use notehost_records::when::{self, Moment, moment};

/// The default number of calls.
const DEFAULT_LIMIT: u32 = 50;
/// How many rows are read from the records at once.
const PAGE_SIZE: u32 = 1000;
/// The interval of polling for new calls.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// The columns of the table.
const COLUMNS: [&str; 8] = [
    "time", "caller", "via", "action", "outcome", "ms", "bytes", "paths",
];
/// The maximum number of paths in a line.
const MAX_PATHS: usize = 3;

/// Show the audit log of calls.
///
/// Prints a table on a terminal, the newest call last; one JSON object per line in a pipe. Times are ages (`2h`, `7d`) or
/// UTC (`2026-11-01`, `2026-11-01T12:30`).
#[derive(Debug, Args)]
pub(crate) struct Audit {
    #[command(flatten)]
    wanted: FilterFlags,
    /// Maximum number of calls, the latest [50; with --export all]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    /// Follow new calls until Ctrl-C
    #[arg(long, conflicts_with = "export")]
    follow: bool,
    /// Write JSON lines to this file; `-` is stdout
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
    /// Print JSON lines even on a terminal
    #[arg(long)]
    json_output: bool,
    #[command(flatten)]
    common: Common,
}

/// The filter flags.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct FilterFlags {
    /// Only by this caller
    #[arg(long, value_name = "NAME")]
    caller: Option<String>,
    /// Only through stdio, http or cli
    #[arg(long, value_name = "T", value_parser = ["stdio", "http", "cli"])]
    transport: Option<String>,
    /// Only of this domain
    #[arg(long, value_name = "D")]
    domain: Option<String>,
    /// Only of this action: `read` or `document.read`
    #[arg(long, value_name = "A")]
    action: Option<String>,
    /// Only on the vault of this id
    #[arg(long, value_name = "ID")]
    vault: Option<String>,
    /// Only calls on this note, or on notes in this folder
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Only with this outcome: ok, failed, or an error code
    #[arg(long, value_name = "CODE", value_parser = outcome)]
    outcome: Option<String>,
    /// Only calls since this time
    #[arg(long, value_name = "WHEN", value_parser = moment)]
    since: Option<Moment>,
    /// Only calls before this time
    #[arg(long, value_name = "WHEN", value_parser = moment)]
    until: Option<Moment>,
}

impl FilterFlags {
    pub(crate) fn filter(self) -> Filter {
        let (domain, action) = match self.action {
            Some(action) => match action.split_once('.') {
                Some((domain, action)) => (Some(domain.to_owned()), Some(action.to_owned())),
                None => (self.domain, Some(action)),
            },
            None => (self.domain, None),
        };
        Filter {
            caller: self.caller,
            transport: self.transport,
            domain,
            action,
            vault: self.vault,
            path: self.path,
            outcome: self.outcome,
            since: self.since.map(|moment| moment.0),
            until: self.until.map(|moment| moment.0),
            before: None,
            vaults: None,
        }
    }
}

fn outcome(word: &str) -> Result<String, String> {
    let words = || {
        let codes = Code::all().map(Code::as_str);
        ["ok", "failed", "cancelled"].into_iter().chain(codes)
    };
    if words().any(|known| known == word) {
        return Ok(word.to_owned());
    }
    Err(match nearest(word, words()) {
        Some(near) => format!("unknown outcome: did you mean `{near}`?"),
        None => format!(
            "unknown outcome: expected ok, failed, cancelled or one of {}",
            Code::all().map(Code::as_str).collect::<Vec<_>>().join(", ")
        ),
    })
}

impl Audit {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let (_, store) = records::open(self.common)?;
        let filter = self.wanted.filter();
        if let Some(file) = &self.export {
            return export(&*store, &filter, file, self.limit);
        }
        let terminal = Terminal::stdout();
        let as_json = self.json_output || !terminal.is_terminal();
        // Read first, so that no call is missed between showing and following.
        let mut last = store.latest_call_number()?;
        let rows = store.latest_calls(&filter, self.limit.unwrap_or(DEFAULT_LIMIT))?;
        last = rows.last().map_or(last, |row| row.number.max(last));
        if as_json {
            if write_lines(&terminal, &mut io::stdout().lock(), &rows).is_err() {
                return Ok(ExitCode::SUCCESS);
            }
        } else if rows.is_empty() && !self.follow {
            terminal.print(&format!("{}\n", terminal.faint("no calls")));
        } else if self.follow {
            terminal.print(&line(&terminal, &COLUMNS.map(str::to_owned)));
            rows.iter()
                .for_each(|row| terminal.print(&line(&terminal, &cells(row))));
        } else {
            terminal.print(&terminal.table(&COLUMNS, rows.iter().map(|row| cells(row).to_vec())));
        }
        if self.follow {
            options::block_on(async {
                tokio::select! {
                    followed = follow(&*store, &filter, last, as_json) => followed,
                    _ = tokio::signal::ctrl_c() => Ok(()),
                }
            })??;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Prints calls as they are recorded, also by other processes, until the reader closes the pipe.
async fn follow(
    records: &dyn Records,
    filter: &Filter,
    mut last: i64,
    as_json: bool,
) -> Result<(), Failure> {
    let terminal = Terminal::stdout();
    loop {
        let rows = records.calls_after(filter, last, PAGE_SIZE)?;
        last = rows.last().map_or(last, |row| row.number);
        let printed = if as_json {
            write_lines(&terminal, &mut io::stdout().lock(), &rows)
        } else {
            let lines: String = rows
                .iter()
                .map(|row| line(&terminal, &cells(row)))
                .collect();
            io::stdout().write_all(lines.as_bytes())
        };
        if printed.is_err() {
            return Ok(());
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

fn export(
    records: &dyn Records,
    filter: &Filter,
    file: &Path,
    limit: Option<u32>,
) -> Result<ExitCode, Failure> {
    let failed =
        |error: io::Error| Failure::call(format!("cannot write `{}`: {error}", file.display()));
    let is_stdout = file == Path::new("-");
    let terminal = match is_stdout {
        true => Terminal::stdout(),
        false => Terminal::file(),
    };
    let mut output: Box<dyn Write> = if is_stdout {
        Box::new(io::stdout().lock())
    } else {
        // The log is private.
        let mut options = private::options();
        options.write(true).create(true).truncate(true);
        Box::new(BufWriter::new(options.open(file).map_err(failed)?))
    };
    let mut count = 0;
    if let Some(limit) = limit {
        let rows = records.latest_calls(filter, limit)?;
        count = rows.len();
        write_lines(&terminal, &mut output, &rows).map_err(failed)?;
    } else {
        let mut last = 0;
        loop {
            let rows = records.calls_after(filter, last, PAGE_SIZE)?;
            let Some(row) = rows.last() else { break };
            last = row.number;
            count += rows.len();
            write_lines(&terminal, &mut output, &rows).map_err(failed)?;
        }
    }
    output.flush().map_err(failed)?;
    drop(output);
    if !is_stdout {
        print_json(&Terminal::stdout(), json!({ "file": file, "calls": count }));
    }
    Ok(ExitCode::SUCCESS)
}

fn write_lines(terminal: &Terminal, output: &mut dyn Write, rows: &[Row]) -> io::Result<()> {
    for row in rows {
        let line = json_row(row).to_string();
        writeln!(output, "{}", terminal.safe_json(&line))?;
    }
    output.flush()
}

/// A row as JSON, with an ISO time.
fn json_row(row: &Row) -> Value {
    let mut value = serde_json::to_value(row).unwrap_or_default();
    value["time"] = when::iso(row.time).into();
    value
}

fn cells(row: &Row) -> [String; 8] {
    let bytes = match (row.bytes_added, row.bytes_removed) {
        (0, 0) => String::new(),
        (added, 0) => format!("+{added}"),
        (0, removed) => format!("−{removed}"),
        (added, removed) => format!("+{added} −{removed}"),
    };
    let mut paths = row
        .paths
        .iter()
        .take(MAX_PATHS)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if row.paths.len() > MAX_PATHS {
        paths.push_str(&format!(" and {} more", row.paths.len() - MAX_PATHS));
    }
    [
        when::shown(row.time),
        row.caller.clone(),
        row.transport.clone(),
        format!("{}.{}", row.domain, row.action),
        row.outcome.clone(),
        format!("{:.1}", row.microseconds as f64 / 1000.0),
        bytes,
        paths,
    ]
}

/// A line of a table without an end, with fixed column widths.
fn line(terminal: &Terminal, cells: &[String; 8]) -> String {
    let [time, caller, via, action, outcome, ms, bytes, paths] = cells;
    let text = format!(
        "{time:<19}  {caller:<12}  {via:<5}  {action:<24}  {outcome:<21}  {ms:>8}  {bytes:>12}  {paths}"
    );
    let text = terminal.safe(&text).replace('\n', " ");
    let coloured = match outcome.as_str() {
        "ok" | "outcome" => text,
        _ => terminal.warning(&text),
    };
    format!("{coloured}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_outcome_suggests_the_nearest() {
        assert_eq!(outcome("ok").as_deref(), Ok("ok"));
        assert_eq!(outcome("throttled").as_deref(), Ok("throttled"));
        assert!(outcome("throtled").is_err_and(|message| message.contains("`throttled`")));
    }
}
