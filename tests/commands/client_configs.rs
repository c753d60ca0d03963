//! The `notehost` entry in the config files of AI clients.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{PLAN, Workspace, run};

/// The path of Claude Desktop's config on this platform.
fn claude_config_path(workspace: &Workspace) -> PathBuf {
    workspace
        .home()
        .join(".config/Claude/claude_desktop_config.json")
}

fn read(file: &PathBuf) -> Value {
    let text = std::fs::read_to_string(file).expect("the file is there");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
#[cfg(target_os = "linux")]
fn new_config_file_has_a_working_entry() {
    let workspace = Workspace::new();
    let vault = workspace.vault();
    workspace
        .run(&["connect", "claude-desktop"])
        .expect_failure(2, "no vault is specified");
    let nowhere = format!("{vault}/nowhere");
    workspace
        .run(&["connect", "claude-desktop", "--vault", &nowhere])
        .expect_failure(3, "nowhere");
    assert!(!claude_config_path(&workspace).exists());

    let arguments = [
        "connect",
        "claude-desktop",
        "--vault",
        &vault,
        "--allow",
        "rw",
    ];
    let result = workspace.run(&arguments).expect_success();
    assert!(
        result
            .errors
            .contains("claude_desktop_config.json was written"),
        "{result:#?}"
    );
    let entry = read(&claude_config_path(&workspace))["mcpServers"]["notehost"].take();
    assert_eq!(entry["args"], json!(["serve", vault, "--allow", "rw"]));
    // A client that runs the entry gets a reply.
    let mut command = Command::new(entry["command"].as_str().expect("a program"));
    workspace.cleanly(&mut command);
    let args = entry["args"].as_array().expect("a list").iter();
    command.args(args.map(|word| word.as_str().expect("a word")));
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "document__read", "arguments": {"path": "Work/Plan"},
        "_meta": crate::support::http::stateless_meta()}});
    let answered = run(command.stderr(Stdio::piped()), &format!("{call}\n"));
    assert!(answered.output.contains("buy milk"), "{answered:#?} {PLAN}");
}

#[test]
#[cfg(target_os = "linux")]
fn existing_entries_are_kept_and_backed_up() {
    let workspace = Workspace::new();
    let file = claude_config_path(&workspace);
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    let before = "{\n\t\"theme\": \"dark\", // mine\n\t\"mcpServers\": {\n\t\t\"other\": {\"command\": \"x\"}\n\t}\n}\n";
    std::fs::write(&file, before).expect("a file");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("a mode");
    let vault = workspace.vault();
    let arguments = [
        "connect",
        "claude-desktop",
        "--vault",
        &vault,
        "--name",
        "notes",
    ];

    let shown = workspace
        .run(&[&arguments[..], &["--dry-run"]].concat())
        .expect_success();
    assert!(shown.output.contains("+\t\t\"notes\": {"), "{shown:#?}");
    assert!(
        shown.output.contains(" \t\"theme\": \"dark\", // mine"),
        "{shown:#?}"
    );
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), before);

    workspace.run(&arguments).expect_success();
    let after = std::fs::read_to_string(&file).expect("the file");
    let begin = "{\n\t\"theme\": \"dark\", // mine\n\t\"mcpServers\": {\n\t\t\"other\": {\"command\": \"x\"},\n\t\t\"notes\": {";
    assert!(after.starts_with(begin), "{after}");
    let backup = file.with_file_name("claude_desktop_config.json.bak");
    assert_eq!(std::fs::read_to_string(&backup).expect("a backup"), before);
    for path in [&file, &backup] {
        let mode = std::fs::metadata(path)
            .expect("it is there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    // Running the same command again changes nothing and makes no second backup.
    let again = workspace.run(&arguments).expect_success();
    assert!(again.errors.contains("is up to date"), "{again:#?}");
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), after);
    let second = file.with_file_name("claude_desktop_config.json.bak1");
    assert!(!second.exists());
    // Another tier replaces the entry; removing it restores the original file.
    workspace
        .run(&[&arguments[..], &["--allow", "rw"]].concat())
        .expect_success();
    assert_eq!(std::fs::read_to_string(&second).expect("a backup"), after);
    workspace
        .run(&["connect", "claude-desktop", "--remove", "--name", "notes"])
        .expect_success();
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), before);
    workspace
        .run(&["connect", "claude-desktop", "--remove", "--name", "notes"])
        .expect_success();
}

#[test]
fn unparsable_config_file_is_not_changed() {
    let workspace = Workspace::new();
    let (vault, file) = (workspace.vault(), workspace.home().join("mcp.json"));
    let name = file.to_string_lossy().into_owned();
    let arguments = ["connect", "cursor", "--vault", &vault, "--file", &name];
    for text in [
        "{\"mcpServers\": {",
        "hello",
        "[]",
        "{\"mcpServers\": [1]}",
        "{\"a\": 1, 'b': 2}",
    ] {
        std::fs::write(&file, text).expect("a file");
        workspace
            .run(&arguments)
            .expect_failure(1, "was not changed");
        assert_eq!(std::fs::read_to_string(&file).expect("the file"), text);
    }
    let other = "{\"mcpServers\": {\"notehost\": {\"command\": \"npx\"}}}";
    std::fs::write(&file, other).expect("a file");
    workspace
        .run(&arguments)
        .expect_failure(1, "starts another program");
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), other);
    workspace
        .run(&[&arguments[..], &["--replace"]].concat())
        .expect_success();
    assert_eq!(
        read(&file)["mcpServers"]["notehost"]["args"],
        json!(["serve", vault])
    );
    std::fs::write(&file, [0xff, 0xfe]).expect("a file");
    workspace
        .run(&arguments)
        .expect_failure(1, "was not changed");
}

#[test]
fn symlinked_config_file_stays_a_symlink() {
    let workspace = Workspace::new();
    let kept = workspace.home().join("dotfiles.json");
    std::fs::write(&kept, "{}").expect("a file");
    let link = workspace.home().join("mcp.json");
    std::os::unix::fs::symlink(&kept, &link).expect("a link");
    let (vault, name) = (workspace.vault(), link.to_string_lossy().into_owned());
    workspace
        .run(&["connect", "cursor", "--vault", &vault, "--file", &name])
        .expect_success();
    assert!(link.is_symlink());
    assert!(read(&kept)["mcpServers"]["notehost"].is_object());
}

#[test]
fn every_client_gets_its_own_config_format() {
    let workspace = Workspace::new();
    let vault = workspace.vault();
    let project = workspace.place.outside();
    // Editors have project files in the current folder.
    workspace
        .run(&["connect", "vscode", "--vault", &vault, "--project"])
        .expect_success();
    let entry = read(&project.join(".vscode/mcp.json"))["servers"]["notehost"].take();
    assert_eq!(entry["type"], "stdio");
    assert_eq!(entry["args"], json!(["serve", vault]));
    workspace
        .run(&["connect", "claude-code", "--vault", &vault, "--project"])
        .expect_success();
    assert!(read(&project.join(".mcp.json"))["mcpServers"]["notehost"].is_object());
    workspace
        .run(&["connect", "cursor", "--vault", &vault])
        .expect_success();
    assert!(read(&workspace.home().join(".cursor/mcp.json"))["mcpServers"]["notehost"].is_object());
    workspace
        .run(&["connect", "claude-desktop", "--vault", &vault, "--project"])
        .expect_failure(2, "has no project config file");
    // Claude Code keeps its own list and is configured by a command.
    let report = workspace
        .run(&["connect", "claude-code", "--vault", &vault, "--allow", "rw"])
        .expect_success();
    assert!(
        report
            .output
            .starts_with("claude mcp add --scope user notehost -- "),
        "{report:#?}"
    );
    assert!(
        report
            .output
            .ends_with(&format!(" serve {vault} --allow rw\n")),
        "{report:#?}"
    );
    // Print the entry only.
    let printed = workspace
        .run(&[
            "connect", "vscode", "--vault", &vault, "--print", "--name", "n",
        ])
        .expect_success();
    assert_eq!(printed.json()["servers"]["n"]["type"], "stdio");
}

#[test]
fn remote_server_entry_does_not_contain_the_token() {
    let workspace = Workspace::new();
    let url = "https://notes.example/mcp";
    let print = |client: &str, arguments: &[&str]| {
        let arguments = [&["connect", client, "--http", url, "--print"], arguments].concat();
        workspace.run(&arguments).expect_success().json()
    };
    assert_eq!(
        print("cursor", &[])["mcpServers"]["notehost"],
        json!({"url": url})
    );
    let entry = print("vscode", &["--token-variable"])["servers"]["notehost"].take();
    assert_eq!(
        entry["headers"]["Authorization"],
        "Bearer ${env:NOTEHOST_TOKEN}"
    );
    let report = workspace
        .run(&[
            "connect",
            "claude-code",
            "--http",
            url,
            "--token-variable",
            "T",
        ])
        .expect_success();
    assert_eq!(
        report.output,
        format!(
            "claude mcp add --scope user --transport http notehost {url} --header \"Authorization: Bearer $T\"\n"
        )
    );
    workspace
        .run(&["connect", "claude-desktop", "--http", url])
        .expect_failure(2, "supports only programs");
    workspace
        .run(&["connect", "cursor", "--http", "notes.example"])
        .expect_failure(2, "is not a server address");
}

#[test]
fn entry_contains_vault_config_and_environment() {
    let workspace = Workspace::new();
    let config = workspace.place.config_file(&workspace.place.settings());
    let config = config.to_string_lossy();
    // A vault from a variable that the client does not have; from a config; by id.
    let mut command = workspace.program(&["connect", "cursor", "--print"]);
    command.env("NOTEHOST_VAULT", workspace.vault());
    let args = |printed: Value| printed["mcpServers"]["notehost"]["args"].clone();
    assert_eq!(
        args(run(&mut command, "").expect_success().json()),
        json!(["serve", workspace.vault()])
    );
    let arguments = ["connect", "cursor", "--print", "--config", &config];
    assert_eq!(
        args(workspace.run(&arguments).expect_success().json()),
        json!(["serve", "--config", config])
    );
    let arguments = [&arguments[..], &["--vault", "main"]].concat();
    assert_eq!(
        args(workspace.run(&arguments).expect_success().json()),
        json!(["serve", "main", "--config", config])
    );
}
