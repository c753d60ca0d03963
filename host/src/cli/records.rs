//! Shared code of the commands that only read the records of this machine: they need no vault and no component, and
//! work with a running server.

use std::sync::Arc;

use super::failure::Failure;
use super::logging;
use super::options::{self, Common};
use super::terminal::Terminal;
use notehost_config::{Loaded, Overrides};
use notehost_policy::auth::{Caller, Token, Tokens};
use notehost_records::database::{Database, DatabaseError, now_ms};

/// Opens the settings and the records of their state folder.
pub(super) fn open(common: Common) -> Result<(Loaded, Database), Failure> {
    // Only flags and variables set the state folder: an invalid config must not prevent reading the records.
    let loaded = options::load(Overrides {
        ignore_file: true,
        config: None,
        ..common.given()
    })?;
    logging::start(&loaded.running, "warn")?;
    let database = notehost_policy::open_records(&loaded.running.state)?;
    Ok((loaded, database))
}

impl From<DatabaseError> for Failure {
    fn from(error: DatabaseError) -> Self {
        Failure::start(error.to_string())
    }
}

/// A unified diff, coloured on a terminal.
pub(super) fn coloured_diff(terminal: &Terminal, diff: &str) -> String {
    let mut text = String::new();
    for line in terminal.safe(diff).lines() {
        let coloured = match line.as_bytes().first() {
            Some(b'+') => terminal.good(line),
            Some(b'-') => terminal.bad(line),
            Some(b'@') => terminal.faint(line),
            _ => line.to_owned(),
        };
        text.push_str(&coloured);
        text.push('\n');
    }
    text
}

/// The caller of the token with that name, if there is one; an error if it is revoked or expired.
pub(super) fn token_caller(loaded: &Loaded, name: &str) -> Result<Option<Caller>, Failure> {
    let tokens = Tokens::new(Arc::new(notehost_policy::open_records(
        &loaded.running.state,
    )?));
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
