//! Search, measured in one run against other tools on the same notes: `cargo run --release -p notehost-bench -- find
//! FOLDER…`, and its growth: `find --growth [NOTES…]`.
//!
//! Folders are copied first; nothing is written to them. The other tools are ripgrep (on the path, or at `RG`), tantivy
//! called directly, and mcpvault (in the folder `MCPVAULT`). Tools that are not installed are skipped, with a message.

mod growth;
pub(crate) mod mcpvault;
pub(crate) mod notehost;
mod plain_tantivy;
mod query;
pub(crate) mod query_selection;
mod ripgrep;
mod startup;
pub(crate) mod table;
mod updates;

use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::vaults::{self, Notes};
use mcpvault::Mcpvault;
use notehost::Setting;
use query::{Contestant, Kind, Measured, SamplePlan, VaultQuery};
use query_selection::QuerySelection;
use ripgrep::Ripgrep;
use table::{Table, against, bar, mark, time};

/// Maximum ratio of a search's time to tantivy alone.
const MAX_TANTIVY_RATIO: f64 = 3.0;

/// The command.
pub(crate) fn run(program: &Path, words: &[String]) -> Result<()> {
    ensure!(!words.is_empty(), "find FOLDER… | --growth [NOTES…]");
    let cores = std::thread::available_parallelism()?;
    println!("{cores} cores; targets are for 14,000 notes\n");
    if words[0] == "--growth" {
        let sizes: Result<Vec<usize>, _> = words[1..].iter().map(|size| size.parse()).collect();
        let mut sizes = sizes.context("find --growth [NOTES…]")?;
        if sizes.is_empty() {
            sizes = vec![1000, 10_000, 100_000];
        }
        let place = tempfile::tempdir()?;
        return growth::measure(program, &sizes, place.path());
    }
    for folder in words {
        let place = tempfile::tempdir()?;
        let notes = vaults::copied(Path::new(folder), place.path())?;
        let selection = query_selection::choose(&notes)?;
        println!(
            "==== {folder}: {} notes, {:.1} MiB",
            notes.notes.len(),
            selection.bytes as f64 / 1024.0 / 1024.0
        );
        one_vault(program, &notes, &selection, place.path())?;
    }
    Ok(())
}

fn one_vault(
    program: &Path,
    notes: &Notes,
    selection: &QuerySelection,
    place: &Path,
) -> Result<()> {
    let setting = Setting {
        program: program.to_owned(),
        vault: notes.folder.clone(),
        state: place.join("state"),
    };
    let (mut bare, mut with_snippets, plainly) = plain_tantivy::index(notes, &place.join("plain"))?;

    println!("\n== start, and the index");
    startup::measure(&setting, notes, plainly)?;

    println!("\n== queries");
    let kinds = &selection.kinds;
    let (mut server, _) = setting.start()?;
    server.wait_for_index()?;
    let ours = measure_all(&mut server, kinds, SamplePlan::FAST)?;
    println!("memory after the queries: {}", server.memory()?);
    server.stop()?;
    let mut others = vec![
        measure_all(&mut bare, kinds, SamplePlan::FAST)?,
        measure_all(&mut with_snippets, kinds, SamplePlan::FAST)?,
    ];
    match Ripgrep::found(&notes.folder) {
        Some(mut ripgrep) => others.push(measure_all(&mut ripgrep, kinds, SamplePlan::SLOW)?),
        None => println!("ripgrep skipped: no `rg` on the path and `RG` is not set"),
    }
    match Mcpvault::start(&notes.folder)? {
        Some((mut mcpvault, initialized)) => {
            println!(
                "mcpvault answered `initialize` after {} ms",
                initialized.as_millis()
            );
            others.push(measure_all(&mut mcpvault, kinds, SamplePlan::SLOW)?);
        }
        None => println!("mcpvault skipped: `MCPVAULT` is not a folder that contains it"),
    }
    print(kinds, &ours, &others);

    println!(
        "\n== updates, and finding changed notes (hub: `{}`)",
        selection.hub
    );
    updates::measure(&setting, notes, &selection.hub, place)
}

/// A contestant with its results for each kind of query.
struct Column {
    who: &'static str,
    measured: Vec<Option<Measured>>,
}

fn measure_all(
    contestant: &mut dyn Contestant,
    kinds: &[Kind],
    plan: SamplePlan,
) -> Result<Column> {
    let measured: Result<Vec<_>> = kinds
        .iter()
        .map(|kind| query::measure_queries(contestant, kind, plan).context(kind.what))
        .collect();
    Ok(Column {
        who: contestant.name(),
        measured: measured?,
    })
}

/// Number of results, and ripgrep's number.
fn found(kind: &Kind, ours: &Measured, theirs: Option<&Measured>) -> String {
    let number = |measured: &Measured| {
        measured
            .found
            .map_or_else(|| "?".to_owned(), |found| found.to_string())
    };
    let counts_the_same = kind.queries.iter().all(VaultQuery::is_of_notes);
    match theirs {
        Some(theirs) if counts_the_same => format!("{} (rg {})", number(ours), number(theirs)),
        _ => number(ours),
    }
}

fn print(kinds: &[Kind], ours: &Column, others: &[Column]) {
    println!(
        "tantivy: scores and counts only; with snippets: also a snippet for each of twenty notes, as our reply has.\n\
         found: notes, lines or links, over all queries of a kind; ripgrep's count beside it where it counts the same."
    );
    let counted = others.iter().find(|other| other.who == "ripgrep");
    let mut head = vec!["what", "found", "p50", "p95", "bar"];
    head.extend(others.iter().map(|other| other.who));
    let mut table = Table::new(&head);
    for (number, kind) in kinds.iter().enumerate() {
        let Some(measured) = &ours.measured[number] else {
            continue;
        };
        let p50 = measured.times.p50();
        let mut cells = vec![
            kind.what.to_owned(),
            found(
                kind,
                measured,
                counted.and_then(|other| other.measured[number].as_ref()),
            ),
            time(p50),
            time(measured.times.quantile(0.95)),
            bar(p50, kind.bar),
        ];
        cells.extend(others.iter().map(|other| {
            other.measured[number].as_ref().map_or_else(
                || "–".to_owned(),
                |theirs| {
                    let comparison = against(p50, theirs.times.p50());
                    // Only tantivy is a target; the others are for comparison.
                    if other.who.starts_with("tantivy") {
                        let is_near = p50 <= MAX_TANTIVY_RATIO * theirs.times.p50();
                        format!("{comparison} {}", mark(is_near))
                    } else {
                        comparison
                    }
                },
            )
        }));
        table.line(cells);
    }
    table.print();
}
