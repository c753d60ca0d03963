//! Disabled components and actions: who disabled them and why is reported, and grants are kept.

use notehost::config::{GrantSettings, Settings};
use serde_json::{Value, json};

use super::auth_setup::token;
use super::setup::{RunResult, over_http, over_stdio, place_with_notes, program, run};
use crate::support::client::error_code;
use crate::support::guests::guest;
use crate::support::http::{HttpClient, wait_until};
use crate::support::place::{Place, component};

fn with_echo(settings: &mut Settings) {
    let grant = GrantSettings {
        read: vec!["Work/**".into()],
        ..GrantSettings::default()
    };
    settings
        .components
        .insert("echo".into(), component(guest("echo"), grant));
}

/// Runs the component command.
fn switch(place: &Place, arguments: &[&str]) -> RunResult {
    run(program(place, &[&["component"], arguments].concat()).env("USER", "ana"))
}

fn error(result: &Value) -> &Value {
    &result["structuredContent"]["error"]
}

#[test]
fn disabled_items_report_who_and_why() {
    let place = place_with_notes(with_echo);
    let mut client = over_stdio(&place);
    let say = json!({"text": "hello"});
    assert_eq!(error_code(&client.call("echo.say", say.clone())), None);
    let off = switch(&place, &["disable", "echo", "say", "--because", "it talks"]);
    assert_eq!(off.code, Some(0), "{off:?}");
    wait_until("the action is off", || {
        error_code(&client.call("echo.say", say.clone())) == Some("disabled")
    });
    let refused = client.call("echo.say", say.clone());
    assert_eq!(
        error(&refused)["message"],
        "the action `say` of `echo` was switched off by `ana`: it talks"
    );
    assert_eq!(
        error(&refused)["details"],
        json!({"because": "it talks", "by": "ana"})
    );
    assert!(
        error(&refused)["hint"]
            .as_str()
            .is_some_and(|hint| hint.contains("notehost component enable echo say")),
        "{refused}"
    );

    let off = switch(&place, &["disable", "echo"]);
    assert_eq!(off.code, Some(0), "{off:?}");
    wait_until("the domain is off", || {
        let refused = client.call("echo.remember", json!({"text": "x"}));
        error(&refused)["message"] == "the domain `echo` was switched off by `ana`"
    });
    let status = switch(&place, &["status", "echo"]).json();
    assert_eq!(status["items"][0]["by"], "ana", "{status}");
    assert_eq!(status["items"][0]["enabled"], false, "{status}");

    for arguments in [&["enable", "echo"][..], &["enable", "echo", "say"]] {
        let on = switch(&place, arguments);
        assert_eq!(on.code, Some(0), "{on:?}");
    }
    wait_until("it is on again", || {
        error_code(&client.call("echo.say", say.clone())).is_none()
    });
    // The grant was never changed, and the reason is removed.
    let text = std::fs::read_to_string(place.root().join("notehost.toml")).expect("the config");
    let now: Settings = toml::from_str(&text).expect("settings");
    let echo = &now.components["echo"];
    assert_eq!(echo.grant.read, ["Work/**"]);
    assert!(
        !text.contains("it talks") && !text.contains("ana"),
        "{text}"
    );
}

#[test]
fn unknown_names_cannot_be_disabled() {
    let place = place_with_notes(with_echo);
    for (arguments, expected) in [
        (
            &["disable", "ecco"][..],
            "unknown component `ecco`: did you mean `echo`?",
        ),
        (
            &["disable", "echo", "sai"],
            "`echo` has no action `sai`: did you mean `say`?",
        ),
        (&["enable", "admin"], "unknown component `admin`"),
        (&["status", "ecco"], "unknown component `ecco`"),
        (&["log", "../ecco"], "invalid component name"),
    ] {
        let refused = switch(&place, arguments);
        assert_ne!(refused.code, Some(0), "{refused:?}");
        assert!(refused.errors.contains(expected), "{refused:?}");
    }
}

/// Callers without access do not see the disabled action.
#[test]
fn disabled_state_is_shown_only_to_callers_with_access() {
    let place = place_with_notes(with_echo);
    let only = |name: &str, scopes: &str| token(&place, name, &["--scopes", scopes]);
    let (echo, document) = (only("echo", "echo:read"), only("document", "document:read"));
    for arguments in [&["disable", "echo", "remember"][..], &["disable", "tag"]] {
        assert_eq!(switch(&place, arguments).code, Some(0));
    }
    let server = over_http(&place);
    let mut may = HttpClient::stateless(server.address()).with_token(&echo);
    let mut may_not = HttpClient::stateless(server.address()).with_token(&document);
    let outcome = |client: &mut HttpClient, name: &str| {
        let refused = client.call(name, json!({"text": "x"}));
        error_code(&refused).map(str::to_owned)
    };
    // It is a write action, and these callers may only read.
    assert_eq!(
        outcome(&mut may, "echo.remember").as_deref(),
        Some("not_found")
    );
    assert_eq!(
        outcome(&mut may_not, "tag.list").as_deref(),
        Some("not_found")
    );
    assert_eq!(switch(&place, &["disable", "echo"]).code, Some(0));
    wait_until("it is off", || {
        outcome(&mut may, "echo.say").as_deref() == Some("disabled")
    });
    assert_eq!(
        outcome(&mut may_not, "echo.say").as_deref(),
        Some("not_found")
    );
}

#[test]
fn admin_tool_reports_the_reason_too() {
    let place = place_with_notes(|settings| {
        with_echo(settings);
        let admin = settings.callers.entry("stdio".into()).or_default();
        admin.scopes = Some(["read", "write", "admin"].map(str::to_owned).into());
    });
    let mut client = over_stdio(&place);
    let off = json!({"component": "echo", "because": " it talks "});
    let done = client.call("admin.disable", off);
    assert_eq!(
        done["structuredContent"],
        json!({"component": "echo", "enabled": false, "because": "it talks", "by": "stdio"}),
        "{done}"
    );
    let refused = client.call("echo.say", json!({"text": "x"}));
    assert_eq!(
        error(&refused)["message"],
        "the domain `echo` was switched off by `stdio`: it talks"
    );
    let listed = client.call("admin.components", json!({}));
    let items = listed["structuredContent"]["items"]
        .as_array()
        .expect("items");
    let echo = items.iter().find(|item| item["name"] == "echo");
    assert_eq!(echo.expect("it is listed")["because"], "it talks");
    let done = client.call("admin.enable", json!({"component": "echo"}));
    assert_eq!(error_code(&done), None, "{done}");
    let reply = client.call("echo.say", json!({"text": "x"}));
    assert_eq!(error_code(&reply), None, "{reply}");
}
