//! Who may connect: programs of the same user that speak a common protocol.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{config, place, run, text_of};
use crate::support::client::Client;
use crate::support::place::Place;

fn socket(place: &Place) -> PathBuf {
    let key = notehost::relay::vault_key(&place.vault()).expect("a key");
    notehost::relay::socket_of(&place.state(), &key).expect("a path")
}

#[test]
fn sockets_are_private_and_removed_at_the_end() {
    let place = place();
    let config = config(&place, "both", |_| {});
    let client = Client::start(&config, &place.state());
    let socket = socket(&place);
    for (path, mode) in [
        (socket.as_path(), 0o600),
        (socket.parent().expect("a folder"), 0o700),
    ] {
        let found = std::fs::metadata(path).expect("there").permissions().mode();
        assert_eq!(found & 0o777, mode, "{}", path.display());
    }
    client.disconnect();
    assert!(!socket.exists());
}

#[test]
fn other_users_cannot_connect() {
    // Not `eprintln!`, whose output is hidden for passing tests.
    let skip = |why: &str| _ = writeln!(std::io::stderr(), "skipped: {why}");
    let is_there = |program: &str| {
        let mut command = Command::new(program);
        let found = command.arg("--version").stdout(Stdio::null()).status();
        found.is_ok_and(|status| status.success())
    };
    if notehost_user() != 0 || !is_there("setpriv") || !is_there("python3") {
        return skip("connecting as another user needs root, setpriv and python3");
    }
    let place = place();
    let config = config(&place, "both", |_| {});
    let mut client = Client::start(&config, &place.state());
    let socket = socket(&place);
    let connect = |user: &str| {
        let script = "import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n\
                      s.sendall(sys.argv[2].encode() + b'\\n')\nprint(s.recv(4096).decode())";
        let hello = json!({"notehost": 99, "oldest": 99, "version": "9", "process": 1});
        let output = Command::new("setpriv")
            .args([
                "--reuid",
                user,
                "--regid",
                user,
                "--clear-groups",
                "python3",
                "-c",
                script,
            ])
            .arg(&socket)
            .arg(hello.to_string())
            .output()
            .expect("it runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    // The file system refuses others; and with every mode open, the holder does.
    assert_eq!(connect("65534"), "");
    for path in socket
        .ancestors()
        .take_while(|path| path.starts_with(place.root()))
    {
        let open = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(path, open).expect("a mode");
    }
    assert!(connect("0").contains("refused"));
    assert_eq!(connect("65534").trim(), "");
    let read = client.call("document.read", json!({"path": "Work/Plan"}));
    assert_eq!(read["isError"], Value::Bool(false), "{read}");
}

fn notehost_user() -> u32 {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").map_or(1, |found| found.uid())
}

#[test]
fn programs_without_a_common_protocol_say_which_to_restart() {
    let place = place();
    let config = config(&place, "both", |_| {});
    let mut client = Client::start(&config, &place.state());
    let mut newer = UnixStream::connect(socket(&place)).expect("connected");
    let hello = json!({"notehost": 99, "oldest": 98, "version": "9.0.0", "process": 1, "more": []});
    writeln!(newer, "{hello}").expect("sent");
    let mut answer = String::new();
    BufReader::new(newer)
        .read_line(&mut answer)
        .expect("answered");
    let process = client.process().id();
    assert!(
        answer.contains(&format!(
            "restart the program that started process {process}"
        )),
        "{answer}"
    );
    // A first line that is none ends the connection, and nothing else.
    let mut other = UnixStream::connect(socket(&place)).expect("connected");
    writeln!(other, "GET / HTTP/1.1").expect("sent");
    let mut answer = String::new();
    BufReader::new(other)
        .read_line(&mut answer)
        .expect("closed");
    assert_eq!(answer, "");
    client.disconnect();

    // The same from the other side: a holder that refuses.
    let socket = socket(&place);
    let holder = UnixListener::bind(&socket).expect("a listener");
    let refusing = std::thread::spawn(move || {
        let (stream, _) = holder.accept().expect("connected");
        let mut lines = BufReader::new(stream);
        let mut hello = String::new();
        lines.read_line(&mut hello).expect("a line");
        let refused = json!({"refused": {"message": "too old", "hint": "restart process 7"}});
        writeln!(lines.get_mut(), "{refused}").expect("sent");
        serde_json::from_str::<Value>(&hello).expect("JSON")
    });
    let refused = run(&place, &config, &["serve"]);
    let hello = refusing.join().expect("no panic");
    assert_eq!(hello["notehost"], notehost::relay::PROTOCOL);
    assert_eq!(refused.status.code(), Some(3));
    assert!(
        text_of(&refused).contains("too old") && text_of(&refused).contains("restart process 7")
    );
}
