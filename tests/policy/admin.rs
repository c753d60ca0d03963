//! The `admin` tool.

use notehost::config::{CallerSettings, Confirm, Settings};
use serde_json::{Value, json};

use crate::support::client::{Client, error_code};
use crate::support::guests::guest;
use crate::support::http::{HttpClient, Server};
use crate::support::place::Place;

/// The parent process over stdio gets the scope `admin` in the config.
fn with_admin(place: &Place) -> Settings {
    let mut settings = place.settings();
    settings.callers.insert(
        "stdio".into(),
        CallerSettings {
            scopes: Some(
                ["read", "write", "delete", "admin"]
                    .map(str::to_owned)
                    .into(),
            ),
            ..CallerSettings::default()
        },
    );
    settings
}

fn place_with_notes() -> Place {
    let place = Place::new();
    place.write("Work/Plan.md", "# Plan\n");
    place
}

fn names(list: &Value) -> Vec<&str> {
    let tools = list["tools"].as_array().expect("tools");
    tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect()
}

#[test]
fn admin_tool_is_hidden_from_non_admins() {
    let place = place_with_notes();
    let mut client = Client::start(&place.config_file(&place.settings()), &place.state());
    let listed = client.ask("tools/list", json!({}));
    assert!(!names(&listed).contains(&"admin"), "{listed}");
    let refused = client.call("admin.components", json!({}));
    let unknown = client.call("zzzzz.components", json!({}));
    assert_eq!(error_code(&refused), Some("not_found"));
    assert_eq!(
        refused.to_string().replace("admin", "zzzzz"),
        unknown.to_string(),
        "it looks like an unknown domain"
    );
    let help = client.send("resources/read", json!({"uri": "notehost://help/admin"}));
    assert!(client.answer(help).get("error").is_some());
}

#[test]
fn admin_enables_and_disables_components_and_actions_at_runtime() {
    let place = place_with_notes();
    let mut client = Client::start(&place.config_file(&with_admin(&place)), &place.state());
    assert!(names(&client.ask("tools/list", json!({}))).contains(&"admin"));
    let listed = client.call("admin.components", json!({}));
    let items = listed["structuredContent"]["items"]
        .as_array()
        .expect("items");
    assert!(
        items
            .iter()
            .any(|item| item["name"] == "document" && item["enabled"] == true)
    );

    let done = client.call(
        "admin.disable",
        json!({"component": "document", "action": "append"}),
    );
    assert_eq!(error_code(&done), None, "{done}");
    let append = json!({"path": "Plan", "text": "x"});
    let refused = client.call("document.append", append.clone());
    assert_eq!(error_code(&refused), Some("disabled"), "{refused}");
    let done = client.call(
        "admin.enable",
        json!({"component": "document", "action": "append"}),
    );
    assert_eq!(error_code(&done), None, "{done}");
    let done = client.call("document.append", append);
    assert_eq!(error_code(&done), None, "{done}");
    let changed = client
        .notifications()
        .iter()
        .any(|message| message["method"] == "notifications/tools/list_changed");
    assert!(changed, "{:?}", client.notifications());

    for (action, arguments, code) in [
        ("admin.disable", json!({"component": "nosuch"}), "not_found"),
        (
            "admin.disable",
            json!({"component": "document", "action": "nosuch"}),
            "not_found",
        ),
        (
            "admin.grant",
            json!({"component": "document", "read": ["**"]}),
            "unsupported",
        ),
        ("admin.components", json!({"dry_run": true}), "unsupported"),
    ] {
        let refused = client.call(action, arguments);
        assert_eq!(error_code(&refused), Some(code), "{refused}");
    }
}

#[test]
fn admin_permission_changes_apply_immediately() {
    let place = place_with_notes();
    let config = place.config_file(&with_admin(&place));
    let before = std::fs::read_to_string(&config).expect("the config");
    let mut client = Client::start(&config, &place.state());
    let done = client.call(
        "admin.set_permission",
        json!({"notebook": "Work", "tier": "none"}),
    );
    assert_eq!(error_code(&done), None, "{done}");
    let read = json!({"path": "Work/Plan"});
    assert_eq!(
        error_code(&client.call("document.read", read.clone())),
        Some("not_found")
    );
    let listed = client.call("admin.permissions", json!({}));
    assert_eq!(
        listed["structuredContent"]["notebooks"]["Work"], "none",
        "{listed}"
    );
    let done = client.call(
        "admin.set_permission",
        json!({"notebook": "Work", "tier": "r"}),
    );
    assert_eq!(error_code(&done), None, "{done}");
    assert_eq!(error_code(&client.call("document.read", read)), None);

    // Invalid values are not written.
    let now = std::fs::read_to_string(&config).expect("the config");
    let refused = client.call(
        "admin.set_permission",
        json!({"notebook": "Work/Deep", "tier": "r"}),
    );
    assert_eq!(error_code(&refused), Some("validation_error"), "{refused}");
    assert_eq!(std::fs::read_to_string(&config).expect("the config"), now);
    assert_ne!(now, before);

    std::fs::write(&config, before).expect("the config can be written");
    let done = client.call("admin.reload", json!({}));
    assert_eq!(done["structuredContent"]["reloaded"], true, "{done}");
    let listed = client.call("admin.permissions", json!({}));
    assert_eq!(
        listed["structuredContent"]["notebooks"].get("Work"),
        None,
        "{listed}"
    );
    std::fs::write(&config, "nonsense").expect("the config can be written");
    let refused = client.call("admin.reload", json!({}));
    assert_eq!(error_code(&refused), Some("validation_error"), "{refused}");
}

#[test]
fn admin_decides_approvals_of_others_but_not_their_own() {
    let place = place_with_notes();
    let mut settings = with_admin(&place);
    settings.confirm = Confirm::Floor;
    let mut client = Client::start(&place.config_file(&settings), &place.state());
    let refused = client.call("document.remove", json!({"paths": ["Plan"]}));
    let id = refused["structuredContent"]["error"]["details"]["approval"].clone();
    let listed = client.call("admin.approvals", json!({}));
    assert_eq!(
        listed["structuredContent"]["items"][0]["id"], id,
        "{listed}"
    );
    let own = client.call("admin.approve", json!({"id": id}));
    assert_eq!(error_code(&own), Some("forbidden"), "{own}");
    let denied = client.call("admin.deny", json!({"id": id}));
    assert_eq!(error_code(&denied), None, "{denied}");
    let unknown = client.call("admin.approve", json!({"id": "nosuch"}));
    assert_eq!(error_code(&unknown), Some("not_found"), "{unknown}");
    assert!(place.read("Work/Plan.md").is_some());
}

#[test]
fn admin_over_http_reads_the_audit_log() {
    let place = place_with_notes();
    let mut settings = with_admin(&place);
    let http = settings.callers["stdio"].clone();
    settings.callers.insert("http".into(), http);
    let server = Server::start(&place.config_file(&settings), &place.state());
    let mut client = HttpClient::stateless(server.address());
    for _ in 0..3 {
        client.call("document.read", json!({"path": "Plan"}));
    }
    client.call("document.read", json!({"path": "Nowhere"}));
    // Rows are written a moment later.
    let mut calls = Vec::new();
    for _ in 0..200 {
        let audit = client.call("admin.audit", json!({"domain": "document"}));
        calls = audit["structuredContent"]["items"]
            .as_array()
            .expect("items")
            .clone();
        if calls.len() == 4 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    let outcomes: Vec<_> = calls.iter().map(|call| call["outcome"].as_str()).collect();
    assert_eq!(
        outcomes,
        [Some("not_found"), Some("ok"), Some("ok"), Some("ok")]
    );
    let page = client.call("admin.audit", json!({"domain": "document", "limit": 1}));
    let cursor = &page["structuredContent"]["next_cursor"];
    let next = client.call(
        "admin.audit",
        json!({"domain": "document", "limit": 1, "cursor": cursor}),
    );
    assert_eq!(
        next["structuredContent"]["items"][0]["number"],
        calls[1]["number"]
    );
    let stats = client.call("admin.stats", json!({"since": "1h"}));
    assert!(
        stats["structuredContent"]["calls"].as_u64() >= Some(4),
        "{stats}"
    );
    let refused = client.call("admin.stats", json!({"since": "soon"}));
    assert_eq!(error_code(&refused), Some("validation_error"), "{refused}");
}

#[test]
fn admin_installs_upgrades_and_rolls_back_components() {
    let place = place_with_notes();
    let mut client = Client::start(&place.config_file(&with_admin(&place)), &place.state());
    // A sandboxed server can read files beside its config.
    let beside = |name: &str| {
        let file = place.outside().join(format!("{name}.wasm"));
        std::fs::copy(guest(name), &file).expect("a component");
        file
    };
    let (first, second) = (beside("steady_one"), beside("steady_two"));
    let broken = place.outside().join("broken.wasm");
    std::fs::write(&broken, "no component").expect("a file");
    let with = |file: &std::path::Path| json!({"component": "steady", "file": file});

    for (action, arguments, code) in [
        ("admin.install", with(&broken), "validation_error"),
        (
            "admin.install",
            with(std::path::Path::new("steady.wasm")),
            "validation_error",
        ),
        ("admin.upgrade", with(&first), "not_found"),
        (
            "admin.rollback",
            json!({"component": "document"}),
            "unsupported",
        ),
    ] {
        let refused = client.call(action, arguments);
        assert_eq!(error_code(&refused), Some(code), "{action}: {refused}");
    }
    assert!(!names(&client.ask("tools/list", json!({}))).contains(&"steady"));
    let done = client.call("admin.install", with(&first));
    assert_eq!(error_code(&done), None, "{done}");
    assert!(names(&client.ask("tools/list", json!({}))).contains(&"steady"));
    let granted = client.call(
        "admin.grant",
        json!({"component": "steady", "read": ["Work/**"]}),
    );
    assert_eq!(error_code(&granted), None, "{granted}");
    let config = std::fs::read_to_string(place.root().join("notehost.toml")).expect("the config");
    assert!(config.contains("Work/**"), "{config}");
    let again = client.call("admin.install", with(&first));
    assert_eq!(error_code(&again), Some("already_exists"), "{again}");
    let nothing = client.call("admin.rollback", json!({"component": "steady"}));
    assert_eq!(error_code(&nothing), Some("unsupported"), "{nothing}");

    // An invalid component replaces nothing.
    let refused = client.call("admin.upgrade", with(&broken));
    assert_eq!(error_code(&refused), Some("validation_error"), "{refused}");
    assert!(names(&client.ask("tools/list", json!({}))).contains(&"steady"));
    let version = |client: &mut Client| {
        let reply = client.call("steady.say", json!({"text": "a"}));
        reply["structuredContent"]["version"].clone()
    };
    assert_eq!(version(&mut client), 1);
    let done = client.call("admin.upgrade", with(&second));
    assert_eq!(done["structuredContent"]["version"], "2.0.0", "{done}");
    assert_eq!(version(&mut client), 2);
    // A component that requests more rights needs a confirmation.
    let wide = beside("steady_wide");
    let held = client.call("admin.upgrade", with(&wide));
    assert_eq!(error_code(&held), Some("confirmation_required"), "{held}");
    assert_eq!(version(&mut client), 2);
    let accepted = json!({"component": "steady", "file": wide, "accept": true});
    let done = client.call("admin.upgrade", accepted);
    assert_eq!(done["structuredContent"]["version"], "3.0.0", "{done}");
    let done = client.call("admin.rollback", json!({"component": "steady"}));
    assert_eq!(done["structuredContent"]["version"], "2.0.0", "{done}");
    let done = client.call("admin.revoke", json!({"component": "steady"}));
    assert_eq!(error_code(&done), None, "{done}");
    let done = client.call("admin.remove", json!({"component": "steady"}));
    assert_eq!(error_code(&done), None, "{done}");
    assert!(!names(&client.ask("tools/list", json!({}))).contains(&"steady"));
}
