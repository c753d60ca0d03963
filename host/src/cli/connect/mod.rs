//! `notehost connect`: our entry in the config file of an AI client. The file belongs to somebody else: it is shown what
//! would change, a backup is made, and everything else in it stays as it is.

mod clients;
mod edit;

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use similar::TextDiff;

use self::clients::{Client, Way};
use self::edit::EditError;
use super::failure::Failure;
use super::fields::quoted;
use super::options::{self, Common};
use super::records::coloured_diff;
use super::terminal::Terminal;
use notehost_config::{Given, Loaded, Origin, expand_home};
use notehost_transport as transport;
use notehost_vault::Tier;

/// Only its owner may read and write.
const PRIVATE: u32 = 0o600;
/// So many backups of one file are kept apart; nobody connects more often.
const MOST_BACKUPS: usize = 1000;

/// Write our entry into the config file of an AI client.
///
/// The client starts this program by itself, with the vault and the tier that are named here. The file is merged, not
/// replaced, and what it was before is kept beside it.
#[derive(Debug, Args)]
pub(super) struct Connect {
    /// The client
    #[arg(value_enum)]
    client: Client,
    /// The folder of notes, or the id of a configured vault [all that the config names]
    #[arg(long, value_name = "PATH")]
    vault: Option<PathBuf>,
    /// What the client may do in notebooks that nothing names: none, r, rw or rwd
    #[arg(long, value_name = "TIER")]
    allow: Option<Tier>,
    /// The name of the entry
    #[arg(long, value_name = "NAME", default_value = "notehost")]
    name: String,
    /// Lead the client to a server that runs already, by its address
    #[arg(long, value_name = "URL", conflicts_with_all = ["vault", "allow"])]
    http: Option<String>,
    /// The variable that the client takes the token for that server from [without NAME: NOTEHOST_TOKEN]
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
    /// Write this file, whatever the client's usual one is
    #[arg(long, value_name = "FILE", conflicts_with = "project")]
    file: Option<PathBuf>,
    /// Take the entry out again
    #[arg(long)]
    remove: bool,
    /// Replace or remove the entry also where it starts another program
    #[arg(long)]
    replace: bool,
    /// Show what would change, and change nothing
    #[arg(long, conflicts_with = "print")]
    dry_run: bool,
    /// Print the entry, and change nothing
    #[arg(long, conflicts_with = "remove")]
    print: bool,
    #[command(flatten)]
    common: Common,
}

impl Connect {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        if self.name.is_empty() || self.name.chars().any(char::is_control) {
            return Err(Failure::usage("`--name` is no name"));
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

    /// The file to write; `None` where the client is told by a command.
    fn chosen_file(&self) -> Result<Option<PathBuf>, Failure> {
        if let Some(file) = &self.file {
            return Ok(Some(expand_home(file)));
        }
        let title = self.client.title();
        match &self.project {
            Some(folder) => {
                let file = self.client.project_file(&expand_home(folder));
                file.map(Some).ok_or_else(|| {
                    Failure::usage(format!("{title} has no files for projects"))
                        .with_hint("leave `--project` out")
                })
            }
            None if self.client == Client::ClaudeCode => Ok(None),
            None => self.client.file().map(Some).ok_or_else(|| {
                Failure::start("this machine has no home folder")
                    .with_hint("name the file: `--file FILE`")
            }),
        }
    }

    /// How the client comes to us.
    fn way(&self) -> Result<Way, Failure> {
        if let Some(url) = &self.http {
            if !self.client.reaches_servers() {
                return Err(Failure::usage(format!(
                    "{} only starts programs by its config file",
                    self.client.title()
                ))
                .with_hint("add the address in its settings, under Connectors; or leave `--http` out and name a `--vault`"));
            }
            // Looked at, so that nobody searches for the mistake in the client.
            let url = transport::Client::new(url, None)?.url().to_owned();
            if self.token_variable.is_none() {
                Terminal::stderr().print(
                    "the server requires a token unless it runs with `--no-auth`: `--token-variable` names the variable \
                     that the client takes it from\n",
                );
            }
            return Ok(Way::Reaches {
                url,
                token_variable: self.token_variable.clone(),
            });
        }
        let loaded = options::load(Given {
            vault: self.vault.clone(),
            allow: self.allow,
            ..self.common.clone().given()
        })?;
        if loaded.settings.vaults.is_empty() {
            return Err(Failure::usage("no vault is named")
                .with_hint("name a folder of notes: `--vault ~/notes`; or write a config first: `notehost config init`"));
        }
        loaded.check()?;
        let program = std::env::current_exe()
            .map_err(|error| Failure::start(format!("this program cannot find itself: {error}")))?;
        Ok(Way::Starts {
            program: program.display().to_string(),
            words: self.words(&loaded)?,
        })
    }

    /// The words that the client starts us with. It has neither our folder nor our variables.
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

    /// What Claude Code is told to keep the entry for its user.
    fn command(&self, way: Option<&Way>) -> String {
        let name = quoted(&self.name);
        match way {
            None => format!("claude mcp remove --scope user {name}"),
            Some(Way::Starts { program, words }) => {
                let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                format!(
                    "claude mcp add --scope user {name} -- {} {}",
                    quoted(program),
                    words.join(" ")
                )
            }
            Some(Way::Reaches {
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

    fn edit(&self, file: &Path, way: Option<&Way>) -> Result<(), Failure> {
        // A link that somebody keeps their settings behind stays one.
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
                EditError::OfAnother(_) => failure.with_hint(
                    "choose another `--name`, or take this one's place with `--replace`",
                ),
                _ => {
                    failure.with_hint("mend it first; `--print` shows the entry to put in by hand")
                }
            }
        })?;
        let terminal = Terminal::stderr();
        if after == before {
            terminal.print(&format!("{} is as it should be\n", file.display()));
            return Ok(());
        }
        if self.dry_run {
            let out = Terminal::stdout();
            out.print(&coloured_diff(&out, &difference(file, &before, &after)));
            return Ok(());
        }
        let written = write(file, &before, &after)
            .map_err(|error| untouched(file, &format!("it cannot be written: {error}")))?;
        let kept = written.map_or(String::new(), |backup| {
            format!("; what it was before is in {}", backup.display())
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
            "`{}` is not UTF-8: no client can write it down",
            path.display()
        ))
    })
}

fn untouched(file: &Path, reason: &str) -> Failure {
    Failure::call(format!("`{}` was not touched: {reason}", file.display()))
}

fn difference(file: &Path, before: &str, after: &str) -> String {
    let name = file.display().to_string();
    TextDiff::from_lines(before, after)
        .unified_diff()
        .header(&name, &name)
        .to_string()
}

/// Put the new text in the place of the old one, which is kept under another name if there was one.
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
        let mut options = fs::File::options();
        options.write(true).create(true).truncate(true);
        if was_there {
            options.mode(PRIVATE);
        }
        let mut made = options.open(&new)?;
        if was_there {
            made.set_permissions(fs::metadata(file)?.permissions())?;
        }
        made.write_all(after.as_bytes())?;
        made.sync_all()?;
        fs::rename(&new, file)
    };
    let outcome = put();
    if outcome.is_err() {
        // It failed already; what is left of it matters to nobody.
        let _ = fs::remove_file(&new);
    }
    outcome.map(|()| backup)
}

/// Keep a copy beside a file, under the first name that is free.
fn back_up(file: &Path, text: &str) -> io::Result<PathBuf> {
    for number in 0..MOST_BACKUPS {
        let mut name = file.as_os_str().to_owned();
        name.push(match number {
            0 => ".bak".to_owned(),
            number => format!(".bak{number}"),
        });
        let backup = PathBuf::from(name);
        // Others' entries may hold secrets: it is private before it gets the rights of the original.
        let made = fs::File::options()
            .write(true)
            .create_new(true)
            .mode(PRIVATE)
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
    Err(io::Error::other("there are too many backups beside it"))
}
