//! The calls that a component is tested with: for each action one that works, if one can be found, and many variants.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::arguments::{ReturnedValues, gather, odd, sensible, with_options};
use super::description::validator;
use super::test_vault::{Answer, Ending, TestVault};
use notehost_runtime::{ActionDescription, Description};
use notehost_vault::Effect;

/// The maximum number of calls of an action with unusual arguments.
const MAX_UNUSUAL_CALLS: usize = 250;

/// All test calls.
pub(super) struct Calls(pub(super) Vec<ActionCalls>);

/// The calls of one action.
pub(super) struct ActionCalls {
    pub(super) action: Arc<ActionDescription>,
    /// The call that is repeated under all conditions, and its outcome.
    pub(super) usual: Map<String, Value>,
    pub(super) answer: Answer,
    /// Other plausible calls, with optional arguments.
    pub(super) sensible: Vec<Map<String, Value>>,
    /// Calls with unusual arguments.
    pub(super) odd: Vec<Map<String, Value>>,
}

impl Calls {
    /// Finds working calls. Reading actions come first: their replies supply arguments for others.
    pub(super) async fn find(test_vault: &TestVault<'_>, description: &Description) -> Calls {
        let mut returned = ReturnedValues::new();
        let mut found = Vec::new();
        let mut actions: Vec<&ActionDescription> = description.actions.iter().collect();
        actions.sort_by_key(|action| action.effect);
        for action in &actions {
            let (usual, answer) = usual_call(test_vault, action, &returned).await;
            if action.effect == Effect::Read
                && let Some(reply) = reply_of(&answer)
            {
                gather(&reply, &mut returned);
            }
            found.push((usual, answer));
        }
        let mut calls = Vec::new();
        for (action, (mut usual, mut answer)) in actions.into_iter().zip(found) {
            // With the values that were returned since, a refused call may succeed.
            if matches!(answer.ending, Ending::Refused { .. }) {
                (usual, answer) = usual_call(test_vault, action, &returned).await;
            }
            let fits = validator(&action.input).ok();
            let is_valid = |arguments: &Map<String, Value>| {
                let arguments = Value::Object(arguments.clone());
                fits.as_ref().is_some_and(|fits| fits.is_valid(&arguments))
            };
            let only_valid = |made: Vec<Map<String, Value>>| -> Vec<Map<String, Value>> {
                made.into_iter().filter(|made| is_valid(made)).collect()
            };
            let mut odd = only_valid(odd(&action.input, &usual));
            odd.truncate(MAX_UNUSUAL_CALLS);
            calls.push(ActionCalls {
                sensible: only_valid(with_options(&action.input, &usual, &returned)),
                odd,
                action: Arc::new(action.clone()),
                usual,
                answer,
            });
        }
        Calls(calls)
    }
}

/// The first plausible call that succeeds, or else the first that matches the schema.
async fn usual_call(
    test_vault: &TestVault<'_>,
    action: &ActionDescription,
    returned: &ReturnedValues,
) -> (Map<String, Value>, Answer) {
    let fits = validator(&action.input).ok();
    let mut first = None;
    for arguments in sensible(&action.input, returned) {
        let value = Value::Object(arguments.clone());
        if !fits.as_ref().is_some_and(|fits| fits.is_valid(&value)) {
            continue;
        }
        let answer = test_vault.call(action, &arguments).await;
        if reply_of(&answer).is_some() {
            return (arguments, answer);
        }
        let is_hopeless = !matches!(answer.ending, Ending::Refused { .. });
        first.get_or_insert((arguments, answer));
        if is_hopeless {
            break;
        }
    }
    match first {
        Some(found) => found,
        None => {
            let answer = test_vault.call(action, &Map::new()).await;
            (Map::new(), answer)
        }
    }
}

/// The structured reply of an action, if it succeeded.
fn reply_of(answer: &Answer) -> Option<Value> {
    match &answer.ending {
        Ending::Replied { structured, .. } => serde_json::from_str(structured).ok(),
        _ => None,
    }
}
