//! Calls of a remote server: the same flags and arguments, and errors that state who can act.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use notehost::config::Confirm;
use serde_json::json;

use super::{PLAN, Workspace, at_a_terminal, run};
use crate::support::http::Server;
use crate::support::issuer::{key_file, private_key};

/// The arguments of `notehost call` for a server.
fn call_arguments<'a>(url: &'a str, words: &[&'a str]) -> Vec<&'a str> {
    [&["call"], words, &["--server", url]].concat()
}

#[test]
fn remote_calls_match_local_calls() {
    let workspace = Workspace::new();
    let server = workspace.serve(|_| {});
    let url = server.url();
    let call = |arguments: &[&str]| workspace.run(&call_arguments(&url, arguments));

    let read = call(&["document", "read", "--path", "Work/Plan"]).expect_success();
    assert_eq!(read.json()["content"], PLAN);
    assert_eq!(read.errors, "");
    let arguments = call_arguments(
        &url,
        &["document", "create", "--path", "Work/New", "--content", "-"],
    );
    let made = workspace
        .run_with(&arguments, "from a pipe\n")
        .expect_success();
    assert_eq!(made.json()["changes"][0]["kind"], "create");
    assert_eq!(
        workspace.place.read("Work/New.md").as_deref(),
        Some(&b"from a pipe\n"[..])
    );
    // The short form, and the URL without its path.
    let base = format!("http://{}", server.address());
    let read = workspace
        .run(&["document", "read", "--path", "Top", "--server", &base])
        .expect_success();
    assert_eq!(read.json()["content"], "top\n");
    let read = call(&[
        "document",
        "read",
        "--json",
        r#"{"path": "Top"}"#,
        "--vault",
        "main",
    ])
    .expect_success();
    assert_eq!(read.json()["content"], "top\n");

    // The call fails: JSON for a program, and a message for a person.
    let absent =
        call(&["document", "read", "--path", "Work/Absent"]).expect_failure(1, "Work/Absent");
    assert_eq!(absent.json()["error"]["code"], "not_found");
    call(&["document", "raed"]).expect_failure(1, "`notehost call document read`");
    call(&["documnt", "read"]).expect_failure(1, "document");
    let missing = call(&["document", "read"]).expect_failure(1, "`--path`");
    assert_eq!(missing.json()["error"]["code"], "validation_error");
    // Usage errors.
    call(&["document", "read", "--pth", "Work/Plan"]).expect_failure(2, "did you mean `--path`?");
    call(&["document", "list", "--allow", "rw"])
        .expect_failure(2, "`--allow` cannot be used with a remote server");
    call(&["document", "read", "--path", "Top", "--vault", "other"]).expect_failure(1, "other");
}

#[test]
fn remote_tool_list_comes_from_the_server() {
    let workspace = Workspace::new();
    let server = workspace.serve(|settings| {
        let mascot = settings.components.entry("mascot".into()).or_default();
        mascot.enabled = false;
    });
    let url = server.url();
    let listed =
        |arguments: &[&str]| workspace.run(arguments).expect_success().json()["items"].to_string();
    assert!(listed(&["tools"]).contains("mascot"));
    let there = listed(&["tools", "--server", &url]);
    assert!(
        there.contains("document") && !there.contains("mascot"),
        "{there}"
    );
    let help = workspace
        .run(&["help", "document", "edit", "--server", &url])
        .expect_success();
    assert!(help.output.contains("--edits"), "{help:#?}");
    let help = workspace
        .run(&["call", "document", "edit", "--server", &url, "--help"])
        .expect_success();
    assert!(help.output.contains("--edits"), "{help:#?}");
    workspace
        .run(&["help", "mascot", "--server", &url])
        .expect_failure(2, "unknown domain `mascot`");
    // A caller with few scopes sees few tools.
    let token = workspace.token("reader", "read");
    let few = listed(&["tools", "--server", &url, "--token", &token]);
    assert!(
        few.contains("\"read\"") && !few.contains("\"remove\""),
        "{few}"
    );
}

#[test]
fn authentication_errors_name_the_missing_credential() {
    let workspace = Workspace::new();
    let token = workspace.token("phone", "read");
    let server = workspace.serve_authenticated();
    let url = server.url();
    let read = ["document", "read", "--path", "Work/Plan"];
    workspace
        .run(&call_arguments(&url, &read))
        .expect_failure(3, "it requires a token");
    let wrong = [&read[..], &["--token", "nonsense"]].concat();
    workspace
        .run(&call_arguments(&url, &wrong))
        .expect_failure(3, "the token is invalid");

    // By a flag, from stdin, by a variable.
    let with = [&read[..], &["--token", &token]].concat();
    workspace.run(&call_arguments(&url, &with)).expect_success();
    let from_stdin = [&read[..], &["--token", "-"]].concat();
    workspace
        .run_with(&call_arguments(&url, &from_stdin), &format!("{token}\n"))
        .expect_success();
    workspace
        .run_with(&call_arguments(&url, &from_stdin), "")
        .expect_failure(2, "the token is empty");
    let mut command = workspace.program(&["call", "document", "read", "--path", "Work/Plan"]);
    command
        .env("NOTEHOST_SERVER", &url)
        .env("NOTEHOST_TOKEN", &token);
    run(&mut command, "").expect_success();
    // The first line is the token, the rest is the content.
    let writer = workspace.token("desk", "read,write");
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
    workspace
        .run_with(
            &call_arguments(&url, &append),
            &format!("{writer}\nand bread\n"),
        )
        .expect_success();
    let after = workspace.place.read("Work/Plan.md").expect("the note");
    assert!(String::from_utf8_lossy(&after).contains("and bread"));

    let append = [
        "document", "append", "--path", "Top", "--text", "x", "--token", &token,
    ];
    let refused = workspace
        .run(&call_arguments(&url, &append))
        .expect_failure(1, "scope");
    assert_eq!(refused.json()["error"]["code"], "forbidden");
    workspace
        .run(&[
            "call",
            "document",
            "list",
            "--token",
            &token,
            "--vault",
            &workspace.vault(),
        ])
        .expect_failure(2, "`--token` without a server");
}

#[test]
fn non_mcp_servers_are_reported() {
    let workspace = Workspace::new();
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let nobody = format!("http://{}", free.local_addr().expect("an address"));
    drop(free);
    let list = ["document", "list"];
    workspace
        .run(&call_arguments(&nobody, &list))
        .expect_failure(3, "check that the server is running");
    for bad in ["127.0.0.1:8765", "notes", "ftp://notes.example"] {
        workspace
            .run(&call_arguments(bad, &list))
            .expect_failure(2, "is not a server address");
    }
    // Servers that reply with something else.
    for answer in [
        "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/mcp\r\nContent-Length: 0\r\n\r\n",
    ] {
        let other = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", other.local_addr().expect("an address"));
        let answering = std::thread::spawn(move || {
            let (mut stream, _) = other.accept().expect("a connection");
            let mut received = [0; 65536];
            let length = stream.read(&mut received).expect("a request");
            stream.write_all(answer.as_bytes()).expect("an answer");
            String::from_utf8_lossy(&received[..length]).into_owned()
        });
        let arguments = [&list[..], &["--token", "secret"]].concat();
        workspace
            .run(&call_arguments(&url, &arguments))
            .expect_failure(3, "no Notehost at");
        let received = answering.join().expect("no panic");
        assert!(received.starts_with("POST /mcp "), "{received}");
        assert!(
            received
                .to_lowercase()
                .contains("authorization: bearer secret"),
            "{received}"
        );
    }
}

/// A server whose changes need confirmation.
fn serve_with_confirmation(workspace: &Workspace) -> Server {
    workspace.serve(|settings| settings.confirm = Confirm::Floor)
}

#[test]
fn remote_deletion_asks_for_confirmation_at_the_terminal() {
    let workspace = Workspace::new();
    let server = serve_with_confirmation(&workspace);
    let url = server.url();
    let scopes = "read,write,delete";
    let (attended, unattended) = (
        workspace.token_with("desktop", scopes, &["--attended"]),
        workspace.token("script", scopes),
    );
    let remove = call_arguments(&url, &["document", "remove", "--paths", "Work/Plan"]);
    let without = [&remove[..], &["--token", &unattended]].concat();
    workspace
        .run(&without)
        .expect_failure(1, "if the token is attended");
    let remove = [&remove[..], &["--token", &attended]].concat();
    for (types, code) in [("n\n", Some(1)), ("\n", Some(1))] {
        let (result, shown) = at_a_terminal(&mut workspace.program(&remove), "[y/N]", types);
        assert_eq!(result, code, "{shown}");
        assert!(
            shown.contains("-buy milk") && shown.contains("nothing was changed"),
            "{shown}"
        );
        assert!(workspace.place.read("Work/Plan.md").is_some());
    }
    // Also with `--yes`.
    let arguments = [&remove[..], &["--yes"]].concat();
    let (result, shown) = at_a_terminal(&mut workspace.program(&arguments), "[y/N]", "y\n");
    assert_eq!(result, Some(0), "{shown}");
    assert!(workspace.place.read("Work/Plan.md").is_none());
}

#[test]
fn scripts_cannot_confirm_remote_changes() {
    let workspace = Workspace::new();
    let server = serve_with_confirmation(&workspace);
    let url = server.url();
    let remove = call_arguments(
        &url,
        &["document", "remove", "--paths", "Work/Plan", "--yes"],
    );
    let reply = workspace
        .run(&remove)
        .expect_failure(1, "`--yes` has no effect");
    let id = reply.json()["error"]["details"]["approval"].clone();
    let id = id.as_str().expect("an id");
    assert!(
        reply
            .errors
            .contains(&format!("notehost approval approve {id}")),
        "{reply:#?}"
    );
    assert!(workspace.place.read("Work/Plan.md").is_some());

    let state = workspace.server_state();
    workspace
        .run(&[
            "approval",
            "approve",
            id,
            "--state",
            &state.to_string_lossy(),
        ])
        .expect_success();
    let approved = [&remove[..], &["--approval", id]].concat();
    workspace.run(&approved).expect_success();
    assert!(workspace.place.read("Work/Plan.md").is_none());
}

#[test]
fn https_server_is_reached_with_a_trusted_certificate() {
    let workspace = Workspace::new();
    let key = workspace.place.outside().join("key.pem");
    private_key("tls-first.key.pem", &key);
    let server = workspace.serve(|settings| {
        settings.http.tls_cert = Some(key_file("tls-first.cert.pem"));
        settings.http.tls_key = Some(key);
    });
    let port = server.address().rsplit(':').next().expect("a port");
    let url = format!("https://localhost:{port}/mcp");
    let read = call_arguments(&url, &["document", "read", "--path", "Work/Plan"]);
    workspace.run(&read).expect_failure(3, "certificate");
    let mut command = workspace.program(&read);
    command.env("SSL_CERT_FILE", key_file("tls-first.cert.pem"));
    assert_eq!(
        run(&mut command, "").expect_success().json()["content"],
        PLAN
    );
}

#[test]
fn paginated_lists_are_joined() {
    let workspace = Workspace::new();
    for number in 0..25 {
        workspace
            .place
            .write(&format!("Many/{number:02}.md"), "x\n");
    }
    let vault = workspace.vault();
    let here = ["--vault", &vault];
    let list = [
        "call", "document", "list", "--path", "Many", "--limit", "10",
    ];
    let count = |arguments: &[&str]| {
        let page = workspace.run(arguments).expect_success().json();
        let items = page["items"].as_array().expect("a list");
        (items.len(), page["next_cursor"].is_string())
    };
    assert_eq!(count(&[&list[..], &here].concat()), (10, true));
    assert_eq!(
        count(&[&list[..], &here, &["--all-pages"]].concat()),
        (25, false)
    );
    let server = workspace.serve(|_| {});
    let url = server.url();
    let there = ["--server", url.as_str()];
    assert_eq!(count(&[&list[..], &there].concat()), (10, true));
    assert_eq!(
        count(&[&list[..], &there, &["--all-pages"]].concat()),
        (25, false)
    );
    let one = ["call", "document", "read", "--path", "Top", "--all-pages"];
    assert_eq!(
        workspace
            .run(&[&one[..], &there].concat())
            .expect_success()
            .json()["content"],
        json!("top\n")
    );
}
