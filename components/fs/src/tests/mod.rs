//! Tests of every action, called as the host calls it: by name, with JSON.

mod equivalence;
mod mv_cp_rm;
mod read_actions;
mod write_actions;

use notehost_sdk::serde_json::{Value, json};
use notehost_sdk::testing::{assert_described, paths};
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

#[test]
fn description_is_complete_and_within_budget() {
    assert_described::<Domain>(
        &[
            "ls", "tree", "cat", "write", "edit", "mv", "cp", "rm", "mkdir", "grep", "find",
        ],
        5_000,
    );
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
