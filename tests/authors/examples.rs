//! The examples in JavaScript and Python: built as an author would, and called through the real host.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use notehost::config::GrantSettings;
use notehost::dispatch::Host;
use notehost_sdk::host::Now;
use serde_json::{Value, json};

use super::tools::{author, bench, has_javascript, python_environment, succeed};
use crate::support::place::{Place, call, component};
use crate::support::repository;

/// 2026-05-01 23:30 UTC, which is already the next day in Berlin.
const LATE: u64 = 1_777_678_200_000;

/// A copy of an example with the contract beside it, as in the repository.
fn copy(language: &str) -> PathBuf {
    let top = bench(&format!("example-{language}"));
    for part in [format!("sdk/examples/{language}"), "wit".to_owned()] {
        copy_folder(&repository().join(&part), &top.join(&part));
    }
    top.join("sdk/examples").join(language)
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        match path.is_dir() {
            true if ["node_modules", "dist", ".venv", "__pycache__"]
                .iter()
                .any(|built| name == *built) => {}
            true => copy_folder(&path, &to.join(name)),
            false => {
                std::fs::copy(&path, to.join(name)).expect("a copy");
            }
        }
    }
}

async fn host(place: &Place, name: &str, wasm: PathBuf) -> Arc<Host> {
    let everything = || vec!["**".to_owned()];
    let grant = GrantSettings {
        read: everything(),
        write: everything(),
        ..GrantSettings::default()
    };
    let mut settings = place.settings();
    settings
        .components
        .insert(name.into(), component(wasm, grant));
    let host = place.host(settings).await;
    assert!(
        host.registry().snapshot().broken().is_empty(),
        "{:?}",
        host.registry().snapshot().broken()
    );
    host.stop_clock(Now {
        milliseconds: LATE,
        offset_minutes: 120,
        zone: None,
    });
    host
}

async fn answer(host: &Host, name: &str, arguments: Value) -> Value {
    let reply = call(host, name, arguments).await;
    Value::Object(
        reply
            .unwrap_or_else(|error| panic!("{name}: {error:?}"))
            .structured,
    )
}

async fn code(host: &Host, name: &str, arguments: Value) -> &'static str {
    call(host, name, arguments)
        .await
        .expect_err("it is refused")
        .code
        .as_str()
}

#[tokio::test(flavor = "multi_thread")]
async fn javascript_example_reading_builds_and_runs() {
    if !has_javascript() {
        return;
    }
    let project = copy("javascript");
    succeed(author("npm", &project).arg("test"));
    succeed(author("npm", &project).args(["run", "build"]));

    let place = Place::new();
    place.write(
        "Work/Plan.md",
        "---\ntags: [a]\n---\nRead [[Other|this]] now, и это.\n",
    );
    place.write("喫茶店.md", "今日は雨。\n");
    place.write("bad.md", b"\xff\xfe");
    let host = host(&place, "reading", project.join("dist/reading.wasm")).await;

    let note = answer(&host, "reading.note", json!({"path": "plan"})).await;
    assert_eq!(
        (&note["path"], &note["words"], &note["minutes"]),
        (&json!("Work/Plan.md"), &json!(5), &json!(1))
    );
    assert_eq!(
        answer(&host, "reading.note", json!({"path": "喫茶店"})).await["words"],
        4
    );
    assert_eq!(
        code(&host, "reading.note", json!({"path": "nobody"})).await,
        "not_found"
    );
    assert_eq!(
        code(&host, "reading.note", json!({"path": "bad"})).await,
        "unsupported"
    );
    assert_eq!(
        code(&host, "reading.note", json!({"path": "plan", "pace": 1})).await,
        "validation_error"
    );
    let longest = answer(&host, "reading.longest", json!({"folder": ""})).await;
    assert_eq!(
        (&longest["notes"], &longest["items"][0]["path"]),
        (&json!(2), &json!("Work/Plan.md"))
    );

    let stamped = answer(&host, "reading.stamp", json!({"path": "Plan"})).await;
    assert_eq!(stamped["changes"][0]["path"], "Work/Plan.md", "{stamped}");
    let text = place.read("Work/Plan.md").expect("the note");
    assert_eq!(
        String::from_utf8_lossy(&text),
        "---\ntags: [a]\nreading_minutes: 1\n---\nRead [[Other|this]] now, и это.\n"
    );
    // A previewed change is not written.
    let preview = answer(
        &host,
        "reading.stamp",
        json!({"path": "喫茶店", "dry_run": true}),
    )
    .await;
    assert!(
        preview["changes"][0]["diff"]
            .as_str()
            .is_some_and(|diff| diff.contains("+reading_minutes")),
        "{preview}"
    );
    assert_eq!(
        place.read("喫茶店.md").expect("the note"),
        "今日は雨。\n".as_bytes()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn python_example_agenda_builds_and_runs() {
    if python_environment().is_none() {
        return;
    }
    let project = copy("python");
    succeed(author("python3", &project).args(["-m", "unittest"]));
    succeed(author("python3", &project).arg("build.py"));

    let place = Place::new();
    place.write(
        "Work/Plan.md",
        "- [ ] call Hana 📅 2026-05-03\r\n- [ ] no date\r\n",
    );
    place.write("Home.md", "- [ ] rent (due: 2026-04-30)\n");
    place.write("bad.md", b"\xff\xfe");
    let host = host(&place, "agenda", project.join("dist/agenda.wasm")).await;

    let listed = answer(&host, "agenda.list", json!({})).await;
    assert_eq!(
        (&listed["today"], &listed["overdue"]),
        (&json!("2026-05-02"), &json!(1)),
        "{listed}"
    );
    let texts: Vec<&str> = listed["items"]
        .as_array()
        .expect("items")
        .iter()
        .filter_map(|task| task["text"].as_str())
        .collect();
    assert_eq!(texts, ["rent", "call Hana"]);
    assert_eq!(
        code(&host, "agenda.list", json!({"until": "2026-02-31"})).await,
        "validation_error"
    );
    assert_eq!(
        code(&host, "agenda.finish", json!({"path": "plan", "line": 2})).await,
        "not_found"
    );
    assert_eq!(
        code(&host, "agenda.finish", json!({"path": "nobody", "line": 2})).await,
        "not_found"
    );

    let finished = answer(
        &host,
        "agenda.finish",
        json!({"path": "plan", "line": 1, "text": "call Hana"}),
    )
    .await;
    assert_eq!(finished["changes"][0]["added"], 1, "{finished}");
    let text = place.read("Work/Plan.md").expect("the note");
    assert_eq!(
        String::from_utf8_lossy(&text),
        "- [x] call Hana 📅 2026-05-03\r\n- [ ] no date\r\n"
    );
    let published = answer(&host, "agenda.publish", json!({})).await;
    assert_eq!(
        (&published["tasks"], &published["changes"][0]["kind"]),
        (&json!(1), &json!("create")),
        "{published}"
    );
    let text = place.read("Agenda.md").expect("the note");
    assert_eq!(
        String::from_utf8_lossy(&text),
        "# Agenda of 2026-05-02\n\n## 2026-04-30 (overdue)\n\n- rent ([[Home]])\n"
    );
}
