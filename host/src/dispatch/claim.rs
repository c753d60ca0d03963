//! A call that is sent twice happens once: its `idempotency_key` is claimed before it runs, and its reply is kept.

use serde_json::{Map, Value, json};

use super::authorize::Allowed;
use super::{CallError, Host, Reply};
use crate::policy;
use crate::vault::Committed;

/// What the key of a call comes to.
pub(super) enum Claimed {
    /// It is to be done.
    ToDo(Claim),
    /// It was done before: this was the reply.
    Answered(Reply),
}

/// The key of a call, if it has one.
pub(super) struct Claim(Option<policy::Claim>);

impl Claim {
    /// What names this call in the vault's history.
    pub(super) fn in_history(&self) -> Option<String> {
        self.0.as_ref().map(policy::Claim::in_history)
    }

    /// Keep the reply for whoever calls again.
    pub(super) fn keep(self, reply: &Reply) {
        if let Some(claim) = self.0 {
            let kept = json!({ "text": reply.text, "structured": reply.structured });
            claim.keep(&kept.to_string());
        }
    }
}

/// Claim the key of a call.
pub(super) fn claim(host: &Host, allowed: &Allowed) -> Result<Claimed, CallError> {
    let common = &allowed.checked.common;
    let Some(key) = common.idempotency_key.as_deref() else {
        return Ok(Claimed::ToDo(Claim(None)));
    };
    // A dry run does nothing that could happen twice.
    if common.dry_run {
        return Ok(Claimed::ToDo(Claim(None)));
    }
    let keep_ms = host
        .settings()
        .idempotency
        .keep_hours
        .saturating_mul(3_600_000);
    let claimed = host
        .idempotency()
        .claim(
            allowed.caller.name(),
            key,
            &allowed.binding(),
            i64::try_from(keep_ms).unwrap_or(i64::MAX),
        )
        .map_err(|error| CallError::new("unavailable", error.to_string()))?;
    match claimed {
        policy::Claimed::Ours(claim) => Ok(Claimed::ToDo(Claim(Some(claim)))),
        policy::Claimed::Orphan(claim) => match allowed.vault.landed(&claim.in_history())? {
            None => Ok(Claimed::ToDo(Claim(Some(claim)))),
            Some(committed) => {
                let reply = reply_of(committed);
                Claim(Some(claim)).keep(&reply);
                Ok(Claimed::Answered(reply))
            }
        },
        policy::Claimed::Answered(kept) => kept_reply(&kept).map(Claimed::Answered),
        policy::Claimed::InFlight => Err(CallError::new(
            "idempotency_in_flight",
            format!("a call with the key `{key}` is still running; ask again for its reply"),
        )),
        policy::Claimed::Mismatch => Err(CallError::new(
            "idempotency_mismatch",
            format!("the key `{key}` was used for another call; use a new key for each call"),
        )),
    }
}

fn kept_reply(kept: &str) -> Result<Reply, CallError> {
    let broken = || CallError::new("internal_error", "the kept reply cannot be read");
    let kept: Value = serde_json::from_str(kept).map_err(|_| broken())?;
    let (Some(text), Some(structured)) = (kept["text"].as_str(), kept["structured"].as_object())
    else {
        return Err(broken());
    };
    Ok(Reply {
        text: text.to_owned(),
        structured: structured.clone(),
        content: Vec::new(),
    })
}

/// What can still be told of a call whose reply was lost with the process that ran it.
fn reply_of(committed: Committed) -> Reply {
    let changes: Vec<Value> = committed
        .files
        .iter()
        .map(|file| {
            let mut change = Map::new();
            change.insert("path".into(), file.path.clone().into());
            change.insert("kind".into(), json!(file.kind));
            if let Some(from) = &file.from {
                change.insert("from".into(), from.clone().into());
            }
            if let Some(etag) = &file.after {
                change.insert("etag".into(), etag.clone().into());
            }
            change.insert("added".into(), 0.into());
            change.insert("removed".into(), 0.into());
            change.into()
        })
        .collect();
    let id = committed.change.unwrap_or_default();
    let mut structured = Map::new();
    structured.insert("changes".into(), changes.into());
    structured.insert("change".into(), id.clone().into());
    Reply {
        text: format!(
            "This call had already been carried out (change {id}, can be undone). What it answered was lost when the \
             server stopped."
        ),
        structured,
        content: Vec::new(),
    }
}
