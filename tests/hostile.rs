//! The hostile guests of `tests/guests` on a real host. Whatever they do ends in an error of the right kind, changes
//! nothing in the vault or outside of it, and does not affect other callers.
//!
//! `limits`: resource exhaustion. `access`: access beyond the grant. `replies`: invalid replies. `concurrent_guests`: a
//! hundred guests at once, and cancelled calls. `loading`: components that must not be loaded.

mod access;
mod concurrent_guests;
mod limits;
mod loading;
mod replies;

use std::sync::Arc;

use notehost::config::{GrantSettings, Settings};
use notehost::dispatch::{CallError, Host, Reply};
use notehost::vault::Tier;
use serde_json::{Value, json};

use crate::support::guests::guest;
use crate::support::place::{Place, call, component};
use crate::support::snapshot::Snapshot;

/// Words that occur only where the guest has no access.
const SECRETS: [&str; 3] = ["xyzzy", "plugh", "frotz"];

/// A vault with secrets, and a host with the hostile guest loaded.
struct AttackSetup {
    place: Place,
    host: Arc<Host>,
    before: Snapshot,
}

impl AttackSetup {
    /// The guest may write in `Open`, and see nothing else.
    async fn new() -> AttackSetup {
        AttackSetup::with(|_| {}).await
    }

    /// The same, with changed settings.
    async fn with(change: impl FnOnce(&mut Settings)) -> AttackSetup {
        let place = vault_with_secrets();
        let mut settings = settings(&place);
        change(&mut settings);
        let host = place.host(settings).await;
        assert!(
            host.registry().snapshot().broken().is_empty(),
            "the hostile guest is loaded"
        );
        let before = place.snapshot();
        AttackSetup {
            place,
            host,
            before,
        }
    }

    async fn attack(&self, action: &str, arguments: Value) -> Result<Reply, CallError> {
        call(&self.host, &format!("hostile.{action}"), arguments).await
    }

    /// Runs an attack that must fail.
    async fn refused(&self, action: &str) -> CallError {
        let arguments = json!({"path": "Open/Note.md"});
        self.attack(action, arguments)
            .await
            .expect_err("the attack fails")
    }

    /// Asserts that nothing changed, and that other calls work.
    #[track_caller]
    fn assert_untouched(&self) {
        self.place.snapshot().assert_same_as(&self.before);
    }

    async fn assert_unharmed(&self) {
        let read = call(&self.host, "document.read", json!({"path": "Open/Note.md"})).await;
        let read = read.expect("others go on");
        assert_eq!(read.structured["content"], "an open note\n");
        self.assert_untouched();
    }
}

/// A vault with an open folder, secrets beside it, and misleading names.
fn vault_with_secrets() -> Place {
    let place = Place::new();
    place.write("Open/Note.md", "an open note\n");
    place.write("Open/Other.md", "another one\n");
    place.write("Closed/Secret.md", "the word is xyzzy\n");
    place.write("Hidden/Diary.md", "the word is frotz\n");
    place.write(".obsidian/app.json", r#"{"word": "xyzzy"}"#);
    place.write(".git/config", "xyzzy");
    place.write(".trash/Old.md", "xyzzy");
    place.write("Open/.hidden/Note.md", "xyzzy");
    std::fs::write(place.outside().join("secret.md"), "the word is plugh\n")
        .expect("a file outside");
    place.link("Open/Away", place.outside());
    place.link("Open/Away.md", place.outside().join("secret.md"));
    place.link("Open/Relative.md", "../../outside/secret.md");
    place.link("Open/Inner.md", "../Closed/Secret.md");
    place.link("Open/Inner", "../Closed");
    place.link("Open/Loop.md", "Loop.md");
    place
}

fn settings(place: &Place) -> Settings {
    let mut settings = place.settings();
    settings
        .permissions
        .notebooks
        .insert("Hidden".into(), Tier::None);
    let grant = GrantSettings {
        write: vec!["Open/**".into()],
        ..GrantSettings::default()
    };
    settings
        .components
        .insert("hostile".into(), component(guest("hostile"), grant));
    // The guest fails repeatedly here; the circuit breaker is tested elsewhere.
    settings.supervision.strikes = 0;
    settings.limits.call_ms = 60_000;
    settings.limits.host_calls = 20_000;
    settings.limits.staged_bytes = 8 << 20;
    settings.limits.store_bytes = 2 << 20;
    settings
}
