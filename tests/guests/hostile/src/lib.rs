//! The hostile guest: a component whose every action is an attack. It implements the contract itself instead of using
//! `domain!`, because an attacker does not use a library that checks its calls.
//!
//! `attacks` exhausts resources, `trespass` reaches for paths and effects that were not granted, `nonsense` returns
//! invalid replies, `lingering` waits until a permission is revoked, and then tries what it still can do.

mod attacks;
mod lingering;
mod nonsense;
mod trespass;

use notehost_sdk::guest::notehost::domain::types::{
    Action, Description, Effect, Error, Reply, Request,
};
use notehost_sdk::guest::notehost::domain::vault::Vault;
use notehost_sdk::guest::{Guest, export_bindings};
use notehost_sdk::serde_json::{Value, from_str, json};

type Attack = fn(&Vault, &Value) -> Result<Reply, Error>;

/// The name of each action, the effect it is declared with, and what it does.
const ACTIONS: [(&str, Effect, Attack); 37] = [
    ("spin", Effect::Read, attacks::spin),
    ("recurse", Effect::Read, attacks::recurse),
    ("trap", Effect::Read, attacks::trap),
    ("panic", Effect::Read, attacks::panic),
    ("exit", Effect::Read, attacks::exit),
    ("gorge", Effect::Read, attacks::gorge),
    ("flood", Effect::Read, attacks::flood),
    ("flood_log", Effect::Read, attacks::flood_log),
    ("flood_output", Effect::Read, attacks::flood_output),
    ("stage_until_refused", Effect::Write, attacks::stage_until_refused),
    ("stage_regardless", Effect::Write, attacks::stage_regardless),
    ("store_until_refused", Effect::Write, attacks::store_until_refused),
    ("ask_until_refused", Effect::Read, attacks::ask_until_refused),
    ("miss_until_refused", Effect::Read, attacks::miss_until_refused),
    ("rename_until_refused", Effect::Write, attacks::rename_until_refused),
    ("keys_until_refused", Effect::Read, attacks::keys_until_refused),
    ("deep_glob", Effect::Read, attacks::deep_glob),
    ("bad_conditions", Effect::Read, attacks::bad_conditions),
    ("hand_over", Effect::Read, attacks::hand_over),
    ("write_then_trap", Effect::Write, attacks::write_then_trap),
    ("write_then_spin", Effect::Write, attacks::write_then_spin),
    ("reach_reading", Effect::Read, trespass::reach),
    ("reach_writing", Effect::Write, trespass::reach),
    ("reach_deleting", Effect::Delete, trespass::reach),
    ("linger_reading", Effect::Read, lingering::read),
    ("linger_writing", Effect::Write, lingering::write),
    ("ambient", Effect::Read, trespass::ambient),
    ("remember", Effect::Read, trespass::remember),
    ("nag", Effect::Read, nonsense::nag),
    ("print", Effect::Read, nonsense::print),
    ("giant_reply", Effect::Read, nonsense::giant_reply),
    ("giant_refusal", Effect::Read, nonsense::giant_refusal),
    ("link_often", Effect::Read, nonsense::link_often),
    ("broken_json", Effect::Read, nonsense::broken_json),
    ("no_object", Effect::Read, nonsense::no_object),
    ("unknown_code", Effect::Read, nonsense::unknown_code),
    ("link_away", Effect::Read, nonsense::link_away),
];

struct Hostile;

impl Guest for Hostile {
    fn describe() -> Description {
        let schema = json!({"type": "object", "properties": {}}).to_string();
        let actions = ACTIONS.iter().map(|(name, effect, _)| Action {
            name: (*name).to_owned(),
            description: "An attack.".to_owned(),
            effect: *effect,
            input: schema.clone(),
            output: schema.clone(),
        });
        Description {
            name: "hostile".to_owned(),
            version: "6.6.6".to_owned(),
            description: "Nothing good.".to_owned(),
            actions: actions.collect(),
            prompts: Vec::new(),
        }
    }

    fn call(vault: &Vault, request: Request) -> Result<Reply, Error> {
        let arguments = from_str(&request.arguments).unwrap_or_default();
        match ACTIONS.iter().find(|(name, ..)| *name == request.action) {
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
