//! Several vaults through the built program: the default one, and permissions per vault. `tokens` tests which vaults a token
//! is for.

mod tokens;

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::setup::{program, run};
use crate::support::client::{Client, error_code};
use crate::support::http::wait_until;
use crate::support::place::Place;

/// Two vaults with the notebooks `Work` and `Diary`. A caller may write in `work` and only read in `archive`, where the
/// diary is hidden.
struct TwoVaults {
    place: Place,
    config: PathBuf,
}

const ARCHIVE_PERMISSIONS: &str = r#"
[vaults.permissions]
default = "r"
notebooks = { Diary = "none" }
rules = [{ glob = "Work/Old/**", tier = "none" }]
"#;

impl TwoVaults {
    fn new() -> TwoVaults {
        let place = Place::new();
        place.write("Work/Plan.md", "# Plan\n\nin work #worktag\n");
        place.write("Work/Old/Law.md", "old in work\n");
        place.write("Diary/Day.md", "a day in work\n");
        for (path, text) in [
            ("Work/Plan.md", "# Plan\n\nin the archive [[Night]]\n"),
            ("Work/Old/Law.md", "zqxrule\n"),
            (
                "Diary/Night.md",
                "---\nzqxkey: 1\ntags: [zqxtag]\n---\nzqxnight in the archive [[Plan]]\n",
            ),
        ] {
            let path = place.root().join("archive").join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            fs::write(path, text).expect("a note");
        }
        let config = place.root().join("notehost.toml");
        let vaults = TwoVaults { place, config };
        vaults.write("", ARCHIVE_PERMISSIONS);
        vaults
    }

    /// Writes the config with a line at its top and with this table in the entry of the archive.
    fn write(&self, top: &str, archive: &str) {
        let (work, old) = (self.place.vault(), self.place.root().join("archive"));
        let text = format!(
            "confirm = \"never\"\n{top}\n[permissions]\ndefault = \"r\"\nnotebooks = {{ Work = \"rwd\", Diary = \"rwd\" }}\n\n\
             [[vaults]]\nid = \"work\"\npath = {work:?}\n\n[[vaults]]\nid = \"archive\"\npath = {old:?}\n{archive}"
        );
        fs::write(&self.config, text).expect("a config");
    }

    fn client(&self) -> Client {
        Client::start(&self.config, &self.place.state())
    }

    fn archived(&self, path: &str) -> String {
        let path = self.place.root().join("archive").join(path);
        fs::read_to_string(path).expect("a note")
    }

    fn run(&self, arguments: &[&str]) -> super::setup::RunResult {
        run(&mut program(&self.place, arguments))
    }
}

fn append(vault: Option<&str>) -> Value {
    let mut arguments = json!({"path": "Work/Plan", "text": "more"});
    if let Some(vault) = vault {
        arguments["vault"] = vault.into();
    }
    arguments
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

#[test]
fn an_agent_writes_in_one_vault_and_only_reads_in_the_other() {
    let vaults = TwoVaults::new();
    let mut client = vaults.client();
    // The first vault is the default one, and the reply states it.
    let written = client.call("document.append", append(None));
    assert_eq!(written["structuredContent"]["vault"], "work", "{written}");
    assert!(text(&written).starts_with("Vault `work`:\n"), "{written}");
    assert!(
        vaults
            .place
            .read("Work/Plan.md")
            .is_some_and(|text| text.ends_with(b"more\n"))
    );

    let before = vaults.archived("Work/Plan.md");
    let refused = client.call("document.append", append(Some("archive")));
    assert_eq!(error_code(&refused), Some("permission_denied"), "{refused}");
    assert!(
        text(&refused).contains("(in the vault `archive`)"),
        "{refused}"
    );
    assert_eq!(vaults.archived("Work/Plan.md"), before);
    let read = client.call(
        "document.read",
        json!({"path": "Work/Plan", "vault": "archive"}),
    );
    let reply = &read["structuredContent"];
    assert_eq!(
        (&reply["vault"], &reply["content"]),
        (&json!("archive"), &json!(before)),
        "{read}"
    );
    let unknown = client.call(
        "document.read",
        json!({"path": "Work/Plan", "vault": "archvie"}),
    );
    assert_eq!(error_code(&unknown), Some("not_found"), "{unknown}");
    assert!(
        text(&unknown).contains("did you mean `archive`?"),
        "{unknown}"
    );

    let whoami = |client: &mut Client, arguments: Value| {
        client.call("system.whoami", arguments)["structuredContent"].take()
    };
    let here = whoami(&mut client, json!({}));
    assert_eq!(
        (&here["vault"], &here["vaults"]),
        (&json!("work"), &json!(["work", "archive"]))
    );
    let tier = |me: &Value, path: &str| {
        let tiers = me["tiers"].as_array().expect("tiers");
        let found = tiers.iter().find(|one| one["path"] == path);
        found.map(|one| one["tier"].clone())
    };
    assert_eq!(tier(&here, "Work"), Some(json!("rwd")));
    let there = whoami(&mut client, json!({"vault": "archive"}));
    assert_eq!(
        (tier(&there, "Work"), tier(&there, "Diary")),
        (Some(json!("r")), None)
    );
    assert_eq!(there["vault"], "archive");

    // Nothing requires `vault`.
    let listed = client.ask("tools/list", json!({}));
    for tool in listed["tools"].as_array().expect("tools") {
        let required = tool["inputSchema"]["required"].to_string();
        assert!(!required.contains("\"vault\""), "{tool}");
    }
    let hello = client.initialize()["instructions"].to_string();
    let stated = "Vaults: work, archive. A call without `vault` goes to `work`.";
    assert!(hello.contains(stated), "{hello}");
    let page = client.ask("resources/list", json!({}));
    let first = page["resources"][0]["uri"].as_str().expect("a note");
    assert!(first.starts_with("notehost://vault/work/"), "{page}");
}

#[test]
fn the_default_vault_and_permissions_of_a_vault_change_while_serving() {
    let vaults = TwoVaults::new();
    let mut client = vaults.client();
    vaults.write("default_vault = \"archive\"", ARCHIVE_PERMISSIONS);
    wait_until("another default vault", || {
        let read = client.call("document.read", json!({"path": "Work/Plan"}));
        read["structuredContent"]["vault"] == "archive"
    });
    let note = json!({"type": "ref/resource", "uri": "notehost://vault/{vault}/{+path}"});
    let ids = client.ask(
        "completion/complete",
        json!({"ref": note, "argument": {"name": "vault", "value": ""}}),
    );
    assert_eq!(ids["completion"]["total"], 2, "{ids}");
    let refused = client.call("document.append", append(None));
    assert_eq!(error_code(&refused), Some("permission_denied"), "{refused}");
    vaults.write(
        "default_vault = \"archive\"",
        "[vaults.callers.stdio.permissions]\nnotebooks = { Work = \"rw\" }\n[vaults.permissions]\ndefault = \"none\"\n",
    );
    wait_until("the caller may write in the archive", || {
        error_code(&client.call("document.append", append(None))).is_none()
    });
    assert!(vaults.archived("Work/Plan.md").ends_with("more\n"));
    // The tier of one caller in one vault is not that of others, nor that in other vaults.
    let other = vaults.run(&[
        "permission",
        "explain",
        "--caller",
        "http",
        "--path",
        "Work/Plan.md",
        "--action",
        "document.append",
    ]);
    assert_eq!(other.json()["allowed"], false, "{other:?}");
    vaults.write("default_vault = \"archvie\"", ARCHIVE_PERMISSIONS);
    let invalid = vaults.run(&["config", "validate"]);
    assert_eq!(invalid.code, Some(1), "{invalid:?}");
    let expected = "notehost.toml:2: unknown vault `archvie`: did you mean `archive`?";
    assert!(invalid.errors.contains(expected), "{invalid:?}");
}

#[test]
fn permissions_of_a_vault_are_listed_set_and_explained() {
    let vaults = TwoVaults::new();
    let explain = |vault: &[&str], path: &str, action: &str| {
        let arguments = [
            &[
                "permission",
                "explain",
                "--caller",
                "stdio",
                "--path",
                path,
                "--action",
                action,
            ],
            vault,
        ];
        vaults.run(&arguments.concat()).json()
    };
    let archive = ["--vault", "archive"];
    let found = explain(&[], "Work/Plan.md", "document.append");
    assert_eq!(
        (&found["allowed"], &found["vault"], &found["key"]),
        (
            &json!(true),
            &json!("work"),
            &json!("permissions.notebooks.Work")
        ),
    );
    let found = explain(&archive, "Work/Plan.md", "document.append");
    assert_eq!(
        (&found["allowed"], &found["key"], &found["origin"]),
        (
            &json!(false),
            &json!("vaults[1].permissions.default"),
            &json!("file, line 16")
        ),
    );
    assert!(
        found["sentence"]
            .to_string()
            .contains("in the vault `archive`"),
        "{found}"
    );
    let found = explain(&archive, "Work/Old/Law.md", "document.read");
    assert_eq!(
        (&found["decided_by"], &found["key"]),
        (&json!("rule"), &json!("vaults[1].permissions.rules[0]"))
    );

    let listed = vaults.run(&["permission", "list"]).json();
    let keys = |listed: &Value| -> Vec<String> {
        let items = listed["items"].as_array().expect("items").iter();
        let words = items.map(|row| row["key"].as_str().expect("a key").to_owned());
        words.collect()
    };
    assert!(
        keys(&listed).contains(&"vaults[1].permissions.notebooks.Diary".to_owned()),
        "{listed}"
    );
    assert_eq!(listed["items"][3]["vault"], "archive", "{listed}");
    let work = vaults
        .run(&["permission", "list", "--vault", "work"])
        .json();
    assert!(
        keys(&work).iter().all(|key| !key.starts_with("vaults[")),
        "{work}"
    );
    let old = vaults
        .run(&["permission", "list", "--vault", "archive"])
        .json();
    // The line of the vault replaces the general one.
    assert!(
        !keys(&old).contains(&"permissions.notebooks.Diary".to_owned()),
        "{old}"
    );
    let unknown = vaults.run(&["permission", "list", "--vault", "archvie"]);
    assert!(
        unknown.errors.contains("did you mean `archive`?"),
        "{unknown:?}"
    );

    let set = vaults.run(&["permission", "set", "Work", "rw", "--vault", "archive"]);
    assert_eq!(set.code, Some(0), "{set:?}");
    assert_eq!(
        explain(&archive, "Work/Plan.md", "document.append")["allowed"],
        true
    );
    let set = vaults.run(&[
        "permission",
        "set",
        "Work",
        "none",
        "--vault",
        "archive",
        "--caller",
        "stdio",
    ]);
    assert_eq!(set.code, Some(0), "{set:?}");
    let found = explain(&archive, "Work/Plan.md", "document.read");
    assert_eq!(
        found["key"], "vaults[1].callers.stdio.permissions.notebooks.Work",
        "{found}"
    );
    assert_eq!(
        explain(&[], "Work/Plan.md", "document.append")["allowed"],
        true
    );
    let set = vaults.run(&["permission", "set", "Work", "rw", "--vault", "archvie"]);
    assert!(set.errors.contains("no vault `archvie`"), "{set:?}");

    let shown = vaults.run(&["config", "show"]).json();
    let value = |key: &str| {
        let items = shown["items"].as_array().expect("items").iter();
        let mut found = items.filter(|row| row["key"] == key);
        found
            .next()
            .unwrap_or_else(|| panic!("no {key}: {shown:#}"))
            .clone()
    };
    assert_eq!(value("default_vault")["value"], "work");
    assert_eq!(value("default_vault")["origin"], "default");
    assert_eq!(
        value("vaults[1].permissions.default")["origin"],
        "file, line 16"
    );
    let valid = vaults.run(&["config", "validate"]);
    assert!(
        valid.output.contains("2 vaults, default `work`"),
        "{valid:?}"
    );
}

/// A notebook that is visible in one vault and hidden in the other: nothing about the hidden one comes through.
#[test]
fn a_notebook_hidden_in_one_vault_is_not_visible_through_the_other() {
    let vaults = TwoVaults::new();
    let mut client = vaults.client();
    wait_until("both indexes", || {
        ["work", "archive"].iter().all(|vault| {
            let info = client.call("system.info", json!({"vault": vault}));
            info["structuredContent"]["index"]["state"] == "ready"
        })
    });
    let mut seen = String::new();
    for vault in [json!(null), json!("work"), json!("archive")] {
        for (action, arguments) in [
            ("notebook.list", json!({})),
            ("document.list", json!({"recursive": true})),
            ("document.read", json!({"path": "Diary/Night"})),
            ("document.read", json!({"path": "Night"})),
            ("document.read", json!({"path": "Work/Old/Law"})),
            (
                "document.read_many",
                json!({"paths": ["Diary/Night", "Diary/Day", "Work/Plan"]}),
            ),
            ("search.text", json!({"query": "archive"})),
            ("search.text", json!({"query": "night"})),
            ("search.regex", json!({"pattern": "in the .*"})),
            ("search.recent", json!({})),
            ("link.backlinks", json!({"path": "Work/Plan"})),
            ("link.unresolved", json!({})),
            ("tag.list", json!({})),
            ("system.guide", json!({})),
            ("system.whoami", json!({})),
            ("link.health", json!({})),
        ] {
            let mut arguments = arguments;
            arguments["vault"] = vault.clone();
            let result = client.call(action, arguments);
            seen.push_str(&format!("{action} in {vault}: {result}\n"));
        }
    }
    for uri in ["Diary/Night.md", "Diary", "Work/Old/Law.md"] {
        let uri = format!("notehost://vault/archive/{uri}");
        let id = client.send("resources/read", json!({"uri": uri}));
        seen.push_str(&format!("{}\n", client.answer(id)));
    }
    let mut cursor = Value::Null;
    loop {
        let params = match &cursor {
            Value::Null => json!({}),
            cursor => json!({"cursor": cursor}),
        };
        let page = client.ask("resources/list", params);
        seen.push_str(&format!("{page}\n"));
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    let note = json!({"type": "ref/resource", "uri": "notehost://vault/{vault}/{+path}"});
    for (vault, typed) in [
        ("archive", "Night"),
        ("archive", "Diary"),
        ("work", "Night"),
    ] {
        let completed = client.ask(
            "completion/complete",
            json!({"ref": note, "argument": {"name": "path", "value": typed}, "context": {"arguments": {"vault": vault}}}),
        );
        seen.push_str(&format!("{completed}\n"));
    }
    let leaks: Vec<&str> = seen
        .lines()
        // The error for a resource repeats its URI.
        .filter(|line| !line.contains("resource not found"))
        .filter(|line| line.contains("zqx") || line.contains("Diary/Night.md\""))
        .collect();
    assert!(leaks.is_empty(), "{leaks:#?}");
    // What the other vault shows of a notebook of that name is still there.
    assert!(
        seen.contains("a day in work") && seen.contains("Work/Old/Law.md"),
        "{seen}"
    );
    // The notes are there for who may see them.
    vaults.write("", "");
    wait_until("the diary of the archive is visible", || {
        let read = client.call(
            "document.read",
            json!({"path": "Diary/Night", "vault": "archive"}),
        );
        read["structuredContent"]["content"]
            .to_string()
            .contains("zqxnight")
    });
}
