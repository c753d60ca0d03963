//! What a component does when things go wrong: little time and memory, nothing to see, a refusal or the end of the call
//! at any host call, notes that somebody else edits.

use notehost_sdk::Code;
use serde_json::Value;

use super::calls::{ActionCalls, Calls};
use super::ground::{Answer, Ending, Ground, RICH_NOTE, ROOT_NOTE, Terms};
use super::manners::fault;
use super::meddlers::Plan;
use super::report::{Findings, Report};
use notehost_config::LimitSettings;
use notehost_vault::Tier;

/// How many host calls of one call are tried: the first, and others as far apart as it takes.
const MOST_PLACES: u64 = 24;
/// After so many reasons of a kind an action is left alone.
const ENOUGH: usize = 2;

/// Whether all calls stayed within limits, and less than they need does no harm. `findings` is what did not.
pub(super) async fn limits(
    ground: &Ground<'_>,
    calls: &Calls,
    mut findings: Findings,
    report: &mut Report,
) {
    let scant = [
        LimitSettings {
            memory_bytes: 2 << 20,
            ..ground.limits.clone()
        },
        LimitSettings {
            host_calls: 1,
            ..ground.limits.clone()
        },
        LimitSettings {
            call_ms: 1,
            ..ground.limits.clone()
        },
    ];
    for calls in calls.0.iter().filter(|calls| is_sound(calls)) {
        for limits in &scant {
            let terms = Terms {
                limits: limits.clone(),
                ..ground.usual()
            };
            let answer = ground.call_under(&calls.action, &calls.usual, terms).await;
            if let Ending::Broke(reason) = &answer.ending {
                let told = format!(
                    "with little memory or time it breaks ({reason}) instead of being ended: leave the end to the host"
                );
                findings.add_call(&calls.action.name, &calls.usual, told);
            }
        }
    }
    report.check(
        "limits",
        "it stays within its time, memory and host calls",
        findings,
    );
}

/// Whether the same call on the same vault gives the same answer.
pub(super) async fn repetition(ground: &Ground<'_>, calls: &Calls, report: &mut Report) {
    let mut findings = Findings::default();
    for calls in calls.0.iter().filter(|calls| is_sound(calls)) {
        let sensible = calls.sensible.iter().take(4);
        for arguments in std::iter::once(&calls.usual).chain(sensible) {
            let one = ground.call(&calls.action, arguments).await;
            let other = ground.call(&calls.action, arguments).await;
            if told(&one) != told(&other) {
                findings.add_call(
                    &calls.action.name,
                    arguments,
                    "the same call gives another answer the second time: ask the host for the time, use no randomness, and \
                     sort what comes from a hash map",
                );
                break;
            }
        }
    }
    report.check(
        "repetition",
        "the same call on the same vault gives the same answer",
        findings,
    );
}

/// Whether it bears not being allowed: nothing visible, nothing writable, any host call refused.
pub(super) async fn denial(ground: &Ground<'_>, calls: &Calls, report: &mut Report) {
    let mut findings = Findings::default();
    for calls in calls.0.iter().filter(|calls| is_sound(calls)) {
        let name = &calls.action.name;
        for (tier, meant) in [
            (Tier::None, "in a vault of which nothing is visible"),
            (Tier::Read, "in a vault that may only be read"),
        ] {
            let terms = Terms {
                tier,
                ..ground.usual()
            };
            let answer = ground.call_under(&calls.action, &calls.usual, terms).await;
            if let Some(fault) = fault(&answer.ending) {
                findings.add_call(name, &calls.usual, format!("{meant} {fault}"));
            }
        }
        for at in places(calls.answer.host_calls) {
            for code in [Code::PermissionDenied, Code::Unavailable, Code::NotFound] {
                let terms = Terms {
                    plan: Plan::Refuse { at, code },
                    ..ground.usual()
                };
                let answer = ground.call_under(&calls.action, &calls.usual, terms).await;
                if let Some(fault) = fault(&answer.ending) {
                    let told = format!("when its host call {at} is refused (`{code}`) {fault}");
                    findings.add_call(name, &calls.usual, told);
                }
            }
            if findings.count_for(name) >= ENOUGH {
                break;
            }
        }
    }
    report.check(
        "denial",
        "it bears a refusal at every host call, and a vault of which it sees nothing",
        findings,
    );
}

/// Whether a call that ends at any host call leaves no trace.
pub(super) async fn cancellation(ground: &Ground<'_>, calls: &Calls, report: &mut Report) {
    let mut findings = Findings::default();
    for calls in calls.0.iter().filter(|calls| is_sound(calls)) {
        let name = &calls.action.name;
        let before = ground.call(&calls.action, &calls.usual).await;
        for at in places(calls.answer.host_calls) {
            let terms = Terms {
                plan: Plan::Cancel { at },
                ..ground.usual()
            };
            let answer = ground.call_under(&calls.action, &calls.usual, terms).await;
            if answer.ending != Ending::Cancelled && answer.host_calls >= at {
                let told = format!("it went on after it was cancelled at host call {at}");
                findings.add_call(name, &calls.usual, told);
            }
        }
        let after = ground.call(&calls.action, &calls.usual).await;
        if told(&before) != told(&after) && is_repeatable(ground, calls).await {
            let told = "after a call was cancelled the same call gives another answer: keep nothing outside of the call";
            findings.add_call(name, &calls.usual, told);
        }
    }
    report.check(
        "cancellation",
        "it can be cancelled at every host call, and the next call is as before",
        findings,
    );
}

/// Whether it bears notes that somebody else edits while it works.
pub(super) async fn conflict(ground: &Ground<'_>, calls: &Calls, report: &mut Report) {
    let mut findings = Findings::default();
    let edited = [RICH_NOTE, ROOT_NOTE];
    for calls in calls.0.iter().filter(|calls| is_sound(calls)) {
        let name = &calls.action.name;
        for at in places(calls.answer.host_calls) {
            let terms = Terms {
                plan: Plan::Edit {
                    at,
                    files: ground.files(&edited),
                },
                ..ground.usual()
            };
            let during = ground.call_under(&calls.action, &calls.usual, terms).await;
            // A host runs it again, on what is there then.
            let again = ground.call(&calls.action, &calls.usual).await;
            ground.restore(&edited);
            for (answer, meant) in [(during, "while"), (again, "after")] {
                if let Some(fault) = fault(&answer.ending) {
                    let told = format!(
                        "{meant} a note is changed by somebody else at host call {at} {fault}"
                    );
                    findings.add_call(name, &calls.usual, told);
                }
            }
            if findings.count_for(name) >= ENOUGH {
                break;
            }
        }
    }
    report.check(
        "conflict",
        "it bears notes that are changed while it works",
        findings,
    );
}

/// Whether an action's usual call ends well: otherwise its faults are told already, and would be told again.
fn is_sound(calls: &ActionCalls) -> bool {
    matches!(
        calls.answer.ending,
        Ending::Replied { .. } | Ending::Refused { .. }
    )
}

async fn is_repeatable(ground: &Ground<'_>, calls: &ActionCalls) -> bool {
    let one = ground.call(&calls.action, &calls.usual).await;
    let other = ground.call(&calls.action, &calls.usual).await;
    told(&one) == told(&other)
}

/// Which host calls are meddled with: all of a few, and some of many.
fn places(host_calls: u64) -> Vec<u64> {
    if host_calls <= MOST_PLACES {
        return (1..=host_calls).collect();
    }
    let last = MOST_PLACES - 1;
    (0..=last)
        .map(|place| 1 + place * (host_calls - 1) / last)
        .collect()
}

/// What a call came to, without the ids that the host makes up.
fn told(answer: &Answer) -> Value {
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

/// A text with the ids that the host makes up (of changes, of what is in the trash) left out.
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
    fn few_host_calls_are_all_tried_and_many_from_first_to_last() {
        assert_eq!(places(0), Vec::<u64>::new());
        assert_eq!(places(3), [1, 2, 3]);
        let many = places(1000);
        assert_eq!((many.len(), many[0], many[23]), (24, 1, 1000));
        assert!(many.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn only_ids_are_left_out() {
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
