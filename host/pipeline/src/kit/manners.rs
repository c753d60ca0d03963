//! What a component answers to all kinds of input: a reply that is what it announced, or a refusal that a caller can do
//! something with.

use notehost_sdk::Code;
use serde_json::{Map, Value};

use super::calls::{ActionCalls, Calls};
use super::description::validator;
use super::ground::{Answer, Ending, Ground};
use super::report::{Findings, Report};

/// After so many reasons of a kind an action is left alone.
const ENOUGH: usize = 3;

/// What the checks of this room found.
#[derive(Default)]
struct Judged {
    input: Findings,
    output: Findings,
    effects: Findings,
    limits: Findings,
}

/// Make every call, and look at what came of it. Returns what used up its limits.
pub(super) async fn judge(ground: &Ground<'_>, calls: &Calls, report: &mut Report) -> Findings {
    let mut judged = Judged::default();
    for calls in &calls.0 {
        let name = &calls.action.name;
        judged.take(calls, &calls.usual, &calls.answer);
        for arguments in calls.sensible.iter().chain(&calls.odd) {
            if judged.input.count_for(name) >= ENOUGH || judged.limits.count_for(name) > 0 {
                break;
            }
            let answer = ground.call(&calls.action, arguments).await;
            judged.take(calls, arguments, &answer);
        }
    }
    report.check(
        "input",
        "it takes odd input, or refuses it with a code of the contract",
        judged.input,
    );
    report.check(
        "output",
        "what it answers fits its output schema",
        judged.output,
    );
    report.check(
        "effects",
        "no action tries more than it is declared to do",
        judged.effects,
    );
    judged.limits
}

impl Judged {
    fn take(&mut self, calls: &ActionCalls, arguments: &Map<String, Value>, answer: &Answer) {
        let name = &calls.action.name;
        match &answer.ending {
            Ending::TimedOut => self.limits.add_call(
                name,
                arguments,
                "it does not come to an end: bound loops by the size of the input",
            ),
            Ending::OverLimit(limit) => self.limits.add_call(
                name,
                arguments,
                format!("it {limit}: bound what it takes by the size of the input"),
            ),
            ending => {
                if let Some(told) = fault(ending) {
                    self.input.add_call(name, arguments, told);
                }
            }
        }
        if let Ending::Replied { structured, .. } = &answer.ending
            && let Some(told) = misfit(calls, structured)
        {
            self.output.add_call(name, arguments, told);
        }
        if answer.oversteps > 0 {
            let effect = calls.action.effect.word();
            let told = format!(
                "it is declared as `{effect}` and tries to do more, which the host refuses: declare a higher effect, or leave it"
            );
            self.effects.add_for(name, told);
        }
    }
}

/// What is wrong with how a call ended, if anything is.
pub(super) fn fault(ending: &Ending) -> Option<String> {
    match ending {
        Ending::Replied { .. } | Ending::Torn | Ending::Cancelled => None,
        Ending::Refused { code, message } => refusal_fault(code, message),
        Ending::TimedOut => Some("it does not come to an end".to_owned()),
        Ending::OverLimit(limit) => Some(format!("it {limit}")),
        Ending::Broke(reason) => Some(format!(
            "it broke ({reason}): return an error with a code instead of panicking"
        )),
    }
}

fn refusal_fault(code: &str, message: &str) -> Option<String> {
    if !Code::parse(code).is_some_and(Code::is_for_components) {
        let code: String = code.escape_debug().take(60).collect();
        return Some(format!(
            "it refuses with the code `{code}`, which the contract does not have: use for example `validation_error` or `not_found`"
        ));
    }
    if code == "internal_error" {
        let message: String = message.chars().take(100).collect();
        return Some(format!(
            "it refuses with `internal_error` ({message}): say what the caller can mend, with `validation_error` or another code"
        ));
    }
    if message.trim().is_empty() {
        return Some(format!(
            "it refuses with `{code}` and no message: say what was wrong and how to mend the call"
        ));
    }
    None
}

/// Why an answer is not what was announced.
fn misfit(calls: &ActionCalls, structured: &str) -> Option<String> {
    let value: Value = match serde_json::from_str(structured) {
        Ok(value) => value,
        Err(error) => return Some(format!("its answer is no JSON: {error}")),
    };
    if !value.is_object() {
        return Some("its answer is JSON, and no object".to_owned());
    }
    let fits = validator(&calls.action.output).ok()?;
    let error = fits.iter_errors(&value).next()?;
    let reason: String = error.to_string().chars().take(200).collect();
    let place = error.instance_path().to_string();
    Some(match place.is_empty() {
        true => format!("its answer does not fit its output schema: {reason}"),
        false => format!("its answer does not fit its output schema at `{place}`: {reason}"),
    })
}
