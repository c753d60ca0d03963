//! Runs every example of the help, each on a fresh copy of the sample vault, through the real host. The setup steps of
//! an example are declared here; values that differ in every run (ids, handles, file locations) are substituted.

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

/// A setup step of an example.
struct Step {
    /// `domain.action`; `bob: domain.action` is called by another caller, and may fail.
    call: &'static str,
    arguments: Value,
    /// A field of the reply to keep, with its name.
    keeps: Option<(&'static str, &'static str)>,
}

fn step(call: &'static str, arguments: Value) -> Step {
    Step {
        call,
        arguments,
        keeps: None,
    }
}

fn step_keeping(
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

/// The setup steps for the examples of an action, and the arguments whose values differ in every run.
fn setup_steps(action: &str) -> (Vec<Step>, Vec<(&'static str, &'static str)>) {
    let card = || {
        let arguments = json!({"path": "Coffee/Brewing flashcards"});
        step_keeping("flashcard.list", arguments, "card", "/items/0/card")
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
                step_keeping("document.trash", json!({}), "id", "/items/0/trash_id"),
            ],
            vec![("trash_id", "<id>")],
        ),
        "document.read" | "document.diff" | "document.restore_version" => {
            let later = step("document.append", append.clone());
            let first = step_keeping("document.append", append, "id", "/change");
            (vec![first, later], vec![])
        }
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
            let pending = step_keeping("bob: document.remove", remove, "id", pointer);
            (vec![pending], vec![("id", "<id>")])
        }
        _ => (vec![], vec![]),
    }
}

/// The id of a change in the examples, which stands for the one that was kept as `id`.
const CHANGE_ID: &str = "068tmz9ky5r4x2";

/// The kept values, by name.
struct KeptValues(Map<String, Value>);

impl KeptValues {
    /// Replaces names in `<…>` in the arguments by their values.
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

/// The demo's notes, plus kinds that it lacks: a database, images, a template.
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

/// A host on a fresh copy, with a config file.
async fn host(place: &Place, confirm: Confirm) -> Arc<Host> {
    let mut settings = place.settings();
    settings.confirm = confirm;
    let options = Overrides {
        config: Some(place.config_file(&settings)),
        state: Some(place.state()),
        ..Overrides::default()
    };
    let loaded = notehost::config::load(options, &|_| None).expect("settings");
    let source = loaded.source().expect("a file");
    let host = place.host(loaded.settings).await;
    host.watch(source);
    // Some actions need the complete index, and on a busy machine it may take longer than a call may.
    for (_, index) in host.indexes() {
        index.start();
        assert!(index.wait(None), "the index is built");
    }
    host
}

/// Runs one example; returns the error if it fails.
async fn run(name: &str, arguments: &Map<String, Value>) -> Result<(), String> {
    let place = sample();
    let confirm = match name {
        "admin.approve" | "admin.deny" => Confirm::Floor,
        _ => Confirm::Never,
    };
    let host = host(&place, confirm).await;
    let mut kept = KeptValues(Map::new());
    let (steps, replaced) = setup_steps(name);
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
        let call_request = request(call, kept.filled(&step.arguments));
        let answer = match dispatch::call(&host, &who, call_request).await {
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
    for argument in arguments.values_mut() {
        if let (Some(text), Some(Value::String(id))) = (argument.as_str(), kept.of("<id>")) {
            *argument = text.replace(CHANGE_ID, &id).into();
        }
    }
    let call_request = request(name, Value::Object(arguments));
    let answer = dispatch::call(&host, &ana(), call_request).await;
    answer.map(|_| ()).map_err(|error| {
        let hint = error.hint.clone().unwrap_or_default();
        format!("{}: {error} {hint}", error.code)
    })
}

/// A loaded domain, as callers see it.
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

/// Runs every example of a domain. Every action has at least one.
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
fn every_domain_is_covered() {
    for embedded in EMBEDDED {
        assert!(RUN.contains(&embedded.name), "{}", embedded.name);
    }
}

/// The program's output and errors on a sample vault.
fn run_program(arguments: &[&str]) -> (String, String) {
    let place = sample();
    let config = place.config_file(&place.settings());
    let result = std::process::Command::new(crate::support::program())
        .args(arguments)
        .arg("--config")
        .arg(config)
        .arg("--state")
        .arg(place.state())
        .output()
        .expect("the program runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (text(result.stdout), text(result.stderr))
}

#[test]
fn command_line_help_shows_examples_as_commands() {
    let command = "notehost call document read --vault ~/notes --path Garden/Compost";
    let (help, _) = run_program(&["help", "document", "read"]);
    assert!(help.contains(&format!("  {command}\n")), "{help}");
    let section = format!("  # a section\n  {command} --section 'When it smells'\n");
    assert!(help.contains(&section), "{help}");
    assert!(
        !help.contains("Example:") && !help.contains("Example ("),
        "{help}"
    );

    let (_, refused) = run_program(&["call", "document", "read", "--json", "{}"]);
    assert!(refused.contains("`--path` is missing"), "{refused}");
    assert!(
        refused.contains(&format!("for example `{command}`")),
        "{refused}"
    );
}
