//! Access to what was not granted: paths outside the grant or the vault, the machine, the previous call.

use std::io::Read as _;
use std::sync::atomic::{AtomicU32, Ordering};

use notehost_sdk::guest::notehost::domain::store;
use notehost_sdk::guest::notehost::domain::types::{Error, Reply};
use notehost_sdk::guest::notehost::domain::vault::{Tier, Vault};
use notehost_sdk::serde_json::{Value, json};

use crate::{answer, text};

/// Runs one function of the vault (`with`) on a path, and returns the outcome. It never fails itself, so that anything
/// it staged would be committed.
pub fn reach(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    let (path, to) = (text(arguments, "path"), text(arguments, "to"));
    let outcome = match text(arguments, "with") {
        "stat" => vault.stat(path).map(|entry| json!(entry.path)),
        "read" => vault
            .read(path)
            .map(|blob| json!(String::from_utf8_lossy(&blob.bytes))),
        "list" => vault
            .list(path, true, None, 1000)
            .map(|page| page.entries.into_iter().map(|entry| entry.path).collect()),
        "resolve" => vault.resolve(path, None).map(|paths| json!(paths)),
        "mentioning" => vault
            .mentioning(&[path.to_owned()])
            .map(|paths| json!(paths)),
        "access" => Ok(json!(match vault.access(path) {
            Tier::None => "none",
            Tier::Read => "r",
            Tier::Write => "rw",
            Tier::Delete => "rwd",
        })),
        "create" => vault.create(path, b"trespass").map(|etag| json!(etag)),
        "write" => vault.write(path, b"trespass", None).map(|etag| json!(etag)),
        "create_folder" => vault.create_folder(path).map(|()| json!(path)),
        "rename" => vault.rename(path, to).map(|()| json!(to)),
        "remove" => vault.remove(path).map(|ids| json!(ids)),
        "trash" => vault
            .trash(None, 1000)
            .map(|items| items.into_iter().map(|item| item.path).collect()),
        "restore" => vault.restore(path, None).map(|path| json!(path)),
        "history" => vault
            .history(None, None, 1000)
            .map(|changes| json!(changes.len())),
        "history_after" => vault
            .history(None, Some(path), 1000)
            .map(|changes| json!(changes.len())),
        "before" => vault
            .before(path, to)
            .map(|blob| json!(blob.map(|blob| String::from_utf8_lossy(&blob.bytes).into_owned()))),
        "undo" => vault.undo(path).map(|files| json!(files.len())),
        "store_set" => store::set(path, b"trespass").map(|()| json!(path)),
        other => Ok(json!(format!("no function {other}"))),
    };
    Ok(answer(&match outcome {
        Ok(got) => json!({ "got": got }),
        Err(error) => json!({ "refused": error.code, "message": error.message }),
    }))
}

/// The ambient environment of a program.
pub fn ambient(_: &Vault, _: &Value) -> Result<Reply, Error> {
    let mut input = Vec::new();
    let _ = std::io::stdin().read_to_end(&mut input);
    Ok(answer(&json!({
        "environment": std::env::vars().map(|(name, _)| name).collect::<Vec<_>>(),
        "arguments": std::env::args().collect::<Vec<_>>(),
        "input": input.len(),
    })))
}

/// Counts its calls in memory that would survive a call if anything did.
pub fn remember(_: &Vault, _: &Value) -> Result<Reply, Error> {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let calls = CALLS.fetch_add(1, Ordering::Relaxed) + 1;
    Ok(answer(&json!({ "calls": calls })))
}
