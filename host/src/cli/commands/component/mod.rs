//! `notehost component`: the tool domains, their origin, and their grants. One file per
//! command. Changes are written to the component store and the config, and a running server applies them.

mod add;
mod dev;
mod dev_server;
mod fetch;
mod grant;
mod inspect;
mod list;
mod log;
mod new;
mod pack;
mod project;
mod prompt;
mod push;
mod status;
mod switch;
mod template;
mod test;
mod upgrade;
mod watch;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::cli::ui::failure::Failure;

/// Inspect, install, grant, upgrade and develop tool domains.
#[derive(Debug, Args)]
pub(crate) struct Component {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the components with their origin and state
    List(list::List),
    /// Show a component, without running it
    Inspect(inspect::Inspect),
    /// Install a component from a file or a registry
    Add(add::Add),
    /// Replace a component with another version
    Upgrade(upgrade::Upgrade),
    /// Return to the previous version
    Rollback(upgrade::Rollback),
    /// Remove an installed component
    Remove(upgrade::Remove),
    /// Set which paths and hosts a component may access
    Grant(grant::Grant),
    /// Revoke the grant of a component
    Revoke(grant::Revoke),
    /// Embed a manifest in a built component: the upper limit of its grants
    Pack(pack::Pack),
    /// Push a component to a registry, with its signature
    Push(push::Push),
    /// Run the conformance suite on a component
    Test(test::Test),
    /// Create a project for a new tool domain, in Rust, JavaScript or Python
    New(new::New),
    /// Build a project, run it on notes, and rebuild it on every change
    Dev(dev::Dev),
    /// Switch a component, or one of its actions, on
    Enable(switch::Enable),
    /// Switch a component, or one of its actions, off
    Disable(switch::Disable),
    /// Show the health of components: calls, failures, memory, circuit breakers
    Status(status::Status),
    /// Show what a component printed and logged
    Log(log::Log),
}

impl Component {
    /// Whether it writes only files that other users may read.
    pub(crate) fn writes_for_others(&self) -> bool {
        matches!(self.command, Command::New(_) | Command::Pack(_))
    }

    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        match self.command {
            Command::List(command) => command.run(),
            Command::Inspect(command) => command.run(),
            Command::Add(command) => command.run(),
            Command::Upgrade(command) => command.run(),
            Command::Rollback(command) => command.run(),
            Command::Remove(command) => command.run(),
            Command::Grant(command) => command.run(),
            Command::Revoke(command) => command.run(),
            Command::Pack(command) => command.run(),
            Command::Push(command) => command.run(),
            Command::Test(command) => command.run(),
            Command::New(command) => command.run(),
            Command::Dev(command) => command.run(),
            Command::Enable(command) => command.run(),
            Command::Disable(command) => command.run(),
            Command::Status(command) => command.run(),
            Command::Log(command) => command.run(),
        }
    }
}
