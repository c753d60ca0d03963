//! The caller of a local session: who it is, with which settings, in which vaults. A program of the same user never gets more
//! than it would by serving the vault itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use notehost_config::Surface;
use notehost_relay::{Hello, Refusal, Role, ServedVault, SettingsUpdate};

use notehost_pipeline::{CallId, Host, OpenSession};
use notehost_platform::clock::now_ms;
use notehost_policy::auth::{Caller, Token};

/// A session of another program.
pub(crate) struct LocalSession {
    open: OpenSession,
    /// Its id, which holders of the vault know and nobody else.
    id: String,
    pub(crate) caller: Caller,
    pub(crate) surface: Surface,
    /// This process's ids of its vaults, by its own.
    pub(crate) vault_ids: BTreeMap<String, String>,
}

impl LocalSession {
    pub(crate) fn open(
        host: &Arc<Host>,
        hello: &Hello,
        served: &[ServedVault],
    ) -> Result<LocalSession, Refusal> {
        let vault_ids = vault_ids(hello, served)?;
        let own = hello.settings.clone().with_vault_ids(&vault_ids);
        let surface = own.surface;
        let caller = match &hello.role {
            Role::Serve => Caller::stdio(),
            Role::CommandLine { caller: None } => Caller::command_line(None),
            Role::CommandLine { caller: Some(name) } => {
                token_caller(host, name)?.unwrap_or_else(|| Caller::command_line(Some(name)))
            }
        };
        let caller = match vault_ids.len() < served.len() {
            true => caller.bound_to(vault_ids.values().cloned().collect()),
            false => caller,
        };
        let open = host.open_session(own).map_err(|error| Refusal {
            message: format!("the permissions of this session cannot be used: {error}"),
            hint: "`notehost config validate` checks the config".to_owned(),
        })?;
        Ok(LocalSession {
            caller: caller.in_session(open.id()),
            open,
            id: hello.session.clone(),
            surface,
            vault_ids,
        })
    }

    /// Applies changed settings of its program.
    pub(crate) fn update(&self, update: SettingsUpdate) {
        // A client of the program could send this too.
        if update.session != self.id {
            tracing::warn!("a client tried to change the settings of its session");
            return;
        }
        let own = update.settings.with_vault_ids(&self.vault_ids);
        match self.open.update(own) {
            Ok(()) => tracing::info!("the settings of a session were changed by its program"),
            Err(error) => tracing::warn!("changed settings of a session cannot be used: {error}"),
        }
    }

    /// The id of a call, from the number that its program gave it.
    pub(crate) fn call(&self, sent: &serde_json::Value) -> Option<CallId> {
        let (number, again) = (sent.get(0)?.as_u64()?, sent.get(1)?.as_u64()?);
        Some(CallId {
            id: format!("{}/{number}", self.id),
            is_repeated: again != 0,
        })
    }
}

/// The ids of the session's vaults here.
fn vault_ids(hello: &Hello, served: &[ServedVault]) -> Result<BTreeMap<String, String>, Refusal> {
    let mut ids = BTreeMap::new();
    for (own, key) in &hello.vaults {
        let Some(vault) = served.iter().find(|vault| vault.key == *key) else {
            let process = std::process::id();
            return Err(Refusal {
                message: format!("process {process} serves one of these vaults, but not `{own}`"),
                hint: format!(
                    "serve them with one config, name one vault (`notehost serve FOLDER`), or stop process {process}"
                ),
            });
        };
        ids.insert(own.clone(), vault.id.clone());
    }
    Ok(ids)
}

/// The caller of the token with that name, at the terminal of its user.
fn token_caller(host: &Host, name: &str) -> Result<Option<Caller>, Refusal> {
    let refused = |message: String| Refusal {
        message,
        hint: "`notehost token list` shows the tokens".to_owned(),
    };
    let tokens = host
        .tokens()
        .list()
        .map_err(|error| refused(error.to_string()))?;
    let Some(Token { made, revoked, .. }) =
        tokens.into_iter().find(|token| token.made.name == name)
    else {
        return Ok(None);
    };
    let has_expired = made.expires.is_some_and(|expires| expires <= now_ms());
    if revoked.is_some() || has_expired {
        return Err(refused(format!(
            "the token `{name}` was revoked or has expired"
        )));
    }
    let caller = Caller::with_token(&made.name, made.scopes, made.vaults, made.permissions);
    Ok(Some(caller.attended(made.attended).at_terminal()))
}
