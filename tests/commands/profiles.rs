//! Servers by a name of one's own, and tokens that nobody else can read.

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
fn a_profile_is_added_used_listed_and_removed() {
    let desk = Desk::new();
    let token = desk.token("laptop", "read");
    let server = desk.serve(|_| {});
    let url = server.url();
    let read = ["call", "document", "read", "--path", "Work/Plan"];
    desk.run(&read).failed(2, "no vault is specified");

    let add = ["profile", "add", "team", &url, "--token", "-"];
    desk.run_with(&add, &format!("{token}\n")).well();
    desk.run(&["profile", "add", "spare", "https://notes.example"])
        .well();
    desk.run_with(&add, "other\n").failed(1, "already");
    // Nobody but its owner can read it, and nobody is shown the token.
    let text = std::fs::read_to_string(file(&desk)).expect("the profiles");
    assert!(text.contains(&token), "{text}");
    assert_eq!(mode(&file(&desk)), 0o600);
    let folder = file(&desk);
    assert_eq!(mode(folder.parent().expect("a folder")), 0o700);
    let listed = desk.run(&["profile", "list"]).well();
    assert!(!listed.output.contains(&token), "{listed:#?}");
    assert_eq!(
        listed.json()["items"],
        json!([
            {"name": "spare", "server": "https://notes.example/mcp", "has_token": false, "in_use": false},
            {"name": "team", "server": url, "has_token": true, "in_use": false},
        ])
    );

    let named = [&read[..], &["--profile", "team"]].concat();
    assert_eq!(desk.run(&named).well().json()["content"], PLAN);
    desk.run(&[&read[..], &["--profile", "taem"]].concat())
        .failed(1, "did you mean `team`?");
    desk.run(&["profile", "use", "taem"])
        .failed(1, "did you mean `team`?");
    desk.run(&["profile", "use", "team"]).well();
    assert_eq!(desk.run(&read).well().json()["content"], PLAN);
    assert_eq!(
        desk.run(&["profile", "list"]).json()["items"][1]["in_use"],
        true
    );
    // What names a vault of this machine wins.
    let outside = desk.place.outside().join("empty");
    std::fs::create_dir(&outside).expect("a folder");
    let outside = outside.to_string_lossy();
    let here = [&read[..], &["--vault", &outside]].concat();
    desk.run(&here).failed(1, "Work/Plan");

    desk.run(&["profile", "remove", "team"]).well();
    let text = std::fs::read_to_string(file(&desk)).expect("the profiles");
    assert!(!text.contains(&token) && !text.contains("use ="), "{text}");
    desk.run(&read).failed(2, "no vault is specified");
    desk.run(&["profile", "remove", "team"])
        .failed(1, "no profile `team`");
    assert_eq!(mode(&file(&desk)), 0o600);
}

#[test]
fn without_a_name_calls_come_home() {
    let desk = Desk::new();
    desk.run(&["profile", "add", "far", "http://192.0.2.1:1", "--use"])
        .well();
    desk.run(&["profile", "use"]).well();
    desk.run(&["call", "document", "list"])
        .failed(2, "no vault is specified");
}

#[test]
fn a_variable_wins_over_the_profile_in_use() {
    let desk = Desk::new();
    desk.run(&["profile", "add", "far", "http://192.0.2.1:1", "--use"])
        .well();
    let server = desk.serve(|_| {});
    let read = ["document", "read", "--path", "Work/Plan"];
    let mut command = desk.program(&read);
    command.env("NOTEHOST_SERVER", server.url());
    assert_eq!(run(&mut command, "").well().json()["content"], PLAN);
    desk.run(&["profile", "add", "near", &server.url()]).well();
    let mut command = desk.program(&read);
    command.env("NOTEHOST_PROFILE", "near");
    assert_eq!(run(&mut command, "").well().json()["content"], PLAN);
    drop(server);
    let mut command = desk.program(&read);
    command.env("NOTEHOST_VAULT", desk.vault());
    assert_eq!(run(&mut command, "").well().json()["content"], PLAN);
}

#[test]
fn tokens_that_others_can_read_are_not_used() {
    let desk = Desk::new();
    let server = desk.serve(|_| {});
    desk.run(&["profile", "add", "team", &server.url(), "--token", "t"])
        .well();
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(file(&desk), open).expect("a mode");
    desk.run(&["document", "read", "--path", "Top", "--profile", "team"])
        .failed(3, "chmod 600");
    // The next change mends it.
    desk.run(&["profile", "use", "team"]).well();
    assert_eq!(mode(&file(&desk)), 0o600);
}

#[test]
fn no_token_is_written_into_a_vault() {
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
    run(&mut command, "").failed(1, "inside the vault");
    assert!(!desk.place.vault().join("config").exists());
}

#[test]
fn what_makes_no_profile_is_told() {
    let desk = Desk::new();
    for name in ["", "a b", "../x", "-x"] {
        let ended = desk.run(&["profile", "add", "--", name, "https://notes.example"]);
        ended.failed(2, "invalid profile name");
    }
    desk.run(&["profile", "add", "a", "notes.example"])
        .failed(2, "is no address");
    let ended = desk
        .run(&["profile", "add", "a", "http://192.0.2.1", "--token", "t"])
        .well();
    assert!(ended.errors.contains("unencrypted"), "{ended:#?}");
    std::fs::write(file(&desk), "nonsense").expect("a file");
    desk.run(&["profile", "list"])
        .failed(3, "cannot read the profiles");
}
