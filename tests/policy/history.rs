//! Changes can be listed across notes, also while a server runs, and undone to the byte.

use serde_json::{Value, json};

use super::setup::{RunResult, audit, over_stdio, place_with_notes, program, run, stop};
use crate::support::client::{Client, error_code};
use crate::support::place::Place;

/// Mixed line ends, no final line feed, multi-byte characters.
const UNUSUAL_BYTES: &[u8] = "# Grüße\r\n\r\nzwei\n\u{feff}drei".as_bytes();

fn history(place: &Place, arguments: &[&str]) -> RunResult {
    run(&mut program(place, &[&["history"], arguments].concat()))
}

#[track_caller]
fn items(place: &Place, arguments: &[&str]) -> Vec<Value> {
    let listed = history(place, arguments);
    assert_eq!(listed.code, Some(0), "{listed:#?}");
    listed.json()["items"].as_array().expect("a list").clone()
}

/// Makes a call that changes something; returns the change id.
#[track_caller]
fn change(client: &mut Client, name: &str, arguments: Value) -> String {
    let result = client.call(name, arguments);
    assert_eq!(error_code(&result), None, "{result}");
    let change = &result["structuredContent"]["change"];
    change
        .as_str()
        .unwrap_or_else(|| panic!("a change: {result}"))
        .to_owned()
}

#[test]
fn changes_can_be_listed_and_shown_while_a_server_runs() {
    let place = place_with_notes(|_| ());
    place.write("Work/Letter.md", UNUSUAL_BYTES);
    let mut client = over_stdio(&place);
    let created = change(
        &mut client,
        "document.create",
        json!({"path": "Diary/One.md", "content": "first\n"}),
    );
    let appended = change(
        &mut client,
        "document.append",
        json!({"path": "Work/Letter", "text": "vier"}),
    );
    let renamed = change(
        &mut client,
        "document.rename",
        json!({"path": "Diary/One", "to": "Two"}),
    );

    let ids = |arguments: &[&str]| -> Vec<String> {
        let named = |item: &Value| item["change"].as_str().unwrap_or_default().to_owned();
        items(&place, arguments).iter().map(named).collect()
    };
    assert_eq!(
        ids(&["list"]),
        [&*renamed, &*appended, &*created],
        "the latest first, across notes"
    );
    assert_eq!(ids(&["list", "--limit", "1"]), [&*renamed]);
    assert_eq!(ids(&["list", "--path", "Work/Letter"]), [&*appended]);
    assert_eq!(
        ids(&["list", "--path", "Diary/Two.md"]),
        [&*renamed, &*created],
        "also under its earlier name"
    );
    assert_eq!(ids(&["list", "--path", "Diary"]), [&*renamed, &*created]);
    assert_eq!(ids(&["list", "--caller", "stdio"]).len(), 3);
    assert_eq!(ids(&["list", "--caller", "somebody"]).len(), 0);
    assert_eq!(ids(&["list", "--since", "1h"]).len(), 3);
    assert_eq!(ids(&["list", "--since", "0s"]).len(), 0);
    let item = items(&place, &["list", "--limit", "1"]).remove(0);
    assert_eq!(
        (&item["caller"], &item["action"]),
        (&json!("stdio (tests)"), &json!("document.rename"))
    );
    assert_eq!(item["files"][0]["from"], "Diary/One.md");

    let shown = history(&place, &["show", &appended]).json();
    assert_eq!(shown["files"].as_array().map(Vec::len), Some(1), "{shown}");
    let diff = shown["files"][0]["diff"].as_str().unwrap_or_default();
    assert!(
        diff.contains("+vier") && diff.contains("--- a/Work/Letter.md"),
        "{diff}"
    );

    for (arguments, expected) in [
        (&["show", "nonsense"][..], "unknown change `nonsense`"),
        (&["undo", "nonsense"], "unknown change `nonsense`"),
        (&["list", "--path", "Work/Never.md"], "Work/Never.md"),
    ] {
        let result = history(&place, arguments);
        assert_eq!(result.code, Some(1), "{result:#?}");
        assert!(result.errors.contains(expected), "{result:#?}");
    }
}

#[test]
fn undo_restores_every_byte() {
    let place = place_with_notes(|_| ());
    place.write("Work/Letter.md", UNUSUAL_BYTES);
    place.write("Work/Index.md", "see [[Letter]]\n");
    let before = (place.read("Work/Letter.md"), place.read("Work/Index.md"));
    let mut client = over_stdio(&place);
    let moved = change(
        &mut client,
        "document.rename",
        json!({"path": "Work/Letter", "to": "Brief"}),
    );
    assert_eq!(place.read("Work/Letter.md"), None);
    assert_eq!(
        place.read("Work/Index.md").as_deref(),
        Some(&b"see [[Brief]]\n"[..])
    );
    let created = change(
        &mut client,
        "document.create",
        json!({"path": "Diary/One.md", "content": "first\n"}),
    );

    // The server holds the lock: it undoes the change.
    let extra = change(
        &mut client,
        "document.create",
        json!({"path": "Diary/Extra.md", "content": "more\n"}),
    );
    let beside = history(&place, &["undo", &extra]);
    assert_eq!(beside.code, Some(0), "{beside:#?}");
    assert_eq!(beside.json()["undoes"], extra.as_str());
    assert!(beside.json()["change"].is_string(), "{beside:#?}");
    assert_eq!(place.read("Diary/Extra.md"), None);
    // A preview needs no lock.
    let snapshot = place.snapshot();
    let shown = history(&place, &["undo", &moved, "--dry-run"]);
    assert_eq!(shown.code, Some(0), "{shown:#?}");
    assert_eq!(shown.json()["dry_run"], true);
    assert!(
        shown.json().to_string().contains("Work/Letter.md"),
        "{shown:#?}"
    );
    place.snapshot().assert_same_as(&snapshot);
    stop(client.process());

    for id in [&moved, &created] {
        let undone = history(&place, &["undo", id]);
        assert_eq!(undone.code, Some(0), "{undone:#?}");
        assert_eq!(undone.json()["undoes"], id.as_str());
        assert!(undone.json()["change"].is_string(), "{undone:#?}");
    }
    assert_eq!(
        (place.read("Work/Letter.md"), place.read("Work/Index.md")),
        before
    );
    assert_eq!(place.read("Work/Brief.md"), None);
    assert_eq!(place.read("Diary/One.md"), None);

    let latest = items(&place, &["list"]);
    assert_eq!(latest[0]["undoes"], created.as_str());
    assert_eq!(
        (&latest[0]["caller"], &latest[0]["action"]),
        (&json!("cli"), &json!("history.undo"))
    );
    assert_eq!(
        (&latest[2]["undoes"], &latest[3]["undone"]),
        (&json!(extra), &json!(true))
    );
    let again = history(&place, &["undo", &moved]);
    assert_eq!(again.code, Some(1), "{again:#?}");
    assert!(again.errors.contains("undone already"), "{again:#?}");
    // An undo is a regular change: it is recorded, and can be undone.
    let rows = audit(&place, &["--domain", "history", "--transport", "cli"]);
    let outcomes: Vec<&str> = rows
        .iter()
        .filter_map(|row| row["outcome"].as_str())
        .collect();
    assert_eq!(outcomes, ["ok", "ok", "ok", "conflict"]);
    let redone = history(
        &place,
        &["undo", latest[0]["change"].as_str().unwrap_or_default()],
    );
    assert_eq!(redone.code, Some(0), "{redone:#?}");
    assert_eq!(place.read("Diary/One.md").as_deref(), Some(&b"first\n"[..]));
}

#[test]
fn undo_respects_permissions_and_conflicts() {
    let place = place_with_notes(|_| ());
    let mut client = over_stdio(&place);
    let id = change(
        &mut client,
        "document.append",
        json!({"path": "Work/Plan", "text": "more"}),
    );
    stop(client.process());
    let snapshot = place.snapshot();
    let refused = |settings: notehost::config::Settings, expected: &str| {
        place.config_file(&settings);
        let result = history(&place, &["undo", &id]);
        assert_eq!(result.code, Some(1), "{result:#?}");
        assert!(result.errors.contains(expected), "{result:#?}");
        place.snapshot().assert_same_as(&snapshot);
    };
    let mut settings = place.settings();
    settings
        .permissions
        .notebooks
        .insert("Work".into(), notehost::vault::Tier::Read);
    refused(settings, "may not write");
    let mut settings = place.settings();
    settings.read_only = true;
    refused(settings, "read-only");
    // Changes of hidden notes are not found.
    let mut settings = place.settings();
    settings
        .permissions
        .notebooks
        .insert("Work".into(), notehost::vault::Tier::None);
    refused(settings, "unknown change");
    // The note was changed since.
    place.config_file(&place.settings());
    place.write("Work/Plan.md", "written by hand\n");
    let result = history(&place, &["undo", &id]);
    assert_eq!(result.code, Some(1), "{result:#?}");
    assert_eq!(
        place.read("Work/Plan.md").as_deref(),
        Some(&b"written by hand\n"[..])
    );
}

#[test]
fn retention_is_fair_between_callers() {
    let place = place_with_notes(|settings| settings.history.keep_bytes = 400_000);
    let before = place.read("Work/Plan.md");
    let args = [
        "call",
        "document",
        "append",
        "--path",
        "Work/Plan",
        "--text",
        "mine",
    ];
    let appended = run(&mut program(&place, &args));
    assert_eq!(appended.code, Some(0), "{appended:#?}");
    let mine = items(&place, &["list", "--limit", "1"]).remove(0);
    let mine = mine["change"].as_str().expect("a change").to_owned();
    let mut client = over_stdio(&place);
    let flood = |round: u32| -> String {
        let numbers = (0..8000)
            .map(|number: u32| format!("{:x} ", number.wrapping_mul(2_654_435_761) ^ round));
        numbers.collect()
    };
    let mut latest = String::new();
    for round in 0..20 {
        let text = flood(round);
        let arguments = json!({"path": "Work/Old", "text": text});
        latest = change(&mut client, "document.append", arguments);
    }
    stop(client.process());
    let kept: Vec<Value> = items(&place, &["list", "--limit", "100"]);
    assert!(
        kept.len() < 21,
        "the oldest of the flood are gone: {}",
        kept.len()
    );
    // Undoing the flood is also a large change of its caller, so undo the small one first.
    for id in [&mine, &latest] {
        let undone = history(&place, &["undo", id]);
        assert_eq!(undone.code, Some(0), "{undone:#?}");
    }
    assert_eq!(place.read("Work/Plan.md"), before);
    assert!(
        !String::from_utf8_lossy(&place.read("Work/Old.md").unwrap_or_default())
            .contains(&flood(19)[..40])
    );
}

/// Changes are recorded with the name of the client, and are the caller's own under it.
#[test]
fn a_change_of_component_data_is_undone_by_its_caller_and_beside_a_server() {
    let place = place_with_notes(|_| ());
    let mut client = over_stdio(&place);
    let icon = |client: &mut Client| {
        let listed = client.call("notebook.list", json!({}));
        let items = listed["structuredContent"]["items"].clone();
        let items = items.as_array().expect("items").clone();
        let work = items.into_iter().find(|item| item["path"] == "Work");
        work.expect("the notebook")["icon"].clone()
    };
    let configure = json!({"notebook": "Work", "icon": "📘"});
    let first = change(&mut client, "notebook.configure", configure.clone());
    assert_eq!(icon(&mut client), "📘");
    change(&mut client, "document.undo", json!({"change": first}));
    assert_eq!(icon(&mut client), Value::Null);
    let second = change(&mut client, "notebook.configure", configure);
    let undone = history(&place, &["undo", &second]);
    assert_eq!(undone.code, Some(0), "{undone:#?}");
    assert_eq!(icon(&mut client), Value::Null);
    stop(client.process());
}

#[test]
fn a_run_of_a_caller_is_undone_as_one_change() {
    let place = place_with_notes(|_| ());
    let run_of = |arguments: &[&str]| {
        let span = ["undo", "--caller", "stdio", "--since", "1h"];
        history(&place, &[&span[..], arguments].concat())
    };
    let none = run_of(&["--yes"]);
    assert_eq!(none.code, Some(1), "{none:#?}");
    assert!(none.errors.contains("no changes by `stdio`"), "{none:#?}");

    let before = (place.read("Work/Plan.md"), place.read("Work/Old.md"));
    let mut client = over_stdio(&place);
    let mut changes = Vec::new();
    for (name, arguments) in [
        (
            "document.append",
            json!({"path": "Work/Plan", "text": "one"}),
        ),
        (
            "document.rename",
            json!({"path": "Work/Plan", "to": "Renamed"}),
        ),
        (
            "document.append",
            json!({"path": "Work/Old", "text": "two"}),
        ),
        (
            "document.create",
            json!({"path": "Diary/New", "content": "new\n"}),
        ),
    ] {
        changes.push(change(&mut client, name, arguments));
    }
    stop(client.process());
    place.write("Diary/New.md", "written by hand\n");
    let now = place.snapshot();

    // Nothing happens without a confirmation, and a preview lists the conflicts.
    let refused = run_of(&[]);
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    assert!(refused.errors.contains("--yes"), "{refused:#?}");
    let shown = run_of(&["--dry-run"]);
    assert_eq!(shown.code, Some(0), "{shown:#?}");
    let shown = shown.json();
    assert_eq!(shown["dry_run"], true);
    assert_eq!(
        shown["conflicts"],
        json!([{
            "path": "Diary/New.md",
            "change": changes[3],
            "reason": "changed by another program",
        }])
    );
    changes.reverse();
    assert_eq!(shown["undoes"], json!(changes));
    place.snapshot().assert_same_as(&now);

    let undone = run_of(&["--yes"]);
    assert_eq!(undone.code, Some(0), "{undone:#?}");
    assert_eq!(
        (place.read("Work/Plan.md"), place.read("Work/Old.md")),
        before
    );
    assert_eq!(place.read("Work/Renamed.md"), None);
    let by_hand = place.read("Diary/New.md");
    assert_eq!(by_hand.as_deref(), Some(&b"written by hand\n"[..]));
    let id = undone.json()["change"]
        .as_str()
        .expect("a change")
        .to_owned();
    let latest = items(&place, &["list"]);
    assert_eq!(
        (&latest[0]["change"], &latest[0]["caller"]),
        (&json!(id), &json!("cli"))
    );
    let is_undone = |item: &Value| item["undone"] == true;
    assert_eq!(latest.iter().filter(|item| is_undone(item)).count(), 3);

    // It is one change, and can be undone.
    let redone = history(&place, &["undo", &id]);
    assert_eq!(redone.code, Some(0), "{redone:#?}");
    assert!(place.read("Work/Renamed.md").is_some());
    assert_eq!(place.read("Work/Plan.md"), None);

    for (arguments, expected) in [
        (&["undo", "--caller", "stdio"][..], "--since"),
        (&["undo"], "CHANGE"),
        (
            &["undo", &id, "--caller", "stdio", "--since", "1h"],
            "cannot be used",
        ),
        (
            &[
                "undo", "--caller", "stdio", "--since", "1h", "--until", "2h",
            ],
            "before",
        ),
    ] {
        let wrong = history(&place, arguments);
        assert_eq!(wrong.code, Some(2), "{wrong:#?}");
        assert!(wrong.errors.contains(expected), "{wrong:#?}");
    }
}
