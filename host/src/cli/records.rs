//! What the commands share that only look into the records of this machine: they need no vault and no component, and
//! work beside a running server.

use super::failure::Failure;
use super::logging;
use super::options::{self, Common};
use super::terminal::Terminal;
use crate::config::Loaded;
use crate::database::{Database, DatabaseError};

/// The settings, and the records that they lead to.
pub(super) fn open(common: Common) -> Result<(Loaded, Database), Failure> {
    let loaded = options::load(common.given())?;
    logging::start(&loaded.running, "warn")?;
    let database = Database::open(&loaded.running.state)?;
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
