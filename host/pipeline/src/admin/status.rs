//! The status of components, and their logs.

use notehost_sdk::Code;
use serde_json::json;

use super::super::{CallError, ComponentStatus, Host, component_status};
use super::components::known;
use super::records::looked_up;
use super::{AdminArgs, Answer};
use notehost_records::audit::log_lines;

/// The default number of log lines.
const DEFAULT_LINES: u64 = 50;
/// The maximum number of log lines.
const MAX_LINES: u64 = 500;

/// The status of all components, or of one.
pub(super) async fn status(host: &Host, args: &AdminArgs<'_>) -> Result<Answer, CallError> {
    let only = args.maybe("component");
    let only = only.map(|name| known(host, name)).transpose()?;
    let only = only.map(str::to_owned);
    host.audit().flush();
    let domains = host.registry().snapshot();
    let items = looked_up(host, move |database| {
        component_status(&domains, database, only.as_deref())
    })
    .await?;
    let lines: Vec<String> = items.iter().map(line).collect();
    Ok((lines.join("\n"), json!({ "items": items })))
}

fn line(status: &ComponentStatus) -> String {
    let name = &status.name;
    if let Some(problem) = &status.problem {
        return format!("{name}: cannot be used: {problem}");
    }
    let Some(version) = &status.version else {
        return format!("{name}: switched off");
    };
    let mut line = format!(
        "{name} {version}: {} calls, p50 {:.1} ms, p99 {:.1} ms, {} traps, {} over a limit, {} timeouts, {} denied, {} \
        KiB of memory",
        status.calls,
        status.p50_ms,
        status.p99_ms,
        status.traps,
        status.over_limits,
        status.timeouts,
        status.denials,
        status.memory_bytes >> 10,
    );
    for rest in &status.quarantine {
        let whom = rest.for_caller.as_deref().unwrap_or("everybody");
        line.push_str(&format!(
            "; circuit breaker open for {whom} until {}: {}",
            rest.until, rest.reason
        ));
    }
    line
}

/// The latest log lines of a component.
pub(super) async fn log(host: &Host, args: &AdminArgs<'_>) -> Result<Answer, CallError> {
    let component = known(host, args.text("component")?)?.to_owned();
    let limit = args.number("limit").unwrap_or(DEFAULT_LINES);
    let limit = usize::try_from(limit.clamp(1, MAX_LINES)).unwrap_or(1);
    let Some(host) = host.shared().upgrade() else {
        return Err(CallError::new(Code::Unavailable, "Notehost is stopping"));
    };
    let unreadable = |reason: String| {
        let message = format!("the log cannot be read: {reason}");
        CallError::new(Code::Unavailable, message)
    };
    let name = component.clone();
    let read = tokio::task::spawn_blocking(move || {
        let logs = host.component_logs();
        logs.flush();
        log_lines(logs.folder(), &name, limit)
    });
    let (lines, _) = read
        .await
        .map_err(|error| unreadable(error.to_string()))?
        .map_err(|error| unreadable(error.to_string()))?;
    let text: Vec<String> = lines
        .iter()
        .map(|line| format!("{} {} {} {}", line.time, line.stream, line.call, line.text))
        .collect();
    let text = match text.is_empty() {
        true => format!("the log of `{component}` is empty"),
        false => text.join("\n"),
    };
    Ok((text, json!({ "component": component, "items": lines })))
}
