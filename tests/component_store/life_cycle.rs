//! The life cycle of a component on the command line, with a running server.

use serde_json::json;

use super::{Workspace, version};
use crate::support::client::{Client, error_code};
use crate::support::http::wait_until;

#[test]
fn component_can_be_installed_upgraded_and_removed() {
    for workspace in [Workspace::new(), Workspace::without_config()] {
        assert!(workspace.list_entry().is_none());
        let installed = workspace.succeed(&["component", "add", &version("one")]);
        assert!(
            installed.contains("installed: `steady` 1.0.0"),
            "{installed}"
        );
        assert!(installed.contains("it has no access yet"), "{installed}");
        let list_entry = workspace.list_entry().expect("it is there");
        assert_eq!(list_entry["version"], "1.0.0");
        assert_eq!(list_entry["origin"], "installed");
        assert_eq!(workspace.call("say", r#"{"text": "a b"}"#)["text"], "a b");

        let again = workspace.fail(&["component", "add", &version("two")]);
        assert!(
            again.contains("the component `steady` is already installed"),
            "{again}"
        );

        let upgraded = workspace.succeed(&["component", "upgrade", "steady", &version("two")]);
        assert!(upgraded.contains("action `count` is new"), "{upgraded}");
        assert!(upgraded.contains("upgraded: `steady` 2.0.0"), "{upgraded}");
        let reply = workspace.call("say", r#"{"text": "a b", "loud": true}"#);
        assert_eq!(reply["words"], json!(["A", "B"]));

        workspace.succeed(&["component", "rollback", "steady"]);
        assert_eq!(workspace.call("say", r#"{"text": "a b"}"#)["version"], 1);
        let nothing = workspace.fail(&["component", "rollback", "steady"]);
        assert!(
            nothing.contains("no earlier version to roll back to"),
            "{nothing}"
        );

        workspace.succeed(&["component", "remove", "steady"]);
        assert!(workspace.list_entry().is_none());
        let gone = workspace.fail(&["component", "upgrade", "stedy", &version("one")]);
        assert!(
            gone.contains("the component `stedy` is not installed"),
            "{gone}"
        );

        // A component that was removed does not return in an older version without the explicit flag.
        let one = version("one");
        let older = workspace.fail(&["component", "add", &one]);
        assert!(older.contains("older than 2.0.0"), "{older}");
        assert!(workspace.list_entry().is_none());
        workspace.succeed(&["component", "add", &one, "--allow-downgrade"]);
        workspace.succeed(&["component", "remove", "steady"]);
        workspace.succeed(&["component", "add", &one]);
    }
}

#[test]
fn grants_apply_and_survive_upgrades() {
    let workspace = Workspace::without_config();
    workspace.place.write("Work/day.md", "a day\n");
    workspace.succeed(&["component", "add", &version("wide")]);
    let vault = workspace.place.vault();
    let vault = vault.to_str().expect("a path of text");
    let note = [
        "call",
        "steady",
        "note",
        "--path",
        "Work/a.md",
        "--text",
        "a",
    ];
    let note: Vec<&str> = note
        .into_iter()
        .chain(["--vault", vault, "--allow", "rw"])
        .collect();
    let denied = workspace.fail(&note);
    assert!(workspace.place.read("Work/a.md").is_none(), "{denied}");

    workspace.succeed(&["component", "grant", "steady", "--write", "Work/**"]);
    workspace.succeed(&note);
    assert_eq!(
        workspace.place.read("Work/a.md").as_deref(),
        Some(&b"a"[..])
    );

    // Disabled and enabled, upgraded and rolled back: the grant is unchanged.
    workspace.succeed(&["component", "disable", "steady", "--because", "too loud"]);
    let off = workspace.fail(&note);
    assert!(off.contains("too loud"), "{off}");
    workspace.succeed(&["component", "enable", "steady"]);
    let two = version("two");
    let older = ["component", "upgrade", "steady", &two, "--allow-downgrade"];
    workspace.succeed(&older);
    workspace.succeed(&["component", "rollback", "steady"]);
    let other = [
        "call",
        "steady",
        "note",
        "--path",
        "Work/b.md",
        "--text",
        "b",
    ];
    let other: Vec<&str> = other
        .into_iter()
        .chain(["--vault", vault, "--allow", "rw"])
        .collect();
    workspace.succeed(&other);

    workspace.succeed(&["component", "revoke", "steady"]);
    let third = [
        "call",
        "steady",
        "note",
        "--path",
        "Work/c.md",
        "--text",
        "c",
    ];
    let third: Vec<&str> = third
        .into_iter()
        .chain(["--vault", vault, "--allow", "rw"])
        .collect();
    workspace.fail(&third);
    assert!(workspace.place.read("Work/c.md").is_none());
}

#[test]
fn embedded_component_is_replaced_only_explicitly() {
    let workspace = Workspace::without_config();
    let other = workspace.fail(&["component", "upgrade", "mascot", &version("one")]);
    assert!(
        other.contains("its name is `steady`, not `mascot`"),
        "{other}"
    );
    let bound = workspace.fail(&["component", "grant", "document", "--read", "**"]);
    assert!(bound.contains("only limited by the caller"), "{bound}");
    let assert_rejected = workspace.fail(&["component", "remove", "document"]);
    assert!(
        assert_rejected.contains("cannot be removed"),
        "{assert_rejected}"
    );
}

#[test]
fn component_can_be_inspected_without_running_it() {
    let workspace = Workspace::without_config();
    let report = workspace.succeed(&["component", "inspect", &version("one")]);
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["contract"], "1.0.0-rc.1");
    assert_eq!(report["signature"], "none");
    assert!(
        report["digest"]
            .as_str()
            .is_some_and(|digest| digest.starts_with("sha256:"))
    );
    assert!(
        report.get("actions").is_none(),
        "it has not been run yet: {report}"
    );
    workspace.succeed(&["component", "add", &version("one")]);
    let report = workspace.succeed(&["component", "inspect", "steady"]);
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(
        report["actions"],
        json!([{"name": "say", "effect": "read"}])
    );
}

#[test]
fn running_server_loads_changes_and_notifies_clients() {
    let workspace = Workspace::new();
    let config = workspace.config.as_deref().expect("a config");
    let mut client = Client::start(config, &workspace.place.state());
    client.initialize();
    let say = |client: &mut Client| client.call("steady.say", json!({"text": "a"}));
    let version_of = |client: &mut Client| say(client)["structuredContent"]["version"].clone();
    let missing = say(&mut client);
    assert_eq!(error_code(&missing), Some("not_found"), "{missing}");

    workspace.succeed(&["component", "add", &version("one")]);
    wait_until("the first version answers", || {
        let reply = client.ask("tools/list", json!({}));
        reply
            .to_string()
            .contains("Reports the version that replies")
    });
    assert_eq!(version_of(&mut client), 1);
    let notified = |client: &Client| {
        let sent = client.notifications().iter();
        sent.filter(|sent| sent["method"] == "notifications/tools/list_changed")
            .count()
    };
    // Simultaneous changes are announced together, a moment later.
    wait_until("the client is notified", || {
        client.ask("ping", json!({}));
        notified(&client) >= 1
    });

    workspace.succeed(&["component", "upgrade", "steady", &version("two")]);
    wait_until("the second version answers", || {
        version_of(&mut client) == 2
    });
    workspace.succeed(&["component", "disable", "steady"]);
    wait_until("it is off", || {
        error_code(&say(&mut client)) == Some("disabled")
    });
    workspace.succeed(&["component", "enable", "steady"]);
    wait_until("it is on", || version_of(&mut client) == 2);
    workspace.succeed(&["component", "rollback", "steady"]);
    wait_until("the first version answers", || version_of(&mut client) == 1);
}

#[test]
fn component_folder_is_loaded_and_hot_swapped() {
    let workspace = Workspace::new();
    let folder = workspace.place.outside().join("components");
    std::fs::create_dir_all(&folder).expect("a folder");
    let settings = notehost::config::Settings {
        component_folder: Some(folder.clone()),
        ..workspace.place.settings()
    };
    let config = workspace.place.config_file(&settings);
    std::fs::copy(version("one"), folder.join("steady.wasm")).expect("a copy");
    let mut client = Client::start(&config, &workspace.place.state());
    client.initialize();
    let version_of = |client: &mut Client| {
        client.call("steady.say", json!({"text": "a"}))["structuredContent"]["version"].clone()
    };
    assert_eq!(version_of(&mut client), 1);
    // An invalid file replaces nothing.
    std::fs::write(folder.join("steady.wasm"), b"\0asm garbage").expect("a file");
    wait_until("the problem is listed", || {
        let entry = workspace.list_entry();
        entry.is_some_and(|entry| entry["problem"].is_string())
    });
    assert_eq!(version_of(&mut client), 1);
    std::fs::copy(version("two"), folder.join("steady.wasm")).expect("a copy");
    wait_until("the second version answers", || {
        version_of(&mut client) == 2
    });
}
