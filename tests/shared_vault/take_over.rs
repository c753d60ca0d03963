//! The process that holds the vault ends or is killed: another one takes its place, and no other client notices.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::{config, holder, place, run, text_of};
use crate::support::client::{Client, error_code};
use crate::support::place::Place;
use crate::support::program::wait_until;

const URI: &str = "notehost://vault/main/Work/Plan.md";

/// Waits for a notification that the note changed.
fn wait_for_update(client: &mut Client) {
    loop {
        let notification = client.next_notification();
        if notification["method"] == "notifications/resources/updated" {
            assert_eq!(notification["params"]["uri"], URI);
            return;
        }
    }
}

/// Drops the notifications that are under way.
fn settle(client: &mut Client) {
    let mut is_quiet = false;
    while !is_quiet {
        std::thread::sleep(Duration::from_millis(400));
        client.ask("ping", json!({}));
        is_quiet = client.notifications().is_empty();
        while !client.notifications().is_empty() {
            client.next_notification();
        }
    }
}

fn append(client: &mut Client, line: &str) {
    let appended = client.call(
        "document.append",
        json!({"path": "Work/Plan", "text": line}),
    );
    assert_eq!(error_code(&appended), None, "{appended}");
    assert_eq!(appended["isError"], false, "{appended}");
}

#[test]
fn subscriptions_fire_before_and_after_a_take_over() {
    for is_graceful in [false, true] {
        let place = place();
        let config = config(&place, "both", |_| {});
        let mut first = Client::start(&config, &place.state());
        let mut second = Client::start(&config, &place.state());
        second.ask("resources/subscribe", json!({"uri": URI}));
        append(&mut first, "one");
        wait_for_update(&mut second);
        if is_graceful {
            first.disconnect();
        } else {
            first.process().kill().expect("killed");
        }
        append(&mut second, "two");
        assert_eq!(holder(&place), Some(second.process().id()));
        // What may have changed meanwhile is reported by the relay itself: here the subscription is tested.
        settle(&mut second);
        let arguments = [
            "call",
            "document",
            "append",
            "--path",
            "Work/Plan",
            "--text",
            "three",
        ];
        let appended = run(&place, &config, &arguments);
        assert!(appended.status.success(), "{}", text_of(&appended));
        wait_for_update(&mut second);
    }
}

#[test]
fn streams_of_the_stateless_revision_survive_a_take_over() {
    let place = place();
    let config = config(&place, "both", |_| {});
    let first = Client::start(&config, &place.state());
    let mut command = Command::new(crate::support::program());
    command
        .args(["serve", "--config"])
        .arg(&config)
        .arg("--state");
    let mut second = Client::spawn(command.arg(place.state()));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "0"},
    });
    let filter = json!({"resourceSubscriptions": [URI]});
    second.send(
        "subscriptions/listen",
        json!({"_meta": meta, "notifications": filter}),
    );
    let opened = second.next_notification();
    assert_eq!(
        opened["method"], "notifications/subscriptions/acknowledged",
        "{opened}"
    );
    first.disconnect();
    wait_until("it has taken over", || {
        holder(&place) == Some(second.process().id())
    });
    // Answered after the stream was opened again.
    second.ask("tools/list", json!({"_meta": meta}));
    let arguments = [
        "call",
        "document",
        "append",
        "--path",
        "Work/Plan",
        "--text",
        "more",
    ];
    let appended = run(&place, &config, &arguments);
    assert!(appended.status.success(), "{}", text_of(&appended));
    let next = second.next_notification();
    assert_eq!(next["method"], "notifications/resources/updated", "{next}");
}

/// A client that appends lines and starts its server again when that is killed, as clients do.
struct Writer<'a> {
    place: &'a Place,
    config: &'a Path,
    number: usize,
}

/// The lines that were acknowledged, and all others that were sent.
type Lines = (Vec<String>, Vec<String>);

impl Writer<'_> {
    fn start(&self) -> Client {
        loop {
            let mut command = Command::new(crate::support::program());
            command.args(["serve", "--config"]).arg(self.config);
            let mut client = Client::spawn(command.arg("--state").arg(self.place.state()));
            let hello = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": format!("writer {}", self.number), "version": "0"},
            });
            let id = client.send("initialize", hello);
            if client.answer_or_exit(id).is_some() {
                client.notify("notifications/initialized", json!({}));
                return client;
            }
        }
    }

    fn write(&self, lines: usize, progress: &AtomicUsize) -> Lines {
        let (mut acknowledged, mut lost) = (Vec::new(), Vec::new());
        let mut client = self.start();
        for number in 0..lines {
            let line = format!("writer-{}-line-{number}.", self.number);
            let text = json!({"path": "Work/Plan", "text": line});
            let sent = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                client.send_call("document.append", text)
            }));
            // The pipe of a killed server is broken.
            let answer = sent.ok().and_then(|id| client.answer_or_exit(id));
            match answer {
                Some(answer) => {
                    assert_eq!(answer["result"]["isError"], false, "{answer}");
                    acknowledged.push(line);
                }
                None => {
                    lost.push(line);
                    client = self.start();
                }
            }
            progress.fetch_add(1, Ordering::SeqCst);
        }
        client.disconnect();
        (acknowledged, lost)
    }
}

/// Writers append to one note while the process that holds the vault is killed again and again.
fn survive(writers: usize, lines: usize, kills: usize, with_editor: bool) {
    let place = place();
    let config = config(&place, "both", |_| {});
    let (progress, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let results = Mutex::new(Vec::<Lines>::new());
    let total = writers * lines;
    std::thread::scope(|scope| {
        for number in 0..writers {
            let (writer, results, progress) = (
                Writer {
                    place: &place,
                    config: &config,
                    number,
                },
                &results,
                &progress,
            );
            scope.spawn(move || {
                let written = writer.write(lines, progress);
                results.lock().expect("no panic").push(written);
            });
        }
        if with_editor {
            let (place, is_over) = (&place, &is_over);
            scope.spawn(move || {
                let mut number = 0;
                while !is_over.load(Ordering::SeqCst) {
                    place.write("Work/Edited outside.md", format!("version {number}\n"));
                    number += 1;
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
        }
        for kill in 1..=kills {
            // At even steps of the work, so that each process has served for a while.
            wait_until("the writers go on", || {
                progress.load(Ordering::SeqCst) >= total * kill / (kills + 1)
                    && holder(&place).is_some()
            });
            if let Some(process) = holder(&place) {
                let mut command = Command::new("kill");
                let killed = command.args(["-9", &process.to_string()]).status();
                assert!(killed.expect("it runs").success());
            }
        }
        wait_until("the writers are done", || {
            progress.load(Ordering::SeqCst) >= total
        });
        is_over.store(true, Ordering::SeqCst);
    });
    let text = place.read("Work/Plan.md").expect("the note");
    let text = String::from_utf8(text).expect("text");
    let results = results.into_inner().expect("no panic");
    assert_eq!(results.len(), writers);
    let (acknowledged, lost): (Vec<_>, Vec<_>) = results.into_iter().unzip();
    let (acknowledged, lost) = (acknowledged.concat(), lost.concat());
    let count = |line: &String| text.matches(line.as_str()).count();
    let wrong: BTreeSet<(&String, usize)> = acknowledged
        .iter()
        .map(|line| (line, count(line)))
        .filter(|(_, count)| *count != 1)
        .collect();
    assert!(wrong.is_empty(), "acknowledged lines: {wrong:?}");
    assert!(lost.iter().all(|line| count(line) <= 1), "{lost:?}");
    // Only a client whose own server was killed loses a line.
    assert!(lost.len() <= kills, "{lost:?}");
    assert_eq!(holder(&place), None, "no process is left");
}

#[test]
fn killed_holders_lose_and_repeat_nothing() {
    survive(3, 60, 3, false);
}

/// The same at the size of a night's test: `NOTEHOST_SHARED_VAULT=1`.
#[test]
fn killed_holders_lose_and_repeat_nothing_all_night() {
    if std::env::var_os("NOTEHOST_SHARED_VAULT").is_some() {
        survive(4, 500, 20, true);
    }
}

#[test]
fn a_question_of_a_killed_holder_is_asked_again() {
    let place = place();
    let config = config(&place, "both", |settings| {
        settings.confirm = notehost::config::Confirm::Floor;
    });
    let mut first = Client::start(&config, &place.state());
    let mut command = Command::new(crate::support::program());
    command
        .args(["serve", "--config"])
        .arg(&config)
        .arg("--state");
    let mut second = Client::spawn(command.arg(place.state()));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "0"},
    });
    let mut call = json!({
        "_meta": meta, "name": "document__remove", "arguments": {"paths": ["Work/Plan"]},
    });
    let asked = second.ask("tools/call", call.clone());
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    first.process().kill().expect("killed");
    // The sealed state of the first process is accepted by the second.
    call["requestState"] = asked["requestState"].clone();
    let answer = json!({"action": "accept", "content": {"approve": true}});
    call["inputResponses"] = json!({"approval": answer});
    let removed = second.ask("tools/call", call);
    assert_eq!(error_code(&removed), None, "{removed}");
    assert_eq!(json!(place.read("Work/Plan.md")), Value::Null);
}

/// The holder stops at each step of the commit of a relayed call: the next one carries the call out, or finds that it was.
#[test]
fn a_call_whose_holder_stops_in_its_commit_is_made_once() {
    let before = [
        "commit-validated",
        "commit-temp-written",
        "commit-history-pending",
    ];
    let after = ["commit-applied", "commit-history-done"];
    let after = after.iter().chain(notehost::vault::REPLY_POINTS);
    let points = before.iter().map(|point| (*point, false));
    let points = points.chain(after.map(|point| (*point, true)));
    for (number, (point, has_landed)) in points.enumerate() {
        let place = place();
        let config = config(&place, "both", |_| {});
        let mut command = Command::new(crate::support::program());
        command
            .args(["serve", "--config"])
            .arg(&config)
            .arg("--state");
        command.arg(place.state()).env("NOTEHOST_FAIL_POINT", point);
        let mut first = Client::spawn(&mut command);
        first.initialize();
        let mut second = Client::start(&config, &place.state());
        let mut call = json!({"path": "Work/Plan", "text": "the line"});
        if number % 2 == 1 {
            call["idempotency_key"] = "k".into();
        }
        let appended = second.call("document.append", call);
        assert_eq!(appended["isError"], false, "{point}: {appended}");
        let change = &appended["structuredContent"]["change"];
        assert!(change.is_string(), "{point}: {appended}");
        let is_from_history = appended.to_string().contains("already been carried out");
        assert_eq!(is_from_history, has_landed, "{point}: {appended}");
        let ended = first.process().wait().expect("it ends");
        assert!(!ended.success(), "{point}: the first process stopped there");
        let text = place.read("Work/Plan.md").expect("the note");
        let text = String::from_utf8_lossy(&text).into_owned();
        assert_eq!(text.matches("the line").count(), 1, "{point}: {text}");
        second.disconnect();
    }
}
