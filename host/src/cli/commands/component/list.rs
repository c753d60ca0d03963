//! `notehost component list`: the components, their origin, and which are switched on.

use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use crate::cli::options::{self, Common, OutputFlags};
use crate::cli::ui::failure::Failure;
use crate::cli::ui::output::print_json;
use crate::cli::ui::terminal::Terminal;
use notehost_pipeline::registry::Snapshot;

#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    output: OutputFlags,
    #[command(flatten)]
    common: Common,
}

/// One component.
struct Row {
    name: String,
    version: String,
    origin: &'static str,
    /// `on`, `off`, or the problem.
    state: String,
    /// How to fix the problem.
    hint: Option<String>,
    digest: String,
    size: usize,
    actions: usize,
}

impl List {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let loaded = options::load(self.common.given())?;
        let snapshot = options::block_on(options::load_components(&loaded))??;
        let rows = rows(&snapshot);
        let terminal = Terminal::stdout();
        if self.output.is_json(&terminal) {
            let items: Vec<Value> = rows.iter().map(Row::to_json).collect();
            print_json(&terminal, json!({ "items": items }));
            return Ok(ExitCode::SUCCESS);
        }
        let header = ["component", "version", "from", "state", "actions", "digest"];
        let mut shown = terminal.table(&header, rows.iter().map(Row::to_cells));
        for row in &rows {
            if let Some(hint) = &row.hint {
                let hint = format!("{}: {hint}\n", row.name);
                shown.push_str(&terminal.faint(&terminal.safe(&hint)));
            }
        }
        terminal.print(&shown);
        Ok(ExitCode::SUCCESS)
    }
}

fn rows(snapshot: &Snapshot) -> Vec<Row> {
    let problem = |name: &str| {
        let mut broken = snapshot.broken().iter();
        broken.find(|broken| broken.name == name)
    };
    let mut rows: Vec<Row> = snapshot
        .domains()
        .filter_map(|domain| {
            let component = domain.component.as_ref()?;
            let problem = problem(&domain.name);
            Some(Row {
                name: domain.name.clone(),
                version: domain.version.clone(),
                origin: domain.origin.as_str(),
                state: problem.map_or_else(|| "on".to_owned(), |broken| broken.reason.clone()),
                hint: problem.and_then(|broken| broken.hint.clone()),
                digest: format!("sha256:{}", component.digest()),
                size: component.size(),
                actions: domain.actions.len(),
            })
        })
        .collect();
    let is_listed = |rows: &[Row], name: &str| rows.iter().any(|row| row.name == name);
    let absent = |name: &str, state: String, hint: Option<String>| Row {
        name: name.to_owned(),
        version: String::new(),
        origin: "",
        state,
        hint,
        digest: String::new(),
        size: 0,
        actions: 0,
    };
    for name in snapshot.disabled_domains() {
        rows.push(absent(name, "off".to_owned(), None));
    }
    for broken in snapshot.broken() {
        if !is_listed(&rows, &broken.name) {
            let (reason, hint) = (broken.reason.clone(), broken.hint.clone());
            rows.push(absent(&broken.name, reason, hint));
        }
    }
    rows
}

impl Row {
    fn to_json(&self) -> Value {
        let mut item = json!({
            "name": self.name,
            "enabled": self.state != "off" && !self.version.is_empty(),
        });
        if !self.version.is_empty() {
            item["version"] = self.version.clone().into();
            item["origin"] = self.origin.into();
            item["digest"] = self.digest.clone().into();
            item["size"] = self.size.into();
            item["actions"] = self.actions.into();
        }
        if self.state != "on" && self.state != "off" {
            item["problem"] = self.state.clone().into();
        }
        if let Some(hint) = &self.hint {
            item["hint"] = hint.clone().into();
        }
        item
    }

    fn to_cells(&self) -> Vec<String> {
        let digest = self.digest.chars().take(19).collect();
        let actions = match self.actions {
            0 => String::new(),
            actions => actions.to_string(),
        };
        vec![
            self.name.clone(),
            self.version.clone(),
            self.origin.to_owned(),
            self.state.clone(),
            actions,
            digest,
        ]
    }
}
