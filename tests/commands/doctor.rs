//! `notehost doctor`: every common problem is reported, with a fix.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

use notehost::vault::Tier;
use serde_json::Value;

use super::{RunResult, Workspace};
use crate::support::client::Client;

/// The check whose text contains these words.
#[track_caller]
fn check(result: &RunResult, words: &str) -> Value {
    let items = result.json()["items"].take();
    let found = items.as_array().into_iter().flatten().find(|item| {
        item["found"]
            .as_str()
            .is_some_and(|found| found.contains(words))
    });
    found
        .unwrap_or_else(|| panic!("nothing of `{words}` in {result:#?}"))
        .clone()
}

#[track_caller]
fn assert_found(result: &RunResult, words: &str, verdict: &str, advice: &str) {
    let check = check(result, words);
    assert_eq!(check["verdict"], verdict, "{check}");
    let found_advice = check["advice"].as_str().unwrap_or_default();
    assert!(found_advice.contains(advice), "{check}");
    let code = if verdict == "fail" { Some(1) } else { Some(0) };
    assert_eq!(result.code, code, "{result:#?}");
}

#[test]
fn missing_vault_and_file_as_vault_are_reported() {
    let workspace = Workspace::new();
    let nowhere = workspace.home().join("nowhere");
    let result = workspace.run(&["doctor", &nowhere.to_string_lossy()]);
    assert_found(&result, "nowhere", "fail", "use an existing folder");
    let note = workspace.place.vault().join("Top.md");
    let result = workspace.run(&["doctor", &note.to_string_lossy()]);
    assert_found(&result, "not a folder", "fail", "a vault is a folder");
}

#[test]
fn authentication_settings_are_checked_as_at_startup() {
    let workspace = Workspace::new();
    let vault = workspace.vault();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let result = workspace.run(&["doctor", &vault, "--http", &address]);
    assert_found(&result, "cannot listen on", "fail", "choose another port");
    drop(taken);
    let result = workspace.run(&["doctor", &vault, "--http", &address]);
    assert_found(&result, "is free", "ok", "");

    let open = "0.0.0.0:0";
    let result = workspace.run(&["doctor", &vault, "--http", open]);
    assert_found(
        &result,
        "would not be authenticated",
        "fail",
        "notehost token new",
    );
    let result = workspace.run(&["doctor", &vault, "--http", &address, "--confirm", "never"]);
    assert_found(
        &result,
        "`--confirm never` cannot be used with `--http`",
        "fail",
        "omit it",
    );
    let state = workspace.place.state();
    workspace
        .run(&[
            "token",
            "new",
            "--name",
            "a",
            "--state",
            &state.to_string_lossy(),
        ])
        .expect_success();
    let result = workspace.run(&["doctor", &vault, "--http", open]);
    assert_found(&result, "without encryption", "warn", "http.tls_cert");

    let mut settings = workspace.place.settings();
    settings.http.tls_cert = Some(workspace.home().join("no.pem"));
    settings.http.tls_key = Some(workspace.home().join("no.key"));
    let config = workspace.place.config_file(&settings);
    let result = workspace.run(&[
        "doctor",
        "--config",
        &config.to_string_lossy(),
        "--http",
        &address,
    ]);
    assert_eq!(result.code, Some(1), "{result:#?}");
    check(&result, "no.pem");
}

#[test]
fn vault_lock_holder_is_reported() {
    let workspace = Workspace::new();
    let config = workspace.place.config_file(&workspace.place.settings());
    let mut client = Client::start(&config, &workspace.place.state());
    client.call("document.read", serde_json::json!({"path": "Top"}));
    let arguments = ["--config", &config.to_string_lossy()];
    let result = workspace.run(&[&["doctor"][..], &arguments].concat());
    assert_found(
        &result,
        "in use by process",
        "warn",
        "after that process ends",
    );
    // Another process that needs the vault uses that one.
    let call = ["call", "document", "list"];
    workspace
        .run(&[&call[..], &arguments].concat())
        .expect_success();
}

#[test]
fn stale_index_is_reported() {
    let workspace = Workspace::new();
    let config = workspace.place.config_file(&workspace.place.settings());
    let arguments = ["--config", &config.to_string_lossy()];
    workspace
        .run(&[&["index", "rebuild"][..], &arguments].concat())
        .expect_success();
    let result = workspace.run(&[&["doctor"][..], &arguments].concat());
    assert_found(&result, "the index has", "ok", "");
    workspace.place.write("Work/Later.md", "# Later\n");
    let result = workspace.run(&[&["doctor"][..], &arguments].concat());
    assert_found(
        &result,
        "1 files changed since",
        "warn",
        "notehost index rebuild",
    );
}

#[test]
fn ineffective_permissions_are_reported() {
    let workspace = Workspace::new();
    let vault = workspace.vault();
    let result = workspace.run(&["doctor", &vault]);
    assert_found(&result, "notehost permission set NOTEBOOK rw", "ok", "");
    let result = workspace.run(&["doctor", &vault, "--allow", "none"]);
    assert_found(
        &result,
        "no notebook is visible",
        "warn",
        "notehost permission set",
    );
    let mut settings = workspace.place.settings();
    settings
        .permissions
        .notebooks
        .insert("Wrok".into(), Tier::Write);
    settings
        .permissions
        .notebooks
        .insert("diary".into(), Tier::None);
    let config = workspace.place.config_file(&settings);
    let result = workspace.run(&["doctor", "--config", &config.to_string_lossy()]);
    assert_found(&result, "`Wrok` has a tier", "warn", "did you mean `Work`?");
    assert!(!result.output.contains("`diary` has a tier"), "{result:#?}");
}

#[test]
fn misplaced_files_are_reported() {
    let workspace = Workspace::new();
    let config = workspace.place.vault().join("notehost.toml");
    let text = format!(
        "[[vaults]]\nid = \"main\"\npath = {:?}\n",
        workspace.vault()
    );
    std::fs::write(&config, text).expect("a config");
    let result = workspace.run(&["doctor", "--config", &config.to_string_lossy()]);
    assert_found(&result, "inside the vault", "fail", "move it out");
    let state = workspace.place.vault().join("state");
    let result = workspace.run(&[
        "doctor",
        &workspace.vault(),
        "--state",
        &state.to_string_lossy(),
    ]);
    assert_found(&result, "inside the vault", "fail", "move it out");
    assert!(!state.exists(), "nothing is made in a vault");
    let file = workspace.home().join("file");
    std::fs::write(&file, "").expect("a file");
    let state = file.join("state");
    let result = workspace.run(&[
        "doctor",
        &workspace.vault(),
        "--state",
        &state.to_string_lossy(),
    ]);
    assert_found(&result, "is not writable", "fail", "--state DIR");
    let broken = workspace.home().join("broken.toml");
    std::fs::write(&broken, "permisions = 1\n").expect("a config");
    let result = workspace.run(&["doctor", "--config", &broken.to_string_lossy()]);
    assert_found(&result, "permisions", "fail", "a running server keeps");
}

#[test]
fn unreadable_notes_are_reported() {
    let workspace = Workspace::new();
    workspace.place.write("Work/Latin.md", b"caf\xe9");
    let note = workspace.place.vault().join("Work/Secret.md");
    workspace.place.write("Work/Secret.md", "secret\n");
    std::fs::set_permissions(&note, std::fs::Permissions::from_mode(0o000)).expect("a mode");
    let result = workspace.run(&["doctor", &workspace.vault()]);
    assert_found(&result, "not UTF-8", "warn", "iconv");
    // Root can read everything, but the mode still shows that nothing can be written.
    let is_root = rustix::process::geteuid().is_root();
    let words = if is_root {
        "read-only on disk"
    } else {
        "cannot be read"
    };
    assert!(
        check(&result, words)["found"]
            .as_str()
            .is_some_and(|found| found.contains("Work/Secret.md"))
    );
}

#[test]
fn unusable_profiles_are_reported() {
    let workspace = Workspace::new();
    workspace
        .run(&[
            "profile",
            "add",
            "team",
            "https://notes.example",
            "--token",
            "t",
            "--use",
        ])
        .expect_success();
    let vault = workspace.vault();
    let result = workspace.run(&["doctor", &vault]);
    assert_found(&result, "calls go to `team`", "ok", "");
    let file = workspace.home().join(".config/notehost/profiles.toml");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).expect("a mode");
    let result = workspace.run(&["doctor", &vault]);
    assert_found(
        &result,
        "others on this machine can read",
        "fail",
        "chmod 600",
    );
    std::fs::write(&file, "nonsense").expect("a file");
    let result = workspace.run(&["doctor", &vault]);
    assert_found(&result, "the profiles in", "fail", "fix the file");
}
