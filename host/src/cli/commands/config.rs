//! `notehost config`: shows the settings and their origins, validates them, and creates a config file.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::cli::options::{self, Common, OutputFlags, ServeFlags};
use crate::cli::ui::failure::Failure;
use crate::cli::ui::output::print_json;
use crate::cli::ui::terminal::Terminal;
use notehost_config::{config_file, expand_home, template};

/// Show, validate or create the config.
#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Show every setting and its origin
    Show(Show),
    /// Validate a config file
    Validate(Validate),
    /// Create a config file with comments for every setting
    Init(Init),
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    #[command(flatten)]
    serving: ServeFlags,
    #[command(flatten)]
    output: OutputFlags,
}

#[derive(Debug, Args)]
pub(crate) struct Validate {
    /// The config file, instead of the platform's default
    file: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The folder of notes to configure as vault
    vault: Option<PathBuf>,
    /// The file to write, instead of the platform's default
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

impl Config {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        match self {
            Config::Show(command) => command.run(),
            Config::Validate(command) => command.run(),
            Config::Init(command) => command.run(),
        }
    }
}

impl Show {
    fn run(self) -> Result<ExitCode, Failure> {
        let loaded = options::load(self.serving.given())?;
        let terminal = Terminal::stdout();
        let values = loaded.values();
        if self.output.is_json(&terminal) {
            let items: Vec<Value> = values
                .iter()
                .map(|shown| json!({"key": shown.key, "value": shown.value, "origin": shown.origin.to_string()}))
                .collect();
            print_json(&terminal, json!({ "items": items }));
        } else {
            let row = |value: &Value| match value {
                Value::Null => "–".to_owned(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let rows = values.iter().map(|shown| {
                vec![
                    shown.key.clone(),
                    row(&shown.value),
                    shown.origin.to_string(),
                ]
            });
            terminal.print(&terminal.table(&["key", "value", "origin"], rows));
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Validate {
    fn run(self) -> Result<ExitCode, Failure> {
        let invalid = |error: notehost_config::ConfigError| {
            Failure::call(error.to_string()).with_any_hint(error.hint().map(str::to_owned))
        };
        let mut given = self.common.given();
        given.config = self.file.or(given.config);
        let loaded =
            notehost_config::load(given, &|name| std::env::var_os(name)).map_err(invalid)?;
        let Some(file) = &loaded.file else {
            return Err(Failure::call("there is no config file")
                .with_hint("create one with `notehost config init`"));
        };
        loaded.check().map_err(invalid)?;
        let vaults = match loaded.settings.vaults.len() {
            0 => "no vault".to_owned(),
            1 => "one vault".to_owned(),
            several => {
                let default = loaded.settings.default_vault().unwrap_or_default();
                format!("{several} vaults, default `{default}`")
            }
        };
        let terminal = Terminal::stdout();
        terminal.print(&format!(
            "{} {} ({vaults})\n",
            terminal.good("valid:"),
            file.display()
        ));
        Ok(ExitCode::SUCCESS)
    }
}

impl Init {
    fn run(self) -> Result<ExitCode, Failure> {
        let named = self
            .config
            .or_else(|| std::env::var_os("NOTEHOST_CONFIG").map(PathBuf::from));
        let path = named
            .map(|path| expand_home(&path))
            .or_else(config_file)
            .ok_or_else(|| {
                Failure::start("this system has no default config folder")
                    .with_hint("specify a file with `--config FILE`")
            })?;
        let shown = path.display();
        if path.exists() && !self.force {
            return Err(Failure::call(format!("`{shown}` already exists"))
                .with_hint("edit it, or replace it with `--force`"));
        }
        let vault = self
            .vault
            .map(|vault| std::path::absolute(expand_home(&vault)).unwrap_or(vault));
        refuse_within(&path, vault.as_deref())?;
        let written = path
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::write(&path, template(vault.as_deref())));
        written.map_err(|error| Failure::call(format!("cannot write `{shown}`: {error}")))?;
        let next = if vault.is_some() {
            "review it, then run: notehost serve"
        } else {
            "set the path of your notes in it, then run: notehost config validate"
        };
        let terminal = Terminal::stdout();
        terminal.print(&format!(
            "{} {shown}\n{}\n",
            terminal.good("written:"),
            terminal.faint(next)
        ));
        Ok(ExitCode::SUCCESS)
    }
}

/// Refuses a config file inside its own vault, which could not be loaded.
fn refuse_within(file: &std::path::Path, vault: Option<&std::path::Path>) -> Result<(), Failure> {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    match vault {
        Some(vault) if file.starts_with(vault) => Err(Failure::call(
            "the config file would be inside the vault, where note tools could change it",
        )
        .with_hint("choose another path with `--config FILE`")),
        _ => Ok(()),
    }
}
