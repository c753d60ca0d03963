//! `notehost call`: one action through the same pipeline as every client's calls, without a server.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::bar::Bar;
use super::failure::Failure;
use super::fields::Fields;
use super::options::{self, Common};
use super::terminal::Terminal;
use super::{logging, question, records, reply};
use crate::auth::Caller;
use crate::config::{Confirm, Given, Loaded};
use crate::dispatch::{Host, Request};
use crate::vault::Tier;

/// Run one action, without a server.
///
/// Fields of the action follow it: `--path A.md`; `--recursive` alone is true; a list is a repeated flag or JSON; an
/// object is JSON; `-` reads the value from stdin; `--field=--value` where a value begins with dashes. A field that
/// has the name of a flag goes behind `--`. `notehost help DOMAIN ACTION` tells the fields.
#[derive(Debug, Args)]
#[command(override_usage = "notehost call DOMAIN ACTION [--FIELD VALUE]... [OPTIONS]")]
pub(super) struct Call {
    /// The domain, such as `document`
    domain: String,
    /// The action, such as `read`
    action: String,
    /// The action's fields
    #[arg(
        value_name = "--FIELD VALUE",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    fields: Vec<String>,
    /// The fields as one JSON object; single fields win over it
    #[arg(long, value_name = "JSON")]
    json: Option<String>,
    /// The folder of notes, or the id of a configured vault
    #[arg(long, value_name = "PATH")]
    vault: Option<PathBuf>,
    /// What may be done in notebooks that nothing names: none, r, rw or rwd
    #[arg(long, value_name = "TIER")]
    allow: Option<Tier>,
    /// Call with the rights of this token, or of this caller of the config
    #[arg(long, value_name = "NAME")]
    caller: Option<String>,
    /// When a person is asked before a change lands
    #[arg(long, value_name = "WHEN")]
    confirm: Option<Confirm>,
    /// Ask nothing: the same as `--confirm never`
    #[arg(long, conflicts_with = "confirm")]
    yes: bool,
    /// Print JSON also on a terminal
    #[arg(long)]
    json_output: bool,
    #[command(flatten)]
    common: Common,
}

impl Call {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let loaded = options::load(Given {
            vault: self.vault.clone(),
            allow: self.allow,
            confirm: if self.yes {
                Some(Confirm::Never)
            } else {
                self.confirm
            },
            ..self.common.clone().given()
        })?;
        logging::start(&loaded.running, "warn")?;
        if loaded.settings.vaults.is_empty() {
            return Err(Failure::usage("no vault is named")
                .with_hint("name a folder of notes with `--vault PATH`, or write a config: `notehost config init`"));
        }
        loaded.check()?;
        let is_configured = loaded.file.is_some();
        let caller = self.caller(&loaded)?;
        let source = loaded.source();
        let answer = options::block_on(async {
            let host = Host::start(loaded.settings, &loaded.running.state).await?;
            // What `admin` changes it changes in the file.
            if let Some(source) = source {
                host.watch(source);
            }
            self.call(&host, &caller, is_configured).await
        })??;
        // The vault is let go of before somebody reads the answer at leisure.
        Terminal::stdout().print(&answer);
        Ok(ExitCode::SUCCESS)
    }

    /// What the action answers, as it is to be printed.
    async fn call(
        &self,
        host: &Host,
        caller: &Caller,
        is_configured: bool,
    ) -> Result<String, Failure> {
        let domains = host.registry().snapshot();
        let action = domains
            .domain(&self.domain)
            .and_then(|domain| domain.action(&self.action));
        let nothing = Map::new();
        let fields = Fields::of(
            &self.domain,
            &self.action,
            action.map_or(&nothing, |action| &action.input),
        );
        let mut arguments = self.json_arguments()?;
        if action.is_some() {
            fields.read(&self.fields, &mut arguments, &mut std::io::stdin())?;
        }
        // An action that is not there has no fields: the pipeline says why it is not.
        let cancelled = CancellationToken::new();
        let bar = Bar::new();
        let request = Request {
            domain: self.domain.clone(),
            action: self.action.clone(),
            arguments: arguments.clone(),
            cancelled: cancelled.clone(),
            // What programs that start others with a trace under way agree on.
            traceparent: std::env::var("TRACEPARENT").ok(),
            progress: bar.sink(),
        };
        let interrupted = tokio::spawn(async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                cancelled.cancel();
            }
        });
        let outcome = question::call(host, caller, request, &bar).await;
        bar.clear();
        interrupted.abort();

        let terminal = Terminal::stdout();
        let as_json = self.json_output || !terminal.is_terminal();
        match outcome {
            Ok(reply) if as_json => Ok(json_text(&terminal, reply.structured.into())),
            Ok(reply) => Ok(reply::for_people(&terminal, &reply)),
            Err(error) => {
                if as_json {
                    print_json(&terminal, error.to_json().into());
                }
                let spoken = reply::Commands {
                    domain: &self.domain,
                    domains: &domains,
                    fields: &fields,
                    arguments: &arguments,
                };
                let hint = match error.code {
                    // Without a config there is no permission to set.
                    "permission_denied" if !is_configured => {
                        Some("say what may be done with `--allow rw`, or `--allow rwd` to remove as well".to_owned())
                    }
                    "confirmation_required" => Some(
                        "look at the change with `--dry-run`, then say `--yes`; at a terminal you are asked".to_owned(),
                    ),
                    _ => error.hint.as_deref().map(|hint| spoken.phrase(hint)),
                };
                Err(Failure::call(spoken.phrase(&error.message)).with_any_hint(hint))
            }
        }
    }

    /// Whose rights the call has: of whoever sits here, of a token, or of a caller that the config names.
    fn caller(&self, loaded: &Loaded) -> Result<Caller, Failure> {
        let Some(name) = self.caller.as_deref() else {
            return Ok(Caller::command_line(None));
        };
        if let Some(caller) = records::token_caller(loaded, name)? {
            return Ok(caller.at_terminal());
        }
        if loaded.settings.callers.contains_key(name) || matches!(name, "stdio" | "http" | "cli") {
            return Ok(Caller::command_line(Some(name)));
        }
        Err(Failure::usage(format!("no caller `{name}`"))
            .with_hint("a token has the name, or a section `[callers.NAME]` of the config"))
    }

    fn json_arguments(&self) -> Result<Map<String, Value>, Failure> {
        let Some(text) = &self.json else {
            return Ok(Map::new());
        };
        serde_json::from_str(text).map_err(|error| {
            Failure::usage(format!("`--json` takes one JSON object: {error}"))
                .with_hint(r#"in quotes of the shell: `--json '{"path": "Plan.md"}'`"#)
        })
    }
}

/// One document: on one line for programs, spread out for people.
fn json_text(terminal: &Terminal, value: Value) -> String {
    if terminal.is_terminal() {
        format!("{value:#}\n")
    } else {
        format!("{value}\n")
    }
}

/// Print one document.
pub(super) fn print_json(terminal: &Terminal, value: Value) {
    terminal.print(&json_text(terminal, value));
}
