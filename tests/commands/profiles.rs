//! Profiles: named servers, and tokens that only the owner can read.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::json;

use super::{Desk, PLAN, run};

fn file(desk: &Desk) -> PathBuf {
    desk.home().join(".config/notehost/profiles.toml")
}

fn mode(path: &std::path::Path) -> u32 {
    let about = std::fs::metadata(path).expect("it is there");
    about.permissions().mode() & 0o777
}

#[test]
fn profile_can_be_added_used_listed_and_removed() {
    let desk = Desk::new();
    let token = desk.token("laptop", "read");
    let server = desk.serve(|_| {});
    let url = server.url();
    let read = ["call", "document", "read", "--path", "Work/Plan"];
    desk.run(&read).expect_failure(2, "no vault is named");

    let add = ["profile", "add", "team", &url, "--token", "-"];
    desk.run_with(&add, &format!("{token}\n")).expect_success();
    desk.run(&["profile", "add", "spare", "https://notes.example"])
        .expect_success();
    desk.run_with(&add, "other\n").expect_failure(1, "already");
    // Only the owner can read the file, and the token is never printed.
    let text = std::fs::read_to_string(file(&desk)).expect("the profiles");
    assert!(text.contains(&token), "{text}");
    assert_eq!(mode(&file(&desk)), 0o600);
    let folder = file(&desk);
    assert_eq!(mode(folder.parent().expect("a folder")), 0o700);
    let listed = desk.run(&["profile", "list"]).expect_success();
    assert!(!listed.output.contains(&token), "{listed:#?}");
    assert_eq!(
        listed.json()["items"],
        json!([
            {"name": "spare", "server": "https://notes.example/mcp", "has_token": false, "in_use": false},
            {"name": "team", "server": url, "has_token": true, "in_use": false},
        ])
    );

    let named = [&read[..], &["--profile", "team"]].concat();
    assert_eq!(desk.run(&named).expect_success().json()["content"], PLAN);
    desk.run(&[&read[..], &["--profile", "taem"]].concat())
        .expect_failure(1, "did you mean `team`?");
    desk.run(&["profile", "use", "taem"])
        .expect_failure(1, "did you mean `team`?");
    desk.run(&["profile", "use", "team"]).expect_success();
    assert_eq!(desk.run(&read).expect_success().json()["content"], PLAN);
    assert_eq!(
        desk.run(&["profile", "list"]).json()["items"][1]["in_use"],
        true
    );
    // Flags that name a local vault take precedence.
    let outside = desk.place.outside().join("empty");
    std::fs::create_dir(&outside).expect("a folder");
    let outside = outside.to_string_lossy();
    let here = [&read[..], &["--vault", &outside]].concat();
    desk.run(&here).expect_failure(1, "Work/Plan");

    desk.run(&["profile", "remove", "team"]).expect_success();
    let text = std::fs::read_to_string(file(&desk)).expect("the profiles");
    assert!(!text.contains(&token) && !text.contains("use ="), "{text}");
    desk.run(&read).expect_failure(2, "no vault is named");
    desk.run(&["profile", "remove", "team"])
        .expect_failure(1, "no profile `team`");
    assert_eq!(mode(&file(&desk)), 0o600);
}

#[test]
fn calls_are_local_without_a_profile() {
    let desk = Desk::new();
    desk.run(&["profile", "add", "far", "http://192.0.2.1:1", "--use"])
        .expect_success();
    desk.run(&["profile", "use"]).expect_success();
    desk.run(&["call", "document", "list"])
        .expect_failure(2, "no vault is named");
}

#[test]
fn environment_variable_overrides_the_active_profile() {
    let desk = Desk::new();
    desk.run(&["profile", "add", "far", "http://192.0.2.1:1", "--use"])
        .expect_success();
    let server = desk.serve(|_| {});
    let read = ["document", "read", "--path", "Work/Plan"];
    let mut command = desk.program(&read);
    command.env("NOTEHOST_SERVER", server.url());
    assert_eq!(
        run(&mut command, "").expect_success().json()["content"],
        PLAN
    );
    desk.run(&["profile", "add", "near", &server.url()])
        .expect_success();
    let mut command = desk.program(&read);
    command.env("NOTEHOST_PROFILE", "near");
    assert_eq!(
        run(&mut command, "").expect_success().json()["content"],
        PLAN
    );
    drop(server);
    let mut command = desk.program(&read);
    command.env("NOTEHOST_VAULT", desk.vault());
    assert_eq!(
        run(&mut command, "").expect_success().json()["content"],
        PLAN
    );
}

#[test]
fn tokens_readable_by_others_are_not_used() {
    let desk = Desk::new();
    let server = desk.serve(|_| {});
    desk.run(&["profile", "add", "team", &server.url(), "--token", "t"])
        .expect_success();
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(file(&desk), open).expect("a mode");
    desk.run(&["document", "read", "--path", "Top", "--profile", "team"])
        .expect_failure(3, "chmod 600");
    // The next change fixes it.
    desk.run(&["profile", "use", "team"]).expect_success();
    assert_eq!(mode(&file(&desk)), 0o600);
}

#[test]
fn tokens_are_never_stored_inside_a_vault() {
    let desk = Desk::new();
    let mut command = desk.program(&[
        "profile",
        "add",
        "team",
        "https://notes.example",
        "--token",
        "t",
    ]);
    command
        .env("XDG_CONFIG_HOME", desk.place.vault().join("config"))
        .env("NOTEHOST_VAULT", desk.vault());
    run(&mut command, "").expect_failure(1, "inside the vault");
    assert!(!desk.place.vault().join("config").exists());
}

#[test]
fn invalid_profiles_are_rejected_with_a_reason() {
    let desk = Desk::new();
    for name in ["", "a b", "../x", "-x"] {
        let ended = desk.run(&["profile", "add", "--", name, "https://notes.example"]);
        ended.expect_failure(2, "is no name for a profile");
    }
    desk.run(&["profile", "add", "a", "notes.example"])
        .expect_failure(2, "is no address");
    let ended = desk
        .run(&["profile", "add", "a", "http://192.0.2.1", "--token", "t"])
        .expect_success();
    assert!(ended.errors.contains("unencrypted"), "{ended:#?}");
    std::fs::write(file(&desk), "nonsense").expect("a file");
    desk.run(&["profile", "list"])
        .expect_failure(3, "cannot be read");
}
