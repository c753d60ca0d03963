//! The search index, built anew from the notes while everything goes on: answers meanwhile are made of what is there.

use notehost_sdk::Code;
use std::sync::Arc;
use std::time::Duration;

use notehost_sdk::index::IndexState;
use serde_json::json;

use super::super::authorize::Allowed;
use super::super::resolve::nearest;
use super::super::{BadRights, CallError, Host};
use super::Answer;
use notehost_index::{Index, condemn, forgive, is_condemned};
use notehost_runtime::Progress;
use notehost_vault::Vault;

/// How often it is looked at how far it is.
const LOOK: Duration = Duration::from_millis(50);

/// Build the index of a vault, or of all that the caller may use.
pub(super) async fn rebuild(host: &Host, allowed: &Allowed) -> Result<Answer, CallError> {
    let vaults = chosen(host, allowed)?;
    let mut items = Vec::new();
    let mut before = 0;
    for vault in &vaults {
        let index = host.index_of(vault);
        before += one(allowed, vault, &index, before).await?;
        items.push(json!({ "vault": vault.id(), "notes": index.progress().done }));
    }
    let text = format!("the index was built anew from {before} notes");
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

/// Leave word to the index's own thread, and wait until it is done. How many notes there are.
async fn one(
    allowed: &Allowed,
    vault: &Vault,
    index: &Index,
    before: u64,
) -> Result<u64, CallError> {
    let request = &allowed.checked.found.request;
    condemn(vault).map_err(|error| {
        let message = format!("the index cannot be built anew: {error}");
        CallError::new(Code::Unavailable, message)
    })?;
    index.start();
    while is_condemned(vault) || !index.is_ready() {
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = request.cancelled.cancelled() => {
                // What has begun goes on: half an index would answer wrongly.
                let message = match forgive(vault, index) {
                    true => "the call was cancelled and the index left as it was",
                    false => "the call was cancelled; the index is still being built anew, and will be complete",
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
