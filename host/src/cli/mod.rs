//! The command line: `commands` has a file or folder for each command, `ui` has what they show on a terminal; beside
//! them is what commands share. The work of a command is done by the other crates.
//!
//! Exit codes: 0 ok, 1 the call failed (or a check did), 2 usage, 3 could not connect or start.

mod commands;
mod logging;
mod options;
mod reach;
mod records;
mod remote;
mod ui;
mod word_order;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use commands::{
    approval, audit, call, complete, component, config, connect, doctor, help, history, index, man,
    permission, profile, serve, service, stats, token, tools,
};
use ui::failure::Failure;
use ui::terminal::{self, Terminal};

/// An MCP server for folders of Markdown notes whose tools are sandboxed components.
#[derive(Debug, Parser)]
#[command(
    name = "notehost",
    version,
    disable_help_subcommand = true,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = after_help()
)]
struct Arguments {
    /// Never use a pager, even on a terminal
    #[arg(long, global = true)]
    no_pager: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve notes to an MCP client, over stdio or HTTP
    Serve(serve::Serve),
    /// Run one action, locally or on a remote server
    Call(call::Call),
    /// List the domains and their actions
    Tools(tools::Tools),
    /// Explain a domain or an action
    Help(help::Help),
    /// Inspect, install, grant, upgrade and develop tool domains
    Component(component::Component),
    /// Show, validate or create the config
    #[command(subcommand)]
    Config(config::Config),
    /// Create, list and revoke tokens for HTTP callers
    Token(token::Token),
    /// List, set and explain permissions
    Permission(permission::Permission),
    /// Show and decide pending approvals
    Approval(approval::Approval),
    /// Show and undo changes
    History(history::History),
    /// Show or rebuild the search index
    Index(index::IndexCommand),
    /// Show the audit log of calls
    Audit(audit::Audit),
    /// Show statistics of calls: numbers, durations, callers
    Stats(stats::Stats),
    /// Manage profiles of remote servers, and select the one for calls
    Profile(profile::Profile),
    /// Add Notehost to the config file of an AI client
    Connect(connect::Connect),
    /// Install, show and remove a long-lived server for this user
    Service(service::Service),
    /// Print a shell completion script
    Completions(complete::Completions),
    /// Print the manual page
    Man(man::Man),
    /// Print completion candidates for a command line
    #[command(hide = true)]
    Complete(complete::Complete),
    /// Check the installation for problems
    Doctor(doctor::Doctor),
}

impl Command {
    /// Whether a command writes only files that other users may read: manual pages, projects, finished components.
    /// Those files get the default modes of the umask.
    fn writes_for_others(&self) -> bool {
        match self {
            Command::Man(_) | Command::Completions(_) => true,
            Command::Component(command) => command.writes_for_others(),
            _ => false,
        }
    }
}

/// Runs the command line in `words`, which begins with the program's name.
pub fn run(words: Vec<OsString>) -> ExitCode {
    notehost_platform::memory::share_arenas();
    let arguments = match Arguments::try_parse_from(word_order::arrange(words)) {
        Ok(arguments) => arguments,
        Err(error) => error.exit(),
    };
    if arguments.no_pager {
        terminal::without_pager();
    }
    if !arguments.command.writes_for_others() {
        notehost_platform::private::restrict_new_files();
    }
    let done = notehost_embedded::prepare().map_err(Failure::start);
    let done = done.and_then(|()| match arguments.command {
        Command::Serve(command) => command.run(),
        Command::Call(command) => command.run(),
        Command::Tools(command) => command.run(),
        Command::Help(command) => command.run(),
        Command::Component(command) => command.run(),
        Command::Config(command) => command.run(),
        Command::Token(command) => command.run(),
        Command::Permission(command) => command.run(),
        Command::Approval(command) => command.run(),
        Command::History(command) => command.run(),
        Command::Index(command) => command.run(),
        Command::Audit(command) => command.run(),
        Command::Stats(command) => command.run(),
        Command::Profile(command) => command.run(),
        Command::Connect(command) => command.run(),
        Command::Service(command) => command.run(),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
        Command::Complete(command) => command.run(),
        Command::Doctor(command) => command.run(),
    });
    match done {
        Ok(code) => code,
        Err(failure) => {
            failure.print(&Terminal::stderr());
            failure.exit_code()
        }
    }
}

/// The help of the program, or of one of its commands, rendered by clap.
fn command_help(name: Option<&str>) -> Option<String> {
    let mut program = Arguments::command();
    let command = match name {
        // The whole program's help ends with its domains instead.
        None => return Some(program.after_help("").render_help().to_string()),
        Some(name) => program.find_subcommand_mut(name)?,
    };
    let named = std::mem::take(command).bin_name(format!("notehost {}", name.unwrap_or_default()));
    Some(
        named
            .disable_help_subcommand(true)
            .render_long_help()
            .to_string(),
    )
}

fn after_help() -> String {
    let variables = notehost_config::VARIABLES.iter().chain(&remote::VARIABLES);
    let lines: Vec<String> = variables
        .map(|(name, meaning)| format!("  {name:<20} {meaning}"))
        .collect();
    format!(
        "Flags override environment variables, variables override the config file:\n{}\n\nFirst steps:\n  notehost serve --demo        \
         try it on sample notes\n  notehost serve ~/notes       serve a folder; --allow rw lets clients write\n  \
         notehost help document       list the actions on notes",
        lines.join("\n")
    )
}
