//! The pipeline: everything that happens to a call between the wire and the disk. Each stage consumes the value that
//! the previous stage made, so skipping one does not compile.

pub mod conformance;
pub mod registry;

mod admin;
mod approval_diff;
mod authorize;
mod call_environment;
mod circuit_breaker;
mod claim;
mod commit;
mod completion;
mod confirm;
mod conform;
mod conventions;
mod egress;
mod explain;
mod file_events;
mod govern;
mod host;
mod live_rights;
mod orientation;
mod progress;
mod question_text;
mod record;
mod reload;
mod reply;
mod resolve;
mod rights;
mod run;
mod status;
mod throttle;
mod validate;
mod vault_data;

pub use completion::{complete, complete_notebook};
pub use explain::{DecidedBy, ExplainQuery, Explanation, explain};
pub use file_events::{EventFilter, FileEvent};
pub use host::{Host, StartError};
pub use notehost_index::{CompletionKind, Edit, fitting};
pub use notehost_policy::ConfirmedVia;
pub use notehost_sdk::Code;
pub use orientation::orientation;
pub use progress::ProgressSink;
pub use question_text::diff_excerpt;
pub use reload::ReloadError;
pub use reply::{CallError, Content, Reply};
pub use rights::BadRights;
pub use status::{ComponentStatus, OpenBreakerStatus, component_status};
pub use vault_data::data_line;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

pub use notehost_runtime::Progress;

use authorize::{Allowed, authorize};
use circuit_breaker::check_breaker;
use claim::{Claim, Claimed, claim};
use commit::{Attempts, CommitOutcome, Landed, commit};
use confirm::{Confirmation, confirm};
use conform::{QUICK_REPLY_BYTES, conform, off_worker};
use govern::{Cutter, is_within};
use notehost_policy::auth::Caller;
use notehost_vault::{contained, reply_point};
use record::Record;
use resolve::resolve;
use run::run;
use throttle::throttle;
use validate::validate;

/// A request of a caller.
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
    /// Receives progress of the call, if requested.
    pub progress: Option<ProgressSink>,
}

/// Runs one call, from the wire to the disk and back. Its outcome is always recorded.
pub async fn call(host: &Host, caller: &Caller, request: Request) -> Result<Reply, CallError> {
    let mut record = Record::begin(host, caller, &request);
    let outcome = answer(host, caller, request, &mut record).await;
    contained(|| record.end(&outcome));
    outcome
}

/// Records what was answered without a call: help, and unknown tools.
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
    let _watched = check_breaker(host, &allowed)?; // a component that keeps failing rests
    let mut attempts = Attempts::new();
    let mut confirmation = Confirmation::of(host, &allowed)?;
    let landed = loop {
        let attempt = run(host, &allowed, confirmation.frozen()).await?; // on a fresh instance, nothing visible yet
        let staged = conform(host, &allowed, attempt).await?; // what it wants to change keeps the vault's rules
        let settled = confirm(host, &allowed, &mut confirmation, staged).await?; // a person has seen what is destructive
        match commit(&allowed, &claim, settled).await? {
            CommitOutcome::Landed(landed) => break landed,
            // What the action had read changed meanwhile: it decides again on what is there now.
            CommitOutcome::Conflict(path) => attempts.again(path, &allowed.outside).await?,
        }
    };
    record.landed(&landed, confirmation.confirmed());
    reply(host, &allowed, landed, claim).await
}

/// Work after the commit. A panic here must not turn the call into a failure.
async fn reply(
    host: &Host,
    allowed: &Allowed,
    landed: Landed,
    claim: Claim,
) -> Result<Reply, CallError> {
    let (is_landed, change) = (landed.footprint.is_landed, landed.footprint.change.clone());
    contained(|| {
        reply_point("reply-told");
        landed.tell(host, allowed); // what the component says to people
    });
    let cutter = Cutter::of(host, allowed);
    let is_quick = is_within(&landed.structured, QUICK_REPLY_BYTES);
    let governed = off_worker(is_quick, move || {
        contained(|| {
            reply_point("reply-cut");
            cutter.govern(landed) // no more than a client can take
        })
    });
    let reply = match governed.await.unwrap_or(None) {
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
