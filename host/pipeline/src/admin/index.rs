//! Rebuilds the search index from the notes. Queries are answered from the existing index meanwhile.

use notehost_sdk::Code;
use std::sync::Arc;
use std::time::Duration;

use notehost_sdk::index::IndexState;
use serde_json::json;

use super::super::authorize::Allowed;
use super::super::resolve::nearest;
use super::super::{BadRights, CallError, Host};
use super::Answer;
use notehost_index::{Index, clear_rebuild_request, is_rebuild_requested, request_rebuild};
use notehost_runtime::Progress;
use notehost_vault::Vault;

/// How often the progress of the rebuild is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Rebuilds the index of a vault, or of all vaults of the caller.
pub(super) async fn rebuild(host: &Host, allowed: &Allowed) -> Result<Answer, CallError> {
    let vaults = chosen(host, allowed)?;
    let mut items = Vec::new();
    let mut before = 0;
    for vault in &vaults {
        let index = host.index_of(vault);
        before += one(allowed, vault, &index, before).await?;
        items.push(json!({ "vault": vault.id(), "notes": index.progress().done }));
    }
    let text = format!("the index was rebuilt from {before} notes");
    Ok((text, json!({ "items": items })))
}

fn chosen(host: &Host, allowed: &Allowed) -> Result<Vec<Arc<Vault>>, CallError> {
    let broken = |error: BadRights| CallError::new(Code::InternalError, error.to_string());
    let mut vaults = host.vaults_of(&allowed.caller).map_err(broken)?;
    if let Some(id) = allowed.checked.common.vault.as_deref() {
        let known = host.vault_ids_of(&allowed.caller);
        vaults.retain(|vault| vault.id() == id);
        if vaults.is_empty() {
            let meant = nearest(id, known.iter().map(String::as_str));
            return Err(CallError::new(
                Code::NotFound,
                format!("no vault `{id}`{meant}"),
            ));
        }
    }
    Ok(vaults)
}

/// Requests a rebuild from the indexer thread and waits for it. Returns the number of notes.
async fn one(
    allowed: &Allowed,
    vault: &Vault,
    index: &Index,
    before: u64,
) -> Result<u64, CallError> {
    let request = &allowed.checked.found.request;
    request_rebuild(vault).map_err(|error| {
        let message = format!("the index cannot be rebuilt: {error}");
        CallError::new(Code::Unavailable, message)
    })?;
    index.start();
    while is_rebuild_requested(vault) || !index.is_ready() {
        tokio::select! {
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            () = request.cancelled.cancelled() => {
                // What has begun goes on: half an index would answer wrongly.
                let message = match clear_rebuild_request(vault, index) {
                    true => "the call was cancelled; the index was not rebuilt",
                    false => "the call was cancelled; the rebuild of the index continues in the background",
                };
                return Err(CallError::new(Code::Unavailable, message));
            }
        }
        let state = index.progress();
        // Before anything was forgotten everything is there: that is not the end.
        if state.done < state.total {
            tell(allowed, vault, &state, before);
        }
    }
    let state = index.progress();
    tell(allowed, vault, &state, before);
    Ok(state.done)
}

fn tell(allowed: &Allowed, vault: &Vault, state: &IndexState, before: u64) {
    if let Some(sink) = &allowed.checked.found.request.progress {
        sink.report(Progress {
            done: before + state.done,
            total: Some(before + state.total),
            message: format!("notes of `{}` indexed", vault.id()),
        });
    }
}
