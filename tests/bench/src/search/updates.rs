//! Search after writes by the server and by other programs, and renaming a note with many backlinks.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use super::mcpvault::Mcpvault;
use super::notehost::{Notehost, Setting};
use super::startup::marker;
use super::table::{Table, against, bar, mark, time};
use crate::disk;
use crate::statistics::Times;
use crate::vault_generator::plan;
use crate::vaults::Notes;

const RUNS: usize = 50;
const RENAMES: usize = 5;
const RENAME: Option<f64> = Some(300e3);
const EXTERNAL_EDITS: Option<f64> = Some(2e6);
const MEMORY: u64 = 130;
/// After this time the index on disk contains all changes.
const SETTLE_TIME: Duration = Duration::from_secs(6);

/// Measures.
pub(crate) fn measure(setting: &Setting, notes: &Notes, hub: &str, place: &Path) -> Result<()> {
    let floor = disk::floor(place)?.p50();
    let (mut server, _) = setting.start()?;
    server.wait_for_index()?;
    let mut table = Table::new(&["what", "p50", "p95", "bar", ""]);
    let appended = &notes.notes[notes.notes.len() / 2];
    let (mut creating, mut appending) = (WriteAndFind::default(), WriteAndFind::default());
    for run in 0..RUNS {
        let word = marker("created", run);
        let path = format!("Created here/Note {run}.md");
        let content = format!("# A new note\n\nwith the word {word}\n");
        let arguments = json!({"action": "create", "path": path, "content": content});
        creating.written_and_found(&mut server, arguments, &word, &path)?;
        let word = marker("appended", run);
        let arguments = json!({"action": "append", "path": appended, "text": word});
        appending.written_and_found(&mut server, arguments, &word, appended)?;
    }
    for (what, both) in [("create", creating), ("append", appending)] {
        let (wrote, found) = (Times::new(both.wrote), Times::new(both.found));
        durable_line(&mut table, what, &wrote, floor);
        line(
            &mut table,
            &format!("{what}, then find it: both calls"),
            &found,
            None,
        );
    }

    let mut times = Vec::new();
    for run in 0..5 {
        times.push(find_external_edit(&mut server, notes, run)?);
    }
    line(
        &mut table,
        "somebody else writes a note: found",
        &Times::new(times),
        EXTERNAL_EDITS,
    );

    let sources = sources(&mut server, hub)?;
    let before = digests(&notes.folder)?;
    let mut times = Vec::new();
    let mut rewritten = 0;
    let mut path = hub.to_owned();
    for run in 0..RENAMES {
        let name = format!("Renamed for the {run}th time");
        let to = match path.rsplit_once('/') {
            Some((folder, _)) => format!("{folder}/{name}.md"),
            None => format!("{name}.md"),
        };
        let arguments = json!({"action": "rename", "path": path, "to": to});
        times.push(server.call("document", arguments)?.0);
        if run == 0 {
            rewritten = changed(&before, &digests(&notes.folder)?);
        }
        path = to;
    }
    let what = format!("rename, {} notes link there", sources.len());
    let first = Times::new(times[..1].to_vec());
    line(&mut table, &format!("{what}: the first"), &first, RENAME);
    line(
        &mut table,
        &format!("{what}: immediately after another"),
        &Times::new(times[1..].to_vec()),
        RENAME,
    );
    table.print();
    println!(
        "consecutive renames wait until the index has read the notes that the previous one rewrote; and ext4 goes through every file \
         that was replaced in the last minute before it makes a new one."
    );
    // The hub of a generated vault has a known number of links.
    if hub == plan::HUB && notes.notes.len() > 2 * plan::HUB_LINKS {
        let is_known = sources.len() == plan::HUB_LINKS;
        println!(
            "{} notes were made to link there {}",
            plan::HUB_LINKS,
            mark(is_known)
        );
    }
    let after = self::sources(&mut server, &path)?;
    println!(
        "the rename rewrote {rewritten} notes on disk of {} that link there {}; afterwards {} do {}",
        sources.len(),
        mark(rewritten == sources.len()),
        after.len(),
        mark(after == sources)
    );
    println!("memory at once after all that: {}", server.memory()?);
    std::thread::sleep(SETTLE_TIME);
    let memory = server.memory()?;
    println!(
        "memory after the changes are written to the index: {memory} (bar: ≤ {MEMORY} MiB {})",
        mark(memory.resident <= MEMORY)
    );
    server.stop()?;
    measure_mcpvault(notes)
}

/// The time for writing, and for writing and finding together.
#[derive(Default)]
struct WriteAndFind {
    wrote: Vec<Duration>,
    found: Vec<Duration>,
}

impl WriteAndFind {
    fn written_and_found(
        &mut self,
        server: &mut Notehost,
        arguments: serde_json::Value,
        word: &str,
        path: &str,
    ) -> Result<()> {
        let (wrote, _) = server.call("document", arguments)?;
        let (found, hits) = server.search(word)?;
        let is_found = hits["items"][0]["path"] == path;
        ensure!(
            is_found,
            "`{path}` is not found by `{word}` that was just written: {hits}"
        );
        self.wrote.push(wrote);
        self.found.push(wrote + found);
        Ok(())
    }
}

fn line(table: &mut Table, what: &str, times: &Times, limit: Option<f64>) {
    table.line([
        what.into(),
        time(times.p50()),
        time(times.quantile(0.95)),
        bar(times.p50(), limit),
    ]);
}

fn durable_line(table: &mut Table, what: &str, times: &Times, floor: f64) {
    table.line([
        format!("{what}, durably"),
        time(times.p50()),
        time(times.quantile(0.95)),
        format!("≤ 3 × the disk {}", mark(times.p50() <= 3.0 * floor)),
        format!("the disk {}", against(times.p50(), floor)),
    ]);
}

/// Writes a note without the server; returns the time until it is found.
fn find_external_edit(server: &mut Notehost, notes: &Notes, run: usize) -> Result<Duration> {
    let word = marker("elsewhere", run);
    fs::write(
        notes.folder.join(format!("Written elsewhere {run}.md")),
        format!("somebody wrote {word}\n"),
    )?;
    let began = Instant::now();
    loop {
        let (_, hits) = server.search(&word)?;
        if hits["items"]
            .as_array()
            .is_some_and(|hits| !hits.is_empty())
        {
            return Ok(began.elapsed());
        }
        let elapsed = began.elapsed();
        ensure!(
            elapsed < Duration::from_secs(60),
            "an external edit is never found"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The notes that link to a note, over all pages.
fn sources(server: &mut Notehost, path: &str) -> Result<HashSet<String>> {
    let mut sources = HashSet::new();
    let mut cursor = serde_json::Value::Null;
    loop {
        let mut arguments = json!({"action": "backlinks", "path": path, "limit": 500});
        if !cursor.is_null() {
            arguments["cursor"] = cursor;
        }
        let (_, mut page) = server.call("link", arguments)?;
        for link in page["items"].as_array().context("a list of links")? {
            let path = link["path"].as_str().context("a link has a path")?;
            sources.insert(path.to_owned());
        }
        cursor = page["next_cursor"].take();
        if cursor.is_null() {
            // A link from the note to itself moves with it.
            sources.remove(path);
            return Ok(sources);
        }
    }
}

/// Digests of the notes of a folder, by path.
fn digests(folder: &Path) -> Result<HashMap<String, u64>> {
    let mut digests = HashMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if name.ends_with(".md") {
                let mut hasher = DefaultHasher::new();
                fs::read(entry.path())?.hash(&mut hasher);
                digests.insert(entry.path().to_string_lossy().into_owned(), hasher.finish());
            }
        }
    }
    Ok(digests)
}

/// Number of notes that exist in both and have changed.
fn changed(before: &HashMap<String, u64>, after: &HashMap<String, u64>) -> usize {
    let differ =
        |(path, digest): &(&String, &u64)| before.get(*path).is_some_and(|was| was != *digest);
    after.iter().filter(differ).count()
}

/// The same for mcpvault, which does not rewrite links.
fn measure_mcpvault(notes: &Notes) -> Result<()> {
    let Some((mut server, _)) = Mcpvault::start(&notes.folder)? else {
        return Ok(());
    };
    let (mut wrote, mut found) = (Vec::new(), Vec::new());
    for run in 0..5 {
        let word = marker("peer", run);
        let path = format!("Created there/Note {run}.md");
        let content = format!("# A new note\n\nwith the word {word}\n");
        let (writing, _) = server.call("write_note", json!({"path": path, "content": content}))?;
        let (finding, hits) = server.call("search_notes", json!({"query": word, "limit": 20}))?;
        ensure!(hits.contains(&path), "mcpvault does not find what it wrote");
        wrote.push(writing);
        found.push(writing + finding);
    }
    let (wrote, found) = (Times::new(wrote).p50(), Times::new(found).p50());
    println!(
        "mcpvault: create (not durably) {}, then find it: both calls {}; memory {} MiB",
        time(wrote),
        time(found),
        server.memory()?.resident
    );
    Ok(())
}
