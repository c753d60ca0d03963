//! How the components are doing, and what they say.

use notehost_sdk::Code;
use serde_json::json;

use super::super::{CallError, ComponentStatus, Host, component_status};
use super::components::known;
use super::records::looked_up;
use super::{Answer, Said};
use notehost_records::audit::log_lines;

/// How many lines of a log are told, where nobody says.
const USUAL_LINES: u64 = 50;
/// How many are told at most.
const MOST_LINES: u64 = 500;

/// How the components, or one of them, are doing.
pub(super) async fn status(host: &Host, said: &Said<'_>) -> Result<Answer, CallError> {
    let only = said.maybe("component");
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
        "{name} {version}: {} calls, p50 {:.1} ms, p99 {:.1} ms, {} broke, {} over a limit, {} too slow, {} denied, \
         {} KiB of memory",
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
            "; rests for {whom} until {}: {}",
            rest.until, rest.reason
        ));
    }
    line
}

/// What a component said of late.
pub(super) async fn log(host: &Host, said: &Said<'_>) -> Result<Answer, CallError> {
    let component = known(host, said.text("component")?)?.to_owned();
    let limit = said.number("limit").unwrap_or(USUAL_LINES);
    let limit = usize::try_from(limit.clamp(1, MOST_LINES)).unwrap_or(1);
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
        true => format!("`{component}` has said nothing"),
        false => text.join("\n"),
    };
    Ok((text, json!({ "component": component, "items": lines })))
}
