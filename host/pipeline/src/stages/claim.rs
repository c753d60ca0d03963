//! Idempotent calls: the `idempotency_key` of a call is claimed before it runs, and its reply is stored for repeated
//! calls. A call of a local session has an id of its own instead: it is only recorded with the commit, and read again if
//! the session sends the call again because its connection broke.

use notehost_sdk::Code;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::authorize::Allowed;
use crate::application::running_calls::RunningCall;
use crate::{CallError, Host, Reply};
use notehost_policy as policy;
use notehost_vault::{Committed, Effect};

/// The outcome of claiming a key.
#[must_use]
pub enum Claimed {
    /// The call has to run.
    ToDo(Claim),
    /// The call was done before; this was its reply.
    Answered(Reply),
}

/// What identifies a call, if anything does: its key, or its id in a local session.
#[derive(Clone, Default)]
#[must_use]
pub struct Claim {
    key: Option<Arc<Held>>,
    /// Kept as long as the call or its commit runs.
    call: Option<Arc<RunningCall>>,
}

struct Held {
    claim: policy::Claim,
    /// The rules under which the reply was made.
    rules: String,
}

impl Claim {
    /// Identifies this call in the vault's history.
    pub(crate) fn in_history(&self) -> Option<String> {
        let key = self.key.as_ref().map(|held| held.claim.in_history());
        key.or_else(|| self.call.as_ref().map(|call| call.in_history()))
    }

    /// A commit has begun: the key must not be released any more.
    pub(crate) fn set_committing(&self, is_begun: bool) {
        if let Some(held) = &self.key {
            held.claim.committing(is_begun);
        }
    }

    /// Stores the reply for repeated calls.
    pub(crate) fn keep(&self, reply: &Reply) {
        if let Some(held) = &self.key {
            let kept = json!({
                "text": reply.text,
                "structured": reply.structured,
                "rules": held.rules,
            });
            held.claim.keep(&kept.to_string());
        }
    }
}

/// Claims the key of a call, and its id.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn claim(host: &Host, allowed: &Allowed) -> Result<Claimed, CallError> {
    let _stage = allowed.clock.stage("claim");
    let common = &allowed.checked.common;
    // Dry runs and reads have no effect to repeat, and the caller may by then see less than an earlier reply shows.
    if common.dry_run || allowed.effect == Effect::Read {
        return Ok(Claimed::ToDo(Claim::default()));
    }
    let request = &allowed.checked.found.request;
    let mut call = None;
    if let Some(sent) = &request.call {
        let running = host.running_calls().begin(&sent.id).await;
        if sent.is_repeated
            && common.idempotency_key.is_none()
            && let Some(committed) = allowed.vault.landed(&running.in_history())?
        {
            return Ok(Claimed::Answered(reply_of(committed)));
        }
        call = Some(Arc::new(running));
    }
    match common.idempotency_key.as_deref() {
        None => Ok(Claimed::ToDo(Claim { key: None, call })),
        Some(key) => claim_key(host, allowed, key, call),
    }
}

fn claim_key(
    host: &Host,
    allowed: &Allowed,
    key: &str,
    call: Option<Arc<RunningCall>>,
) -> Result<Claimed, CallError> {
    let keep_ms = host
        .settings()
        .idempotency
        .keep_hours
        .saturating_mul(3_600_000);
    let claimed = host
        .idempotency()
        .claim(
            // A key is valid in one vault only.
            &format!("{}\n{}", allowed.caller.label(), allowed.vault.identity()),
            key,
            &allowed.binding(),
            i64::try_from(keep_ms).unwrap_or(i64::MAX),
        )
        .map_err(|error| CallError::new(Code::Unavailable, error.to_string()))?;
    let rules = allowed.caller_rules.clone();
    let held = |claim: policy::Claim| {
        let rules = rules.clone();
        Claim {
            key: Some(Arc::new(Held { claim, rules })),
            call: call.clone(),
        }
    };
    match claimed {
        policy::Claimed::Ours(claim) => Ok(Claimed::ToDo(held(claim))),
        policy::Claimed::Orphan(claim) => match allowed.vault.landed(&claim.in_history())? {
            None => Ok(Claimed::ToDo(held(claim))),
            Some(committed) => {
                let reply = reply_of(committed);
                held(claim).keep(&reply);
                Ok(Claimed::Answered(reply))
            }
        },
        policy::Claimed::Answered(kept) => kept_reply(&kept, &rules).map(Claimed::Answered),
        policy::Claimed::InFlight => Err(CallError::new(
            Code::IdempotencyInFlight,
            format!("a call with the key `{key}` is still running; ask again for its reply"),
        )),
        policy::Claimed::Mismatch => Err(CallError::new(
            Code::IdempotencyMismatch,
            format!("the key `{key}` was used for another call; use a new key for each call"),
        )),
    }
}

/// A stored reply. If the rules changed since, only the fact that the call was done is returned: the reply may name
/// what the caller may no longer see.
fn kept_reply(kept: &str, rules: &str) -> Result<Reply, CallError> {
    let broken = || CallError::new(Code::InternalError, "the stored reply cannot be read");
    let mut kept: Value = serde_json::from_str(kept).map_err(|_| broken())?;
    let is_as_then = kept["rules"] == rules;
    let (Value::String(text), Value::Object(structured)) =
        (kept["text"].take(), kept["structured"].take())
    else {
        return Err(broken());
    };
    if is_as_then {
        return Ok(Reply {
            text,
            structured,
            content: Vec::new(),
        });
    }
    let change = structured.into_iter().filter(|(name, _)| name == "change");
    Ok(Reply {
        text: "This call had already been carried out.".to_owned(),
        structured: change.collect(),
        content: Vec::new(),
    })
}

/// The reply for a call whose own reply was lost with its process.
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
    let mut structured = Map::new();
    let mut undo = String::new();
    structured.insert("changes".into(), changes.into());
    if let Some(id) = committed.change {
        undo = format!(" (change {id}, can be undone)");
        structured.insert("change".into(), id.into());
    }
    Reply {
        text: format!(
            "This call had already been carried out{undo}. Its reply was lost when the server stopped."
        ),
        structured,
        content: Vec::new(),
    }
}
