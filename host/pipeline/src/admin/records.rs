//! The audit log, its statistics, and reloading the config.

use notehost_sdk::{Code, Effect, args, reply};

use super::{AdminAction, AdminCall, Answer, AnyObject, written};
use crate::{CallError, EventFilter, Host};
use notehost_records::audit::{self, By, Filter, Group, Row};
use notehost_records::when;
use notehost_records::{Records, RecordsError};

const DEFAULT_LIMIT: u64 = 50;
const MAX_LIMIT: u64 = 500;

/// Which calls were made, the latest first.
///
/// Example: `{"domain": "document", "since": "1d"}`
#[args]
pub(super) struct Audit {
    /// Only this caller's.
    caller: Option<String>,
    /// Only this domain's.
    domain: Option<String>,
    /// Only this action's.
    action: Option<String>,
    /// `ok`, `failed`, or an error code.
    outcome: Option<String>,
    /// Since then: `1h`, `7d`, or a date.
    since: Option<String>,
    /// How many, at most 500 (default 50).
    limit: Option<u64>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// A page of the audit log.
#[reply]
pub(super) struct AuditPage {
    #[schemars(with = "Vec<AnyObject>")]
    items: Vec<Row>,
    /// Cursor of the next page.
    next_cursor: Option<String>,
}

impl AdminAction for Audit {
    type Output = AuditPage;
    const EFFECT: Effect = Effect::Read;

    async fn run(self, call: &AdminCall<'_>) -> Answer<AuditPage> {
        let limit = self.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
        let before = self.cursor.as_deref().map(str::parse::<i64>).transpose();
        let before = before.map_err(|_| {
            CallError::new(
                Code::ValidationError,
                "invalid `cursor`: use the `next_cursor` of a page",
            )
        })?;
        let filter = Filter {
            caller: self.caller,
            domain: self.domain,
            action: self.action,
            outcome: self.outcome,
            before,
            ..since(call, self.since.as_deref())?
        };
        let mut items = query(call.host, move |records| {
            records.latest_calls(&filter, limit as u32)
        })
        .await?;
        items.reverse();
        // The paths of a call without a vault could be of any vault: they are not shown.
        let visible = EventFilter::of(call.host, call.caller());
        for row in &mut items {
            let vault = row.vault.as_deref();
            row.paths
                .retain(|path| vault.is_some_and(|vault| visible.reaches(vault, path)));
        }
        let lines: Vec<String> = items
            .iter()
            .map(|row| {
                let milliseconds = row.microseconds as f64 / 1000.0;
                format!(
                    "#{} {} {}.{}: {} ({milliseconds:.1} ms)",
                    row.number, row.caller, row.domain, row.action, row.outcome
                )
            })
            .collect();
        let last = items.last().filter(|_| items.len() as u64 == limit);
        let next_cursor = last.map(|last| last.number.to_string());
        Ok((lines.join("\n"), AuditPage { items, next_cursor }))
    }
}

/// How much is called, how fast, by whom.
///
/// Example: `{"since": "1d"}`
#[args]
pub(super) struct Stats {
    /// Since then: `1h`, `7d`, or a date.
    since: Option<String>,
}

/// Statistics of calls.
#[reply]
pub(super) struct CallStatistics {
    /// How many.
    calls: u64,
    /// How many of them failed.
    failed: u64,
    #[schemars(with = "Vec<AnyObject>")]
    actions: Vec<Group>,
    #[schemars(with = "Vec<AnyObject>")]
    callers: Vec<Group>,
}

impl AdminAction for Stats {
    type Output = CallStatistics;
    const EFFECT: Effect = Effect::Read;

    async fn run(self, call: &AdminCall<'_>) -> Answer<CallStatistics> {
        let filter = since(call, self.since.as_deref())?;
        let statistics = query(call.host, move |records| {
            audit::statistics(records, &filter, By::Action)
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
        let statistics = CallStatistics {
            calls,
            failed,
            actions: statistics.items,
            callers: statistics.callers,
        };
        Ok((lines.join("\n"), statistics))
    }
}

/// Read the config file again now.
///
/// Example: `{}`
#[args]
pub(super) struct Reload {}

/// The outcome of a reload.
#[reply]
pub(super) struct Reloaded {
    reloaded: bool,
    /// Why it could not be used.
    problem: Option<String>,
}

impl AdminAction for Reload {
    type Output = Reloaded;
    const EFFECT: Effect = Effect::Write;

    async fn run(self, call: &AdminCall<'_>) -> Answer<Reloaded> {
        let waiting = call.host.reload().await;
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
        let reloaded = Reloaded {
            reloaded: true,
            problem: None,
        };
        Ok((text, reloaded))
    }
}

/// Queries the records on a separate handle and thread: there may be a million rows.
pub(super) async fn query<T: Send + 'static>(
    host: &Host,
    query: impl FnOnce(&dyn Records) -> Result<T, RecordsError> + Send + 'static,
) -> Result<T, CallError> {
    let unavailable = |reason: String| CallError::new(Code::Unavailable, reason);
    let records = host
        .records()
        .reopen()
        .map_err(|error| unavailable(error.to_string()))?;
    tokio::task::spawn_blocking(move || query(&*records))
        .await
        .map_err(|error| unavailable(error.to_string()))?
        .map_err(|error| unavailable(error.to_string()))
}

/// The filter for calls since a time. A caller bound to some vaults sees only calls on those.
fn since(call: &AdminCall<'_>, since: Option<&str>) -> Result<Filter, CallError> {
    let vaults = call.host.vault_ids_of(call.caller());
    let is_bound = vaults.len() < call.host.vault_ids().len();
    let since = since.map(when::moment).transpose();
    let since = since
        .map_err(|problem| CallError::new(Code::ValidationError, format!("`since`: {problem}")))?;
    Ok(Filter {
        since: since.map(|moment| moment.0),
        vaults: is_bound.then_some(vaults),
        ..Filter::default()
    })
}
