//! The conformance suite, `notehost component test`, through the built program: conforming components pass, and each
//! violation is reported under the right check.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

use notehost::registry::EMBEDDED;
use serde_json::Value;

use crate::support::guests::guest;
use crate::support::place::Place;

fn run(place: &Place, arguments: &[&str]) -> Output {
    Command::new(crate::support::program())
        .args(["component", "test"])
        .args(arguments)
        .arg("--state")
        .arg(place.state())
        // Ignores the config of the user who runs the tests.
        .env("XDG_CONFIG_HOME", place.outside())
        .env_remove("NOTEHOST_CONFIG")
        .env("TMPDIR", place.outside())
        .output()
        .expect("the program runs")
}

/// The suite's report on a component, and whether it passed.
fn run_suite(component: &str) -> (bool, Value) {
    let place = Place::new();
    let output = run(&place, &[component, "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{component}: {}", String::from_utf8_lossy(&output.stderr)));
    let has_passed = output.status.success();
    assert_eq!(output.status.code(), Some(i32::from(!has_passed)));
    assert_eq!(report["passed"], has_passed);
    let left: Vec<_> = std::fs::read_dir(place.outside())
        .expect("a folder")
        .collect();
    assert!(left.is_empty(), "the suite leaves nothing behind: {left:?}");
    (has_passed, report)
}

fn file(path: &Path) -> &str {
    path.to_str().expect("a path of text")
}

/// The names of the checks that failed.
fn failed_checks(report: &Value) -> Vec<&str> {
    let checks = report["checks"].as_array().expect("checks");
    let is_failed = |check: &&Value| check["verdict"] == "failed";
    checks
        .iter()
        .filter(is_failed)
        .filter_map(|check| check["name"].as_str())
        .collect()
}

/// Known failures of embedded components: a cell of a table is a text, a number or a boolean, and its schema states so.
const KNOWN_FAILURES: [(&str, &[&str]); 1] = [("database", &["schemas"])];

#[test]
fn embedded_components_pass() {
    let mut faults = Vec::new();
    for embedded in EMBEDDED {
        let (_, report) = run_suite(embedded.name);
        let known = KNOWN_FAILURES
            .iter()
            .find(|(name, _)| *name == embedded.name);
        if failed_checks(&report) != known.map_or(&[][..], |(_, checks)| *checks) {
            faults.push(format!("{}: {:#}", embedded.name, report["checks"]));
        }
        assert!(
            report["calls"].as_u64().is_some_and(|calls| calls > 50),
            "{report}"
        );
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn conforming_guest_passes() {
    let echo = guest("echo");
    let (has_passed, report) = run_suite(file(&echo));
    assert!(has_passed, "{report:#}");
    assert_eq!(report["name"], "echo");
    assert_eq!(report["checks"].as_array().map(Vec::len), Some(12));
}

#[test]
fn every_broken_rule_is_reported_under_its_check() {
    let (has_passed, report) = run_suite(file(&guest("clumsy")));
    assert!(!has_passed);
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for check in report["checks"].as_array().expect("checks") {
        for finding in check["findings"].as_array().expect("findings") {
            let action = finding["action"].as_str().expect("an action").to_owned();
            let name = check["name"].as_str().expect("a name").to_owned();
            found.entry(action).or_default().insert(name);
        }
    }
    let expected = [
        ("nullable", "schemas"),
        ("undescribed", "words"),
        ("wrong_example", "examples"),
        ("panics", "input"),
        ("unknown_code", "input"),
        ("empty_message", "input"),
        ("wrong_output", "output"),
        ("stores_in_read", "effects"),
        ("removes_in_write", "effects"),
        ("spins", "limits"),
        ("nondeterministic", "repetition"),
        ("ignores_denial", "denial"),
        ("ignores_changes", "conflict"),
    ];
    for (action, check) in expected {
        let checks = found.remove(action).unwrap_or_default();
        assert!(
            checks.contains(check),
            "`{action}` is found under {checks:?}, and not `{check}`: {report:#}"
        );
    }
    assert!(
        found.is_empty(),
        "`conforming` follows every rule: {found:?}"
    );
}

#[test]
fn hostile_guest_fails() {
    let (has_passed, report) = run_suite(file(&guest("hostile")));
    assert!(!has_passed);
    for check in ["input", "output", "limits"] {
        assert!(
            failed_checks(&report).contains(&check),
            "{check}: {report:#}"
        );
    }
}

#[test]
fn component_without_a_valid_description_skips_all_other_checks() {
    for lie in ["garbage", "traps", "empty", "bad_name", "bad_schema"] {
        let (has_passed, report) = run_suite(file(&guest(&format!("liar_{lie}"))));
        assert!(!has_passed, "{lie}");
        assert_eq!(failed_checks(&report), ["describe"], "{lie}: {report:#}");
        assert_eq!(report["checks"][1]["verdict"], "skipped");
    }
    let (_, report) = run_suite(file(&guest("liar_fickle")));
    assert!(failed_checks(&report).contains(&"describe"), "{report:#}");
    let (_, report) = run_suite(file(&guest("liar_reserved")));
    assert!(failed_checks(&report).contains(&"schemas"), "{report:#}");
}

#[test]
fn text_output_has_one_line_per_check() {
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
    let report = String::from_utf8_lossy(&output.stderr);
    assert!(
        report.contains("did you mean the built-in component `document`"),
        "{report}"
    );
}
