//! Hidden notes must not leak: every action of every loaded component is called with everything that could point into a
//! hidden notebook, over stdio and over HTTP, and no reply may reveal it.
//!
//! There are two checks. Hidden notes contain a secret that no argument contains: any occurrence in a reply is a leak.
//! And a second vault, the twin, lacks the hidden notebook: both must give the same replies, which also catches
//! differences in counts and wording.

mod generated_calls;
mod served_vault;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::transcript::Stable;
use generated_calls::{
    GeneratedCall, calls_from_schema, calls_of_hostile_guest, calls_with_special_arguments,
    hidden_values,
};
use served_vault::{CallerKind, SECRET, ServedVault};

/// The vault and its twin.
struct VaultPair {
    real: ServedVault,
    twin: ServedVault,
    /// One for each: their ids differ, and get the same names.
    stable: [Stable; 2],
    differences: Vec<String>,
    leaks: Vec<String>,
    /// The outcomes of each action, to check that it was really reached.
    outcomes: BTreeMap<String, BTreeSet<String>>,
}

impl VaultPair {
    fn ask(&mut self, method: &str, params: &Value) -> [Value; 2] {
        let (real, twin) = (self.real.ask(method, params), self.twin.ask(method, params));
        let shown = format!("{method} {params}");
        if contains_secret(&real.to_string()) {
            self.leaks.push(format!("{shown}\n    {real}"));
        }
        // Change order and time depend on the moment, which the two vaults cannot share: only the number of results
        // must be equal. A card package contains its creation time.
        let by_time = [
            "search__recent",
            "block__recent",
            "system__time",
            "flashcard__export",
        ];
        let is_by_time = by_time.contains(&params["name"].as_str().unwrap_or_default());
        let answers = [&real, &twin].map(|answer| match is_by_time {
            true => counts_only(&without_unique_values(answer)),
            false => without_unique_values(answer),
        });
        let [real, twin] = [0, 1].map(|at| self.stable[at].value(&answers[at], "id"));
        if real != twin {
            self.differences
                .push(format!("{shown}\n    here: {real}\n    twin: {twin}"));
        }
        answers
    }

    fn call(&mut self, ask: &GeneratedCall) {
        let params = json!({"name": ask.tool, "arguments": ask.arguments});
        let [answer, _] = self.ask("tools/call", &params);
        let error = &answer["result"]["structuredContent"]["error"]["code"];
        let outcome = error.as_str().unwrap_or("ok").to_owned();
        self.outcomes
            .entry(ask.tool.clone())
            .or_default()
            .insert(outcome);
    }

    /// After all calls: logs and notifications must not leak either.
    fn assert_no_leaks(mut self) {
        for (what, text) in [
            ("a notification", self.real.notifications()),
            ("the log", self.real.log()),
        ] {
            let lines = text.lines().filter(|line| contains_secret(line));
            self.leaks
                .extend(lines.map(|line| format!("{what}: {line}")));
        }
        let some = |all: &[String]| all.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
        assert!(
            self.leaks.is_empty(),
            "{} leaks:\n{}",
            self.leaks.len(),
            some(&self.leaks)
        );
        assert!(
            self.differences.is_empty(),
            "{} replies reveal that something is hidden:\n{}",
            self.differences.len(),
            some(&self.differences)
        );
        let refused = |outcomes: &BTreeSet<String>| {
            outcomes.iter().all(|outcome| outcome == "validation_error")
        };
        let untried: Vec<&String> = self
            .outcomes
            .iter()
            .filter(|(_, outcomes)| refused(outcomes))
            .map(|(tool, _)| tool)
            .collect();
        assert!(untried.is_empty(), "never really called: {untried:?}");
    }
}

fn contains_secret(text: &str) -> bool {
    text.to_lowercase().contains(SECRET)
}

/// A reply without values that differ between any two calls: approvals have unique ids and times.
fn without_unique_values(answer: &Value) -> Value {
    let mut text = answer.clone();
    let details = &answer["result"]["structuredContent"]["error"]["details"];
    if let Some(approval) = details["approval"].as_str() {
        let all = answer.to_string().replace(approval, "<approval>");
        text = serde_json::from_str(&all).expect("still JSON");
        text["result"]["structuredContent"]["error"]["details"]["expires_at"] = json!("<later>");
    }
    text["id"] = Value::Null;
    text
}

/// A reply reduced to the number of hits, or the error.
fn counts_only(answer: &Value) -> Value {
    let reply = &answer["result"]["structuredContent"];
    let items = reply["items"].as_array().map(Vec::len);
    json!({"result": {"structuredContent": {"total": reply["total"], "items": items, "error": reply["error"]}}})
}

fn run_all_calls(caller: CallerKind) {
    let stable = [Stable::new(), Stable::new()];
    let (real, hidden_ids) = ServedVault::real(caller);
    let mut pair = VaultPair {
        real,
        twin: ServedVault::twin(caller),
        stable,
        differences: Vec::new(),
        leaks: Vec::new(),
        outcomes: BTreeMap::new(),
    };
    let values = hidden_values(&hidden_ids);

    let [tools, _] = pair.ask("tools/list", &json!({}));
    let tools = tools["result"]["tools"].as_array().expect("tools").clone();
    assert!(
        tools.len() > 140,
        "every action of every component is a tool: {}",
        tools.len()
    );
    for tool in &tools {
        for ask in calls_from_schema(tool, &values) {
            pair.call(&ask);
        }
    }
    for ask in calls_with_special_arguments(&values)
        .into_iter()
        .chain(calls_of_hostile_guest(&values))
    {
        pair.call(&ask);
    }

    let mut cursor = Value::Null;
    loop {
        let params = match &cursor {
            Value::Null => json!({}),
            cursor => json!({ "cursor": cursor }),
        };
        let [page, _] = pair.ask("resources/list", &params);
        cursor = page["result"]["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    pair.ask("resources/templates/list", &json!({}));
    for value in &values {
        for path in [value.clone(), generated_calls::percent_encoded(value)] {
            pair.ask(
                "resources/read",
                &json!({"uri": format!("notehost://vault/main/{path}")}),
            );
        }
        pair.ask(
            "completion/complete",
            &json!({
                "ref": {"type": "ref/resource", "uri": "notehost://vault/{vault}/{+path}"},
                "argument": {"name": "path", "value": value},
            }),
        );
    }
    pair.assert_no_leaks();
}

#[test]
fn hidden_notebook_does_not_leak_over_stdio() {
    run_all_calls(CallerKind::Stdio);
}

#[test]
fn hidden_notebook_does_not_leak_over_http() {
    run_all_calls(CallerKind::Http);
}

#[test]
fn hidden_notebook_does_not_leak_through_another_vault() {
    run_all_calls(CallerKind::InOneVault);
}

/// The checks work: for a caller that may read the notebook, both fail.
#[test]
fn leak_checks_detect_a_visible_notebook() {
    let (mut real, _) = ServedVault::real(CallerKind::Owner);
    let call = json!({"name": "document__read", "arguments": {"path": "Vellum/Known.md"}});
    assert!(contains_secret(&real.ask("tools/call", &call).to_string()));
    let mut twin = ServedVault::twin(CallerKind::Owner);
    let list = json!({"name": "notebook__list", "arguments": {}});
    let reply =
        [&mut real, &mut twin].map(|world| without_unique_values(&world.ask("tools/call", &list)));
    assert_ne!(reply[0]["result"], reply[1]["result"]);
}
