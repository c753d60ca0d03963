//! `notehost call`: runs one action through the same pipeline as clients' calls, without a server; in the process that
//! serves the vault, if one does (`reach`); or on a remote server (`remote`).

use notehost_sdk::Code;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::cli::logging;
use crate::cli::options::{self, Common, OutputFlags};
use crate::cli::reach;
use crate::cli::records;
use crate::cli::remote;
use crate::cli::remote::{Remote, RemoteError};
use crate::cli::ui::bar::Bar;
use crate::cli::ui::failure::Failure;
use crate::cli::ui::fields::Fields;
use crate::cli::ui::output::{json_text, print_json};
use crate::cli::ui::pages;
use crate::cli::ui::question;
use crate::cli::ui::reply;
use crate::cli::ui::terminal::Terminal;
use notehost_client::Client;
use notehost_config::{Confirm, Loaded, Overrides};
use notehost_pipeline::registry::Snapshot;
use notehost_pipeline::{self as dispatch, CallError, Host, Reply, Request};
use notehost_policy::auth::Caller;
use notehost_vault::Tier;

/// Run one action, without a server.
///
/// The action's fields follow as flags: `--path A.md`; `--recursive` alone is true; a list is a repeated flag or JSON; an
/// object is JSON; `-` reads the value from stdin; `--field=--value` if a value begins with dashes. A field that
/// has the name of a flag goes behind `--`. `notehost help DOMAIN ACTION` lists the fields. `call` may be omitted.
#[derive(Debug, Args)]
#[command(override_usage = "notehost call DOMAIN ACTION [--FIELD VALUE]... [OPTIONS]")]
pub(crate) struct Call {
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
    /// The fields as one JSON object; single fields override it
    #[arg(long, value_name = "JSON")]
    json: Option<String>,
    /// The folder of notes, or the id of a configured vault; for a remote server the id of one of its vaults
    #[arg(long, value_name = "PATH")]
    vault: Option<PathBuf>,
    /// The tier of notebooks not listed in the config: none, r, rw or rwd
    #[arg(long, value_name = "TIER")]
    allow: Option<Tier>,
    /// Call with the permissions of this token, or of this caller of the config
    #[arg(long, value_name = "NAME")]
    caller: Option<String>,
    /// When a change needs confirmation by a person
    #[arg(long, value_name = "WHEN")]
    confirm: Option<Confirm>,
    /// Skip the confirmation prompt, like `--confirm never` (a remote server still confirms)
    #[arg(long, conflicts_with = "confirm")]
    yes: bool,
    #[command(flatten)]
    output: OutputFlags,
    /// Print all pages of a list at once
    #[arg(long)]
    all_pages: bool,
    #[command(flatten)]
    remote: Remote,
    #[command(flatten)]
    common: Common,
}

/// The hint for an error of a vault of this machine, instead of the error's own.
fn local_hint(error: &CallError, is_configured: bool) -> Option<String> {
    match error.code {
        // Without a config `notehost permission set` does not apply.
        Code::PermissionDenied if !is_configured => Some(
            "allow writing with `--allow rw`, or also deleting with `--allow rwd`".to_owned(),
        ),
        Code::ConfirmationRequired => Some(
            "preview the change with `--dry-run`, then confirm it with `--yes`; on a terminal there is a prompt"
                .to_owned(),
        ),
        _ => None,
    }
}

impl Call {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let is_here = self.vault.is_some() || self.common.is_named();
        if let Some(client) = self.remote.client(is_here, &self.common)? {
            return self.run_elsewhere(&client);
        }
        let loaded = options::load(Overrides {
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
            return Err(Failure::usage("no vault is specified")
                .with_hint("specify a folder of notes with `--vault PATH`, or create a config: `notehost config init`"));
        }
        loaded.check()?;
        let is_configured = loaded.file.is_some();
        let caller = self.caller(&loaded)?;
        let source = loaded.source();
        let answer = options::block_on(async {
            let host = match reach::for_command(&loaded, self.caller.as_deref()).await? {
                Ok(host) => host,
                Err(client) => return self.call_there(&client, is_configured).await,
            };
            // `admin` changes settings in the file.
            if let Some(source) = source {
                host.watch(source);
            }
            self.call(&host, &caller, is_configured).await
        })??;
        // The vault's lock is released before the reply is shown in a pager.
        Terminal::stdout().print(&answer);
        Ok(ExitCode::SUCCESS)
    }

    /// Runs the action and formats its reply.
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
        let arguments = self.arguments(&fields, action.is_some())?;
        let cancelled = CancellationToken::new();
        let bar = Bar::new();
        let request = Request {
            cancelled: cancelled.clone(),
            // The conventional variable for passing a trace context to a child process.
            traceparent: std::env::var("TRACEPARENT").ok(),
            progress: bar.sink(),
            ..Request::new(&self.domain, &self.action, arguments.clone())
        };
        let interrupted = tokio::spawn(async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                cancelled.cancel();
            }
        });
        let mut outcome = question::call(host, caller, request.clone(), &bar).await;
        if let (true, Ok(first)) = (self.all_pages, &outcome) {
            let next = async |cursor: &str| {
                let mut request = request.clone();
                request.arguments.insert("cursor".into(), cursor.into());
                dispatch::call(host, caller, request).await
            };
            outcome = pages::with_rest(first.clone(), next).await;
        }
        bar.clear();
        interrupted.abort();

        let phrasing = reply::Commands {
            domain: &self.domain,
            domains: &domains,
            fields: &fields,
            arguments: &arguments,
        };
        self.formatted(outcome, &phrasing, |error| local_hint(error, is_configured))
    }

    /// The same in the process that holds the vault.
    async fn call_there(&self, client: &Client, is_configured: bool) -> Result<String, Failure> {
        let domains = remote::domains(client).await?;
        // An action that the caller may not use is refused with a reason: its fields are known here.
        let here = self.known_here();
        self.call_with(client, &domains, &here, None, |error| {
            local_hint(error, is_configured)
        })
        .await
    }

    /// The same on a remote server.
    fn run_elsewhere(&self, client: &Client) -> Result<ExitCode, Failure> {
        self.check_elsewhere()?;
        let answer = options::block_on(async {
            let domains = remote::domains(client).await?;
            let here = self.known_here();
            let vault = self.vault.as_ref().map(|vault| vault.to_string_lossy());
            self.call_with(client, &domains, &here, vault.as_deref(), remote::hint)
                .await
        })??;
        Terminal::stdout().print(&answer);
        Ok(ExitCode::SUCCESS)
    }

    /// Runs the action on another server and formats its reply.
    async fn call_with(
        &self,
        client: &Client,
        domains: &Snapshot,
        here: &Snapshot,
        vault: Option<&str>,
        hint: impl FnOnce(&CallError) -> Option<String>,
    ) -> Result<String, Failure> {
        // The server may refuse an action it does not list with a reason: then use the locally known fields.
        let action = [domains, here].into_iter().find_map(|domains| {
            let domain = domains.domain(&self.domain)?;
            domain.action(&self.action)
        });
        let nothing = Map::new();
        let input = action.map_or(&nothing, |action| &action.input);
        let fields = Fields::of(&self.domain, &self.action, input);
        let mut arguments = self.arguments(&fields, action.is_some())?;
        if let Some(vault) = vault {
            arguments.insert("vault".into(), vault.into());
        }
        let called = remote::call(
            client,
            &self.domain,
            &self.action,
            &arguments,
            self.all_pages,
        );
        let outcome = match called.await {
            Ok(reply) => Ok(reply),
            Err(RemoteError::Call(error)) => Err(error),
            Err(RemoteError::Client(error)) => return Err(error.into()),
        };
        let phrasing = reply::Commands {
            domain: &self.domain,
            domains,
            fields: &fields,
            arguments: &arguments,
        };
        self.formatted(outcome, &phrasing, hint)
    }

    /// The domains that are known locally, without running a component.
    fn known_here(&self) -> Snapshot {
        let loaded = options::load(self.common.clone().given());
        loaded.map_or_else(
            |_| Snapshot::default(),
            |loaded| Snapshot::known(&loaded.settings, &loaded.running.state),
        )
    }

    /// Refuses flags that only apply to local calls.
    fn check_elsewhere(&self) -> Result<(), Failure> {
        let flags = [
            ("--allow", self.allow.is_some()),
            ("--caller", self.caller.is_some()),
            ("--confirm", self.confirm.is_some()),
        ];
        match flags.into_iter().find(|(_, is_given)| *is_given) {
            None => Ok(()),
            Some((flag, _)) => Err(Failure::usage(format!(
                "`{flag}` cannot be used with a remote server, which has its own permissions"
            ))
            .with_hint(
                "omit it; your permissions are those of the token that the server's admin created",
            )),
        }
    }

    /// The arguments of the action from the command line.
    fn arguments(
        &self,
        fields: &Fields<'_>,
        is_known: bool,
    ) -> Result<Map<String, Value>, Failure> {
        let mut arguments = self.json_arguments()?;
        // An unknown action has no fields; the pipeline reports the error.
        if is_known {
            fields.read(&self.fields, &mut arguments, &mut std::io::stdin())?;
        }
        Ok(arguments)
    }

    /// Formats the outcome of a call. `hint` replaces the hint of an error with one for the command line.
    fn formatted(
        &self,
        outcome: Result<Reply, CallError>,
        phrasing: &reply::Commands<'_>,
        hint: impl FnOnce(&CallError) -> Option<String>,
    ) -> Result<String, Failure> {
        let terminal = Terminal::stdout();
        let as_json = self.output.is_json(&terminal);
        match outcome {
            Ok(reply) if as_json => Ok(json_text(&terminal, reply.structured.into())),
            Ok(reply) => Ok(reply::for_people(&terminal, &reply)),
            Err(error) => {
                if as_json {
                    print_json(&terminal, error.to_json().into());
                }
                let hint = hint(&error).or_else(|| Some(phrasing.phrase(error.hint.as_deref()?)));
                Err(Failure::call(phrasing.phrase(&error.message)).with_any_hint(hint))
            }
        }
    }

    /// The caller: the local user, a token, or a caller of the config.
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
        Err(Failure::usage(format!("unknown caller `{name}`"))
            .with_hint("use the name of a token, or of a section `[callers.NAME]` of the config"))
    }

    fn json_arguments(&self) -> Result<Map<String, Value>, Failure> {
        let Some(text) = &self.json else {
            return Ok(Map::new());
        };
        serde_json::from_str(text).map_err(|error| {
            Failure::usage(format!("`--json` needs one JSON object: {error}"))
                .with_hint(r#"quote it for the shell: `--json '{"path": "Plan.md"}'`"#)
        })
    }
}
