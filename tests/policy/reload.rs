//! A config file that changes while the program serves: valid changes apply, invalid ones change nothing, and clients
//! are notified about changed tools.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use notehost::config::{Overrides, Settings};
use notehost::vault::Tier;
use serde_json::{Value, json};

use crate::support::client::{Client, error_code};
use crate::support::http::HttpClient;
use crate::support::place::{Place, call};

/// Longer than any operation, even on a busy machine; only a hang reaches it.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Polls until there is a value.
#[track_caller]
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < TIMEOUT, "it never happened: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn place_with_notes() -> Place {
    let place = Place::new();
    place.write("Work/Plan.md", "# Plan\n");
    place.write("Diary/Day.md", "# Day\n");
    place
}

/// Writes the file as editors do: a new file, renamed over the old one.
fn rewrite(file: &Path, text: &str) {
    let beside = file.with_extension("new");
    std::fs::write(&beside, text).expect("a file");
    std::fs::rename(&beside, file).expect("renamed");
}

fn text(settings: &Settings) -> String {
    toml::to_string(settings).expect("settings can be written")
}

/// A program that serves over stdio, with its log.
struct ReloadSetup {
    client: Client,
    config: PathBuf,
    log: Arc<Mutex<String>>,
    settings: Settings,
    place: Place,
}

impl ReloadSetup {
    fn new(arguments: &[&str]) -> ReloadSetup {
        let place = place_with_notes();
        let settings = place.settings();
        let config = place.config_file(&settings);
        let mut command = Command::new(crate::support::program());
        command
            .args(["serve", "--config"])
            .arg(&config)
            .arg("--state")
            .arg(place.state())
            .args(arguments);
        let mut client = Client::spawn_with(&mut command, Stdio::piped());
        let log = Arc::new(Mutex::new(String::new()));
        let lines =
            BufReader::new(client.process().stderr.take().expect("its stderr is ours")).lines();
        let written = log.clone();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                written
                    .lock()
                    .expect("the log")
                    .push_str(&format!("{line}\n"));
            }
        });
        client.initialize();
        ReloadSetup {
            client,
            config,
            log,
            settings,
            place,
        }
    }

    fn change(&mut self, change: impl FnOnce(&mut Settings)) {
        change(&mut self.settings);
        rewrite(&self.config, &text(&self.settings));
    }

    fn code(&mut self, action: &str, arguments: Value) -> Option<String> {
        let result = self.client.call(action, arguments);
        error_code(&result).map(str::to_owned)
    }

    #[track_caller]
    fn wait_for(&mut self, action: &str, arguments: Value, code: Option<&str>) {
        until(&format!("{action} answers {code:?}"), || {
            (self.code(action, arguments.clone()).as_deref() == code).then_some(())
        });
    }

    #[track_caller]
    fn wait_for_log(&self, words: &str) {
        until(&format!("the log contains `{words}`"), || {
            self.log
                .lock()
                .expect("the log")
                .contains(words)
                .then_some(())
        });
    }
}

fn hide(settings: &mut Settings, notebook: &str) {
    let notebooks = &mut settings.permissions.notebooks;
    notebooks.insert(notebook.into(), Tier::None);
}

fn append() -> Value {
    json!({"path": "Work/Plan.md", "text": "more\n"})
}

#[test]
fn permission_changes_apply_at_runtime() {
    let mut setup = ReloadSetup::new(&[]);
    assert_eq!(setup.code("document.append", append()), None);

    setup.change(|settings| hide(settings, "Diary"));
    setup.wait_for(
        "document.read",
        json!({"path": "Diary/Day.md"}),
        Some("not_found"),
    );
    assert_eq!(setup.code("document.append", append()), None);

    setup.change(|settings| settings.read_only = true);
    setup.wait_for("document.append", append(), Some("read_only"));
    assert_eq!(
        setup.code("document.read", json!({"path": "Work/Plan.md"})),
        None
    );
    setup.change(|settings| {
        settings.read_only = false;
        settings.vaults[0].read_only = true;
    });
    until("only the vault is closed", || {
        let met = setup.client.call("document.append", append()).to_string();
        met.contains("the vault `main` is switched to read-only")
            .then_some(())
    });
    setup.change(|settings| settings.vaults[0].read_only = false);
    setup.wait_for("document.append", append(), None);

    setup.change(|settings| {
        let limited = settings.callers.entry("stdio".into()).or_default();
        limited.scopes = Some(vec!["read".into()]);
    });
    setup.wait_for("document.append", append(), Some("forbidden"));
}

#[test]
fn limit_and_rate_changes_apply_at_runtime() {
    let mut setup = ReloadSetup::new(&[]);
    setup
        .place
        .write("Work/Long.md", "a line of a long note\n".repeat(2000));
    setup.change(|settings| {
        settings.supervision.strikes = 0;
        settings.limits.host_calls = 1;
    });
    setup.wait_for("notebook.list", json!({}), Some("component_failed"));
    setup.change(|settings| settings.limits.host_calls = 200_000);
    setup.wait_for("notebook.list", json!({}), None);
    setup.change(|settings| settings.limits.staged_bytes = 3);
    setup.wait_for("document.append", append(), Some("too_large"));
    setup.change(|settings| {
        settings.limits.staged_bytes = 1 << 20;
        settings.rates.stdio = true;
        settings.rates.write = 1;
        settings.rates.burst_seconds = 1;
    });
    setup.wait_for("document.append", append(), Some("throttled"));
}

#[test]
fn disabling_a_component_notifies_clients() {
    let mut setup = ReloadSetup::new(&[]);
    let tools = |setup: &mut ReloadSetup| {
        let listed = setup.client.ask("tools/list", json!({}));
        let tools = listed["tools"].as_array().expect("tools");
        tools
            .iter()
            .map(|tool| tool["name"].as_str().expect("a name").to_owned())
            .collect::<Vec<_>>()
    };
    assert!(tools(&mut setup).contains(&"notebook".to_owned()));
    setup.change(|settings| {
        settings
            .components
            .entry("notebook".into())
            .or_default()
            .enabled = false;
        let document = settings.components.entry("document".into()).or_default();
        document.actions.insert("remove".into(), false);
    });
    until("clients are notified", || {
        let names = tools(&mut setup);
        let notifications = setup.client.notifications().iter();
        let notifications =
            notifications.filter(|message| message["method"] == "notifications/tools/list_changed");
        (notifications.count() == 1 && !names.contains(&"notebook".to_owned())).then_some(())
    });
    assert_eq!(
        setup.code("notebook.list", json!({})).as_deref(),
        Some("disabled")
    );
    assert_eq!(
        setup
            .code("document.remove", json!({"paths": ["Work/Plan.md"]}))
            .as_deref(),
        Some("disabled")
    );
    assert_eq!(
        setup.code("document.read", json!({"path": "Work/Plan.md"})),
        None
    );
    setup.change(|settings| settings.components.clear());
    setup.wait_for("notebook.list", json!({}), None);
    // Changes that do not concern tools are not announced.
    setup.change(|settings| settings.limits.call_ms = 9_999);
    setup.change(|settings| hide(settings, "Diary"));
    setup.wait_for(
        "document.read",
        json!({"path": "Diary/Day.md"}),
        Some("not_found"),
    );
    let notifications = setup.client.notifications().iter();
    let notifications =
        notifications.filter(|message| message["method"] == "notifications/tools/list_changed");
    assert_eq!(notifications.count(), 2);
}

#[test]
fn invalid_config_edit_is_ignored_and_logged() {
    let mut setup = ReloadSetup::new(&[]);
    let good = text(&setup.settings);
    let mut unreachable = setup.settings.clone();
    unreachable
        .permissions
        .notebooks
        .insert("a/b".into(), Tier::None);
    for (broken, expected) in [
        (
            "[permissions]\ndefualt = \"none\"\n".to_owned(),
            "notehost.toml:2: unknown key `permissions.defualt`: did you mean `default`?",
        ),
        ("read_only = tru\n".to_owned(), "notehost.toml:1: "),
        (text(&unreachable), "`a/b` is not a notebook"),
        (String::new(), "takes effect after a restart: vaults"),
    ] {
        rewrite(&setup.config, &broken);
        setup.wait_for_log(expected);
        if broken.is_empty() {
            // A valid file in this case: it only denies writes and serves no vault.
            break;
        }
        assert_eq!(setup.code("document.append", append()), None, "{expected}");
        let doctor = Command::new(crate::support::program())
            .args(["doctor", "--config"])
            .arg(&setup.config)
            .arg("--state")
            .arg(setup.place.state())
            .output()
            .expect("the program runs");
        assert_eq!(doctor.status.code(), Some(1));
        let found = String::from_utf8(doctor.stdout).expect("text");
        assert!(
            found.contains("a running server keeps its settings"),
            "{found}"
        );
    }
    setup.wait_for("document.append", append(), Some("permission_denied"));
    std::fs::remove_file(&setup.config).expect("removed");
    setup.wait_for_log("cannot read the config file");
    assert_eq!(
        setup.code("document.read", json!({"path": "Work/Plan.md"})),
        None
    );
    rewrite(&setup.config, &good);
    setup.wait_for("document.append", append(), None);
}

#[test]
fn flags_keep_overriding_the_config_file() {
    let mut setup = ReloadSetup::new(&["--allow", "r"]);
    assert_eq!(
        setup.code("document.append", append()).as_deref(),
        Some("permission_denied")
    );
    setup.change(|settings| {
        settings.permissions.default = Tier::Delete;
        settings
            .permissions
            .notebooks
            .insert("Diary".into(), Tier::None);
    });
    setup.wait_for(
        "document.read",
        json!({"path": "Diary/Day.md"}),
        Some("not_found"),
    );
    assert_eq!(
        setup.code("document.append", append()).as_deref(),
        Some("permission_denied")
    );
}

#[test]
fn kill_switch_command_reaches_an_http_server() {
    let place = place_with_notes();
    let config = place.config_file(&place.settings());
    let server = crate::support::http::Server::start(&config, &place.state());
    let mut client = HttpClient::stateless(server.address());
    let switch = |word: &str| {
        let result = Command::new(crate::support::program())
            .args(["permission", "read-only", word, "--config"])
            .arg(&config)
            .arg("--state")
            .arg(place.state())
            .output()
            .expect("the program runs");
        assert!(result.status.success(), "{result:?}");
    };
    for (word, code) in [("on", Some("read_only")), ("off", None)] {
        switch(word);
        until(&format!("the switch is {word}"), || {
            let met = client.call("document.append", append());
            (error_code(&met) == code).then_some(())
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn host_reload_reports_config_errors() {
    let place = place_with_notes();
    let mut settings = place.settings();
    let config = place.config_file(&settings);
    let options = Overrides {
        config: Some(config.clone()),
        state: Some(place.state()),
        ..Overrides::default()
    };
    let loaded = notehost::config::load(options, &|_| None).expect("settings");
    let source = loaded.source().expect("a file");
    let host = place.host(loaded.settings).await;
    assert!(host.reload().await.is_err(), "nothing is watched yet");
    host.watch(source);
    assert_eq!(host.config_problem(), None);

    rewrite(&config, "nonsense = 1\n");
    assert!(host.reload().await.is_err());
    let problem = host.config_problem().expect("a problem");
    assert!(
        problem.contains("notehost.toml:1: unknown key `nonsense`"),
        "{problem}"
    );
    assert!(call(&host, "document.append", append()).await.is_ok());

    settings.permissions.default = Tier::Read;
    settings.limits.memory_bytes /= 2;
    rewrite(&config, &text(&settings));
    assert_eq!(host.reload().await, Ok(vec!["limits.memory_bytes"]));
    assert_eq!(host.config_problem(), None);
    let error = call(&host, "document.append", append())
        .await
        .expect_err("refused");
    assert_eq!(error.code, "permission_denied");
}
