//! Decisions of admins: the one who approves, or extends the grant of a component, is a person or a client that is trusted to ask one, and
//! sees what matters first; and what comes back from the trash or the history makes no room for a wipe.

use notehost::config::GrantSettings;
use serde_json::json;

use super::approvals::{approval_of, ask_tool, notehost, numbered, settings};
use crate::support::client::{Client, error_code};
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
    let mut script = HttpClient::stateless(server.address()).with_token(&script);
    let mut desktop = HttpClient::stateless(server.address()).with_token(&desktop);
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
    let reply = ask_tool(&mut desktop, "admin__approve", &approve, None)["result"].take();
    assert_eq!(reply["resultType"], "input_required", "{reply}");
    let question = reply["inputRequests"]["approval"].to_string();
    assert!(
        question.contains("script") && question.contains("-precious text"),
        "{question}"
    );
    let state = reply["requestState"].clone();
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
    let mut script = HttpClient::stateless(server.address()).with_token(&script);
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
    let script = place.token("script", ADMIN, false);
    let desktop = place.token("desktop", ADMIN, true);
    let server = Server::start(&config, &place.state());
    let before = std::fs::read_to_string(&config).expect("the config");
    let grant = json!({"component": "slow", "read": ["**"]});
    let upgrade = json!({"component": "steady", "file": wide, "accept": true});
    let mut client = HttpClient::stateless(server.address()).with_token(&script);
    // A new component has nothing but what it is granted.
    let installed = json!({"component": "steady", "file": one});
    let installed = client.call("admin.install", installed);
    assert_eq!(error_code(&installed), None, "{installed}");
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

    let mut client = HttpClient::stateless(server.address()).with_token(&desktop);
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
        let mut client = HttpClient::stateless(server.address()).with_token(&signed);
        let reply = ask_tool(&mut client, "document__remove", &remove, None)["result"].take();
        match is_attended {
            true => assert_eq!(reply["resultType"], "input_required", "{reply}"),
            false => drop(approval_of(&reply)),
        }
    }
}

#[test]
fn what_is_undone_does_not_make_room_for_a_wipe() {
    let place = Place::new();
    let precious = numbered(0, 500);
    place.write("Work/Plan.md", &precious);
    let script = place.token("script", ALL, false);
    let server = Server::start(&place.config_file(&settings(&place)), &place.state());
    let mut client = HttpClient::stateless(server.address()).with_token(&script);
    let junk = numbered(1000, 1500);
    let update = |client: &mut HttpClient, content: &str| {
        let arguments = json!({"path": "Work/Plan", "content": content});
        client.call("document.update", arguments)
    };
    let padded = update(&mut client, &format!("{precious}{junk}"));
    assert_eq!(error_code(&padded), None, "{padded}");
    let back = update(&mut client, &precious);
    assert_eq!(error_code(&back), None, "{back}");
    let change = back["structuredContent"]["change"].clone();
    let undone = client.call("document.undo", json!({ "change": change }));
    assert_eq!(error_code(&undone), None, "{undone}");
    approval_of(&update(&mut client, &junk));
    let kept = place.read("Work/Plan.md").expect("the note");
    assert!(String::from_utf8_lossy(&kept).starts_with(precious.trim_end()));
}

#[test]
fn an_admin_sees_and_approves_only_what_it_may_read() {
    let place = Place::new();
    place.write("Diary/Secret.md", "It rained.\n");
    let config = place.config_file(&settings(&place));
    let writer = place.token("writer", ALL, false);
    let wide = place.token("wide", "read,admin", false);
    let narrow = ["token", "new", "--name", "narrow", "--scopes", "read,admin"];
    let narrow = [&narrow[..], &["--permission", "Diary=none"]].concat();
    let narrow = notehost(&place, &narrow)["token"].clone();
    let narrow = narrow.as_str().expect("a token").to_owned();
    let server = Server::start(&config, &place.state());
    let of = |token: &str| HttpClient::stateless(server.address()).with_token(token);
    let refused = of(&writer).call("document.remove", json!({"paths": ["Diary/Secret"]}));
    let id = approval_of(&refused);
    for (token, is_hidden) in [(&narrow, true), (&wide, false)] {
        let mut client = of(token);
        let waiting = client.call("admin.approvals", json!({}));
        assert_eq!(
            waiting["structuredContent"]["items"][0]["id"], id,
            "{waiting}"
        );
        let audit = client.call("admin.audit", json!({}));
        for (answer, words) in [(&waiting, &["Secret", "rained"][..]), (&audit, &["Secret"])] {
            for word in words {
                let is_shown = answer.to_string().contains(word);
                assert_eq!(is_shown, !is_hidden, "{word}: {answer}");
            }
        }
    }
    let mut client = of(&narrow);
    let refused = client.call("admin.approve", json!({ "id": id }));
    assert_eq!(error_code(&refused), Some("permission_denied"), "{refused}");
    let denied = client.call("admin.deny", json!({ "id": id }));
    assert_eq!(error_code(&denied), None, "{denied}");
    assert!(!denied.to_string().contains("Secret"), "{denied}");
}

#[test]
fn a_note_from_the_trash_cannot_be_wiped_in_small_steps() {
    let place = Place::new();
    place.write("Work/Plan.md", numbered(0, 512));
    let mut client = Client::start(&place.config_file(&place.settings()), &place.state());
    let removed = client.call("document.remove", json!({"paths": ["Work/Plan"]}));
    let id = removed["structuredContent"]["trash_ids"][0].clone();
    assert!(id.is_string(), "{removed}");
    client.disconnect();
    let script = place.token("script", ALL, false);
    let server = Server::start(&place.config_file(&settings(&place)), &place.state());
    let mut client = HttpClient::stateless(server.address()).with_token(&script);
    let restored = client.call("document.restore", json!({ "trash_id": id }));
    assert_eq!(error_code(&restored), None, "{restored}");
    let mut update = |words: usize| {
        let content = numbered(0, words);
        client.call(
            "document.update",
            json!({"path": "Work/Plan", "content": content}),
        )
    };
    let half = update(256);
    assert_eq!(error_code(&half), None, "{half}");
    approval_of(&update(128));
}
