//! Remote servers: which one a command uses, the token for it, and calls. Its replies
//! are printed like those of a local call.

mod tool_result;

use std::io::{BufRead as _, IsTerminal as _};
use std::sync::Arc;

use clap::Args;
use serde_json::{Map, Value};

use crate::cli::commands::profile::store::{self, Profiles};
use crate::cli::options::{self, Common};
use crate::cli::ui::failure::Failure;
use crate::cli::ui::pages;
use crate::cli::ui::question;
use crate::cli::ui::terminal::Terminal;
use notehost_client::{Client, ClientError};
use notehost_config::{Loaded, expand_home, state_folder};
use notehost_pipeline::registry::Snapshot;
use notehost_pipeline::{CallError, Reply};
use notehost_platform::local_listener;
use notehost_platform::shell::quoted;
use notehost_policy::auth::OwnerToken;
use notehost_tools::flat_name;

/// The environment variables for remote servers, with descriptions for the help.
pub(crate) const VARIABLES: [(&str, &str); 3] = [
    ("NOTEHOST_SERVER", "the URL of a remote server for calls"),
    (
        "NOTEHOST_PROFILE",
        "the profile of a remote server for calls",
    ),
    ("NOTEHOST_TOKEN", "the token for the remote server"),
];

/// The flags that select a remote server.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Remote {
    /// Use a remote server: its URL, such as https://notes.example.org/mcp
    #[arg(long, value_name = "URL", conflicts_with = "profile")]
    server: Option<String>,
    /// The token for the remote server; `-` reads the first line of stdin
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// Use the remote server of this profile (see `notehost profile`)
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
}

impl Remote {
    /// The selected remote server, if any. Flags override variables, variables the selected profile; a flag that selects
    /// a local vault (`is_here`) overrides everything but a flag that selects a server.
    /// Without a token, a server on this machine is sent the owner's token of the state folder.
    pub(crate) fn client(&self, is_here: bool, common: &Common) -> Result<Option<Client>, Failure> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let or_variable = |flag: &Option<String>, name: &str| match is_here || self.is_named() {
            true => flag.clone(),
            false => variable(name),
        };
        let server = or_variable(&self.server, "NOTEHOST_SERVER");
        let profile = or_variable(&self.profile, "NOTEHOST_PROFILE");
        let is_here = is_here || variable("NOTEHOST_VAULT").is_some();
        let token = self.token.as_deref().map(token).transpose()?;
        let client = match (server, profile) {
            (Some(server), _) => {
                let token = token.or_else(|| variable("NOTEHOST_TOKEN"));
                Client::new(&server, token.as_deref())?
            }
            (None, Some(name)) => of_profile(&Profiles::read()?, &name, token)?,
            (None, None) if is_here => return self.without_token(),
            (None, None) => {
                let profiles = Profiles::read()?;
                let Some(name) = profiles.in_use.clone() else {
                    return self.without_token();
                };
                of_profile(&profiles, &name, token)?
            }
        };
        let client = with_owner_token(client, common)?;
        warn_if_unencrypted(&client);
        Ok(Some(client))
    }

    /// Whether a flag selects a remote server.
    pub(crate) fn is_named(&self) -> bool {
        self.server.is_some() || self.profile.is_some()
    }

    fn without_token(&self) -> Result<Option<Client>, Failure> {
        match self.token {
            None => Ok(None),
            Some(_) => Err(Failure::usage("`--token` without a server")
                .with_hint("add `--server URL` or `--profile NAME`; a local vault needs no token")),
        }
    }

    /// The domains of the selected server, or of this machine.
    pub(crate) fn domains(
        &self,
        common: &Common,
        loaded: &Loaded,
    ) -> Result<Arc<Snapshot>, Failure> {
        match self.client(common.is_named(), common)? {
            Some(client) => Ok(Arc::new(options::block_on(domains(&client))??)),
            None => Ok(options::block_on(options::load_components(loaded))??),
        }
    }
}

/// Adds the owner's token if the server is on this machine and no other token was given.
fn with_owner_token(client: Client, common: &Common) -> Result<Client, Failure> {
    let port = client.loopback_port().filter(|_| !client.has_token());
    match port.and_then(|port| owner_token(common, port)) {
        Some(token) => Ok(client.with_token(token.reveal())?),
        None => Ok(client),
    }
}

/// All domains that a server shows to this caller.
pub(crate) async fn domains(client: &Client) -> Result<Snapshot, ClientError> {
    Snapshot::from_listing(client.actions().await?)
        .map_err(|error| client.not_notehost(&error.to_string()))
}

/// The token that a server with the same state folder created at its first start, if the server on this port can be it.
fn owner_token(common: &Common, port: u16) -> Option<OwnerToken> {
    if !local_listener::is_ours(port) {
        return None;
    }
    let variable = || std::env::var_os("NOTEHOST_STATE").filter(|value| !value.is_empty());
    let named = common.state.clone().or_else(|| variable().map(Into::into));
    let state = named.map(|path| expand_home(&path)).or_else(state_folder)?;
    OwnerToken::kept_in(&state)
}

fn of_profile(profiles: &Profiles, name: &str, token: Option<String>) -> Result<Client, Failure> {
    let profile = profiles.named(name)?;
    let file = store::file()?;
    if profile.token.is_some() && store::is_open_to_others(&file) {
        let path = quoted(&file.to_string_lossy());
        return Err(Failure::start(format!(
            "other users of this machine can read your tokens in `{}`",
            file.display()
        ))
        .with_hint(format!(
            "`chmod 600 {path}`; replace tokens that others may have read"
        )));
    }
    // The variable is not used: it may be for another server.
    let token = token.as_ref().or(profile.token.as_ref());
    Ok(Client::new(&profile.server, token.map(String::as_str))?)
}

/// The token of a flag; `-` is the first line of stdin.
pub(crate) fn token(value: &str) -> Result<String, Failure> {
    let token = match value {
        "-" => {
            let mut line = String::new();
            let read = std::io::stdin().lock().read_line(&mut line);
            read.map_err(|error| {
                Failure::usage(format!("cannot read the token from stdin: {error}"))
            })?;
            line.trim().to_owned()
        }
        value => value.to_owned(),
    };
    match token.is_empty() {
        false => Ok(token),
        true => Err(Failure::usage("the token is empty")),
    }
}

/// Warns if the token is sent unencrypted.
pub(crate) fn warn_if_unencrypted(client: &Client) {
    if client.sends_token_unencrypted() {
        let terminal = Terminal::stderr();
        terminal.print(&format!(
            "{} the token is sent unencrypted to `{}`: use https\n",
            terminal.warning("warning:"),
            client.url()
        ));
    }
}

/// Why a remote call failed.
pub(crate) enum RemoteError {
    /// The server returned an error.
    Call(CallError),
    /// The server could not be reached.
    Client(ClientError),
}

/// Makes a call; prompts on a terminal if the server requests confirmation.
pub(crate) async fn call(
    client: &Client,
    domain: &str,
    action: &str,
    arguments: &Map<String, Value>,
    every_page: bool,
) -> Result<Reply, RemoteError> {
    let sits_here = Terminal::stderr().is_terminal() && std::io::stdin().is_terminal();
    let ask: &(dyn Fn(&str) -> bool + Sync) = &question::confirm_remote;
    let tool = flat_name(domain, action);
    let once = async |cursor: Option<&str>| {
        let mut arguments = arguments.clone();
        if let Some(cursor) = cursor {
            arguments.insert("cursor".into(), cursor.into());
        }
        let ask = sits_here.then_some(ask);
        let result = client.call(&tool, &arguments, ask).await;
        let result = result.map_err(RemoteError::Client)?;
        let outcome = tool_result::outcome(&result).ok_or_else(|| {
            RemoteError::Client(client.not_notehost("its response is not a result"))
        })?;
        outcome.map_err(RemoteError::Call)
    };
    let first = once(None).await?;
    match every_page {
        true => pages::with_rest(first, async |cursor: &str| once(Some(cursor)).await).await,
        false => Ok(first),
    }
}

/// The hint for an error of a remote server, if the server's own hint only applies to its machine.
pub(crate) fn hint(error: &CallError) -> Option<String> {
    let id = &error.pending_approval()?.id;
    Some(format!(
        "over HTTP `--yes` has no effect, a person must confirm: on a terminal there is a prompt if the token is attended \
         (`notehost token new --attended`); otherwise an admin of the server runs \
         `notehost approval approve {id}`, and the same call with `--approval {id}` is executed once"
    ))
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        let words = error.to_string();
        let failure = match error.is_usage() {
            true => Failure::usage(words),
            false => Failure::start(words),
        };
        failure.with_any_hint(error.hint().map(str::to_owned))
    }
}
