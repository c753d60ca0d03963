//! Access beyond the grant: other folders, paths outside the vault, the machine's own folders, effects beyond the
//! declared one. `reach_*` returns `got` or `refused`, and never fails itself: anything it staged would be committed.

use notehost::config::GrantSettings;
use serde_json::{Value, json};

use super::{AttackSetup, SECRETS};

const READING: [&str; 5] = ["stat", "read", "list", "resolve", "mentioning"];
const WRITING: [&str; 6] = [
    "create",
    "write",
    "create_folder",
    "rename",
    "rename_to",
    "remove",
];

/// Paths that try to leave `Open`.
fn escaping_paths() -> Vec<String> {
    let mut paths: Vec<String> = [
        "Closed/Secret.md",
        "closed/secret.md",
        "Hidden/Diary.md",
        "../outside/secret.md",
        "..",
        "Open/..",
        "Open/../Closed/Secret.md",
        "Open/./../Closed/Secret.md",
        "/etc/passwd",
        "//etc/passwd",
        "file:///etc/passwd",
        "C:\\Windows\\win.ini",
        "Open\\..\\Closed\\Secret.md",
        "Open/Note.md\0.txt",
        "Closed/Secret.md\0",
        "Open/\u{1b}[2J.md",
        "Open//Note.md",
        "./Open/Note.md",
        "Open/Note.md/",
        // Symbolic links: out of the vault, into a closed notebook, to nothing.
        "Open/Away/secret.md",
        "Open/Away/new.md",
        "Open/Away.md",
        "Open/Relative.md",
        "Open/Inner.md",
        "Open/Inner/Secret.md",
        "Open/Inner/new.md",
        "Open/Loop.md",
    ]
    .map(str::to_owned)
    .to_vec();
    paths.push(format!("Open/{}.md", "x".repeat(300)));
    paths.push(format!("Open/{}", "x/".repeat(3000)));
    paths.push("x".repeat(1 << 20));
    paths.extend(confusable_paths());
    paths
}

/// Folders of other programs and of Notehost, and names that some file system treats as the same.
fn confusable_paths() -> Vec<String> {
    let mut paths = Vec::new();
    for name in [
        ".obsidian",
        ".Obsidian",
        ".OBSIDIAN",
        ".obsidi\u{200c}an",
        ".obs\u{131}d\u{131}an",
        "\u{200b}.obsidian",
        "\u{feff}.obsidian",
        "\u{2060}.obsidian",
        "\u{ad}.obsidian",
        "\u{2024}obsidian",
        "\u{ff0e}obsidian",
        "\u{fe52}obsidian",
        " .obsidian",
        ".git",
        ".GIT",
        ".g\u{200d}it",
        "\u{ff0e}git",
        ".trash",
        ".notehost",
        ".NoteHost",
        "\u{2024}notehost",
    ] {
        paths.push(format!("{name}/app.json"));
        paths.push(format!("Open/{name}/Note.md"));
    }
    paths.push("Open/.hidden/Note.md".to_owned());
    paths
}

/// Runs one function of the vault on a path, as the hostile guest.
async fn reach(setup: &AttackSetup, action: &str, with: &str, path: &str) -> Value {
    let arguments = match with {
        "rename" => json!({"with": "rename", "path": path, "to": "Open/Taken.md"}),
        "rename_to" => json!({"with": "rename", "path": "Open/Note.md", "to": path}),
        with => json!({"with": with, "path": path}),
    };
    match setup.attack(action, arguments).await {
        Ok(reply) => Value::Object(reply.structured),
        Err(error) => json!({"refused": error.code, "message": error.message}),
    }
}

/// Whether the outcome is an error code that a domain may expect.
fn is_refusal(outcome: &Value) -> bool {
    let codes = [
        "not_found",
        "validation_error",
        "permission_denied",
        "already_exists",
        "too_large",
    ];
    outcome["refused"]
        .as_str()
        .is_some_and(|code| codes.contains(&code))
}

#[tokio::test(flavor = "multi_thread")]
async fn reader_cannot_escape_its_grant_with_any_path() {
    let setup = AttackSetup::new().await;
    for path in escaping_paths() {
        let shown: String = path.chars().take(60).collect();
        for with in READING {
            let outcome = reach(&setup, "reach_reading", with, &path).await;
            let report = outcome.to_string();
            assert!(
                !SECRETS.iter().any(|word| report.contains(word)),
                "{with} {shown:?}: {report}"
            );
            assert!(
                !report.contains("/vault"),
                "{with} {shown:?} reveals the path of the vault: {report}"
            );
            match with {
                "stat" | "read" => assert!(is_refusal(&outcome), "{with} {shown:?}: {report}"),
                _ => assert!(
                    is_refusal(&outcome) || outcome["got"] == json!([]),
                    "{with} {shown:?}: {report}"
                ),
            }
        }
    }
    setup.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn writer_cannot_escape_its_grant_with_any_path() {
    let setup = AttackSetup::with(|settings| {
        let hostile = settings
            .components
            .get_mut("hostile")
            .expect("the hostile guest");
        hostile.grant = GrantSettings {
            delete: vec!["Open/**".into()],
            ..GrantSettings::default()
        };
    })
    .await;
    for path in escaping_paths() {
        let shown: String = path.chars().take(60).collect();
        for with in WRITING {
            let outcome = reach(&setup, "reach_deleting", with, &path).await;
            assert!(is_refusal(&outcome), "{with} {shown:?}: {outcome}");
            setup.assert_untouched();
        }
    }
    setup.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_granted_paths_are_visible() {
    let setup = AttackSetup::new().await;
    let all = reach(&setup, "reach_reading", "list", "").await;
    assert_eq!(all["got"], json!(["Open", "Open/Note.md", "Open/Other.md"]));
    for word in ["xyzzy", "frotz", "plugh"] {
        let found = reach(&setup, "reach_reading", "mentioning", word).await;
        assert_eq!(found["got"], json!([]), "{word}");
    }
    for name in ["Secret", "Diary", "secret", "Away", "Inner"] {
        let found = reach(&setup, "reach_reading", "resolve", name).await;
        assert_eq!(found["got"], json!([]), "{name}");
    }
    let found = reach(&setup, "reach_reading", "resolve", "Note").await;
    assert_eq!(found["got"], json!(["Open/Note.md"]));
}

/// Existing and missing paths give the same error to callers without access.
#[tokio::test(flavor = "multi_thread")]
async fn denied_paths_look_like_missing_paths() {
    let setup = AttackSetup::new().await;
    for (there, absent) in [
        ("Closed/Secret.md", "Closed/Absent.md"),
        ("Hidden/Diary.md", "Hidden/Novel.md"),
        ("Closed", "Absent"),
        (".obsidian/app.json", ".obsidian/not.json"),
        ("Open/Away.md", "Open/Gone.md"),
    ] {
        for (action, functions) in [
            ("reach_reading", &READING[..]),
            ("reach_deleting", &WRITING[..]),
        ] {
            // In a folder where it may write, the guest learns that a name is taken, because it cannot use the name.
            let may_write = there.starts_with("Open/") && action == "reach_deleting";
            for with in functions
                .iter()
                .filter(|with| **with != "rename_to" && !may_write)
            {
                let report = reach(&setup, action, with, there).await.to_string();
                let other = reach(&setup, action, with, absent).await.to_string();
                assert_eq!(report.replace(there, absent), other, "{with} {there}");
            }
        }
        let access = reach(&setup, "reach_reading", "access", there).await;
        assert_eq!(
            access,
            reach(&setup, "reach_reading", "access", absent).await,
            "{there}"
        );
    }
    setup.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn action_cannot_exceed_its_declared_effect() {
    let setup = AttackSetup::with(|settings| {
        let hostile = settings
            .components
            .get_mut("hostile")
            .expect("the hostile guest");
        hostile.grant.delete = vec!["**".into()];
    })
    .await;
    for with in ["write", "rename", "remove"] {
        let outcome = reach(&setup, "reach_reading", with, "Open/Note.md").await;
        assert_eq!(outcome["refused"], "permission_denied", "{with}: {outcome}");
    }
    for with in ["create", "create_folder", "store_set"] {
        let outcome = reach(&setup, "reach_reading", with, "Open/New.md").await;
        assert_eq!(outcome["refused"], "permission_denied", "{with}: {outcome}");
    }
    let outcome = reach(&setup, "reach_writing", "remove", "Open/Note.md").await;
    assert_eq!(outcome["refused"], "permission_denied", "{outcome}");
    setup.assert_unharmed().await;
}

/// History and trash of a closed place stay closed.
#[tokio::test(flavor = "multi_thread")]
async fn history_and_trash_respect_the_same_permissions() {
    use crate::support::place::call;
    let setup = AttackSetup::new().await;
    let edit = json!({"path": "Closed/Secret.md", "text": "more"});
    let changed = call(&setup.host, "document.append", edit)
        .await
        .expect("Ana may");
    let change = changed.structured["change"]
        .as_str()
        .expect("an id")
        .to_owned();
    let gone = json!({"paths": ["Closed/Secret.md"]});
    let removed = call(&setup.host, "document.remove", gone)
        .await
        .expect("Ana may");
    let listed = call(&setup.host, "document.trash", json!({}))
        .await
        .expect("Ana may");
    assert_eq!(
        listed.structured["items"].as_array().map(Vec::len),
        Some(1),
        "{removed:?}"
    );
    for (with, nothing) in [("history", json!(0)), ("trash", json!([]))] {
        assert_eq!(
            reach(&setup, "reach_reading", with, "").await["got"],
            nothing,
            "{with}"
        );
    }
    let trash_id = listed.structured["items"][0]
        .as_object()
        .and_then(|item| {
            item.values()
                .find_map(|value| value.as_str().filter(|text| text.len() == 16))
        })
        .expect("an id");
    for (with, id) in [("undo", change.as_str()), ("restore", trash_id)] {
        let outcome = reach(&setup, "reach_deleting", with, id).await;
        assert!(is_refusal(&outcome), "{with}: {outcome}");
    }
    let before = json!({"with": "before", "path": "Closed/Secret.md", "to": change});
    let outcome = setup
        .attack("reach_reading", before)
        .await
        .expect("an outcome");
    assert!(
        !json!(outcome.structured).to_string().contains("xyzzy"),
        "{outcome:?}"
    );
}
