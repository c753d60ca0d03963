//! Checks under faults: little time and memory, nothing visible, a refusal or cancellation at any host call, concurrent
//! edits.

use notehost_sdk::Code;
use serde_json::Value;

use super::calls::{ActionCalls, Calls};
use super::fault_injection::FaultPlan;
use super::reply_checks::fault;
use super::report::{Findings, Report};
use super::test_vault::{Answer, CallConditions, Ending, RICH_NOTE, ROOT_NOTE, TestVault};
use notehost_config::LimitSettings;
use notehost_vault::Tier;

/// How many host calls of one call get a fault: the first, and others evenly spaced.
const MAX_FAULT_POINTS: u64 = 24;
/// After this many findings an action is not tested further.
const MAX_FINDINGS_OF_ACTION: usize = 2;

/// Checks that all calls stay within limits, and that scarce resources do no harm. `findings` has the calls that did
/// not.
pub(super) async fn limits(
    test_vault: &TestVault<'_>,
    calls: &Calls,
    mut findings: Findings,
    report: &mut Report,
) {
    let scant = [
        LimitSettings {
            memory_bytes: 2 << 20,
            ..test_vault.limits.clone()
        },
        LimitSettings {
            host_calls: 1,
            ..test_vault.limits.clone()
        },
        LimitSettings {
            call_ms: 1,
            ..test_vault.limits.clone()
        },
    ];
    for calls in calls.0.iter().filter(|calls| is_sound(calls)) {
        for limits in &scant {
            let conditions = CallConditions {
                limits: limits.clone(),
                ..test_vault.usual()
            };
            let answer = test_vault
                .call_under(&calls.action, &calls.usual, conditions)
                .await;
            if let Ending::Broke(reason) = &answer.ending {
                let problem = format!(
                    "with little memory or time it crashes ({reason}) instead of being stopped: let the host stop it"
                );
                findings.add_call(&calls.action.name, &calls.usual, problem);
            }
        }
    }
    report.check(
        "limits",
        "it stays within the limits of time, memory and host calls",
        findings,
    );
}

/// Checks that the same call on the same vault returns the same reply.
pub(super) async fn repetition(test_vault: &TestVault<'_>, calls: &Calls, report: &mut Report) {
    let mut findings = Findings::default();
    for calls in calls.0.iter().filter(|calls| is_sound(calls)) {
        let sensible = calls.sensible.iter().take(4);
        for arguments in std::iter::once(&calls.usual).chain(sensible) {
            let one = test_vault.call(&calls.action, arguments).await;
            let other = test_vault.call(&calls.action, arguments).await;
            if reply_value(&one) != reply_value(&other) {
                findings.add_call(
                    &calls.action.name,
                    arguments,
                    "the same call returns a different reply the second time: take the time from the host, use no \
                    randomness, and sort what comes from a hash map",
                );
                break;
            }
        }
    }
    report.check(
        "repetition",
        "the same call on the same vault returns the same reply",
        findings,
    );
}

/// Checks missing permissions: nothing visible, nothing writable, any host call refused.
pub(super) async fn denial(test_vault: &TestVault<'_>, calls: &Calls, report: &mut Report) {
    let mut findings = Findings::default();
    for calls in calls.0.iter().filter(|calls| is_sound(calls)) {
        let name = &calls.action.name;
        for (tier, meant) in [
            (Tier::None, "in a vault without visible notes"),
            (Tier::Read, "in a read-only vault"),
        ] {
            let conditions = CallConditions {
                tier,
                ..test_vault.usual()
            };
            let answer = test_vault
                .call_under(&calls.action, &calls.usual, conditions)
                .await;
            if let Some(fault) = fault(&answer.ending) {
                findings.add_call(name, &calls.usual, format!("{meant} {fault}"));
            }
        }
        for at in places(calls.answer.host_calls) {
            for code in [Code::PermissionDenied, Code::Unavailable, Code::NotFound] {
                let conditions = CallConditions {
                    plan: FaultPlan::Refuse { at, code },
                    ..test_vault.usual()
                };
                let answer = test_vault
                    .call_under(&calls.action, &calls.usual, conditions)
                    .await;
                if let Some(fault) = fault(&answer.ending) {
                    let problem = format!("when host call {at} is refused (`{code}`) {fault}");
                    findings.add_call(name, &calls.usual, problem);
                }
            }
            if findings.count_for(name) >= MAX_FINDINGS_OF_ACTION {
                break;
            }
        }
    }
    report.check(
        "denial",
        "it handles a refusal at every host call, and a vault without visible notes",
        findings,
    );
}

/// Checks that a call cancelled at any host call leaves no state behind.
pub(super) async fn cancellation(test_vault: &TestVault<'_>, calls: &Calls, report: &mut Report) {
    let mut findings = Findings::default();
    for calls in calls.0.iter().filter(|calls| is_sound(calls)) {
        let name = &calls.action.name;
        let before = test_vault.call(&calls.action, &calls.usual).await;
        for at in places(calls.answer.host_calls) {
            let conditions = CallConditions {
                plan: FaultPlan::Cancel { at },
                ..test_vault.usual()
            };
            let answer = test_vault
                .call_under(&calls.action, &calls.usual, conditions)
                .await;
            if answer.ending != Ending::Cancelled && answer.host_calls >= at {
                let problem = format!("it continued after it was cancelled at host call {at}");
                findings.add_call(name, &calls.usual, problem);
            }
        }
        let after = test_vault.call(&calls.action, &calls.usual).await;
        if reply_value(&before) != reply_value(&after) && is_repeatable(test_vault, calls).await {
            let problem = "after a cancelled call the same call returns a different reply: keep no state between calls";
            findings.add_call(name, &calls.usual, problem);
        }
    }
    report.check(
        "cancellation",
        "it can be cancelled at every host call without affecting the next call",
        findings,
    );
}

/// Checks concurrent edits of notes.
pub(super) async fn conflict(test_vault: &TestVault<'_>, calls: &Calls, report: &mut Report) {
    let mut findings = Findings::default();
    let edited = [RICH_NOTE, ROOT_NOTE];
    for calls in calls.0.iter().filter(|calls| is_sound(calls)) {
        let name = &calls.action.name;
        for at in places(calls.answer.host_calls) {
            let conditions = CallConditions {
                plan: FaultPlan::Edit {
                    at,
                    files: test_vault.files(&edited),
                },
                ..test_vault.usual()
            };
            let during = test_vault
                .call_under(&calls.action, &calls.usual, conditions)
                .await;
            // A host runs it again, on what is there then.
            let again = test_vault.call(&calls.action, &calls.usual).await;
            test_vault.restore(&edited);
            for (answer, meant) in [(during, "while"), (again, "after")] {
                if let Some(fault) = fault(&answer.ending) {
                    let problem =
                        format!("{meant} another program changes a note at host call {at} {fault}");
                    findings.add_call(name, &calls.usual, problem);
                }
            }
            if findings.count_for(name) >= MAX_FINDINGS_OF_ACTION {
                break;
            }
        }
    }
    report.check(
        "conflict",
        "it handles notes that change while it runs",
        findings,
    );
}

/// Whether an action's working call succeeds; otherwise its faults are already reported.
fn is_sound(calls: &ActionCalls) -> bool {
    matches!(
        calls.answer.ending,
        Ending::Replied { .. } | Ending::Refused { .. }
    )
}

async fn is_repeatable(test_vault: &TestVault<'_>, calls: &ActionCalls) -> bool {
    let one = test_vault.call(&calls.action, &calls.usual).await;
    let other = test_vault.call(&calls.action, &calls.usual).await;
    reply_value(&one) == reply_value(&other)
}

/// The host calls that get a fault: all if there are few, a sample if there are many.
fn places(host_calls: u64) -> Vec<u64> {
    if host_calls <= MAX_FAULT_POINTS {
        return (1..=host_calls).collect();
    }
    let last = MAX_FAULT_POINTS - 1;
    (0..=last)
        .map(|place| 1 + place * (host_calls - 1) / last)
        .collect()
}

/// The outcome of a call without generated ids.
fn reply_value(answer: &Answer) -> Value {
    let (text, structured) = match &answer.ending {
        Ending::Replied { text, structured } => (text.as_str(), structured.as_str()),
        Ending::Refused { code, message } => (code.as_str(), message.as_str()),
        _ => ("", ""),
    };
    let staged: Vec<Value> = answer
        .staged
        .iter()
        .map(|(path, kind, after)| {
            let after = after.as_deref().map(String::from_utf8_lossy);
            serde_json::json!([
                without_ids(path),
                kind,
                after.map(|text| without_ids(&text))
            ])
        })
        .collect();
    serde_json::json!([without_ids(text), without_ids(structured), staged])
}

/// A text without ids generated by the host (of changes, of trash entries).
fn without_ids(text: &str) -> String {
    let is_letter = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_letter) {
        let word = &rest[start..];
        let end = word.find(|letter| !is_letter(letter)).unwrap_or(word.len());
        shown.push_str(&rest[..start]);
        match end == 16 && word[..end].contains(|letter: char| letter.is_ascii_digit()) {
            true => shown.push_str("<id>"),
            false => shown.push_str(&word[..end]),
        }
        rest = &word[end..];
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fault_points_cover_first_to_last_host_call() {
        assert_eq!(places(0), Vec::<u64>::new());
        assert_eq!(places(3), [1, 2, 3]);
        let many = places(1000);
        assert_eq!((many.len(), many[0], many[23]), (24, 1, 1000));
        assert!(many.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn only_generated_ids_are_masked() {
        assert_eq!(
            without_ids(r#"{"id": "01h8xg2k9qabcdef", "path": "Work/plan.md"}"#),
            r#"{"id": "<id>", "path": "Work/plan.md"}"#
        );
        assert_eq!(
            without_ids("characterization ünïcode"),
            "characterization ünïcode"
        );
    }
}
