//! Subscriptions report changes of notes by calls and by other programs.

use std::fs;

use serde_json::{Value, json};

use super::{Wire, place_with_diary, settings_hiding_diary, start_without_handshake, uri};
use crate::support::client::Client;
use crate::support::http::{Connection, HttpClient, SESSIONS, STATELESS, Server, stateless_meta};
use crate::support::place::Place;

const UPDATED: &str = "notifications/resources/updated";
const LIST_CHANGED: &str = "notifications/resources/list_changed";

/// A subscriber with one transport and one kind of revision.
enum Listener {
    /// Over stdio, notifications arrive between the replies.
    Stdio(Client),
    /// Over HTTP, they have a separate stream.
    Http(Connection, HttpClient),
}

impl Listener {
    /// Runs the test with each kind of subscriber, subscribed to these notes and to every list.
    fn each(paths: &[&str], mut test: impl FnMut(&Place, Listener, &str)) {
        let uris: Vec<String> = paths.iter().map(|path| uri(path)).collect();
        {
            let place = place_with_diary();
            let config = place.config_file(&settings_hiding_diary(&place, "stdio"));
            let mut client = Client::start(&config, &place.state());
            for uri in &uris {
                client.ask("resources/subscribe", json!({ "uri": uri }));
            }
            test(&place, Listener::Stdio(client), "sessions, stdio");
        }
        {
            let place = place_with_diary();
            place.config_file(&settings_hiding_diary(&place, "stdio"));
            let mut client = start_without_handshake(&place);
            client.send("subscriptions/listen", subscription_params(&uris));
            let listener = Listener::Stdio(client).expect_acknowledgement();
            test(&place, listener, "stateless, stdio");
        }
        {
            let place = place_with_diary();
            let config = place.config_file(&settings_hiding_diary(&place, "http"));
            let server = Server::start(&config, &place.state());
            let mut client = HttpClient::with_session(server.address());
            for uri in &uris {
                let answer = client.ask("resources/subscribe", json!({ "uri": uri }));
                assert!(answer.get("error").is_none(), "{answer}");
            }
            let stream = stream_of(&server, &client);
            test(&place, Listener::Http(stream, client), "sessions, http");
        }
        {
            let place = place_with_diary();
            let config = place.config_file(&settings_hiding_diary(&place, "http"));
            let server = Server::start(&config, &place.state());
            let stream = listen_request(&server, None, &uris);
            let client = HttpClient::stateless(server.address());
            let listener = Listener::Http(stream, client).expect_acknowledgement();
            test(&place, listener, "stateless, http");
        }
    }

    /// The first notification of the stateless revision confirms the subscription.
    fn expect_acknowledgement(mut self) -> Listener {
        let first = self.next();
        let method = "notifications/subscriptions/acknowledged";
        assert_eq!(first["method"], method, "{first}");
        self
    }

    /// The next notification.
    fn next(&mut self) -> Value {
        match self {
            Listener::Stdio(client) => client.next_notification(),
            Listener::Http(stream, _) => stream.event(),
        }
    }

    /// Asserts the next notification about resources: its method and its resource.
    #[track_caller]
    fn expect_notification(&mut self, revision: &str, method: &str, path: Option<&str>) {
        let notification = self.next();
        assert_eq!(notification["method"], method, "{revision}: {notification}");
        let expected = path.map_or(Value::Null, |path| uri(path).into());
        assert_eq!(
            notification["params"]["uri"], expected,
            "{revision}: {notification}"
        );
    }

    /// Calls an action.
    #[track_caller]
    fn call(&mut self, revision: &str, name: &str, arguments: Value) {
        let tool = name.replacen('.', "__", 1);
        let mut params = json!({"name": tool, "arguments": arguments});
        let answer = match self {
            Listener::Stdio(client) => {
                if revision.starts_with("stateless") {
                    params["_meta"] = stateless_meta();
                }
                let id = client.send("tools/call", params);
                client.answer(id)
            }
            Listener::Http(_, client) => client.ask("tools/call", params),
        };
        assert_ne!(answer["result"]["isError"], true, "{answer}");
        assert!(answer.get("error").is_none(), "{answer}");
    }
}

fn subscription_params(uris: &[String]) -> Value {
    json!({
        "_meta": stateless_meta(),
        "notifications": {
            "resourcesListChanged": true,
            "resourceSubscriptions": uris,
        },
    })
}

/// The stream of a session's notifications.
fn stream_of(server: &Server, client: &HttpClient) -> Connection {
    let mut stream = Connection::open(server.address());
    let session = client.session().expect("a session");
    let headers = [
        ("Mcp-Session-Id", session),
        ("MCP-Protocol-Version", SESSIONS),
    ];
    stream.send("GET", "/mcp", &headers, "");
    assert_eq!(stream.receive_head(), 200);
    stream
}

/// A request of the stateless revision whose response is a stream.
fn listen_request(server: &Server, token: Option<&str>, uris: &[String]) -> Connection {
    let mut stream = Connection::open(server.address());
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": subscription_params(uris)});
    let shown = token.map(|token| format!("Bearer {token}"));
    let mut headers = vec![
        ("MCP-Protocol-Version", STATELESS),
        ("Mcp-Method", "subscriptions/listen"),
    ];
    headers.extend(shown.iter().map(|shown| ("Authorization", shown.as_str())));
    stream.send("POST", "/mcp", &headers, &body.to_string());
    assert_eq!(stream.receive_head(), 200);
    stream
}

/// Writes a note as an external editor does.
fn edit(place: &Place, path: &str, text: &str) {
    fs::write(place.vault().join(path), text).expect("the note can be written");
}

#[test]
fn subscriptions_report_own_and_foreign_changes() {
    Listener::each(
        &["Work/Plan.md", "Garden/My%20plan"],
        |place, mut listener, revision| {
            let append = json!({"path": "Work/Plan", "text": "more"});
            listener.call(revision, "document.append", append);
            listener.expect_notification(revision, UPDATED, Some("Work/Plan.md"));

            edit(
                place,
                "Work/Plan.md",
                "# Plan\n\nwritten by somebody else\n",
            );
            listener.expect_notification(revision, UPDATED, Some("Work/Plan.md"));

            // The notification has the URI of the subscription.
            edit(place, "Garden/My plan.md", "# Garden\n\nwater it\n");
            listener.expect_notification(revision, UPDATED, Some("Garden/My%20plan"));

            // Not subscribed, but the list has a new entry.
            edit(place, "Garden/New.md", "# New\n");
            listener.expect_notification(revision, LIST_CHANGED, None);
            edit(place, "Garden/New.md", "# New, but not for long\n");
            listener.call(
                revision,
                "document.rename",
                json!({"path": "Garden/New", "to": "Newer"}),
            );
            listener.expect_notification(revision, LIST_CHANGED, None);

            // Reading a removed note fails.
            fs::remove_file(place.vault().join("Work/Plan.md")).expect("it was there");
            listener.expect_notification(revision, LIST_CHANGED, None);
            listener.expect_notification(revision, UPDATED, Some("Work/Plan.md"));
        },
    );
}

#[test]
fn subscriptions_omit_hidden_notes() {
    let paths = ["Work/Plan.md", "Diary/Secret.md", "Diary/Later.md"];
    Listener::each(&paths, |place, mut listener, revision| {
        edit(place, "Diary/Secret.md", "# Hush\n\nmore of it\n");
        edit(place, "Diary/Later.md", "# Later\n");
        // Longer than the debounce interval, so that earlier notifications would come first.
        std::thread::sleep(std::time::Duration::from_millis(700));
        edit(place, "Work/Plan.md", "# Plan\n\nthe first that is heard\n");
        listener.expect_notification(revision, UPDATED, Some("Work/Plan.md"));
    });
}

#[test]
fn each_subscriber_gets_only_visible_changes() {
    let place = place_with_diary();
    let config = place.config_file(&place.settings());
    let token = |name: &str, arguments: &[&str]| {
        let made = std::process::Command::new(crate::support::program())
            .args(["token", "new", "--name", name, "--scopes", "read,write"])
            .args(arguments)
            .arg("--config")
            .arg(&config)
            .arg("--state")
            .arg(place.state())
            .output()
            .expect("the program runs");
        let report: Value = serde_json::from_slice(&made.stdout).expect("JSON");
        report["token"].as_str().expect("a token").to_owned()
    };
    let ana = token("ana", &[]);
    let bob = token("bob", &["--permission", "Diary=none"]);
    let server = Server::start(&config, &place.state());
    let uris = [uri("Diary/Secret.md"), uri("Work/Plan.md")];
    let [mut for_ana, mut for_bob] = [&ana, &bob].map(|token| {
        let mut stream = listen_request(&server, Some(token), &uris);
        stream.event();
        stream
    });
    let event_uri = |stream: &mut Connection| stream.event()["params"]["uri"].take();

    let mut client = HttpClient::stateless(server.address()).with_token(&ana);
    for path in ["Diary/Secret", "Work/Plan"] {
        let done = client.call("document.append", json!({"path": path, "text": "more"}));
        assert_ne!(done["isError"], true, "{done}");
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    assert_eq!(event_uri(&mut for_ana), uris[0]);
    assert_eq!(event_uri(&mut for_ana), uris[1]);
    assert_eq!(event_uri(&mut for_bob), uris[1]);
}

#[test]
fn unsubscribing_stops_notifications() {
    let place = place_with_diary();
    let mut client = Client::start(&place.config_file(&place.settings()), &place.state());
    let (plan, garden) = (uri("Work/Plan.md"), uri("Garden/My%20plan.md"));
    for uri in [&plan, &garden] {
        client.ask("resources/subscribe", json!({ "uri": uri }));
    }
    client.ask("resources/unsubscribe", json!({ "uri": plan }));
    for path in ["Work/Plan", "Garden/My plan"] {
        client.call("document.append", json!({"path": path, "text": "more"}));
    }
    let notification = client.next_notification();
    assert_eq!(
        notification["params"]["uri"],
        garden.as_str(),
        "{notification}"
    );
}

#[test]
fn unknown_resources_cannot_be_subscribed_to() {
    Wire::each(Place::settings, |_, mut wire| {
        let of_others = json!({"uri": "file:///etc/passwd"});
        if matches!(wire, Wire::Http(..)) && wire.is_stateless() {
            return;
        }
        if wire.is_stateless() {
            let error = wire.refused("resources/subscribe", of_others);
            assert_eq!(error["code"], -32601, "{error}");
            return;
        }
        let error = wire.refused("resources/subscribe", of_others);
        assert_eq!(error["code"], -32002, "{error}");
        // Subscribing to a missing note succeeds, as for a hidden one: the reply reveals nothing.
        wire.ask("resources/subscribe", json!({ "uri": uri("Gone.md") }));
    });
}
