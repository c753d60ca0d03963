//! The whole development cycle in each language: new, test, build, load into a running server, call, break, fix,
//! hot-swap.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::dev::Dev;
use super::tools::{author, bench, has_javascript, python_environment, succeed};
use crate::support::client::Client;
use crate::support::http::wait_until;
use crate::support::place::Place;

/// The project of one language.
struct Kind {
    language: &'static str,
    /// The command that runs the project's own tests.
    tests: &'static [&'static str],
    /// The source file of the domain, and its expression that counts words.
    source: &'static str,
    counting: (&'static str, &'static str),
    /// Source text that does not compile.
    broken: &'static str,
}

/// A note of three words, and a server that allows everything to everybody.
fn server() -> (Place, PathBuf, Client) {
    let place = Place::new();
    place.write("Plan.md", "one two three\n");
    let config = place.config_file(&place.settings());
    let client = Client::start(&config, &place.state());
    (place, config, client)
}

/// New, test, load into a running server, call, break, fix, hot-swap. Returns the project.
fn cycle(kind: &Kind) -> PathBuf {
    let folder = bench(&format!("cycle-{}", kind.language));
    let mut new = author(crate::support::program(), &folder);
    succeed(new.args(["component", "new", "tally", "--lang", kind.language]));
    let project = folder.join("tally");
    succeed(author(kind.tests[0], &project).args(&kind.tests[1..]));

    let (place, config, mut client) = server();
    let (state, config_name) = (place.state(), config.display().to_string());
    let dev = Dev::start(
        &project,
        &[
            "--state",
            &state.display().to_string(),
            "--config",
            &config_name,
        ],
        &[],
    );
    dev.wait_for("handed to the server", 1);
    assert!(
        dev.output().contains("it has no access to notes yet"),
        "{}",
        dev.output()
    );
    // The admin grants its permissions.
    let mut grant = author(crate::support::program(), &folder);
    grant.args(["component", "grant", "tally"]);
    grant.args(["--read", "**", "--write", "**"]);
    succeed(
        grant
            .arg("--config")
            .arg(&config)
            .arg("--state")
            .arg(&state),
    );
    let mut word_count =
        || client.call("tally.count", json!({"path": "plan"}))["structuredContent"]["words"].take();
    wait_until("the component answers", || word_count() == 3);

    let source = project.join(kind.source);
    let whole = std::fs::read_to_string(&source).expect("the source");
    std::fs::write(&source, format!("{whole}\n{}\n", kind.broken)).expect("the source is written");
    dev.wait_for_failed_build();
    assert_eq!(word_count(), 3, "what does not build changes nothing");

    let changed = whole
        .replacen(kind.counting.0, kind.counting.1, 1)
        .replace("Count the words of a note.", "Count all words of a note.");
    assert_ne!(changed, whole, "the edit changes something");
    std::fs::write(&source, changed).expect("the source is written");
    dev.wait_for("handed to the server", 2);
    dev.wait_for("action `count` has a new description", 1);
    wait_until("the new version answers", || word_count() == 1003);

    let reply = client.call("tally.add", json!({"path": "Plan", "line": "four"}));
    assert_eq!(
        reply["structuredContent"]["changes"][0]["kind"], "modify",
        "{reply}"
    );
    assert_eq!(
        place.read("Plan.md").as_deref(),
        Some(&b"one two three\nfour\n"[..])
    );
    let refused = client.call("tally.count", json!({"path": "Nobody"}));
    assert_eq!(
        refused["structuredContent"]["error"]["code"], "not_found",
        "{refused}"
    );
    project
}

#[test]
fn rust_domain_from_template_to_hot_swap() {
    let project = cycle(&Kind {
        language: "rust",
        tests: &["cargo", "test", "--quiet"],
        source: "src/lib.rs",
        counting: (
            "split_whitespace().count()",
            "split_whitespace().count() + 1000",
        ),
        broken: "fn broken( {",
    });
    in_a_server_of_its_own(&project);
}

#[test]
fn javascript_domain_from_template_to_hot_swap() {
    if !has_javascript() {
        return;
    }
    cycle(&Kind {
        language: "javascript",
        tests: &["npm", "test"],
        source: "src/domain.js",
        counting: (".filter(Boolean).length", ".filter(Boolean).length + 1000"),
        broken: "function broken( {",
    });
}

#[test]
fn python_domain_from_template_to_hot_swap() {
    if python_environment().is_none() {
        return;
    }
    cycle(&Kind {
        language: "python",
        tests: &["python3", "-m", "unittest"],
        source: "domain.py",
        counting: ("len(note.text.split())", "len(note.text.split()) + 1000"),
        broken: "def broken(:",
    });
}

/// Without a running server, `dev` starts one: typed lines are calls, and clients connect over HTTP.
fn in_a_server_of_its_own(project: &Path) {
    let place = Place::new();
    place.write("Plan.md", "one two\n");
    let vault = place.vault().display().to_string();
    let mut dev = Dev::start(
        project,
        &["--vault", &vault, "--allow", "rw"],
        &[("NOTEHOST_STATE", place.state())],
    );
    dev.wait_for("ready: `tally` 0.1.0", 1);
    dev.wait_for("listening on http://127.0.0.1:", 1);
    assert_eq!(dev.call("count --path Plan")["words"], 1002);
    assert_eq!(
        dev.call("tally add --path plan --line 'three four'")["path"],
        "Plan.md"
    );
    assert_eq!(
        place.read("Plan.md").as_deref(),
        Some(&b"one two\nthree four\n"[..])
    );
}
