//! `notehost component test`: runs the conformance suite. One line for each check, and below failed ones
//! how to fix them.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::cli::logging;
use crate::cli::options::{self, Common};
use crate::cli::ui::failure::Failure;
use crate::cli::ui::output::print_json;
use crate::cli::ui::terminal::Terminal;
use notehost_config::nearest;
use notehost_pipeline::conformance::{self, Check, ConformanceError, Finding, Report, Verdict};
use notehost_pipeline::registry::EMBEDDED;
use notehost_runtime::Component;

/// The maximum number of findings shown of a check.
const MAX_FINDINGS: usize = 8;

#[derive(Debug, Args)]
pub(super) struct Test {
    /// The component: a `.wasm` file, or the name of a built-in one
    #[arg(value_name = "FILE")]
    component: String,
    /// Print JSON
    #[arg(long, alias = "json-output")]
    json: bool,
    #[command(flatten)]
    common: Common,
}

impl Test {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let loaded = options::load(self.common.given())?;
        // `--log info` shows the logs of the component.
        logging::start(&loaded.running, "off")?;
        let component = component(&self.component)?;
        let compiled = loaded.running.state.join("compiled");
        let report = options::block_on(conformance::test(&component, &compiled))??;
        let terminal = Terminal::stdout();
        if self.json {
            let mut json = serde_json::to_value(&report).unwrap_or_default();
            json["passed"] = json!(report.passed());
            print_json(&terminal, json);
        } else {
            terminal.print(&lines(&terminal, &report));
        }
        Ok(match report.passed() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    }
}

fn component(named: &str) -> Result<Component, Failure> {
    let file = Path::new(named);
    if let Some(embedded) = EMBEDDED.iter().find(|embedded| embedded.name == named)
        && !file.exists()
    {
        return Ok(Component::embedded(embedded));
    }
    let bytes = std::fs::read(file).map_err(|error| {
        let near = nearest(named, EMBEDDED.iter().map(|embedded| embedded.name));
        Failure::usage(format!("cannot read `{named}`: {error}")).with_any_hint(
            near.map(|near| format!("did you mean the built-in component `{near}`?")),
        )
    })?;
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    Ok(Component::new(&name, bytes)?)
}

fn lines(terminal: &Terminal, report: &Report) -> String {
    let mut text = format!("{} {}\n", terminal.strong(&report.name), report.version);
    for check in &report.checks {
        let word = match check.verdict {
            Verdict::Passed => terminal.good("ok  "),
            Verdict::Failed => terminal.bad("FAIL"),
            Verdict::Skipped => terminal.faint("skip"),
        };
        text.push_str(&format!(
            "{word}  {:<13} {}\n",
            check.name, check.requirement
        ));
        let shown = check.findings.iter().take(MAX_FINDINGS);
        text.extend(shown.map(|finding| reason(terminal, finding)));
        let more = check.findings.len().saturating_sub(MAX_FINDINGS);
        if more > 0 {
            text.push_str(&format!("        and {more} more: `--json` lists all\n"));
        }
    }
    text.push_str(&last_line(report));
    text
}

fn reason(terminal: &Terminal, finding: &Finding) -> String {
    let action = match &finding.action {
        Some(action) => format!("`{action}`: "),
        None => String::new(),
    };
    let text = terminal.safe(&finding.message).into_owned();
    let mut line = format!("        {action}{text}\n");
    if let Some(arguments) = &finding.arguments {
        let arguments = terminal.safe(arguments);
        line.push_str(&format!(
            "        {}\n",
            terminal.faint(&format!("  with {arguments}"))
        ));
    }
    line
}

fn last_line(report: &Report) -> String {
    let count = |verdict: Verdict| {
        let is_it = |check: &&Check| check.verdict == verdict;
        report.checks.iter().filter(is_it).count()
    };
    let failed = count(Verdict::Failed);
    match failed {
        0 => format!(
            "all {} checks passed, in {} calls\n",
            report.checks.len(),
            report.calls
        ),
        _ => format!(
            "{failed} of {} checks failed, in {} calls\n",
            report.checks.len(),
            report.calls
        ),
    }
}

impl From<ConformanceError> for Failure {
    fn from(error: ConformanceError) -> Self {
        Failure::start(error.to_string())
    }
}
