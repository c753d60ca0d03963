//! Checks of replies to all kinds of input: a reply matches its schema, and an error is one that a caller can act on.

use notehost_sdk::Code;
use serde_json::{Map, Value};

use super::calls::{ActionCalls, Calls};
use super::description::validator;
use super::report::{Findings, Report};
use super::test_vault::{Answer, Ending, TestVault};

/// After this many findings an action is not tested further.
const MAX_FINDINGS_OF_ACTION: usize = 3;

/// The findings of these checks.
#[derive(Default)]
struct ReplyFindings {
    input: Findings,
    output: Findings,
    effects: Findings,
    limits: Findings,
}

/// Makes every call and checks its outcome. Returns the findings on limits.
pub(super) async fn judge(
    test_vault: &TestVault<'_>,
    calls: &Calls,
    report: &mut Report,
) -> Findings {
    let mut judged = ReplyFindings::default();
    for calls in &calls.0 {
        let name = &calls.action.name;
        judged.take(calls, &calls.usual, &calls.answer);
        for arguments in calls.sensible.iter().chain(&calls.odd) {
            if judged.input.count_for(name) >= MAX_FINDINGS_OF_ACTION
                || judged.limits.count_for(name) > 0
            {
                break;
            }
            let answer = test_vault.call(&calls.action, arguments).await;
            judged.take(calls, arguments, &answer);
        }
    }
    report.check(
        "input",
        "it accepts unusual input, or rejects it with an error code of the contract",
        judged.input,
    );
    report.check(
        "output",
        "its replies match its output schema",
        judged.output,
    );
    report.check(
        "effects",
        "no action exceeds its declared effect",
        judged.effects,
    );
    judged.limits
}

impl ReplyFindings {
    fn take(&mut self, calls: &ActionCalls, arguments: &Map<String, Value>, answer: &Answer) {
        let name = &calls.action.name;
        match &answer.ending {
            Ending::TimedOut => self.limits.add_call(
                name,
                arguments,
                "it does not terminate: bound loops by the size of the input",
            ),
            Ending::OverLimit(limit) => self.limits.add_call(
                name,
                arguments,
                format!("it {limit}: bound its resource use by the size of the input"),
            ),
            ending => {
                if let Some(problem) = fault(ending) {
                    self.input.add_call(name, arguments, problem);
                }
            }
        }
        if let Ending::Replied { structured, .. } = &answer.ending
            && let Some(problem) = misfit(calls, structured)
        {
            self.output.add_call(name, arguments, problem);
        }
        if answer.oversteps > 0 {
            let effect = calls.action.effect.as_str();
            let problem = format!(
                "it is declared as `{effect}` and attempts more, which the host refuses: declare a higher effect, or \
                remove the attempt"
            );
            self.effects.add_for(name, problem);
        }
    }
}

/// The fault in how a call ended, if any.
pub(super) fn fault(ending: &Ending) -> Option<String> {
    match ending {
        Ending::Replied { .. } | Ending::Conflict | Ending::Cancelled => None,
        Ending::Refused { code, message } => refusal_fault(code, message),
        Ending::TimedOut => Some("it does not terminate".to_owned()),
        Ending::OverLimit(limit) => Some(format!("it {limit}")),
        Ending::Broke(reason) => Some(format!(
            "it crashed ({reason}): return an error with a code instead of panicking"
        )),
    }
}

fn refusal_fault(code: &str, message: &str) -> Option<String> {
    if !Code::parse(code).is_some_and(Code::is_for_components) {
        let code: String = code.escape_debug().take(60).collect();
        return Some(format!(
            "it returns the error code `{code}`, which is not in the contract: use for example `validation_error` or \
            `not_found`"
        ));
    }
    if code == "internal_error" {
        let message: String = message.chars().take(100).collect();
        return Some(format!(
            "it returns `internal_error` ({message}): use `validation_error` or another code, and state what the \
            caller can fix"
        ));
    }
    if message.trim().is_empty() {
        return Some(format!(
            "it returns `{code}` without a message: state what was wrong and how to fix the call"
        ));
    }
    None
}

/// Why a reply does not match the output schema.
fn misfit(calls: &ActionCalls, structured: &str) -> Option<String> {
    let value: Value = match serde_json::from_str(structured) {
        Ok(value) => value,
        Err(error) => return Some(format!("its reply is not valid JSON: {error}")),
    };
    if !value.is_object() {
        return Some("its reply is JSON but not an object".to_owned());
    }
    let fits = validator(&calls.action.output).ok()?;
    let error = fits.iter_errors(&value).next()?;
    let reason: String = error.to_string().chars().take(200).collect();
    let place = error.instance_path().to_string();
    Some(match place.is_empty() {
        true => format!("its reply does not match its output schema: {reason}"),
        false => format!("its reply does not match its output schema at `{place}`: {reason}"),
    })
}
