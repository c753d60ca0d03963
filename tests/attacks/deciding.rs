//! Decisions of admins: whoever approves, or gives a component more, is a person or a client that is trusted to ask one, and
//! sees what matters first.

use notehost::config::GrantSettings;
use serde_json::json;

use super::approvals::{approval_of, ask_tool, notehost, settings};
use crate::support::client::error_code;
use crate::support::guests::guest;
use crate::support::http::{HttpClient, Server};
use crate::support::issuer::{AUDIENCE, Key, SECRET, claims, private};
use crate::support::place::{Place, component};

const ALL: &str = "read,write,delete";
const ADMIN: &str = "read,write,delete,admin";

#[test]
fn an_attended_admin_over_http_asks_its_user_before_it_approves() {
    let place = Place::new();
    place.write("Work/Two.md", "precious text\n");
    let script = place.token("script", ALL, false);
    let desktop = place.token("desktop", ADMIN, true);
    let server = Server::start(&place.config_file(&settings(&place)), &place.state());
    let mut script = HttpClient::stateless(server.address()).showing(&script);
    let mut desktop = HttpClient::stateless(server.address()).showing(&desktop);
    let remove = json!({"paths": ["Work/Two"]});
    let id = approval_of(&script.call("document.remove", remove));
    let approve = json!({ "id": id });
    let again = json!({"paths": ["Work/Two"], "approval": id});

    // A client that cannot ask cannot approve, and neither does it help to make up that it did.
    let made_up = json!({"id": id, "approval": id});
    for arguments in [&approve, &made_up] {
        let refused = desktop.call("admin.approve", arguments.clone());
        assert_eq!(approval_of(&refused), id);
        let hint = refused["structuredContent"]["error"]["hint"].to_string();
        assert!(hint.contains("notehost approval approve"), "{refused}");
    }
    assert_eq!(
        approval_of(&script.call("document.remove", again.clone())),
        id
    );

    // One that can asks its user, who sees what would happen and for whom.
    let asked = ask_tool(&mut desktop, "admin__approve", &approve, None)["result"].take();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = asked["inputRequests"]["approval"].to_string();
    assert!(
        question.contains("script") && question.contains("-precious text"),
        "{question}"
    );
    let state = asked["requestState"].clone();
    let done = ask_tool(&mut desktop, "admin__approve", &approve, Some(&state))["result"].take();
    assert_eq!(error_code(&done), None, "{done}");
    let approval = &done["structuredContent"]["approval"];
    assert_eq!(approval["state"], "approved", "{done}");
    assert_eq!(approval["decided_via"], "client", "{done}");
    let removed = script.call("document.remove", again);
    assert_eq!(error_code(&removed), None, "{removed}");
    assert!(place.read("Work/Two.md").is_none());
}

#[test]
fn the_callers_own_notes_hide_nothing_in_a_question() {
    let place = Place::new();
    place.write("Precious.md", "a few words of somebody else\n");
    let script = place.token("script", ALL, false);
    let server = Server::start(&place.config_file(&settings(&place)), &place.state());
    let mut script = HttpClient::stateless(server.address()).showing(&script);
    let mut paths = vec!["Precious".to_owned()];
    for number in 0..6 {
        let path = format!("Junk {number}");
        let created = script.call(
            "document.create",
            json!({"path": path, "content": "junk ".repeat(1800)}),
        );
        assert_eq!(error_code(&created), None, "{created}");
        paths.push(path);
    }
    let refused = script.call("document.remove", json!({ "paths": paths }));
    approval_of(&refused);
    let summary = &refused["structuredContent"]["error"]["details"]["summary"];
    let summary = summary.as_str().expect("a summary");
    assert!(summary.contains(": delete `Precious.md`"), "{summary}");
    assert!(summary.contains("Junk 5.md"), "{summary}");
}

#[test]
fn an_unattended_admin_does_not_accept_for_a_person() {
    let place = Place::new();
    let mut settings = settings(&place);
    let slow = component(guest("slow"), GrantSettings::default());
    settings.components.insert("slow".into(), slow);
    let config = place.config_file(&settings);
    let beside = |name: &str| {
        let file = place.outside().join(format!("{name}.wasm"));
        std::fs::copy(guest(name), &file).expect("a component");
        file.to_string_lossy().into_owned()
    };
    let (one, wide) = (beside("steady_one"), beside("steady_wide"));
    notehost(&place, &["component", "add", &one]);
    let script = place.token("script", ADMIN, false);
    let desktop = place.token("desktop", ADMIN, true);
    let server = Server::start(&config, &place.state());
    let before = std::fs::read_to_string(&config).expect("the config");
    let grant = json!({"component": "slow", "read": ["**"]});
    let upgrade = json!({"component": "steady", "file": wide, "accept": true});
    let mut client = HttpClient::stateless(server.address()).showing(&script);
    for (action, arguments, command) in [
        ("admin.grant", &grant, "notehost component grant slow"),
        (
            "admin.upgrade",
            &upgrade,
            "notehost component upgrade steady",
        ),
    ] {
        let refused = client.call(action, arguments.clone());
        assert_eq!(
            error_code(&refused),
            Some("confirmation_required"),
            "{refused}"
        );
        let hint = refused["structuredContent"]["error"]["hint"].to_string();
        assert!(hint.contains(command), "{refused}");
    }
    assert_eq!(
        std::fs::read_to_string(&config).expect("the config"),
        before
    );
    // What takes away needs nobody.
    let nothing = client.call("admin.grant", json!({"component": "slow"}));
    assert_eq!(error_code(&nothing), None, "{nothing}");

    let mut client = HttpClient::stateless(server.address()).showing(&desktop);
    for (action, arguments) in [("admin.grant", grant), ("admin.upgrade", upgrade)] {
        let done = client.call(action, arguments);
        assert_eq!(error_code(&done), None, "{done}");
    }
}

#[test]
fn a_signed_token_is_not_attended_because_a_static_one_of_that_name_is() {
    let place = Place::new();
    place.write("Work/One.md", "text\n");
    let file = place.root().join("jwt.secret");
    std::fs::write(&file, SECRET).expect("a file");
    private(&file);
    let mut settings = settings(&place);
    settings.auth.resource = Some(AUDIENCE.into());
    settings.auth.jwt.secret_file = Some(file);
    let mut claims = claims();
    claims["sub"] = "desktop".into();
    claims["scope"] = ALL.replace(',', " ").into();
    let signed = Key::secret(SECRET.as_bytes()).sign(&claims);
    let remove = json!({"paths": ["Work/One"]});
    for (name, is_attended) in [("desktop", false), ("desktop (signed)", true)] {
        settings.callers.clear();
        let caller = settings.callers.entry(name.into()).or_default();
        caller.attended = Some(true);
        let server = Server::start(&place.config_file(&settings), &place.state());
        let mut client = HttpClient::stateless(server.address()).showing(&signed);
        let asked = ask_tool(&mut client, "document__remove", &remove, None)["result"].take();
        match is_attended {
            true => assert_eq!(asked["resultType"], "input_required", "{asked}"),
            false => drop(approval_of(&asked)),
        }
    }
}
