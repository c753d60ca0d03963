//! Startup and index build: from scratch, without changes, after a hundred changes.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::notehost::Setting;
use super::table::{Table, against, bar, time};
use crate::client::wait_for_compiler;
use crate::statistics::Times;
use crate::vaults::Notes;

const INITIALIZE: Option<f64> = Some(20e3);
const FROM_SCRATCH: Option<f64> = Some(15e6);
/// Number of notes that change while no server runs.
const CHANGED: usize = 100;

/// Measures; afterwards the index is complete. `plainly` is the time of tantivy alone for the same notes.
pub(crate) fn measure(setting: &Setting, notes: &Notes, plainly: Duration) -> Result<()> {
    let mut table = Table::new(&["what", "p50", "p95", "bar", ""]);
    let (mut server, first) = setting.start()?;
    line(&mut table, "initialize, first start", vec![first], None);
    server.wait_for_index()?;
    wait_for_compiler(&setting.state)?;
    server.stop()?;

    let mut times = Vec::new();
    for _ in 0..10 {
        setting.forget_index()?;
        times.push(setting.start()?.1);
    }
    line(&mut table, "initialize, no index", times, INITIALIZE);

    setting.forget_index()?;
    let (mut server, _) = setting.start()?;
    let built = server.wait_for_index()?;
    let memory = server.memory()?;
    server.stop()?;
    let (ours, theirs) = (built.as_secs_f64() * 1e6, plainly.as_secs_f64() * 1e6);
    table.line([
        "index from scratch".into(),
        time(ours),
        String::new(),
        bar(ours, FROM_SCRATCH),
        format!("tantivy alone {}", against(ours, theirs)),
    ]);

    let mut times = Vec::new();
    for _ in 0..20 {
        times.push(setting.start()?.1);
    }
    line(&mut table, "initialize, existing index", times, INITIALIZE);

    let mut times = Vec::new();
    for _ in 0..5 {
        let (mut server, _) = setting.start()?;
        times.push(server.wait_for_index()?);
        server.stop()?;
    }
    line(&mut table, "index complete, unchanged vault", times, None);

    let mut times = Vec::new();
    for run in 0..3 {
        times.push(after_changes(setting, notes, run)?);
    }
    line(
        &mut table,
        &format!(
            "index complete after {} changed notes",
            CHANGED.min(notes.notes.len())
        ),
        times,
        None,
    );
    table.print();
    println!("memory after the index was built: {memory}");
    Ok(())
}

fn line(table: &mut Table, what: &str, times: Vec<Duration>, limit: Option<f64>) {
    let is_one = times.len() == 1;
    let times = Times::new(times);
    let late = if is_one {
        String::new()
    } else {
        time(times.quantile(0.95))
    };
    table.line([
        what.into(),
        time(times.p50()),
        late,
        bar(times.p50(), limit),
    ]);
}

/// Changes notes while no server runs; returns the time from startup until all of them are found.
fn after_changes(setting: &Setting, notes: &Notes, run: usize) -> Result<Duration> {
    let word = marker("changed", run);
    let step = (notes.notes.len() / CHANGED).max(1);
    let mut changed = 0;
    for path in notes.notes.iter().step_by(step).take(CHANGED) {
        let mut file = OpenOptions::new()
            .append(true)
            .open(notes.folder.join(path))?;
        file.write_all(format!("\n{word}\n").as_bytes())?;
        changed += 1;
    }
    let (mut server, _) = setting.start()?;
    let complete = server.wait_for_index()?;
    let began = Instant::now();
    let (_, found) = server.search(&word)?;
    let total = found["total"].as_u64().unwrap_or(0);
    ensure!(
        total == changed,
        "{total} of {changed} changed notes are found"
    );
    let took = complete + began.elapsed();
    server.stop()?;
    Ok(took)
}

/// A word that occurs in no note.
pub(crate) fn marker(what: &str, run: usize) -> String {
    let letter = |place: u32| {
        let number = run / 26_usize.pow(place) % 26;
        char::from(b'a' + number as u8)
    };
    format!("qzx{what}{}{}{}xzq", letter(2), letter(1), letter(0))
}
