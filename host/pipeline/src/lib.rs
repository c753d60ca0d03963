//! The order of checks: everything that happens to a call between the wire and the disk. Each stage consumes what
//! the stage before it made, so that leaving one out does not compile.

pub mod kit;
pub mod registry;

mod admin;
mod approval_diff;
mod authorize;
mod claim;
mod commit;
mod completing;
mod confirm;
mod conform;
mod conventions;
mod explain;
mod govern;
mod hearing;
mod host;
mod orientation;
mod outside;
mod progress;
mod question_text;
mod record;
mod reload;
mod reply;
mod resolve;
mod rights;
mod run;
mod standing;
mod status;
mod supervision;
mod surroundings;
mod throttle;
mod validate;
mod vault_data;

pub use completing::{complete, complete_notebook};
pub use explain::{Asked, Deciding, Explanation, explain};
pub use hearing::{Happened, Hearing};
pub use host::{Host, StartError};
pub use notehost_index::{Completing, Edit, fitting};
pub use notehost_policy::ConfirmedVia;
pub use notehost_sdk::Code;
pub use orientation::orientation;
pub use progress::ProgressSink;
pub use question_text::diff_excerpt;
pub use reload::ReloadError;
pub use reply::{CallError, Content, Reply};
pub use rights::BadRights;
pub use status::{ComponentStatus, RestTold, component_status};
pub use vault_data::data_line;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

pub use notehost_runtime::Progress;

use authorize::{Allowed, authorize};
use claim::{Claim, Claimed, claim};
use commit::{Attempts, Landed, Landing, commit};
use confirm::{Confirmation, confirm};
use conform::conform;
use govern::govern;
use notehost_policy::auth::Caller;
use notehost_vault::{contained, reply_point};
use record::Record;
use resolve::resolve;
use run::run;
use supervision::supervise;
use throttle::throttle;
use validate::validate;

/// What a caller asks for.
#[derive(Debug, Clone)]
pub struct Request {
    /// The domain.
    pub domain: String,
    /// The action.
    pub action: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// Ends the call when the caller gives up.
    pub cancelled: CancellationToken,
    /// The caller's span that this call belongs to, as W3C writes it. Controlled by the caller.
    pub traceparent: Option<String>,
    /// Hears how far the call has come, if somebody wants to know.
    pub progress: Option<ProgressSink>,
}

/// One call, from the wire to the disk and back. Whatever comes of it is recorded.
pub async fn call(host: &Host, caller: &Caller, request: Request) -> Result<Reply, CallError> {
    let mut record = Record::begin(host, caller, &request);
    let outcome = answer(host, caller, request, &mut record).await;
    contained(|| record.end(&outcome));
    outcome
}

/// Write down what was answered without a call: help, and tools that nobody knows.
pub fn answered(
    host: &Host,
    caller: &Caller,
    request: &Request,
    outcome: &Result<Reply, CallError>,
) {
    Record::begin(host, caller, request).end(outcome);
}

/// Everything that happens to a call, in order.
async fn answer(
    host: &Host,
    caller: &Caller,
    request: Request,
    record: &mut Record<'_>,
) -> Result<Reply, CallError> {
    let generation = host.generation(); // what is taken away from here on is met in the middle of the call
    let domains = host.registry().snapshot(); // a call in flight keeps the one it began with
    let found = resolve(host, &domains, caller, request)?; // a name becomes an action
    let checked = validate(found)?; // the arguments fit its schema
    let allowed = authorize(host, caller, checked, generation)?; // only this makes an `Allowed`
    record.allowed(&allowed);
    let claim = match claim(host, &allowed)? {
        Claimed::Answered(reply) => return Ok(reply), // the same call, sent again
        Claimed::ToDo(claim) => claim,
    };
    throttle(host, &allowed)?; // not more often than this caller may
    let _watched = supervise(host, &allowed)?; // a component that keeps failing rests
    let mut attempts = Attempts::new();
    let mut confirmation = Confirmation::of(host, &allowed)?;
    let landed = loop {
        let attempt = run(host, &allowed, confirmation.frozen()).await?; // on a fresh instance, nothing visible yet
        let staged = conform(host, &allowed, attempt).await?; // what it wants to change keeps the vault's rules
        let settled = confirm(host, &allowed, &mut confirmation, staged).await?; // a person has seen what is destructive
        match commit(&allowed, &claim, settled).await? {
            Landing::Landed(landed) => break landed,
            // What the action had read changed meanwhile: it decides again on what is there now.
            Landing::Conflict(path) => attempts.again(path, &allowed.outside).await?,
        }
    };
    record.landed(&landed, confirmation.confirmed());
    reply(host, &allowed, landed, claim)
}

/// What is left to do when everything has landed. A panic here must not make a failure of it.
fn reply(host: &Host, allowed: &Allowed, landed: Landed, claim: Claim) -> Result<Reply, CallError> {
    let (is_landed, change) = (landed.footprint.is_landed, landed.footprint.change.clone());
    contained(|| {
        reply_point("reply-told");
        landed.tell(host, allowed); // what the component says to people
    });
    let governed = contained(|| {
        reply_point("reply-cut");
        govern(host, allowed, landed) // no more than a client can take
    });
    let reply = match governed {
        Some(governed) => governed?,
        None if is_landed => Reply::without_words(change.as_deref()),
        None => return Err(CallError::new(Code::InternalError, "the reply panicked")),
    };
    contained(|| {
        reply_point("reply-kept");
        claim.keep(&reply);
    });
    Ok(reply)
}
