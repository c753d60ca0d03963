//! `notehost component list`: which components there are.

use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use super::super::call::print_json;
use super::super::failure::Failure;
use super::super::options::{self, Common};
use super::super::terminal::Terminal;

#[derive(Debug, Args)]
pub(super) struct List {
    /// Print JSON also on a terminal
    #[arg(long)]
    json_output: bool,
    #[command(flatten)]
    common: Common,
}

impl List {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let loaded = options::load(self.common.given())?;
        let snapshot = options::block_on(options::load_components(&loaded))??;
        let terminal = Terminal::stdout();
        let domains = snapshot.domains().filter_map(|domain| {
            let component = domain.component.as_ref()?;
            Some((domain, component))
        });
        if self.json_output || !terminal.is_terminal() {
            let items: Vec<Value> = domains
                .map(|(domain, component)| {
                    json!({
                        "name": domain.name,
                        "version": domain.version,
                        "digest": component.digest(),
                        "size": component.size(),
                    })
                })
                .collect();
            print_json(&terminal, json!({ "items": items }));
            return Ok(ExitCode::SUCCESS);
        }
        let rows = domains.map(|(domain, component)| {
            vec![
                domain.name.clone(),
                domain.version.clone(),
                component.digest()[..12].to_owned(),
            ]
        });
        terminal.print(&terminal.table(&["component", "version", "digest"], rows));
        Ok(ExitCode::SUCCESS)
    }
}
