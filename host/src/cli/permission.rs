//! `notehost permission`: list, set and explain who may do what. What is set is a line of the config file, and a
//! server that runs takes it over at once.

use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::call::print_json;
use super::failure::Failure;
use super::options::{self, Common};
use super::records;
use super::terminal::Terminal;
use notehost_config::{
    CallerPermissions, Edit, Given, Loaded, Origin, config_file, dotted, expand_home,
};
use notehost_pipeline::{ExplainQuery, explain};
use notehost_policy::auth::Caller;
use notehost_vault::{Kind, Tier};

/// List, set and explain who may do what.
#[derive(Debug, Args)]
pub(super) struct Permission {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List what is said about notebooks and callers, and by which line
    List(List),
    /// Set the tier of a notebook: none, r, rw or rwd
    Set(Set),
    /// Explain whether a caller may do something somewhere, and which line decides
    Explain(Explain),
    /// Switch everything, or one vault, to read-only or back
    ReadOnly(ReadOnly),
}

#[derive(Debug, Args)]
struct List {
    /// Only what holds for this caller
    #[arg(long, value_name = "NAME")]
    caller: Option<String>,
    /// Print JSON also on a terminal
    #[arg(long)]
    json_output: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
struct Set {
    /// The notebook: a top-level folder; `.` is the notes in the vault's root
    #[arg(required_unless_present = "default")]
    notebook: Option<String>,
    /// none (invisible), r (read), rw (also create, change, rename) or rwd (also remove)
    #[arg(required_unless_present = "default")]
    tier: Option<Tier>,
    /// Only for this caller
    #[arg(long, value_name = "NAME")]
    caller: Option<String>,
    /// The tier of notebooks that nothing names
    #[arg(long, value_name = "TIER", conflicts_with = "notebook")]
    default: Option<Tier>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
struct Explain {
    /// Who: a name of the config, `stdio` or `http`
    #[arg(long, value_name = "NAME")]
    caller: String,
    /// Where: a path in the vault
    #[arg(long)]
    path: String,
    /// What: an action, such as `document.append`
    #[arg(long, value_name = "DOMAIN.ACTION")]
    action: String,
    /// In which vault, where there are several
    #[arg(long, value_name = "ID")]
    vault: Option<String>,
    /// Print JSON also on a terminal
    #[arg(long)]
    json_output: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
struct ReadOnly {
    /// Whether nothing can be changed
    switch: Switch,
    /// Only this vault
    #[arg(long, value_name = "ID")]
    vault: Option<String>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    /// Nothing can be changed
    On,
    /// What permissions allow can be changed
    Off,
}

impl Permission {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        match self.command {
            Command::List(command) => command.run(),
            Command::Set(command) => command.run(),
            Command::Explain(command) => command.run(),
            Command::ReadOnly(command) => command.run(),
        }
    }
}

/// One line about who may do what.
struct Row {
    caller: Option<String>,
    /// A notebook, a glob, or nothing for those that nothing names.
    notebook: Option<String>,
    glob: Option<String>,
    tier: Tier,
    key: String,
    origin: Origin,
}

impl List {
    fn run(self) -> Result<ExitCode, Failure> {
        let loaded = options::load(self.common.given())?;
        let settings = &loaded.settings;
        let everybody = CallerPermissions {
            default: Some(settings.permissions.default),
            notebooks: settings.permissions.notebooks.clone(),
            rules: settings.permissions.rules.clone(),
        };
        let mut rows = rows(&loaded, None, "permissions", &everybody);
        let named = |name: &&String| self.caller.as_ref().is_none_or(|only| only == *name);
        for (name, caller) in settings.callers.iter().filter(|(name, _)| named(name)) {
            let key = format!("{}.permissions", dotted("callers", name));
            let own = self::rows(&loaded, Some(name), &key, &caller.permissions);
            if self.caller.is_some() {
                // For one caller its own lines stand in the place of everybody's.
                rows.retain(|row| row.glob.is_some() || !own.iter().any(|own| own.replaces(row)));
            }
            rows.extend(own);
        }
        let terminal = Terminal::stdout();
        if self.json_output || !terminal.is_terminal() {
            let items: Vec<Value> = rows.iter().map(Row::to_json).collect();
            let switches = json!({
                "items": items,
                "read_only": settings.read_only,
                "read_only_vaults": settings.vaults.iter().filter(|vault| vault.read_only)
                    .map(|vault| &vault.id).collect::<Vec<_>>(),
            });
            print_json(&terminal, switches);
            return Ok(ExitCode::SUCCESS);
        }
        let header = ["notebook", "tier", "for", "who says so"];
        terminal.print(&terminal.table(&header, rows.iter().map(Row::to_cells)));
        if settings.read_only {
            let told = format!("everything is read-only ({})\n", loaded.origin("read_only"));
            terminal.print(&terminal.warning(&told));
        }
        for vault in settings.vaults.iter().filter(|vault| vault.read_only) {
            terminal.print(&terminal.warning(&format!("the vault {} is read-only\n", vault.id)));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn rows(
    loaded: &Loaded,
    caller: Option<&String>,
    prefix: &str,
    said: &CallerPermissions,
) -> Vec<Row> {
    let row =
        |notebook: Option<&String>, glob: Option<&String>, tier, key: String, at: String| Row {
            caller: caller.cloned(),
            notebook: notebook.cloned(),
            glob: glob.cloned(),
            tier,
            origin: loaded.origin(&at),
            key,
        };
    let mut rows = Vec::new();
    if let Some(tier) = said.default {
        let key = format!("{prefix}.default");
        rows.push(row(None, None, tier, key.clone(), key));
    }
    for (notebook, tier) in &said.notebooks {
        let key = dotted(&format!("{prefix}.notebooks"), notebook);
        rows.push(row(Some(notebook), None, *tier, key.clone(), key));
    }
    for (index, rule) in said.rules.iter().enumerate() {
        let key = format!("{prefix}.rules[{index}]");
        let at = format!("{key}.glob");
        rows.push(row(None, Some(&rule.glob), rule.tier, key, at));
    }
    rows
}

impl Row {
    /// Whether this line of a caller stands in the place of one for everybody.
    fn replaces(&self, other: &Row) -> bool {
        let fold = |row: &Row| row.notebook.as_deref().map(notehost_vault::fold_path);
        self.glob.is_none() && fold(self) == fold(other)
    }

    fn to_json(&self) -> Value {
        json!({
            "caller": self.caller,
            "notebook": self.notebook,
            "glob": self.glob,
            "tier": self.tier,
            "key": self.key,
            "origin": self.origin.to_string(),
        })
    }

    fn to_cells(&self) -> Vec<String> {
        let place = match (&self.notebook, &self.glob) {
            (Some(notebook), _) => notebook.clone(),
            (None, Some(glob)) => format!("{glob} (at most)"),
            (None, None) => "all others".to_owned(),
        };
        let caller = self.caller.clone().unwrap_or("everybody".into());
        let said = format!("{} ({})", self.key, self.origin);
        vec![place, self.tier.to_string(), caller, said]
    }
}

impl Set {
    fn run(self) -> Result<ExitCode, Failure> {
        let given = self.common.given();
        let mut edit = open(&given)?;
        let caller = self.caller.as_deref();
        let (notebook, tier) = match (self.default, self.notebook.as_deref(), self.tier) {
            (Some(tier), _, _) => (None, tier),
            (None, Some(notebook), Some(tier)) => (Some(notebook), tier),
            _ => {
                return Err(Failure::usage(
                    "a notebook and its tier are missing, or `--default TIER`",
                ));
            }
        };
        edit.set_tier(caller, notebook, tier).map_err(refused)?;
        let place = notebook.map_or("all other notebooks".to_owned(), |name| format!("`{name}`"));
        let whom = caller
            .map(|name| format!(" for `{name}`"))
            .unwrap_or_default();
        save(edit, &given, &format!("{place}: `{tier}`{whom}"))
    }
}

impl ReadOnly {
    fn run(self) -> Result<ExitCode, Failure> {
        let given = self.common.given();
        let mut edit = open(&given)?;
        let vault = self.vault.as_deref();
        edit.set_read_only(vault, self.switch == Switch::On)
            .map_err(refused)?;
        let what = vault.map_or("everything".to_owned(), |id| format!("the vault `{id}`"));
        let told = match self.switch {
            Switch::On => format!("{what} is read-only"),
            Switch::Off => format!("{what} is no longer read-only"),
        };
        save(edit, &given, &told)
    }
}

impl Explain {
    fn run(self) -> Result<ExitCode, Failure> {
        let Some((domain, action)) = self.action.split_once('.') else {
            return Err(Failure::usage(format!("`{}` is no action", self.action))
                .with_hint("name it with its domain: `--action document.append`"));
        };
        let loaded = options::load(self.common.clone().given())?;
        let settings = &loaded.settings;
        let domains = options::block_on(options::load_components(&loaded))??;
        let caller = match self.caller.as_str() {
            "stdio" => Caller::stdio(),
            "http" => Caller::loopback(),
            name => records::token_caller(&loaded, name)?
                .unwrap_or_else(|| Caller::command_line(Some(name))),
        };
        let asked = ExplainQuery {
            domain,
            action,
            vault: self.vault.as_deref(),
            path: &self.path,
            kind: self.kind(&loaded),
        };
        let explained = explain(settings, &domains, &caller, asked)
            .map_err(|error| Failure::start(error.to_string()))?;
        let origin = explained.key.as_ref().map(|key| match loaded.origin(key) {
            Origin::Default => loaded.origin(&format!("{key}.glob")),
            found => found,
        });
        let terminal = Terminal::stdout();
        if self.json_output || !terminal.is_terminal() {
            let mut told = explained.to_json();
            told["origin"] = origin.map(|origin| origin.to_string()).into();
            print_json(&terminal, told);
        } else {
            let word = match explained.allowed {
                true => terminal.good("yes:"),
                false => terminal.bad("no:"),
            };
            let origin = origin
                .map(|origin| format!(" ({origin})"))
                .unwrap_or_default();
            let sentence = terminal.safe(&explained.sentence);
            terminal.print(&format!("{word} {sentence}{}\n", terminal.faint(&origin)));
        }
        Ok(ExitCode::from(u8::from(!explained.allowed)))
    }

    /// A path of one part is a notebook if there is such a folder.
    fn kind(&self, loaded: &Loaded) -> Option<Kind> {
        let vaults = &loaded.settings.vaults;
        let chosen = match &self.vault {
            Some(id) => vaults.iter().find(|vault| vault.id == *id),
            None => vaults.first(),
        };
        let found = std::fs::metadata(chosen?.path.join(&self.path)).ok()?;
        Some(match found.is_dir() {
            true => Kind::Folder,
            false => Kind::File,
        })
    }
}

/// The config file, to be changed. One that was named is made; where none is in use, the one in the state folder is.
pub(super) fn open(given: &Given) -> Result<Edit, Failure> {
    let variable = std::env::var_os("NOTEHOST_CONFIG").filter(|name| !name.is_empty());
    let named = given.config.clone().or(variable.map(Into::into));
    let named = named.map(|path| expand_home(&path));
    match named.clone().or_else(config_file) {
        Some(file) if named.is_some() || file.exists() => {
            Edit::open(&file, named.is_some()).map_err(refused)
        }
        _ => options::load(given.clone())?.edit().map_err(refused),
    }
}

/// Write it, and say so.
pub(super) fn save(edit: Edit, given: &Given, told: &str) -> Result<ExitCode, Failure> {
    let file = edit.file().display().to_string();
    let is_new = edit.is_new();
    edit.save(given).map_err(refused)?;
    let terminal = Terminal::stdout();
    let next = match is_new && given.config.is_some() {
        true => format!(
            "{file} is new and names no vault: say where your notes are, or `notehost serve FOLDER --config …`"
        ),
        false => format!("written to {file}; a server that runs takes it over"),
    };
    terminal.print(&format!(
        "{} {told}\n{}\n",
        terminal.good("set:"),
        terminal.faint(&next)
    ));
    Ok(ExitCode::SUCCESS)
}

/// What was set, where there is no file to write it to.
pub(super) fn tell(told: &str) {
    let terminal = Terminal::stdout();
    terminal.print(&format!("{} {told}\n", terminal.good("set:")));
}

pub(super) fn refused(error: notehost_config::ConfigError) -> Failure {
    Failure::call(error.to_string()).with_any_hint(error.hint().map(str::to_owned))
}
