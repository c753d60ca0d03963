//! The program as people and scripts use it: what it prints, and the code it ends with.

use serde_json::{Value, json};

use super::{Ended, PLAN, beside, desk, program, run};
use crate::support::place::Place;

/// `notehost call` on the vault, with everything allowed.
fn call(place: &Place, words: &[&str], input: &str) -> Ended {
    let mut command = program(place);
    command
        .arg("call")
        .args(words)
        .arg("--vault")
        .arg(place.vault())
        .args(["--allow", "rwd"]);
    run(&mut command, input)
}

#[test]
fn a_call_prints_json_to_a_pipe() {
    let place = desk();
    for words in [
        ["document", "read", "--path", "Work/Plan"],
        ["document", "read", "--json", r#"{"path": "Work/Plan"}"#],
    ] {
        let ended = call(&place, &words, "");
        assert_eq!(ended.code, Some(0), "{ended:#?}");
        assert_eq!(ended.json()["content"], PLAN);
        assert_eq!(ended.errors, "");
    }
}

#[test]
fn a_value_can_come_from_stdin() {
    let place = desk();
    let ended = call(
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
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    assert_eq!(ended.json()["changes"][0]["kind"], "create");
    assert_eq!(
        place.read("Work/New.md").as_deref(),
        Some(&b"from a pipe\n"[..])
    );
}

#[test]
fn the_exit_code_says_whose_turn_it_is() {
    let place = desk();
    // The call failed: the error is data for a program, and words for a person.
    let ended = call(&place, &["document", "read", "--path", "Work/Absent"], "");
    assert_eq!(ended.code, Some(1), "{ended:#?}");
    assert_eq!(ended.json()["error"]["code"], "not_found");
    assert!(ended.errors.contains("Work/Absent"), "{ended:#?}");
    let ended = call(&place, &["document", "raed"], "");
    assert_eq!(ended.code, Some(1), "{ended:#?}");
    assert!(
        ended.errors.contains("`notehost call document read`"),
        "{ended:#?}"
    );
    // Usage.
    for (words, told) in [
        (&["document", "read", "--pth", "Work/Plan"][..], "--path"),
        (&["document", "read", "--json", "{"], "--json"),
    ] {
        let ended = call(&place, words, "");
        assert_eq!(ended.code, Some(2), "{ended:#?}");
        assert!(ended.errors.contains(told), "{ended:#?}");
    }
    assert_eq!(run(program(&place).arg("fly"), "").code, Some(2));
    assert_eq!(
        run(program(&place).args(["call", "document", "list"]), "").code,
        Some(2),
        "no vault is specified"
    );
    // It could not start.
    let mut command = program(&place);
    let ended = run(
        command
            .args(["call", "document", "list", "--vault"])
            .arg(beside(&place, "nowhere")),
        "",
    );
    assert_eq!(ended.code, Some(3), "{ended:#?}");
    assert!(ended.errors.contains("nowhere"), "{ended:#?}");
}

#[test]
fn without_being_told_nothing_may_be_written() {
    let place = desk();
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
    let ended = run(command.arg(place.vault()), "");
    assert_eq!(ended.code, Some(1), "{ended:#?}");
    assert_eq!(ended.json()["error"]["code"], "permission_denied");
    assert!(ended.errors.contains("--allow rw"), "{ended:#?}");
    place.snapshot().assert_same_as(&before);
}

#[test]
fn a_config_is_written_checked_and_shown() {
    let place = desk();
    let file = beside(&place, "notehost.toml");
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
    let ended = init();
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    let written = std::fs::read_to_string(&file).expect("the config is there");
    assert_eq!(init().code, Some(1), "a file that is there is not replaced");

    let validate = || run(program(&place).args(["config", "validate"]).arg(&file), "");
    let ended = validate();
    assert_eq!(ended.code, Some(0), "{ended:#?}");

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
    let ended = validate();
    assert_eq!(ended.code, Some(1), "{ended:#?}");
    assert!(
        ended.errors.contains("permisions") && ended.errors.contains("permissions"),
        "{ended:#?}"
    );
    // Nothing is served with settings that cannot be read.
    assert_eq!(
        run(program(&place).args(["serve", "--config"]).arg(&file), "").code,
        Some(3)
    );
}

#[test]
fn a_config_in_its_own_vault_is_refused() {
    let place = desk();
    let file = place.vault().join("notehost.toml");
    let ended = run(
        program(&place)
            .args(["config", "init"])
            .arg(place.vault())
            .arg("--config")
            .arg(&file),
        "",
    );
    assert_eq!(ended.code, Some(1), "{ended:#?}");
    assert!(!file.exists());
}

#[test]
fn the_doctor_finds_what_is_wrong() {
    let place = desk();
    let ended = run(program(&place).arg("doctor").arg(place.vault()), "");
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    let items = ended.json()["items"].take();
    assert!(
        items
            .as_array()
            .is_some_and(|items| items.iter().all(|item| item["verdict"] != "fail")),
        "{items}"
    );
    let ended = run(
        program(&place).arg("doctor").arg(beside(&place, "nowhere")),
        "",
    );
    assert_eq!(ended.code, Some(1), "{ended:#?}");
    assert!(
        ended.json().to_string().contains(r#""verdict":"fail""#),
        "{ended:#?}"
    );
}

#[test]
fn everything_explains_itself() {
    let place = desk();
    let tools = run(program(&place).arg("tools"), "").json()["items"].take();
    let listed = |domain: &str, action: &str| {
        let wanted = |item: &&Value| item["domain"] == domain && item["action"] == action;
        tools
            .as_array()
            .into_iter()
            .flatten()
            .find(wanted)
            .cloned()
            .unwrap_or_default()
    };
    assert_eq!(listed("document", "read")["effect"], json!("read"));
    assert_eq!(listed("document", "remove")["effect"], json!("delete"));
    assert_eq!(listed("notebook", "create")["effect"], json!("write"));

    for (words, told) in [
        (&["help"][..], "document"),
        (&["help", "document"], "read_section"),
        (&["help", "document", "edit"], "--edits"),
        (&["help", "serve"], "--http"),
        (&["serve", "--help"], "--parent-pid"),
    ] {
        let ended = run(program(&place).args(words), "");
        assert_eq!(ended.code, Some(0), "{ended:#?}");
        assert!(ended.output.contains(told), "{words:?}: {ended:#?}");
    }
    let ended = run(program(&place).args(["help", "documnt"]), "");
    assert_eq!(ended.code, Some(2), "{ended:#?}");
    assert!(ended.errors.contains("`document`"), "{ended:#?}");
    let ended = run(program(&place).arg("--version"), "");
    assert_eq!(
        ended.output,
        format!("notehost {}\n", env!("CARGO_PKG_VERSION"))
    );
}
