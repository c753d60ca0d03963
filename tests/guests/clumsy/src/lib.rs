//! The careless author: each action breaks one rule of the contract, and keeps all others. The conformance kit has to
//! find each, and to call it by its name. The first action keeps every rule.

use std::time::SystemTime;

use notehost_sdk::guest::notehost::domain::store;
use notehost_sdk::guest::notehost::domain::types::{Error, Reply};
use notehost_sdk::guest::notehost::domain::vault::Vault;
use notehost_sdk::guest::{Guest, export_bindings};
use notehost_sdk::serde_json::{Value, from_str, json};

type Run = fn(&Vault, &Value) -> Result<Reply, Error>;

/// The name of each action, its effect, and what it does.
const ACTIONS: [(&str, &str, Run); 14] = [
    ("fine", "write", fine),
    ("nullable", "read", length),
    ("untold", "read", length),
    ("misled", "read", length),
    ("panics", "read", panics),
    ("mumbles", "read", mumbles),
    ("shrugs", "read", shrugs),
    ("misfits", "read", misfits),
    ("oversteps", "read", oversteps),
    ("spins", "read", spins),
    ("dices", "read", dices),
    ("trusts", "read", trusts),
    ("assumes", "read", assumes),
    ("removes", "write", removes),
];

struct Clumsy;

impl Guest for Clumsy {
    fn describe() -> String {
        let actions: Vec<Value> = ACTIONS
            .iter()
            .map(|(name, effect, _)| {
                json!({
                    "name": name,
                    "description": "Tell how long a note is, after a fashion.",
                    "effect": effect,
                    "input": input(name),
                    "output": {
                        "type": "object",
                        "properties": {"length": {"type": "integer", "description": "In bytes."}},
                        "required": ["length"],
                    },
                })
            })
            .collect();
        json!({
            "name": "clumsy",
            "version": "1.0.0",
            "description": "Lengths of notes.",
            "actions": actions,
        })
        .to_string()
    }

    fn call(vault: &Vault, action: String, arguments: String) -> Result<Reply, Error> {
        let arguments = from_str(&arguments).unwrap_or_default();
        match ACTIONS.iter().find(|(name, ..)| *name == action) {
            Some((_, _, run)) => run(vault, &arguments),
            None => Err(refusal("not_found", "no such action")),
        }
    }
}

export_bindings!(Clumsy with_types_in notehost_sdk::guest);

fn input(action: &str) -> Value {
    let path = match action {
        "nullable" => json!({"type": ["string", "null"], "description": "The note."}),
        "untold" => json!({"type": "string"}),
        _ => json!({"type": "string", "description": "The note."}),
    };
    let mut input = json!({"type": "object", "properties": {"path": path}, "required": ["path"]});
    if action == "misled" {
        input["examples"] = json!([{"note": "Work/Plan.md"}]);
    }
    input
}

/// Keeps every rule.
fn fine(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    let bytes = vault.read(path(arguments))?.bytes;
    store::set("length", bytes.len().to_string().as_bytes())?;
    answer(bytes.len())
}

/// Keeps every rule but what its schema says.
fn length(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    answer(vault.read(path(arguments))?.bytes.len())
}

/// Takes any note for text.
fn panics(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    let bytes = vault.read(path(arguments))?.bytes;
    answer(String::from_utf8(bytes).expect("a note is text").len())
}

/// Has a code of its own.
fn mumbles(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    match vault.read(path(arguments)) {
        Ok(blob) => answer(blob.bytes.len()),
        Err(_) => Err(refusal("oops", "something went wrong")),
    }
}

/// Says that something went wrong, and not what.
fn shrugs(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    match vault.read(path(arguments)) {
        Ok(blob) => answer(blob.bytes.len()),
        Err(error) => Err(refusal(&error.code, "")),
    }
}

/// Answers something else than it announced.
fn misfits(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    let length = vault.read(path(arguments))?.bytes.len();
    Ok(reply(&json!({ "length": length.to_string() })))
}

/// Keeps a count, as an action that reads may not.
fn oversteps(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    let length = vault.read(path(arguments))?.bytes.len();
    let _ = store::set("count", b"1");
    answer(length)
}

/// Removes, as an action that writes may not.
fn removes(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    let length = vault.read(path(arguments))?.bytes.len();
    let _ = vault.remove(path(arguments));
    answer(length)
}

/// Never ends for an empty name.
fn spins(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    while path(arguments).is_empty() {
        std::hint::spin_loop();
    }
    length(vault, arguments)
}

/// Answers by the clock.
fn dices(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    let length = vault.read(path(arguments))?.bytes.len();
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    answer(length + since.map_or(0, |since| since.as_nanos() as usize % 1_000_000_007))
}

/// Takes for granted that what it just read can be looked at.
fn trusts(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    let length = vault.read(path(arguments))?.bytes.len();
    let folder = vault
        .list("", false, None, 10)
        .expect("the vault can be listed");
    answer(length + folder.entries.len())
}

/// Takes for granted that a note stays as long as it was.
fn assumes(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    let expected = vault.stat(path(arguments))?.size;
    let length = vault.read(path(arguments))?.bytes.len();
    assert_eq!(expected, length as u64, "the note stays as it is");
    answer(length)
}

fn path(arguments: &Value) -> &str {
    arguments["path"].as_str().unwrap_or_default()
}

fn answer(length: usize) -> Result<Reply, Error> {
    Ok(reply(&json!({ "length": length })))
}

fn reply(structured: &Value) -> Reply {
    Reply {
        text: structured.to_string(),
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
