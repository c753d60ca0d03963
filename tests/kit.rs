//! The conformance kit, `notehost component test`, through the built program: what keeps the contract passes, and each
//! way of breaking it is found under its name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

use notehost::registry::EMBEDDED;
use serde_json::Value;

use crate::support::guests::guest;
use crate::support::place::Place;

fn run(place: &Place, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_notehost"))
        .args(["component", "test"])
        .args(words)
        .arg("--state")
        .arg(place.state())
        // A config of this machine is none of the tests' affair.
        .env("XDG_CONFIG_HOME", place.outside())
        .env_remove("NOTEHOST_CONFIG")
        .env("TMPDIR", place.outside())
        .output()
        .expect("the program runs")
}

/// What the kit says of a component, and whether it passed.
fn tested(component: &str) -> (bool, Value) {
    let place = Place::new();
    let output = run(&place, &[component, "--json"]);
    let told: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{component}: {}", String::from_utf8_lossy(&output.stderr)));
    let has_passed = output.status.success();
    assert_eq!(output.status.code(), Some(i32::from(!has_passed)));
    assert_eq!(told["passed"], has_passed);
    let left: Vec<_> = std::fs::read_dir(place.outside())
        .expect("a folder")
        .collect();
    assert!(left.is_empty(), "the kit leaves nothing behind: {left:?}");
    (has_passed, told)
}

fn file(path: &Path) -> &str {
    path.to_str().expect("a path of text")
}

/// The names of the checks that failed.
fn failed(told: &Value) -> Vec<&str> {
    let checks = told["checks"].as_array().expect("checks");
    let is_failed = |check: &&Value| check["verdict"] == "failed";
    checks
        .iter()
        .filter(is_failed)
        .filter_map(|check| check["name"].as_str())
        .collect()
}

/// What is known to be wrong with our own: a value of a table is a text, a number or a switch, and its schema says so.
const KNOWN: [(&str, &[&str]); 1] = [("database", &["schemas"])];

#[test]
fn what_comes_with_notehost_keeps_the_contract() {
    let mut faults = Vec::new();
    for embedded in EMBEDDED {
        let (_, told) = tested(embedded.name);
        let known = KNOWN.iter().find(|(name, _)| *name == embedded.name);
        if failed(&told) != known.map_or(&[][..], |(_, checks)| *checks) {
            faults.push(format!("{}: {:#}", embedded.name, told["checks"]));
        }
        assert!(
            told["calls"].as_u64().is_some_and(|calls| calls > 50),
            "{told}"
        );
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_polite_guest_passes() {
    let echo = guest("echo");
    let (has_passed, told) = tested(file(&echo));
    assert!(has_passed, "{told:#}");
    assert_eq!(told["name"], "echo");
    assert_eq!(told["checks"].as_array().map(Vec::len), Some(12));
}

#[test]
fn every_rule_that_is_broken_is_found_under_its_name() {
    let (has_passed, told) = tested(file(&guest("clumsy")));
    assert!(!has_passed);
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for check in told["checks"].as_array().expect("checks") {
        for finding in check["findings"].as_array().expect("findings") {
            let action = finding["action"].as_str().expect("an action").to_owned();
            let name = check["name"].as_str().expect("a name").to_owned();
            found.entry(action).or_default().insert(name);
        }
    }
    let expected = [
        ("nullable", "schemas"),
        ("untold", "words"),
        ("misled", "examples"),
        ("panics", "input"),
        ("mumbles", "input"),
        ("shrugs", "input"),
        ("misfits", "output"),
        ("oversteps", "effects"),
        ("removes", "effects"),
        ("spins", "limits"),
        ("dices", "repetition"),
        ("trusts", "denial"),
        ("assumes", "conflict"),
    ];
    for (action, check) in expected {
        let checks = found.remove(action).unwrap_or_default();
        assert!(
            checks.contains(check),
            "`{action}` is found under {checks:?}, and not `{check}`: {told:#}"
        );
    }
    assert!(found.is_empty(), "`fine` keeps every rule: {found:?}");
}

#[test]
fn enemies_fail() {
    let (has_passed, told) = tested(file(&guest("hostile")));
    assert!(!has_passed);
    for check in ["input", "output", "limits"] {
        assert!(failed(&told).contains(&check), "{check}: {told:#}");
    }
}

#[test]
fn what_cannot_say_what_it_is_is_asked_nothing_more() {
    for lie in ["garbage", "traps", "empty", "bad_name", "bad_schema"] {
        let (has_passed, told) = tested(file(&guest(&format!("liar_{lie}"))));
        assert!(!has_passed, "{lie}");
        assert_eq!(failed(&told), ["describe"], "{lie}: {told:#}");
        assert_eq!(told["checks"][1]["verdict"], "skipped");
    }
    let (_, told) = tested(file(&guest("liar_fickle")));
    assert!(failed(&told).contains(&"describe"), "{told:#}");
    let (_, told) = tested(file(&guest("liar_reserved")));
    assert!(failed(&told).contains(&"schemas"), "{told:#}");
}

#[test]
fn people_read_one_line_for_each_check() {
    let place = Place::new();
    let echo = guest("echo");
    let output = run(&place, &[file(&echo)]);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{text}");
    assert_eq!(
        text.lines().filter(|line| line.starts_with("ok ")).count(),
        12,
        "{text}"
    );
    assert!(text.contains("all 12 checks passed"), "{text}");

    let output = run(&place, &["documnt"]);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        told.contains("did you mean the built-in component `document`"),
        "{told}"
    );
}
