//! Waits until a permission is revoked, and tries what still works.

use std::time::Duration;

use notehost_sdk::guest::notehost::domain::log;
use notehost_sdk::guest::notehost::domain::types::{Error, Reply};
use notehost_sdk::guest::notehost::domain::vault::{Tier, Vault};
use notehost_sdk::serde_json::{Value, json};

use crate::{answer, text};

/// Reads a note, waits until its access changes, and returns the new outcome.
pub fn read(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    let path = text(arguments, "path");
    let before = code(vault.read(path));
    let held = tier(vault, path);
    linger(|| tier(vault, path) != held);
    let listed = vault.list("", true, None, 1000).map_or(0, |page| {
        let entries = page.entries.iter();
        entries
            .filter(|entry| entry.path.starts_with(folder(path)))
            .count()
    });
    Ok(answer(&json!({
        "before": before,
        "read": code(vault.read(path)),
        "stat": code(vault.stat(path)),
        "access": tier(vault, path),
        "listed": listed,
        "found": vault.resolve(path, None).map_or(0, |found| found.len()),
    })))
}

/// Stages a new note, waits until it may not write any more, and reports success, so that anything it staged would be
/// committed.
pub fn write(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    let path = text(arguments, "path");
    let bytes = vault.read(path)?.bytes;
    vault.create(&format!("{}Early.md", folder(path)), b"before")?;
    // Writing a note that exists stages nothing.
    linger(|| vault.write(path, &bytes, None).is_err());
    let write = code(vault.write(path, b"after", None));
    let create = code(vault.create(&format!("{}Late.md", folder(path)), b"after"));
    // Nothing can be committed, so there is no reply that could show this.
    log::write(log::Level::Info, &format!("write {write}, create {create}"));
    Ok(answer(&json!({})))
}

/// Logs that it waits, and waits.
fn linger(is_over: impl Fn() -> bool) {
    log::write(log::Level::Info, "lingering");
    while !is_over() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn folder(path: &str) -> &str {
    path.rfind('/').map_or("", |end| &path[..=end])
}

fn code<T>(outcome: Result<T, Error>) -> String {
    outcome.map_or_else(|error| error.code, |_| "ok".to_owned())
}

fn tier(vault: &Vault, path: &str) -> &'static str {
    match vault.access(path) {
        Tier::None => "none",
        Tier::Read => "r",
        Tier::Write => "rw",
        Tier::Delete => "rwd",
    }
}
