//! What the commands share that only look into the records of this machine: they need no vault and no component, and
//! work beside a running server.

use std::sync::Arc;

use super::failure::Failure;
use super::logging;
use super::options::{self, Common};
use super::terminal::Terminal;
use notehost_config::{Given, Loaded};
use notehost_policy::auth::{Caller, Token, Tokens};
use notehost_records::database::{Database, DatabaseError, now_ms};

/// The settings, and the records that they lead to.
pub(super) fn open(common: Common) -> Result<(Loaded, Database), Failure> {
    // Where the records lie only flags and variables say: a broken config must not keep anybody from them.
    let loaded = options::load(Given {
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

/// A unified diff, coloured where that can be.
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

/// Whoever shows the token of that name, if there is one; an error if it no longer holds.
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
        return Err(Failure::call(format!(
            "the token `{name}` {how}: it may do nothing"
        )));
    }
    let caller = Caller::with_token(&made.name, made.scopes, made.vaults, made.permissions);
    Ok(Some(caller.attended(made.attended)))
}
