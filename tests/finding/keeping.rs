//! The index on disk: what a restart takes up, what the command line says of it, what is left out of it.

use serde_json::{Value, json};

use super::{asked, complete, paths, run, served};
use crate::support::place::Place;

fn printed(output: &std::process::Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn the_command_line_shows_and_rebuilds_it() {
    let place = Place::new();
    for number in 0..20 {
        place.write(
            &format!("Work/{number}.md"),
            "wombat [[0]] #tag\n- [ ] task\n",
        );
    }
    let (config, state) = (place.config_file(&place.settings()), place.state());
    let status = |words: &[&str]| printed(&run(&config, &state, words))["vaults"][0].clone();
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
    // Without a server a call reads what changed before it answers.
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
    // Beside a server the rebuild is left to it.
    let mut client = served(&place);
    complete(&mut client);
    status(&["index", "rebuild"]);
    complete(&mut client);
    let found = asked(
        &mut client,
        "search",
        json!({"action": "text", "query": "wombat"}),
    );
    assert_eq!(found["total"], 21);
}

#[test]
fn a_restart_takes_up_what_is_there_and_reads_what_changed() {
    let place = Place::new();
    for number in 0..50 {
        place.write(&format!("Work/{number}.md"), format!("wombat w{number}\n"));
    }
    {
        let mut client = served(&place);
        complete(&mut client);
    }
    place.write("Work/7.md", "quokka\n");
    place.write("Work/new.md", "wombat quokka\n");
    std::fs::remove_file(place.vault().join("Work/8.md")).expect("it was there");
    let mut client = served(&place);
    complete(&mut client);
    let wombats = asked(
        &mut client,
        "search",
        json!({"action": "text", "query": "wombat"}),
    );
    assert_eq!(wombats["total"], 49);
    let quokkas = asked(
        &mut client,
        "search",
        json!({"action": "text", "query": "quokka", "sort": "path"}),
    );
    assert_eq!(paths(&quokkas), ["Work/7.md", "Work/new.md"]);
}

#[test]
fn the_doctor_tells_of_copies_placeholders_and_what_is_left_out() {
    let place = Place::new();
    place.write("Plan.md", "x\n");
    place.write("Plan.sync-conflict-20240131-101010-ABCDEFG.md", "x\n");
    place.write("Work/.Far.md.icloud", "x");
    place.write("Old/Note.md", "x\n");
    place.write(".notehostignore", "Old/\n");
    let (config, state) = (place.config_file(&place.settings()), place.state());
    let output = run(&config, &state, &["doctor"]);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    for words in [
        "Plan.sync-conflict",
        "only in the cloud",
        "Work/Far.md",
        "Old/Note.md",
        "excluded from searches",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
}
