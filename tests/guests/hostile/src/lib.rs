//! The hostile guest: a component whose every action is an attack. It implements the contract itself instead of using
//! `domain!`, because an attacker does not use a library that checks its calls.
//!
//! `attacks` exhausts resources, `trespass` reaches for paths and effects that were not granted, `nonsense` returns
//! invalid replies, `lingering` waits until a permission is revoked, and then tries what it still can do.

mod attacks;
mod lingering;
mod nonsense;
mod trespass;

use notehost_sdk::guest::notehost::domain::types::{Error, Reply};
use notehost_sdk::guest::notehost::domain::vault::Vault;
use notehost_sdk::guest::{Guest, export_bindings};
use notehost_sdk::serde_json::{Value, from_str, json};

type Attack = fn(&Vault, &Value) -> Result<Reply, Error>;

/// The name of each action, the effect it is declared with, and what it does.
const ACTIONS: [(&str, &str, Attack); 36] = [
    ("spin", "read", attacks::spin),
    ("recurse", "read", attacks::recurse),
    ("trap", "read", attacks::trap),
    ("panic", "read", attacks::panic),
    ("exit", "read", attacks::exit),
    ("gorge", "read", attacks::gorge),
    ("flood", "read", attacks::flood),
    ("flood_log", "read", attacks::flood_log),
    ("flood_output", "read", attacks::flood_output),
    ("stage_until_refused", "write", attacks::stage_until_refused),
    ("stage_regardless", "write", attacks::stage_regardless),
    ("store_until_refused", "write", attacks::store_until_refused),
    ("ask_until_refused", "read", attacks::ask_until_refused),
    ("miss_until_refused", "read", attacks::miss_until_refused),
    ("rename_until_refused", "write", attacks::rename_until_refused),
    ("keys_until_refused", "read", attacks::keys_until_refused),
    ("deep_glob", "read", attacks::deep_glob),
    ("hand_over", "read", attacks::hand_over),
    ("write_then_trap", "write", attacks::write_then_trap),
    ("write_then_spin", "write", attacks::write_then_spin),
    ("reach_reading", "read", trespass::reach),
    ("reach_writing", "write", trespass::reach),
    ("reach_deleting", "delete", trespass::reach),
    ("linger_reading", "read", lingering::read),
    ("linger_writing", "write", lingering::write),
    ("ambient", "read", trespass::ambient),
    ("remember", "read", trespass::remember),
    ("nag", "read", nonsense::nag),
    ("print", "read", nonsense::print),
    ("giant_reply", "read", nonsense::giant_reply),
    ("giant_refusal", "read", nonsense::giant_refusal),
    ("link_often", "read", nonsense::link_often),
    ("broken_json", "read", nonsense::broken_json),
    ("no_object", "read", nonsense::no_object),
    ("unknown_code", "read", nonsense::unknown_code),
    ("link_away", "read", nonsense::link_away),
];

struct Hostile;

impl Guest for Hostile {
    fn describe() -> String {
        let actions: Vec<Value> = ACTIONS
            .iter()
            .map(|(name, effect, _)| {
                json!({
                    "name": name,
                    "description": "An attack.",
                    "effect": effect,
                    "input": {"type": "object", "properties": {}},
                    "output": {"type": "object", "properties": {}},
                })
            })
            .collect();
        json!({
            "name": "hostile",
            "version": "6.6.6",
            "description": "Nothing good.",
            "actions": actions,
        })
        .to_string()
    }

    fn call(vault: &Vault, action: String, arguments: String) -> Result<Reply, Error> {
        let arguments = from_str(&arguments).unwrap_or_default();
        match ACTIONS.iter().find(|(name, ..)| *name == action) {
            Some((_, _, attack)) => attack(vault, &arguments),
            None => Err(refusal("not_found", "no such attack")),
        }
    }
}

export_bindings!(Hostile with_types_in notehost_sdk::guest);

fn answer(structured: &Value) -> Reply {
    Reply {
        text: String::new(),
        structured: structured.to_string(),
        content: Vec::new(),
    }
}

fn refusal(code: &str, message: &str) -> Error {
    Error {
        code: code.to_owned(),
        message: message.to_owned(),
        hint: None,
        details: None,
    }
}

/// A text argument; empty if it is missing.
fn text<'a>(arguments: &'a Value, name: &str) -> &'a str {
    arguments[name].as_str().unwrap_or_default()
}
