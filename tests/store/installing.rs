//! The whole life of a component at a terminal, and what a server that runs meanwhile makes of it.

use serde_json::json;

use super::{Desk, version};
use crate::support::client::{Client, error_code};
use crate::support::http::wait_until;

#[test]
fn a_component_comes_changes_and_goes() {
    for desk in [Desk::new(), Desk::bare()] {
        assert!(desk.listed().is_none());
        let installed = desk.done(&["component", "add", &version("one")]);
        assert!(
            installed.contains("installed: `steady` 1.0.0"),
            "{installed}"
        );
        assert!(installed.contains("it may use nothing yet"), "{installed}");
        let listed = desk.listed().expect("it is there");
        assert_eq!(listed["version"], "1.0.0");
        assert_eq!(listed["origin"], "installed");
        assert_eq!(desk.call("say", r#"{"text": "a b"}"#)["text"], "a b");

        let again = desk.refused(&["component", "add", &version("two")]);
        assert!(
            again.contains("there is a component `steady` already"),
            "{again}"
        );

        let upgraded = desk.done(&["component", "upgrade", "steady", &version("two")]);
        assert!(upgraded.contains("action `count` is new"), "{upgraded}");
        assert!(upgraded.contains("upgraded: `steady` 2.0.0"), "{upgraded}");
        let said = desk.call("say", r#"{"text": "a b", "loud": true}"#);
        assert_eq!(said["words"], json!(["A", "B"]));

        desk.done(&["component", "rollback", "steady"]);
        assert_eq!(desk.call("say", r#"{"text": "a b"}"#)["version"], 1);
        let nothing = desk.refused(&["component", "rollback", "steady"]);
        assert!(nothing.contains("nothing to go back to"), "{nothing}");

        desk.done(&["component", "remove", "steady"]);
        assert!(desk.listed().is_none());
        let gone = desk.refused(&["component", "upgrade", "stedy", &version("one")]);
        assert!(gone.contains("no component `stedy` is installed"), "{gone}");

        // A component that was removed does not come back in an older version, unless somebody says so.
        let one = version("one");
        let older = desk.refused(&["component", "add", &one]);
        assert!(older.contains("older than 2.0.0"), "{older}");
        assert!(desk.listed().is_none());
        desk.done(&["component", "add", &one, "--allow-downgrade"]);
        desk.done(&["component", "remove", "steady"]);
        desk.done(&["component", "add", &one]);
    }
}

#[test]
fn what_is_granted_can_be_used_and_survives() {
    let desk = Desk::bare();
    desk.place.write("Work/day.md", "a day\n");
    desk.done(&["component", "add", &version("wide")]);
    let vault = desk.place.vault();
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
    let denied = desk.refused(&note);
    assert!(desk.place.read("Work/a.md").is_none(), "{denied}");

    desk.done(&["component", "grant", "steady", "--write", "Work/**"]);
    desk.done(&note);
    assert_eq!(desk.place.read("Work/a.md").as_deref(), Some(&b"a"[..]));

    // Switched off and on, upgraded and gone back: the grant is as it was.
    desk.done(&["component", "disable", "steady", "--because", "too loud"]);
    let off = desk.refused(&note);
    assert!(off.contains("too loud"), "{off}");
    desk.done(&["component", "enable", "steady"]);
    let two = version("two");
    let older = ["component", "upgrade", "steady", &two, "--allow-downgrade"];
    desk.done(&older);
    desk.done(&["component", "rollback", "steady"]);
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
    desk.done(&other);

    desk.done(&["component", "revoke", "steady"]);
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
    desk.refused(&third);
    assert!(desk.place.read("Work/c.md").is_none());
}

#[test]
fn one_that_came_with_the_program_is_replaced_only_by_its_name() {
    let desk = Desk::bare();
    let other = desk.refused(&["component", "upgrade", "mascot", &version("one")]);
    assert!(
        other.contains("it calls itself `steady`, not `mascot`"),
        "{other}"
    );
    let bound = desk.refused(&["component", "grant", "document", "--read", "**"]);
    assert!(bound.contains("bound by the caller alone"), "{bound}");
    let stays = desk.refused(&["component", "remove", "document"]);
    assert!(stays.contains("cannot be removed"), "{stays}");
}

#[test]
fn what_it_is_can_be_seen_without_running_it() {
    let desk = Desk::bare();
    let told = desk.done(&["component", "inspect", &version("one")]);
    let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(told["contract"], "0.1.0");
    assert_eq!(told["signature"], "none");
    assert!(
        told["digest"]
            .as_str()
            .is_some_and(|digest| digest.starts_with("sha256:"))
    );
    assert!(told.get("actions").is_none(), "nobody asked it yet: {told}");
    desk.done(&["component", "add", &version("one")]);
    let told = desk.done(&["component", "inspect", "steady"]);
    let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(told["actions"], json!([{"name": "say", "effect": "read"}]));
}

#[test]
fn a_server_that_runs_takes_it_over_and_tells_its_clients() {
    let desk = Desk::new();
    let config = desk.config.as_deref().expect("a config");
    let mut client = Client::start(config, &desk.place.state());
    client.shake_hands();
    let say = |client: &mut Client| client.call("steady.say", json!({"text": "a"}));
    let version_of = |client: &mut Client| say(client)["structuredContent"]["version"].clone();
    let missing = say(&mut client);
    assert_eq!(error_code(&missing), Some("not_found"), "{missing}");

    desk.done(&["component", "add", &version("one")]);
    wait_until("the first version answers", || {
        let asked = client.ask("tools/list", json!({}));
        asked.to_string().contains("Says which version answers")
    });
    assert_eq!(version_of(&mut client), 1);
    let told = |client: &Client| {
        let sent = client.notifications().iter();
        sent.filter(|sent| sent["method"] == "notifications/tools/list_changed")
            .count()
    };
    // What changes at once is told together, a moment later.
    wait_until("the client is told", || {
        client.ask("ping", json!({}));
        told(&client) >= 1
    });

    desk.done(&["component", "upgrade", "steady", &version("two")]);
    wait_until("the second version answers", || {
        version_of(&mut client) == 2
    });
    desk.done(&["component", "disable", "steady"]);
    wait_until("it is off", || {
        error_code(&say(&mut client)) == Some("disabled")
    });
    desk.done(&["component", "enable", "steady"]);
    wait_until("it is on", || version_of(&mut client) == 2);
    desk.done(&["component", "rollback", "steady"]);
    wait_until("the first version answers", || version_of(&mut client) == 1);
}

#[test]
fn files_of_a_folder_are_components_and_swapped_when_they_change() {
    let desk = Desk::new();
    let folder = desk.place.outside().join("components");
    std::fs::create_dir_all(&folder).expect("a folder");
    let settings = notehost::config::Settings {
        component_folder: Some(folder.clone()),
        ..desk.place.settings()
    };
    let config = desk.place.config_file(&settings);
    std::fs::copy(version("one"), folder.join("steady.wasm")).expect("a copy");
    let mut client = Client::start(&config, &desk.place.state());
    client.shake_hands();
    let version_of = |client: &mut Client| {
        client.call("steady.say", json!({"text": "a"}))["structuredContent"]["version"].clone()
    };
    assert_eq!(version_of(&mut client), 1);
    // What cannot be used takes nobody's place.
    std::fs::write(folder.join("steady.wasm"), b"\0asm garbage").expect("a file");
    wait_until("the problem is told", || {
        let told = desk.listed();
        told.is_some_and(|told| told["problem"].is_string())
    });
    assert_eq!(version_of(&mut client), 1);
    std::fs::copy(version("two"), folder.join("steady.wasm")).expect("a copy");
    wait_until("the second version answers", || {
        version_of(&mut client) == 2
    });
}
