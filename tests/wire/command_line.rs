//! The program for people and scripts: its output and exit codes.

use serde_json::{Value, json};

use super::{PLAN, RunResult, path_outside, place_with_note, program, run};
use crate::support::place::Place;

/// `notehost call` on the vault, with everything allowed.
fn call(place: &Place, arguments: &[&str], input: &str) -> RunResult {
    let mut command = program(place);
    command
        .arg("call")
        .args(arguments)
        .arg("--vault")
        .arg(place.vault())
        .args(["--allow", "rwd"]);
    run(&mut command, input)
}

#[test]
fn call_prints_json_to_a_pipe() {
    let place = place_with_note();
    for arguments in [
        ["document", "read", "--path", "Work/Plan"],
        ["document", "read", "--json", r#"{"path": "Work/Plan"}"#],
    ] {
        let result = call(&place, &arguments, "");
        assert_eq!(result.code, Some(0), "{result:#?}");
        assert_eq!(result.json()["content"], PLAN);
        assert_eq!(result.errors, "");
    }
}

#[test]
fn flag_value_can_come_from_stdin() {
    let place = place_with_note();
    let result = call(
        &place,
        &[
            "document",
            "create",
            "--path",
            "Work/New.md",
            "--content",
            "-",
        ],
        "from a pipe\n",
    );
    assert_eq!(result.code, Some(0), "{result:#?}");
    assert_eq!(result.json()["changes"][0]["kind"], "create");
    assert_eq!(
        place.read("Work/New.md").as_deref(),
        Some(&b"from a pipe\n"[..])
    );
}

#[test]
fn exit_codes_distinguish_failed_calls_usage_errors_and_startup_errors() {
    let place = place_with_note();
    // The call fails: JSON for a program, and a message for a person.
    let result = call(&place, &["document", "read", "--path", "Work/Absent"], "");
    assert_eq!(result.code, Some(1), "{result:#?}");
    assert_eq!(result.json()["error"]["code"], "not_found");
    assert!(result.errors.contains("Work/Absent"), "{result:#?}");
    let result = call(&place, &["document", "raed"], "");
    assert_eq!(result.code, Some(1), "{result:#?}");
    assert!(
        result.errors.contains("`notehost call document read`"),
        "{result:#?}"
    );
    // Usage errors.
    for (arguments, expected) in [
        (&["document", "read", "--pth", "Work/Plan"][..], "--path"),
        (&["document", "read", "--json", "{"], "--json"),
    ] {
        let result = call(&place, arguments, "");
        assert_eq!(result.code, Some(2), "{result:#?}");
        assert!(result.errors.contains(expected), "{result:#?}");
    }
    assert_eq!(run(program(&place).arg("fly"), "").code, Some(2));
    assert_eq!(
        run(program(&place).args(["call", "document", "list"]), "").code,
        Some(2),
        "no vault is specified"
    );
    // Startup errors.
    let mut command = program(&place);
    let result = run(
        command
            .args(["call", "document", "list", "--vault"])
            .arg(path_outside(&place, "nowhere")),
        "",
    );
    assert_eq!(result.code, Some(3), "{result:#?}");
    assert!(result.errors.contains("nowhere"), "{result:#?}");
}

#[test]
fn access_is_read_only_by_default() {
    let place = place_with_note();
    let before = place.snapshot();
    let mut command = program(&place);
    command.args([
        "call",
        "document",
        "append",
        "--path",
        "Work/Plan",
        "--text",
        "more",
        "--vault",
    ]);
    let result = run(command.arg(place.vault()), "");
    assert_eq!(result.code, Some(1), "{result:#?}");
    assert_eq!(result.json()["error"]["code"], "permission_denied");
    assert!(result.errors.contains("--allow rw"), "{result:#?}");
    place.snapshot().assert_same_as(&before);
}

#[test]
fn config_can_be_created_checked_and_shown() {
    let place = place_with_note();
    let file = path_outside(&place, "notehost.toml");
    let init = || {
        run(
            program(&place)
                .args(["config", "init"])
                .arg(place.vault())
                .arg("--config")
                .arg(&file),
            "",
        )
    };
    let result = init();
    assert_eq!(result.code, Some(0), "{result:#?}");
    let written = std::fs::read_to_string(&file).expect("the config is there");
    assert_eq!(init().code, Some(1), "a file that is there is not replaced");

    let validate = || run(program(&place).args(["config", "validate"]).arg(&file), "");
    let result = validate();
    assert_eq!(result.code, Some(0), "{result:#?}");

    let mut command = program(&place);
    command
        .env("NOTEHOST_SURFACE", "flat")
        .args(["config", "show", "--allow", "rw", "--config"]);
    let shown = run(command.arg(&file), "").json();
    let origin = |key: &str| -> (Value, String) {
        let items = shown["items"].as_array().expect("a list");
        let item = items
            .iter()
            .find(|item| item["key"] == key)
            .unwrap_or_else(|| panic!("{key} in {shown}"));
        (
            item["value"].clone(),
            item["origin"].as_str().unwrap_or_default().to_owned(),
        )
    };
    let (value, from) = origin("permissions.default");
    assert_eq!(value, "rw");
    assert!(from.contains("--allow"), "{from}");
    let (value, from) = origin("tool_surface");
    assert_eq!(value, "flat");
    assert!(from.contains("NOTEHOST_SURFACE"), "{from}");

    std::fs::write(&file, format!("permisions = 1\n{written}")).expect("the config can be broken");
    let result = validate();
    assert_eq!(result.code, Some(1), "{result:#?}");
    assert!(
        result.errors.contains("permisions") && result.errors.contains("permissions"),
        "{result:#?}"
    );
    // A server does not start with unreadable settings.
    assert_eq!(
        run(program(&place).args(["serve", "--config"]).arg(&file), "").code,
        Some(3)
    );
}

#[test]
fn config_inside_its_vault_is_rejected() {
    let place = place_with_note();
    let file = place.vault().join("notehost.toml");
    let result = run(
        program(&place)
            .args(["config", "init"])
            .arg(place.vault())
            .arg("--config")
            .arg(&file),
        "",
    );
    assert_eq!(result.code, Some(1), "{result:#?}");
    assert!(!file.exists());
}

#[test]
fn doctor_reports_problems() {
    let place = place_with_note();
    let result = run(program(&place).arg("doctor").arg(place.vault()), "");
    assert_eq!(result.code, Some(0), "{result:#?}");
    let items = result.json()["items"].take();
    assert!(
        items
            .as_array()
            .is_some_and(|items| items.iter().all(|item| item["verdict"] != "fail")),
        "{items}"
    );
    let result = run(
        program(&place)
            .arg("doctor")
            .arg(path_outside(&place, "nowhere")),
        "",
    );
    assert_eq!(result.code, Some(1), "{result:#?}");
    assert!(
        result.json().to_string().contains(r#""verdict":"fail""#),
        "{result:#?}"
    );
}

#[test]
fn every_command_has_help() {
    let place = place_with_note();
    let tools = run(program(&place).arg("tools"), "").json()["items"].take();
    let listed = |domain: &str, action: &str| {
        let is_action = |item: &&Value| item["domain"] == domain && item["action"] == action;
        tools
            .as_array()
            .into_iter()
            .flatten()
            .find(is_action)
            .cloned()
            .unwrap_or_default()
    };
    assert_eq!(listed("document", "read")["effect"], json!("read"));
    assert_eq!(listed("document", "remove")["effect"], json!("delete"));
    assert_eq!(listed("notebook", "create")["effect"], json!("write"));

    for (arguments, expected) in [
        (&["help"][..], "document"),
        (&["help", "document"], "read_section"),
        (&["help", "document", "edit"], "--edits"),
        (&["help", "serve"], "--http"),
        (&["serve", "--help"], "--parent-pid"),
    ] {
        let result = run(program(&place).args(arguments), "");
        assert_eq!(result.code, Some(0), "{result:#?}");
        assert!(
            result.output.contains(expected),
            "{arguments:?}: {result:#?}"
        );
    }
    let result = run(program(&place).args(["help", "documnt"]), "");
    assert_eq!(result.code, Some(2), "{result:#?}");
    assert!(result.errors.contains("`document`"), "{result:#?}");
    let result = run(program(&place).arg("--version"), "");
    assert_eq!(
        result.output,
        format!("notehost {}\n", env!("CARGO_PKG_VERSION"))
    );
}
