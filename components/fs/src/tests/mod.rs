//! Tests of every action, called as the host calls it: by name, with JSON.

mod equivalence;
mod mv_cp_rm;
mod read_actions;
mod write_actions;

use notehost_sdk::serde_json::{Value, json};
use notehost_sdk::{Describes as _, Effect, MemoryVault, Tier, Vault};

use crate::Domain;

notehost_sdk::calls!(Domain);

/// The vault used by most tests.
fn vault() -> MemoryVault {
    Vault::in_memory()
        .with(
            "Work/Plan.md",
            "---\nstatus: open # why\n---\n# Plan\n\nSee [[Budget]] and [b](Budget.md).\nTODO one\n",
        )
        .with("Work/Budget.md", "Ten\r\ntodo two\r\nback to [[Plan]]")
        .with("Work/Deep/Old.md", "TODO three\n")
        .with("Index.md", "[[Work/Plan]] [[Old]]\n")
        .with("Work/data.csv", "a,b\n1,TODO\n")
        .with_bytes("Work/pic.png", b"\x89PNG\xff")
        .with_bytes("Work/zero.bin", b"a\0b")
        .with_bytes("Latin.md", b"caf\xe9")
        .with("Diary/Secret.md", "TODO hidden\n")
        .allow("Diary", Tier::None)
}

/// The paths of the listed items, in order.
fn paths(reply: &Value) -> Vec<&str> {
    let items = reply["items"].as_array().unwrap();
    items
        .iter()
        .map(|item| item["path"].as_str().unwrap())
        .collect()
}

#[test]
fn description_is_complete_and_within_budget() {
    let described = Domain::describe();
    let actions = described["actions"].as_array().unwrap();
    let names: Vec<&str> = actions
        .iter()
        .map(|action| action["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "ls", "tree", "cat", "write", "edit", "mv", "cp", "rm", "mkdir", "grep", "find"
        ]
    );
    let mut inputs = 0;
    for action in actions {
        let schemas = action["input"].to_string() + &action["output"].to_string();
        for forbidden in ["$ref", "oneOf", "anyOf", "\"null\""] {
            assert!(!schemas.contains(forbidden), "{schemas}");
        }
        assert!(!action["description"].as_str().unwrap().is_empty());
        inputs += action["input"].to_string().len();
    }
    assert!(inputs < 5_000, "{inputs} bytes of input schemas");
}

#[test]
fn effects_match_shell_semantics() {
    let described = Domain::describe();
    for action in described["actions"].as_array().unwrap() {
        let effect = match action["name"].as_str().unwrap() {
            "rm" => Effect::Delete,
            "write" | "edit" | "mv" | "cp" | "mkdir" => Effect::Write,
            _ => Effect::Read,
        };
        assert_eq!(action["effect"], effect.as_str(), "{action}");
    }
}
