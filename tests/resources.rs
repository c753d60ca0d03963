//! Resources, completion, prompts and subscriptions: the built program, over stdio and HTTP, with stateless and
//! session-based revisions. Hidden notes appear in none of them.

mod completion;
mod contents;
mod prompts;
mod subscriptions;

use notehost::config::{CallerPermissions, CallerSettings, Settings};
use notehost::vault::Tier;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::http::{HttpClient, Server, stateless_meta};
use crate::support::place::Place;

/// A vault with a notebook that is hidden from some callers.
fn place_with_diary() -> Place {
    let place = Place::new();
    place.write(
        "Work/Plan.md",
        "---\nstatus: open\ntags: [project]\n---\n# Plan\n\n## Today\n\nwrite tests\n\n## Tomorrow\n\nrest\n",
    );
    place.write(
        "Work/Planning.md",
        "# Planning\n\nsee [[Plan]] #project/next\n",
    );
    place.write("Garden/My plan.md", "# Garden\n");
    place.write(
        "Diary/Secret.md",
        "---\nfeeling: blue\n---\n# Hush\n\n#mood\n",
    );
    place
}

/// Settings in which this caller does not see the diary.
fn settings_hiding_diary(place: &Place, caller: &str) -> Settings {
    let mut settings = place.settings();
    settings.callers.insert(
        caller.into(),
        CallerSettings {
            permissions: CallerPermissions {
                notebooks: [("Diary".to_owned(), Tier::None)].into(),
                ..CallerPermissions::default()
            },
            ..CallerSettings::default()
        },
    );
    settings
}

/// A client with one transport and one kind of revision.
enum Wire {
    Stdio(Client),
    StdioStateless(Client),
    Http(
        HttpClient,
        #[allow(dead_code, reason = "it ends when it is dropped")] Server,
    ),
}

impl Wire {
    /// Runs the test for each kind, with its own place: a vault has one writing process at a time.
    fn each(settings: impl Fn(&Place) -> Settings, mut test: impl FnMut(&Place, Wire)) {
        for wire in 0..4 {
            let place = place_with_diary();
            let config = place.config_file(&settings(&place));
            let client = match wire {
                0 => Wire::Stdio(Client::start(&config, &place.state())),
                1 => Wire::StdioStateless(start_without_handshake(&place)),
                _ => {
                    let server = Server::start(&config, &place.state());
                    let client = match wire {
                        2 => HttpClient::with_session(server.address()),
                        _ => HttpClient::stateless(server.address()),
                    };
                    Wire::Http(client, server)
                }
            };
            test(&place, client);
        }
    }

    /// Whether it uses the stateless revision.
    fn is_stateless(&self) -> bool {
        match self {
            Wire::Stdio(_) => false,
            Wire::StdioStateless(_) => true,
            Wire::Http(client, _) => client.session().is_none(),
        }
    }

    /// The full reply to a request.
    fn answer(&mut self, method: &str, mut params: Value) -> Value {
        match self {
            Wire::Stdio(client) => {
                let id = client.send(method, params);
                client.answer(id)
            }
            Wire::StdioStateless(client) => {
                params["_meta"] = stateless_meta();
                let id = client.send(method, params);
                client.answer(id)
            }
            Wire::Http(client, _) => client.ask(method, params),
        }
    }

    /// The result of a request.
    #[track_caller]
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.answer(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].take()
    }

    /// The error of a request.
    #[track_caller]
    fn refused(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.answer(method, params);
        assert!(answer.get("result").is_none(), "{method}: {answer}");
        answer["error"].take()
    }

    /// The error code for a missing resource in this revision.
    fn absent(&self) -> Value {
        match self.is_stateless() {
            true => json!(-32602),
            false => json!(-32002),
        }
    }
}

/// The program over stdio, before the handshake.
fn start_without_handshake(place: &Place) -> Client {
    Client::spawn(
        std::process::Command::new(crate::support::program())
            .arg("serve")
            .arg("--config")
            .arg(place.root().join("notehost.toml"))
            .arg("--state")
            .arg(place.state()),
    )
}

/// The URI of a note.
fn uri(path: &str) -> String {
    format!("notehost://vault/main/{path}")
}
