//! `notehost doctor`: checks the installation for problems and gives advice. It changes nothing but
//! the state folder, which it creates if it is missing.

mod settings;
mod vault;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use clap::Args;
use serde_json::{Value, json};

use crate::cli::options::{self, OutputFlags, ServeFlags};
use crate::cli::ui::failure::Failure;
use crate::cli::ui::output::print_json;
use crate::cli::ui::terminal::Terminal;
use crate::os_sandbox::{self, Confinement, FileAccess};
use notehost_config::{Loaded, OsSandbox, Overrides, vault_of};

/// Less free space than this is a warning.
const LOW_SPACE_BYTES: u64 = 512 << 20;
/// Less free space than this is a failure.
const MIN_SPACE_BYTES: u64 = 32 << 20;
/// 2025-01-01: a clock before that is wrong.
const EARLIEST_TIME: Duration = Duration::from_secs(1_735_689_600);

/// Check the installation for problems.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    serving: ServeFlags,
    #[command(flatten)]
    output: OutputFlags,
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Ok,
    Warn,
    Fail,
}

/// One line of the report.
#[derive(Debug)]
pub(crate) struct Check {
    verdict: Verdict,
    subject: String,
    found: String,
    advice: String,
}

impl Check {
    /// Passed.
    pub(crate) fn ok(subject: impl Into<String>, found: impl Into<String>) -> Check {
        Check::new(Verdict::Ok, subject, found, "")
    }

    /// Passed, with a warning.
    pub(crate) fn warn(
        subject: impl Into<String>,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Check {
        Check::new(Verdict::Warn, subject, found, advice)
    }

    /// Failed.
    pub(crate) fn fail(
        subject: impl Into<String>,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Check {
        Check::new(Verdict::Fail, subject, found, advice)
    }

    fn new(
        verdict: Verdict,
        subject: impl Into<String>,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Check {
        Check {
            verdict,
            subject: subject.into(),
            found: found.into(),
            advice: advice.into(),
        }
    }
}

impl Doctor {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let checks = options::block_on(async { examine(self.serving.given()).await })?;
        let terminal = Terminal::stdout();
        if self.output.is_json(&terminal) {
            let items: Vec<Value> = checks.iter().map(as_json).collect();
            print_json(&terminal, json!({ "items": items }));
        } else {
            terminal.print(&report(&terminal, &checks));
        }
        let failed = checks.iter().any(|check| check.verdict == Verdict::Fail);
        Ok(ExitCode::from(u8::from(failed)))
    }
}

async fn examine(given: Overrides) -> Vec<Check> {
    let mut checks = vec![clock(SystemTime::now())];
    let loaded = match options::load(given) {
        Ok(loaded) => loaded,
        Err(failure) => {
            checks.push(Check::fail(
                "config",
                failure.message(),
                with_server_note(failure.hint()),
            ));
            return checks;
        }
    };
    checks.push(config(&loaded));
    let state = &loaded.running.state;
    if vault_of(&loaded.settings, state).is_some() {
        // The problem is reported; nothing is created in a vault to check further.
        return checks;
    }
    checks.push(writable_state(state));
    checks.extend(free_space("state folder", state));
    checks.push(sandbox(&loaded));
    checks.push(components(&loaded).await);
    for vault in &loaded.settings.vaults {
        checks.extend(vault::examine(vault, state));
        checks.extend(free_space(&format!("vault {}", vault.id), &vault.path));
    }
    checks.extend(settings::permissions(&loaded));
    if let Some(address) = loaded.running.http {
        checks.extend(settings::http(&loaded, address));
    }
    checks.extend(settings::profiles());
    checks
}

fn config(loaded: &Loaded) -> Check {
    let place = loaded
        .file
        .as_ref()
        .map_or("none, using defaults".to_owned(), |file| {
            file.display().to_string()
        });
    match loaded.check() {
        Err(error) => Check::fail("config", error.to_string(), with_server_note(error.hint())),
        Ok(()) if loaded.settings.vaults.is_empty() => Check::warn(
            "config",
            format!("{place}; no vault is configured"),
            "specify a folder: `notehost doctor ~/notes`, or create a config: `notehost config init`",
        ),
        Ok(()) => Check::ok("config", place),
    }
}

/// Adds what an invalid config means for a running server.
fn with_server_note(hint: Option<&str>) -> String {
    let hint = hint.map(|hint| format!("{hint}; ")).unwrap_or_default();
    format!("{hint}a running server keeps its settings until the file is fixed")
}

async fn components(loaded: &Loaded) -> Check {
    let domains = match options::load_components(loaded).await {
        Ok(domains) => domains,
        Err(error) => {
            return Check::fail(
                "components",
                error.to_string(),
                "the sandbox needs a 64-bit processor",
            );
        }
    };
    if !domains.broken().is_empty() {
        let problems: Vec<String> = domains
            .broken()
            .iter()
            .map(|broken| format!("{}: {}", broken.name, broken.reason))
            .collect();
        let hints = domains.broken().iter();
        let hints: BTreeSet<&str> = hints.filter_map(|broken| broken.hint.as_deref()).collect();
        let advice = match hints.is_empty() {
            true => {
                "correct `[components]` in the config file, or remove their sections".to_owned()
            }
            false => Vec::from_iter(hints).join("; "),
        };
        return Check::fail("components", problems.join("; "), advice);
    }
    let actions: usize = domains.domains().map(|domain| domain.actions.len()).sum();
    let names: Vec<&str> = domains
        .domains()
        .map(|domain| domain.name.as_str())
        .collect();
    Check::ok(
        "components",
        format!("{} with {actions} actions", names.join(", ")),
    )
}

fn sandbox(loaded: &Loaded) -> Check {
    let wanted = loaded.settings.os_sandbox;
    let found = os_sandbox::available(wanted);
    match (found, wanted) {
        (Confinement::Unavailable, OsSandbox::Require) => Check::fail(
            "os sandbox",
            found.to_string(),
            "`os_sandbox = \"require\"` in the config: the server does not start on this system",
        ),
        (Confinement::Enforced, _) => match FileAccess::of(loaded).folder_containing_home() {
            Some(folder) => Check::warn(
                "os sandbox",
                format!(
                    "{found}; `{}` contains your whole home folder",
                    folder.display()
                ),
                "move the config, and each file named in it, to a separate folder",
            ),
            None => Check::ok("os sandbox", found.to_string()),
        },
        _ => Check::ok("os sandbox", found.to_string()),
    }
}

fn writable_state(state: &Path) -> Check {
    let probe = state.join(format!(".doctor-{}", std::process::id()));
    let written = notehost_records::state_folder::open_state(state)
        .and_then(|()| std::fs::write(&probe, b""))
        .and_then(|()| std::fs::remove_file(&probe));
    match written {
        Ok(()) if notehost_platform::private::is_open_to_others(state) => Check::warn(
            "state folder",
            format!(
                "{}: other users of this machine can open it",
                state.display()
            ),
            "its file system has no file modes: choose a folder on another one with `--state DIR`",
        ),
        Ok(()) => Check::ok("state folder", state.display().to_string()),
        Err(error) => Check::fail(
            "state folder",
            format!("{} is not writable: {error}", state.display()),
            "make it writable for your user, or choose another folder with `--state DIR`",
        ),
    }
}

fn free_space(subject: &str, folder: &Path) -> Option<Check> {
    let free = notehost_platform::files::free_bytes(folder)?;
    let shown = format!("{} MiB free on its disk", free >> 20);
    Some(match free {
        ..MIN_SPACE_BYTES => {
            Check::fail(subject, shown, "free some space: the next change may fail")
        }
        MIN_SPACE_BYTES..LOW_SPACE_BYTES => Check::warn(subject, shown, "free some space soon"),
        _ => return None,
    })
}

fn clock(now: SystemTime) -> Check {
    if now < SystemTime::UNIX_EPOCH + EARLIEST_TIME {
        Check::fail(
            "clock",
            "this machine's clock is years behind",
            "set the clock: history and tokens depend on it",
        )
    } else {
        Check::ok("clock", "plausible")
    }
}

fn as_json(check: &Check) -> Value {
    let verdict = match check.verdict {
        Verdict::Ok => "ok",
        Verdict::Warn => "warn",
        Verdict::Fail => "fail",
    };
    json!({"verdict": verdict, "subject": check.subject, "found": check.found, "advice": check.advice})
}

fn report(terminal: &Terminal, checks: &[Check]) -> String {
    let mut text = String::new();
    let width = checks
        .iter()
        .map(|check| check.subject.chars().count())
        .max()
        .unwrap_or_default();
    for check in checks {
        let verdict = match check.verdict {
            Verdict::Ok => terminal.good("  ok"),
            Verdict::Warn => terminal.warning("warn"),
            Verdict::Fail => terminal.bad("fail"),
        };
        text.push_str(&format!(
            "{verdict}  {:width$}  {}\n",
            check.subject,
            terminal.safe(&check.found)
        ));
        if !check.advice.is_empty() {
            text.push_str(&format!(
                "      {:width$}  {}\n",
                "",
                terminal.faint(&terminal.safe(&check.advice))
            ));
        }
    }
    let count = |verdict| {
        checks
            .iter()
            .filter(|check| check.verdict == verdict)
            .count()
    };
    let summary = match (count(Verdict::Fail), count(Verdict::Warn)) {
        (0, 0) => terminal.good("no problems found"),
        (0, warnings) => terminal.warning(&format!("no failures; warnings: {warnings}")),
        (failures, _) => terminal.bad(&format!("failures: {failures}")),
    };
    format!("{text}\n{summary}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_implausibly_early_clock_fails() {
        assert_eq!(clock(SystemTime::UNIX_EPOCH).verdict, Verdict::Fail);
        assert_eq!(clock(SystemTime::now()).verdict, Verdict::Ok);
    }

    #[test]
    fn an_uncreatable_state_folder_fails() {
        let root = tempfile::tempdir().expect("a folder");
        let file = root.path().join("file");
        std::fs::write(&file, "").expect("a file");
        assert_eq!(writable_state(&file.join("state")).verdict, Verdict::Fail);
        assert_eq!(
            writable_state(&root.path().join("state")).verdict,
            Verdict::Ok
        );
    }
}
