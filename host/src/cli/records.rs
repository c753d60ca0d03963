//! Shared code of the commands that only read the records of this machine: they need no vault and no component, and
//! work with a running server.

use std::sync::Arc;

use crate::cli::logging;
use crate::cli::options::{self, Common};
use crate::cli::ui::failure::Failure;
use notehost_config::{Loaded, Overrides};
use notehost_platform::clock::now_ms;
use notehost_policy::auth::{Caller, Token, Tokens};
use notehost_records::{Records, RecordsError};

/// Opens the settings and the records of their state folder.
pub(crate) fn open(common: Common) -> Result<(Loaded, Arc<dyn Records>), Failure> {
    // Only flags and variables set the state folder: an invalid config must not prevent reading the records.
    let loaded = options::load(Overrides {
        ignore_file: true,
        config: None,
        ..common.given()
    })?;
    logging::start(&loaded.running, "warn")?;
    let records = notehost_records::open(&loaded.running.state)?;
    Ok((loaded, records))
}

impl From<RecordsError> for Failure {
    fn from(error: RecordsError) -> Self {
        Failure::start(error.to_string())
    }
}

/// The caller of the token with that name, if there is one; an error if it is revoked or expired.
pub(crate) fn token_caller(loaded: &Loaded, name: &str) -> Result<Option<Caller>, Failure> {
    let tokens = Tokens::new(
        notehost_records::open(&loaded.running.state)?,
        &loaded.running.state,
    );
    let found = tokens
        .list()?
        .into_iter()
        .find(|token| token.made.name == name);
    let Some(Token { made, revoked, .. }) = found else {
        return Ok(None);
    };
    let has_expired = made.expires.is_some_and(|expires| expires <= now_ms());
    if revoked.is_some() || has_expired {
        let how = if revoked.is_some() {
            "was revoked"
        } else {
            "has expired"
        };
        return Err(Failure::call(format!("the token `{name}` {how}")));
    }
    let caller = Caller::with_token(&made.name, made.scopes, made.vaults, made.permissions);
    Ok(Some(caller.attended(made.attended)))
}
