//! The order of checks: everything that happens to a call between the wire and the disk. Each stage consumes what
//! the stage before it made, so that leaving one out does not compile.

mod authorize;
mod commit;
mod govern;
mod host;
mod record;
mod reply;
mod resolve;
mod run;
mod validate;

pub use host::{Host, StartError};
pub use reply::{CODES, CallError, Content, Reply, known_code};

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::auth::Caller;
use authorize::authorize;
use commit::{Attempts, Landing, commit};
use govern::govern;
use record::Record;
use resolve::resolve;
use run::run;
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
}

/// One call, from the wire to the disk and back. Whatever comes of it is recorded.
pub async fn call(host: &Host, caller: &Caller, request: Request) -> Result<Reply, CallError> {
    let record = Record::begin(caller, &request);
    let outcome = answer(host, caller, request).await;
    record.end(&outcome);
    outcome
}

/// Everything that happens to a call, in order.
async fn answer(host: &Host, caller: &Caller, request: Request) -> Result<Reply, CallError> {
    let domains = host.registry().snapshot(); // a call in flight keeps the one it began with
    let found = resolve(&domains, request)?; // a name becomes an action
    let checked = validate(found)?; // the arguments fit its schema
    let allowed = authorize(host, caller, checked)?; // only this makes an `Allowed`
    let mut attempts = Attempts::new();
    let landed = loop {
        let attempt = run(host, &allowed).await?; // on a fresh instance, nothing visible yet
        match commit(&allowed, attempt).await? {
            Landing::Landed(landed) => break landed,
            // What the action had read changed meanwhile: it decides again on what is there now.
            Landing::Conflict(path) => attempts.again(path).await?,
        }
    };
    govern(host, &allowed, landed) // no more than a client can take
}
