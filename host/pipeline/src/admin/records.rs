//! The audit log, its statistics, and reloading the config.

use notehost_sdk::Code;
use serde_json::json;

use super::super::{CallError, EventFilter, Host};
use super::{AdminArgs, Answer, written};
use notehost_policy::auth::Caller;
use notehost_records::audit::{self, By, Filter};
use notehost_records::database::{Database, DatabaseError};
use notehost_records::when;

const DEFAULT_LIMIT: u64 = 50;
const MAX_LIMIT: u64 = 500;

pub(super) async fn audit(
    host: &Host,
    caller: &Caller,
    args: &AdminArgs<'_>,
) -> Result<Answer, CallError> {
    let limit = args
        .number("limit")
        .unwrap_or(DEFAULT_LIMIT)
        .clamp(1, MAX_LIMIT);
    let before = args.maybe("cursor").map(str::parse::<i64>).transpose();
    let before = before.map_err(|_| {
        CallError::new(
            Code::ValidationError,
            "invalid `cursor`: use the `next_cursor` of a page",
        )
    })?;
    let filter = Filter {
        before,
        ..filter(host, caller, args)?
    };
    let mut rows = looked_up(host, move |database| {
        audit::latest(database, &filter, limit as u32)
    })
    .await?;
    rows.reverse();
    // Of a call that reached no vault nobody knows whose paths these are.
    let hearing = EventFilter::of(host, caller);
    for row in &mut rows {
        let vault = row.vault.as_deref();
        row.paths
            .retain(|path| vault.is_some_and(|vault| hearing.reaches(vault, path)));
    }
    let lines: Vec<String> = rows
        .iter()
        .map(|row| {
            let milliseconds = row.microseconds as f64 / 1000.0;
            format!(
                "#{} {} {}.{}: {} ({milliseconds:.1} ms)",
                row.number, row.caller, row.domain, row.action, row.outcome
            )
        })
        .collect();
    let mut told = json!({ "items": rows });
    if let Some(last) = rows.last().filter(|_| rows.len() as u64 == limit) {
        told["next_cursor"] = last.number.to_string().into();
    }
    Ok((lines.join("\n"), told))
}

pub(super) async fn stats(
    host: &Host,
    caller: &Caller,
    args: &AdminArgs<'_>,
) -> Result<Answer, CallError> {
    let filter = filter(host, caller, args)?;
    let statistics = looked_up(host, move |database| {
        audit::statistics(database, &filter, By::Action)
    })
    .await?;
    let (calls, failed) = (statistics.total.calls, statistics.total.failed);
    let mut lines = vec![format!("{calls} calls, {failed} failed")];
    for group in &statistics.items {
        lines.push(format!(
            "{}: {} calls, p50 {:.1} ms, p95 {:.1} ms",
            group.name, group.calls, group.p50_ms, group.p95_ms
        ));
    }
    let told = json!({
        "calls": calls,
        "failed": failed,
        "actions": statistics.items,
        "callers": statistics.callers,
    });
    Ok((lines.join("\n"), told))
}

pub(super) async fn reload(host: &Host) -> Result<Answer, CallError> {
    let waiting = host.reload().await;
    let text = match &waiting {
        Ok(waiting) if !waiting.is_empty() => {
            format!(
                "the config was reloaded; {} takes effect after a restart",
                waiting.join(", ")
            )
        }
        _ => "the config was reloaded".to_owned(),
    };
    written(waiting.map(|_| ()))?;
    Ok((text, json!({ "reloaded": true })))
}

/// Queries the records on a separate connection and thread: there may be a million rows.
pub(super) async fn looked_up<T: Send + 'static>(
    host: &Host,
    look: impl FnOnce(&Database) -> Result<T, DatabaseError> + Send + 'static,
) -> Result<T, CallError> {
    let unavailable = |reason: String| CallError::new(Code::Unavailable, reason);
    let database = host
        .database()
        .reopen()
        .map_err(|error| unavailable(error.to_string()))?;
    tokio::task::spawn_blocking(move || look(&database))
        .await
        .map_err(|error| unavailable(error.to_string()))?
        .map_err(|error| unavailable(error.to_string()))
}

/// The filter from the arguments. A caller bound to some vaults sees only calls on those.
fn filter(host: &Host, caller: &Caller, args: &AdminArgs<'_>) -> Result<Filter, CallError> {
    let vaults = host.vault_ids_of(caller);
    let is_bound = vaults.len() < host.vault_ids().len();
    let owned = |name: &str| args.maybe(name).map(str::to_owned);
    let since = args.maybe("since").map(when::moment).transpose();
    let since = since
        .map_err(|problem| CallError::new(Code::ValidationError, format!("`since`: {problem}")))?;
    Ok(Filter {
        caller: owned("caller"),
        domain: owned("domain"),
        action: owned("action"),
        outcome: owned("outcome"),
        since: since.map(|moment| moment.0),
        vaults: is_bound.then_some(vaults),
        ..Filter::default()
    })
}
