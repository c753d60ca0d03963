//! Two hundred kills at random moments, with calls of three callers in flight.

use std::time::Duration;

use serde_json::json;

use super::notebooks::{
    Files, Oracle, assert_nothing_left_over, create_notebook, files, next_change,
};
use crate::support::client::Client;
use crate::support::place::Place;

const KILLS: usize = 200;
const NOTEBOOKS: [&str; 3] = ["Oak", "Elm", "Ash"];

#[tokio::test(flavor = "multi_thread")]
async fn random_kills_leave_transactions_atomic() {
    let place = Place::new();
    for notebook in NOTEBOOKS {
        create_notebook(&place, notebook);
    }
    let config = place.config_file(&place.settings());
    let oracle = Oracle::new().await;
    let mut known: Vec<Files> = NOTEBOOKS
        .iter()
        .map(|notebook| files(&place.vault(), notebook))
        .collect();
    let (mut there, mut absent) = (0, 0);
    for turn in 0..KILLS {
        let mut client = Client::start(&config, &place.state());
        // The component is loaded first, so that the kill happens during the changes.
        client.call("document.list", json!({"path": NOTEBOOKS[0], "limit": 1}));
        let changes: Vec<_> = NOTEBOOKS
            .iter()
            .zip(&known)
            .map(|(notebook, files)| next_change(notebook, files, turn))
            .collect();
        let sent: Vec<u64> = changes
            .iter()
            .map(|change| client.send_call(change.name, change.arguments.clone()))
            .collect();
        std::thread::sleep(random_delay());
        client.process().kill().expect("it can be killed");
        client.process().wait().expect("it ends");
        let answered: Vec<bool> = sent.iter().map(|id| client.has_answer(*id)).collect();
        drop(client);

        // A restart completes or rolls back the changes in flight.
        drop(Client::start(&config, &place.state()));
        assert_nothing_left_over(&place.vault());
        for (number, notebook) in NOTEBOOKS.iter().enumerate() {
            let now = files(&place.vault(), notebook);
            let after = oracle.after(&known[number], &changes[number]).await;
            if now == after {
                there += 1;
            } else {
                absent += 1;
                assert!(
                    !answered[number],
                    "turn {turn}: {:?} was answered and is not there",
                    changes[number]
                );
                assert_same(&now, &known[number], turn, notebook);
            }
            known[number] = now;
        }
    }
    println!("{KILLS} kills: {there} transactions wholly there, {absent} wholly absent");
    assert!(
        there > 0 && absent > 0,
        "the kills must hit both before and after"
    );
}

fn assert_same(now: &Files, before: &Files, turn: usize, notebook: &str) {
    let paths = now.keys().chain(before.keys());
    let torn: Vec<&String> = paths
        .filter(|path| now.get(*path) != before.get(*path))
        .collect();
    assert!(
        torn.is_empty(),
        "turn {turn}: {notebook} is partially changed: {torn:?}"
    );
}

/// A random duration around the length of a commit.
fn random_delay() -> Duration {
    use std::hash::{BuildHasher as _, RandomState};
    Duration::from_micros(RandomState::new().hash_one(()) % 40_000)
}
