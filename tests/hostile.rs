//! Enemies: the guests of `tests/guests`, set on a real host. Whatever they do ends in an error of the right kind,
//! changes nothing in the vault or outside of it, and leaves other callers alone.
//!
//! `limits`: using up what a call is given. `reach`: reaching for what it was not given. `answers`: answering
//! nonsense. `crowd`: a hundred at once, and callers who give up. `load`: components that must not be let in.

mod answers;
mod crowd;
mod limits;
mod load;
mod reach;

use std::sync::Arc;

use notehost::config::{GrantSettings, Settings};
use notehost::dispatch::{CallError, Host, Reply};
use notehost::vault::Tier;
use serde_json::{Value, json};

use crate::support::guests::guest;
use crate::support::place::{Place, call, component};
use crate::support::snapshot::Snapshot;

/// Words that stand only where the enemy may not look.
const SECRETS: [&str; 3] = ["xyzzy", "plugh", "frotz"];

/// A vault worth attacking, with the enemy let in.
struct Arena {
    place: Place,
    host: Arc<Host>,
    before: Snapshot,
}

impl Arena {
    /// The enemy may write in `Open`, and see nothing else.
    async fn new() -> Arena {
        Arena::with(|_| {}).await
    }

    /// The same, with other settings.
    async fn with(change: impl FnOnce(&mut Settings)) -> Arena {
        let place = treasury();
        let mut settings = settings(&place);
        change(&mut settings);
        let host = place.host(settings).await;
        assert!(
            host.registry().snapshot().broken().is_empty(),
            "the enemy is let in"
        );
        let before = place.snapshot();
        Arena {
            place,
            host,
            before,
        }
    }

    async fn attack(&self, action: &str, arguments: Value) -> Result<Reply, CallError> {
        call(&self.host, &format!("hostile.{action}"), arguments).await
    }

    /// An attack that must fail.
    async fn refused(&self, action: &str) -> CallError {
        let arguments = json!({"path": "Open/Note.md"});
        self.attack(action, arguments)
            .await
            .expect_err("the attack fails")
    }

    /// Nothing changed, and others go on.
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

/// A vault with an open folder, secrets beside it, and doors painted on its walls.
fn treasury() -> Place {
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
    // Enemies fail again and again here; what happens to them for it is seen elsewhere.
    settings.supervision.strikes = 0;
    settings.limits.call_ms = 60_000;
    settings.limits.host_calls = 20_000;
    settings.limits.staged_bytes = 8 << 20;
    settings.limits.store_bytes = 2 << 20;
    settings
}
