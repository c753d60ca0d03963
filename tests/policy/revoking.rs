//! What is taken away while a call runs is gone at its next host call, and nothing lands that needs it: through the built
//! program, over HTTP, with a guest that waits in the middle of its call until it notices.

use std::path::PathBuf;

use notehost::config::{CallerSettings, ComponentSettings, GrantSettings, Settings};
use notehost::vault::Tier;
use serde_json::{Value, json};

use super::door::{self, code, unhurried};
use crate::support::guests::guest;
use crate::support::http::{HttpClient, Server, wait_until};
use crate::support::place::{Place, component};
use crate::support::snapshot::Snapshot;

const NOTE: &str = "Open/Note.md";

/// A served vault, in which calls wait.
struct Stage {
    place: Place,
    settings: Settings,
    server: Server,
    before: Snapshot,
}

impl Stage {
    fn new() -> Stage {
        let place = Place::new();
        place.write(NOTE, "an open note\n");
        place.write("Other/Note.md", "another one\n");
        let mut settings = unhurried(&place);
        settings.limits.host_calls = 10_000_000;
        let grant = GrantSettings {
            write: vec!["**".into()],
            ..GrantSettings::default()
        };
        let lingering = component(guest("hostile"), grant);
        settings.components.insert("hostile".into(), lingering);
        let server = door::serve_open(&place, &settings);
        let before = place.snapshot();
        Stage {
            place,
            settings,
            server,
            before,
        }
    }

    fn client(&self) -> HttpClient {
        HttpClient::stateless(self.server.address())
    }

    /// Begin a call, and wait until it waits.
    fn begin(&self, action: &str, mut client: HttpClient) -> HttpClient {
        let waiting = self.log().matches("lingering").count();
        client.send_call(&format!("hostile.{action}"), json!({"path": NOTE}));
        wait_until("the call waits", || {
            self.log().matches("lingering").count() > waiting
        });
        client
    }

    /// Change the config, as an editor would.
    fn change(&self, change: impl FnOnce(&mut Settings)) {
        let mut settings = self.settings.clone();
        change(&mut settings);
        self.place.config_file(&settings);
    }

    /// Let everything be as at the beginning.
    fn restore(&self) {
        self.change(|_| {});
        let mut client = self.client();
        wait_until("all is as before", || {
            let arguments = json!({"with": "access", "path": NOTE});
            let reached = client.call("hostile.reach_writing", arguments);
            reached["structuredContent"]["got"] == "rw"
        });
    }

    /// What the component said.
    fn log(&self) -> String {
        let file: PathBuf = self.place.state().join("logs/hostile.log");
        std::fs::read_to_string(file).unwrap_or_default()
    }

    #[track_caller]
    fn assert_untouched(&self) {
        self.place.snapshot().assert_same_as(&self.before);
    }

    /// What a call that read comes to after something was taken from it.
    #[track_caller]
    fn read_after(&self, change: impl FnOnce(&mut Settings)) -> Value {
        let mut client = self.begin("linger_reading", self.client());
        self.change(change);
        let result = client.receive()["result"].take();
        assert_eq!(code(&result), "none", "{result}");
        self.restore();
        result["structuredContent"].clone()
    }

    /// A call that staged a note before something was taken from it: it meets this code from then on, or ends at once,
    /// and nothing lands.
    #[track_caller]
    fn write_after(&self, meets: Meets, change: impl FnOnce(&mut Settings)) {
        let Meets(expected, lives) = meets;
        let told = format!("write {expected}, create {expected}");
        let before = self.log().matches(&told).count();
        let mut client = self.begin("linger_writing", self.client());
        self.change(change);
        let result = client.receive()["result"].take();
        assert_eq!(code(&result), expected, "{result}");
        self.assert_untouched();
        if lives {
            wait_until(&told, || self.log().matches(&told).count() > before);
        }
        self.restore();
    }
}

/// The code that a call meets, and whether it lives to see it.
struct Meets(&'static str, bool);

fn hide(settings: &mut Settings) {
    let notebooks = &mut settings.permissions.notebooks;
    notebooks.insert("Open".into(), Tier::None);
}

fn enemy(settings: &mut Settings) -> &mut ComponentSettings {
    settings.components.get_mut("hostile").expect("the enemy")
}

fn gone() -> Value {
    json!({
        "before": "ok", "read": "not_found", "stat": "not_found", "access": "none", "listed": 0, "found": 0,
    })
}

#[test]
fn what_is_hidden_meanwhile_is_not_there() {
    let stage = Stage::new();
    assert_eq!(stage.read_after(hide), gone(), "by permission");
    let of_caller = |settings: &mut Settings| {
        let mut own = CallerSettings::default();
        let notebooks = &mut own.permissions.notebooks;
        notebooks.insert("Open".into(), Tier::None);
        settings.callers.insert("http".into(), own);
    };
    assert_eq!(stage.read_after(of_caller), gone(), "for this caller");
    let regrant = |settings: &mut Settings| enemy(settings).grant.write = vec!["Other/**".into()];
    assert_eq!(stage.read_after(regrant), gone(), "by the grant");
}

#[test]
fn what_was_staged_does_not_land_where_it_may_no_longer_be_written() {
    let stage = Stage::new();
    stage.write_after(Meets("permission_denied", true), |settings| {
        let notebooks = &mut settings.permissions.notebooks;
        notebooks.insert("Open".into(), Tier::Read);
    });
    stage.write_after(Meets("permission_denied", true), |settings| {
        enemy(settings).grant = GrantSettings {
            read: vec!["**".into()],
            ..GrantSettings::default()
        };
    });
    // The kill switch, of all and of one vault.
    stage.write_after(Meets("read_only", true), |settings| {
        settings.read_only = true
    });
    stage.write_after(Meets("read_only", true), |settings| {
        settings.vaults[0].read_only = true;
    });
    stage.write_after(Meets("forbidden", false), |settings| {
        let own = CallerSettings {
            scopes: Some(vec!["read".into()]),
            ..CallerSettings::default()
        };
        settings.callers.insert("http".into(), own);
    });
}

#[test]
fn a_component_or_action_that_is_switched_off_ends_its_calls() {
    let stage = Stage::new();
    for words in [&["hostile"][..], &["hostile", "linger_writing"]] {
        let mut client = stage.begin("linger_writing", stage.client());
        let disable = [
            &["component", "disable"],
            words,
            &["--because", "it lingers"],
        ]
        .concat();
        let ended = door::run(&stage.place, &disable);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let result = client.receive()["result"].take();
        assert_eq!(code(&result), "disabled", "{result}");
        let message = &result["structuredContent"]["error"]["message"];
        let message = message.as_str().expect("a message");
        assert!(message.contains("while the call ran"), "{message}");
        assert!(message.ends_with(": it lingers"), "{message}");
        stage.assert_untouched();
        stage.restore();
    }
}

#[test]
fn a_token_that_is_revoked_takes_its_calls_with_it() {
    let stage = Stage::new();
    let token = |name: &str| door::token(&stage.place, name, &["--scopes", "read,write"]);
    let (phone, desk) = (token("phone"), token("desk"));
    let mut client = stage.begin("linger_writing", stage.client().showing(&phone));
    door::revoke(&stage.place, "phone");
    let result = client.receive()["result"].take();
    assert_eq!(code(&result), "unauthorized", "{result}");
    stage.assert_untouched();
    // Others are not touched by it.
    let mut other = stage.client().showing(&desk);
    let read = other.call("document.read", json!({"path": NOTE}));
    assert_eq!(code(&read), "none", "{read}");
}

#[test]
fn what_does_not_concern_a_call_does_not_disturb_it() {
    let stage = Stage::new();
    let mut client = stage.begin("linger_reading", stage.client());
    let other = |settings: &mut Settings| {
        settings.limits.reply_tokens = 20_000;
        let notebooks = &mut settings.permissions.notebooks;
        notebooks.insert("Other".into(), Tier::None);
    };
    stage.change(other);
    stage.server.wait_for_log("the config file was reloaded");
    // It still waits, and sees what it saw: only now is something of it taken.
    stage.change(|settings| {
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
