//! Privacy: file modes, listeners, tokens of streams and sessions, the first start.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use notehost::config::Settings;
use serde_json::{Value, json};

use crate::support::http::{
    Connection, HttpClient, SESSIONS, STATELESS, Server, stateless_meta, wait_until,
};
use crate::support::issuer::{AUDIENCE, Key, SECRET, claims, now};
use crate::support::place::Place;

/// A vault with a notebook that is hidden from some callers.
fn place() -> Place {
    let place = Place::new();
    place.write("Work/Plan.md", "# Plan\n\nWater the plants.\n");
    place.write("Diary/Secret.md", "It rained.\n");
    place
}

/// Runs the program on the state of a place until it exits.
fn run(place: &Place, arguments: &[&str]) -> Output {
    Command::new(crate::support::program())
        .args(arguments)
        .arg("--state")
        .arg(place.state())
        .env("HOME", place.outside())
        .env_remove("XDG_CONFIG_HOME")
        .output()
        .expect("the program runs")
}

#[track_caller]
fn assert_success(output: &Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

/// A new token, as the value of an `Authorization` header.
fn token(place: &Place, name: &str, arguments: &[&str]) -> String {
    let arguments = [&["token", "new", "--name", name], arguments].concat();
    let made = assert_success(&run(place, &arguments));
    format!("Bearer {}", made["token"].as_str().expect("a token"))
}

fn revoke(place: &Place, name: &str) {
    assert_success(&run(place, &["token", "revoke", name]));
}

/// The reply to a GET.
fn get(server: &Server, path: &str, shown: Option<&str>) -> (u16, String) {
    let headers: Vec<(&str, &str)> = shown.map(|it| ("Authorization", it)).into_iter().collect();
    let answer = Connection::open(server.address()).ask("GET", path, &headers, "");
    (answer.status, answer.body)
}

/// A stream and its status.
fn stream(server: &Server, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, Connection) {
    let mut connection = Connection::open(server.address());
    let method = if body.is_empty() { "GET" } else { "POST" };
    connection.send(method, path, headers, body);
    (connection.receive_head(), connection)
}

#[test]
fn event_stream_requires_admin_and_respects_permissions() {
    let place = place();
    let config = place.config_file(&place.settings());
    let server = Server::start(&config, &place.state());
    let mut client = HttpClient::stateless(server.address());
    for path in ["Diary/Secret", "Work/Plan"] {
        let read = client.call("document.read", json!({ "path": path }));
        assert_eq!(read["isError"], false, "{read}");
    }
    for path in ["/events", "/metrics"] {
        assert_eq!(get(&server, path, None).0, 401, "{path}");
    }
    assert_eq!(get(&server, "/healthz", None), (200, "ok".to_owned()));
    let reader = token(&place, "reader", &["--scopes", "read,write,delete"]);
    for path in ["/events", "/metrics"] {
        assert_eq!(get(&server, path, Some(&reader)).0, 403, "{path}");
    }

    let narrow = ["--scopes", "read,admin", "--permission", "Diary=none"];
    let narrow = token(&place, "narrow", &narrow);
    let wide = token(&place, "wide", &["--scopes", "read,admin"]);
    for (shown, hidden) in [(&narrow, json!([])), (&wide, json!(["Diary/Secret.md"]))] {
        let headers = [("Authorization", shown.as_str())];
        let (status, mut events) = stream(&server, "/events", &headers, "");
        assert_eq!(status, 200);
        let (first, second) = (events.event(), events.event());
        assert_eq!(first["paths"], hidden, "{first}");
        assert_eq!(second["paths"], json!(["Work/Plan.md"]), "{second}");
        // Events while the client watches.
        client.call("document.read", json!({"path": "Diary/Secret"}));
        let live = loop {
            let event = events.event();
            if event["number"].as_u64() > second["number"].as_u64() {
                break event;
            }
        };
        assert_eq!(live["paths"], hidden, "{live}");
    }
    let (status, metrics) = get(&server, "/metrics", Some(&narrow));
    assert_eq!(status, 200);
    for name in ["Diary", "Secret", "Work", "Plan"] {
        assert!(!metrics.contains(name), "{name}: {metrics}");
    }
}

/// Settings with an issuer and a shared secret.
fn with_issuer(place: &Place) -> Settings {
    let mut settings = place.settings();
    let file = place.root().join("jwt.secret");
    fs::write(&file, SECRET).expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("a mode");
    settings.auth.resource = Some(AUDIENCE.into());
    settings.auth.jwt.secret_file = Some(file);
    settings
}

/// Every stream that a token can open: `/events`, a subscription in the stateless revision, and the stream of a
/// session. `None` if the token is no longer valid.
fn streams(server: &Server, shown: &str) -> Option<Vec<(&'static str, Connection)>> {
    let authorization = ("Authorization", shown);
    let (status, events) = stream(server, "/events", &[authorization], "");
    let listen = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {
        "notifications": {"resourcesListChanged": true}, "_meta": stateless_meta()}});
    let stateless = [
        authorization,
        ("MCP-Protocol-Version", STATELESS),
        ("Mcp-Method", "subscriptions/listen"),
    ];
    let (listening, listener) = stream(server, "/mcp", &stateless, &listen.to_string());
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": SESSIONS, "capabilities": {}, "clientInfo": {"name": "tests", "version": "0"}}});
    let mut connection = Connection::open(server.address());
    let begun = connection.ask("POST", "/mcp", &[authorization], &initialize.to_string());
    let session = begun.header("mcp-session-id")?.to_owned();
    let of_session = [
        authorization,
        ("MCP-Protocol-Version", SESSIONS),
        ("Mcp-Session-Id", session.as_str()),
    ];
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    connection.ask("POST", "/mcp", &of_session, &initialized.to_string());
    let (following, session) = stream(server, "/mcp", &of_session, "");
    let is_open = [status, listening, following] == [200, 200, 200];
    is_open.then(|| {
        vec![
            ("events", events),
            ("subscription", listener),
            ("session", session),
        ]
    })
}

/// Each stream ends, and sends nothing about later events.
fn assert_end(streams: Vec<(&'static str, Connection)>) {
    for (name, mut stream) in streams {
        let rest = stream.rest_of_stream();
        assert!(!rest.contains("Later"), "{name}: {rest}");
    }
}

#[test]
fn streams_and_sessions_end_when_their_token_is_revoked_or_expires() {
    let place = place();
    let config = place.config_file(&with_issuer(&place));
    let watcher = token(&place, "watcher", &["--scopes", "admin"]);
    let server = Server::start_authenticated(&config, &place.state());
    let scopes = ["--scopes", "read,admin"];

    let admin = token(&place, "boss", &scopes);
    let open = streams(&server, &admin).expect("the token is valid");
    revoke(&place, "boss");
    assert_end(open);

    // A token that expires. On a busy machine a short one may expire before all streams are open.
    let open = (1..7).find_map(|power| {
        let ttl = format!("{}s", 1 << power);
        let arguments = [&scopes[..], &["--ttl", &ttl]].concat();
        streams(
            &server,
            &token(&place, &format!("brief-{power}"), &arguments),
        )
    });
    assert_end(open.expect("some lifetime is long enough"));

    // A signed token; clocks may differ by half a minute.
    let open = (1..7).find_map(|power| {
        let mut claims = claims();
        claims["scope"] = "read admin".into();
        claims["exp"] = (now() - 30 + (1 << power)).into();
        let signed = Key::secret(SECRET.as_bytes()).sign(&claims);
        streams(&server, &format!("Bearer {signed}"))
    });
    assert_end(open.expect("some lifetime is long enough"));

    // No session is left.
    wait_until("no session is left", || {
        let (status, metrics) = get(&server, "/metrics", Some(&watcher));
        status == 200 && metrics.contains("\nnotehost_sessions 0\n")
    });
}

/// The server and the commands share one SQLite file. Opening and closing it in one process must not release the locks
/// of another.
#[test]
fn token_revoked_by_another_process_is_rejected_permanently() {
    let place = place();
    let config = place.config_file(&place.settings());
    let watcher = token(&place, "watcher", &["--scopes", "admin"]);
    let server = Server::start_authenticated(&config, &place.state());
    let is_taken = |server: &Server, token: &str| get(server, "/metrics", Some(token)).0 == 200;
    assert!(is_taken(&server, &watcher));
    let admin = token(&place, "boss", &["--scopes", "admin"]);
    for arguments in [["token", "list"], ["approval", "list"]] {
        assert_success(&run(&place, &arguments));
    }
    assert!(is_taken(&server, &admin));
    revoke(&place, "boss");
    assert!(!is_taken(&server, &admin));
    assert!(is_taken(&server, &watcher));
    // The records that the server writes at shutdown do not undo the revocation.
    drop(server);
    assert_success(&run(&place, &["token", "list"]));
    let server = Server::start_authenticated(&config, &place.state());
    assert!(!is_taken(&server, &admin));
    assert!(is_taken(&server, &watcher));
}

/// Every file below a folder that contains these bytes.
fn files_with(folder: &Path, bytes: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let kind = entry.file_type().expect("a kind");
        if kind.is_dir() {
            found.extend(files_with(&entry.path(), bytes));
        } else if kind.is_file() {
            let content = fs::read(entry.path()).expect("its bytes");
            if memchr::memmem::find(&content, bytes.as_bytes()).is_some() {
                found.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
    }
    found
}

#[test]
fn first_start_creates_one_owner_token() {
    let place = place();
    let config = place.config_file(&place.settings());
    let start = || Server::start_authenticated(&config, &place.state());
    let server = start();
    let log = server.log();
    let entry = log
        .lines()
        .find_map(|line| line.strip_prefix("client entry: "));
    let entry: Value = serde_json::from_str(entry.expect("it is shown")).expect("JSON");
    let entry = &entry["mcpServers"]["notehost"];
    assert_eq!(entry["url"], server.url());
    let shown = entry["headers"]["Authorization"].as_str().expect("text");
    let secret = shown.strip_prefix("Bearer ").expect("a bearer token");
    assert_eq!(log.matches(secret).count(), 1, "{log}");

    let file = place.state().join("owner-token");
    let kept = fs::read_to_string(&file).expect("a file");
    assert_eq!(kept.trim(), secret);
    let mode = fs::metadata(&file).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    // Nobody else on this machine has access; the client with the entry has every scope.
    let list = |shown: Option<&str>| {
        let mut client = HttpClient::stateless(server.address());
        if let Some(shown) = shown {
            client = client.with_token(shown);
        }
        client.ask_any("tools/list", json!({}))
    };
    assert_eq!(list(None)["status"], 401);
    let tools = list(Some(secret)).to_string();
    assert!(tools.contains("\"admin\""), "{tools}");

    // The command line of the same user finds the token; with another state folder it does not.
    let url = server.url();
    let read = [
        "call",
        "document",
        "read",
        "--path",
        "Work/Plan",
        "--server",
    ];
    let read = [&read[..], &[url.as_str()]].concat();
    assert_eq!(assert_success(&run(&place, &read))["path"], "Work/Plan.md");
    let other = Place::new();
    assert_eq!(run(&other, &read).status.code(), Some(3));
    drop(server);

    // A second start creates no other token and does not print the token again.
    let server = start();
    assert!(!server.log().contains("nh_"), "{}", server.log());
    let mut client = HttpClient::stateless(server.address()).with_token(secret);
    let plan = client.call("document.read", json!({"path": "Work/Plan"}));
    assert_eq!(plan["isError"], false, "{plan}");
    let listed = assert_success(&run(&place, &["token", "list"]));
    assert_eq!(listed["items"][0]["name"], "owner");
    assert_eq!(listed["items"][0]["state"], "active");
    assert_eq!(files_with(&place.state(), secret), ["owner-token"]);

    revoke(&place, "owner");
    assert!(!file.exists());
    let refused = HttpClient::stateless(server.address())
        .with_token(secret)
        .ask_any("tools/list", json!({}));
    assert_eq!(refused["status"], 401);
    drop(server);
    // After the owner revoked the token, nobody has access until `notehost token new`.
    let server = start();
    assert!(!file.exists());
    assert_eq!(get(&server, "/mcp", None).0, 401);
}

#[test]
fn no_auth_must_be_explicit_and_is_limited_to_loopback() {
    let place = place();
    let config = place.config_file(&place.settings());
    let config = config.to_string_lossy();
    let serve = ["serve", "--config", &config, "--http"];
    let result = run(&place, &[&serve[..], &["0.0.0.0:0", "--no-auth"]].concat());
    assert_eq!(result.status.code(), Some(3), "{result:?}");
    let text = String::from_utf8_lossy(&result.stderr).into_owned();
    assert!(text.contains("`--no-auth`"), "{text}");
    let with = |value: &str| {
        let mut command = Command::new(crate::support::program());
        command
            .args(serve)
            .args(["127.0.0.1:0", "--state"])
            .arg(place.state())
            .env("NOTEHOST_NO_AUTH", value)
            .stdin(Stdio::null())
            .stderr(Stdio::piped());
        command
    };
    let server = Server::spawn(&mut with("true"));
    let mut client = HttpClient::stateless(server.address());
    let plan = client.call("document.read", json!({"path": "Work/Plan"}));
    assert_eq!(plan["isError"], false, "{plan}");
    server.wait_for_log("no authentication is required");
    assert!(!place.state().join("owner-token").exists());
    drop(server);
    let result = with("perhaps").output().expect("the program runs");
    assert!(!result.status.success(), "{result:?}");
}

/// The modes of a folder and everything below it, by path, without symlinks.
fn modes(folder: &Path) -> BTreeMap<String, u32> {
    let mut found = BTreeMap::new();
    let about = fs::symlink_metadata(folder).expect("it is there");
    if about.is_symlink() {
        return found;
    }
    let mode = about.permissions().mode() & 0o777;
    found.insert(folder.to_string_lossy().into_owned(), mode);
    if about.is_dir() {
        for entry in fs::read_dir(folder).expect("a folder") {
            found.extend(modes(&entry.expect("an entry").path()));
        }
    }
    found
}

#[track_caller]
fn assert_private(folder: &Path) {
    let open: Vec<_> = modes(folder)
        .into_iter()
        // What was removed keeps the mode that its owner gave it; the folder around it is closed.
        .filter(|(path, mode)| mode & 0o077 != 0 && !path.contains("/.notehost/trash/"))
        .map(|(path, mode)| format!("{path} {mode:o}"))
        .collect();
    assert!(open.is_empty(), "{open:#?}");
}

#[test]
fn state_files_are_private_and_notes_follow_the_umask() {
    for (umask, new_note, new_folder) in [("022", 0o644, 0o755), ("000", 0o666, 0o777)] {
        let place = place();
        let config = place.config_file(&place.settings());
        let set = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
        };
        let mode = |path: &str| {
            let about = fs::metadata(place.vault().join(path)).expect("it is there");
            about.permissions().mode() & 0o777
        };
        // A file that an earlier version left readable for everybody.
        fs::write(place.state().join("records.sqlite"), "").expect("a file");
        set(&place.state().join("records.sqlite"), 0o644);
        for folder in ["main-0123456789abcdef/index", "logs"] {
            let folder = place.state().join(folder);
            fs::create_dir_all(&folder).expect("folders");
            let file = folder.join("old");
            fs::write(&file, "x").expect("a file");
            set(&file, 0o644);
            set(&folder, 0o755);
        }
        set(&place.state(), 0o755);
        let internal = place.vault().join(".notehost/store");
        fs::create_dir_all(&internal).expect("folders");
        fs::write(internal.join("old"), "x").expect("a file");
        for path in [internal.join("old"), internal.clone()] {
            set(&path, 0o755);
        }
        set(&place.vault().join(".notehost"), 0o755);
        set(&place.vault().join("Work/Plan.md"), 0o640);

        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("umask {umask}; exec \"$0\" \"$@\"")])
            .args([crate::support::program(), "serve", "--no-auth"])
            .args(["--http", "127.0.0.1:0", "--config"])
            .arg(&config)
            .arg("--state")
            .arg(place.state())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let server = Server::spawn(&mut command);
        let mut client = HttpClient::stateless(server.address());
        for (action, arguments) in [
            (
                "document.create",
                json!({"path": "New/Note", "content": "new"}),
            ),
            (
                "document.append",
                json!({"path": "Work/Plan", "text": "more"}),
            ),
            ("search.text", json!({"query": "plants"})),
        ] {
            let answer = client.call(action, arguments);
            let code = &answer["structuredContent"]["error"]["code"];
            assert!(
                code.is_null() || code == "confirmation_required",
                "{action}: {answer}"
            );
        }
        let mut remove = json!({"paths": ["Diary/Secret"]});
        let refused = client.call("document.remove", remove.clone());
        let id = refused["structuredContent"]["error"]["details"]["approval"].clone();
        let id = id.as_str().expect("an approval").to_owned();
        assert_success(&run(&place, &["approval", "approve", &id]));
        remove["approval"] = id.into();
        let removed = client.call("document.remove", remove);
        assert_eq!(removed["isError"], false, "{removed}");
        assert_eq!(mode(".notehost/trash"), 0o700, "{umask}");
        // While it runs, with the logs of its databases, and below after it has ended.
        assert_private(&place.state());
        assert_private(&place.vault().join(".notehost"));
        assert_eq!(mode("New/Note.md"), new_note, "{umask}");
        assert_eq!(mode("New"), new_folder, "{umask}");
        assert_eq!(mode("Work/Plan.md"), 0o640, "{umask}");
        let exported = run(&place, &["audit", "--export", "-"]);
        assert!(exported.status.success(), "{exported:?}");
        drop(server);
        assert_private(&place.state());
        assert_private(&place.vault().join(".notehost"));
    }
}
