//! Profiles: named servers, and tokens that only the owner can read.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::json;

use super::{PLAN, Workspace, run};

fn file(workspace: &Workspace) -> PathBuf {
    workspace.home().join(".config/notehost/profiles.toml")
}

fn mode(path: &std::path::Path) -> u32 {
    let about = std::fs::metadata(path).expect("it is there");
    about.permissions().mode() & 0o777
}

#[test]
fn profile_can_be_added_used_listed_and_removed() {
    let workspace = Workspace::new();
    let token = workspace.token("laptop", "read");
    let server = workspace.serve(|_| {});
    let url = server.url();
    let read = ["call", "document", "read", "--path", "Work/Plan"];
    workspace
        .run(&read)
        .expect_failure(2, "no vault is specified");

    let add = ["profile", "add", "team", &url, "--token", "-"];
    workspace
        .run_with(&add, &format!("{token}\n"))
        .expect_success();
    workspace
        .run(&["profile", "add", "spare", "https://notes.example"])
        .expect_success();
    workspace
        .run_with(&add, "other\n")
        .expect_failure(1, "already");
    // Only the owner can read the file, and the token is never printed.
    let text = std::fs::read_to_string(file(&workspace)).expect("the profiles");
    assert!(text.contains(&token), "{text}");
    assert_eq!(mode(&file(&workspace)), 0o600);
    let folder = file(&workspace);
    assert_eq!(mode(folder.parent().expect("a folder")), 0o700);
    let listed = workspace.run(&["profile", "list"]).expect_success();
    assert!(!listed.output.contains(&token), "{listed:#?}");
    assert_eq!(
        listed.json()["items"],
        json!([
            {"name": "spare", "server": "https://notes.example/mcp", "has_token": false, "in_use": false},
            {"name": "team", "server": url, "has_token": true, "in_use": false},
        ])
    );

    let named = [&read[..], &["--profile", "team"]].concat();
    assert_eq!(
        workspace.run(&named).expect_success().json()["content"],
        PLAN
    );
    workspace
        .run(&[&read[..], &["--profile", "taem"]].concat())
        .expect_failure(1, "did you mean `team`?");
    workspace
        .run(&["profile", "use", "taem"])
        .expect_failure(1, "did you mean `team`?");
    workspace.run(&["profile", "use", "team"]).expect_success();
    assert_eq!(
        workspace.run(&read).expect_success().json()["content"],
        PLAN
    );
    assert_eq!(
        workspace.run(&["profile", "list"]).json()["items"][1]["in_use"],
        true
    );
    // Flags that name a local vault take precedence.
    let outside = workspace.place.outside().join("empty");
    std::fs::create_dir(&outside).expect("a folder");
    let outside = outside.to_string_lossy();
    let here = [&read[..], &["--vault", &outside]].concat();
    workspace.run(&here).expect_failure(1, "Work/Plan");

    workspace
        .run(&["profile", "remove", "team"])
        .expect_success();
    let text = std::fs::read_to_string(file(&workspace)).expect("the profiles");
    assert!(!text.contains(&token) && !text.contains("use ="), "{text}");
    workspace
        .run(&read)
        .expect_failure(2, "no vault is specified");
    workspace
        .run(&["profile", "remove", "team"])
        .expect_failure(1, "unknown profile `team`");
    assert_eq!(mode(&file(&workspace)), 0o600);
}

#[test]
fn calls_are_local_without_a_profile() {
    let workspace = Workspace::new();
    workspace
        .run(&["profile", "add", "far", "http://192.0.2.1:1", "--use"])
        .expect_success();
    workspace.run(&["profile", "use"]).expect_success();
    workspace
        .run(&["call", "document", "list"])
        .expect_failure(2, "no vault is specified");
}

#[test]
fn environment_variable_overrides_the_active_profile() {
    let workspace = Workspace::new();
    workspace
        .run(&["profile", "add", "far", "http://192.0.2.1:1", "--use"])
        .expect_success();
    let server = workspace.serve(|_| {});
    let read = ["document", "read", "--path", "Work/Plan"];
    let mut command = workspace.program(&read);
    command.env("NOTEHOST_SERVER", server.url());
    assert_eq!(
        run(&mut command, "").expect_success().json()["content"],
        PLAN
    );
    workspace
        .run(&["profile", "add", "near", &server.url()])
        .expect_success();
    let mut command = workspace.program(&read);
    command.env("NOTEHOST_PROFILE", "near");
    assert_eq!(
        run(&mut command, "").expect_success().json()["content"],
        PLAN
    );
    drop(server);
    let mut command = workspace.program(&read);
    command.env("NOTEHOST_VAULT", workspace.vault());
    assert_eq!(
        run(&mut command, "").expect_success().json()["content"],
        PLAN
    );
}

#[test]
fn tokens_readable_by_others_are_not_used() {
    let workspace = Workspace::new();
    let server = workspace.serve(|_| {});
    workspace
        .run(&["profile", "add", "team", &server.url(), "--token", "t"])
        .expect_success();
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(file(&workspace), open).expect("a mode");
    workspace
        .run(&["document", "read", "--path", "Top", "--profile", "team"])
        .expect_failure(3, "chmod 600");
    // The next change fixes it.
    workspace.run(&["profile", "use", "team"]).expect_success();
    assert_eq!(mode(&file(&workspace)), 0o600);
}

#[test]
fn tokens_are_never_stored_inside_a_vault() {
    let workspace = Workspace::new();
    let mut command = workspace.program(&[
        "profile",
        "add",
        "team",
        "https://notes.example",
        "--token",
        "t",
    ]);
    command
        .env("XDG_CONFIG_HOME", workspace.place.vault().join("config"))
        .env("NOTEHOST_VAULT", workspace.vault());
    run(&mut command, "").expect_failure(1, "inside the vault");
    assert!(!workspace.place.vault().join("config").exists());
}

#[test]
fn invalid_profiles_are_rejected_with_a_reason() {
    let workspace = Workspace::new();
    for name in ["", "a b", "../x", "-x"] {
        let result = workspace.run(&["profile", "add", "--", name, "https://notes.example"]);
        result.expect_failure(2, "invalid profile name");
    }
    workspace
        .run(&["profile", "add", "a", "notes.example"])
        .expect_failure(2, "is not a server address");
    let result = workspace
        .run(&["profile", "add", "a", "http://192.0.2.1", "--token", "t"])
        .expect_success();
    assert!(result.errors.contains("unencrypted"), "{result:#?}");
    std::fs::write(file(&workspace), "nonsense").expect("a file");
    workspace
        .run(&["profile", "list"])
        .expect_failure(3, "cannot read the profiles");
}
