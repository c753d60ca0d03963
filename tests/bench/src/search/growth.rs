//! How the time of each query grows with the vault: the slope of log time over log notes. 0 is constant, 1 is a linear
//! scan.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::mcpvault::Mcpvault;
use super::notehost::Setting;
use super::plain_tantivy;
use super::query::{self, Contestant, SamplePlan};
use super::query_selection::{self, QuerySelection};
use super::ripgrep::Ripgrep;
use super::table::{Table, mark, time};
use crate::client::wait_for_compiler;
use crate::statistics::Times;
use crate::vault_generator;
use crate::vaults::Notes;

const BAR: f64 = 0.3;

/// The times of one query by one contestant, per vault size.
struct Growth {
    who: &'static str,
    what: &'static str,
    times: Vec<(usize, f64)>,
}

/// Generates vaults of these sizes and measures on each.
pub(crate) fn measure(program: &Path, sizes: &[usize], place: &Path) -> Result<()> {
    let mut grown: Vec<Growth> = Vec::new();
    for &size in sizes {
        let place = place.join(size.to_string());
        let folder = place.join("vault");
        vault_generator::make(&folder, size, vault_generator::SEED)?;
        let notes = Notes {
            notes: crate::vaults::notes_in(&folder)?,
            folder,
        };
        let selection = query_selection::choose(&notes)?;
        println!(
            "{size} notes, {:.1} MiB",
            selection.bytes as f64 / 1024.0 / 1024.0
        );
        one_size(
            program,
            &notes,
            &selection,
            &place,
            &mut |who, what, took| {
                let known = grown
                    .iter()
                    .position(|known| known.who == who && known.what == what);
                let known = known.unwrap_or_else(|| {
                    grown.push(Growth {
                        who,
                        what,
                        times: Vec::new(),
                    });
                    grown.len() - 1
                });
                grown[known].times.push((size, took));
            },
        )?;
        std::fs::remove_dir_all(&place)?;
    }
    print(&grown, sizes);
    Ok(())
}

fn one_size(
    program: &Path,
    notes: &Notes,
    selection: &QuerySelection,
    place: &Path,
    took: &mut dyn FnMut(&'static str, &'static str, f64),
) -> Result<()> {
    let setting = Setting {
        program: program.to_owned(),
        vault: notes.folder.clone(),
        state: place.join("state"),
    };
    let (server, _) = setting.start()?;
    wait_for_compiler(&setting.state)?;
    server.stop()?;
    setting.forget_index()?;
    let (mut server, _) = setting.start()?;
    let built = server.wait_for_index()?;
    server.stop()?;
    let mut starts = Vec::new();
    for _ in 0..10 {
        starts.push(setting.start()?.1);
    }
    took(
        "Notehost",
        "start to `initialize`",
        Times::new(starts).p50(),
    );
    took("Notehost", "index from scratch", built.as_secs_f64() * 1e6);
    let (mut server, _) = setting.start()?;
    server.wait_for_index()?;
    let mut ask = |contestant: &mut dyn Contestant, plan: SamplePlan| -> Result<()> {
        for kind in &selection.kinds {
            if let Some(measured) = query::measure_queries(contestant, kind, plan)? {
                took(contestant.name(), kind.what, measured.times.p50());
            }
        }
        Ok(())
    };
    ask(&mut server, SamplePlan::FAST)?;
    let memory = server.memory()?;
    server.stop()?;
    println!("  Notehost has {memory} after that");
    let (mut bare, mut with_snippets, _) = plain_tantivy::index(notes, &place.join("plain"))?;
    ask(&mut bare, SamplePlan::FAST)?;
    ask(&mut with_snippets, SamplePlan::FAST)?;
    if let Some(mut ripgrep) = Ripgrep::found(&notes.folder) {
        ask(&mut ripgrep, SamplePlan::SLOW)?;
    }
    let mut started = Duration::ZERO;
    if let Some((mut mcpvault, initialized)) = Mcpvault::start(&notes.folder)? {
        ask(&mut mcpvault, SamplePlan::SLOW)?;
        started = initialized;
    }
    if !started.is_zero() {
        took(
            "mcpvault",
            "start to `initialize`",
            started.as_secs_f64() * 1e6,
        );
    }
    Ok(())
}

fn print(grown: &[Growth], sizes: &[usize]) {
    let sizes: Vec<String> = sizes.iter().map(|size| format!("{size} notes")).collect();
    let mut head = vec!["who", "what"];
    head.extend(sizes.iter().map(String::as_str));
    head.extend(["exponent", "bar"]);
    let mut table = Table::new(&head);
    for line in grown {
        let mut cells = vec![line.who.to_owned(), line.what.to_owned()];
        cells.extend(line.times.iter().map(|(_, took)| time(*took)));
        // A query without results in some vault.
        cells.resize(2 + sizes.len(), String::new());
        let exponent = exponent(&line.times);
        cells.push(exponent.map_or_else(String::new, |exponent| format!("{exponent:.2}")));
        let has_bar = line.who == "Notehost" && line.what != "index from scratch";
        cells.push(match exponent {
            Some(exponent) if has_bar => format!("≤ {BAR} {}", mark(exponent <= BAR)),
            _ => String::new(),
        });
        table.line(cells);
    }
    table.print();
}

/// The slope of the least-squares line.
fn exponent(times: &[(usize, f64)]) -> Option<f64> {
    let points: Vec<(f64, f64)> = times
        .iter()
        .map(|(size, took)| ((*size as f64).ln(), took.ln()))
        .collect();
    let count = points.len() as f64;
    let (across, up) = points.iter().fold((0.0, 0.0), |(across, up), point| {
        (across + point.0 / count, up + point.1 / count)
    });
    let (above, below) = points.iter().fold((0.0, 0.0), |(above, below), point| {
        let distance = point.0 - across;
        (
            above + distance * (point.1 - up),
            below + distance * distance,
        )
    });
    (points.len() > 1 && below > 0.0).then(|| above / below)
}

#[cfg(test)]
mod tests {
    use super::exponent;

    #[test]
    fn linear_scan_has_exponent_one() {
        let scan = [(1000, 5.0), (10_000, 50.0), (100_000, 500.0)];
        assert!((exponent(&scan).expect("a slope") - 1.0).abs() < 1e-9);
        let constant = [(1000, 5.0), (10_000, 5.0)];
        assert!(exponent(&constant).expect("a slope").abs() < 1e-9);
        assert_eq!(exponent(&[(1000, 5.0)]), None);
    }
}
