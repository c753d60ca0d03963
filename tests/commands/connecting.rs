//! Our entry in the config files of AI clients, which belong to somebody else.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{Desk, PLAN, run};

/// Where Claude Desktop keeps its list on this platform.
fn claude(desk: &Desk) -> PathBuf {
    desk.home()
        .join(".config/Claude/claude_desktop_config.json")
}

fn read(file: &PathBuf) -> Value {
    let text = std::fs::read_to_string(file).expect("the file is there");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
#[cfg(target_os = "linux")]
fn a_new_file_has_an_entry_that_works() {
    let desk = Desk::new();
    let vault = desk.vault();
    desk.run(&["connect", "claude-desktop"])
        .failed(2, "no vault is specified");
    let nowhere = format!("{vault}/nowhere");
    desk.run(&["connect", "claude-desktop", "--vault", &nowhere])
        .failed(3, "nowhere");
    assert!(!claude(&desk).exists());

    let words = [
        "connect",
        "claude-desktop",
        "--vault",
        &vault,
        "--allow",
        "rw",
    ];
    let ended = desk.run(&words).well();
    assert!(
        ended
            .errors
            .contains("claude_desktop_config.json was written"),
        "{ended:#?}"
    );
    let entry = read(&claude(&desk))["mcpServers"]["notehost"].take();
    assert_eq!(entry["args"], json!(["serve", vault, "--allow", "rw"]));
    // A client that starts what is written there is answered.
    let mut command = Command::new(entry["command"].as_str().expect("a program"));
    desk.cleanly(&mut command);
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
fn what_is_there_stays_and_a_backup_is_made() {
    let desk = Desk::new();
    let file = claude(&desk);
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    let before = "{\n\t\"theme\": \"dark\", // mine\n\t\"mcpServers\": {\n\t\t\"other\": {\"command\": \"x\"}\n\t}\n}\n";
    std::fs::write(&file, before).expect("a file");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("a mode");
    let vault = desk.vault();
    let words = [
        "connect",
        "claude-desktop",
        "--vault",
        &vault,
        "--name",
        "notes",
    ];

    let shown = desk.run(&[&words[..], &["--dry-run"]].concat()).well();
    assert!(shown.output.contains("+\t\t\"notes\": {"), "{shown:#?}");
    assert!(
        shown.output.contains(" \t\"theme\": \"dark\", // mine"),
        "{shown:#?}"
    );
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), before);

    desk.run(&words).well();
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
    // The same again changes nothing, and makes no second backup.
    let again = desk.run(&words).well();
    assert!(again.errors.contains("is up to date"), "{again:#?}");
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), after);
    let second = file.with_file_name("claude_desktop_config.json.bak1");
    assert!(!second.exists());
    // Another tier replaces the entry; taking it out leaves what there was.
    desk.run(&[&words[..], &["--allow", "rw"]].concat()).well();
    assert_eq!(std::fs::read_to_string(&second).expect("a backup"), after);
    desk.run(&["connect", "claude-desktop", "--remove", "--name", "notes"])
        .well();
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), before);
    desk.run(&["connect", "claude-desktop", "--remove", "--name", "notes"])
        .well();
}

#[test]
fn what_is_not_understood_is_not_touched() {
    let desk = Desk::new();
    let (vault, file) = (desk.vault(), desk.home().join("mcp.json"));
    let name = file.to_string_lossy().into_owned();
    let words = ["connect", "cursor", "--vault", &vault, "--file", &name];
    for text in [
        "{\"mcpServers\": {",
        "hello",
        "[]",
        "{\"mcpServers\": [1]}",
        "{\"a\": 1, 'b': 2}",
    ] {
        std::fs::write(&file, text).expect("a file");
        desk.run(&words).failed(1, "was not changed");
        assert_eq!(std::fs::read_to_string(&file).expect("the file"), text);
    }
    let other = "{\"mcpServers\": {\"notehost\": {\"command\": \"npx\"}}}";
    std::fs::write(&file, other).expect("a file");
    desk.run(&words).failed(1, "starts another program");
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), other);
    desk.run(&[&words[..], &["--replace"]].concat()).well();
    assert_eq!(
        read(&file)["mcpServers"]["notehost"]["args"],
        json!(["serve", vault])
    );
    std::fs::write(&file, [0xff, 0xfe]).expect("a file");
    desk.run(&words).failed(1, "was not changed");
}

#[test]
fn a_link_to_the_file_stays_a_link() {
    let desk = Desk::new();
    let kept = desk.home().join("dotfiles.json");
    std::fs::write(&kept, "{}").expect("a file");
    let link = desk.home().join("mcp.json");
    std::os::unix::fs::symlink(&kept, &link).expect("a link");
    let (vault, name) = (desk.vault(), link.to_string_lossy().into_owned());
    desk.run(&["connect", "cursor", "--vault", &vault, "--file", &name])
        .well();
    assert!(link.is_symlink());
    assert!(read(&kept)["mcpServers"]["notehost"].is_object());
}

#[test]
fn each_client_is_written_as_it_reads() {
    let desk = Desk::new();
    let vault = desk.vault();
    let project = desk.place.outside();
    // The editors have files for projects, in the current folder.
    desk.run(&["connect", "vscode", "--vault", &vault, "--project"])
        .well();
    let entry = read(&project.join(".vscode/mcp.json"))["servers"]["notehost"].take();
    assert_eq!(entry["type"], "stdio");
    assert_eq!(entry["args"], json!(["serve", vault]));
    desk.run(&["connect", "claude-code", "--vault", &vault, "--project"])
        .well();
    assert!(read(&project.join(".mcp.json"))["mcpServers"]["notehost"].is_object());
    desk.run(&["connect", "cursor", "--vault", &vault]).well();
    assert!(read(&desk.home().join(".cursor/mcp.json"))["mcpServers"]["notehost"].is_object());
    desk.run(&["connect", "claude-desktop", "--vault", &vault, "--project"])
        .failed(2, "no files for projects");
    // Claude Code keeps its own list, and is told by a command.
    let told = desk
        .run(&["connect", "claude-code", "--vault", &vault, "--allow", "rw"])
        .well();
    assert!(
        told.output
            .starts_with("claude mcp add --scope user notehost -- "),
        "{told:#?}"
    );
    assert!(
        told.output
            .ends_with(&format!(" serve {vault} --allow rw\n")),
        "{told:#?}"
    );
    // An entry to look at.
    let printed = desk
        .run(&[
            "connect", "vscode", "--vault", &vault, "--print", "--name", "n",
        ])
        .well();
    assert_eq!(printed.json()["servers"]["n"]["type"], "stdio");
}

#[test]
fn a_server_that_runs_is_connected_without_its_token() {
    let desk = Desk::new();
    let url = "https://notes.example/mcp";
    let print = |client: &str, words: &[&str]| {
        let words = [&["connect", client, "--http", url, "--print"], words].concat();
        desk.run(&words).well().json()
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
    let told = desk
        .run(&[
            "connect",
            "claude-code",
            "--http",
            url,
            "--token-variable",
            "T",
        ])
        .well();
    assert_eq!(
        told.output,
        format!(
            "claude mcp add --scope user --transport http notehost {url} --header \"Authorization: Bearer $T\"\n"
        )
    );
    desk.run(&["connect", "claude-desktop", "--http", url])
        .failed(2, "only starts programs");
    desk.run(&["connect", "cursor", "--http", "notes.example"])
        .failed(2, "is no address");
}

#[test]
fn the_entry_says_what_the_client_cannot_know() {
    let desk = Desk::new();
    let config = desk.place.config_file(&desk.place.settings());
    let config = config.to_string_lossy();
    // From a variable that the client does not have; from a config that it must be told of; by id.
    let mut command = desk.program(&["connect", "cursor", "--print"]);
    command.env("NOTEHOST_VAULT", desk.vault());
    let args = |printed: Value| printed["mcpServers"]["notehost"]["args"].clone();
    assert_eq!(
        args(run(&mut command, "").well().json()),
        json!(["serve", desk.vault()])
    );
    let words = ["connect", "cursor", "--print", "--config", &config];
    assert_eq!(
        args(desk.run(&words).well().json()),
        json!(["serve", "--config", config])
    );
    let words = [&words[..], &["--vault", "main"]].concat();
    assert_eq!(
        args(desk.run(&words).well().json()),
        json!(["serve", "main", "--config", config])
    );
}
