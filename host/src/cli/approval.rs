//! `notehost approval`: see and decide what waits for a person. Works on the records only, also while a server runs.

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::call::print_json;
use super::failure::Failure;
use super::options::Common;
use super::records::{self, coloured_diff};
use super::terminal::Terminal;

use notehost_policy::{Approval as Asked, ApprovalError, ApprovalState, Approvals};
use notehost_records::database::now_ms;
use notehost_records::when;

/// Who decides here.
const DECIDED_BY: &str = "cli";

/// See and decide what waits for a person.
///
/// Destructive changes wait until a person has seen them. Over stdio, and over HTTP for tokens made with `--attended`, the
/// client asks its user. Calls of all other tokens (unattended, the default) are decided here, so that no program can confirm
/// its own changes. The audit log states how each change was confirmed.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct Approval {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List what waits
    List(List),
    /// Show exactly what would change
    Show(One),
    /// Let it happen, once
    Approve(One),
    /// Refuse it
    Deny(One),
}

#[derive(Debug, Args)]
struct List {
    /// Also what is decided or expired
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Args)]
struct One {
    /// Its id, as the refused call told it
    id: String,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Args)]
struct How {
    /// Print JSON also on a terminal
    #[arg(long)]
    json_output: bool,
    #[command(flatten)]
    common: Common,
}

impl How {
    /// The questions of this machine, and whether they are for a program.
    fn open(self) -> Result<(Approvals, bool), Failure> {
        let (_, database) = records::open(self.common)?;
        let as_json = self.json_output || !Terminal::stdout().is_terminal();
        Ok((Approvals::new(Arc::new(database)), as_json))
    }
}

impl Approval {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        match self.what {
            What::List(list) => list.run(),
            What::Show(one) => one.show(),
            What::Approve(one) => one.decide(true),
            What::Deny(one) => one.decide(false),
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
            let items: Vec<Value> = items.iter().map(for_programs).collect();
            print_json(&terminal, json!({ "items": items }));
        } else if items.is_empty() {
            terminal.print(&format!(
                "{}\n",
                terminal.faint("nothing waits for a person")
            ));
        } else {
            terminal.print(&table(&terminal, &items, now_ms()));
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl One {
    fn show(self) -> Result<ExitCode, Failure> {
        let (approvals, as_json) = self.how.open()?;
        let asked = approvals.get(&self.id).map_err(failure)?;
        let terminal = Terminal::stdout();
        if as_json {
            print_json(&terminal, for_programs(&asked));
        } else {
            terminal.print(&whole(&terminal, &asked));
        }
        Ok(ExitCode::SUCCESS)
    }

    fn decide(self, yes: bool) -> Result<ExitCode, Failure> {
        let (approvals, as_json) = self.how.open()?;
        let terminal = Terminal::stdout();
        if !as_json {
            let asked = approvals.get(&self.id).map_err(failure)?;
            terminal.print(&format!("{}\n", terminal.safe(&asked.summary)));
        }
        let decided = approvals
            .decide(&self.id, yes, DECIDED_BY)
            .map_err(failure)?;
        if as_json {
            print_json(&terminal, for_programs(&decided));
        } else if yes {
            let left = when::length(decided.expires - now_ms());
            let told = terminal.good("approved");
            terminal.print(&format!(
                "{told}: the same call with `approval`: `{}` goes through once, within {left}\n",
                decided.id
            ));
        } else {
            terminal.print(&format!("{}\n", terminal.warning("denied")));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn for_programs(asked: &Asked) -> Value {
    let mut value = serde_json::to_value(asked).unwrap_or_default();
    value["folder"] = asked.folder.as_str().into();
    value["created"] = when::iso(asked.created).into();
    value["expires"] = when::iso(asked.expires).into();
    value
}

fn table(terminal: &Terminal, items: &[Asked], now: i64) -> String {
    let row = |asked: &Asked| {
        let expires = match asked.state {
            ApprovalState::Pending | ApprovalState::Approved => {
                format!("in {}", when::length(asked.expires - now))
            }
            _ => String::new(),
        };
        vec![
            asked.id.clone(),
            asked.state.word().to_owned(),
            when::length(now - asked.created),
            expires,
            asked.caller.clone(),
            asked.action.clone(),
            asked.folder.clone(),
            asked.summary.clone(),
        ]
    };
    terminal.table(
        &[
            "id", "state", "age", "expires", "caller", "action", "folder", "summary",
        ],
        items.iter().map(row),
    )
}

fn whole(terminal: &Terminal, asked: &Asked) -> String {
    let decided = match &asked.decided_by {
        Some(by) => format!(" by {by}"),
        None => String::new(),
    };
    format!(
        "{}\n{}\n\n{}",
        terminal.strong(&terminal.safe(&asked.summary)),
        terminal.faint(&terminal.safe(&format!(
            "{} · asked by {} at {} · vault {} (folder {}) · {}{decided} · until {}",
            asked.action,
            asked.caller,
            when::shown(asked.created),
            asked.vault,
            asked.folder,
            asked.state.word(),
            when::shown(asked.expires)
        ))),
        coloured_diff(terminal, &asked.diff)
    )
}

fn failure(error: ApprovalError) -> Failure {
    let hint = match &error {
        ApprovalError::Database(error) => return error.clone().into(),
        ApprovalError::Expired(_) => "the caller has to make its call again, which asks anew",
        _ => "`notehost approval list --all` shows what there is",
    };
    Failure::call(error.to_string()).with_hint(hint)
}
