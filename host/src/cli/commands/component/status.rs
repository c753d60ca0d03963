//! `notehost component status`: the health of components. Reads the records, so it works with and
//! without one.

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::cli::options::{self, Common};
use crate::cli::ui::failure::Failure;
use crate::cli::ui::output::print_json;
use crate::cli::ui::terminal::Terminal;
use notehost_pipeline::{ComponentStatus, component_status};

/// How many characters of a digest are shown.
const SHOWN_DIGEST: usize = 12;

#[derive(Debug, Args)]
pub(super) struct Status {
    /// Only this one, by its domain's name
    name: Option<String>,
    /// Print JSON even on a terminal
    #[arg(long, visible_alias = "json")]
    json_output: bool,
    #[command(flatten)]
    common: Common,
}

impl Status {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let loaded = options::load(self.common.given())?;
        let snapshot = options::block_on(options::load_components(&loaded))??;
        let records = notehost_records::open(&loaded.running.state)?;
        let items = component_status(&snapshot, &*records, self.name.as_deref())?;
        if let (Some(name), true) = (&self.name, items.is_empty()) {
            return Err(Failure::call(format!("unknown component `{name}`"))
                .with_hint("`notehost component list` shows the known components"));
        }
        let terminal = Terminal::stdout();
        if self.json_output || !terminal.is_terminal() {
            print_json(&terminal, json!({ "items": items }));
        } else {
            terminal.print(&for_people(&terminal, &items));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn for_people(terminal: &Terminal, items: &[ComponentStatus]) -> String {
    let header = [
        "component",
        "version",
        "digest",
        "calls",
        "p50 ms",
        "p99 ms",
        "broke",
        "over limit",
        "too slow",
        "denied",
        "memory",
    ];
    let mut text = terminal.table(&header, items.iter().map(cells));
    for one in items {
        let name = &one.name;
        for rest in &one.quarantine {
            let whom = rest.for_caller.as_deref();
            let whom = whom.map_or("everybody".to_owned(), |caller| format!("`{caller}`"));
            let line = format!(
                "{name}: circuit breaker open for {whom} until {}: {}\n",
                rest.until, rest.reason
            );
            text.push_str(&terminal.warning(&terminal.safe(&line)));
        }
        if let Some(problem) = &one.problem {
            let line = format!("{name} cannot be used: {problem}\n");
            text.push_str(&terminal.bad(&terminal.safe(&line)));
        } else if !one.enabled {
            let by = one.by.as_ref().map(|by| format!(" by {by}"));
            let because = one.because.as_ref().map(|why| format!(": {why}"));
            let line = format!(
                "{name} is switched off{}{}\n",
                by.unwrap_or_default(),
                because.unwrap_or_default()
            );
            text.push_str(&terminal.faint(&terminal.safe(&line)));
        }
    }
    text
}

fn cells(one: &ComponentStatus) -> Vec<String> {
    let digest = one.digest.as_deref().unwrap_or_default();
    let digest = digest.rsplit(':').next().unwrap_or_default();
    let memory = match one.memory_bytes {
        0 => String::new(),
        bytes => format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)),
    };
    vec![
        one.name.clone(),
        one.version.clone().unwrap_or_default(),
        digest.chars().take(SHOWN_DIGEST).collect(),
        one.calls.to_string(),
        format!("{:.2}", one.p50_ms),
        format!("{:.2}", one.p99_ms),
        one.traps.to_string(),
        one.over_limits.to_string(),
        one.timeouts.to_string(),
        one.denials.to_string(),
        memory,
    ]
}
