//! Replays the transcripts in `tests/scenarios` through the real host with real components. Any difference fails;
//! `UPDATE=1` writes the current replies into the files, to be reviewed in the diff. `SCENARIO=rename` runs only the
//! files whose path contains this text.

use std::fmt::Write as _;

use similar::TextDiff;

use crate::support::repository;
use crate::transcript;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recorded_scenarios_match() {
    let folder = repository().join("tests/scenarios");
    let filter = std::env::var("SCENARIO").unwrap_or_default();
    let update = std::env::var_os("UPDATE").is_some();
    let mut failed = String::new();
    for file in transcript::files(&folder) {
        let name = file
            .strip_prefix(&folder)
            .expect("it is in the folder")
            .display()
            .to_string();
        if !name.contains(&filter) {
            continue;
        }
        let recorded = std::fs::read_to_string(&file).expect("a transcript");
        let text = recorded.clone();
        let played = match tokio::spawn(async move { transcript::replay(&text).await }).await {
            Ok(played) => played,
            Err(error) => {
                let _ = writeln!(failed, "{name}: {error}");
                continue;
            }
        };
        if played == recorded {
            continue;
        }
        if update {
            std::fs::write(&file, played).expect("the transcript can be written");
            continue;
        }
        let diff = TextDiff::from_lines(recorded.as_str(), played.as_str());
        let _ = writeln!(
            failed,
            "{}",
            diff.unified_diff().header(&name, "current replies")
        );
    }
    assert!(
        failed.is_empty(),
        "{failed}\nIf this is intended, run UPDATE=1 cargo test scenarios"
    );
}
