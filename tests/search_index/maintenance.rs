//! The index on disk: reuse after a restart, index commands, ignored notes.

use serde_json::{Value, json};

use super::{paths, reply_of, run, start_client, wait_for_index};
use crate::support::place::Place;

fn printed(output: &std::process::Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn index_status_and_rebuild_commands_work() {
    let place = Place::new();
    for number in 0..20 {
        place.write(
            &format!("Work/{number}.md"),
            "wombat [[0]] #tag\n- [ ] task\n",
        );
    }
    let (config, state) = (place.config_file(&place.settings()), place.state());
    let status =
        |arguments: &[&str]| printed(&run(&config, &state, arguments))["vaults"][0].clone();
    assert_eq!(status(&["index", "status"])["state"], "missing");
    let built = status(&["index", "rebuild"]);
    assert_eq!(
        (&built["state"], &built["notes"]),
        (&json!("current"), &json!(20))
    );
    assert_eq!((&built["links"], &built["tasks"]), (&json!(20), &json!(20)));
    place.write("Work/new.md", "wombat\n");
    let stale = status(&["index", "status"]);
    assert_eq!(
        (&stale["state"], &stale["changed"]),
        (&json!("stale"), &json!(1))
    );
    // Without a server, a call reads changed notes before it replies.
    let found = printed(&run(
        &config,
        &state,
        &[
            "call",
            "search",
            "text",
            "--query",
            "wombat",
            "--json-output",
        ],
    ));
    assert_eq!(found["total"], 21);
    // If a server runs, the server does the rebuild.
    let mut client = start_client(&place);
    wait_for_index(&mut client);
    status(&["index", "rebuild"]);
    wait_for_index(&mut client);
    let found = reply_of(
        &mut client,
        "search",
        json!({"action": "text", "query": "wombat"}),
    );
    assert_eq!(found["total"], 21);
}

#[test]
fn restart_reuses_the_index_and_reads_only_changes() {
    let place = Place::new();
    for number in 0..50 {
        place.write(&format!("Work/{number}.md"), format!("wombat w{number}\n"));
    }
    {
        let mut client = start_client(&place);
        wait_for_index(&mut client);
    }
    place.write("Work/7.md", "quokka\n");
    place.write("Work/new.md", "wombat quokka\n");
    std::fs::remove_file(place.vault().join("Work/8.md")).expect("it was there");
    let mut client = start_client(&place);
    wait_for_index(&mut client);
    let wombats = reply_of(
        &mut client,
        "search",
        json!({"action": "text", "query": "wombat"}),
    );
    assert_eq!(wombats["total"], 49);
    let quokkas = reply_of(
        &mut client,
        "search",
        json!({"action": "text", "query": "quokka", "sort": "path"}),
    );
    assert_eq!(paths(&quokkas), ["Work/7.md", "Work/new.md"]);
}

#[test]
fn doctor_reports_sync_conflicts_placeholders_and_ignored_notes() {
    let place = Place::new();
    place.write("Plan.md", "x\n");
    place.write("Plan.sync-conflict-20240131-101010-ABCDEFG.md", "x\n");
    place.write("Work/.Far.md.icloud", "x");
    place.write("Old/Note.md", "x\n");
    place.write(".notehostignore", "Old/\n");
    let (config, state) = (place.config_file(&place.settings()), place.state());
    let output = run(&config, &state, &["doctor"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for words in [
        "Plan.sync-conflict",
        "only in the cloud",
        "Work/Far.md",
        "Old/Note.md",
        "excluded from searches",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}
