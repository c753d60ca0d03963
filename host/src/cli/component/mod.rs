//! `notehost component`: which tool domains there are, where they come from, and what they may use. One file per
//! command. What is changed lands in the component store and in the config, and a server that runs takes it over.

mod add;
mod dev;
mod grant;
mod inspect;
mod installing;
mod list;
mod log;
mod new;
mod pack;
mod place;
mod project;
mod push;
mod status;
mod switch;
mod template;
mod test;
mod trying;
mod upgrade;
mod watch;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::failure::Failure;

/// See, install, grant, upgrade and write tool domains.
#[derive(Debug, Args)]
pub(super) struct Component {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the components: where they come from, which are on
    List(list::List),
    /// See what a component is, without running it
    Inspect(inspect::Inspect),
    /// Install a component from a file or a registry
    Add(add::Add),
    /// Put another version in the place of the one that runs
    Upgrade(upgrade::Upgrade),
    /// Go back to the version of before
    Rollback(upgrade::Rollback),
    /// Forget a component that was installed
    Remove(upgrade::Remove),
    /// Say which paths and hosts a component may use
    Grant(grant::Grant),
    /// Take back what a component was granted
    Revoke(grant::Revoke),
    /// Put a manifest into a finished component: the ceiling of what it can be granted
    Pack(pack::Pack),
    /// Put a component into a registry, with its signature
    Push(push::Push),
    /// See whether a component keeps the contract, whatever happens to it
    Test(test::Test),
    /// Make a project for a new tool domain, in Rust, JavaScript or Python
    New(new::New),
    /// Build a project, try it on notes, and build it again at every change
    Dev(dev::Dev),
    /// Switch a component, or one of its actions, on
    Enable(switch::Enable),
    /// Switch a component, or one of its actions, off
    Disable(switch::Disable),
    /// See how the components are doing: calls, failures, memory, rests
    Status(status::Status),
    /// See what a component printed and logged
    Log(log::Log),
}

impl Component {
    /// Whether it writes nothing but files that are meant for others as well.
    pub(super) fn writes_for_others(&self) -> bool {
        matches!(self.command, Command::New(_) | Command::Pack(_))
    }

    pub(super) fn run(self) -> Result<ExitCode, Failure> {
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
