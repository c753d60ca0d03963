//! Components that send requests: to what was granted and to nothing else, within bounds, and told honestly where a
//! request cannot be taken back. A real server on loopback answers.
//!
//! `granting`: which requests are sent. `bounds`: how much, how long, how many. `conflicts`: what happens to a request
//! when its call comes to nothing. `bookmark`: the example of the SDK, as its user meets it.

mod bookmark;
mod bounds;
mod conflicts;
mod granting;

use std::sync::Arc;

use notehost::config::{GrantSettings, Settings};
use notehost::dispatch::{CallError, Host, Reply};
use serde_json::{Value, json};

use crate::support::guests::guest;
use crate::support::place::{Place, call, component};
use crate::support::server::Server;

/// A vault with a note, a server, and the messenger between them.
struct Outpost {
    place: Place,
    host: Arc<Host>,
    server: Server,
}

impl Outpost {
    /// The messenger may ask the server.
    async fn new() -> Outpost {
        Outpost::with(|settings, server| {
            grant(settings, &[&server.authority()]);
        })
        .await
    }

    /// The messenger is granted no hosts unless these settings do.
    async fn with(change: impl FnOnce(&mut Settings, &Server)) -> Outpost {
        let place = Place::new();
        place.write("Log.md", "a note\n");
        let server = Server::start().await;
        let mut settings = settings(&place);
        change(&mut settings, &server);
        let host = place.host(settings).await;
        assert!(
            host.registry().snapshot().broken().is_empty(),
            "the messenger is let in: {:?}",
            host.registry().snapshot().broken()
        );
        Outpost {
            place,
            host,
            server,
        }
    }

    async fn call(&self, action: &str, arguments: Value) -> Result<Reply, CallError> {
        call(&self.host, &format!("messenger.{action}"), arguments).await
    }

    /// What came of requests in an action that reads.
    async fn fetch(&self, requests: Value) -> Vec<Value> {
        let reply = self.call("fetch", json!({ "requests": requests })).await;
        let mut reply = reply.expect("it answers");
        match reply.structured.remove("answers") {
            Some(Value::Array(answers)) => answers,
            other => panic!("answers, not {other:?}"),
        }
    }

    /// What came of one request.
    async fn ask(&self, scheme: &str, authority: &str, path: &str) -> Value {
        let request = json!({"scheme": scheme, "authority": authority, "path": path});
        self.fetch(json!([request])).await.remove(0)
    }

    /// A request to the server.
    fn request(&self, path: &str) -> Value {
        json!({"scheme": "http", "authority": self.server.authority(), "path": path})
    }
}

/// The settings in which the messenger is let in, with no hosts.
fn settings(place: &Place) -> Settings {
    let mut settings = place.settings();
    let notes = GrantSettings {
        write: vec!["**".into()],
        ..GrantSettings::default()
    };
    settings
        .components
        .insert("messenger".into(), component(guest("messenger"), notes));
    settings.limits.call_ms = 60_000;
    settings
}

/// Grant the messenger these hosts, and no others.
fn grant(settings: &mut Settings, hosts: &[&str]) {
    let messenger = settings.components.get_mut("messenger");
    messenger.expect("the messenger").grant.http =
        hosts.iter().map(|host| (*host).to_owned()).collect();
}

#[track_caller]
fn assert_refused(answer: &Value, why: &str) {
    let refused = answer["refused"].as_str().unwrap_or_default();
    assert!(refused.contains(why), "{why}: {answer}");
}
