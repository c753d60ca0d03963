//! Rebuilds the search index from the notes. Queries are answered from the existing index meanwhile.

use notehost_sdk::{Code, Effect, args, reply};
use std::sync::Arc;
use std::time::Duration;

use super::{AdminAction, AdminCall, Answer};
use crate::stages::authorize::Allowed;
use crate::stages::resolve::nearest;
use crate::{BadRights, CallError, Host};
use notehost_index::{Index, clear_rebuild_request, is_rebuild_requested, request_rebuild};
use notehost_runtime::Progress;
use notehost_sdk::index::IndexState;
use notehost_vault::Vault;

/// How often the progress of the rebuild is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Rebuild the search index from the notes if searches miss content. Takes seconds to minutes, reports progress; calls are
/// answered meanwhile.
///
/// Example: `{}`
#[args]
pub(super) struct Rebuild {
    /// The vault, by its id; without it all of them.
    #[allow(
        dead_code,
        reason = "the host takes `vault` out of the arguments of every call"
    )]
    vault: Option<String>,
}

/// What was rebuilt.
#[reply]
pub(super) struct RebuiltList {
    items: Vec<Rebuilt>,
}

#[reply]
struct Rebuilt {
    /// The vault.
    vault: String,
    /// How many notes are in its index.
    notes: u64,
}

impl AdminAction for Rebuild {
    type Output = RebuiltList;
    const EFFECT: Effect = Effect::Write;

    async fn run(self, call: &AdminCall<'_>) -> Answer<RebuiltList> {
        let vaults = chosen(call.host, call.allowed)?;
        let mut items = Vec::new();
        let mut before = 0;
        for vault in &vaults {
            let index = call.host.index_of(vault);
            before += one(call.allowed, vault, &index, before).await?;
            items.push(Rebuilt {
                vault: vault.id().to_owned(),
                notes: index.progress().done,
            });
        }
        let text = format!("the index was rebuilt from {before} notes");
        Ok((text, RebuiltList { items }))
    }
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
                // A rebuild that has begun continues: half an index would give wrong answers.
                let message = match clear_rebuild_request(vault, index) {
                    true => "the call was cancelled; the index was not rebuilt",
                    false => "the call was cancelled; the rebuild of the index continues in the background",
                };
                return Err(CallError::new(Code::Unavailable, message));
            }
        }
        let state = index.progress();
        // Until the rebuild begins, `done` equals `total`: that is not the end.
        if state.done < state.total {
            report(allowed, vault, &state, before);
        }
    }
    let state = index.progress();
    report(allowed, vault, &state, before);
    Ok(state.done)
}

fn report(allowed: &Allowed, vault: &Vault, state: &IndexState, before: u64) {
    if let Some(sink) = &allowed.checked.found.request.progress {
        sink.report(Progress {
            done: before + state.done,
            total: Some(before + state.total),
            message: format!("notes of `{}` indexed", vault.id()),
        });
    }
}
