//! `notehost help`: explains the program, a domain or an action. Descriptions of actions come from their
//! components, including third-party ones.

use std::process::ExitCode;

use clap::Args;

use crate::cli::commands::tools::{effect_word, first_sentence};
use crate::cli::logging;
use crate::cli::options::{self, Common};
use crate::cli::remote::Remote;
use crate::cli::ui::action_help;
use crate::cli::ui::failure::Failure;
use crate::cli::ui::terminal::Terminal;
use notehost_config::nearest;
use notehost_pipeline::registry::{Domain, Snapshot};

/// Explain a domain or an action.
#[derive(Debug, Args)]
pub(crate) struct Help {
    /// The domain, or a command of notehost
    domain: Option<String>,
    /// The action
    action: Option<String>,
    #[command(flatten)]
    remote: Remote,
    #[command(flatten)]
    common: Common,
}

impl Help {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let terminal = Terminal::stdout();
        if let (Some(command), None) = (&self.domain, &self.action)
            && let Some(help) = crate::cli::command_help(Some(command))
        {
            terminal.print(&help);
            return Ok(ExitCode::SUCCESS);
        }
        let loaded = options::load(self.common.clone().given())?;
        logging::start(&loaded.running, "warn")?;
        let domains = self.remote.domains(&self.common, &loaded)?;
        let text = match (&self.domain, &self.action) {
            (None, _) => overview(&terminal, &domains),
            (Some(domain), None) => of_domain(&terminal, find(&domains, domain)?),
            (Some(domain), Some(action)) => {
                action_help::of_action(&terminal, find(&domains, domain)?, action)?
            }
        };
        terminal.print(&text);
        Ok(ExitCode::SUCCESS)
    }
}

fn overview(terminal: &Terminal, domains: &Snapshot) -> String {
    let mut text = crate::cli::command_help(None).unwrap_or_default();
    text.push_str(&format!("\n{}\n", terminal.strong("Domains:")));
    let rows = domains
        .domains()
        .map(|domain| vec![domain.name.clone(), first_sentence(&domain.description)]);
    text.push_str(&terminal.table(&["domain", "description"], rows));
    text.push_str(&format!(
        "\n{}\n",
        terminal.faint("more: notehost help DOMAIN [ACTION]")
    ));
    text
}

fn of_domain(terminal: &Terminal, domain: &Domain) -> String {
    let heading = format!("{} {}", domain.name, domain.version);
    let rows = domain.actions.iter().map(|action| {
        let sentence = first_sentence(&action.description);
        vec![
            action.name.clone(),
            effect_word(action.effect).to_owned(),
            sentence,
        ]
    });
    format!(
        "{}\n{}\n\n{}\n{}\n",
        terminal.strong(&heading),
        terminal.safe(domain.description.trim()),
        terminal.table(&["action", "effect", "description"], rows),
        terminal.faint(&format!("more: notehost help {} ACTION", domain.name)),
    )
}

fn find<'a>(domains: &'a Snapshot, name: &str) -> Result<&'a Domain, Failure> {
    if let Some(found) = domains.domain(name) {
        return Ok(found);
    }
    let known: Vec<&str> = domains
        .domains()
        .map(|domain| domain.name.as_str())
        .collect();
    let message = match nearest(name, known.iter().copied()) {
        Some(near) => format!("unknown domain `{name}`: did you mean `{near}`?"),
        None => format!("unknown domain `{name}`"),
    };
    Err(Failure::usage(message).with_hint(format!("known domains: {}", known.join(", "))))
}
