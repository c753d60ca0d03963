//! `notehost approval`: shows and decides pending approvals. Uses the records only, so it works while a server runs.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::cli::options::{Common, OutputFlags};
use crate::cli::records;
use crate::cli::ui::failure::Failure;
use crate::cli::ui::output::coloured_diff;
use crate::cli::ui::output::print_json;
use crate::cli::ui::terminal::Terminal;

use notehost_platform::clock::now_ms;
use notehost_policy::{Approval as StoredApproval, ApprovalError, ApprovalState, Approvals};
use notehost_records::when;

/// The recorded author of decisions made here.
const DECIDED_BY: &str = "cli";

/// Show and decide pending approvals.
///
/// Destructive changes need confirmation by a person. Over stdio, and over HTTP for tokens created with `--attended`, the
/// client asks its user. Calls with other tokens (unattended, the default) are decided here, so that no program can confirm
/// its own changes. The audit log states how each change was confirmed.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Approval {
    #[command(subcommand)]
    what: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List pending approvals
    List(List),
    /// Show the change of an approval as a diff
    Show(ById),
    /// Approve the call, for one execution
    Approve(ById),
    /// Deny the call
    Deny(ById),
}

#[derive(Debug, Args)]
struct List {
    /// Include decided and expired approvals
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    how: ApprovalFlags,
}

#[derive(Debug, Args)]
struct ById {
    /// The id of the approval, as returned by the refused call
    id: String,
    #[command(flatten)]
    how: ApprovalFlags,
}

#[derive(Debug, Args)]
struct ApprovalFlags {
    #[command(flatten)]
    output: OutputFlags,
    #[command(flatten)]
    common: Common,
}

impl ApprovalFlags {
    /// Opens the approvals of this machine; the flag is whether the output is JSON.
    fn open(self) -> Result<(Approvals, bool), Failure> {
        let (_, records) = records::open(self.common)?;
        let as_json = self.output.is_json(&Terminal::stdout());
        Ok((Approvals::new(records), as_json))
    }
}

impl Approval {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        match self.what {
            Command::List(list) => list.run(),
            Command::Show(one) => one.show(),
            Command::Approve(one) => one.decide(true),
            Command::Deny(one) => one.decide(false),
        }
    }
}

impl List {
    fn run(self) -> Result<ExitCode, Failure> {
        let all = self.all;
        let (approvals, as_json) = self.how.open()?;
        let items = approvals.list(all).map_err(failure)?;
        let terminal = Terminal::stdout();
        if as_json {
            let items: Vec<Value> = items.iter().map(to_json).collect();
            print_json(&terminal, json!({ "items": items }));
        } else if items.is_empty() {
            terminal.print(&format!("{}\n", terminal.faint("no pending approvals")));
        } else {
            terminal.print(&table(&terminal, &items, now_ms()));
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl ById {
    fn show(self) -> Result<ExitCode, Failure> {
        let (approvals, as_json) = self.how.open()?;
        let approval = approvals.get(&self.id).map_err(failure)?;
        let terminal = Terminal::stdout();
        if as_json {
            print_json(&terminal, to_json(&approval));
        } else {
            terminal.print(&whole(&terminal, &approval));
        }
        Ok(ExitCode::SUCCESS)
    }

    fn decide(self, yes: bool) -> Result<ExitCode, Failure> {
        let (approvals, as_json) = self.how.open()?;
        let terminal = Terminal::stdout();
        if !as_json {
            let approval = approvals.get(&self.id).map_err(failure)?;
            terminal.print(&format!("{}\n", terminal.safe(&approval.summary)));
        }
        let decided = approvals
            .decide(&self.id, yes, DECIDED_BY)
            .map_err(failure)?;
        if as_json {
            print_json(&terminal, to_json(&decided));
        } else if yes {
            let left = when::length(decided.expires - now_ms());
            let approved = terminal.good("approved");
            terminal.print(&format!(
                "{approved}: the same call with `approval`: `{}` is executed once, if made within {left}\n",
                decided.id
            ));
        } else {
            terminal.print(&format!("{}\n", terminal.warning("denied")));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn to_json(approval: &StoredApproval) -> Value {
    let mut value = serde_json::to_value(approval).unwrap_or_default();
    value["folder"] = approval.folder.as_str().into();
    value["created"] = when::iso(approval.created).into();
    value["expires"] = when::iso(approval.expires).into();
    value
}

fn table(terminal: &Terminal, items: &[StoredApproval], now: i64) -> String {
    let row = |approval: &StoredApproval| {
        let expires = match approval.state {
            ApprovalState::Pending | ApprovalState::Approved => {
                format!("in {}", when::length(approval.expires - now))
            }
            _ => String::new(),
        };
        vec![
            approval.id.clone(),
            approval.state.as_str().to_owned(),
            when::length(now - approval.created),
            expires,
            approval.caller.clone(),
            approval.action.clone(),
            approval.folder.clone(),
            approval.summary.clone(),
        ]
    };
    terminal.table(
        &[
            "id", "state", "age", "expires", "caller", "action", "folder", "summary",
        ],
        items.iter().map(row),
    )
}

fn whole(terminal: &Terminal, approval: &StoredApproval) -> String {
    let decided = match &approval.decided_by {
        Some(by) => format!(" by {by}"),
        None => String::new(),
    };
    format!(
        "{}\n{}\n\n{}",
        terminal.strong(&terminal.safe(&approval.summary)),
        terminal.faint(&terminal.safe(&format!(
            "{} · asked by {} at {} · vault {} (folder {}) · {}{decided} · until {}",
            approval.action,
            approval.caller,
            when::shown(approval.created),
            approval.vault,
            approval.folder,
            approval.state.as_str(),
            when::shown(approval.expires)
        ))),
        coloured_diff(terminal, &approval.diff)
    )
}

fn failure(error: ApprovalError) -> Failure {
    let hint = match &error {
        ApprovalError::Records(error) => return error.clone().into(),
        ApprovalError::Expired(_) => "the caller must repeat its call to request a new approval",
        _ => "`notehost approval list --all` shows all approvals",
    };
    Failure::call(error.to_string()).with_hint(hint)
}
