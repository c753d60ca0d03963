//! External tools: the MCP Inspector's command line, and the MCP conformance suite, compared with
//! `tests/conformance/baseline.toml`. Both are npm packages. If they cannot be installed, the tests print a message and
//! pass, unless `NOTEHOST_REQUIRE_NODE=1` is set.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::Value;

use super::{PLAN, RunResult, path_outside, place_with_note, run};
use crate::support::http::Server;
use crate::support::repository;

const INSPECTOR: &str = "@modelcontextprotocol/inspector@2.12.0";
/// The conformance suite needs a newer version than many machines have.
const NODE: &str = "node@22.20.0";

#[derive(Deserialize)]
struct Baseline {
    suite: String,
    /// `pass`, or `n/a: ` and the reason.
    scenarios: BTreeMap<String, String>,
}

fn baseline() -> Baseline {
    let file = repository().join("tests/conformance/baseline.toml");
    let text = std::fs::read_to_string(file).expect("the baseline is there");
    toml::from_str(&text).expect("the baseline can be read")
}

/// A command of the npm packages. All of them are named each time, so that npm installs them once.
fn npm_tool(name: &str) -> Command {
    let mut command = Command::new("npx");
    command.arg("--yes");
    for package in [NODE, INSPECTOR, &baseline().suite] {
        command.arg(format!("--package={package}"));
    }
    command.args(["--", name]);
    command
}

/// Whether the tools are available.
fn is_npm_available() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        let found = Command::new("npx")
            .arg("--version")
            .stdout(Stdio::null())
            .status();
        let missing = match found {
            Err(_) => "node is not installed",
            Ok(_) if run(npm_tool("node").arg("--version"), "").code != Some(0) => {
                "npm cannot install the external tools"
            }
            Ok(_) => return true,
        };
        assert!(
            std::env::var_os("NOTEHOST_REQUIRE_NODE").is_none_or(|value| value != "1"),
            "{missing}"
        );
        // Not `eprintln!`, whose output is hidden for passing tests.
        let _ = writeln!(std::io::stderr(), "skipped: {missing}");
        false
    })
}

#[test]
fn inspector_lists_and_calls_tools() {
    if !is_npm_available() {
        return;
    }
    let place = place_with_note();
    let inspect = |target: &[&str], arguments: &[&str]| -> RunResult {
        let mut command = npm_tool("mcp-inspector");
        // It stores a list of servers, by default in the user's home folder.
        command
            .arg("--cli")
            .args(target)
            .args(arguments)
            .env("MCP_CATALOG_PATH", path_outside(&place, "catalog.json"));
        run(&mut command, "")
    };
    let check = |target: &[&str]| {
        // `--strict` also checks whether other clients support the schemas.
        let listed = inspect(target, &["--method", "tools/list", "--strict"]);
        assert_eq!(listed.code, Some(0), "{listed:#?}");
        let tools = listed.json()["tools"].take();
        assert_eq!(tools[0]["name"], "block", "{tools}");
        let call = [
            "--method",
            "tools/call",
            "--tool-name",
            "document",
            "--tool-arg",
            "action=read",
            "path=Work/Plan",
        ];
        let read: Value = inspect(target, &call).json();
        assert_eq!(read["structuredContent"]["content"], PLAN, "{read}");
    };
    let (vault, state) = (place.vault(), place.state());
    let (vault, state) = (vault.to_string_lossy(), state.to_string_lossy());
    check(&[
        crate::support::program(),
        "serve",
        &vault,
        "--state",
        &state,
    ]);
    let server = Server::start(&place.config_file(&place.settings()), &place.state());
    check(&[&server.url()]);
}

#[test]
fn mcp_conformance_suite_matches_the_baseline() {
    if !is_npm_available() {
        return;
    }
    let place = place_with_note();
    let server = Server::start(&place.config_file(&place.settings()), &place.state());
    let mut command = npm_tool("conformance");
    command
        .args(["server", "--suite", "all", "--url", &server.url()])
        .current_dir(place.outside());
    let result = run(&mut command, "");
    let found = check_results(&result.output);
    let expected = baseline().scenarios;
    let named = |check_results: &mut dyn Iterator<Item = &String>| {
        check_results.cloned().collect::<Vec<_>>()
    };
    assert_eq!(
        named(&mut found.keys()),
        named(&mut expected.keys()),
        "each scenario has its line in the baseline: {result:#?}"
    );
    for (scenario, expectation) in expected {
        match (expectation.as_str(), found[&scenario]) {
            ("pass", passed) => assert!(passed, "`{scenario}` does not pass: {result:#?}"),
            (reason, passed) => {
                assert!(reason.starts_with("n/a: "), "`{scenario}`: `{reason}`");
                if passed {
                    eprintln!("`{scenario}` passes although it is `{reason}`");
                }
            }
        }
    }
}

/// The scenarios of the suite's summary, and whether each passed: `✓ ping: 1 passed, 0 failed`.
fn check_results(output: &str) -> BTreeMap<String, bool> {
    let lines = output.lines().skip_while(|line| !line.contains("SUMMARY"));
    lines
        .filter_map(|line| {
            let (mark, rest) = line.split_once(' ')?;
            let (scenario, _) = rest.split_once(": ")?;
            ["✓", "✗"]
                .contains(&mark)
                .then(|| (scenario.to_owned(), mark == "✓"))
        })
        .collect()
}
