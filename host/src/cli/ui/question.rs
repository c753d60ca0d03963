//! The confirmation prompt on a terminal: the change as a diff, and y or N.

use notehost_sdk::Code;
use std::io::{BufRead as _, IsTerminal as _, Write as _};

use crate::cli::ui::bar::Bar;
use crate::cli::ui::output::coloured_diff;
use crate::cli::ui::terminal::Terminal;
use notehost_pipeline::{self as dispatch, CallError, ConfirmedVia, Host, Reply, Request};
use notehost_policy::auth::Caller;

/// Makes a call; if it needs confirmation and there is a terminal, prompts for it.
pub(crate) async fn call(
    host: &Host,
    caller: &Caller,
    request: Request,
    bar: &Bar,
) -> Result<Reply, CallError> {
    let outcome = dispatch::call(host, caller, request.clone()).await;
    let Err(error) = &outcome else {
        return outcome;
    };
    let Some(pending) = error.pending_approval() else {
        return outcome;
    };
    bar.clear();
    let terminal = Terminal::stderr();
    if !terminal.is_terminal() || !std::io::stdin().is_terminal() {
        return outcome;
    }
    let yes = ask(&terminal, &pending.summary, &pending.diff);
    let decided = host.approvals().decide_via(
        &pending.id,
        yes,
        ConfirmedVia::Terminal,
        "the person at the terminal",
    );
    if let Err(error) = decided {
        return Err(CallError::new(Code::ApprovalInvalid, error.to_string()));
    }
    if !yes {
        return Err(CallError::new(
            Code::ApprovalInvalid,
            "declined; nothing was changed",
        ));
    }
    let approved = Request {
        approval: Some(pending.id.clone()),
        ..request
    };
    dispatch::call(host, caller, approved).await
}

/// Prompts for a change on a remote server, whose message is a summary followed by a diff.
pub(crate) fn confirm_remote(message: &str) -> bool {
    let (summary, diff) = message.split_once("\n\n").unwrap_or((message, ""));
    ask(&Terminal::stderr(), summary, diff)
}

fn ask(terminal: &Terminal, summary: &str, diff: &str) -> bool {
    let mut shown = coloured_diff(terminal, diff);
    shown.push_str(&format!("{}\n", terminal.safe(summary)));
    terminal.print(&shown);
    // If the prompt cannot be written, reading the answer fails too.
    let _ = write!(
        std::io::stderr(),
        "{} [y/N] ",
        terminal.strong("Apply this change?")
    );
    let _ = std::io::stderr().flush();
    let mut answer = String::new();
    let answered = std::io::stdin().lock().read_line(&mut answer).is_ok();
    answered && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}
