//! `notehost completions`: shell completion scripts, and the hidden command that they
//! call for candidates. The scripts contain no commands or flags, so they never become outdated.

mod call;
mod commands;
mod files;
mod line;
mod settings;

use std::process::ExitCode;

use clap::{Args, ValueEnum};

use self::line::Line;
use crate::cli::ui::failure::Failure;
use crate::cli::ui::terminal::Terminal;

/// A shell that can complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shell {
    /// Source it: `source <(notehost completions bash)`
    Bash,
    /// Source it: `source <(notehost completions zsh)`
    Zsh,
    /// Source it: `notehost completions fish | source`
    Fish,
}

/// Print a shell completion script for commands, domains, actions, fields and note paths.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Your shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        Terminal::stdout().print(match self.shell {
            Shell::Bash => include_str!("notehost.bash"),
            Shell::Zsh => include_str!("notehost.zsh"),
            Shell::Fish => include_str!("notehost.fish"),
        });
        Ok(ExitCode::SUCCESS)
    }
}

/// Print completion candidates for a command line: for the scripts.
#[derive(Debug, Args)]
pub(crate) struct Complete {
    #[arg(value_enum)]
    shell: Shell,
    /// From bash the line up to the cursor, from others its words without the program, the last one unfinished
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// A completion candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Candidate {
    /// The whole word.
    value: String,
    /// A short description.
    about: String,
}

impl Candidate {
    fn new(value: impl Into<String>, about: &str) -> Candidate {
        // A shell takes one line and one tab.
        let about = about.trim().lines().next().unwrap_or_default();
        Candidate {
            value: value.into(),
            about: about.replace('\t', " "),
        }
    }

    /// Whether it is only the beginning of a word, such as a folder.
    fn is_open(&self) -> bool {
        self.value.ends_with('/')
    }
}

impl Complete {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let line = match self.shell {
            Shell::Bash => Line::split(self.words.first().map_or("", String::as_str)),
            // Fish passes the word under the cursor as it was typed.
            Shell::Zsh | Shell::Fish => Line::of_words(self.words, self.shell == Shell::Fish),
        };
        let mut output = String::new();
        for candidate in commands::candidates(&line.words, &line.current) {
            // Words cannot contain these characters.
            if candidate.value.contains(['\n', '\t', '\r']) {
                continue;
            }
            match self.shell {
                Shell::Bash => {
                    let breaks = std::env::var("COMP_WORDBREAKS").ok();
                    output.push_str(&line.for_bash(&candidate, breaks.as_deref()));
                }
                Shell::Zsh | Shell::Fish => {
                    output.push_str(&candidate.value);
                    output.push('\t');
                    output.push_str(&candidate.about);
                }
            }
            output.push('\n');
        }
        Terminal::stdout().print(&output);
        Ok(ExitCode::SUCCESS)
    }
}
