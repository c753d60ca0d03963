//! A server elsewhere in place of this machine's vaults: which one is meant, who we are there, and a call of it. What it
//! answers is told in the same words as a call here.

use notehost_sdk::Code;
use std::io::{BufRead as _, IsTerminal as _};
use std::sync::Arc;

use clap::Args;
use serde_json::{Map, Value};

use super::failure::Failure;
use super::fields::quoted;
use super::options::{self, Common};
use super::profile::store::{self, Profiles};
use super::terminal::Terminal;
use super::{local_listener, pages, question};
use notehost_config::{Loaded, expand_home, state_folder};
use notehost_pipeline::registry::Snapshot;
use notehost_pipeline::{CallError, Reply};
use notehost_policy::auth::OwnerToken;
use notehost_transport::{Client, ClientError};

/// The variables that name a server, and what each says.
pub(super) const VARIABLES: [(&str, &str); 3] = [
    ("NOTEHOST_SERVER", "call this server, by its address"),
    ("NOTEHOST_PROFILE", "call the server of this profile"),
    ("NOTEHOST_TOKEN", "the token for that server"),
];

/// The flags that name a server.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct Remote {
    /// Ask a server elsewhere: its address, such as https://notes.example.org/mcp
    #[arg(long, value_name = "URL", conflicts_with = "profile")]
    server: Option<String>,
    /// The token that the server asks for; `-` reads the first line of stdin
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// Ask the server of this profile (see `notehost profile`)
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
}

impl Remote {
    /// The server that is meant, if one is. Flags win over variables, variables over the profile in use; and what names
    /// a vault of this machine (`is_here`) wins over everything but a flag that names a server.
    /// A server on this machine that no token was named for is shown the owner's token of the state folder.
    pub(super) fn client(&self, is_here: bool, common: &Common) -> Result<Option<Client>, Failure> {
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
        let client = client.with_token_on_loopback(|port| owner_token(common, port));
        warn_in_the_clear(&client);
        Ok(Some(client))
    }

    /// Whether a flag names a server.
    pub(super) fn is_named(&self) -> bool {
        self.server.is_some() || self.profile.is_some()
    }

    fn without_token(&self) -> Result<Option<Client>, Failure> {
        match self.token {
            None => Ok(None),
            Some(_) => Err(Failure::usage("`--token` without a server").with_hint(
                "say which: `--server URL` or `--profile NAME`; a vault of this machine needs no token",
            )),
        }
    }

    /// The domains of the server that is meant, or of this machine.
    pub(super) fn domains(
        &self,
        common: &Common,
        loaded: &Loaded,
    ) -> Result<Arc<Snapshot>, Failure> {
        match self.client(common.is_named(), common)? {
            Some(client) => Ok(Arc::new(options::block_on(client.actions())??)),
            None => Ok(options::block_on(options::load_components(loaded))??),
        }
    }
}

/// The token that a server with the same state folder made at its first start, if the one on this port can be it.
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
            "others on this machine can read your tokens in `{}`",
            file.display()
        ))
        .with_hint(format!(
            "`chmod 600 {path}`; a token that somebody may have read is better replaced"
        )));
    }
    // The variable is not asked: it may be meant for another server.
    let token = token.as_ref().or(profile.token.as_ref());
    Ok(Client::new(&profile.server, token.map(String::as_str))?)
}

/// The token that somebody said; `-` is the first line of stdin.
pub(super) fn token(said: &str) -> Result<String, Failure> {
    let token = match said {
        "-" => {
            let mut line = String::new();
            let read = std::io::stdin().lock().read_line(&mut line);
            read.map_err(|error| {
                Failure::usage(format!("cannot read the token from stdin: {error}"))
            })?;
            line.trim().to_owned()
        }
        said => said.to_owned(),
    };
    match token.is_empty() {
        false => Ok(token),
        true => Err(Failure::usage("the token is empty")),
    }
}

/// Say it where others on the way can read the token.
pub(super) fn warn_in_the_clear(client: &Client) {
    if client.shows_its_token() {
        let terminal = Terminal::stderr();
        terminal.print(&format!(
            "{} the token travels unencrypted to `{}`: use https\n",
            terminal.warning("warning:"),
            client.url()
        ));
    }
}

/// Why a call elsewhere has no reply.
pub(super) enum Trouble {
    /// The server says no.
    Call(CallError),
    /// There is no answer.
    Client(ClientError),
}

/// Make a call; a person who sits here is asked where the server wants that.
pub(super) async fn call(
    client: &Client,
    domain: &str,
    action: &str,
    arguments: &Map<String, Value>,
    every_page: bool,
) -> Result<Reply, Trouble> {
    let sits_here = Terminal::stderr().is_terminal() && std::io::stdin().is_terminal();
    let ask: &(dyn Fn(&str) -> bool + Sync) = &question::asked_from_afar;
    let once = async |cursor: Option<&str>| {
        let mut arguments = arguments.clone();
        if let Some(cursor) = cursor {
            arguments.insert("cursor".into(), cursor.into());
        }
        let ask = sits_here.then_some(ask);
        match client.call(domain, action, &arguments, ask).await {
            Ok(outcome) => outcome.map_err(Trouble::Call),
            Err(error) => Err(Trouble::Client(error)),
        }
    };
    let first = once(None).await?;
    match every_page {
        true => pages::with_rest(first, async |cursor: &str| once(Some(cursor)).await).await,
        false => Ok(first),
    }
}

/// What a person can do about an error of a server elsewhere, where its own hint speaks of the server's machine.
pub(super) fn hint(error: &CallError) -> Option<String> {
    if error.code != Code::ConfirmationRequired {
        return None;
    }
    let id = error.details.as_ref()?.get("approval")?.as_str()?;
    Some(format!(
        "over HTTP a person decides, whatever `--yes` says: at a terminal you are asked if the token is attended \
         (`notehost token new --attended`); or an admin of the server says \
         `notehost approval approve {id}`, and the same call with `--approval {id}` goes through once"
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
