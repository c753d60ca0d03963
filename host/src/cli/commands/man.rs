//! `notehost man`: the manual page of the program, or one for each command in a folder. They are generated from the clap
//! definitions, so they agree with `--help`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory};

use crate::cli::Arguments;
use crate::cli::ui::failure::Failure;
use crate::cli::ui::terminal::Terminal;

/// Print the manual page: `notehost man | man -l -`.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Write one page for the program and each command to this folder instead
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let failed =
            |error: std::io::Error| Failure::call(format!("cannot write the manual page: {error}"));
        match self.dir {
            None => {
                let mut page = Vec::new();
                clap_mangen::Man::new(program())
                    .render(&mut page)
                    .map_err(failed)?;
                Terminal::stdout().print(&String::from_utf8_lossy(&page));
            }
            Some(folder) => {
                std::fs::create_dir_all(&folder).map_err(failed)?;
                clap_mangen::generate_to(program(), folder).map_err(failed)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The clap definition for the manual pages.
fn program() -> clap::Command {
    Arguments::command().about("an MCP server for folders of Markdown notes")
}
