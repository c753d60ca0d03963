//! A permission that is revoked during a call is gone at the call's next host call, and nothing that needs it is
//! committed: through the built program, over HTTP, with a guest that waits inside its call until it notices.

use std::path::PathBuf;

use notehost::config::{CallerSettings, ComponentSettings, GrantSettings, Settings};
use notehost::vault::Tier;
use serde_json::{Value, json};

use super::auth_setup::{self, code, settings_without_limits};
use crate::support::guests::guest;
use crate::support::http::{HttpClient, Server, wait_until};
use crate::support::place::{Place, component};
use crate::support::snapshot::Snapshot;

const NOTE: &str = "Open/Note.md";

/// A served vault with waiting calls.
struct RevocationSetup {
    place: Place,
    settings: Settings,
    server: Server,
    before: Snapshot,
}

impl RevocationSetup {
    fn new() -> RevocationSetup {
        let place = Place::new();
        place.write(NOTE, "an open note\n");
        place.write("Other/Note.md", "another one\n");
        let mut settings = settings_without_limits(&place);
        settings.limits.host_calls = 10_000_000;
        let grant = GrantSettings {
            write: vec!["**".into()],
            ..GrantSettings::default()
        };
        let lingering = component(guest("hostile"), grant);
        settings.components.insert("hostile".into(), lingering);
        let server = auth_setup::serve_open(&place, &settings);
        let before = place.snapshot();
        RevocationSetup {
            place,
            settings,
            server,
            before,
        }
    }

    fn client(&self) -> HttpClient {
        HttpClient::stateless(self.server.address())
    }

    /// Starts a call, and waits until the guest waits.
    fn begin(&self, action: &str, mut client: HttpClient) -> HttpClient {
        let waiting = self.log().matches("lingering").count();
        client.send_call(&format!("hostile.{action}"), json!({"path": NOTE}));
        wait_until("the call waits", || {
            self.log().matches("lingering").count() > waiting
        });
        client
    }

    /// Changes the config, as an editor would.
    fn change(&self, change: impl FnOnce(&mut Settings)) {
        let mut settings = self.settings.clone();
        change(&mut settings);
        self.place.config_file(&settings);
    }

    /// Restores the initial config.
    fn restore(&self) {
        self.change(|_| {});
        let mut client = self.client();
        wait_until("all is as before", || {
            let arguments = json!({"with": "access", "path": NOTE});
            let reached = client.call("hostile.reach_writing", arguments);
            reached["structuredContent"]["got"] == "rw"
        });
    }

    /// The component's log.
    fn log(&self) -> String {
        let file: PathBuf = self.place.state().join("logs/hostile.log");
        std::fs::read_to_string(file).unwrap_or_default()
    }

    #[track_caller]
    fn assert_untouched(&self) {
        self.place.snapshot().assert_same_as(&self.before);
    }

    /// The outcome of a read after `change` was applied.
    #[track_caller]
    fn read_after(&self, change: impl FnOnce(&mut Settings)) -> Value {
        let mut client = self.begin("linger_reading", self.client());
        self.change(change);
        let result = client.receive()["result"].take();
        assert_eq!(code(&result), "none", "{result}");
        self.restore();
        result["structuredContent"].clone()
    }

    /// A call that staged a note before `change` was applied: it gets this code from then on, or is aborted at once,
    /// and nothing is committed.
    #[track_caller]
    fn write_after(&self, expected_code: ExpectedCode, change: impl FnOnce(&mut Settings)) {
        let ExpectedCode(expected, survives) = expected_code;
        let line = format!("write {expected}, create {expected}");
        let before = self.log().matches(&line).count();
        let mut client = self.begin("linger_writing", self.client());
        self.change(change);
        let result = client.receive()["result"].take();
        assert_eq!(code(&result), expected, "{result}");
        self.assert_untouched();
        if survives {
            wait_until(&line, || self.log().matches(&line).count() > before);
        }
        self.restore();
    }
}

/// The expected error code, and whether the guest survives to get it.
struct ExpectedCode(&'static str, bool);

fn hide(settings: &mut Settings) {
    let notebooks = &mut settings.permissions.notebooks;
    notebooks.insert("Open".into(), Tier::None);
}

fn hostile_component(settings: &mut Settings) -> &mut ComponentSettings {
    settings
        .components
        .get_mut("hostile")
        .expect("the hostile guest")
}

fn gone() -> Value {
    json!({
        "before": "ok", "read": "not_found", "stat": "not_found", "access": "none", "listed": 0, "found": 0,
    })
}

#[test]
fn notes_hidden_during_a_call_are_not_found() {
    let setup = RevocationSetup::new();
    assert_eq!(setup.read_after(hide), gone(), "by permission");
    let of_caller = |settings: &mut Settings| {
        let mut own = CallerSettings::default();
        let notebooks = &mut own.permissions.notebooks;
        notebooks.insert("Open".into(), Tier::None);
        settings.callers.insert("http".into(), own);
    };
    assert_eq!(setup.read_after(of_caller), gone(), "for this caller");
    let regrant =
        |settings: &mut Settings| hostile_component(settings).grant.write = vec!["Other/**".into()];
    assert_eq!(setup.read_after(regrant), gone(), "by the grant");
}

#[test]
fn staged_writes_are_dropped_when_permission_is_revoked() {
    let setup = RevocationSetup::new();
    setup.write_after(ExpectedCode("permission_denied", true), |settings| {
        let notebooks = &mut settings.permissions.notebooks;
        notebooks.insert("Open".into(), Tier::Read);
    });
    setup.write_after(ExpectedCode("permission_denied", true), |settings| {
        hostile_component(settings).grant = GrantSettings {
            read: vec!["**".into()],
            ..GrantSettings::default()
        };
    });
    // The kill switch, for all vaults and for one.
    setup.write_after(ExpectedCode("read_only", true), |settings| {
        settings.read_only = true
    });
    setup.write_after(ExpectedCode("read_only", true), |settings| {
        settings.vaults[0].read_only = true;
    });
    setup.write_after(ExpectedCode("forbidden", false), |settings| {
        let own = CallerSettings {
            scopes: Some(vec!["read".into()]),
            ..CallerSettings::default()
        };
        settings.callers.insert("http".into(), own);
    });
}

#[test]
fn disabling_a_component_or_action_ends_its_calls() {
    let setup = RevocationSetup::new();
    for words in [&["hostile"][..], &["hostile", "linger_writing"]] {
        let mut client = setup.begin("linger_writing", setup.client());
        let disable = [
            &["component", "disable"],
            words,
            &["--because", "it lingers"],
        ]
        .concat();
        let outcome = auth_setup::run(&setup.place, &disable);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        let result = client.receive()["result"].take();
        assert_eq!(code(&result), "disabled", "{result}");
        let message = &result["structuredContent"]["error"]["message"];
        let message = message.as_str().expect("a message");
        assert!(message.contains("while the call ran"), "{message}");
        assert!(message.ends_with(": it lingers"), "{message}");
        setup.assert_untouched();
        setup.restore();
    }
}

#[test]
fn revoking_a_token_ends_its_calls() {
    let setup = RevocationSetup::new();
    let token = |name: &str| auth_setup::token(&setup.place, name, &["--scopes", "read,write"]);
    let (phone, desk_token) = (token("phone"), token("desk"));
    let mut client = setup.begin("linger_writing", setup.client().with_token(&phone));
    auth_setup::revoke(&setup.place, "phone");
    let result = client.receive()["result"].take();
    assert_eq!(code(&result), "unauthorized", "{result}");
    setup.assert_untouched();
    // Calls of others are not affected.
    let mut other = setup.client().with_token(&desk_token);
    let read = other.call("document.read", json!({"path": NOTE}));
    assert_eq!(code(&read), "none", "{read}");
}

#[test]
fn unrelated_changes_do_not_affect_a_call() {
    let setup = RevocationSetup::new();
    let mut client = setup.begin("linger_reading", setup.client());
    let other = |settings: &mut Settings| {
        settings.limits.reply_tokens = 20_000;
        let notebooks = &mut settings.permissions.notebooks;
        notebooks.insert("Other".into(), Tier::None);
    };
    setup.change(other);
    setup.server.wait_for_log("the config file was reloaded");
    // It still waits, and sees the same: only now one of its permissions is revoked.
    setup.change(|settings| {
        other(settings);
        let notebooks = &mut settings.permissions.notebooks;
        notebooks.insert("Open".into(), Tier::Read);
    });
    let result = client.receive()["result"].take();
    let seen = json!({
        "before": "ok", "read": "ok", "stat": "ok", "access": "r", "listed": 1, "found": 1,
    });
    assert_eq!(result["structuredContent"], seen, "{result}");
}
