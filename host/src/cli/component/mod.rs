//! `notehost component`: which tool domains there are, where they come from, and what they may use. One file per
//! command. What is changed lands in the component store and in the config, and a server that runs takes it over.

mod list;
mod log;
mod status;
mod switch;

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
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        match self.command {
            Command::List(command) => command.run(),
            Command::Enable(command) => command.run(),
            Command::Disable(command) => command.run(),
            Command::Status(command) => command.run(),
            Command::Log(command) => command.run(),
        }
    }
}
