//! `notehost profile`: servers elsewhere, by a name of one's own. Calls go to the one in use unless they name another
//! server or a vault of this machine.

pub(super) mod store;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use self::store::{Profile as Entry, Profiles};
use super::call::print_json;
use super::failure::Failure;
use super::options::{self, Common};
use super::remote;
use super::terminal::Terminal;
use notehost_transport::Client;

/// Name servers elsewhere, and choose the one that calls go to.
#[derive(Debug, Args)]
pub(super) struct Profile {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Give a server a name; its token is kept in a file that only you can read
    Add(Add),
    /// Let calls go to a server from now on; without NAME to the vaults of this machine
    Use(Use),
    /// List the profiles; tokens are not shown
    List(List),
    /// Forget a profile and its token
    Remove(Remove),
}

#[derive(Debug, Args)]
struct Add {
    /// Its name: letters, digits, `-`, `_` and `.`
    name: String,
    /// Its address, such as https://notes.example.org/mcp
    server: String,
    /// The token that it asks for; `-` reads the first line of stdin, where no list of processes shows it
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// Let calls go to it from now on
    #[arg(long = "use")]
    in_use: bool,
    /// Replace a profile of that name
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
struct Use {
    /// The profile; without it calls go to the vaults of this machine
    name: Option<String>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
struct List {
    /// Print JSON also on a terminal
    #[arg(long)]
    json_output: bool,
}

#[derive(Debug, Args)]
struct Remove {
    /// The profile
    name: String,
    #[command(flatten)]
    common: Common,
}

impl Profile {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let told = match self.command {
            Command::Add(command) => command.run()?,
            Command::Use(command) => command.run()?,
            Command::Remove(command) => command.run()?,
            Command::List(command) => return command.run(),
        };
        Terminal::stderr().print(&told);
        Ok(ExitCode::SUCCESS)
    }
}

impl Add {
    fn run(self) -> Result<String, Failure> {
        check_name(&self.name)?;
        let token = self.token.as_deref().map(remote::token).transpose()?;
        // Nothing is asked: the server may be switched off now.
        let client = Client::new(&self.server, token.as_deref())?;
        let mut profiles = Profiles::read()?;
        if profiles.profiles.contains_key(&self.name) && !self.replace {
            return Err(
                Failure::call(format!("there is a profile `{}` already", self.name))
                    .with_hint("choose another name, or replace it with `--replace`"),
            );
        }
        let entry = Entry {
            server: client.url().to_owned(),
            token,
        };
        profiles.profiles.insert(self.name.clone(), entry);
        if self.in_use {
            profiles.in_use = Some(self.name.clone());
        }
        save(&profiles, self.common)?;
        remote::warn_in_the_clear(&client);
        Ok(match self.in_use {
            true => format!("Calls go to `{}` from now on.\n", self.name),
            false => format!(
                "`notehost profile use {name}` lets calls go there; `--profile {name}` a single one.\n",
                name = self.name
            ),
        })
    }
}

impl Use {
    fn run(self) -> Result<String, Failure> {
        let mut profiles = Profiles::read()?;
        let told = match &self.name {
            Some(name) => {
                let server = &profiles.named(name)?.server;
                format!(
                    "Calls go to `{name}` ({server}) from now on; with `--vault PATH` to this machine.\n"
                )
            }
            None => "Calls go to the vaults of this machine from now on.\n".to_owned(),
        };
        profiles.in_use = self.name;
        save(&profiles, self.common)?;
        Ok(told)
    }
}

impl Remove {
    fn run(self) -> Result<String, Failure> {
        let mut profiles = Profiles::read()?;
        profiles.named(&self.name)?;
        profiles.profiles.remove(&self.name);
        let was_used = profiles.in_use.as_ref() == Some(&self.name);
        if was_used {
            profiles.in_use = None;
        }
        save(&profiles, self.common)?;
        Ok(match was_used {
            true => format!(
                "`{}` is forgotten. Calls go to the vaults of this machine from now on.\n",
                self.name
            ),
            false => format!("`{}` is forgotten.\n", self.name),
        })
    }
}

impl List {
    fn run(self) -> Result<ExitCode, Failure> {
        let profiles = Profiles::read()?;
        let terminal = Terminal::stdout();
        let is_used = |name: &String| profiles.in_use.as_ref() == Some(name);
        if self.json_output || !terminal.is_terminal() {
            let items: Vec<Value> = profiles
                .profiles
                .iter()
                .map(|(name, profile)| {
                    json!({
                        "name": name,
                        "server": profile.server,
                        "has_token": profile.token.is_some(),
                        "in_use": is_used(name),
                    })
                })
                .collect();
            print_json(&terminal, json!({ "items": items }));
        } else if profiles.profiles.is_empty() {
            terminal.print("There are no profiles. `notehost profile add NAME URL` makes one.\n");
        } else {
            let rows = profiles.profiles.iter().map(|(name, profile)| {
                let token = if profile.token.is_some() {
                    "kept"
                } else {
                    "none"
                };
                let used = if is_used(name) { "in use" } else { "" };
                vec![
                    name.clone(),
                    profile.server.clone(),
                    token.to_owned(),
                    used.to_owned(),
                ]
            });
            terminal.print(&terminal.table(&["name", "server", "token", ""], rows));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn save(profiles: &Profiles, common: Common) -> Result<(), Failure> {
    // A broken config names no vaults; what is wrong with it others say.
    let loaded = options::load(common.given());
    let vaults = loaded.map(|loaded| loaded.settings.vaults);
    let vaults = vaults.unwrap_or_default().into_iter();
    profiles.write(&vaults.map(|vault| vault.path).collect::<Vec<_>>())
}

fn check_name(name: &str) -> Result<(), Failure> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let fits =
        !name.is_empty() && name.len() <= 64 && !name.starts_with('-') && name.chars().all(plain);
    match fits {
        true => Ok(()),
        false => Err(Failure::usage(format!("`{name}` is no name for a profile"))
            .with_hint("a name has letters, digits, `-`, `_` and `.`, 64 at most")),
    }
}
