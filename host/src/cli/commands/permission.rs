//! `notehost permission`: lists, sets and explains permissions. They are set in the config file, which a
//! running server reloads at once.

use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use crate::cli::options::{self, Common};
use crate::cli::records;
use crate::cli::ui::failure::Failure;
use crate::cli::ui::output::print_json;
use crate::cli::ui::terminal::Terminal;
use notehost_config::{
    CallerPermissions, Edit, Loaded, Origin, Overrides, Settings, TierScope, VaultEntry,
    config_file, dotted, expand_home, nearest,
};
use notehost_pipeline::{ExplainQuery, explain};
use notehost_policy::auth::Caller;
use notehost_vault::{Kind, Tier};

/// List, set and explain permissions.
#[derive(Debug, Args)]
pub(crate) struct Permission {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the permissions of notebooks and callers, with their lines in the config
    List(List),
    /// Set the tier of a notebook: none, r, rw or rwd
    Set(Set),
    /// Explain whether a caller may run an action on a path, and which line decides
    Explain(Explain),
    /// Switch all vaults, or one, to read-only or back
    ReadOnly(ReadOnly),
}

#[derive(Debug, Args)]
struct List {
    /// Only the permissions of this caller
    #[arg(long, value_name = "NAME")]
    caller: Option<String>,
    /// Only the permissions in this vault, by its id
    #[arg(long, value_name = "ID")]
    vault: Option<String>,
    /// Print JSON even on a terminal
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
    /// none (invisible), r (read), rw (also create, edit, rename) or rwd (also delete)
    #[arg(required_unless_present = "default")]
    tier: Option<Tier>,
    /// Only for this caller
    #[arg(long, value_name = "NAME")]
    caller: Option<String>,
    /// Only in this vault, by its id
    #[arg(long, value_name = "ID")]
    vault: Option<String>,
    /// The tier of notebooks not listed in the config
    #[arg(long, value_name = "TIER", conflicts_with = "notebook")]
    default: Option<Tier>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
struct Explain {
    /// The caller: a name of the config, `stdio` or `http`
    #[arg(long, value_name = "NAME")]
    caller: String,
    /// The path in the vault
    #[arg(long)]
    path: String,
    /// The action, such as `document.append`
    #[arg(long, value_name = "DOMAIN.ACTION")]
    action: String,
    /// The vault, by its id, if not the default one
    #[arg(long, value_name = "ID")]
    vault: Option<String>,
    /// Print JSON even on a terminal
    #[arg(long)]
    json_output: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
struct ReadOnly {
    /// Whether all changes are rejected
    switch: Switch,
    /// Only this vault
    #[arg(long, value_name = "ID")]
    vault: Option<String>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    /// Reject all changes
    On,
    /// Allow the changes that permissions allow
    Off,
}

impl Permission {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        match self.command {
            Command::List(command) => command.run(),
            Command::Set(command) => command.run(),
            Command::Explain(command) => command.run(),
            Command::ReadOnly(command) => command.run(),
        }
    }
}

/// One permission.
struct Row {
    caller: Option<String>,
    /// The vault that it is for; all if `None`.
    vault: Option<String>,
    /// A notebook, a glob, or `None` for the default.
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
        if let Some(id) = self
            .vault
            .as_deref()
            .filter(|id| settings.vault(id).is_none())
        {
            return Err(unknown_vault(settings, id));
        }
        let scope = |caller, vault| TierScope { caller, vault };
        let mut tables = vec![(scope(None, None), "permissions".to_owned(), &everybody)];
        let vaults = settings.vaults.iter().enumerate();
        let in_scope =
            |vault: &VaultEntry| self.vault.as_ref().is_none_or(|only| *only == vault.id);
        let vaults: Vec<(usize, &VaultEntry)> =
            vaults.filter(|(_, vault)| in_scope(vault)).collect();
        for (index, vault) in &vaults {
            let key = format!("vaults[{index}].permissions");
            tables.push((scope(None, Some(&vault.id)), key, &vault.permissions));
        }
        for (name, caller) in &settings.callers {
            let key = format!("{}.permissions", dotted("callers", name));
            tables.push((scope(Some(name), None), key, &caller.permissions));
        }
        for (index, vault) in &vaults {
            for (name, caller) in &vault.callers {
                let key = dotted(&format!("vaults[{index}].callers"), name);
                let key = format!("{key}.permissions");
                tables.push((scope(Some(name), Some(&vault.id)), key, &caller.permissions));
            }
        }
        let mut rows: Vec<Row> = Vec::new();
        for (scope, key, stated) in tables {
            let only = self.caller.as_deref();
            if only.is_some() && scope.caller.is_some() && scope.caller != only {
                continue;
            }
            let own = self::rows(&loaded, scope, &key, stated);
            // Only what is in effect is listed, where the lines of one caller or one vault were asked for.
            let is_asked_for = (scope.caller.is_none() || only.is_some())
                && (scope.vault.is_none() || self.vault.is_some());
            if is_asked_for {
                rows.retain(|row| {
                    let is_elsewhere =
                        row.vault.is_some() && scope.vault.is_none() && self.vault.is_none();
                    row.glob.is_some() || is_elsewhere || !own.iter().any(|own| own.replaces(row))
                });
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
        let header = ["notebook", "tier", "for", "source"];
        terminal.print(&terminal.table(&header, rows.iter().map(Row::to_cells)));
        if settings.read_only {
            let warning = format!(
                "all vaults are read-only ({})\n",
                loaded.origin("read_only")
            );
            terminal.print(&terminal.warning(&warning));
        }
        for vault in settings.vaults.iter().filter(|vault| vault.read_only) {
            terminal.print(&terminal.warning(&format!("the vault {} is read-only\n", vault.id)));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn rows(loaded: &Loaded, scope: TierScope<'_>, prefix: &str, said: &CallerPermissions) -> Vec<Row> {
    let row =
        |notebook: Option<&String>, glob: Option<&String>, tier, key: String, at: String| Row {
            caller: scope.caller.map(str::to_owned),
            vault: scope.vault.map(str::to_owned),
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
    /// Whether this line of a caller replaces one for everybody.
    fn replaces(&self, other: &Row) -> bool {
        let fold = |row: &Row| row.notebook.as_deref().map(notehost_vault::fold_path);
        self.glob.is_none() && fold(self) == fold(other)
    }

    fn to_json(&self) -> Value {
        json!({
            "caller": self.caller,
            "vault": self.vault,
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
        let mut caller = self.caller.clone().unwrap_or("everybody".into());
        if let Some(vault) = &self.vault {
            caller.push_str(&format!(" in {vault}"));
        }
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
                    "specify a notebook and its tier, or `--default TIER`",
                ));
            }
        };
        let vault = self.vault.as_deref();
        edit.set_tier(TierScope { caller, vault }, notebook, tier)
            .map_err(refused)?;
        let place = notebook.map_or("all other notebooks".to_owned(), |name| format!("`{name}`"));
        let whom = caller
            .map(|name| format!(" for `{name}`"))
            .unwrap_or_default();
        let here = vault.map(|id| format!(" in the vault `{id}`"));
        let here = here.unwrap_or_default();
        save(edit, &given, &format!("{place}: `{tier}`{whom}{here}"))
    }
}

impl ReadOnly {
    fn run(self) -> Result<ExitCode, Failure> {
        let given = self.common.given();
        let mut edit = open(&given)?;
        let vault = self.vault.as_deref();
        edit.set_read_only(vault, self.switch == Switch::On)
            .map_err(refused)?;
        let what = vault.map_or("read-only".to_owned(), |id| format!("`{id}` read-only"));
        let change = match self.switch {
            Switch::On => format!("{what}: on"),
            Switch::Off => format!("{what}: off"),
        };
        save(edit, &given, &change)
    }
}

impl Explain {
    fn run(self) -> Result<ExitCode, Failure> {
        let Some((domain, action)) = self.action.split_once('.') else {
            return Err(
                Failure::usage(format!("`{}` is not an action", self.action))
                    .with_hint("write it with its domain: `--action document.append`"),
            );
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
        let query = ExplainQuery {
            domain,
            action,
            vault: self.vault.as_deref(),
            path: &self.path,
            kind: self.kind(&loaded),
        };
        let explained = explain(settings, &domains, &caller, query)
            .map_err(|error| Failure::start(error.to_string()))?;
        let origin = explained.key.as_ref().map(|key| match loaded.origin(key) {
            Origin::Default => loaded.origin(&format!("{key}.glob")),
            found => found,
        });
        let terminal = Terminal::stdout();
        if self.json_output || !terminal.is_terminal() {
            let mut answer = explained.to_json();
            answer["origin"] = origin.map(|origin| origin.to_string()).into();
            print_json(&terminal, answer);
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

    /// A path of one part is a notebook if that folder exists.
    fn kind(&self, loaded: &Loaded) -> Option<Kind> {
        let settings = &loaded.settings;
        let id = self.vault.as_deref().or(settings.default_vault());
        let chosen = id.and_then(|id| settings.vault(id));
        let found = std::fs::metadata(chosen?.path.join(&self.path)).ok()?;
        Some(match found.is_dir() {
            true => Kind::Folder,
            false => Kind::File,
        })
    }
}

fn unknown_vault(settings: &Settings, id: &str) -> Failure {
    let known = settings.vaults.iter().map(|vault| vault.id.as_str());
    let near = nearest(id, known.clone());
    let near = near.map(|near| format!(": did you mean `{near}`?"));
    let known: Vec<&str> = known.collect();
    Failure::usage(format!("unknown vault `{id}`{}", near.unwrap_or_default()))
        .with_hint(format!("configured vaults: {}", known.join(", ")))
}

/// Opens the config file for editing. A file named by a flag is created; without any, the one in the state folder is.
pub(crate) fn open(given: &Overrides) -> Result<Edit, Failure> {
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

/// Saves the file and reports it.
pub(crate) fn save(edit: Edit, given: &Overrides, change: &str) -> Result<ExitCode, Failure> {
    let file = edit.file().display().to_string();
    let is_new = edit.is_new();
    edit.save(given).map_err(refused)?;
    let terminal = Terminal::stdout();
    let next = match is_new && given.config.is_some() {
        true => format!(
            "{file} is new and has no vault: add the folder of your notes to it, or use `notehost serve FOLDER --config …`"
        ),
        false => format!("written to {file}; a running server reloads it"),
    };
    terminal.print(&format!(
        "{} {change}\n{}\n",
        terminal.good("set:"),
        terminal.faint(&next)
    ));
    Ok(ExitCode::SUCCESS)
}

/// Reports a setting that is not written to a file.
pub(crate) fn report(change: &str) {
    let terminal = Terminal::stdout();
    terminal.print(&format!("{} {change}\n", terminal.good("set:")));
}

pub(crate) fn refused(error: notehost_config::ConfigError) -> Failure {
    Failure::call(error.to_string()).with_any_hint(error.hint().map(str::to_owned))
}
