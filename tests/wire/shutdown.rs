//! Shutdown, and the lock of a vault. Calls in flight are completed: here they are guests that spin until their
//! deadline, so that a call is certainly in flight when the signal arrives.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::{place_with_note, run, serve_command, settings_with_spinning_guest};
use crate::support::client::{Client, error_code};
use crate::support::http::{Connection, HttpClient, Server};

/// Long enough for the signal to arrive first, even on a busy machine.
const SPIN_MS: u64 = 3_000;

fn terminate(process: &Child) {
    kill_process(Pid::from_child(process), Signal::TERM).expect("the signal is sent");
}

#[test]
fn signal_over_stdio_finishes_the_call_in_flight() {
    let place = place_with_note();
    let config = place.config_file(&settings_with_spinning_guest(&place, SPIN_MS));
    let mut client = Client::start(&config, &place.state());
    let spinning = client.send_call("hostile.spin", json!({}));
    // Requests are processed in order: this reply means that the call has started.
    client.ask("ping", json!({}));
    terminate(client.process());
    let answer = client.answer(spinning);
    assert_eq!(error_code(&answer["result"]), Some("timeout"), "{answer}");
    assert_eq!(client.process().wait().expect("it ends").code(), Some(0));
}

#[test]
fn signal_over_http_finishes_the_call_in_flight() {
    let place = place_with_note();
    let config = place.config_file(&settings_with_spinning_guest(&place, SPIN_MS));
    let mut server = Server::start(&config, &place.state());
    let mut clients = [
        HttpClient::stateless(server.address()),
        HttpClient::with_session(server.address()),
    ];
    for client in &mut clients {
        // The connection is open, and the component is compiled.
        client.call("document.list", json!({}));
        client.send_call("hostile.spin", json!({}));
    }
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(
        Connection::open(server.address())
            .ask("GET", "/healthz", &[], "")
            .status,
        200
    );
    terminate(server.process());
    for client in &mut clients {
        let answer = client.receive();
        assert_eq!(error_code(&answer["result"]), Some("timeout"), "{answer}");
    }
    assert_eq!(server.process().wait().expect("it ends").code(), Some(0));
}

#[test]
fn program_exits_when_its_parent_exits() {
    let place = place_with_note();
    let mut parent = Command::new("sleep")
        .arg("600")
        .spawn()
        .expect("a process to watch");
    let mut server = serve_command(&place)
        .arg("--parent-pid")
        .arg(parent.id().to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    // Another process still holds the pipe, so that the input does not end.
    let held = server.stdin.take();
    std::thread::sleep(Duration::from_millis(500));
    assert!(
        server.try_wait().expect("its state").is_none(),
        "it ended by itself"
    );
    parent
        .kill()
        .and_then(|()| parent.wait().map(drop))
        .expect("the process ends");
    assert_eq!(server.wait().expect("it ends").code(), Some(0));
    drop(held);
}

#[test]
fn second_server_over_http_learns_the_lock_holder() {
    let place = place_with_note();
    let mut server = Server::start(&place.config_file(&place.settings()), &place.state());
    let mut second = serve_command(&place);
    let result = run(second.args(["--http", "127.0.0.1:0"]), "");
    assert_eq!(result.code, Some(3), "{result:#?}");
    let holder = format!("process {}", server.process().id());
    assert!(result.errors.contains(&holder), "{result:#?}");
    assert_eq!(result.output, "");
}
