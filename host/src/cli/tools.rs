//! `notehost tools`: what there is, one line each.

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::call::print_json;
use super::failure::Failure;
use super::logging;
use super::options::{self, Common};
use super::remote::Remote;
use super::terminal::Terminal;
use crate::config::{Given, Surface};
use crate::registry::Snapshot;
use crate::vault::Effect;

/// List the domains and their actions.
#[derive(Debug, Args)]
pub(super) struct Tools {
    /// Name the tools as clients see them on this surface
    #[arg(long, value_name = "S")]
    surface: Option<Surface>,
    /// Print JSON also on a terminal
    #[arg(long)]
    json_output: bool,
    #[command(flatten)]
    remote: Remote,
    #[command(flatten)]
    common: Common,
}

impl Tools {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let is_here = self.common.is_named();
        let loaded = options::load(Given {
            surface: self.surface,
            ..self.common.given()
        })?;
        logging::start(&loaded.running, "warn")?;
        let domains = self.remote.domains(is_here, &loaded)?;
        let surface = loaded.settings.surface;
        let terminal = Terminal::stdout();
        if self.json_output || !terminal.is_terminal() {
            print_json(&terminal, json!({ "items": json_rows(&domains, surface) }));
        } else {
            let more = terminal.faint("more: notehost help DOMAIN [ACTION]");
            terminal.print(&format!(
                "{}\n{more}\n",
                table(&terminal, &domains, surface)
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Every action, for people.
pub(super) fn table(terminal: &Terminal, domains: &Snapshot, surface: Surface) -> String {
    let mut rows = Vec::new();
    for domain in domains.domains() {
        for action in &domain.actions {
            rows.push(vec![
                domain.name.clone(),
                action.name.clone(),
                effect_word(action.effect).to_owned(),
                tool_name(surface, &domain.name, &action.name, action.effect),
                first_sentence(&action.description),
            ]);
        }
    }
    terminal.table(
        &["domain", "action", "effect", "tool", "what it does"],
        rows,
    )
}

fn json_rows(domains: &Snapshot, surface: Surface) -> Vec<serde_json::Value> {
    let rows = domains.domains().flat_map(|domain| {
        domain.actions.iter().map(move |action| {
            json!({
                "domain": domain.name,
                "action": action.name,
                "effect": effect_word(action.effect),
                "tool": tool_name(surface, &domain.name, &action.name, action.effect),
                "description": action.description,
            })
        })
    });
    rows.collect()
}

/// The name of the tool through which clients reach an action.
fn tool_name(surface: Surface, domain: &str, action: &str, effect: Effect) -> String {
    match surface {
        Surface::Domain => domain.to_owned(),
        Surface::Split => format!("{domain}_{}", effect_word(effect)),
        Surface::Flat => format!("{domain}__{action}"),
        Surface::Finder => "call_action".to_owned(),
    }
}

/// The word for an effect.
pub(super) fn effect_word(effect: Effect) -> &'static str {
    match effect {
        Effect::Read => "read",
        Effect::Write => "write",
        Effect::Delete => "delete",
    }
}

/// What a description begins with.
pub(super) fn first_sentence(description: &str) -> String {
    let paragraph = description.trim().split("\n\n").next().unwrap_or_default();
    let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = line.find(". ").unwrap_or(line.len());
    line[..end].trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::first_sentence;

    #[test]
    fn a_sentence_may_run_over_lines() {
        assert_eq!(
            first_sentence("List all,\nwith sizes. And more.\n\nElse."),
            "List all, with sizes"
        );
        assert_eq!(first_sentence("Read a note."), "Read a note");
        assert_eq!(first_sentence(""), "");
    }
}
