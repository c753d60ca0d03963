//! Every example that help shows is run: each on a fresh copy of the sample vault, through the real host. What an example
//! needs before it can work is declared here, step by step; what has another value in every run (ids, handles, where a file
//! lies) is put in its place.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use notehost::auth::Caller;
use notehost::config::{Confirm, Overrides};
use notehost::dispatch::{self, Host};
use notehost::registry::{Domain, EMBEDDED, Registry};
use serde_json::{Map, Value, json};

use crate::support::guests::guest;
use crate::support::place::{Place, ana, request};
use crate::support::repository;

/// One thing that is done before an example.
struct Step {
    /// `domain.action`; `bob: domain.action` is done by somebody else, and may be refused.
    call: &'static str,
    arguments: Value,
    /// What of the answer is kept, under which name.
    keeps: Option<(&'static str, &'static str)>,
}

fn step(call: &'static str, arguments: Value) -> Step {
    Step {
        call,
        arguments,
        keeps: None,
    }
}

fn keeping(
    call: &'static str,
    arguments: Value,
    name: &'static str,
    pointer: &'static str,
) -> Step {
    Step {
        keeps: Some((name, pointer)),
        ..step(call, arguments)
    }
}

/// What must have happened before the examples of an action, and which of their arguments have another value in every run.
fn prepared(action: &str) -> (Vec<Step>, Vec<(&'static str, &'static str)>) {
    let card = || {
        let arguments = json!({"path": "Coffee/Brewing flashcards"});
        keeping("flashcard.list", arguments, "card", "/items/0/card")
    };
    let is_card = vec![("card", "<card>")];
    let append = json!({"path": "Garden/Compost", "text": "Stirred it."});
    let install = || step("admin.install", json!({"file": "<one>"}));
    let upgrade = || {
        let arguments = json!({"component": "steady", "file": "<two>"});
        step("admin.upgrade", arguments)
    };
    match action {
        "document.restore" => (
            vec![
                step("document.remove", json!({"paths": ["Garden/Compost"]})),
                keeping("document.trash", json!({}), "id", "/items/0/trash_id"),
            ],
            vec![("trash_id", "<id>")],
        ),
        "document.diff" => (
            vec![keeping("document.append", append, "id", "/change")],
            vec![("version", "<id>")],
        ),
        "document.undo" => (vec![step("document.append", append)], vec![]),
        "flashcard.get" | "flashcard.review" | "flashcard.skip" | "flashcard.remove"
        | "flashcard.suspend" => (vec![card()], is_card),
        "flashcard.resume" => {
            let suspend = step("flashcard.suspend", json!({"card": "<card>"}));
            (vec![card(), suspend], is_card)
        }
        "flashcard.undo" => {
            let review = json!({"card": "<card>", "rating": 3});
            (vec![card(), step("flashcard.review", review)], vec![])
        }
        "flashcard.import" => {
            let export = json!({"path": "Exports/Coffee.apkg"});
            (vec![step("flashcard.export", export)], vec![])
        }
        // Every call earns a coin.
        "mascot.buy" => {
            let calls = (0..8).map(|_| step("mascot.balance", json!({})));
            (calls.collect(), vec![])
        }
        "admin.install" => (vec![], vec![("file", "<one>")]),
        "admin.upgrade" => (vec![install()], vec![("file", "<two>")]),
        "admin.rollback" => (vec![install(), upgrade()], vec![]),
        "admin.remove" | "admin.grant" | "admin.revoke" | "admin.log" => (vec![install()], vec![]),
        "admin.approve" | "admin.deny" => {
            let remove = json!({"paths": ["Garden/Compost"]});
            let pointer = "/error/details/approval";
            let asked = keeping("bob: document.remove", remove, "id", pointer);
            (vec![asked], vec![("id", "<id>")])
        }
        _ => (vec![], vec![]),
    }
}

/// Values by the names that steps gave them.
struct Kept(Map<String, Value>);

impl Kept {
    /// Arguments in which names in `<…>` are what they stand for.
    fn filled(&self, arguments: &Value) -> Value {
        let Value::Object(arguments) = arguments else {
            panic!("arguments are an object");
        };
        let filled = arguments.iter().map(|(name, value)| {
            let kept = value.as_str().and_then(|text| self.of(text));
            (name.clone(), kept.unwrap_or_else(|| value.clone()))
        });
        Value::Object(filled.collect())
    }

    fn of(&self, text: &str) -> Option<Value> {
        let name = text.strip_prefix('<')?.strip_suffix('>')?;
        self.0.get(name).cloned()
    }
}

/// The demo's notes, and beside them what it has none of: a database, pictures, a template.
fn sample() -> Place {
    let place = Place::new();
    for folder in ["host/demo", "tests/fixtures/examples"] {
        copy(&repository().join(folder), &place.vault());
    }
    place
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).expect("a file")),
        }
    }
}

/// A host on a fresh copy, which has a config to change.
async fn host(place: &Place, confirm: Confirm) -> Arc<Host> {
    let mut settings = place.settings();
    settings.confirm = confirm;
    let given = Overrides {
        config: Some(place.config_file(&settings)),
        state: Some(place.state()),
        ..Overrides::default()
    };
    let loaded = notehost::config::load(given, &|_| None).expect("settings");
    let source = loaded.source().expect("a file");
    let host = place.host(loaded.settings).await;
    host.watch(source);
    // Some actions need all of the index, and a busy machine may take longer for it than a call may.
    for (_, index) in host.indexes() {
        index.start();
        assert!(index.wait(None), "the index is built");
    }
    host
}

/// Runs one example; what it answers if it fails.
async fn run(name: &str, arguments: &Map<String, Value>) -> Result<(), String> {
    let place = sample();
    let confirm = match name {
        "admin.approve" | "admin.deny" => Confirm::Floor,
        _ => Confirm::Never,
    };
    let host = host(&place, confirm).await;
    let mut kept = Kept(Map::new());
    let (steps, replaced) = prepared(name);
    if name.starts_with("admin.") {
        for (name, file) in [("one", "steady_one"), ("two", "steady_two")] {
            let file = guest(file).to_string_lossy().into_owned();
            kept.0.insert(name.to_owned(), file.into());
        }
    }
    for step in steps {
        let (who, call) = match step.call.strip_prefix("bob: ") {
            Some(call) => (Caller::command_line(Some("bob")), call),
            None => (ana(), step.call),
        };
        let asked = request(call, kept.filled(&step.arguments));
        let answer = match dispatch::call(&host, &who, asked).await {
            Ok(reply) => reply.structured,
            Err(error) if who.name() == "bob" => error.to_json(),
            Err(error) => return Err(format!("before it, `{call}`: {error}")),
        };
        if let Some((name, pointer)) = step.keeps {
            let answer = Value::Object(answer);
            let value = answer.pointer(pointer);
            let value = value.unwrap_or_else(|| panic!("no {pointer} in {answer}"));
            kept.0.insert(name.to_owned(), value.clone());
        }
    }
    let mut arguments = arguments.clone();
    for (field, stands) in replaced {
        let value = kept.of(stands).expect("it was kept");
        let before = arguments.insert(field.to_owned(), value);
        assert!(before.is_some(), "{name} has no `{field}` in its example");
    }
    let asked = request(name, Value::Object(arguments));
    let answer = dispatch::call(&host, &ana(), asked).await;
    answer.map(|_| ()).map_err(|error| {
        let hint = error.hint.clone().unwrap_or_default();
        format!("{}: {error} {hint}", error.code)
    })
}

/// What is loaded, as callers meet it.
async fn domain(name: &str) -> Arc<Domain> {
    let place = Place::new();
    let host = place.host(place.settings()).await;
    let registry: &Registry = host.registry();
    registry
        .snapshot()
        .domain(name)
        .expect("it is there")
        .clone()
}

/// Runs every example of a domain. Each action has one at least.
async fn every_example_of(name: &str) {
    let domain = domain(name).await;
    let mut failed = Vec::new();
    for action in &domain.actions {
        let call = format!("{name}.{}", action.name);
        if action.examples.is_empty() {
            failed.push(format!("{call} has no example"));
        }
        for example in &action.examples {
            if let Err(error) = run(&call, &example.arguments).await {
                let arguments = Value::Object(example.arguments.clone());
                failed.push(format!("{call} {arguments}\n    {error}"));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

macro_rules! domains {
    ($($test:ident: $name:literal),+ $(,)?) => {
        /// The domains whose examples are run.
        const RUN: &[&str] = &[$($name),+];

        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                every_example_of($name).await;
            }
        )+
    };
}

domains! {
    admin_shows_what_works: "admin",
    block_shows_what_works: "block",
    database_shows_what_works: "database",
    document_shows_what_works: "document",
    file_shows_what_works: "file",
    flashcard_shows_what_works: "flashcard",
    fs_shows_what_works: "fs",
    link_shows_what_works: "link",
    mascot_shows_what_works: "mascot",
    notebook_shows_what_works: "notebook",
    search_shows_what_works: "search",
    system_shows_what_works: "system",
    tag_shows_what_works: "tag",
}

#[test]
fn no_domain_is_left_out() {
    for embedded in EMBEDDED {
        assert!(RUN.contains(&embedded.name), "{}", embedded.name);
    }
}

/// The program's words on a sample vault.
fn told(words: &[&str]) -> (String, String) {
    let place = sample();
    let config = place.config_file(&place.settings());
    let ended = std::process::Command::new(env!("CARGO_BIN_EXE_notehost"))
        .args(words)
        .arg("--config")
        .arg(config)
        .arg("--state")
        .arg(place.state())
        .output()
        .expect("the program runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (text(ended.stdout), text(ended.stderr))
}

#[test]
fn on_the_command_line_they_are_commands() {
    let command = "notehost call document read --vault ~/notes --path Garden/Compost";
    let (help, _) = told(&["help", "document", "read"]);
    assert!(help.contains(&format!("  {command}\n")), "{help}");
    let section = format!("  # a section\n  {command} --section 'When it smells'\n");
    assert!(help.contains(&section), "{help}");
    assert!(!help.contains("Example"), "{help}");

    let (_, refused) = told(&["call", "document", "read", "--json", "{}"]);
    assert!(refused.contains("`--path` is missing"), "{refused}");
    assert!(
        refused.contains(&format!("for example `{command}`")),
        "{refused}"
    );
}
