//! `notehost profile`: named remote servers. Calls use the selected one unless a flag selects another
//! server or a vault of this machine.

pub(crate) mod store;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use self::store::{Profile as Entry, Profiles};
use crate::cli::options::{self, Common, OutputFlags};
use crate::cli::remote;
use crate::cli::ui::failure::Failure;
use crate::cli::ui::output::print_json;
use crate::cli::ui::terminal::Terminal;
use notehost_client::Client;

/// Manage profiles of remote servers, and select the one for calls.
#[derive(Debug, Args)]
pub(crate) struct Profile {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add a profile for a server; its token is stored in a file that only you can read
    Add(Add),
    /// Select the server for calls; without NAME the vaults of this machine
    Use(Use),
    /// List the profiles; tokens are not shown
    List(List),
    /// Remove a profile and its token
    Remove(Remove),
}

#[derive(Debug, Args)]
struct Add {
    /// The name: letters, digits, `-`, `_` and `.`
    name: String,
    /// The URL of the server, such as https://notes.example.org/mcp
    server: String,
    /// The token for it; `-` reads the first line of stdin, which keeps it out of the process list
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// Select it for calls
    #[arg(long = "use")]
    in_use: bool,
    /// Replace an existing profile of that name
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
struct Use {
    /// The profile [none: the vaults of this machine]
    name: Option<String>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
struct List {
    #[command(flatten)]
    output: OutputFlags,
}

#[derive(Debug, Args)]
struct Remove {
    /// The profile
    name: String,
    #[command(flatten)]
    common: Common,
}

impl Profile {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let message = match self.command {
            Command::Add(command) => command.run()?,
            Command::Use(command) => command.run()?,
            Command::Remove(command) => command.run()?,
            Command::List(command) => return command.run(),
        };
        Terminal::stderr().print(&message);
        Ok(ExitCode::SUCCESS)
    }
}

impl Add {
    fn run(self) -> Result<String, Failure> {
        check_name(&self.name)?;
        let token = self.token.as_deref().map(remote::token).transpose()?;
        // The server is not contacted: it may be offline.
        let client = Client::new(&self.server, token.as_deref())?;
        let mut profiles = Profiles::read()?;
        if profiles.profiles.contains_key(&self.name) && !self.replace {
            return Err(
                Failure::call(format!("the profile `{}` already exists", self.name))
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
        remote::warn_if_unencrypted(&client);
        Ok(match self.in_use {
            true => format!("Selected `{}` for calls.\n", self.name),
            false => format!(
                "Select it for calls with `notehost profile use {name}`, or for one call with `--profile {name}`.\n",
                name = self.name
            ),
        })
    }
}

impl Use {
    fn run(self) -> Result<String, Failure> {
        let mut profiles = Profiles::read()?;
        let message = match &self.name {
            Some(name) => {
                let server = &profiles.named(name)?.server;
                format!(
                    "Selected `{name}` ({server}) for calls; use `--vault PATH` for this machine.\n"
                )
            }
            None => "Selected the vaults of this machine for calls.\n".to_owned(),
        };
        profiles.in_use = self.name;
        save(&profiles, self.common)?;
        Ok(message)
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
                "Removed `{}`. Selected the vaults of this machine for calls.\n",
                self.name
            ),
            false => format!("Removed `{}`.\n", self.name),
        })
    }
}

impl List {
    fn run(self) -> Result<ExitCode, Failure> {
        let profiles = Profiles::read()?;
        let terminal = Terminal::stdout();
        let is_used = |name: &String| profiles.in_use.as_ref() == Some(name);
        if self.output.is_json(&terminal) {
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
            terminal.print("No profiles. Add one with `notehost profile add NAME URL`.\n");
        } else {
            let rows = profiles.profiles.iter().map(|(name, profile)| {
                let token = if profile.token.is_some() {
                    "stored"
                } else {
                    "none"
                };
                let used = if is_used(name) { "selected" } else { "" };
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
    // With an invalid config there are no vaults to check; other commands report its errors.
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
        false => Err(Failure::usage(format!("invalid profile name `{name}`"))
            .with_hint("a name consists of at most 64 letters, digits, `-`, `_` and `.`")),
    }
}
