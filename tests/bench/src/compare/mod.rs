//! Everyday calls over stdio, of Notehost and of other servers in one run: `cargo run --release -p notehost-bench --
//! compare FOLDER…`.
//!
//! Every server gets its own copy of the folder. The servers take turns, a few calls at a time, so that any other load
//! of the machine slows all of them alike. The peers are obsidian-mcp-rs (the program `OBSIDIAN_MCP_RS`) and mcpvault (in
//! the folder `MCPVAULT`). Peers that are not installed are skipped, with a message.

mod peer;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use crate::client::{Memory, wait_for_compiler};
use crate::disk::Disk;
use crate::search::notehost::{Notehost, Setting};
use crate::search::query_selection;
use crate::search::table::{Table, against, mark, time};
use crate::statistics::Times;
use crate::vaults::{self, Notes};

/// How often the servers take turns, and how many calls of a kind each makes in a turn.
const ROUNDS: usize = 40;
const CALLS_PER_ROUND: usize = 10;
/// Searches without an index read every note.
const SEARCHES_PER_ROUND: usize = 1;
const RENAMES: usize = 7;
/// Maximum ratio of `create` to `append`.
const MAX_CREATE_RATIO: f64 = 1.2;
/// Maximum ratio of a durable change to the disk's own write, fsync and rename.
const MAX_DISK_RATIO: f64 = 3.0;
/// Maximum resident memory after the work, in MiB.
const MAX_MEMORY: u64 = 130;
/// After this time the index on disk contains all changes, and freed memory has been returned.
const SETTLE_TIME: Duration = Duration::from_secs(8);

/// A server of notes with the calls that are compared. Each returns the time from the request to the reply.
pub(crate) trait NoteServer {
    fn name(&self) -> &'static str;
    /// Whether a reply to a write means that the change is safe on disk.
    fn is_durable(&self) -> bool;
    fn read(&mut self, path: &str) -> Result<Duration>;
    fn search(&mut self, words: &str) -> Result<Duration>;
    fn create(&mut self, path: &str, text: &str) -> Result<Duration>;
    fn append(&mut self, path: &str, text: &str) -> Result<Duration>;
    /// Renames a note and the links to it; `None` if the server does not rewrite links.
    fn rename(&mut self, from: &str, to: &str) -> Result<Option<Duration>>;
    fn memory(&self) -> Result<Memory>;
}

impl NoteServer for Notehost {
    fn name(&self) -> &'static str {
        "Notehost"
    }

    fn is_durable(&self) -> bool {
        true
    }

    fn read(&mut self, path: &str) -> Result<Duration> {
        let arguments = json!({"action": "read", "path": path});
        Ok(self.call("document", arguments)?.0)
    }

    fn search(&mut self, words: &str) -> Result<Duration> {
        Ok(Notehost::search(self, words)?.0)
    }

    fn create(&mut self, path: &str, text: &str) -> Result<Duration> {
        let arguments = json!({"action": "create", "path": path, "content": text});
        Ok(self.call("document", arguments)?.0)
    }

    fn append(&mut self, path: &str, text: &str) -> Result<Duration> {
        let arguments = json!({"action": "append", "path": path, "text": text});
        Ok(self.call("document", arguments)?.0)
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<Option<Duration>> {
        let arguments = json!({"action": "rename", "path": from, "to": to});
        Ok(Some(self.call("document", arguments)?.0))
    }

    fn memory(&self) -> Result<Memory> {
        Notehost::memory(self)
    }
}

/// The command.
pub(crate) fn run(program: &Path, folders: &[String]) -> Result<()> {
    ensure!(!folders.is_empty(), "compare FOLDER…");
    for folder in folders {
        let place = tempfile::tempdir()?;
        one_vault(program, Path::new(folder), place.path())?;
    }
    Ok(())
}

/// The compared kinds of calls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CallKind {
    Read,
    SearchCommon,
    SearchRare,
    CreateInSmallFolder,
    CreateInLargestFolder,
    Append,
    Rename,
}

impl CallKind {
    const ALL: [CallKind; 7] = [
        CallKind::Read,
        CallKind::SearchCommon,
        CallKind::SearchRare,
        CallKind::CreateInSmallFolder,
        CallKind::CreateInLargestFolder,
        CallKind::Append,
        CallKind::Rename,
    ];

    fn title(self) -> &'static str {
        match self {
            CallKind::Read => "read",
            CallKind::SearchCommon => "search, common word",
            CallKind::SearchRare => "search, rare word",
            CallKind::CreateInSmallFolder => "create, in a small folder",
            CallKind::CreateInLargestFolder => "create, in the largest folder",
            CallKind::Append => "append",
            CallKind::Rename => "rename with links",
        }
    }
}

/// The measured times of one server.
struct Column {
    server: Box<dyn NoteServer>,
    started: Duration,
    times: Vec<(CallKind, Duration)>,
}

impl Column {
    fn add(&mut self, kind: CallKind, took: Duration) {
        self.times.push((kind, took));
    }

    fn of(&self, kind: CallKind) -> Times {
        let times = self.times.iter().filter(|(of, _)| *of == kind);
        Times::new(times.map(|(_, took)| *took).collect())
    }
}

/// What the calls are about; the same for all servers.
struct Plan {
    notes: Vec<String>,
    common: String,
    rare: String,
    hub: String,
    largest_folder: String,
}

fn one_vault(program: &Path, folder: &Path, place: &Path) -> Result<()> {
    let notes = vaults::copied(folder, &place.join("ours"))?;
    let plan = plan(&notes)?;
    println!(
        "==== {}: {} notes; largest folder `{}`, hub `{}`",
        folder.display(),
        notes.notes.len(),
        plan.largest_folder,
        plan.hub
    );
    let setting = Setting {
        program: program.to_owned(),
        vault: notes.folder.clone(),
        state: place.join("state"),
    };
    let (mut server, _) = setting.start()?;
    wait_for_compiler(&setting.state)?;
    server.wait_for_index()?;
    server.stop()?;
    let (mut server, started) = setting.start()?;
    server.wait_for_index()?;
    let mut columns = vec![Column {
        server: Box::new(server),
        started,
        times: Vec::new(),
    }];
    let copy =
        |name: &str| -> Result<PathBuf> { Ok(vaults::copied(folder, &place.join(name))?.folder) };
    for (server, started) in peer::start_all(&copy)? {
        columns.push(Column {
            server,
            started,
            times: Vec::new(),
        });
    }
    for column in &columns {
        println!(
            "{:<18} {} after the start",
            column.server.name(),
            column.server.memory()?
        );
    }
    let disk = measure(&mut columns, &plan, &Disk::new(place)?)?;
    print(&columns, &disk);
    std::thread::sleep(SETTLE_TIME);
    for column in &columns {
        let memory = column.server.memory()?;
        let bar = match column.server.name() {
            "Notehost" => format!(
                "   (bar: ≤ {MAX_MEMORY} MiB {})",
                mark(memory.resident <= MAX_MEMORY)
            ),
            _ => String::new(),
        };
        println!("{:<18} {memory} after the work{bar}", column.server.name());
    }
    Ok(())
}

fn plan(notes: &Notes) -> Result<Plan> {
    let selection = query_selection::choose(notes)?;
    let word = |what: &str| {
        let kinds = &selection.kinds;
        let kind = kinds.iter().find(|kind| kind.what == what);
        kind.and_then(query_selection::first_word)
            .context("a vault with words")
    };
    Ok(Plan {
        common: word("search, common word")?,
        rare: word("search, rare word")?,
        hub: selection.hub.clone(),
        largest_folder: vaults::largest_folder(&notes.notes),
        notes: notes.notes.clone(),
    })
}

/// Returns the times of the disk, measured in the same rounds.
fn measure(columns: &mut [Column], plan: &Plan, disk: &Disk) -> Result<Times> {
    let mut floor = Vec::new();
    let step = (plan.notes.len() / (ROUNDS * CALLS_PER_ROUND)).max(1);
    let mut notes = plan.notes.iter().step_by(step).cycle();
    // The hub is renamed at the end.
    let others = plan.notes.iter().filter(|path| **path != plan.hub);
    let appended = others.clone().nth(plan.notes.len() / 2);
    let appended = appended
        .or_else(|| others.clone().next())
        .context("two notes")?;
    // The first round warms up and is not counted.
    for round in 0..=ROUNDS {
        let is_counted = round > 0;
        let read: Vec<&String> = notes.by_ref().take(CALLS_PER_ROUND).collect();
        for column in columns.iter_mut() {
            let add = |column: &mut Column, kind, took| {
                if is_counted {
                    column.add(kind, took);
                }
            };
            for path in &read {
                let took = column.server.read(path)?;
                add(column, CallKind::Read, took);
            }
            for _ in 0..SEARCHES_PER_ROUND {
                let took = column.server.search(&plan.common)?;
                add(column, CallKind::SearchCommon, took);
                let took = column.server.search(&plan.rare)?;
                add(column, CallKind::SearchRare, took);
            }
            let large = &plan.largest_folder;
            for (kind, folder) in [
                (
                    CallKind::CreateInSmallFolder,
                    format!("Created {}", round % 8),
                ),
                (CallKind::CreateInLargestFolder, large.clone()),
            ] {
                for call in 0..CALLS_PER_ROUND / 2 {
                    let name = format!("A new note {round} {call}.md");
                    let path = match folder.as_str() {
                        "" => name,
                        folder => format!("{folder}/{name}"),
                    };
                    let text = "# A new note\n\nwith a few words and a [[link]]\n";
                    let took = column.server.create(&path, text)?;
                    // The first note of a folder also makes the folder.
                    if call > 0 {
                        add(column, kind, took);
                    }
                }
            }
            for call in 0..CALLS_PER_ROUND / 2 {
                let text = format!("line {round} {call}");
                let took = column.server.append(appended, &text)?;
                add(column, CallKind::Append, took);
            }
        }
        for _ in 0..CALLS_PER_ROUND / 2 {
            floor.push(disk.replace()?);
        }
    }
    for column in columns.iter_mut() {
        let mut path = plan.hub.clone();
        for run in 0..RENAMES {
            let name = format!("Renamed for the {run}th time.md");
            let to = match path.rsplit_once('/') {
                Some((folder, _)) => format!("{folder}/{name}"),
                None => name,
            };
            if let Some(took) = column.server.rename(&path, &to)? {
                column.add(CallKind::Rename, took);
            }
            path = to;
        }
    }
    Ok(Times::new(floor))
}

fn print(columns: &[Column], disk: &Times) {
    let ours = &columns[0];
    let append = ours.of(CallKind::Append).p50();
    let mut head = vec!["p50", "Notehost", "p95", "bar"];
    head.extend(columns[1..].iter().map(|peer| peer.server.name()));
    let mut table = Table::new(&head);
    let mut starts = vec!["start".to_owned(), time(ours.started.as_secs_f64() * 1e6)];
    starts.extend([String::new(), String::new()]);
    starts.extend(columns[1..].iter().map(|peer| {
        let (ours, theirs) = (ours.started.as_secs_f64(), peer.started.as_secs_f64());
        against(ours * 1e6, theirs * 1e6)
    }));
    table.line(starts);
    for kind in CallKind::ALL {
        let times = ours.of(kind);
        let p50 = times.p50();
        let fastest = columns[1..].iter().map(|peer| peer.of(kind).p50());
        let fastest = fastest.filter(|p50| *p50 > 0.0).fold(f64::MAX, f64::min);
        let to_disk = p50 / disk.p50();
        let disk_bar = || {
            let is_met = mark(to_disk <= MAX_DISK_RATIO);
            format!("{to_disk:.1} × the disk (≤ {MAX_DISK_RATIO}) {is_met}")
        };
        let bar = match kind {
            CallKind::Read if fastest < f64::MAX => {
                format!("ahead of every peer {}", mark(p50 <= fastest))
            }
            CallKind::CreateInSmallFolder | CallKind::CreateInLargestFolder => {
                let ratio = p50 / append;
                let is_met = mark(ratio <= MAX_CREATE_RATIO);
                format!(
                    "{ratio:.2} × append (≤ {MAX_CREATE_RATIO}) {is_met}, {}",
                    disk_bar()
                )
            }
            CallKind::Append => disk_bar(),
            _ => String::new(),
        };
        let mut cells = vec![
            kind.title().to_owned(),
            time(p50),
            time(times.quantile(0.95)),
            bar,
        ];
        cells.extend(columns[1..].iter().map(|peer| {
            let theirs = peer.of(kind).p50();
            let is_write = !matches!(
                kind,
                CallKind::Read | CallKind::SearchCommon | CallKind::SearchRare
            );
            match theirs {
                0.0 => "–".to_owned(),
                _ if is_write && !peer.server.is_durable() => {
                    format!("{}, not durable", against(p50, theirs))
                }
                _ => against(p50, theirs),
            }
        }));
        table.line(cells);
    }
    let disk_cells = ["the disk: write, fsync, rename, fsync", &time(disk.p50())];
    let p95 = time(disk.quantile(0.95));
    table.line(
        disk_cells
            .iter()
            .map(|cell| (*cell).to_owned())
            .chain([p95]),
    );
    table.print();
}
