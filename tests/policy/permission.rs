//! `notehost permission` through the built program: listing, setting and explaining, and that an explanation matches
//! the outcome of a call. `settings` tests the config file itself.

mod settings;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::client::{Client, error_code};
use crate::support::guests::guest;
use crate::support::place::Place;

/// A vault, and a config with a line of every kind.
struct PermissionSetup {
    place: Place,
    config: PathBuf,
}

const RULES: &str = r#"
# Who may do what here.
[permissions]
default = "r" # nobody writes by accident

[permissions.notebooks]
Work = "rwd"
Diary = "none"
"." = "rw"

[[permissions.rules]]
glob = "Work/Contracts/**"
tier = "r"

[callers.phone]
scopes = ["read", "document:write"]

[callers.phone.permissions.notebooks]
Work = "rw"
"#;

impl PermissionSetup {
    fn new() -> PermissionSetup {
        PermissionSetup::with(RULES)
    }

    fn with(rules: &str) -> PermissionSetup {
        let place = Place::new();
        for path in [
            "Work/Plan.md",
            "Work/Contracts/A.md",
            "Diary/Day.md",
            "Other/B.md",
            "Root.md",
        ] {
            place.write(path, "one\n\ntwo\n");
        }
        let config = place.root().join("notehost.toml");
        let vault = place.vault();
        let text = format!("[[vaults]]\nid = \"main\"\npath = {vault:?}\n{rules}");
        std::fs::write(&config, text).expect("a config");
        PermissionSetup { place, config }
    }

    fn run(&self, arguments: &[&str]) -> RunResult {
        let mut command = Command::new(crate::support::program());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("NOTEHOST_") {
                command.env_remove(name);
            }
        }
        command
            .args(arguments)
            .arg("--config")
            .arg(&self.config)
            .arg("--state")
            .arg(self.place.state());
        RunResult::of(command.output().expect("the program runs"))
    }

    fn explain(&self, caller: &str, path: &str, action: &str) -> Value {
        let arguments = [
            "permission",
            "explain",
            "--caller",
            caller,
            "--path",
            path,
            "--action",
            action,
        ];
        let result = self.run(&arguments);
        let report: Value =
            serde_json::from_str(&result.output).unwrap_or_else(|_| panic!("{result:#?}"));
        assert_eq!(
            result.code,
            Some(i32::from(report["allowed"] == false)),
            "{result:#?}"
        );
        report
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.config).expect("the config")
    }
}

#[derive(Debug)]
struct RunResult {
    code: Option<i32>,
    output: String,
    errors: String,
}

impl RunResult {
    fn of(output: Output) -> RunResult {
        let text = |bytes| String::from_utf8(bytes).expect("text");
        RunResult {
            code: output.status.code(),
            output: text(output.stdout),
            errors: text(output.stderr),
        }
    }

    #[track_caller]
    fn json(&self) -> Value {
        assert_eq!(self.code, Some(0), "{self:#?}");
        serde_json::from_str(&self.output).expect("JSON")
    }

    #[track_caller]
    fn refused(&self, expected: &str) {
        assert_eq!(self.code, Some(1), "{self:#?}");
        assert!(self.errors.contains(expected), "{self:#?}");
    }
}

#[test]
fn permissions_are_listed_with_their_config_line() {
    let setup = PermissionSetup::new();
    let all = setup.run(&["permission", "list"]).json();
    let items = all["items"].as_array().expect("items");
    let find = |caller: Value, key: &str| {
        let found = items
            .iter()
            .find(|row| row["caller"] == caller && row["key"] == key);
        found
            .unwrap_or_else(|| panic!("no {key} in {all:#}"))
            .clone()
    };
    let diary = find(Value::Null, "permissions.notebooks.Diary");
    assert_eq!(
        (&diary["tier"], &diary["origin"]),
        (&json!("none"), &json!("file, line 11"))
    );
    assert_eq!(find(Value::Null, "permissions.default")["tier"], "r");
    let rule = find(Value::Null, "permissions.rules[0]");
    assert_eq!(
        (&rule["glob"], &rule["origin"]),
        (&json!("Work/Contracts/**"), &json!("file, line 15"))
    );
    assert_eq!(
        find(json!("phone"), "callers.phone.permissions.notebooks.Work")["tier"],
        "rw"
    );

    // A caller's own line replaces the default.
    let phone = setup
        .run(&["permission", "list", "--caller", "phone"])
        .json();
    let work = phone["items"]
        .as_array()
        .expect("items")
        .iter()
        .filter(|row| row["notebook"] == "Work");
    let tiers: Vec<&Value> = work.map(|row| &row["tier"]).collect();
    assert_eq!(tiers, ["rw"]);
}

#[test]
fn setting_a_tier_keeps_the_rest_of_the_file() {
    let setup = PermissionSetup::new();
    let before = setup.text();
    assert_eq!(
        setup.run(&["permission", "set", "diary", "r"]).code,
        Some(0)
    );
    assert_eq!(
        setup.text(),
        before.replace("Diary = \"none\"", "Diary = \"r\"")
    );
    assert_eq!(
        setup.run(&["permission", "set", "--default", "none"]).code,
        Some(0)
    );
    assert!(
        setup
            .text()
            .contains("default = \"none\" # nobody writes by accident"),
        "{}",
        setup.text()
    );
    assert_eq!(
        setup
            .run(&["permission", "set", "Other", "rw", "--caller", "phone"])
            .code,
        Some(0)
    );
    assert_eq!(
        setup.explain("phone", "Other/B.md", "document.append")["allowed"],
        true
    );
    assert_eq!(
        setup.explain("stdio", "Other/B.md", "document.read")["allowed"],
        false
    );
}

#[test]
fn invalid_tier_leaves_the_file_unchanged() {
    let setup = PermissionSetup::new();
    let before = setup.text();
    setup
        .run(&["permission", "set", "Work/Contracts", "none"])
        .refused("top-level folder");
    setup
        .run(&["permission", "read-only", "on", "--vault", "mian"])
        .refused("no vault `mian`");
    assert_eq!(
        setup.run(&["permission", "set", "Work", "all"]).code,
        Some(2)
    );
    assert_eq!(setup.run(&["permission", "set", "Work"]).code, Some(2));
    assert_eq!(setup.text(), before);
    let broken = PermissionSetup::with("[permissions\n");
    let result = broken.run(&["permission", "set", "Work", "rw"]);
    result.refused("notehost.toml:4");
}

#[test]
fn missing_config_is_created() {
    let place = Place::new();
    let home = place.root().join("home");
    std::fs::create_dir(&home).expect("a folder");
    let set = |config: Option<&Path>| {
        let mut command = Command::new(crate::support::program());
        command
            .args(["permission", "set", "Work", "rw"])
            .env_clear()
            .env("HOME", &home);
        if let Some(config) = config {
            command.arg("--config").arg(config);
        }
        RunResult::of(command.output().expect("the program runs"))
    };
    let made = set(None);
    assert_eq!(made.code, Some(0), "{made:#?}");
    assert!(made.output.contains("notehost.toml"), "{made:#?}");
    let named = place.root().join("new/notehost.toml");
    let result = set(Some(&named));
    assert_eq!(result.code, Some(0), "{result:#?}");
    assert!(result.output.contains("has no vault"), "{result:#?}");
    assert_eq!(
        std::fs::read_to_string(&named).expect("the file"),
        "[permissions.notebooks]\nWork = \"rw\"\n"
    );
}

#[test]
fn explanation_names_the_deciding_line() {
    let setup = PermissionSetup::with(&format!(
        "{RULES}\n[components.document.actions]\nmerge = false\n\n[components.echo]\npath = {:?}\n[components.echo.grant]\nread = \
         [\"Work/**\"]\n",
        guest("echo")
    ));
    for (caller, path, action, allowed, by, key) in [
        (
            "stdio",
            "Work/Plan.md",
            "document.remove",
            true,
            "notebook",
            "permissions.notebooks.Work",
        ),
        (
            "stdio",
            "work/plan.MD",
            "document.remove",
            true,
            "notebook",
            "permissions.notebooks.Work",
        ),
        (
            "stdio",
            "Work/Contracts/A.md",
            "document.append",
            false,
            "rule",
            "permissions.rules[0]",
        ),
        (
            "stdio",
            "Diary/Day.md",
            "document.read",
            false,
            "notebook",
            "permissions.notebooks.Diary",
        ),
        (
            "stdio",
            "Other/B.md",
            "document.append",
            false,
            "notebook",
            "permissions.default",
        ),
        (
            "stdio",
            "Root.md",
            "document.append",
            true,
            "notebook",
            "permissions.notebooks.\".\"",
        ),
        (
            "stdio",
            "Other",
            "notebook.rename",
            false,
            "notebook",
            "permissions.default",
        ),
        (
            "phone",
            "Work/Plan.md",
            "document.append",
            true,
            "notebook",
            "callers.phone.permissions.notebooks.Work",
        ),
        (
            "phone",
            "Work/Plan.md",
            "document.remove",
            false,
            "scope",
            "",
        ),
        (
            "phone",
            "Work/Plan.md",
            "notebook.create",
            false,
            "scope",
            "",
        ),
        (
            "stdio",
            ".git/config",
            "document.read",
            false,
            "dot_folder",
            "",
        ),
        (
            "stdio",
            "Work/../Diary/Day.md",
            "document.read",
            false,
            "path",
            "",
        ),
        (
            "stdio",
            "Work/Plan.md",
            "document.merge",
            false,
            "action",
            "",
        ),
        ("stdio", "Work/Plan.md", "document.fly", false, "action", ""),
        (
            "stdio",
            "Work/Plan.md",
            "echo.remember",
            false,
            "grant",
            "components.echo.grant",
        ),
    ] {
        let report = setup.explain(caller, path, action);
        let found = (
            &report["allowed"],
            &report["decided_by"],
            report["key"].as_str().unwrap_or_default(),
        );
        assert_eq!(
            found,
            (&json!(allowed), &json!(by), key),
            "{caller} {path} {action}: {report:#}"
        );
        assert!(!report["sentence"].as_str().expect("a sentence").is_empty());
    }
    let report = setup.explain("stdio", "Work/Contracts/A.md", "document.append");
    assert_eq!(report["origin"], "file, line 15");
    assert_eq!(
        report["sentence"],
        "`stdio` may not use `document.append` at `Work/Contracts/A.md`, which needs `rw`: the rule for \
         `Work/Contracts/**` (`permissions.rules[0]`) allows `r`"
    );

    assert_eq!(setup.run(&["permission", "read-only", "on"]).code, Some(0));
    assert_eq!(
        setup.explain("stdio", "Work/Plan.md", "document.append")["decided_by"],
        "read_only"
    );
    assert_eq!(
        setup.explain("stdio", "Work/Plan.md", "document.read")["allowed"],
        true
    );
    assert_eq!(setup.run(&["permission", "read-only", "off"]).code, Some(0));
    assert_eq!(
        setup
            .run(&["permission", "read-only", "on", "--vault", "main"])
            .code,
        Some(0)
    );
    assert_eq!(
        setup.explain("stdio", "Work/Plan.md", "document.append")["decided_by"],
        "read_only"
    );
}

#[test]
fn explanation_matches_the_outcome_of_a_call() {
    let setup = PermissionSetup::new();
    let paths = [
        "Work/Plan.md",
        "Work/Contracts/A.md",
        "Diary/Day.md",
        "Other/B.md",
        "Root.md",
    ];
    for path in paths {
        let mut client = Client::start(&setup.config, &setup.place.state());
        for (action, arguments) in [
            ("document.read", json!({"path": path})),
            (
                "document.append",
                json!({"path": path, "text": "x\n", "dry_run": true}),
            ),
            ("document.remove", json!({"paths": [path], "dry_run": true})),
        ] {
            let met = client.call(action, arguments);
            let explained = setup.explain("stdio", path, action);
            assert_eq!(
                explained["allowed"],
                json!(error_code(&met).is_none()),
                "{path} {action}: {explained:#} and {met:#}"
            );
        }
    }
}

#[test]
fn denial_by_a_rule_names_the_rule() {
    let setup = PermissionSetup::new();
    let mut client = Client::start(&setup.config, &setup.place.state());
    let hint = |result: &Value| {
        let hint = &result["structuredContent"]["error"]["hint"];
        hint.as_str().unwrap_or_default().to_owned()
    };
    let met = client.call(
        "document.append",
        json!({"path": "Work/Contracts/A.md", "text": "x"}),
    );
    assert!(hint(&met).contains("`Work/Contracts/**`"), "{met:#}");
    let met = client.call(
        "document.append",
        json!({"path": "Other/B.md", "text": "x"}),
    );
    assert!(hint(&met).contains("permission set Other rw"), "{met:#}");
}
