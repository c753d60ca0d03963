//! Calls of a server elsewhere: the same flags, the same words, and errors that tell whose turn it is.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use notehost::config::Confirm;
use serde_json::json;

use super::{Desk, PLAN, at_a_terminal, run};
use crate::support::http::Server;
use crate::support::issuer::{key_file, private_key};

/// `notehost call` of a server, with these words.
fn words<'a>(url: &'a str, words: &[&'a str]) -> Vec<&'a str> {
    [&["call"], words, &["--server", url]].concat()
}

#[test]
fn a_server_is_called_as_a_vault_is() {
    let desk = Desk::new();
    let server = desk.serve(|_| {});
    let url = server.url();
    let call = |said: &[&str]| desk.run(&words(&url, said));

    let read = call(&["document", "read", "--path", "Work/Plan"]).well();
    assert_eq!(read.json()["content"], PLAN);
    assert_eq!(read.errors, "");
    let said = words(
        &url,
        &["document", "create", "--path", "Work/New", "--content", "-"],
    );
    let made = desk.run_with(&said, "from a pipe\n").well();
    assert_eq!(made.json()["changes"][0]["kind"], "create");
    assert_eq!(
        desk.place.read("Work/New.md").as_deref(),
        Some(&b"from a pipe\n"[..])
    );
    // The short form, and the address without its path.
    let base = format!("http://{}", server.address());
    let read = desk
        .run(&["document", "read", "--path", "Top", "--server", &base])
        .well();
    assert_eq!(read.json()["content"], "top\n");
    let read = call(&[
        "document",
        "read",
        "--json",
        r#"{"path": "Top"}"#,
        "--vault",
        "main",
    ])
    .well();
    assert_eq!(read.json()["content"], "top\n");

    // The call failed: the error is data for a program, and words of the command line for a person.
    let absent = call(&["document", "read", "--path", "Work/Absent"]).failed(1, "Work/Absent");
    assert_eq!(absent.json()["error"]["code"], "not_found");
    call(&["document", "raed"]).failed(1, "`notehost call document read`");
    call(&["documnt", "read"]).failed(1, "document");
    let missing = call(&["document", "read"]).failed(1, "`--path`");
    assert_eq!(missing.json()["error"]["code"], "validation_error");
    // Usage.
    call(&["document", "read", "--pth", "Work/Plan"]).failed(2, "did you mean `--path`?");
    call(&["document", "list", "--allow", "rw"])
        .failed(2, "`--allow` cannot be used with a remote server");
    call(&["document", "read", "--path", "Top", "--vault", "other"]).failed(1, "other");
}

#[test]
fn what_a_server_can_do_is_told_by_the_server() {
    let desk = Desk::new();
    let server = desk.serve(|settings| {
        let mascot = settings.components.entry("mascot".into()).or_default();
        mascot.enabled = false;
    });
    let url = server.url();
    let listed = |words: &[&str]| desk.run(words).well().json()["items"].to_string();
    assert!(listed(&["tools"]).contains("mascot"));
    let there = listed(&["tools", "--server", &url]);
    assert!(
        there.contains("document") && !there.contains("mascot"),
        "{there}"
    );
    let help = desk
        .run(&["help", "document", "edit", "--server", &url])
        .well();
    assert!(help.output.contains("--edits"), "{help:#?}");
    let help = desk
        .run(&["call", "document", "edit", "--server", &url, "--help"])
        .well();
    assert!(help.output.contains("--edits"), "{help:#?}");
    desk.run(&["help", "mascot", "--server", &url])
        .failed(2, "unknown domain `mascot`");
    // Whose scopes are few is shown little.
    let token = desk.token("reader", "read");
    let few = listed(&["tools", "--server", &url, "--token", &token]);
    assert!(
        few.contains("\"read\"") && !few.contains("\"remove\""),
        "{few}"
    );
}

#[test]
fn who_is_not_let_in_is_told_what_is_missing() {
    let desk = Desk::new();
    let token = desk.token("phone", "read");
    let server = desk.serve_authenticated();
    let url = server.url();
    let read = ["document", "read", "--path", "Work/Plan"];
    desk.run(&words(&url, &read))
        .failed(3, "it asks for a token");
    let wrong = [&read[..], &["--token", "nonsense"]].concat();
    desk.run(&words(&url, &wrong))
        .failed(3, "the token does not hold");

    // By a flag, from stdin, by a variable.
    let with = [&read[..], &["--token", &token]].concat();
    desk.run(&words(&url, &with)).well();
    let from_stdin = [&read[..], &["--token", "-"]].concat();
    desk.run_with(&words(&url, &from_stdin), &format!("{token}\n"))
        .well();
    desk.run_with(&words(&url, &from_stdin), "")
        .failed(2, "the token is empty");
    let mut command = desk.program(&["call", "document", "read", "--path", "Work/Plan"]);
    command
        .env("NOTEHOST_SERVER", &url)
        .env("NOTEHOST_TOKEN", &token);
    run(&mut command, "").well();
    // The first line is the token, the rest is what is written.
    let writer = desk.token("desk", "read,write");
    let append = [
        "document",
        "append",
        "--path",
        "Work/Plan",
        "--text",
        "-",
        "--token",
        "-",
    ];
    desk.run_with(&words(&url, &append), &format!("{writer}\nand bread\n"))
        .well();
    let after = desk.place.read("Work/Plan.md").expect("the note");
    assert!(String::from_utf8_lossy(&after).contains("and bread"));

    let append = [
        "document", "append", "--path", "Top", "--text", "x", "--token", &token,
    ];
    let refused = desk.run(&words(&url, &append)).failed(1, "scope");
    assert_eq!(refused.json()["error"]["code"], "forbidden");
    desk.run(&[
        "call",
        "document",
        "list",
        "--token",
        &token,
        "--vault",
        &desk.vault(),
    ])
    .failed(2, "`--token` without a server");
}

#[test]
fn what_is_no_server_is_told() {
    let desk = Desk::new();
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let nobody = format!("http://{}", free.local_addr().expect("an address"));
    drop(free);
    let list = ["document", "list"];
    desk.run(&words(&nobody, &list))
        .failed(3, "is the server running there?");
    for bad in ["127.0.0.1:8765", "notes", "ftp://notes.example"] {
        desk.run(&words(bad, &list))
            .failed(2, "is no address of a server");
    }
    // Somebody else, who answers something else.
    for answer in [
        "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/mcp\r\nContent-Length: 0\r\n\r\n",
    ] {
        let other = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", other.local_addr().expect("an address"));
        let answering = std::thread::spawn(move || {
            let (mut stream, _) = other.accept().expect("a connection");
            let mut asked = [0; 65536];
            let length = stream.read(&mut asked).expect("a request");
            stream.write_all(answer.as_bytes()).expect("an answer");
            String::from_utf8_lossy(&asked[..length]).into_owned()
        });
        let said = [&list[..], &["--token", "secret"]].concat();
        desk.run(&words(&url, &said)).failed(3, "no Notehost at");
        let asked = answering.join().expect("no panic");
        assert!(asked.starts_with("POST /mcp "), "{asked}");
        assert!(
            asked
                .to_lowercase()
                .contains("authorization: bearer secret"),
            "{asked}"
        );
    }
}

/// A server whose changes wait for a person.
fn careful(desk: &Desk) -> Server {
    desk.serve(|settings| settings.confirm = Confirm::Floor)
}

#[test]
fn a_person_decides_what_a_server_removes() {
    let desk = Desk::new();
    let server = careful(&desk);
    let url = server.url();
    let scopes = "read,write,delete";
    let (attended, unattended) = (
        desk.token_with("desktop", scopes, &["--attended"]),
        desk.token("script", scopes),
    );
    let remove = words(&url, &["document", "remove", "--paths", "Work/Plan"]);
    let without = [&remove[..], &["--token", &unattended]].concat();
    desk.run(&without).failed(1, "if the token is attended");
    let remove = [&remove[..], &["--token", &attended]].concat();
    for (types, code) in [("n\n", Some(1)), ("\n", Some(1))] {
        let (ended, shown) = at_a_terminal(&mut desk.program(&remove), "[y/N]", types);
        assert_eq!(ended, code, "{shown}");
        assert!(
            shown.contains("-buy milk") && shown.contains("nothing was changed"),
            "{shown}"
        );
        assert!(desk.place.read("Work/Plan.md").is_some());
    }
    // Also one who said so before.
    let said = [&remove[..], &["--yes"]].concat();
    let (ended, shown) = at_a_terminal(&mut desk.program(&said), "[y/N]", "y\n");
    assert_eq!(ended, Some(0), "{shown}");
    assert!(desk.place.read("Work/Plan.md").is_none());
}

#[test]
fn a_script_cannot_say_yes_to_a_server() {
    let desk = Desk::new();
    let server = careful(&desk);
    let url = server.url();
    let remove = words(
        &url,
        &["document", "remove", "--paths", "Work/Plan", "--yes"],
    );
    let asked = desk.run(&remove).failed(1, "`--yes` has no effect");
    let id = asked.json()["error"]["details"]["approval"].clone();
    let id = id.as_str().expect("an id");
    assert!(
        asked
            .errors
            .contains(&format!("notehost approval approve {id}")),
        "{asked:#?}"
    );
    assert!(desk.place.read("Work/Plan.md").is_some());

    let state = desk.server_state();
    desk.run(&[
        "approval",
        "approve",
        id,
        "--state",
        &state.to_string_lossy(),
    ])
    .well();
    let approved = [&remove[..], &["--approval", id]].concat();
    desk.run(&approved).well();
    assert!(desk.place.read("Work/Plan.md").is_none());
}

#[test]
fn a_server_with_a_certificate_is_reached_by_who_trusts_it() {
    let desk = Desk::new();
    let key = desk.place.outside().join("key.pem");
    private_key("tls-first.key.pem", &key);
    let server = desk.serve(|settings| {
        settings.http.tls_cert = Some(key_file("tls-first.cert.pem"));
        settings.http.tls_key = Some(key);
    });
    let port = server.address().rsplit(':').next().expect("a port");
    let url = format!("https://localhost:{port}/mcp");
    let read = words(&url, &["document", "read", "--path", "Work/Plan"]);
    desk.run(&read).failed(3, "certificate");
    let mut command = desk.program(&read);
    command.env("SSL_CERT_FILE", key_file("tls-first.cert.pem"));
    assert_eq!(run(&mut command, "").well().json()["content"], PLAN);
}

#[test]
fn every_page_is_one_list() {
    let desk = Desk::new();
    for number in 0..25 {
        desk.place.write(&format!("Many/{number:02}.md"), "x\n");
    }
    let vault = desk.vault();
    let here = ["--vault", &vault];
    let list = [
        "call", "document", "list", "--path", "Many", "--limit", "10",
    ];
    let count = |words: &[&str]| {
        let page = desk.run(words).well().json();
        let items = page["items"].as_array().expect("a list");
        (items.len(), page["next_cursor"].is_string())
    };
    assert_eq!(count(&[&list[..], &here].concat()), (10, true));
    assert_eq!(
        count(&[&list[..], &here, &["--all-pages"]].concat()),
        (25, false)
    );
    let server = desk.serve(|_| {});
    let url = server.url();
    let there = ["--server", url.as_str()];
    assert_eq!(count(&[&list[..], &there].concat()), (10, true));
    assert_eq!(
        count(&[&list[..], &there, &["--all-pages"]].concat()),
        (25, false)
    );
    let one = ["call", "document", "read", "--path", "Top", "--all-pages"];
    assert_eq!(
        desk.run(&[&one[..], &there].concat()).well().json()["content"],
        json!("top\n")
    );
}
