//! A config file that changes while the program serves: what it says takes effect, what is broken changes nothing, and
//! clients hear of other tools.

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

/// Longer than anything takes, even on a busy machine; only a hang reaches it.
const PATIENCE: Duration = Duration::from_secs(120);

/// Look again and again until something is so.
#[track_caller]
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "it never happened: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn desk() -> Place {
    let place = Place::new();
    place.write("Work/Plan.md", "# Plan\n");
    place.write("Diary/Day.md", "# Day\n");
    place
}

/// Write the file as editors do: a new one, renamed over the old one.
fn rewrite(file: &Path, text: &str) {
    let beside = file.with_extension("new");
    std::fs::write(&beside, text).expect("a file");
    std::fs::rename(&beside, file).expect("renamed");
}

fn text(settings: &Settings) -> String {
    toml::to_string(settings).expect("settings can be written")
}

/// A program that serves over stdio, and what it logs.
struct Served {
    client: Client,
    config: PathBuf,
    log: Arc<Mutex<String>>,
    settings: Settings,
    place: Place,
}

impl Served {
    fn new(words: &[&str]) -> Served {
        let place = desk();
        let settings = place.settings();
        let config = place.config_file(&settings);
        let mut command = Command::new(env!("CARGO_BIN_EXE_notehost"));
        command
            .args(["serve", "--config"])
            .arg(&config)
            .arg("--state")
            .arg(place.state())
            .args(words);
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
        client.shake_hands();
        Served {
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
        until(&format!("the log says `{words}`"), || {
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
fn permissions_and_switches_take_effect_while_it_runs() {
    let mut served = Served::new(&[]);
    assert_eq!(served.code("document.append", append()), None);

    served.change(|settings| hide(settings, "Diary"));
    served.wait_for(
        "document.read",
        json!({"path": "Diary/Day.md"}),
        Some("not_found"),
    );
    assert_eq!(served.code("document.append", append()), None);

    served.change(|settings| settings.read_only = true);
    served.wait_for("document.append", append(), Some("read_only"));
    assert_eq!(
        served.code("document.read", json!({"path": "Work/Plan.md"})),
        None
    );
    served.change(|settings| {
        settings.read_only = false;
        settings.vaults[0].read_only = true;
    });
    until("only the vault is closed", || {
        let met = served.client.call("document.append", append()).to_string();
        met.contains("the vault `main` is switched to read-only")
            .then_some(())
    });
    served.change(|settings| settings.vaults[0].read_only = false);
    served.wait_for("document.append", append(), None);

    served.change(|settings| {
        let limited = settings.callers.entry("stdio".into()).or_default();
        limited.scopes = Some(vec!["read".into()]);
    });
    served.wait_for("document.append", append(), Some("forbidden"));
}

#[test]
fn limits_and_rates_take_effect_while_it_runs() {
    let mut served = Served::new(&[]);
    served
        .place
        .write("Work/Long.md", "a line of a long note\n".repeat(2000));
    served.change(|settings| {
        settings.supervision.strikes = 0;
        settings.limits.host_calls = 1;
    });
    served.wait_for("notebook.list", json!({}), Some("component_failed"));
    served.change(|settings| settings.limits.host_calls = 200_000);
    served.wait_for("notebook.list", json!({}), None);
    served.change(|settings| settings.limits.staged_bytes = 3);
    served.wait_for("document.append", append(), Some("too_large"));
    served.change(|settings| {
        settings.limits.staged_bytes = 1 << 20;
        settings.rates.stdio = true;
        settings.rates.write = 1;
        settings.rates.burst_seconds = 1;
    });
    served.wait_for("document.append", append(), Some("throttled"));
}

#[test]
fn a_component_that_is_switched_off_goes_and_clients_are_told() {
    let mut served = Served::new(&[]);
    let tools = |served: &mut Served| {
        let listed = served.client.ask("tools/list", json!({}));
        let tools = listed["tools"].as_array().expect("tools");
        tools
            .iter()
            .map(|tool| tool["name"].as_str().expect("a name").to_owned())
            .collect::<Vec<_>>()
    };
    assert!(tools(&mut served).contains(&"notebook".to_owned()));
    served.change(|settings| {
        settings
            .components
            .entry("notebook".into())
            .or_default()
            .enabled = false;
        let document = settings.components.entry("document".into()).or_default();
        document.actions.insert("remove".into(), false);
    });
    until("clients are told", || {
        let names = tools(&mut served);
        let told = served.client.notifications().iter();
        let told = told.filter(|message| message["method"] == "notifications/tools/list_changed");
        (told.count() == 1 && !names.contains(&"notebook".to_owned())).then_some(())
    });
    assert_eq!(
        served.code("notebook.list", json!({})).as_deref(),
        Some("disabled")
    );
    assert_eq!(
        served
            .code("document.remove", json!({"paths": ["Work/Plan.md"]}))
            .as_deref(),
        Some("disabled")
    );
    assert_eq!(
        served.code("document.read", json!({"path": "Work/Plan.md"})),
        None
    );
    served.change(|settings| settings.components.clear());
    served.wait_for("notebook.list", json!({}), None);
    // What does not concern tools is not announced.
    served.change(|settings| settings.limits.call_ms = 9_999);
    served.change(|settings| hide(settings, "Diary"));
    served.wait_for(
        "document.read",
        json!({"path": "Diary/Day.md"}),
        Some("not_found"),
    );
    let told = served.client.notifications().iter();
    let told = told.filter(|message| message["method"] == "notifications/tools/list_changed");
    assert_eq!(told.count(), 2);
}

#[test]
fn a_broken_edit_changes_nothing_and_is_told() {
    let mut served = Served::new(&[]);
    let good = text(&served.settings);
    let mut unreachable = served.settings.clone();
    unreachable
        .permissions
        .notebooks
        .insert("a/b".into(), Tier::None);
    for (broken, told) in [
        (
            "[permissions]\ndefualt = \"none\"\n".to_owned(),
            "notehost.toml:2: unknown key `permissions.defualt`: did you mean `default`?",
        ),
        ("read_only = tru\n".to_owned(), "notehost.toml:1: "),
        (text(&unreachable), "`a/b` is not a notebook"),
        (String::new(), "waits for a restart: vaults"),
    ] {
        rewrite(&served.config, &broken);
        served.wait_for_log(told);
        if broken.is_empty() {
            // Nothing is broken here: it says that nobody may write, and that no vault is served.
            break;
        }
        assert_eq!(served.code("document.append", append()), None, "{told}");
        let doctor = Command::new(env!("CARGO_BIN_EXE_notehost"))
            .args(["doctor", "--config"])
            .arg(&served.config)
            .arg("--state")
            .arg(served.place.state())
            .output()
            .expect("the program runs");
        assert_eq!(doctor.status.code(), Some(1));
        let found = String::from_utf8(doctor.stdout).expect("text");
        assert!(
            found.contains("a server that runs keeps the settings it had"),
            "{found}"
        );
    }
    served.wait_for("document.append", append(), Some("permission_denied"));
    std::fs::remove_file(&served.config).expect("removed");
    served.wait_for_log("cannot read the config file");
    assert_eq!(
        served.code("document.read", json!({"path": "Work/Plan.md"})),
        None
    );
    rewrite(&served.config, &good);
    served.wait_for("document.append", append(), None);
}

#[test]
fn flags_go_on_winning_over_the_file() {
    let mut served = Served::new(&["--allow", "r"]);
    assert_eq!(
        served.code("document.append", append()).as_deref(),
        Some("permission_denied")
    );
    served.change(|settings| {
        settings.permissions.default = Tier::Delete;
        settings
            .permissions
            .notebooks
            .insert("Diary".into(), Tier::None);
    });
    served.wait_for(
        "document.read",
        json!({"path": "Diary/Day.md"}),
        Some("not_found"),
    );
    assert_eq!(
        served.code("document.append", append()).as_deref(),
        Some("permission_denied")
    );
}

#[test]
fn the_kill_switch_of_the_command_line_reaches_a_server_over_http() {
    let place = desk();
    let config = place.config_file(&place.settings());
    let server = crate::support::http::Server::start(&config, &place.state());
    let mut client = HttpClient::stateless(server.address());
    let switch = |word: &str| {
        let ended = Command::new(env!("CARGO_BIN_EXE_notehost"))
            .args(["permission", "read-only", word, "--config"])
            .arg(&config)
            .arg("--state")
            .arg(place.state())
            .output()
            .expect("the program runs");
        assert!(ended.status.success(), "{ended:?}");
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
async fn a_host_can_be_told_to_read_its_file_again_and_knows_what_is_wrong_with_it() {
    let place = desk();
    let mut settings = place.settings();
    let config = place.config_file(&settings);
    let given = Overrides {
        config: Some(config.clone()),
        state: Some(place.state()),
        ..Overrides::default()
    };
    let loaded = notehost::config::load(given, &|_| None).expect("settings");
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
