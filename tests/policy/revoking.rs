//! What is taken away while a call runs is gone at its next host call, and nothing lands that needs it: through the built
//! program, over HTTP, with a guest that waits in the middle of its call until it notices.

use std::path::PathBuf;

use notehost::config::{CallerSettings, GrantSettings, Settings};
use notehost::vault::Tier;
use serde_json::{Value, json};

use super::door::{self, code, unhurried};
use crate::support::guests::guest;
use crate::support::http::{HttpClient, Server, wait_until};
use crate::support::place::{Place, component};
use crate::support::snapshot::Snapshot;

const NOTE: &str = "Open/Note.md";

/// A served vault, and a call in it that waits.
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
        let server = door::serve(&place, &settings);
        let before = place.snapshot();
        Stage {
            place,
            settings,
            server,
            before,
        }
    }

    /// Begin a call, and wait until it waits.
    fn begin(&self, action: &str, token: Option<&str>) -> HttpClient {
        let mut client = HttpClient::stateless(self.server.address());
        if let Some(token) = token {
            client = client.showing(token);
        }
        client.send_call(&format!("hostile.{action}"), json!({"path": NOTE}));
        wait_until("the call waits", || self.log().contains("lingering"));
        client
    }

    /// Change the config, as an editor would.
    fn change(&mut self, change: impl FnOnce(&mut Settings)) {
        change(&mut self.settings);
        self.place.config_file(&self.settings);
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
    fn read_after(mut self, change: impl FnOnce(&mut Settings)) -> Value {
        let mut client = self.begin("linger_reading", None);
        self.change(change);
        let result = client.receive()["result"].take();
        assert_eq!(code(&result), "none", "{result}");
        result["structuredContent"].clone()
    }

    /// The error of a call that staged a note before something was taken from it; nothing of it landed.
    #[track_caller]
    fn write_after(mut self, change: impl FnOnce(&mut Settings)) -> (String, String) {
        let mut client = self.begin("linger_writing", None);
        self.change(change);
        let result = client.receive()["result"].take();
        self.assert_untouched();
        let met = self.log();
        let met = met.lines().rfind(|line| line.contains("write "));
        let met = met.and_then(|line| line.rsplit('\t').next());
        (code(&result).to_owned(), met.unwrap_or_default().to_owned())
    }
}

fn hide(settings: &mut Settings) {
    let notebooks = &mut settings.permissions.notebooks;
    notebooks.insert("Open".into(), Tier::None);
}

fn gone() -> Value {
    json!({
        "before": "ok", "read": "not_found", "stat": "not_found", "access": "none", "listed": 0, "found": 0,
    })
}

#[test]
fn a_notebook_that_is_hidden_meanwhile_is_not_there() {
    assert_eq!(Stage::new().read_after(hide), gone());
}

#[test]
fn what_one_caller_is_denied_meanwhile_is_denied_to_its_call() {
    let of_caller = |settings: &mut Settings| {
        let mut own = CallerSettings::default();
        let notebooks = &mut own.permissions.notebooks;
        notebooks.insert("Open".into(), Tier::None);
        settings.callers.insert("http".into(), own);
    };
    assert_eq!(Stage::new().read_after(of_caller), gone());
}

#[test]
fn a_grant_that_is_taken_back_hides_what_it_granted() {
    let revoke = |settings: &mut Settings| {
        let enemy = settings.components.get_mut("hostile").expect("the enemy");
        enemy.grant.write = vec!["Other/**".into()];
    };
    assert_eq!(Stage::new().read_after(revoke), gone());
}

#[test]
fn what_was_staged_does_not_land_where_it_may_no_longer_be_written() {
    let narrow = |settings: &mut Settings| {
        let notebooks = &mut settings.permissions.notebooks;
        notebooks.insert("Open".into(), Tier::Read);
    };
    let denied = "write permission_denied, create permission_denied";
    let met = Stage::new().write_after(narrow);
    assert_eq!(met, ("permission_denied".into(), denied.into()));
    let narrow = |settings: &mut Settings| {
        let enemy = settings.components.get_mut("hostile").expect("the enemy");
        enemy.grant = GrantSettings {
            read: vec!["**".into()],
            ..GrantSettings::default()
        };
    };
    let met = Stage::new().write_after(narrow);
    assert_eq!(met, ("permission_denied".into(), denied.into()));
}

#[test]
fn the_kill_switch_stops_a_call_that_writes() {
    let closed = "write read_only, create read_only";
    let met = Stage::new().write_after(|settings| settings.read_only = true);
    assert_eq!(met, ("read_only".into(), closed.into()));
    let met = Stage::new().write_after(|settings| settings.vaults[0].read_only = true);
    assert_eq!(met, ("read_only".into(), closed.into()));
}

#[test]
fn a_call_whose_scope_is_taken_ends() {
    let narrow = |settings: &mut Settings| {
        let own = CallerSettings {
            scopes: Some(vec!["read".into()]),
            ..CallerSettings::default()
        };
        settings.callers.insert("http".into(), own);
    };
    let met = Stage::new().write_after(narrow);
    assert_eq!(met, ("forbidden".into(), String::new()));
}

#[test]
fn a_component_or_action_that_is_switched_off_ends_its_calls() {
    for words in [&["hostile"][..], &["hostile", "linger_writing"]] {
        let stage = Stage::new();
        let mut client = stage.begin("linger_writing", None);
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
    }
}

#[test]
fn a_token_that_is_revoked_takes_its_calls_with_it() {
    let stage = Stage::new();
    let token = |name: &str| door::token(&stage.place, name, &["--scopes", "read,write"]);
    let (phone, desk) = (token("phone"), token("desk"));
    let mut client = stage.begin("linger_writing", Some(&phone));
    door::revoke(&stage.place, "phone");
    let result = client.receive()["result"].take();
    assert_eq!(code(&result), "unauthorized", "{result}");
    stage.assert_untouched();
    // Others are not touched by it.
    let mut other = HttpClient::stateless(stage.server.address()).showing(&desk);
    let read = other.call("document.read", json!({"path": NOTE}));
    assert_eq!(code(&read), "none", "{read}");
}

#[test]
fn what_does_not_concern_a_call_does_not_disturb_it() {
    let mut stage = Stage::new();
    let mut client = stage.begin("linger_reading", None);
    stage.change(|settings| {
        settings.limits.reply_tokens = 20_000;
        let notebooks = &mut settings.permissions.notebooks;
        notebooks.insert("Other".into(), Tier::None);
    });
    stage.server.wait_for_log("the config file was read again");
    // It still waits, and sees what it saw: only now is something of it taken.
    stage.change(|settings| {
        let notebooks = &mut settings.permissions.notebooks;
        notebooks.insert("Open".into(), Tier::Read);
    });
    let result = client.receive()["result"].take();
    let seen = json!({
        "before": "ok", "read": "ok", "stat": "ok", "access": "r", "listed": 1, "found": 1,
    });
    assert_eq!(result["structuredContent"], seen, "{result}");
}
