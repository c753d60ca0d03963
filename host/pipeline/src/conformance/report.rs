//! The report of the conformance suite: one verdict per check, with findings that state what an author has to change.

use serde::Serialize;
use serde_json::{Map, Value};

use notehost_runtime::Component;

/// Every check, in the order in which they are made.
const CHECKS: [&str; 12] = [
    "describe",
    "schemas",
    "words",
    "examples",
    "input",
    "output",
    "effects",
    "limits",
    "repetition",
    "denial",
    "cancellation",
    "conflict",
];

/// The maximum number of findings per check.
const MAX_FINDINGS: usize = 200;
/// How much of a call's arguments is shown.
const MAX_ARGUMENT_CHARS: usize = 200;

/// The report of the conformance suite.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The component's name.
    pub name: String,
    /// Its version, if known.
    pub version: String,
    /// The digest of its content.
    pub digest: String,
    /// How many calls were made.
    pub calls: u64,
    /// One for each check.
    pub checks: Vec<Check>,
}

/// The outcome of one check.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// The verdict.
    pub verdict: Verdict,
    /// The requirement.
    pub requirement: &'static str,
    /// Why it failed.
    pub findings: Vec<Finding>,
}

/// The verdict of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No findings.
    Passed,
    /// There are findings.
    Failed,
    /// The check could not run.
    Skipped,
}

/// A finding of a failed check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The action, if it concerns one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The arguments of the call, shortened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// The problem, and how to fix it.
    pub message: String,
}

impl Report {
    pub(super) fn of(component: &Component) -> Report {
        Report {
            name: component.name().to_owned(),
            version: String::new(),
            digest: component.digest().to_owned(),
            calls: 0,
            checks: Vec::new(),
        }
    }

    /// Whether there are no findings.
    pub fn passed(&self) -> bool {
        self.checks
            .iter()
            .all(|check| check.verdict == Verdict::Passed)
    }

    pub(super) fn check(&mut self, name: &'static str, requirement: &'static str, found: Findings) {
        let verdict = match found.0.is_empty() {
            true => Verdict::Passed,
            false => Verdict::Failed,
        };
        self.checks.push(Check {
            name,
            verdict,
            requirement,
            findings: found.0,
        });
    }

    /// Skips the remaining checks.
    pub(super) fn skip_the_rest(&mut self) {
        let made = self.checks.len();
        let left = CHECKS.iter().skip(made).map(|name| Check {
            name,
            verdict: Verdict::Skipped,
            requirement: "it must describe itself first",
            findings: Vec::new(),
        });
        self.checks.extend(left);
    }
}

/// Collected findings.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    /// Adds a finding about the component as a whole.
    pub(super) fn add(&mut self, message: impl Into<String>) {
        self.put(None, None, message.into());
    }

    /// Adds a finding about an action.
    pub(super) fn add_for(&mut self, action: &str, message: impl Into<String>) {
        self.put(Some(action), None, message.into());
    }

    /// Adds a finding about one call of an action.
    pub(super) fn add_call(
        &mut self,
        action: &str,
        arguments: &Map<String, Value>,
        message: impl Into<String>,
    ) {
        self.put(Some(action), Some(shown(arguments)), message.into());
    }

    /// The number of findings about an action: after a few, more of them add nothing.
    pub(super) fn count_for(&self, action: &str) -> usize {
        let of_action = |finding: &&Finding| finding.action.as_deref() == Some(action);
        self.0.iter().filter(of_action).count()
    }

    fn put(&mut self, action: Option<&str>, arguments: Option<String>, message: String) {
        let finding = Finding {
            action: action.map(str::to_owned),
            arguments,
            message,
        };
        // The same reason for the same action is reported once, whatever the arguments.
        let is_known = self
            .0
            .iter()
            .any(|known| known.action == finding.action && known.message == finding.message);
        if !is_known && self.0.len() < MAX_FINDINGS {
            self.0.push(finding);
        }
    }
}

/// Arguments for display: control characters escaped, length bounded.
fn shown(arguments: &Map<String, Value>) -> String {
    let text = Value::Object(arguments.clone()).to_string();
    let length = text.chars().count();
    if length <= MAX_ARGUMENT_CHARS {
        return text;
    }
    let beginning: String = text.chars().take(MAX_ARGUMENT_CHARS).collect();
    format!("{beginning}… ({length} characters)")
}
