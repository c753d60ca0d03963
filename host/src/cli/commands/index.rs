//! `notehost index`: the state of the search index of each vault, and rebuilding it. Both work with a running server:
//! a rebuild is requested from it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use crate::cli::logging;
use crate::cli::options::{self, Common, OutputFlags};
use crate::cli::ui::failure::Failure;
use crate::cli::ui::output::print_json;
use crate::cli::ui::terminal::Terminal;
use notehost_config::{Loaded, Overrides, VaultEntry};
use notehost_index::{Index, Report, is_rebuild_requested, report, request_rebuild};
use notehost_vault::{Vault, VaultSettings, holder};

/// The update interval of the progress bar.
const REFRESH_INTERVAL: Duration = Duration::from_millis(100);

/// Show or rebuild the search index.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct IndexCommand {
    #[command(subcommand)]
    what: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show the content of the index and the files changed since it was written
    Status(Selection),
    /// Rebuild the index from the notes
    Rebuild(Selection),
}

#[derive(Debug, Args)]
struct Selection {
    /// The folder of notes, or the id of a configured vault [all configured vaults]
    #[arg(long, value_name = "PATH")]
    vault: Option<PathBuf>,
    #[command(flatten)]
    output: OutputFlags,
    #[command(flatten)]
    common: Common,
}

impl IndexCommand {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let (which, is_rebuild) = match self.what {
            Command::Status(which) => (which, false),
            Command::Rebuild(which) => (which, true),
        };
        let loaded = options::load(Overrides {
            vault: which.vault.clone(),
            ..which.common.clone().given()
        })?;
        logging::start(&loaded.running, "warn")?;
        if loaded.settings.vaults.is_empty() {
            return Err(Failure::usage("no vault is specified")
                .with_hint("specify a folder of notes: `notehost index status --vault ~/notes`"));
        }
        let terminal = Terminal::stdout();
        let is_json = which.output.is_json(&terminal);
        let mut indexes = Vec::new();
        for entry in &loaded.settings.vaults {
            if is_rebuild {
                rebuild(&loaded, entry)?;
            }
            indexes.push((
                entry.id.clone(),
                served_by(&loaded, entry),
                look(&loaded, entry)?,
            ));
        }
        if is_json {
            let vaults: Vec<Value> = indexes.iter().map(to_json).collect();
            print_json(&terminal, json!({ "vaults": vaults }));
        } else {
            for index in &indexes {
                terminal.print(&to_text(&terminal, index));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

type IndexState = (String, Option<String>, Report);

fn served_by(loaded: &Loaded, entry: &VaultEntry) -> Option<String> {
    let held = holder(&entry.id, &entry.path, &loaded.running.state);
    held.ok().flatten()
}

fn look(loaded: &Loaded, entry: &VaultEntry) -> Result<Report, Failure> {
    let vault = Vault::open_read_only(&entry.id, &entry.path, &loaded.running.state)
        .map_err(|error| Failure::start(error.to_string()))?;
    report(&vault)
        .map_err(|error| Failure::start(format!("cannot read `{}`: {error}", entry.path.display())))
}

fn rebuild(loaded: &Loaded, entry: &VaultEntry) -> Result<(), Failure> {
    let state = &loaded.running.state;
    let failed = |error: &dyn std::fmt::Display| Failure::start(error.to_string());
    if served_by(loaded, entry).is_some() {
        let vault = Vault::open_read_only(&entry.id, &entry.path, state);
        let vault = vault.map_err(|error| failed(&error))?;
        request_rebuild(&vault).map_err(|error| failed(&error))?;
        return await_server(&vault);
    }
    let vault = Vault::open(&entry.id, &entry.path, state, VaultSettings::default());
    let vault = Arc::new(vault.map_err(|error| failed(&error))?);
    request_rebuild(&vault).map_err(|error| failed(&error))?;
    let index = Index::open(&vault);
    index.start();
    wait_with_bar(&entry.id, &index);
    Ok(())
}

/// Waits until the server has removed the rebuild request, which it does when the rebuild is done.
fn await_server(vault: &Vault) -> Result<(), Failure> {
    let began = Instant::now();
    loop {
        if !is_rebuild_requested(vault) {
            return Ok(());
        }
        if began.elapsed() > Duration::from_secs(600) {
            return Err(Failure::start(
                "the server did not rebuild the index within ten minutes",
            ));
        }
        std::thread::sleep(REFRESH_INTERVAL);
    }
}

/// Waits until an index is complete, with a progress bar on a terminal.
pub(crate) fn wait_with_bar(name: &str, index: &Index) {
    let bar = match Terminal::stderr().is_terminal() {
        true => ProgressBar::new(0),
        false => ProgressBar::hidden(),
    };
    if let Ok(style) = ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len} notes {eta}") {
        bar.set_style(style);
    }
    bar.set_prefix(format!("indexing {name}"));
    while !index.wait(Some(Instant::now() + REFRESH_INTERVAL)) {
        let progress = index.progress();
        bar.set_length(progress.total);
        bar.set_position(progress.done);
    }
    bar.finish_and_clear();
}

fn to_json((id, served, report): &IndexState) -> Value {
    json!({
        "vault": id,
        "served_by": served,
        "state": state(report),
        "notes": report.notes,
        "assets": report.assets,
        "links": report.links,
        "tags": report.tags,
        "tasks": report.tasks,
        "bytes": report.bytes,
        "changed": report.changed,
        "ignored": report.ignored,
        "ignore_filters_refused": report.refused,
        "unread_properties": report.unread_properties,
        "conflict_copies": report.conflicts,
        "placeholders": report.placeholders,
    })
}

fn state(report: &Report) -> &'static str {
    match report {
        Report {
            is_rebuild_requested: true,
            ..
        } => "rebuilding",
        Report {
            is_there: false, ..
        } => "missing",
        Report { changed: 0, .. } => "current",
        _ => "stale",
    }
}

fn to_text(terminal: &Terminal, (id, served, report): &IndexState) -> String {
    let advice = match (state(report), served) {
        ("current", _) => "up to date".to_owned(),
        ("rebuilding", _) => "being rebuilt".to_owned(),
        (_, Some(who)) => {
            format!("in memory of process {who}, which writes it periodically")
        }
        ("missing", None) => "not built yet: the next `notehost serve` builds it".to_owned(),
        (_, None) => format!(
            "{} files changed since; the next `notehost serve` or `call` updates it",
            report.changed
        ),
    };
    let mut text = format!(
        "{}: {advice}\n  {} notes, {} other files, {} links, {} tags, {} tasks; {} KiB on disk\n",
        terminal.strong(id),
        report.notes,
        report.assets,
        report.links,
        report.tags,
        report.tasks,
        report.bytes.div_ceil(1024)
    );
    for (paths, what) in [
        (&report.ignored, "excluded from searches"),
        (
            &report.unread_properties,
            "without properties: frontmatter invalid or over a limit",
        ),
        (&report.refused, "ignore filters invalid or over a limit"),
        (&report.conflicts, "sync conflict copies"),
        (&report.placeholders, "only in the cloud"),
    ] {
        if !paths.is_empty() {
            text.push_str(&terminal.faint(&format!("  {} {what}\n", paths.len())));
        }
    }
    text
}
