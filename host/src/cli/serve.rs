//! `notehost serve`: notes for an MCP client, over stdio or HTTP. A person who starts it at a terminal is told what
//! it waits for.

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::demo::Demo;
use super::failure::Failure;
use super::fields::quoted;
use super::options::{self, Serving};
use super::terminal::Terminal;
use super::{logging, tour};
use crate::os_sandbox::{self, FileAccess};
use notehost_config::{AuthMode, Confirm, Given, Loaded, Origin};
use notehost_pipeline::Host;
use notehost_records::state_folder;
use notehost_transport::{self as transport, ServeOptions};
use notehost_vault::Tier;

/// Serve notes to an MCP client, over stdio or HTTP.
#[derive(Debug, Args)]
pub(super) struct Serve {
    #[command(flatten)]
    serving: Serving,
    /// Make and serve a small vault of sample notes in a temporary folder
    #[arg(long, conflicts_with = "vault")]
    demo: bool,
    /// End when this process does
    #[arg(long, value_name = "PID")]
    parent_pid: Option<u32>,
}

impl Serve {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let demo = match self.demo {
            true => Some(Demo::make().map_err(|error| {
                Failure::start(format!("cannot make the sample notes: {error}"))
            })?),
            false => None,
        };
        let named = self.serving.vault.clone();
        let loaded = options::load(given(self.serving, demo.as_ref()))?;
        logging::start(&loaded.running, "info")?;
        check(&loaded)?;
        let (http, folder) = (loaded.running.http, loaded.settings.vaults[0].path.clone());
        let source = loaded.source();
        let scheme = match loaded.settings.http.tls_cert {
            Some(_) => "https",
            None => "http",
        };
        confine(&loaded)?;
        options::block_on(async {
            let host = Host::start(loaded.settings, &loaded.running.state).await?;
            host.warm_up();
            host.start_indexes();
            if http.is_some() {
                host.watch_tokens();
            }
            if let Some(source) = source {
                host.watch(source);
            }
            host.follow_files();
            let terminal = Terminal::stderr();
            if let Some(demo) = &demo {
                terminal.print(&demo.introduction(&terminal));
            }
            // Over stdio a terminal is no client: it gets words instead of silence.
            if http.is_none() && std::io::stdin().is_terminal() {
                if demo.is_some() {
                    terminal.print(&tour::walk(&terminal, &host).await);
                }
                terminal.print(&waiting(&terminal, &same_words(named.as_deref(), &folder)));
            } else if let Some(address) =
                http.filter(|address| address.port() != 0 && terminal.is_terminal())
            {
                // A port that the system chooses is told by the transport.
                let asks = host.settings().auth.mode != AuthMode::None;
                terminal.print(&listening(
                    &terminal,
                    &format!("{scheme}://{address}/mcp"),
                    asks,
                ));
            }
            let options = ServeOptions {
                surface: host.settings().surface,
                parent_pid: self.parent_pid,
            };
            let served = match http {
                Some(address) => transport::serve_http(Arc::clone(&host), address, options).await,
                None => transport::serve_stdio(Arc::clone(&host), options).await,
            };
            // Tasks that end later may keep the host; what was called is on disk all the same.
            host.audit().flush();
            host.component_logs().flush();
            served?;
            Ok(ExitCode::SUCCESS)
        })?
    }
}

/// Enter the operating system's sandbox, before the first thread is started.
fn confine(loaded: &Loaded) -> Result<(), Failure> {
    // A rule can only be made for a folder that exists.
    state_folder::open_state(&loaded.running.state)
        .map_err(|error| Failure::start(format!("the state folder cannot be used: {error}")))?;
    if let Some(folder) = &loaded.settings.component_folder
        && !folder.exists()
    {
        tracing::warn!(
            "`component_folder` names `{}`, which does not exist: make it and restart the server",
            folder.display()
        );
    }
    let access = FileAccess::of(loaded);
    let confinement =
        os_sandbox::confine(loaded.settings.os_sandbox, &access).map_err(|problem| {
            Failure::start(format!(
                "cannot enter the operating system's sandbox: {problem}"
            ))
            .with_hint("`os_sandbox = \"off\"` in the config starts without it")
        })?;
    tracing::info!("operating system sandbox: {confinement}");
    Ok(())
}

/// The demo stands for itself: it takes nothing from the config of real notes and leaves nothing with their state.
fn given(serving: Serving, demo: Option<&Demo>) -> Given {
    let mut given = serving.given();
    if let Some(demo) = demo {
        given.ignore_file = given.config.is_none();
        given.vault = Some(demo.notes());
        given.allow = given.allow.or(Some(Tier::Delete));
        given.state = given.state.or_else(|| Some(demo.state()));
    }
    given
}

/// What is refused before anything is started.
pub(super) fn check(loaded: &Loaded) -> Result<(), Failure> {
    if loaded.settings.vaults.is_empty() {
        return Err(Failure::usage("no vault is named").with_hint(
            "name a folder of notes: `notehost serve ~/notes`; try sample notes: `notehost serve --demo`; or write a \
             config: `notehost config init`",
        ));
    }
    // In the config it speaks of other ways in: over HTTP the floor stays whatever it says.
    let is_flag = matches!(loaded.origin("confirm"), Origin::Flag(_));
    if loaded.running.http.is_some() && loaded.settings.confirm == Confirm::Never && is_flag {
        return Err(Failure::usage(
            "`--confirm never` with `--http`: over HTTP nobody is sure to watch what is removed",
        )
        .with_hint(
            "`--confirm never` is for stdio and `notehost call`; with `--http` leave it out",
        ));
    }
    loaded.check()?;
    Ok(())
}

/// The words that a client has to start us with: those of now, with the folder named from anywhere.
fn same_words(named: Option<&Path>, folder: &Path) -> Vec<String> {
    let words = std::env::args_os().skip(1).map(|word| match named {
        Some(named) if named == Path::new(&word) => folder.as_os_str().to_owned(),
        _ => word,
    });
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

/// What a terminal is told in place of an MCP client.
fn waiting(terminal: &Terminal, words: &[String]) -> String {
    let program = std::env::current_exe()
        .map_or_else(|_| "notehost".to_owned(), |path| path.display().to_string());
    let entry = serde_json::json!({
        "mcpServers": { "notehost": { "command": program, "args": words } }
    });
    let line: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let command = format!(
        "claude mcp add notehost -- {} {}",
        quoted(&program),
        line.join(" ")
    );
    format!(
        "\n{}\n  A client starts this program itself. For Claude Code:\n    {}\n  For clients that read JSON \
         (Claude Desktop, Cursor, …):\n    {}\n  Notes of your own can be read; `--allow rw` lets clients write.\n\n{}\n",
        terminal.strong("Connect a client"),
        terminal.good(&command),
        terminal.good(&entry.to_string()),
        terminal.faint("Serving MCP on stdin and stdout until Ctrl-D or Ctrl-C."),
    )
}

fn listening(terminal: &Terminal, url: &str, asks: bool) -> String {
    let header = match asks {
        true => " --header \"Authorization: Bearer $TOKEN\"",
        false => "",
    };
    let tokens = match asks {
        true => "Clients must show a token: `notehost token new --name NAME` makes one.",
        false => "No token is required: every user and container of this machine can call.",
    };
    format!(
        "\n{}\n  Give clients this address: {}\n  For Claude Code:\n    {}\n  {tokens}\n\n{}\n",
        terminal.strong("Connect a client"),
        terminal.good(url),
        terminal.good(&format!(
            "claude mcp add --transport http notehost {url}{header}"
        )),
        terminal.faint("Serving MCP over HTTP until Ctrl-C."),
    )
}
