//! A careless author: each action breaks exactly one rule of the contract. The conformance suite has to report each
//! under the right check. The first action follows every rule.

use std::time::SystemTime;

use notehost_sdk::guest::notehost::domain::store;
use notehost_sdk::guest::notehost::domain::types::{
    Action, Description, Effect, Error, Reply, Request,
};
use notehost_sdk::guest::notehost::domain::vault::Vault;
use notehost_sdk::guest::{Guest, export_bindings};
use notehost_sdk::serde_json::{Value, from_str, json};

type Run = fn(&Vault, &Value) -> Result<Reply, Error>;

/// The name of each action, its effect, and its function.
const ACTIONS: [(&str, Effect, Run); 14] = [
    ("conforming", Effect::Write, conforming),
    ("nullable", Effect::Read, length),
    ("undescribed", Effect::Read, length),
    ("wrong_example", Effect::Read, length),
    ("panics", Effect::Read, panics),
    ("unknown_code", Effect::Read, unknown_code),
    ("empty_message", Effect::Read, empty_message),
    ("wrong_output", Effect::Read, wrong_output),
    ("stores_in_read", Effect::Read, stores_in_read),
    ("spins", Effect::Read, spins),
    ("nondeterministic", Effect::Read, nondeterministic),
    ("ignores_denial", Effect::Read, ignores_denial),
    ("ignores_changes", Effect::Read, ignores_changes),
    ("removes_in_write", Effect::Write, removes_in_write),
];

struct Clumsy;

impl Guest for Clumsy {
    fn describe() -> Description {
        let output = json!({
            "type": "object",
            "properties": {"length": {"type": "integer", "description": "In bytes."}},
            "required": ["length"],
        });
        let actions = ACTIONS.iter().map(|(name, effect, _)| Action {
            name: (*name).to_owned(),
            description: "Return the length of a note.".to_owned(),
            effect: *effect,
            input: input(name).to_string(),
            output: output.to_string(),
        });
        Description {
            name: "clumsy".to_owned(),
            version: "1.0.0".to_owned(),
            description: "Lengths of notes.".to_owned(),
            actions: actions.collect(),
            prompts: Vec::new(),
        }
    }

    fn call(vault: &Vault, request: Request) -> Result<Reply, Error> {
        let arguments = from_str(&request.arguments).unwrap_or_default();
        match ACTIONS.iter().find(|(name, ..)| *name == request.action) {
            Some((_, _, run)) => run(vault, &arguments),
            None => Err(refusal("not_found", "no such action")),
        }
    }
}

export_bindings!(Clumsy with_types_in notehost_sdk::guest);

fn input(action: &str) -> Value {
    let path = match action {
        "nullable" => json!({"type": ["string", "null"], "description": "The note."}),
        "undescribed" => json!({"type": "string"}),
        _ => json!({"type": "string", "description": "The note."}),
    };
    let mut input = json!({"type": "object", "properties": {"path": path}, "required": ["path"]});
    if action == "wrong_example" {
        input["examples"] = json!([{"note": "Work/Plan.md"}]);
    }
    input
}

/// Follows every rule.
fn conforming(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    let bytes = vault.read(path(arguments))?.bytes;
    store::set("length", bytes.len().to_string().as_bytes())?;
    answer(bytes.len())
}

/// Follows every rule except for its declared schema.
fn length(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    answer(vault.read(path(arguments))?.bytes.len())
}

/// Assumes that every note is text.
fn panics(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    let bytes = vault.read(path(arguments))?.bytes;
    answer(String::from_utf8(bytes).expect("a note is text").len())
}

/// Uses an unknown error code.
fn unknown_code(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    match vault.read(path(arguments)) {
        Ok(blob) => answer(blob.bytes.len()),
        Err(_) => Err(refusal("oops", "something went wrong")),
    }
}

/// Fails with a message that explains nothing.
fn empty_message(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    match vault.read(path(arguments)) {
        Ok(blob) => answer(blob.bytes.len()),
        Err(error) => Err(refusal(&error.code, "")),
    }
}

/// Returns something that does not match its output schema.
fn wrong_output(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    let length = vault.read(path(arguments))?.bytes.len();
    Ok(reply(&json!({ "length": length.to_string() })))
}

/// Stores a counter, although it is declared as a read.
fn stores_in_read(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    let length = vault.read(path(arguments))?.bytes.len();
    let _ = store::set("count", b"1");
    answer(length)
}

/// Removes, although it is declared as a write.
fn removes_in_write(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
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

/// Its result depends on the clock.
fn nondeterministic(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    let length = vault.read(path(arguments))?.bytes.len();
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    answer(length + since.map_or(0, |since| since.as_nanos() as usize % 1_000_000_007))
}

/// Assumes that a note that it listed can be read.
fn ignores_denial(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    let length = vault.read(path(arguments))?.bytes.len();
    let folder = vault
        .list("", false, None, 10)
        .expect("the vault can be listed");
    answer(length + folder.entries.len())
}

/// Assumes that a note keeps its length.
fn ignores_changes(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
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
