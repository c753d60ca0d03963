//! One note, four clients and an editor, all at once on the built program: no update is lost or applied twice.
//!
//! Each client appends lines to the note and increments a counter in its own section. The editor works like Obsidian:
//! it reads the note, writes a new file beside it, and renames that over the note. It merges: it compares what it
//! replaced, and adds at its next edit what it had not read. Until then a client finds an old value of its counter, and
//! waits.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

use crate::support::client::error_code;
use crate::support::http::{HttpClient, Server};
use crate::support::place::Place;

const NOTE: &str = "Work/Log.md";
const CLIENTS: usize = 4;
const LINES: usize = 500;
/// A client increments its counter once per this many lines.
const LINES_PER_COUNT: usize = 10;
/// Maximum time for the editor to restore what it overwrote.
const TIMEOUT: Duration = Duration::from_secs(120);

#[test]
fn concurrent_writers_lose_and_duplicate_nothing() {
    let place = Place::new();
    let sections =
        (0..CLIENTS).map(|client| format!("## Client {client}\n\n{}\n\n", counter(client, 0)));
    place.write(
        NOTE,
        format!("# Log\n\n{}## Lines\n\n", sections.collect::<String>()),
    );
    let mut settings = place.settings();
    (settings.rates.read, settings.rates.write) = (0, 0);
    let server = Server::start(&place.config_file(&settings), &place.state());

    let is_over = AtomicBool::new(false);
    let edits = thread::scope(|scope| {
        let editor = scope.spawn(|| Editor::new(&place).edit_until(&is_over));
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let address = server.address();
                scope.spawn(move || write_as_client(number, address))
            })
            .collect();
        let result: Vec<_> = clients
            .into_iter()
            .map(thread::ScopedJoinHandle::join)
            .collect();
        // The editor must also stop if a client fails, or the scope never ends.
        is_over.store(true, Ordering::SeqCst);
        let edits = editor.join().expect("the editor does not panic");
        assert!(result.iter().all(Result::is_ok), "a client failed");
        edits
    });

    let note = String::from_utf8(place.read(NOTE).expect("the note is there")).expect("text");
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for line in note.lines().filter(|line| !line.is_empty()) {
        *found.entry(line).or_default() += 1;
    }
    let mut expected: Vec<String> = (0..edits).map(editor_line).collect();
    for client in 0..CLIENTS {
        expected.push(counter(client, LINES / LINES_PER_COUNT));
        expected.push(format!("## Client {client}"));
        expected.extend((0..LINES).map(|line| client_line(client, line)));
    }
    expected.extend(["# Log".to_owned(), "## Lines".to_owned()]);
    let wrong: Vec<String> = expected
        .iter()
        .map(|line| (line, found.remove(line.as_str()).unwrap_or_default()))
        .filter(|(_, times)| *times != 1)
        .map(|(line, times)| format!("`{line}` is there {times} times"))
        .collect();
    assert!(wrong.is_empty(), "after {edits} edits: {wrong:#?}");
    assert!(found.is_empty(), "unexpected lines: {found:#?}");
    assert!(edits >= 100, "the editor wrote {edits} times only");
}

fn client_line(client: usize, line: usize) -> String {
    format!("client {client} line {line}")
}

fn editor_line(edit: usize) -> String {
    format!("editor line {edit}")
}

fn counter(client: usize, count: usize) -> String {
    format!("counter of client {client}: {count}")
}

/// Half of the clients use sessions, the other half is stateless.
fn write_as_client(number: usize, address: &str) {
    let mut client = match number % 2 {
        0 => HttpClient::stateless(address),
        _ => HttpClient::with_session(address),
    };
    for line in 0..LINES {
        let text = format!("{}\n", client_line(number, line));
        retry_until_success(
            &mut client,
            "document.append",
            json!({"path": NOTE, "text": text}),
        );
        if (line + 1) % LINES_PER_COUNT == 0 {
            let count = line / LINES_PER_COUNT;
            // Including the line feed, because 1 is a prefix of 10.
            let old = format!("{}\n", counter(number, count));
            let new = format!("{}\n", counter(number, count + 1));
            retry_until_success(
                &mut client,
                "document.edit",
                json!({"path": NOTE, "edits": [{"old": old, "new": new}]}),
            );
        }
    }
}

/// Repeats a call until it succeeds. A rejected call changes nothing, so repeating it does not duplicate anything.
fn retry_until_success(client: &mut HttpClient, action: &str, arguments: Value) {
    let began = Instant::now();
    loop {
        let result = client.call(action, arguments.clone());
        let Some(code) = error_code(&result) else {
            return;
        };
        let is_passing = code == "conflict" || (action == "document.edit" && code == "not_found");
        assert!(
            is_passing && began.elapsed() < TIMEOUT,
            "{action} {arguments}: {result}"
        );
        thread::sleep(Duration::from_millis(5));
    }
}

/// An editor that does not know about Notehost.
struct Editor {
    note: PathBuf,
    fresh: PathBuf,
    edits: usize,
}

impl Editor {
    fn new(place: &Place) -> Editor {
        Editor {
            note: place.vault().join(NOTE),
            fresh: place.outside().join("fresh.md"),
            edits: 0,
        }
    }

    /// Edits repeatedly; returns the number of edits.
    fn edit_until(mut self, is_over: &AtomicBool) -> usize {
        let mut unseen = None;
        while !is_over.load(Ordering::SeqCst) || unseen.is_some() {
            unseen = self.edit(unseen);
            // A pause between edits; overwritten text is restored at once.
            if unseen.is_none() {
                thread::sleep(Duration::from_millis(50));
            }
        }
        self.edits
    }

    /// Adds one line, and the text that an earlier edit overwrote; returns the text that this edit overwrote.
    fn edit(&mut self, unseen: Option<String>) -> Option<String> {
        let read = fs::read_to_string(&self.note).expect("the note is there");
        let mut new = match &unseen {
            Some(unseen) => merge_notes(&read, unseen),
            None => read.clone(),
        };
        new.push_str(&format!("{}\n", editor_line(self.edits)));
        fs::write(&self.fresh, new).expect("the new note can be written");
        renameat_with(CWD, &self.fresh, CWD, &self.note, RenameFlags::EXCHANGE)
            .expect("the new note gets its place");
        self.edits += 1;
        let replaced = fs::read_to_string(&self.fresh).expect("the old note is there");
        (replaced != read).then_some(replaced)
    }
}

/// The note with every line of `unseen` that it lacks, and each counter at its maximum.
fn merge_notes(note: &str, unseen: &str) -> String {
    let mut lines: Vec<&str> = note.lines().collect();
    let places: HashMap<&str, usize> = lines
        .iter()
        .enumerate()
        .map(|(place, line)| (split_counter(line).0, place))
        .collect();
    for line in unseen.lines().filter(|line| !line.is_empty()) {
        let (name, count) = split_counter(line);
        match places.get(name) {
            Some(place) if split_counter(lines[*place]).1 < count => lines[*place] = line,
            Some(_) => {}
            None => lines.push(line),
        }
    }
    lines.join("\n") + "\n"
}

/// Splits a line into the name of its counter and the value; other lines have the value 0.
fn split_counter(line: &str) -> (&str, usize) {
    let parts = line.rsplit_once(": ");
    parts
        .and_then(|(name, count)| Some((name, count.parse().ok()?)))
        .unwrap_or((line, 0))
}
