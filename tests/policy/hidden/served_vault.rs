//! A vault with a hidden notebook and hidden notes beside visible ones, its twin without them, and the built program
//! that serves one of them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use notehost::auth::Caller;
use notehost::config::{
    CallerSettings, Confirm, GrantSettings, PermissionRule, Settings, Surface, VaultCallerSettings,
    VaultEntry,
};
use notehost::dispatch::{self, Host};
use notehost::vault::Tier;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::guests::guest;
use crate::support::http::HttpClient;
use crate::support::place::{Place, component, request};

/// Occurs in names and contents of hidden notes, and in nothing that is ever sent. No id can contain it by chance: the
/// alphabet of ids lacks `o` and `l`.
pub(super) const SECRET: &str = "zqolx";

/// Longer than any operation, even on a busy machine; only a hang reaches it.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The caller and its transport.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CallerKind {
    /// The named caller `stdio`.
    Stdio,
    /// The named caller `http`.
    Http,
    /// The named caller `stdio`, from which the notes are hidden in one vault and notes of the same names are not in
    /// another.
    InOneVault,
    /// Over stdio, without hidden notes.
    Owner,
}

/// A served vault.
pub(super) struct ServedVault {
    place: Place,
    wire: Wire,
}

enum Wire {
    Stdio(Box<Client>),
    Http(Child, Box<HttpClient>),
}

impl ServedVault {
    /// The vault with the hidden notebook, and the ids of its changes.
    pub(super) fn real(caller: CallerKind) -> (ServedVault, Vec<String>) {
        ServedVault::make(caller, true)
    }

    /// The same vault without the notebook.
    pub(super) fn twin(caller: CallerKind) -> ServedVault {
        ServedVault::make(caller, false).0
    }

    fn make(caller: CallerKind, is_real: bool) -> (ServedVault, Vec<String>) {
        let place = Place::new();
        let settings = settings(&place, caller);
        write_notes(&place, is_real);
        let threads = tokio::runtime::Runtime::new().expect("threads");
        let ids = threads.block_on(create_history(&place, &settings, is_real));
        drop(threads);
        let config = place.config_file(&settings);
        let wire = serve(&place, &config, caller);
        (ServedVault { place, wire }, ids)
    }

    /// The full reply to a request.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Value {
        match &mut self.wire {
            Wire::Stdio(client) => {
                let id = client.send(method, params.clone());
                client.answer(id)
            }
            Wire::Http(_, client) => client.ask_any(method, params.clone()),
        }
    }

    /// The notifications so far.
    pub(super) fn notifications(&self) -> String {
        match &self.wire {
            Wire::Stdio(client) => client
                .notifications()
                .iter()
                .map(|message| format!("{message}\n"))
                .collect(),
            Wire::Http(..) => String::new(),
        }
    }

    /// The log so far.
    pub(super) fn log(&self) -> String {
        std::fs::read_to_string(log_file(&self.place)).expect("a log")
    }
}

impl Drop for ServedVault {
    fn drop(&mut self) {
        if let Wire::Http(program, _) = &mut self.wire {
            let _ = program.kill();
            let _ = program.wait();
        }
    }
}

fn log_file(place: &Place) -> PathBuf {
    place.root().join("log.txt")
}

/// The caller has no tier for the hidden notebook; every component has a grant for everything.
fn settings(place: &Place, caller: CallerKind) -> Settings {
    let mut settings = place.settings();
    settings.surface = Surface::Flat;
    settings.rates.read = 0;
    settings.rates.write = 0;
    settings.rates.delete = 0;
    if caller != CallerKind::Http {
        settings.confirm = Confirm::Never;
    }
    let mut hidden = CallerSettings::default();
    hidden
        .permissions
        .notebooks
        .insert("Vellum".into(), Tier::None);
    hidden.permissions.rules.push(PermissionRule {
        glob: "**/Closet*".into(),
        tier: Tier::None,
    });
    match caller {
        CallerKind::Owner => {}
        CallerKind::InOneVault => {
            let here = VaultCallerSettings {
                permissions: hidden.permissions,
            };
            settings.vaults[0].callers.insert("stdio".into(), here);
            settings.vaults.push(VaultEntry {
                id: "other".into(),
                path: second_vault(place),
                ..VaultEntry::default()
            });
        }
        CallerKind::Stdio | CallerKind::Http => {
            settings.callers.insert("stdio".into(), hidden.clone());
            settings.callers.insert("http".into(), hidden);
        }
    }
    let everywhere = GrantSettings {
        delete: vec!["**".into()],
        ..GrantSettings::default()
    };
    for name in ["echo", "hostile"] {
        settings
            .components
            .insert(name.into(), component(guest(name), everywhere.clone()));
    }
    settings.limits.call_ms = 60_000;
    // The retry time of an open circuit breaker is reported in milliseconds and differs in every run.
    settings.supervision.strikes = 0;
    settings
}

/// A second vault with the names of the hidden notebook and of some of its notes.
fn second_vault(place: &Place) -> PathBuf {
    let folder = place.root().join("other");
    for (path, text) in [
        ("Vellum/Known.md", "# Known\n\npassphrase [[Seen]]\n"),
        ("Vellum/Seen.md", "seen\n"),
        ("Open/Closet.md", "numbers ^known-block\n"),
    ] {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(path, text).expect("a note");
    }
    folder
}

fn write_notes(place: &Place, is_real: bool) {
    place.write(
        "Open/Seen.md",
        "---\naliases: [Seen alias]\ntags: [shared-tag]\n---\n# Seen\n\nA word beside passphrase. [[Known]], [[Vellum/Known]], \
         [[Alias One]], [[Seen]] and #open-tag\n\n## Budget\n\nopen numbers ^open-block\n",
    );
    place.write("Open/Other.md", "# Other\n\n[[Seen]] and [more](Seen.md)\n");
    place.write("Open/Sub/Deep.md", "deep\n");
    place.write("Root.md", "# Root\n\n[[Open/Other]]\n");
    place.write("Open/Cards.md", "#flashcards/open\n\nquestion::answer\n");
    place.write(
        "Open/Table.base",
        "filters: file.hasTag(\"shared-tag\")\nviews:\n  - type: table\n    name: All\n    order: [file.name, key]\n",
    );
    if !is_real {
        return;
    }
    // An editor's workspace file that mentions hidden notes.
    place.write(
        ".obsidian/types.json",
        "{\"types\": {\"key\": \"text\", \"zqolxkey\": \"date\"}}",
    );
    place.write(".obsidian/templates.json", "{\"folder\": \"Vellum\"}");
    place.write(
        "Vellum/zqolxcards.md",
        "---\nzqolxkey: 2024-01-01\n---\n#flashcards/zqolxdeck #flashcards/open\n\nzqolx::numbers\n",
    );
    place.write(
        "Vellum/zqolx.base",
        "views:\n  - type: table\n    name: zqolx\n",
    );
    place.write(
        "Vellum/Known.md",
        "---\naliases: [Alias One, zqolxalias]\ntags: [known-tag, zqolxtag, shared-tag]\nkey: zqolxproperty\n---\n# Known\n\npassphrase \
         zqolxpassphrase [[Seen]] [[Other]] [[zqolxname]] #zqolxinline\n\n## Budget\n\nnumbers zqolxnumbers ^known-block\n\n## zqolxheading\n\ntext \
         ^zqolxblock\n",
    );
    // The same name as a visible note: it must not make the name ambiguous.
    place.write("Vellum/Seen.md", "zqolxseen [[Open/Other]]\n");
    place.write("Vellum/zqolxname.md", "zqolx\n");
    place.write("Vellum/\u{c4}nderung.md", "zqolx\n");
    place.write("Vellum/Sub/zqolxdeep.md", "zqolx passphrase\n");
    place.write("Vellum/Gone.md", "zqolxgone\n");
    place.write("Vellum/zqolxgone.md", "zqolxgone\n");
    place.write("Vellum/zqolxpicture.png", [0u8, 1, 2]);
    // Hidden by a rule, in a visible notebook.
    place.write(
        "Open/Closet.md",
        "---\naliases: [Closed alias]\n---\nzqolxcloset passphrase [[Seen]] [[Other]] ^known-block\n",
    );
    place.write("Open/Closet zqolx.md", "zqolx\n");
    place.write("Open/Sub/Closet/Seen.md", "zqolx passphrase\n");
    place.write("Open/Sub/Closet/zqolxinner.md", "zqolx [[Deep]]\n");
}

/// Creates a history: changes and removals, some of them on both sides. Returns the ids of those on the hidden side.
async fn create_history(place: &Place, settings: &Settings, is_real: bool) -> Vec<String> {
    // The owner needs no confirmation.
    let mut settings = settings.clone();
    settings.confirm = Confirm::Never;
    let host = place.host(settings).await;
    let mut hidden = Vec::new();
    for (action, arguments, is_hidden) in [
        (
            "document.append",
            json!({"path": "Vellum/Known.md", "text": "zqolxmore"}),
            true,
        ),
        (
            "document.create",
            json!({"path": "Open/Made.md", "content": "made"}),
            false,
        ),
        (
            "document.append",
            json!({"path": "Open/Closet.md", "text": "zqolxmore"}),
            true,
        ),
        (
            "document.create",
            json!({"path": "Vellum/Temp.md", "content": "zqolxtemp"}),
            true,
        ),
        (
            "document.remove",
            json!({"paths": ["Vellum/Gone.md", "Vellum/zqolxgone.md"]}),
            true,
        ),
        ("document.remove", json!({"paths": ["Open/Made.md"]}), false),
        // Links in both notebooks are updated.
        (
            "document.rename",
            json!({"path": "Open/Other.md", "to": "Renamed"}),
            false,
        ),
        (
            "notebook.configure",
            json!({"notebook": "Vellum", "description": "zqolxdescription"}),
            true,
        ),
    ] {
        if is_hidden && !is_real {
            continue;
        }
        let reply = owner(&host, action, arguments).await;
        if is_hidden {
            hidden.extend(reply["change"].as_str().map(str::to_owned));
        }
    }
    if is_real {
        let trash = owner(&host, "document.trash", json!({})).await;
        let items = trash["items"].as_array().expect("the trash").clone();
        let gone = items
            .iter()
            .filter(|item| item.to_string().contains("Vellum"));
        hidden.extend(gone.filter_map(|item| item["trash_id"].as_str().map(str::to_owned)));
        assert!(
            hidden.len() >= 5,
            "changes and removals have ids: {hidden:?} {trash}"
        );
    }
    hidden
}

async fn owner(host: &Host, action: &str, arguments: Value) -> Value {
    let caller = Caller::command_line(Some("owner"));
    match dispatch::call(host, &caller, request(action, arguments)).await {
        Ok(reply) => Value::Object(reply.structured),
        Err(error) => panic!("{action}: {error:?}"),
    }
}

fn serve(place: &Place, config: &Path, caller: CallerKind) -> Wire {
    let log = std::fs::File::create(log_file(place)).expect("a log");
    let mut command = Command::new(crate::support::program());
    command
        .args(["serve", "--log", "debug", "--config"])
        .arg(config)
        .arg("--state")
        .arg(place.state());
    if caller != CallerKind::Http {
        let mut client = Client::spawn_with(&mut command, Stdio::from(log));
        client.initialize();
        return Wire::Stdio(Box::new(client));
    }
    let program = command
        .args(["--http", "127.0.0.1:0", "--no-auth"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .expect("the program starts");
    let began = Instant::now();
    let address = loop {
        let report = std::fs::read_to_string(log_file(place)).expect("a log");
        let mut lines = report.lines();
        let found = lines.find_map(|line| {
            line.strip_prefix("listening on http://")?
                .strip_suffix("/mcp")
        });
        if let Some(address) = found {
            break address.to_owned();
        }
        assert!(
            began.elapsed() < TIMEOUT,
            "the program does not listen: {report}"
        );
        std::thread::sleep(Duration::from_millis(20));
    };
    let client = HttpClient::with_session(&address);
    Wire::Http(program, Box::new(client))
}
