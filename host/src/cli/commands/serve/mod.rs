//! `notehost serve`: serves notes to an MCP client, over stdio or HTTP. On a terminal it explains how to
//! connect a client.

pub(crate) mod demo;
mod relayed;
mod tour;

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use self::demo::Demo;
use crate::cli::logging;
use crate::cli::options::{self, ServeFlags};
use crate::cli::reach::{self, Reached, Search};
use crate::cli::ui::failure::Failure;
use crate::cli::ui::terminal::Terminal;
use crate::os_sandbox::{self, FileAccess};
use notehost_config::{AuthMode, Confirm, Loaded, Origin, Overrides, Source};
use notehost_pipeline::Host;
use notehost_platform::shell::quoted;
use notehost_records::state_folder;
use notehost_relay::Role;
use notehost_transport::{self as transport, LocalSessions, ServeOptions, TransportError};
use notehost_vault::Tier;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

/// Serve notes to an MCP client, over stdio or HTTP.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    serving: ServeFlags,
    /// Create and serve a small vault of sample notes in a temporary folder
    #[arg(long, conflicts_with = "vault")]
    demo: bool,
    /// Exit when this process exits
    #[arg(long, value_name = "PID")]
    parent_pid: Option<u32>,
}

impl Serve {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let demo = match self.demo {
            true => Some(Demo::make().map_err(|error| {
                Failure::start(format!("cannot create the sample notes: {error}"))
            })?),
            false => None,
        };
        let named = self.serving.vault.clone();
        let with_stdio = self.serving.stdio;
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
            let terminal = Terminal::stderr();
            let hello = reach::hello(Role::Serve, &loaded).await?;
            let search = Search {
                settings: &loaded.settings,
                state: &loaded.running.state,
                hello: &hello,
                pool: Handle::current(),
            };
            let host = match search.reach().await? {
                Reached::Here(host) => host,
                Reached::There(_, welcome) if http.is_some() => {
                    return Err(in_use(welcome.compatibility.process));
                }
                Reached::There(stream, welcome) => {
                    if std::io::stdin().is_terminal() {
                        let words = same_words(named.as_deref(), &folder);
                        terminal.print(&waiting(&terminal, &words));
                    }
                    relayed::serve(loaded, hello, (stream, *welcome), self.parent_pid).await?;
                    return Ok(ExitCode::SUCCESS);
                }
            };
            start(&host, source);
            if http.is_some() {
                host.watch_tokens();
            }
            let sessions = LocalSessions::listen(&host);
            let sessions = sessions.inspect_err(|error| {
                tracing::warn!("other programs cannot use this vault meanwhile: {error}");
            });
            if let Some(demo) = &demo {
                terminal.print(&demo.introduction(&terminal));
            }
            // A terminal on stdio is not an MCP client: explain how to connect one.
            if http.is_none() && std::io::stdin().is_terminal() {
                if demo.is_some() {
                    terminal.print(&tour::walk(&terminal, &host).await);
                }
                terminal.print(&waiting(&terminal, &same_words(named.as_deref(), &folder)));
            } else if let Some(address) =
                http.filter(|address| address.port() != 0 && terminal.is_terminal())
            {
                // A port chosen by the system is reported by the transport.
                let has_authentication = host.settings().auth.mode != AuthMode::None;
                terminal.print(&listening(
                    &terminal,
                    &format!("{scheme}://{address}/mcp"),
                    has_authentication,
                ));
            }
            let options = ServeOptions {
                surface: host.settings().surface,
                parent_pid: self.parent_pid,
                stop: None,
            };
            let served = match http {
                Some(address) if with_stdio => serve_both(&host, address, options).await,
                Some(address) => transport::serve_http(Arc::clone(&host), address, options).await,
                None => transport::serve_stdio(Arc::clone(&host), options).await,
            };
            // What others have in flight is finished, or sent again to the process that takes over.
            if let Ok(sessions) = sessions {
                sessions.close().await;
            }
            // Running tasks may keep the host alive; completed calls are on disk.
            host.audit().flush();
            host.component_logs().flush();
            served?;
            Ok(ExitCode::SUCCESS)
        })?
    }
}

/// Serves over HTTP until the client on stdio has gone.
async fn serve_both(
    host: &Arc<Host>,
    address: SocketAddr,
    options: ServeOptions,
) -> Result<(), TransportError> {
    let stop = CancellationToken::new();
    let over_http = ServeOptions {
        stop: Some(stop.clone()),
        ..options.clone()
    };
    let over_stdio = async {
        let served = transport::serve_stdio(Arc::clone(host), options).await;
        stop.cancel();
        served
    };
    // An address that cannot be used ends both at once.
    let both = tokio::try_join!(
        over_stdio,
        transport::serve_http(Arc::clone(host), address, over_http)
    );
    both.map(drop)
}

/// Starts what a host does beside calls.
fn start(host: &Arc<Host>, source: Option<Source>) {
    host.warm_up();
    host.start_indexes();
    if let Some(source) = source {
        host.watch(source);
    }
    host.follow_files();
}

/// HTTP callers are served by the process that holds the vault.
fn in_use(process: u32) -> Failure {
    Failure::start(format!("the vault is already served by process {process}")).with_hint(format!(
        "`--http` needs the vault itself: stop process {process}, or start it with `--http`"
    ))
}

/// Enters the operating system's sandbox, before the first thread is started.
fn confine(loaded: &Loaded) -> Result<(), Failure> {
    // A rule can only be made for a folder that exists.
    state_folder::open_state(&loaded.running.state)
        .map_err(|error| Failure::start(format!("cannot use the state folder: {error}")))?;
    if let Some(folder) = &loaded.settings.component_folder
        && !folder.exists()
    {
        tracing::warn!(
            "`component_folder` is `{}`, which does not exist: create it and restart the server",
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

/// The demo is isolated: it uses neither the config nor the state folder of real notes.
fn given(serving: ServeFlags, demo: Option<&Demo>) -> Overrides {
    let mut given = serving.given();
    if let Some(demo) = demo {
        given.ignore_file = given.config.is_none();
        given.vault = Some(demo.notes());
        given.allow = given.allow.or(Some(Tier::Delete));
        given.state = given.state.or_else(|| Some(demo.state()));
    }
    given
}

/// Refuses invalid combinations of settings before anything is started.
pub(crate) fn check(loaded: &Loaded) -> Result<(), Failure> {
    if loaded.settings.vaults.is_empty() {
        return Err(Failure::usage("no vault is specified").with_hint(
            "specify a folder of notes: `notehost serve ~/notes`; try sample notes: `notehost serve --demo`; or create a \
             config: `notehost config init`",
        ));
    }
    // The config value applies to stdio and `notehost call`: HTTP always uses the floor.
    let is_flag = matches!(loaded.origin("confirm"), Origin::Flag(_));
    if loaded.running.http.is_some() && loaded.settings.confirm == Confirm::Never && is_flag {
        return Err(Failure::usage(
            "`--confirm never` cannot be used with `--http`: remote clients may run unattended",
        )
        .with_hint("`--confirm never` is for stdio and `notehost call`; omit it with `--http`"));
    }
    loaded.check()?;
    Ok(())
}

/// The arguments for a client to start this program: the current ones, with an absolute folder.
fn same_words(named: Option<&Path>, folder: &Path) -> Vec<String> {
    let words = std::env::args_os().skip(1).map(|word| match named {
        Some(named) if named == Path::new(&word) => folder.as_os_str().to_owned(),
        _ => word,
    });
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

/// The explanation for a terminal in place of an MCP client.
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
         (Claude Desktop, Cursor, …):\n    {}\n  Clients can read the notes; `--allow rw` lets them write.\n\n{}\n",
        terminal.strong("Connect a client"),
        terminal.good(&command),
        terminal.good(&entry.to_string()),
        terminal.faint("Serving MCP on stdin and stdout until Ctrl-D or Ctrl-C."),
    )
}

fn listening(terminal: &Terminal, url: &str, has_authentication: bool) -> String {
    let header = match has_authentication {
        true => " --header \"Authorization: Bearer $TOKEN\"",
        false => "",
    };
    let tokens = match has_authentication {
        true => "Clients need a token: `notehost token new --name NAME` creates one.",
        false => "No token is required: every user and container of this machine can call.",
    };
    format!(
        "\n{}\n  URL for clients: {}\n  For Claude Code:\n    {}\n  {tokens}\n\n{}\n",
        terminal.strong("Connect a client"),
        terminal.good(url),
        terminal.good(&format!(
            "claude mcp add --transport http notehost {url}{header}"
        )),
        terminal.faint("Serving MCP over HTTP until Ctrl-C."),
    )
}
