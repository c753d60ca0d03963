//! `notehost connect`: edits our entry in the config file of an AI client. The file belongs to another program: the
//! change is shown, a backup is created, and everything else in it is kept.

mod clients;
mod edit;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use similar::TextDiff;

use self::clients::{Client, Connection};
use self::edit::EditError;
use crate::cli::options::{self, Common};
use crate::cli::ui::failure::Failure;
use crate::cli::ui::output::coloured_diff;
use crate::cli::ui::terminal::Terminal;
use notehost_config::{Loaded, Origin, Overrides, expand_home};
use notehost_platform::private;
use notehost_platform::shell::quoted;
use notehost_vault::Tier;

/// The maximum number of backups of a file.
const MAX_BACKUPS: usize = 1000;

/// Add Notehost to the config file of an AI client.
///
/// The client starts this program by itself, with the given vault and tier. The entry is merged into the file, and a
/// backup of the previous file is kept next to it.
#[derive(Debug, Args)]
pub(crate) struct Connect {
    /// The client
    #[arg(value_enum)]
    client: Client,
    /// The folder of notes, or the id of a configured vault [all configured vaults]
    #[arg(long, value_name = "PATH")]
    vault: Option<PathBuf>,
    /// The client's tier in notebooks not listed in the config: none, r, rw or rwd
    #[arg(long, value_name = "TIER")]
    allow: Option<Tier>,
    /// The name of the entry
    #[arg(long, value_name = "NAME", default_value = "notehost")]
    name: String,
    /// Connect the client to a running server with this URL
    #[arg(long, value_name = "URL", conflicts_with_all = ["vault", "allow"])]
    http: Option<String>,
    /// The environment variable with the client's token for that server [without NAME: NOTEHOST_TOKEN]
    #[arg(
        long,
        value_name = "NAME",
        requires = "http",
        num_args = 0..=1,
        default_missing_value = "NOTEHOST_TOKEN"
    )]
    token_variable: Option<String>,
    /// Write the file of a project instead of the user's [without DIR: the current folder]
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    project: Option<PathBuf>,
    /// Write this file instead of the client's default one
    #[arg(long, value_name = "FILE", conflicts_with = "project")]
    file: Option<PathBuf>,
    /// Remove the entry
    #[arg(long)]
    remove: bool,
    /// Replace or remove the entry even if it starts another program
    #[arg(long)]
    replace: bool,
    /// Show the change as a diff, write nothing
    #[arg(long, conflicts_with = "print")]
    dry_run: bool,
    /// Print the entry, write nothing
    #[arg(long, conflicts_with = "remove")]
    print: bool,
    #[command(flatten)]
    common: Common,
}

impl Connect {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        if self.name.is_empty() || self.name.chars().any(char::is_control) {
            return Err(Failure::usage("`--name` is empty or invalid"));
        }
        let (file, way) = (
            self.chosen_file()?,
            match self.remove {
                true => None,
                false => Some(self.way()?),
            },
        );
        let terminal = Terminal::stdout();
        match (file, way) {
            (_, Some(way)) if self.print => {
                let entry = self.client.entry(&way);
                let section = self.client.section();
                terminal.print(&format!(
                    "{:#}\n",
                    json!({ section: { &self.name: entry } })
                ));
            }
            (None, way) => terminal.print(&format!("{}\n", self.command(way.as_ref()))),
            (Some(file), way) => self.edit(&file, way.as_ref())?,
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The file to write; `None` if the client is configured by a command.
    fn chosen_file(&self) -> Result<Option<PathBuf>, Failure> {
        if let Some(file) = &self.file {
            return Ok(Some(expand_home(file)));
        }
        let title = self.client.title();
        match &self.project {
            Some(folder) => {
                let file = self.client.project_file(&expand_home(folder));
                file.map(Some).ok_or_else(|| {
                    Failure::usage(format!("{title} has no project config file"))
                        .with_hint("omit `--project`")
                })
            }
            None if self.client == Client::ClaudeCode => Ok(None),
            None => self.client.file().map(Some).ok_or_else(|| {
                Failure::start("this system has no home folder")
                    .with_hint("specify the file with `--file FILE`")
            }),
        }
    }

    /// How the client reaches the server.
    fn way(&self) -> Result<Connection, Failure> {
        if let Some(url) = &self.http {
            if !self.client.reaches_servers() {
                return Err(Failure::usage(format!(
                    "the config file of {} supports only programs, not URLs",
                    self.client.title()
                ))
                .with_hint("add the URL in its settings, under Connectors; or omit `--http` and specify a `--vault`"));
            }
            // Validated here, because a client would not report the mistake.
            let url = notehost_client::Client::new(url, None)?.url().to_owned();
            if self.token_variable.is_none() {
                Terminal::stderr().print(
                    "the server requires a token unless it runs with `--no-auth`: set `--token-variable` to the variable \
                     with the token\n",
                );
            }
            return Ok(Connection::Reaches {
                url,
                token_variable: self.token_variable.clone(),
            });
        }
        let loaded = options::load(Overrides {
            vault: self.vault.clone(),
            allow: self.allow,
            ..self.common.clone().given()
        })?;
        if loaded.settings.vaults.is_empty() {
            return Err(Failure::usage("no vault is specified")
                .with_hint("specify a folder of notes: `--vault ~/notes`; or create a config first: `notehost config init`"));
        }
        loaded.check()?;
        let program = std::env::current_exe().map_err(|error| {
            Failure::start(format!("cannot find the path of this program: {error}"))
        })?;
        Ok(Connection::Starts {
            program: program.display().to_string(),
            words: self.words(&loaded)?,
        })
    }

    /// The arguments that the client starts this program with. It has neither our working directory nor our variables.
    fn words(&self, loaded: &Loaded) -> Result<Vec<String>, Failure> {
        let mut words = vec!["serve".to_owned()];
        if !matches!(loaded.origin("vaults"), Origin::File(_) | Origin::Default) {
            let vault = &loaded.settings.vaults[0];
            words.push(match &self.vault {
                Some(named) if *named == Path::new(&vault.id) => vault.id.clone(),
                _ => absolute(&vault.path)?,
            });
        }
        for (flag, path) in [
            ("--config", &self.common.config),
            ("--state", &self.common.state),
        ] {
            if let Some(path) = path {
                words.extend([flag.to_owned(), absolute(&expand_home(path))?]);
            }
        }
        if let Some(tier) = self.allow {
            words.extend(["--allow".to_owned(), tier.to_string()]);
        }
        Ok(words)
    }

    /// The `claude` command that adds or removes the entry for the user.
    fn command(&self, way: Option<&Connection>) -> String {
        let name = quoted(&self.name);
        match way {
            None => format!("claude mcp remove --scope user {name}"),
            Some(Connection::Starts { program, words }) => {
                let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                format!(
                    "claude mcp add --scope user {name} -- {} {}",
                    quoted(program),
                    words.join(" ")
                )
            }
            Some(Connection::Reaches {
                url,
                token_variable,
            }) => {
                let header = token_variable.as_ref().map_or(String::new(), |variable| {
                    format!(" --header \"Authorization: Bearer ${variable}\"")
                });
                format!(
                    "claude mcp add --scope user --transport http {name} {}{header}",
                    quoted(url)
                )
            }
        }
    }

    fn edit(&self, file: &Path, way: Option<&Connection>) -> Result<(), Failure> {
        // A symbolic link is kept: its target is edited.
        let file = &file.canonicalize().unwrap_or_else(|_| file.to_owned());
        let before = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(untouched(file, &error.to_string())),
        };
        let section = self.client.section();
        let edited = match way {
            Some(way) => {
                let entry = self.client.entry(way);
                edit::put(&before, section, &self.name, &entry, self.replace)
            }
            None => edit::remove(&before, section, &self.name, self.replace),
        };
        let after = edited.map_err(|error| {
            let failure = untouched(file, &error.to_string());
            match error {
                EditError::OfAnother(_) => failure
                    .with_hint("choose another `--name`, or replace the entry with `--replace`"),
                _ => failure
                    .with_hint("fix the file first; `--print` shows the entry to add manually"),
            }
        })?;
        let terminal = Terminal::stderr();
        if after == before {
            terminal.print(&format!("{} is up to date\n", file.display()));
            return Ok(());
        }
        if self.dry_run {
            let out = Terminal::stdout();
            out.print(&coloured_diff(&out, &difference(file, &before, &after)));
            return Ok(());
        }
        let written = write(file, &before, &after)
            .map_err(|error| untouched(file, &format!("cannot write it: {error}")))?;
        let kept = written.map_or(String::new(), |backup| {
            format!("; backup: {}", backup.display())
        });
        let then = self.client.afterwards();
        terminal.print(&format!("{} was written{kept}\n{then}\n", file.display()));
        Ok(())
    }
}

fn absolute(path: &Path) -> Result<String, Failure> {
    let path = std::path::absolute(path)
        .map_err(|error| Failure::usage(format!("`{}`: {error}", path.display())))?;
    path.into_os_string().into_string().map_err(|path| {
        Failure::usage(format!(
            "`{}` is not UTF-8 and cannot be written to a config file",
            path.display()
        ))
    })
}

fn untouched(file: &Path, reason: &str) -> Failure {
    Failure::call(format!("`{}` was not changed: {reason}", file.display()))
}

fn difference(file: &Path, before: &str, after: &str) -> String {
    let name = file.display().to_string();
    TextDiff::from_lines(before, after)
        .unified_diff()
        .header(&name, &name)
        .to_string()
}

/// Replaces the file atomically; the old text, if any, is kept in a backup.
fn write(file: &Path, before: &str, after: &str) -> io::Result<Option<PathBuf>> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let was_there = file.exists();
    let backup = match was_there {
        true => Some(back_up(file, before)?),
        false => None,
    };
    let mut new = file.as_os_str().to_owned();
    new.push(format!(".notehost-{}", std::process::id()));
    let new = PathBuf::from(new);
    let put = || {
        let mut options = match was_there {
            true => private::options(),
            false => fs::File::options(),
        };
        let mut made = options.write(true).create(true).truncate(true).open(&new)?;
        if was_there {
            made.set_permissions(fs::metadata(file)?.permissions())?;
        }
        made.write_all(after.as_bytes())?;
        made.sync_all()?;
        fs::rename(&new, file)
    };
    let outcome = put();
    if outcome.is_err() {
        // The write failed already; the temporary file is best removed.
        let _ = fs::remove_file(&new);
    }
    outcome.map(|()| backup)
}

/// Writes a backup next to a file, under the first free name.
fn back_up(file: &Path, text: &str) -> io::Result<PathBuf> {
    for number in 0..MAX_BACKUPS {
        let mut name = file.as_os_str().to_owned();
        name.push(match number {
            0 => ".bak".to_owned(),
            number => format!(".bak{number}"),
        });
        let backup = PathBuf::from(name);
        // Other entries may contain secrets: the backup is private before it gets the mode of the original.
        let made = private::options()
            .write(true)
            .create_new(true)
            .open(&backup);
        match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(mut made) => {
                made.write_all(text.as_bytes())?;
                made.set_permissions(fs::metadata(file)?.permissions())?;
                made.sync_all()?;
                return Ok(backup);
            }
        }
    }
    Err(io::Error::other("too many backups next to it"))
}
