//! `history undo`: takes a change back, or a run of changes (`undo_run`). Both commit like any other change, need the vault's
//! lock, and are recorded in the audit log.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use notehost_sdk::Code;
use serde_json::json;

use super::output::{shown_files, with_diff};
use super::undo_run::Run;
use super::{CALLER, CommonFlags, Context, DOMAIN};
use crate::cli::ui::failure::Failure;
use crate::cli::ui::output::print_json;
use notehost_config::VaultEntry;
use notehost_pipeline::CallError;
use notehost_platform::clock::now_ms;
use notehost_records::audit::{Audit, Entry};
use notehost_records::when::{Moment, moment};
use notehost_vault::{
    CommitError, CommitNote, Effect, StagedChange, Transaction, Vault, VaultSettings,
};

#[derive(Debug, Args)]
pub(super) struct Undo {
    /// The id of the change, as returned by `list` and every write
    #[arg(required_unless_present = "caller")]
    change: Option<String>,
    /// Undo all changes of this caller since `--since` instead, as one change
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "change",
        requires = "since"
    )]
    caller: Option<String>,
    /// The beginning of the run: `2h`, `7d`, `2026-11-01`
    #[arg(long, value_name = "WHEN", value_parser = moment, requires = "caller")]
    since: Option<Moment>,
    /// The end of the run [now]
    #[arg(long, value_name = "WHEN", value_parser = moment, requires = "caller")]
    until: Option<Moment>,
    /// Only show the effect, change nothing
    #[arg(long)]
    dry_run: bool,
    /// Undo a run without asking, also if files with conflicts stay as they are
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    how: CommonFlags,
}

impl Undo {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let Undo {
            change,
            caller,
            since,
            until,
            dry_run,
            yes,
            how,
        } = self;
        let desk = how.open()?;
        if let (Some(caller), Some(since)) = (caller, since) {
            let run = Run::new(caller, since, until)?;
            return run.undo(&desk, dry_run, yes);
        }
        let change = change.unwrap_or_default();
        let began = Instant::now();
        let (entry, _, _) = desk.find(&change)?;
        let done = desk.undo(entry, &change, dry_run);
        desk.record(entry, &change, began, &done)?;
        let Undone {
            files, change: id, ..
        } = done.map_err(|error| desk.undo_failure(error))?;
        if desk.as_json {
            let mut report = json!({
                "undoes": change,
                "vault": entry.id,
                "changes": files.iter().map(with_diff).collect::<Vec<_>>(),
            });
            match id {
                Some(id) => report["change"] = id.into(),
                None => report["dry_run"] = true.into(),
            }
            print_json(&desk.terminal, report);
        } else {
            let mut text = shown_files(&desk.terminal, &files);
            text.push_str(&match id {
                Some(id) => format!("{}: change {id}\n", desk.terminal.good("undone")),
                None => format!("{}\n", desk.terminal.faint("dry run: nothing was changed")),
            });
            desk.terminal.print(&text);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The result of an undo or of its dry run.
pub(super) struct Undone {
    pub(super) files: Vec<StagedChange>,
    /// `None` for a dry run.
    pub(super) change: Option<String>,
    /// Whether the process that did it has recorded it.
    pub(super) is_recorded: bool,
}

impl Context {
    /// Writes the undo to the audit log. `what` is the change, or the run.
    pub(super) fn record(
        &self,
        entry: &VaultEntry,
        what: &str,
        began: Instant,
        done: &Result<Undone, CallError>,
    ) -> Result<(), Failure> {
        if done.as_ref().is_ok_and(|undone| undone.is_recorded) {
            return Ok(());
        }
        let mut record = Entry {
            time: now_ms(),
            caller: CALLER.into(),
            transport: "cli",
            domain: DOMAIN.into(),
            action: "undo".into(),
            is_known: true,
            vault: Some(entry.id.clone()),
            outcome: "ok",
            version: Some(env!("CARGO_PKG_VERSION").into()),
            arguments: blake3::hash(what.as_bytes()).to_hex()[..16].to_owned(),
            ..Entry::default()
        };
        match done {
            Ok(Undone { files, change, .. }) => {
                if let Some(id) = change {
                    record.change = Some(id.clone());
                    record.paths = files.iter().map(|file| file.path.clone()).collect();
                    for file in files {
                        let length = |bytes: &Option<Arc<[u8]>>| {
                            bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)
                        };
                        let (before, after) = (length(&file.before), length(&file.after));
                        record.bytes_added += after.saturating_sub(before);
                        record.bytes_removed += before.saturating_sub(after);
                    }
                }
            }
            Err(error) => record.outcome = error.code.as_str(),
        }
        record.microseconds = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let records = notehost_records::open(&self.loaded.running.state)?;
        Audit::start(&*records, &self.loaded.settings)?.write(record);
        Ok(())
    }

    /// A transaction that can only show what an undo would do: nothing is written, so no lock is needed.
    pub(super) fn preview(&self, entry: &VaultEntry) -> Result<Transaction, CallError> {
        let vault = Vault::open_read_only(&entry.id, &entry.path, &self.loaded.running.state)?;
        self.begin(vault, Effect::Write)
            .map_err(|error| CallError::new(Code::InternalError, error.to_string()))
    }

    /// A transaction that can be committed.
    pub(super) fn begin_undo(&self, entry: &VaultEntry) -> Result<Transaction, CallError> {
        let settings = &self.loaded.settings;
        if settings.read_only || entry.read_only {
            let message = format!("the vault `{}` is read-only", entry.id);
            return Err(CallError::new(Code::ReadOnly, message)
                .with_hint("an admin can change it in the config: `read_only`"));
        }
        let memory = VaultSettings {
            history_max_age: Duration::from_secs(settings.history.keep_days * 24 * 60 * 60),
            history_max_bytes: settings.history.keep_bytes,
            ..VaultSettings::default()
        };
        let vault = Vault::open(&entry.id, &entry.path, &self.loaded.running.state, memory)?;
        self.begin(vault, Effect::Write)
            .map_err(|error| CallError::new(Code::InternalError, error.to_string()))
    }

    pub(super) fn undo(
        &self,
        entry: &VaultEntry,
        change: &str,
        dry_run: bool,
    ) -> Result<Undone, CallError> {
        let begun = match dry_run {
            true => self.preview(entry),
            false => self.begin_undo(entry),
        };
        let mut transaction = match begun {
            Err(error) if is_held(&error) => match self.undo_there(entry, change)? {
                Some(undone) => return Ok(undone),
                None => self.begin_undo(entry)?,
            },
            begun => begun?,
        };
        transaction.undo(change)?;
        let files = transaction.changes();
        let change = match dry_run {
            true => None,
            false => land(transaction)?,
        };
        Ok(Undone {
            files,
            change,
            is_recorded: false,
        })
    }

    pub(super) fn undo_failure(&self, error: CallError) -> Failure {
        let failure = Failure::call(&error.message).with_any_hint(error.hint);
        match error.code {
            Code::Unavailable => {
                Failure::start(error.message).with_any_hint(failure.hint().map(str::to_owned))
            }
            Code::PermissionDenied if self.loaded.file.is_none() => failure
                .with_hint("allow writing with `--allow rw`, or also deleting with `--allow rwd`"),
            _ => failure,
        }
    }
}

/// Whether another process holds the vault.
pub(super) fn is_held(error: &CallError) -> bool {
    let details = error.details();
    error.code == Code::Unavailable
        && details.is_some_and(|details| details.get("process").is_some())
}

/// Commits an undo. Returns the id of the change.
pub(super) fn land(transaction: Transaction) -> Result<Option<String>, CallError> {
    let note = CommitNote {
        caller: CALLER.into(),
        action: format!("{DOMAIN}.undo"),
        key: None,
    };
    let committed = transaction.commit(note).map_err(|error| match error {
        CommitError::Conflict { path } => {
            let path = path.unwrap_or_else(|| "the vault".into());
            CallError::new(
                Code::Conflict,
                format!("`{path}` changed at the same time; nothing was undone, try again"),
            )
        }
        CommitError::Failed(error) | CommitError::Unsettled(error) => error.into(),
    })?;
    Ok(committed.change)
}
