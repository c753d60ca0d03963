//! `notehost history`: shows changes of all notes and undoes them. Reading needs no lock and works with a
//! running server; undo commits like any other change: here, or in the process that holds the vault (`beside`).

mod beside;
mod output;
mod undo;
mod undo_run;

use notehost_sdk::Code;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use self::output::{cells, remark, shown_files, to_json, with_diff};
use crate::cli::logging;
use crate::cli::options::{self, Common, OutputFlags};
use crate::cli::ui::failure::Failure;
use crate::cli::ui::output::print_json;
use crate::cli::ui::terminal::Terminal;
use notehost_config::{Loaded, Overrides, VaultEntry};
use notehost_policy::{BadGlob, Permissions};
use notehost_records::when::{self, Moment, moment};
use notehost_vault::{
    Access, Change, DataChanges, Effect, Kind, Limits, StagedChange, Tier, Transaction, Vault,
    VaultError, is_by,
};

/// The caller and the domain of these calls in the audit log.
const CALLER: &str = "cli";
const DOMAIN: &str = "history";
/// How many changes are read at once.
const PAGE_SIZE: u32 = 200;

/// Show and undo changes.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct History {
    #[command(subcommand)]
    what: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List changes, the latest first
    List(List),
    /// Show a change as a diff per file
    Show(Show),
    /// Undo a change, or all changes of a caller in a time span: restore the content and path of every file
    Undo(undo::Undo),
}

#[derive(Debug, Args)]
struct List {
    /// Only changes of this note, also under earlier names, or of notes in this folder
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Only changes by this caller
    #[arg(long, value_name = "NAME")]
    caller: Option<String>,
    /// Only changes since this time: `2h`, `7d`, `2026-11-01`
    #[arg(long, value_name = "WHEN", value_parser = moment)]
    since: Option<Moment>,
    /// Maximum number of changes
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    how: CommonFlags,
}

#[derive(Debug, Args)]
struct Show {
    /// The id of the change, as returned by `list` and every write
    change: String,
    #[command(flatten)]
    how: CommonFlags,
}

#[derive(Debug, Args)]
struct CommonFlags {
    /// The folder of notes, or the id of a configured vault [all configured vaults]
    #[arg(long, value_name = "PATH")]
    vault: Option<PathBuf>,
    /// The tier of notebooks not listed in the config: none, r, rw or rwd
    #[arg(long, value_name = "TIER")]
    allow: Option<Tier>,
    #[command(flatten)]
    output: OutputFlags,
    #[command(flatten)]
    common: Common,
}

/// The context of the commands: settings, records, terminal.
struct Context {
    loaded: Loaded,
    terminal: Terminal,
    as_json: bool,
}

impl CommonFlags {
    fn open(self) -> Result<Context, Failure> {
        let loaded = options::load(Overrides {
            vault: self.vault,
            allow: self.allow,
            ..self.common.given()
        })?;
        logging::start(&loaded.running, "warn")?;
        if loaded.settings.vaults.is_empty() {
            return Err(Failure::usage("no vault is specified").with_hint(
                "specify a folder of notes with `--vault PATH`, or create a config: `notehost config init`",
            ));
        }
        loaded.check()?;
        let terminal = Terminal::stdout();
        Ok(Context {
            as_json: self.output.is_json(&terminal),
            terminal,
            loaded,
        })
    }
}

impl Context {
    /// What this command may do in one of the vaults.
    fn access(&self, vault: &str, effect: Effect) -> Result<Access, BadGlob> {
        let rules = Permissions::of_caller(&self.loaded.settings, vault, CALLER, None)?;
        Ok(Access {
            rules: Arc::new(rules),
            effect,
            component: DOMAIN.into(),
            limits: Limits::default(),
        })
    }

    /// A transaction of the person at the terminal, who sees all changes.
    fn begin(&self, vault: Vault, effect: Effect) -> Result<Transaction, BadGlob> {
        let access = self.access(vault.id(), effect)?;
        let mut transaction = Arc::new(vault).begin(access);
        transaction.show_data_changes(DataChanges::All);
        Ok(transaction)
    }

    /// A read-only transaction on each vault, also if a server has it open.
    fn open_all(&self) -> Result<Vec<(&VaultEntry, Transaction)>, Failure> {
        let mut opened = Vec::new();
        for entry in &self.loaded.settings.vaults {
            let state = &self.loaded.running.state;
            let vault = Vault::open_read_only(&entry.id, &entry.path, state).map_err(not_opened)?;
            let opened_one = self
                .begin(vault, Effect::Read)
                .map_err(|error| Failure::start(error.to_string()))?;
            opened.push((entry, opened_one));
        }
        Ok(opened)
    }

    /// The change with this id, in any vault.
    fn find(&self, id: &str) -> Result<(&VaultEntry, Change, Vec<StagedChange>), Failure> {
        for (entry, mut transaction) in self.open_all()? {
            match transaction.past_change(id) {
                Ok((change, files)) => return Ok((entry, change, files)),
                Err(error) if error.code() == Code::NotFound => {}
                Err(error) => return Err(failure(error)),
            }
        }
        Err(Failure::call(format!("unknown change `{id}`"))
            .with_hint("`notehost history list` shows the retained changes"))
    }
}

impl History {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        match self.what {
            Command::List(command) => command.run(),
            Command::Show(command) => command.run(),
            Command::Undo(command) => command.run(),
        }
    }
}

impl List {
    fn run(self) -> Result<ExitCode, Failure> {
        let List {
            path,
            caller,
            since,
            limit,
            how,
        } = self;
        let desk = how.open()?;
        let mut found: Vec<(&VaultEntry, Change)> = Vec::new();
        let mut absent = None;
        for (entry, mut transaction) in desk.open_all()? {
            let is_wanted = |change: &Change| {
                caller
                    .as_ref()
                    .is_none_or(|caller| is_by(&change.caller, caller))
            };
            let since = since.map_or(0, |moment| u64::try_from(moment.0).unwrap_or(0));
            match changes(&mut transaction, path.as_deref(), since, limit, is_wanted) {
                Ok(changes) => found.extend(changes.into_iter().map(|change| (entry, change))),
                // Another vault may contain it.
                Err(error) if error.code() == Code::NotFound => absent = Some(error),
                Err(error) => return Err(failure(error)),
            }
        }
        if let (true, Some(absent)) = (found.is_empty(), absent) {
            return Err(failure(absent));
        }
        found.sort_by_key(|(_, change)| std::cmp::Reverse(change.time));
        found.truncate(limit);
        if desk.as_json {
            let items: Vec<Value> = found
                .iter()
                .map(|(entry, change)| to_json(entry, change))
                .collect();
            print_json(&desk.terminal, json!({ "items": items }));
        } else if found.is_empty() {
            let nothing = desk.terminal.faint("no changes");
            desk.terminal.print(&format!("{nothing}\n"));
        } else {
            let rows = found.iter().map(|(entry, change)| cells(entry, change));
            let header = ["change", "time", "caller", "action", "vault", "files", ""];
            desk.terminal.print(&desk.terminal.table(&header, rows));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The selected changes of a vault, the latest first.
fn changes(
    transaction: &mut Transaction,
    path: Option<&str>,
    since: u64,
    limit: usize,
    is_wanted: impl Fn(&Change) -> bool,
) -> Result<Vec<Change>, VaultError> {
    let mut note = None;
    let mut folder = None;
    if let Some(path) = path {
        let plain = path.trim_end_matches('/');
        match transaction.stat(plain) {
            Ok(entry) if entry.kind == Kind::Folder => folder = Some(format!("{}/", entry.path)),
            _ if plain.len() < path.len() => folder = Some(path.to_owned()),
            Ok(entry) => note = Some(entry.path),
            Err(absent) => {
                // It may have been deleted, and `.md` may be omitted.
                let named = match plain.ends_with(".md") {
                    true => plain.to_owned(),
                    false => format!("{plain}.md"),
                };
                if transaction.history(Some(&named), None, 1)?.is_empty() {
                    return Err(absent);
                }
                note = Some(named);
            }
        }
    }
    let is_inside = |change: &Change| {
        let lies = |path: &str| {
            folder
                .as_ref()
                .is_none_or(|folder| path.starts_with(folder))
        };
        change
            .files
            .iter()
            .any(|file| lies(&file.path) || file.from.as_deref().is_some_and(lies))
    };
    let mut found = Vec::new();
    let mut after: Option<String> = None;
    while found.len() < limit {
        let page = transaction.history(note.as_deref(), after.as_deref(), PAGE_SIZE)?;
        let Some(last) = page.last() else { break };
        after = Some(last.id.clone());
        let is_over = last.time < since;
        found.extend(
            page.into_iter()
                .filter(|change| change.time >= since && is_inside(change) && is_wanted(change)),
        );
        if is_over {
            break;
        }
    }
    Ok(found)
}

impl Show {
    fn run(self) -> Result<ExitCode, Failure> {
        let desk = self.how.open()?;
        let (entry, change, files) = desk.find(&self.change)?;
        if desk.as_json {
            let mut value = to_json(entry, &change);
            value["files"] = files.iter().map(with_diff).collect();
            print_json(&desk.terminal, value);
            return Ok(ExitCode::SUCCESS);
        }
        let mut text = format!(
            "{}\n",
            desk.terminal.strong(&desk.terminal.safe(&format!(
                "{}  {} by {}, {}{}",
                change.id,
                change.action,
                change.caller,
                when::shown(i64::try_from(change.time).unwrap_or_default()),
                remark(&change)
            )))
        );
        text.push_str(&shown_files(&desk.terminal, &files));
        desk.terminal.print(&text);
        Ok(ExitCode::SUCCESS)
    }
}

/// An error of a vault operation.
fn failure(error: VaultError) -> Failure {
    Failure::call(error.to_string()).with_any_hint(error.hint())
}

/// An error of opening a vault.
fn not_opened(error: VaultError) -> Failure {
    Failure::start(error.to_string()).with_any_hint(error.hint())
}
