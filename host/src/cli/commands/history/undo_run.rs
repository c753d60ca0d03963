//! `history undo --caller C --since T`: takes back all changes of a caller in a time span, as one change. What cannot be taken
//! back is listed first; such files stay as they are.

use std::io::BufRead as _;
use std::process::ExitCode;
use std::time::Instant;

use notehost_sdk::Code;
use serde_json::{Value, json};

use super::Context;
use super::output::{shown_files, with_diff};
use super::undo::{Undone, is_held, land};
use crate::cli::ui::failure::Failure;
use crate::cli::ui::output::print_json;
use notehost_config::VaultEntry;
use notehost_pipeline::CallError;
use notehost_records::when::Moment;
use notehost_vault::{RunSelection, RunUndo, StagedChange, Transaction};

/// A selected run.
pub(super) struct Run {
    selection: RunSelection,
}

/// What its undo would do in one vault.
#[derive(PartialEq)]
struct Plan {
    undo: RunUndo,
    files: Vec<StagedChange>,
    is_empty: bool,
}

impl Plan {
    fn of(transaction: &mut Transaction, selection: &RunSelection) -> Result<Plan, CallError> {
        let undo = transaction.undo_run(selection)?;
        Ok(Plan {
            undo,
            files: transaction.changes(),
            is_empty: transaction.has_no_changes(),
        })
    }

    fn to_json(&self, entry: &VaultEntry) -> Value {
        let ids: Vec<&str> = self
            .undo
            .changes
            .iter()
            .map(|change| change.id.as_str())
            .collect();
        let conflicts: Vec<Value> = self
            .undo
            .conflicts
            .iter()
            .map(|conflict| {
                json!({
                    "path": conflict.path,
                    "change": conflict.change,
                    "reason": conflict.reason,
                })
            })
            .collect();
        json!({
            "vault": entry.id,
            "undoes": ids,
            "conflicts": conflicts,
            "changes": self.files.iter().map(with_diff).collect::<Vec<_>>(),
        })
    }

    /// The conflicts first, then the changes with their diffs.
    fn shown(&self, desk: &Context) -> String {
        let terminal = &desk.terminal;
        let mut text = String::new();
        let conflicts = &self.undo.conflicts;
        if !conflicts.is_empty() {
            let heading = format!(
                "{}, which stay as they are:",
                counted(conflicts.len(), "conflict")
            );
            text.push_str(&format!("{}\n", terminal.strong(&heading)));
            for conflict in conflicts {
                let line = format!("  {}: {}", conflict.path, conflict.reason);
                text.push_str(&format!("{}\n", terminal.safe(&line)));
            }
        }
        text.push_str(&shown_files(terminal, &self.files));
        text.push_str(&format!(
            "\n{} of {}\n",
            counted(self.files.len(), "file"),
            counted(self.undo.changes.len(), "change"),
        ));
        text
    }
}

fn counted(number: usize, what: &str) -> String {
    notehost_sdk::pages::counted(number as u64, what)
}

impl Run {
    pub(super) fn new(
        caller: String,
        since: Moment,
        until: Option<Moment>,
    ) -> Result<Run, Failure> {
        let milliseconds = |moment: Moment| u64::try_from(moment.0).unwrap_or(0);
        let selection = RunSelection {
            caller,
            since: milliseconds(since),
            until: until.map(milliseconds),
        };
        if selection.until.is_some_and(|until| until < selection.since) {
            return Err(Failure::usage("`--until` is before `--since`"));
        }
        Ok(Run { selection })
    }

    pub(super) fn undo(
        self,
        desk: &Context,
        dry_run: bool,
        yes: bool,
    ) -> Result<ExitCode, Failure> {
        let began = Instant::now();
        let caller = &self.selection.caller;
        let (entry, plan) = self.find(desk)?;
        if plan.is_empty {
            return self.report_nothing(desk, entry, &plan);
        }
        if dry_run {
            if desk.as_json {
                let mut report = plan.to_json(entry);
                report["dry_run"] = true.into();
                print_json(&desk.terminal, report);
            } else {
                let nothing = desk.terminal.faint("dry run: nothing was changed");
                desk.terminal
                    .print(&format!("{}{nothing}\n", plan.shown(desk)));
            }
            return Ok(ExitCode::SUCCESS);
        }
        if !yes {
            let asks = !desk.as_json && std::io::IsTerminal::is_terminal(&std::io::stdin());
            if !asks {
                return Err(
                    Failure::usage("the undo of a run has to be confirmed").with_hint(
                        "pass `--dry-run` to see the effect and the conflicts, then `--yes`",
                    ),
                );
            }
            desk.terminal.print(&plan.shown(desk));
            if !is_confirmed(desk) {
                return Err(Failure::call("declined; nothing was changed"));
            }
        }
        let what = format!(
            "{caller} {} {:?}",
            self.selection.since, self.selection.until
        );
        // A person agreed to what was shown, and to nothing else.
        let agreed = (!yes).then_some(&plan);
        let done = self.land(desk, entry, agreed);
        let (done, plan) = match done {
            Ok((undone, plan)) => (Ok(undone), Some(plan)),
            Err(error) => (Err(error), None),
        };
        desk.record(entry, &what, began, &done)?;
        let undone = done.map_err(|error| run_failure(desk, error))?;
        let (Some(plan), Some(change)) = (plan, undone.change) else {
            return Err(Failure::call("nothing was changed"));
        };
        if desk.as_json {
            let mut report = plan.to_json(entry);
            report["change"] = change.into();
            print_json(&desk.terminal, report);
        } else {
            let shown = if yes { plan.shown(desk) } else { String::new() };
            let done = desk.terminal.good("undone");
            desk.terminal.print(&format!(
                "{shown}{done}: change {change}; `notehost history undo {change}` takes it back\n"
            ));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The vault with the run, and what its undo would do there.
    fn find<'desk>(&self, desk: &'desk Context) -> Result<(&'desk VaultEntry, Plan), Failure> {
        let mut found = Vec::new();
        for entry in &desk.loaded.settings.vaults {
            let plan = desk
                .preview(entry)
                .and_then(|mut transaction| Plan::of(&mut transaction, &self.selection))
                .map_err(|error| run_failure(desk, error))?;
            if !plan.undo.changes.is_empty() {
                found.push((entry, plan));
            }
        }
        if found.len() > 1 {
            let ids: Vec<&str> = found.iter().map(|(entry, _)| entry.id.as_str()).collect();
            let message = format!("the run has changes in several vaults: {}", ids.join(", "));
            return Err(Failure::usage(message).with_hint("select one with `--vault ID`"));
        }
        found.pop().ok_or_else(|| {
            let message = format!("no changes by `{}` in that time", self.selection.caller);
            Failure::call(message).with_hint(
                "`notehost history list --caller NAME --since WHEN` shows a caller's changes",
            )
        })
    }

    /// Nothing is left to undo, or all of it has conflicts.
    fn report_nothing(
        &self,
        desk: &Context,
        entry: &VaultEntry,
        plan: &Plan,
    ) -> Result<ExitCode, Failure> {
        if desk.as_json {
            print_json(&desk.terminal, plan.to_json(entry));
        } else {
            let nothing = desk.terminal.faint("nothing to undo");
            desk.terminal
                .print(&format!("{}{nothing}\n", plan.shown(desk)));
        }
        Ok(match plan.undo.conflicts.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    }

    fn land(
        &self,
        desk: &Context,
        entry: &VaultEntry,
        agreed: Option<&Plan>,
    ) -> Result<(Undone, Plan), CallError> {
        let mut transaction = desk.begin_undo(entry)?;
        let plan = Plan::of(&mut transaction, &self.selection)?;
        if agreed.is_some_and(|agreed| *agreed != plan) {
            let message = "the vault changed meanwhile; nothing was undone, run it again";
            return Err(CallError::new(Code::Conflict, message));
        }
        let change = land(transaction)?;
        let files = plan.files.clone();
        let undone = Undone {
            files,
            change,
            is_recorded: false,
        };
        Ok((undone, plan))
    }
}

fn is_confirmed(desk: &Context) -> bool {
    desk.terminal.print("Undo these changes? [y/N] ");
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

fn run_failure(desk: &Context, error: CallError) -> Failure {
    match is_held(&error) {
        true => Failure::start(error.message)
            .with_hint("stop the running server first; `--dry-run` works beside it"),
        false => desk.undo_failure(error),
    }
}
