//! Rate limits per caller.

use notehost::config::{RateSettings, Settings};
use serde_json::json;

use crate::support::client::{Client, error_code};
use crate::support::http::{HttpClient, Server};
use crate::support::place::Place;

fn slow(place: &Place) -> Settings {
    let mut settings = place.settings();
    settings.rates = RateSettings {
        read: 3,
        write: 1,
        delete: 1,
        burst_seconds: 60,
        stdio: false,
    };
    settings
}

#[test]
fn http_callers_are_rate_limited_by_effect() {
    let place = Place::new();
    place.write("Log.md", "begin\n");
    let config = place.config_file(&slow(&place));
    let server = Server::start(&config, &place.state());
    let mut client = HttpClient::stateless(server.address());
    let read = json!({"path": "Log"});
    for _ in 0..3 {
        let done = client.call("document.read", read.clone());
        assert_eq!(error_code(&done), None, "{done}");
    }
    let throttled = client.call("document.read", read.clone());
    let error = &throttled["structuredContent"]["error"];
    assert_eq!(error["code"], "throttled", "{throttled}");
    assert_eq!(error["retryable"], true);
    let wait = error["details"]["retry_after_ms"]
        .as_u64()
        .expect("a time to wait");
    assert!((1..=20_000).contains(&wait), "{wait}");

    // Writes have their own bucket, and a rejected call takes no token from it.
    let refused = client.call("document.append", json!({"path": "Log"}));
    assert_eq!(error_code(&refused), Some("validation_error"), "{refused}");
    let append = json!({"path": "Log", "text": "a"});
    let done = client.call("document.append", append.clone());
    assert_eq!(error_code(&done), None, "{done}");
    let throttled = client.call("document.append", append);
    assert_eq!(error_code(&throttled), Some("throttled"), "{throttled}");
    drop(client);

    // A restart does not reset the buckets: they are saved at shutdown.
    let mut server = server;
    let pid = rustix::process::Pid::from_child(server.process());
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("the signal is sent");
    server.process().wait().expect("it stops");
    drop(server);
    let server = Server::start(&config, &place.state());
    let throttled = HttpClient::stateless(server.address())
        .call("document.append", json!({"path": "Log", "text": "a"}));
    assert_eq!(error_code(&throttled), Some("throttled"), "{throttled}");
}

#[test]
fn stdio_parent_is_not_rate_limited_by_default() {
    let place = Place::new();
    place.write("Log.md", "begin\n");
    let mut settings = slow(&place);
    let mut codes = Vec::new();
    for stdio in [false, true] {
        settings.rates.stdio = stdio;
        let mut client = Client::start(&place.config_file(&settings), &place.state());
        let read = || json!({"path": "Log"});
        let last = (0..5).map(|_| client.call("document.read", read())).last();
        codes.push(last.as_ref().and_then(error_code).map(str::to_owned));
    }
    assert_eq!(codes, [None, Some("throttled".to_owned())]);
}
