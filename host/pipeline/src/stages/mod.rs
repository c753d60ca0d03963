//! The pipeline: everything that happens to a call between the wire and the disk, one file per stage. Each stage consumes
//! the value that the previous stage made:
//!
//! ```no_run
//! # use notehost_pipeline::{Host, stages::*};
//! # async fn attempt(host: &Host, allowed: &Allowed, claim: Claim) -> Result<Landed, Stop> {
//! let admitted = throttle(host, allowed, claim)?;
//! let cleared = check_breaker(host, allowed, admitted)?;
//! let mut confirmation = Confirmation::new(host, allowed)?;
//! let ran = run(host, allowed, &cleared, confirmation.frozen()).await?;
//! let conformed = conform(host, allowed, ran).await?;
//! let committable = confirm(host, allowed, &mut confirmation, conformed).await?;
//! commit(allowed, &cleared, committable).await
//! # }
//! ```
//!
//! Without `throttle` this does not compile, and neither does it without any other stage:
//!
//! ```compile_fail
//! # use notehost_pipeline::{Host, stages::*};
//! # async fn attempt(host: &Host, allowed: &Allowed, claim: Claim) -> Result<Landed, Stop> {
//! let cleared = check_breaker(host, allowed, claim)?;
//! let mut confirmation = Confirmation::new(host, allowed)?;
//! let ran = run(host, allowed, &cleared, confirmation.frozen()).await?;
//! let conformed = conform(host, allowed, ran).await?;
//! let committable = confirm(host, allowed, &mut confirmation, conformed).await?;
//! commit(allowed, &cleared, committable).await
//! # }
//! ```
//!
//! Without the circuit breaker:
//!
//! ```compile_fail
//! # use notehost_pipeline::{Host, stages::*};
//! # async fn attempt(host: &Host, allowed: &Allowed, claim: Claim) -> Result<Landed, Stop> {
//! let admitted = throttle(host, allowed, claim)?;
//! let mut confirmation = Confirmation::new(host, allowed)?;
//! let ran = run(host, allowed, &admitted, confirmation.frozen()).await?;
//! let conformed = conform(host, allowed, ran).await?;
//! let committable = confirm(host, allowed, &mut confirmation, conformed).await?;
//! commit(allowed, &admitted, committable).await
//! # }
//! ```
//!
//! Without `conform`:
//!
//! ```compile_fail
//! # use notehost_pipeline::{Host, stages::*};
//! # async fn attempt(host: &Host, allowed: &Allowed, claim: Claim) -> Result<Landed, Stop> {
//! let admitted = throttle(host, allowed, claim)?;
//! let cleared = check_breaker(host, allowed, admitted)?;
//! let mut confirmation = Confirmation::new(host, allowed)?;
//! let ran = run(host, allowed, &cleared, confirmation.frozen()).await?;
//! let committable = confirm(host, allowed, &mut confirmation, ran).await?;
//! commit(allowed, &cleared, committable).await
//! # }
//! ```
//!
//! Without `confirm`:
//!
//! ```compile_fail
//! # use notehost_pipeline::{Host, stages::*};
//! # async fn attempt(host: &Host, allowed: &Allowed, claim: Claim) -> Result<Landed, Stop> {
//! let admitted = throttle(host, allowed, claim)?;
//! let cleared = check_breaker(host, allowed, admitted)?;
//! let mut confirmation = Confirmation::new(host, allowed)?;
//! let ran = run(host, allowed, &cleared, confirmation.frozen()).await?;
//! let conformed = conform(host, allowed, ran).await?;
//! commit(allowed, &cleared, conformed).await
//! # }
//! ```

pub(crate) mod authorize;
pub(crate) mod circuit_breaker;
pub(crate) mod claim;
pub(crate) mod commit;
pub(crate) mod confirm;
pub(crate) mod conform;
pub(crate) mod govern;
pub(crate) mod record;
pub(crate) mod resolve;
pub(crate) mod run;
mod stage_clock;
pub(crate) mod stop;
pub(crate) mod throttle;
pub(crate) mod validate;

use notehost_sdk::Code;

use crate::{CallError, Host, Reply, Request};
use commit::Attempts;
use conform::{QUICK_REPLY_BYTES, off_worker};
use govern::{Cutter, is_within};
use notehost_policy::auth::Caller;
use notehost_vault::{contained, reply_point};
use record::Record;
use tracing::field::Empty;

pub use authorize::{Allowed, authorize};
pub use circuit_breaker::{Cleared, check_breaker};
pub use claim::{Claim, Claimed, claim};
pub use commit::{Landed, commit};
pub use confirm::{Committable, Confirmation, confirm};
pub use conform::{Conformed, conform};
pub use resolve::{Found, resolve};
pub use run::{Ran, run};
pub use stop::Stop;
pub use throttle::{Admitted, throttle};
pub use validate::{Checked, validate};

/// Runs one call, from the wire to the disk and back. Its outcome is always recorded.
#[tracing::instrument(
    level = "debug",
    skip_all,
    fields(notehost.domain = Empty, notehost.action = Empty, notehost.outcome = Empty)
)]
pub async fn call(host: &Host, caller: &Caller, request: Request) -> Result<Reply, CallError> {
    let mut record = Record::begin(host, caller, &request);
    let outcome = answer(host, caller, request, &mut record).await;
    let code = outcome
        .as_ref()
        .map_or_else(|error| error.code.as_str(), |_| "ok");
    tracing::Span::current().record("notehost.outcome", code);
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
    let generation = host.generation(); // the call notices at its first step what is revoked from here on
    let domains = host.registry().snapshot(); // a call in flight keeps the one it began with
    let found = resolve(host, &domains, caller, request)?; // a name becomes an action
    name_span(&found);
    let checked = validate(found)?; // the arguments fit its schema
    let allowed = authorize(host, caller, checked, record, generation)?; // only this makes an `Allowed`
    record.allowed(&allowed);
    match carry_out(host, &allowed, record).await {
        Ok(reply) => Ok(allowed.name_vault(reply)),
        Err(error) => Err(allowed.name_vault_in_error(error)),
    }
}

/// An allowed call, from its idempotency key to its reply.
async fn carry_out(
    host: &Host,
    allowed: &Allowed,
    record: &mut Record<'_>,
) -> Result<Reply, CallError> {
    let claim = match claim(host, allowed).await? {
        Claimed::Answered(reply) => return Ok(reply), // the same call, sent again
        Claimed::ToDo(claim) => claim,
    };
    let admitted = throttle(host, allowed, claim)?; // within the rate limits of this caller
    let cleared = check_breaker(host, allowed, admitted)?; // the component does not keep failing
    let mut confirmation = Confirmation::new(host, allowed)?;
    let mut attempts = Attempts::new();
    let landed = loop {
        match attempt(host, allowed, &cleared, &mut confirmation).await {
            Ok(landed) => break landed,
            Err(Stop::Rerun { conflict }) => attempts.wait(conflict, &allowed.egress).await?,
            Err(Stop::Failed(error)) => return Err(error),
        }
    };
    record.landed(&landed, confirmation.confirmed());
    reply(host, allowed, landed, cleared.claim()).await
}

/// Names the span of a call. Only known names are in it: unknown ones are arbitrary text of the caller.
fn name_span(found: &Found) {
    let span = tracing::Span::current();
    span.record("notehost.domain", &found.domain.name);
    span.record("notehost.action", &found.request.action);
}

/// One attempt of a call. Nothing is visible to others before the commit.
async fn attempt(
    host: &Host,
    allowed: &Allowed,
    cleared: &Cleared<'_>,
    confirmation: &mut Confirmation,
) -> Result<Landed, Stop> {
    let ran = run(host, allowed, cleared, confirmation.frozen()).await?; // on a fresh instance
    let conformed = conform(host, allowed, ran).await?; // staged changes satisfy `if_match` and the tag policy
    let committable = confirm(host, allowed, confirmation, conformed).await?; // a person approved what is destructive
    commit(allowed, cleared, committable).await // what was read is unchanged
}

/// Work after the commit. A panic here must not turn the call into a failure.
async fn reply(
    host: &Host,
    allowed: &Allowed,
    landed: Landed,
    claim: &Claim,
) -> Result<Reply, CallError> {
    let (is_landed, change) = (landed.footprint.is_landed, landed.footprint.change.clone());
    contained(|| {
        reply_point("reply-notify");
        landed.publish_notices(host, allowed);
    });
    let cutter = Cutter::of(host, allowed);
    let is_quick = is_within(&landed.structured, QUICK_REPLY_BYTES);
    let stage = allowed.clock.stage("govern");
    let span = tracing::debug_span!("govern");
    let governed = off_worker(is_quick, move || {
        let _entered = span.entered();
        contained(|| {
            reply_point("reply-cut");
            cutter.govern(landed) // within the byte budget of a reply
        })
    });
    let governed = governed.await;
    drop(stage);
    let reply = match governed.unwrap_or(None) {
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

#[cfg(test)]
mod tests {
    /// The code of the examples in the documentation of this module, the first with all stages.
    fn examples() -> Vec<Vec<String>> {
        let doc = include_str!("mod.rs").lines();
        let doc = doc.map_while(|line| line.strip_prefix("//!").map(str::trim));
        let doc: Vec<&str> = doc.collect();
        let blocks = doc.split(|line| line.starts_with("```"));
        let code = |block: &[&str]| block.iter().map(|line| (*line).to_owned()).collect();
        blocks.skip(1).step_by(2).map(code).collect()
    }

    /// That an example does not compile proves something only if it lacks exactly one stage: then it passes on what the
    /// stage before made, and everything else is as in the example that compiles.
    #[test]
    fn examples_that_do_not_compile_lack_one_stage() {
        let examples = examples();
        let stages = [
            ("throttle", "admitted", "claim"),
            ("check_breaker", "cleared", "admitted"),
            ("conform", "conformed", "ran"),
            ("confirm", "committable", "conformed"),
        ];
        assert_eq!(examples.len(), 1 + stages.len());
        let (complete, lacking) = examples.split_first().expect("an example");
        for (example, (stage, made, before)) in lacking.iter().zip(stages) {
            let call = format!("let {made} = {stage}(");
            let rest = complete.iter().filter(|line| !line.starts_with(&call));
            let rest: Vec<String> = rest.map(|line| line.replace(made, before)).collect();
            assert_eq!(rest.len(), complete.len() - 1, "{stage}");
            assert_eq!(*example, rest, "{stage}");
        }
    }
}
