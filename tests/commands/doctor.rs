//! The doctor: each usual problem is found, and for each it is told what to do.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

use notehost::vault::Tier;
use serde_json::Value;

use super::{Desk, Ended};
use crate::support::client::Client;

/// The check that speaks of this.
#[track_caller]
fn check(ended: &Ended, words: &str) -> Value {
    let items = ended.json()["items"].take();
    let found = items.as_array().into_iter().flatten().find(|item| {
        item["found"]
            .as_str()
            .is_some_and(|found| found.contains(words))
    });
    found
        .unwrap_or_else(|| panic!("nothing of `{words}` in {ended:#?}"))
        .clone()
}

#[track_caller]
fn assert_found(ended: &Ended, words: &str, verdict: &str, advice: &str) {
    let check = check(ended, words);
    assert_eq!(check["verdict"], verdict, "{check}");
    let told = check["advice"].as_str().unwrap_or_default();
    assert!(told.contains(advice), "{check}");
    let code = if verdict == "fail" { Some(1) } else { Some(0) };
    assert_eq!(ended.code, code, "{ended:#?}");
}

#[test]
fn a_wrong_path_and_a_file_in_its_place_are_found() {
    let desk = Desk::new();
    let nowhere = desk.home().join("nowhere");
    let ended = desk.run(&["doctor", &nowhere.to_string_lossy()]);
    assert_found(&ended, "nowhere", "fail", "exists");
    let note = desk.place.vault().join("Top.md");
    let ended = desk.run(&["doctor", &note.to_string_lossy()]);
    assert_found(&ended, "not a folder", "fail", "a vault is a folder");
}

#[test]
fn the_way_in_is_checked_as_a_server_would() {
    let desk = Desk::new();
    let vault = desk.vault();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let ended = desk.run(&["doctor", &vault, "--http", &address]);
    assert_found(&ended, "cannot listen on", "fail", "choose another port");
    drop(taken);
    let ended = desk.run(&["doctor", &vault, "--http", &address]);
    assert_found(&ended, "is free", "ok", "");

    let open = "0.0.0.0:0";
    let ended = desk.run(&["doctor", &vault, "--http", open]);
    assert_found(
        &ended,
        "would not be authenticated",
        "fail",
        "notehost token new",
    );
    let ended = desk.run(&["doctor", &vault, "--http", &address, "--confirm", "never"]);
    assert_found(
        &ended,
        "`--confirm never` cannot be used with `--http`",
        "fail",
        "omit it",
    );
    let state = desk.place.state();
    desk.run(&[
        "token",
        "new",
        "--name",
        "a",
        "--state",
        &state.to_string_lossy(),
    ])
    .well();
    let ended = desk.run(&["doctor", &vault, "--http", open]);
    assert_found(&ended, "nothing is encrypted", "warn", "http.tls_cert");

    let mut settings = desk.place.settings();
    settings.http.tls_cert = Some(desk.home().join("no.pem"));
    settings.http.tls_key = Some(desk.home().join("no.key"));
    let config = desk.place.config_file(&settings);
    let ended = desk.run(&[
        "doctor",
        "--config",
        &config.to_string_lossy(),
        "--http",
        &address,
    ]);
    assert_eq!(ended.code, Some(1), "{ended:#?}");
    check(&ended, "no.pem");
}

#[test]
fn who_holds_a_vault_is_found() {
    let desk = Desk::new();
    let config = desk.place.config_file(&desk.place.settings());
    let mut client = Client::start(&config, &desk.place.state());
    client.call("document.read", serde_json::json!({"path": "Top"}));
    let words = ["--config", &config.to_string_lossy()];
    let ended = desk.run(&[&["doctor"][..], &words].concat());
    assert_found(
        &ended,
        "is being served by process",
        "warn",
        "when that one has ended",
    );
    // Whoever needs the vault for itself could not start.
    let call = ["call", "document", "list"];
    desk.run(&[&call[..], &words].concat()).failed(3, "process");
}

#[test]
fn a_stale_index_is_found() {
    let desk = Desk::new();
    let config = desk.place.config_file(&desk.place.settings());
    let words = ["--config", &config.to_string_lossy()];
    desk.run(&[&["index", "rebuild"][..], &words].concat())
        .well();
    let ended = desk.run(&[&["doctor"][..], &words].concat());
    assert_found(&ended, "the index has", "ok", "");
    desk.place.write("Work/Later.md", "# Later\n");
    let ended = desk.run(&[&["doctor"][..], &words].concat());
    assert_found(
        &ended,
        "1 files changed since",
        "warn",
        "notehost index rebuild",
    );
}

#[test]
fn permissions_that_mean_nothing_are_found() {
    let desk = Desk::new();
    let vault = desk.vault();
    let ended = desk.run(&["doctor", &vault]);
    assert_found(&ended, "notehost permission set NOTEBOOK rw", "ok", "");
    let ended = desk.run(&["doctor", &vault, "--allow", "none"]);
    assert_found(
        &ended,
        "no notebook is visible",
        "warn",
        "notehost permission set",
    );
    let mut settings = desk.place.settings();
    settings
        .permissions
        .notebooks
        .insert("Wrok".into(), Tier::Write);
    settings
        .permissions
        .notebooks
        .insert("diary".into(), Tier::None);
    let config = desk.place.config_file(&settings);
    let ended = desk.run(&["doctor", "--config", &config.to_string_lossy()]);
    assert_found(&ended, "`Wrok` has a tier", "warn", "did you mean `Work`?");
    assert!(!ended.output.contains("`diary` has a tier"), "{ended:#?}");
}

#[test]
fn what_lies_where_it_should_not_is_found() {
    let desk = Desk::new();
    let config = desk.place.vault().join("notehost.toml");
    let text = format!("[[vaults]]\nid = \"main\"\npath = {:?}\n", desk.vault());
    std::fs::write(&config, text).expect("a config");
    let ended = desk.run(&["doctor", "--config", &config.to_string_lossy()]);
    assert_found(&ended, "inside the vault", "fail", "move it out");
    let state = desk.place.vault().join("state");
    let ended = desk.run(&["doctor", &desk.vault(), "--state", &state.to_string_lossy()]);
    assert_found(&ended, "inside the vault", "fail", "move it out");
    assert!(!state.exists(), "nothing is made in a vault");
    let file = desk.home().join("file");
    std::fs::write(&file, "").expect("a file");
    let state = file.join("state");
    let ended = desk.run(&["doctor", &desk.vault(), "--state", &state.to_string_lossy()]);
    assert_found(&ended, "is not writable", "fail", "--state DIR");
    let broken = desk.home().join("broken.toml");
    std::fs::write(&broken, "permisions = 1\n").expect("a config");
    let ended = desk.run(&["doctor", "--config", &broken.to_string_lossy()]);
    assert_found(&ended, "permisions", "fail", "a server that runs keeps");
}

#[test]
fn notes_that_nobody_can_read_are_found() {
    let desk = Desk::new();
    desk.place.write("Work/Latin.md", b"caf\xe9");
    let note = desk.place.vault().join("Work/Secret.md");
    desk.place.write("Work/Secret.md", "secret\n");
    std::fs::set_permissions(&note, std::fs::Permissions::from_mode(0o000)).expect("a mode");
    let ended = desk.run(&["doctor", &desk.vault()]);
    assert_found(&ended, "not UTF-8", "warn", "iconv");
    // Root reads everything; the mode tells it anyway that nothing can be written.
    let is_root = rustix::process::geteuid().is_root();
    let words = if is_root {
        "read-only on disk"
    } else {
        "cannot be read"
    };
    assert!(
        check(&ended, words)["found"]
            .as_str()
            .is_some_and(|found| found.contains("Work/Secret.md"))
    );
}

#[test]
fn profiles_that_are_no_use_are_found() {
    let desk = Desk::new();
    desk.run(&[
        "profile",
        "add",
        "team",
        "https://notes.example",
        "--token",
        "t",
        "--use",
    ])
    .well();
    let vault = desk.vault();
    let ended = desk.run(&["doctor", &vault]);
    assert_found(&ended, "calls go to `team`", "ok", "");
    let file = desk.home().join(".config/notehost/profiles.toml");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).expect("a mode");
    let ended = desk.run(&["doctor", &vault]);
    assert_found(
        &ended,
        "others on this machine can read",
        "fail",
        "chmod 600",
    );
    std::fs::write(&file, "nonsense").expect("a file");
    let ended = desk.run(&["doctor", &vault]);
    assert_found(&ended, "the profiles in", "fail", "mend the file");
}
