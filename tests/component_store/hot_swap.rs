//! Hot swaps while sixteen clients call: no call fails, every reply is of one version, and memory does not grow.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use notehost::config::{LimitSettings, TrustSettings};
use notehost::packages::Packages;
use notehost::registry::{Candidate, Offer};
use notehost::runtime::Runtime;
use serde_json::{Value, json};

use super::{Workspace, version};
use crate::support::http::{HttpClient, Server, wait_until};

const CLIENTS: usize = 16;
const SWAPS: usize = 24;
/// Allowed memory growth: allocator caches, but not one copy of a component per swap.
const MAX_GROWTH_BYTES: u64 = 48 << 20;

#[test]
fn hot_swaps_under_load_fail_no_call() {
    let workspace = Workspace::new();
    workspace.succeed(&["component", "add", &version("one")]);
    let config = workspace.config.as_deref().expect("a config");
    let mut settings = workspace.place.settings();
    // Sixteen clients exceed the default rate limits.
    settings.rates.read = 1_000_000;
    workspace.place.config_file(&settings);
    let mut server = Server::start(config, &workspace.place.state());
    let address = server.address().to_owned();
    let process = server.process().id();
    let installer = Installer::new(&workspace.place.state());

    let (stop, calls) = (AtomicBool::new(false), AtomicUsize::new(0));
    let seen = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                scope.spawn(|| {
                    let mut client = HttpClient::stateless(&address);
                    let mut seen = [0_usize; 3];
                    while !stop.load(Ordering::Relaxed) {
                        let answer = client.call("steady.say", json!({"text": "two words"}));
                        seen[of_one_version(&answer)] += 1;
                        calls.fetch_add(1, Ordering::Relaxed);
                    }
                    seen
                })
            })
            .collect();
        let mut asking = HttpClient::stateless(&address);
        let mut before = None;
        for swap in 0..SWAPS {
            let (name, expected) = if swap % 2 == 0 {
                ("two", 2)
            } else {
                ("one", 1)
            };
            installer.put(&version(name));
            wait_until("the other version answers", || {
                let answer = asking.call("steady.say", json!({"text": "two words"}));
                of_one_version(&answer) == expected
            });
            // The first swaps are a warm-up.
            if swap == 5 {
                before = Some(resident(process));
            }
        }
        stop.store(true, Ordering::Relaxed);
        let after = resident(process);
        let before = before.expect("it was measured");
        assert!(
            after < before + MAX_GROWTH_BYTES,
            "{before} bytes became {after}"
        );
        let seen = clients
            .into_iter()
            .map(|client| client.join().expect("no client failed"));
        seen.fold([0; 3], |sum, one| [0, sum[1] + one[1], sum[2] + one[2]])
    });
    assert!(
        seen[1] > 0 && seen[2] > 0,
        "both versions replied: {seen:?}"
    );
    assert_eq!(seen[1] + seen[2], calls.load(Ordering::Relaxed));
}

/// The version of a reply, which must be the same in every part.
#[track_caller]
fn of_one_version(answer: &Value) -> usize {
    assert_ne!(answer["isError"], true, "a call failed: {answer}");
    let reply = &answer["structuredContent"];
    match reply["version"].as_u64() {
        Some(1) => assert_eq!(
            (&reply["text"], &reply["words"]),
            (&json!("two words"), &Value::Null)
        ),
        Some(2) => assert_eq!(
            (&reply["text"], &reply["words"]),
            (&Value::Null, &json!(["two", "words"]))
        ),
        _ => panic!("an answer of no version: {answer}"),
    }
    if reply["version"] == 1 { 1 } else { 2 }
}

/// Installs like `notehost component upgrade`, without starting a program each time.
struct Installer {
    threads: tokio::runtime::Runtime,
    runtime: Runtime,
    state: std::path::PathBuf,
}

impl Installer {
    fn new(state: &Path) -> Installer {
        Installer {
            threads: tokio::runtime::Runtime::new().expect("threads"),
            runtime: Runtime::new(&LimitSettings::default(), &state.join("compiled"))
                .expect("a runtime"),
            state: state.to_owned(),
        }
    }

    fn put(&self, file: &str) {
        let examined = self.threads.block_on(async {
            let offer = Offer::fetch(file, None).await.expect("an offer");
            let trust = TrustSettings::default();
            Candidate::examine(offer, Some("steady"), &trust, &self.runtime, &self.state).await
        });
        let candidate = examined.expect("a candidate");
        let packages = Packages::of(&self.state);
        candidate.install(&packages, 0).expect("it is installed");
    }
}

/// Resident memory of a process.
fn resident(process: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/statm")).expect("a process");
    let pages = text.split_whitespace().nth(1).expect("a number");
    pages.parse::<u64>().expect("a number") * 4096
}
