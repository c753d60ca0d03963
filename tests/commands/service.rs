//! `notehost service` with a home folder of its own. No test reaches the service manager of this machine: `systemctl` is a
//! script in a folder that is the whole `PATH`, or missing.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{RunResult, Workspace, run};
use crate::support::http::Server;

/// A user with an empty `PATH`.
struct ServiceSetup {
    workspace: Workspace,
    path: PathBuf,
}

impl ServiceSetup {
    fn new() -> ServiceSetup {
        let workspace = Workspace::new();
        let path = workspace.home().join("path");
        fs::create_dir(&path).expect("a folder");
        ServiceSetup { workspace, path }
    }

    /// The same with a `systemctl` that writes down what it is asked and reports this state.
    fn with_systemctl(state: &str) -> ServiceSetup {
        let setup = ServiceSetup::new();
        let asked = setup.asked_file();
        let script = format!(
            "#!/bin/sh\necho \"$*\" >> {asked:?}\necho ActiveState={state}\necho UnitFileState=enabled\n"
        );
        let file = setup.path.join("systemctl");
        fs::write(&file, script).expect("a script");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("a mode");
        setup
    }

    fn asked_file(&self) -> PathBuf {
        self.workspace.home().join("asked")
    }

    /// What `systemctl` was asked since the last call.
    fn asked(&self) -> Vec<String> {
        let text = fs::read_to_string(self.asked_file()).unwrap_or_default();
        let _ = fs::remove_file(self.asked_file());
        text.lines().map(str::to_owned).collect()
    }

    fn program(&self, arguments: &[&str]) -> Command {
        let mut command = self.workspace.program(&[&["service"], arguments].concat());
        command.env("PATH", &self.path);
        command
    }

    fn run(&self, arguments: &[&str]) -> RunResult {
        run(&mut self.program(arguments), "")
    }

    fn unit(&self) -> PathBuf {
        let folder = self.workspace.home().join(".config/systemd/user");
        folder.join("notehost.service")
    }
}

#[test]
fn the_unit_is_written_once_started_and_removed() {
    let setup = ServiceSetup::with_systemctl("active");
    let vault = setup.workspace.vault();
    let absent = setup.run(&["status"]);
    assert_eq!(absent.code, Some(1), "{absent:?}");
    assert_eq!(absent.json()["installed"], false);
    setup
        .run(&["install"])
        .expect_failure(2, "no vault is specified");
    assert!(!setup.unit().exists());

    let install = ["install", &vault, "--allow", "rw"];
    let installed = setup.run(&install).expect_success();
    assert!(
        installed.errors.contains("http://127.0.0.1:8765/mcp"),
        "{installed:?}"
    );
    let unit = fs::read_to_string(setup.unit()).expect("a unit");
    let state = setup.workspace.place.state();
    let command = format!(
        "\"serve\" \"{vault}\" \"--state\" \"{}\" \"--http\" \"127.0.0.1:8765\" \"--allow\" \"rw\"\n",
        state.display()
    );
    assert!(unit.contains(&command), "{unit}");
    let mode = |path: PathBuf| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    let folder = setup.unit().parent().expect("a folder").to_owned();
    assert_eq!((mode(setup.unit()), mode(folder)), (0o600, 0o700));
    let start = [
        "--user daemon-reload",
        "--user enable --now notehost.service",
        "--user restart notehost.service",
        "--user show --property=ActiveState,UnitFileState notehost.service",
    ];
    assert_eq!(setup.asked(), start);

    // Again: nothing is written and nothing is restarted.
    let again = setup.run(&install).expect_success();
    assert!(again.errors.contains("is up to date"), "{again:?}");
    assert_eq!(setup.asked(), [start[0], start[1], start[3]]);
    assert_eq!(fs::read_to_string(setup.unit()).expect("a unit"), unit);
    let changed = setup
        .run(&["install", &vault, "--no-start"])
        .expect_success();
    assert!(changed.errors.contains("was written"), "{changed:?}");
    assert!(
        !fs::read_to_string(setup.unit())
            .expect("a unit")
            .contains("--allow")
    );
    assert_eq!(setup.asked(), [""; 0]);

    let status = setup.run(&["status"]).expect_success().json();
    assert_eq!(
        (
            &status["installed"],
            &status["own"],
            &status["state"],
            &status["problem"]
        ),
        (
            &json!(true),
            &json!(true),
            &json!("active, enabled"),
            &Value::Null
        )
    );
    assert!(status["command"].to_string().contains(&vault), "{status}");

    setup.asked();
    setup.run(&["uninstall"]).expect_success();
    assert!(!setup.unit().exists());
    assert_eq!(
        setup.asked(),
        [
            "--user disable --now notehost.service",
            "--user daemon-reload"
        ]
    );
    let again = setup.run(&["uninstall"]).expect_success();
    assert!(
        again.errors.contains("no service is installed"),
        "{again:?}"
    );
}

#[test]
fn without_a_service_manager_the_unit_is_written_and_the_reason_reported() {
    let setup = ServiceSetup::new();
    let vault = setup.workspace.vault();
    let installed = setup.run(&["install", &vault]);
    assert!(setup.unit().exists());
    let installed = installed.expect_failure(
        1,
        "the server was not started: `systemctl` is not installed here",
    );
    assert!(
        installed.errors.contains("systemctl --user enable --now"),
        "{installed:?}"
    );
    let status = setup.run(&["status"]).expect_success().json();
    assert_eq!(
        (&status["installed"], &status["state"]),
        (&json!(true), &Value::Null)
    );
    assert!(
        status["problem"].to_string().contains("not installed here"),
        "{status}"
    );
    setup
        .run(&["uninstall"])
        .expect_failure(1, "the server may still run");
    assert!(!setup.unit().exists());

    // A server that does not keep running is no success.
    let setup = ServiceSetup::with_systemctl("failed");
    let failed = setup.run(&["install", &setup.workspace.vault()]);
    let failed = failed.expect_failure(1, "does not keep running: failed, enabled");
    assert!(
        failed.errors.contains("journalctl --user -u notehost"),
        "{failed:?}"
    );
}

#[test]
fn files_of_others_are_left_as_they_are() {
    let setup = ServiceSetup::with_systemctl("active");
    let vault = setup.workspace.vault();
    fs::create_dir_all(setup.unit().parent().expect("a folder")).expect("folders");
    let text = "[Service]\nExecStart=/usr/bin/true\n";
    fs::write(setup.unit(), text).expect("a unit");
    for arguments in [&["install", vault.as_str()][..], &["uninstall"]] {
        setup
            .run(arguments)
            .expect_failure(1, "was not written by `notehost service install`");
        assert_eq!(fs::read_to_string(setup.unit()).expect("a unit"), text);
    }
    assert_eq!(setup.asked(), [""; 0]);
    let status = setup.run(&["status"]).expect_success().json();
    assert_eq!(
        (&status["own"], &status["command"]),
        (&json!(false), &json!("/usr/bin/true"))
    );
    // A masked unit is a link.
    fs::remove_file(setup.unit()).expect("removed");
    std::os::unix::fs::symlink("/dev/null", setup.unit()).expect("a link");
    setup
        .run(&["install", &vault])
        .expect_failure(1, "was not written by");
    assert!(setup.unit().is_symlink());
}

/// A workspace whose vault and program have names that every format has to quote.
fn odd_names() -> (ServiceSetup, String, PathBuf) {
    let setup = ServiceSetup::new();
    let vault = setup
        .workspace
        .home()
        .join("100% of $HOME & \"<notes>\" \\ it's");
    fs::create_dir(&vault).expect("a folder");
    fs::write(vault.join("Note.md"), "odd\n").expect("a note");
    let folder = setup.workspace.home().join("50% $HOME programs");
    fs::create_dir(&folder).expect("a folder");
    let program = folder.join("notehost");
    let built = PathBuf::from(crate::support::program());
    // A link to the file itself: the path of a running program has no symbolic links.
    if fs::hard_link(&built, &program).is_err() {
        fs::copy(&built, &program).expect("a copy");
    }
    (setup, vault.to_str().expect("text").to_owned(), program)
}

fn printed(setup: &ServiceSetup, program: &PathBuf, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    setup.workspace.cleanly(&mut command);
    command
        .args(["service", "install", "--print"])
        .args(arguments)
        .env("PATH", &setup.path)
        .env("A_SECRET", "do-not-write-this");
    let result = run(&mut command, "").expect_success();
    assert!(!result.output.contains("do-not-write-this"), "{result:?}");
    assert!(!setup.unit().exists());
    result.output
}

#[test]
fn systemd_accepts_the_unit() {
    let (setup, vault, program) = odd_names();
    let unit = printed(&setup, &program, &[&vault]);
    let file = setup.workspace.home().join("notehost.service");
    fs::write(&file, &unit).expect("a unit");
    let verified = Command::new("systemd-analyze")
        .args(["--user", "verify", "--man=no"])
        .arg(&file)
        .env("XDG_RUNTIME_DIR", setup.workspace.home())
        .env("HOME", setup.workspace.home())
        .stdin(Stdio::null())
        .output();
    let Ok(verified) = verified else {
        eprintln!("skipped: systemd-analyze is not installed");
        return;
    };
    // It fails if the program is not where the unit says, or if there is any warning about a setting.
    let errors = String::from_utf8_lossy(&verified.stderr);
    assert!(
        verified.status.success() && errors.is_empty(),
        "{errors}\n{unit}"
    );
    let quoted = "100%% of $$HOME & \\\"<notes>\\\" \\\\ it's";
    assert!(unit.contains(quoted), "{unit}");
}

#[test]
fn the_agent_is_a_property_list_whose_command_serves() {
    let (setup, vault, program) = odd_names();
    let arguments = [
        vault.as_str(),
        "--manager",
        "launchd",
        "--http",
        "127.0.0.1:0",
    ];
    let text = printed(&setup, &program, &arguments);
    let file = setup.workspace.home().join("agent.plist");
    fs::write(&file, &text).expect("a file");
    let script =
        "import json, plistlib, sys\nprint(json.dumps(plistlib.load(open(sys.argv[1], 'rb'))))";
    let parsed = Command::new("python3")
        .args(["-c", script])
        .arg(&file)
        .output();
    let Ok(parsed) = parsed else {
        eprintln!("skipped: python3 is not installed");
        return;
    };
    assert!(parsed.status.success(), "{parsed:?}\n{text}");
    let agent: Value = serde_json::from_slice(&parsed.stdout).expect("JSON");
    assert_eq!(agent["Umask"], 0o77, "{agent}");
    assert_eq!(agent["KeepAlive"]["SuccessfulExit"], false, "{agent}");
    let words = agent["ProgramArguments"].as_array().expect("a list").iter();
    let words: Vec<&str> = words.map(|word| word.as_str().expect("a word")).collect();
    assert_eq!(
        words[..3],
        [program.to_str().expect("text"), "serve", &vault]
    );
    // The command works without the environment in which it was made.
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .env_clear()
        .env("HOME", setup.workspace.home())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let server = Server::spawn(&mut command);
    assert!(server.url().starts_with("http://127.0.0.1:"));
    // On another system than its own it is only printed.
    setup
        .run(&["install", &vault, "--manager", "launchd"])
        .expect_failure(2, "this system does not use launchd");
}
