//! Progress of a call: sent before its reply, only to a client that asked for it.

use notehost::config::CallerSettings;
use serde_json::{Value, json};

use super::{place_with_note, progress_of, slow_settings, with_progress_token};
use crate::support::client::{Client, error_code};
use crate::support::http::{HttpClient, Response, Server};
use crate::support::place::Place;

#[test]
fn progress_over_stdio_precedes_the_reply() {
    let place = place_with_note();
    let mut client = Client::start(&place.config_file(&slow_settings(&place)), &place.state());
    let arguments = json!({"steps": 6, "pause": 100});
    let id = client.send(
        "tools/call",
        with_progress_token("slow__work", arguments.clone()),
    );
    let answer = client.answer(id);
    assert_eq!(error_code(&answer["result"]), None, "{answer}");
    let reported = progress_of(client.notifications());
    assert!(reported.len() >= 2, "{reported:?}");
    assert_eq!(reported.last(), Some(&(6.0, Some(6.0))), "{reported:?}");
    assert_eq!(
        client.notifications()[0]["params"]["message"],
        "steps",
        "in words, too"
    );

    let before = client.notifications().len();
    let quiet = client.call("slow.work", arguments);
    assert_eq!(error_code(&quiet), None, "{quiet}");
    assert_eq!(
        client.notifications().len(),
        before,
        "no progress was requested"
    );
}

#[test]
fn progress_over_http_uses_the_stream_of_the_call() {
    let place = place_with_note();
    let server = Server::start(&place.config_file(&slow_settings(&place)), &place.state());
    for mut client in [
        HttpClient::stateless(server.address()),
        HttpClient::with_session(server.address()),
    ] {
        client.send(
            "tools/call",
            with_progress_token("slow__work", json!({"steps": 6, "pause": 100})),
        );
        let events = events_of(&client.response());
        let reported = progress_of(&events);
        assert_eq!(reported.last(), Some(&(6.0, Some(6.0))), "{events:#?}");
        let (answer, before) = events.split_last().expect("an answer");
        assert_eq!(answer["result"]["structuredContent"]["steps"], 6);
        assert_eq!(reported.len(), before.len(), "all of it before the answer");
    }
}

/// The messages of a stream, in order.
fn events_of(response: &Response) -> Vec<Value> {
    let lines = response.body.lines();
    let data = lines.filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| !data.is_empty())
        .map(|data| serde_json::from_str(data).expect("JSON"))
        .collect()
}

#[test]
fn frequent_progress_reports_are_throttled() {
    let place = place_with_note();
    let mut client = Client::start(&place.config_file(&slow_settings(&place)), &place.state());
    let id = client.send("tools/call", with_progress_token("hostile__nag", json!({})));
    let answer = client.answer(id);
    assert_eq!(error_code(&answer["result"]), None, "{answer}");
    // At most four per second; even on a slow machine, forty thousand are reported.
    let reported = progress_of(client.notifications());
    assert!(reported.len() < 400, "{}", reported.len());
    for message in client.notifications() {
        let words = message["params"]["message"].as_str().unwrap_or_default();
        assert!(words.len() <= 200 && !words.contains('\u{1b}'), "{words:?}");
    }
}

/// A vault whose notes all link to one note, and share a word.
fn place_with_links() -> Place {
    let place = place_with_note();
    for number in 0..150 {
        place.write(
            &format!("Many/Note {number}.md"),
            format!("# Note {number}\n\nsee [[Plan]], alpha\n"),
        );
    }
    place
}

#[test]
fn actions_on_many_notes_report_progress() {
    let place = place_with_links();
    let mut settings = place.settings();
    settings.callers.insert(
        "stdio".into(),
        CallerSettings {
            scopes: Some(["read", "write", "admin"].map(str::to_owned).into()),
            ..CallerSettings::default()
        },
    );
    let mut client = Client::start(&place.config_file(&settings), &place.state());
    let op = |number: usize| json!({"action": "append", "parent": format!("Many/Note {number}"), "text": "beta"});
    let ops: Vec<Value> = (0..40).map(op).collect();
    for (tool, arguments, least) in [
        (
            "search__replace",
            json!({"find": "alpha", "replace": "gamma"}),
            150.0,
        ),
        (
            "document__rename",
            json!({"path": "Work/Plan", "to": "Plot"}),
            150.0,
        ),
        (
            "file__export",
            json!({"paths": ["Many"], "format": "html", "to": "Out/all.html"}),
            300.0,
        ),
        (
            "file__export",
            json!({"paths": ["Many"], "format": "markdown", "to": "Out/all.zip"}),
            150.0,
        ),
        ("block__batch", json!({ "ops": ops }), 40.0),
        ("admin__rebuild_index", json!({}), 151.0),
    ] {
        let before = client.notifications().len();
        let id = client.send("tools/call", with_progress_token(tool, arguments));
        let answer = client.answer(id);
        assert_eq!(error_code(&answer["result"]), None, "{tool}: {answer}");
        let reported = progress_of(&client.notifications()[before..]);
        let most = reported.last().map_or(0.0, |(done, _)| *done);
        assert!(most >= least, "{tool}: {reported:?}");
    }
    assert_eq!(
        place.read("Many/Note 7.md").expect("a note"),
        b"# Note 7\n\nsee [[Plot]], gamma\n\nbeta\n",
        "the changes are applied"
    );
}

#[test]
fn searches_work_during_an_index_rebuild() {
    let place = place_with_links();
    let mut settings = place.settings();
    settings.callers.insert(
        "stdio".into(),
        CallerSettings {
            scopes: Some(["read", "write", "admin"].map(str::to_owned).into()),
            ..CallerSettings::default()
        },
    );
    let mut client = Client::start(&place.config_file(&settings), &place.state());
    let rebuilding = client.send_call("admin.rebuild_index", json!({"vault": "main"}));
    let found = client.call("search.text", json!({"query": "alpha"}));
    assert_eq!(error_code(&found), None, "{found}");
    let answer = client.answer(rebuilding);
    let rebuilt = &answer["result"]["structuredContent"];
    assert_eq!(rebuilt["items"][0], json!({"vault": "main", "notes": 151}));
    let found = client.call("search.text", json!({"query": "alpha", "limit": 1}));
    assert_eq!(found["structuredContent"]["total"], 150, "{found}");

    let unknown = client.call("admin.rebuild_index", json!({"vault": "mian"}));
    assert_eq!(error_code(&unknown), Some("not_found"), "{unknown}");
    assert!(unknown.to_string().contains("did you mean `main`?"));
}
