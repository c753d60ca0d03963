//! Kills during store changes: after any step either the old or the new version runs, and the next attempt succeeds.

use notehost::packages::FAIL_POINTS;

use super::{Workspace, version};

#[test]
fn install_is_atomic_when_killed_at_any_step() {
    for step in FAIL_POINTS {
        let workspace = Workspace::without_config();
        kill_at(&workspace, step, &["component", "add", &version("one")]);
        let is_there = workspace.list_entry().is_some();
        assert_eq!(is_there, is_committed(step), "after {step}");
        if is_there {
            assert_eq!(workspace.call("say", r#"{"text": "a"}"#)["version"], 1);
        } else {
            workspace.succeed(&["component", "add", &version("one")]);
        }
        assert!(has_only_named_contents(&workspace, 1), "after {step}");
    }
}

#[test]
fn upgrade_is_atomic_when_killed_at_any_step() {
    for step in FAIL_POINTS {
        let workspace = Workspace::without_config();
        workspace.succeed(&["component", "add", &version("one"), "--read", "Work/**"]);
        kill_at(
            &workspace,
            step,
            &["component", "upgrade", "steady", &version("two")],
        );
        let expected = if is_committed(step) { 2 } else { 1 };
        let reply = workspace.call("say", r#"{"text": "a"}"#);
        assert_eq!(reply["version"], expected, "after {step}");
        workspace.succeed(&["component", "upgrade", "steady", &version("two")]);
        assert_eq!(workspace.call("say", r#"{"text": "a"}"#)["version"], 2);
        assert!(has_only_named_contents(&workspace, 2), "after {step}");
        let decided = std::fs::read_to_string(workspace.place.state().join("notehost.toml"));
        let decided = decided.expect("what was decided");
        assert!(
            decided.contains("Work/**"),
            "its grant is as it was: {decided}"
        );
    }
}

/// Runs a command that exits itself at a step, as a kill would.
#[track_caller]
fn kill_at(workspace: &Workspace, step: &str, arguments: &[&str]) {
    let mut command = workspace.command(arguments);
    let output = command.env("NOTEHOST_FAIL_POINT", step).output();
    let output = output.expect("the program runs");
    assert!(
        output.status.code().is_none(),
        "it was not killed at {step}: {output:?}"
    );
}

/// The rename of the lock file is the commit point.
fn is_committed(step: &str) -> bool {
    matches!(step, "package-lock-placed" | "package-swept")
}

/// Only the lock file and this many contents are left.
fn has_only_named_contents(workspace: &Workspace, contents: usize) -> bool {
    let store = workspace.store();
    let is_content = |path: &std::path::Path| path.extension().is_some_and(|end| end == "wasm");
    let found = store.iter().filter(|(path, _)| is_content(path)).count();
    let others = store.iter().filter(|(path, _)| !is_content(path));
    found == contents
        && others
            .map(|(path, _)| path)
            .all(|path| *path == workspace.lock_file())
}
