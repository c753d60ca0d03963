//! The process exits, or the disk is full, exactly at each step of commit and recovery.

use std::process::Command;

use notehost::vault::FAIL_POINTS;
use serde_json::json;

use super::notebooks::{
    Change, Files, Oracle, all_files, assert_nothing_left_over, create_notebook,
};
use crate::support::client::{Client, error_code};
use crate::support::place::Place;

const NOTEBOOK: &str = "Oak";

/// One change of each kind: several files with a rename, one file, a removal, a new file in a new folder, a whole
/// notebook, and a component's own store.
fn changes() -> Vec<Change> {
    let change = |name, arguments| Change { name, arguments };
    vec![
        change(
            "document.rename",
            json!({"path": "Oak hub 0", "to": "Oak hub 9"}),
        ),
        change(
            "document.append",
            json!({"path": "Oak 1", "text": "a line"}),
        ),
        change(
            "document.remove",
            json!({"paths": ["Oak 2", "Oak 3"], "links": "unlink"}),
        ),
        change(
            "document.create",
            json!({"path": "Oak/New/Folder/Note.md", "content": "text\n"}),
        ),
        change("notebook.rename", json!({"notebook": "Oak", "to": "Elm"})),
        change(
            "notebook.configure",
            json!({"notebook": "Oak", "description": "a tree"}),
        ),
    ]
}

fn place_with_notebook() -> (Place, std::path::PathBuf) {
    let place = Place::new();
    create_notebook(&place, NOTEBOOK);
    let config = place.config_file(&place.settings());
    (place, config)
}

fn start_with_variable(
    place: &Place,
    config: &std::path::Path,
    variable: &str,
    value: &str,
) -> Client {
    Client::spawn(
        Command::new(crate::support::program())
            .args(["serve", "--config"])
            .arg(config)
            .arg("--state")
            .arg(place.state())
            .env(variable, value),
    )
}

/// After a normal start the notebook is in the state before or after the change, and nothing is left over.
async fn assert_whole(
    place: &Place,
    config: &std::path::Path,
    oracle: &Oracle,
    before: &Files,
    change: &Change,
    what: &str,
) -> bool {
    drop(Client::start(config, &place.state()));
    assert_nothing_left_over(&place.vault());
    let now = all_files(&place.vault());
    let after = oracle.after(before, change).await;
    assert!(
        now == *before || now == after,
        "{what}: {} is partially applied",
        change.name
    );
    now == after
}

#[tokio::test(flavor = "multi_thread")]
async fn exit_at_any_commit_step_leaves_transactions_atomic() {
    let oracle = Oracle::new().await;
    let mut reached = Vec::new();
    for point in FAIL_POINTS
        .iter()
        .filter(|point| !point.starts_with("recover"))
    {
        for change in changes() {
            // Some steps occur several times in one commit; test the second time as well.
            for nth in 1..=2 {
                let (place, config) = place_with_notebook();
                let before = all_files(&place.vault());
                let what = format!("{point}:{nth}");
                let mut client = start_with_variable(&place, &config, "NOTEHOST_FAIL_POINT", &what);
                client.initialize();
                let id = client.send_call(change.name, change.arguments.clone());
                let answered = client.answer_or_exit(id);
                let ended = answered.is_none();
                drop(client);
                let there = assert_whole(&place, &config, &oracle, &before, &change, &what).await;
                assert!(
                    ended || there || before == all_files(&place.vault()),
                    "{what}"
                );
                if ended {
                    reached.push(*point);
                } else {
                    break;
                }
            }
        }
    }
    for point in FAIL_POINTS
        .iter()
        .filter(|point| point.starts_with("commit") || point.starts_with("apply"))
    {
        assert!(reached.contains(point), "no change reached {point}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn exit_at_any_recovery_step_is_recovered() {
    let oracle = Oracle::new().await;
    for point in FAIL_POINTS
        .iter()
        .filter(|point| point.starts_with("recover"))
    {
        let (place, config) = place_with_notebook();
        let before = all_files(&place.vault());
        let change = &changes()[0];
        let mut client = start_with_variable(
            &place,
            &config,
            "NOTEHOST_FAIL_POINT",
            "commit-journal-placed",
        );
        client.initialize();
        let id = client.send_call(change.name, change.arguments.clone());
        assert!(
            client.answer_or_exit(id).is_none(),
            "the journal is placed in every such commit"
        );
        drop(client);
        let mut recovering = start_with_variable(&place, &config, "NOTEHOST_FAIL_POINT", point);
        let status = recovering.process().wait().expect("it ends");
        assert!(!status.success(), "{point} is never reached");
        drop(recovering);
        let there = assert_whole(&place, &config, &oracle, &before, change, point).await;
        assert!(there, "{point}: a commit with a journal is finished");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn full_disk_at_any_step_leaves_transactions_atomic() {
    let oracle = Oracle::new().await;
    for point in FAIL_POINTS
        .iter()
        .filter(|point| point.starts_with("commit") || point.starts_with("apply"))
    {
        for change in changes() {
            let (place, config) = place_with_notebook();
            let before = all_files(&place.vault());
            let mut client = start_with_variable(&place, &config, "NOTEHOST_FAIL_ENOSPC", point);
            client.initialize();
            let result = client.call(change.name, change.arguments.clone());
            let failed = error_code(&result);
            let now = all_files(&place.vault());
            if failed.is_some() {
                assert_eq!(failed, Some("unavailable"), "{point}: {result}");
                assert!(
                    now == before,
                    "{point}: {} failed and changed something",
                    change.name
                );
            } else {
                let after = oracle.after(&before, &change).await;
                assert!(
                    now == after,
                    "{point}: {} was answered and is not there",
                    change.name
                );
            }
            // If the change did not reach the point, this one may. Afterwards the disk has space again.
            client.call("document.append", json!({"path": "Oak 5", "text": "more"}));
            let again = client.call("document.append", json!({"path": "Oak 5", "text": "more"}));
            assert_eq!(error_code(&again), None, "{point}: {again}");
            drop(client);
            drop(Client::start(&config, &place.state()));
            assert_nothing_left_over(&place.vault());
        }
    }
}
