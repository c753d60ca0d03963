//! `notehost history`: what was changed, across notes, and taking it back. Looking needs no lock and works beside a
//! running server; undoing commits as everybody does, and so needs the vault for itself.

use notehost_sdk::Code;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::call::print_json;
use super::failure::Failure;
use super::history_told::{cells, for_programs, remark, shown_files, with_diff};
use super::logging;
use super::options::{self, Common};
use super::terminal::Terminal;
use notehost_config::{Given, Loaded, VaultEntry};
use notehost_pipeline::CallError;
use notehost_policy::Permissions;
use notehost_records::audit::{Audit, Entry};
use notehost_records::database::now_ms;
use notehost_records::when::{self, Moment, moment};
use notehost_vault::{
    Access, Change, CommitError, CommitNote, Effect, Kind, Limits, Rules, StagedChange, Tier,
    Transaction, Vault, VaultError, VaultSettings,
};

/// In whose name this is done, and what it is called where calls are written down.
const CALLER: &str = "cli";
const DOMAIN: &str = "history";
/// How many changes are looked at together.
const PAGE: u32 = 200;

/// See and undo what was changed.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct History {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List changes, the latest first
    List(List),
    /// Show what a change did to each file
    Show(Show),
    /// Take a change back: every file gets the bytes and the place it had
    Undo(Undo),
}

#[derive(Debug, Args)]
struct List {
    /// Only changes of this note, also under earlier names, or of notes in this folder
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Only changes by this caller
    #[arg(long, value_name = "NAME")]
    caller: Option<String>,
    /// Only changes since then: `2h`, `7d`, `2026-11-01`
    #[arg(long, value_name = "WHEN", value_parser = moment)]
    since: Option<Moment>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Args)]
struct Show {
    /// The change's id, as `list` and every write tell it
    change: String,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Args)]
struct Undo {
    /// The change's id, as `list` and every write tell it
    change: String,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Args)]
struct How {
    /// The folder of notes, or the id of a configured vault [all that are configured]
    #[arg(long, value_name = "PATH")]
    vault: Option<PathBuf>,
    /// What may be done in notebooks that nothing names: none, r, rw or rwd
    #[arg(long, value_name = "TIER")]
    allow: Option<Tier>,
    /// Print JSON also on a terminal
    #[arg(long)]
    json_output: bool,
    #[command(flatten)]
    common: Common,
}

/// What is needed to look into the vaults.
struct Desk {
    loaded: Loaded,
    rules: Arc<dyn Rules>,
    terminal: Terminal,
    as_json: bool,
}

impl How {
    fn open(self) -> Result<Desk, Failure> {
        let loaded = options::load(Given {
            vault: self.vault,
            allow: self.allow,
            ..self.common.given()
        })?;
        logging::start(&loaded.running, "warn")?;
        if loaded.settings.vaults.is_empty() {
            return Err(Failure::usage("no vault is named").with_hint(
                "name a folder of notes with `--vault PATH`, or write a config: `notehost config init`",
            ));
        }
        loaded.check()?;
        let rules = Permissions::of_caller(&loaded.settings, CALLER, None)
            .map_err(|error| Failure::start(error.to_string()))?;
        let terminal = Terminal::stdout();
        Ok(Desk {
            rules: Arc::new(rules),
            as_json: self.json_output || !terminal.is_terminal(),
            terminal,
            loaded,
        })
    }
}

impl Desk {
    fn access(&self, effect: Effect) -> Access {
        Access {
            rules: self.rules.clone(),
            effect,
            component: DOMAIN.into(),
            limits: Limits::default(),
        }
    }

    /// A look into each vault, whoever serves it.
    fn looks(&self) -> Result<Vec<(&VaultEntry, Transaction)>, Failure> {
        let mut looks = Vec::new();
        for entry in &self.loaded.settings.vaults {
            let state = &self.loaded.running.state;
            let vault = Vault::open_to_look(&entry.id, &entry.path, state).map_err(not_opened)?;
            looks.push((entry, Arc::new(vault).begin(self.access(Effect::Read))));
        }
        Ok(looks)
    }

    /// The change of this id, in whichever vault it was made.
    fn find(&self, id: &str) -> Result<(&VaultEntry, Change, Vec<StagedChange>), Failure> {
        for (entry, mut transaction) in self.looks()? {
            match transaction.past_change(id) {
                Ok((change, files)) => return Ok((entry, change, files)),
                Err(error) if error.code() == Code::NotFound => {}
                Err(error) => return Err(failure(error)),
            }
        }
        Err(Failure::call(format!("no change `{id}`"))
            .with_hint("`notehost history list` shows the changes that are still kept"))
    }
}

impl History {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        match self.what {
            What::List(command) => command.run(),
            What::Show(command) => command.run(),
            What::Undo(command) => command.run(),
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
        for (entry, mut transaction) in desk.looks()? {
            let is_wanted = |change: &Change| {
                caller
                    .as_ref()
                    .is_none_or(|caller| *caller == change.caller)
            };
            let since = since.map_or(0, |moment| u64::try_from(moment.0).unwrap_or(0));
            match changes(&mut transaction, path.as_deref(), since, limit, is_wanted) {
                Ok(changes) => found.extend(changes.into_iter().map(|change| (entry, change))),
                // Another vault may have it.
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
                .map(|(entry, change)| for_programs(entry, change))
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

/// The changes of a vault that are wanted, the latest first.
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
                // It may be gone, and `.md` may be left out.
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
        let page = transaction.history(note.as_deref(), after.as_deref(), PAGE)?;
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
            let mut value = for_programs(entry, &change);
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

impl Undo {
    fn run(self) -> Result<ExitCode, Failure> {
        let Undo {
            change,
            dry_run,
            how,
        } = self;
        let desk = how.open()?;
        let began = Instant::now();
        let (entry, _, _) = desk.find(&change)?;
        let mut record = Entry {
            time: now_ms(),
            caller: CALLER.into(),
            transport: "cli",
            domain: DOMAIN.into(),
            action: "undo".into(),
            is_known: true,
            vault: Some(entry.id.clone()),
            outcome: "ok",
            version: Some(env!("CARGO_PKG_VERSION").into()),
            arguments: blake3::hash(change.as_bytes()).to_hex()[..16].to_owned(),
            ..Entry::default()
        };
        let done = desk.undo(entry, &change, dry_run);
        match &done {
            Ok(Undone { files, change }) => {
                if let Some(id) = change {
                    record.change = Some(id.clone());
                    record.paths = files.iter().map(|file| file.path.clone()).collect();
                    for file in files {
                        let length = |bytes: &Option<Arc<[u8]>>| {
                            bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)
                        };
                        let (before, after) = (length(&file.before), length(&file.after));
                        record.bytes_added += after.saturating_sub(before);
                        record.bytes_removed += before.saturating_sub(after);
                    }
                }
            }
            Err(error) => record.outcome = error.code.as_str(),
        }
        record.microseconds = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let database = notehost_policy::open_records(&desk.loaded.running.state)?;
        Audit::start(&database, &desk.loaded.settings)?.write(record);
        let Undone { files, change: id } = done.map_err(|error| desk.why_not(&change, error))?;
        if desk.as_json {
            let mut told = json!({
                "undoes": change,
                "vault": entry.id,
                "changes": files.iter().map(with_diff).collect::<Vec<_>>(),
            });
            match id {
                Some(id) => told["change"] = id.into(),
                None => told["dry_run"] = true.into(),
            }
            print_json(&desk.terminal, told);
        } else {
            let mut text = shown_files(&desk.terminal, &files);
            text.push_str(&match id {
                Some(id) => format!("{}: change {id}\n", desk.terminal.good("undone")),
                None => format!(
                    "{}\n",
                    desk.terminal.faint("only shown: nothing was changed")
                ),
            });
            desk.terminal.print(&text);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// What an undo did, or would do.
struct Undone {
    files: Vec<StagedChange>,
    /// `None` if it was only shown.
    change: Option<String>,
}

impl Desk {
    fn undo(&self, entry: &VaultEntry, change: &str, dry_run: bool) -> Result<Undone, CallError> {
        let settings = &self.loaded.settings;
        if dry_run {
            // Nothing is written, so nobody has to be kept out.
            let vault = Vault::open_to_look(&entry.id, &entry.path, &self.loaded.running.state)?;
            let mut transaction = Arc::new(vault).begin(self.access(Effect::Write));
            transaction.undo(change)?;
            return Ok(Undone {
                files: transaction.changes(),
                change: None,
            });
        }
        if settings.read_only || entry.read_only {
            let message = format!(
                "the vault `{}` is switched to read-only: nothing can be changed now",
                entry.id
            );
            return Err(CallError::new(Code::ReadOnly, message)
                .with_hint("an admin switched it in the config: `read_only`"));
        }
        let memory = VaultSettings {
            history_max_age: Duration::from_secs(settings.history.keep_days * 24 * 60 * 60),
            history_max_bytes: settings.history.keep_bytes,
            ..VaultSettings::default()
        };
        let vault = Vault::open(&entry.id, &entry.path, &self.loaded.running.state, memory)?;
        let mut transaction = Arc::new(vault).begin(self.access(Effect::Write));
        transaction.undo(change)?;
        let files = transaction.changes();
        let note = CommitNote {
            caller: CALLER.into(),
            action: format!("{DOMAIN}.undo"),
            key: None,
        };
        let committed = transaction.commit(note).map_err(|error| match error {
            CommitError::Conflict { path } => {
                let path = path.unwrap_or_else(|| "the vault".into());
                CallError::new(
                    Code::Conflict,
                    format!("`{path}` just changed; nothing was undone, try again"),
                )
            }
            CommitError::Failed(error) | CommitError::Unsettled(error) => error.into(),
        })?;
        Ok(Undone {
            files,
            change: committed.change,
        })
    }

    fn why_not(&self, change: &str, error: CallError) -> Failure {
        let is_held = error
            .details
            .as_ref()
            .is_some_and(|details| details.get("process").is_some());
        let failure = Failure::call(&error.message).with_any_hint(error.hint);
        match error.code {
            Code::Unavailable if is_held => Failure::start(error.message).with_hint(format!(
                "let the running server do it: call its tool `document` with `action`: `undo` and `change`: `{change}`; \
                 or stop that process first"
            )),
            Code::PermissionDenied if self.loaded.file.is_none() => failure
                .with_hint("say what may be done with `--allow rw`, or `--allow rwd` where notes would go"),
            _ => failure,
        }
    }
}

/// Something that a vault refused.
fn failure(error: VaultError) -> Failure {
    Failure::call(error.to_string()).with_any_hint(error.hint())
}

/// A vault that cannot be used at all.
fn not_opened(error: VaultError) -> Failure {
    Failure::start(error.to_string()).with_any_hint(error.hint())
}
