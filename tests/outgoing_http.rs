//! Outgoing HTTP requests of components: only to granted hosts, within limits, and with clear reports if a request
//! cannot be undone. A real server on loopback replies.
//!
//! `grants`: which requests are allowed. `limits`: size, time and number. `conflicts`: requests of a call that fails
//! or is retried. `bookmark`: the SDK's example from its user's view.

mod bookmark;
mod conflicts;
mod grants;
mod limits;

use std::sync::Arc;

use notehost::config::{GrantSettings, Settings};
use notehost::dispatch::{CallError, Host, Reply};
use serde_json::{Value, json};

use crate::support::guests::guest;
use crate::support::place::{Place, call, component};
use crate::support::web_server::Server;

/// A vault with a note, a web server, and the guest `messenger`.
struct EgressSetup {
    place: Place,
    host: Arc<Host>,
    server: Server,
}

impl EgressSetup {
    /// The guest may send requests to the server.
    async fn new() -> EgressSetup {
        EgressSetup::with(|settings, server| {
            grant(settings, &[&server.authority()]);
        })
        .await
    }

    /// The guest is granted no hosts, unless these settings grant some.
    async fn with(change: impl FnOnce(&mut Settings, &Server)) -> EgressSetup {
        let place = Place::new();
        place.write("Log.md", "a note\n");
        let server = Server::start().await;
        let mut settings = settings(&place);
        change(&mut settings, &server);
        let host = place.host(settings).await;
        assert!(
            host.registry().snapshot().broken().is_empty(),
            "the guest is loaded: {:?}",
            host.registry().snapshot().broken()
        );
        EgressSetup {
            place,
            host,
            server,
        }
    }

    async fn call(&self, action: &str, arguments: Value) -> Result<Reply, CallError> {
        call(&self.host, &format!("messenger.{action}"), arguments).await
    }

    /// The outcomes of requests in a read action.
    async fn fetch(&self, requests: Value) -> Vec<Value> {
        let reply = self.call("fetch", json!({ "requests": requests })).await;
        let mut reply = reply.expect("it answers");
        match reply.structured.remove("answers") {
            Some(Value::Array(answers)) => answers,
            other => panic!("answers, not {other:?}"),
        }
    }

    /// The outcome of one request.
    async fn ask(&self, scheme: &str, authority: &str, path: &str) -> Value {
        let request = json!({"scheme": scheme, "authority": authority, "path": path});
        self.fetch(json!([request])).await.remove(0)
    }

    /// A request to the server.
    fn request(&self, path: &str) -> Value {
        json!({"scheme": "http", "authority": self.server.authority(), "path": path})
    }
}

/// Settings with the guest, without any hosts.
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

/// Grants the guest exactly these hosts.
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
