//! Synthetic vaults: `cargo run --release -p notehost-bench -- make-vault FOLDER NOTES [SEED]`.
//!
//! Sizes, words, tags and links are distributed as in vaults that people write over years. The output is deterministic
//! for a seed. One note, `Hub`, has 500 backlinks in every supported form.

pub(crate) mod hub;
mod image;
mod note;
pub(crate) mod plan;
mod random;
mod words;

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, ensure};

use plan::Plan;
use random::Random;

/// Default seed.
pub(crate) const SEED: u64 = 4;

/// The command.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let usage = "make-vault FOLDER NOTES [SEED]";
    let folder = words.first().context(usage)?;
    let notes = words.get(1).context(usage)?.parse().context(usage)?;
    let seed = match words.get(2) {
        Some(seed) => seed.parse().context(usage)?,
        None => SEED,
    };
    let began = std::time::Instant::now();
    let bytes = make(Path::new(folder), notes, seed)?;
    println!(
        "{notes} notes, {:.1} MiB, in {:.1} s",
        bytes as f64 / 1024.0 / 1024.0,
        began.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Writes a vault into an empty or new folder. Returns the total size of its notes.
pub(crate) fn make(folder: &Path, notes: usize, seed: u64) -> Result<u64> {
    ensure!(notes > 0, "a vault needs at least one note");
    let is_new = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    ensure!(is_new, "`{}` is not empty", folder.display());
    let plan = Plan::new(notes, seed);
    make_folders(folder, &plan)?;
    fs::write(
        folder.join(".obsidian/app.json"),
        "{\n  \"alwaysUpdateLinks\": true\n}\n",
    )?;
    fs::write(
        folder.join(".obsidian/daily-notes.json"),
        "{\n  \"folder\": \"Daily\",\n  \"format\": \"YYYY/YYYY-MM-DD\"\n}\n",
    )?;
    for (number, path) in plan.assets.iter().enumerate() {
        fs::write(folder.join(path), image::png(number))?;
    }
    let threads = std::thread::available_parallelism()?.get();
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|thread| {
                let plan = &plan;
                scope.spawn(move || -> Result<u64> {
                    let mut bytes = 0;
                    for number in (thread..notes).step_by(threads) {
                        bytes += write(folder, plan, number)?;
                    }
                    Ok(bytes)
                })
            })
            .collect();
        let mut bytes = 0;
        for thread in running {
            bytes += thread
                .join()
                .map_err(|_| anyhow::anyhow!("a thread panicked"))??;
        }
        Ok(bytes)
    })
}

fn make_folders(folder: &Path, plan: &Plan) -> Result<()> {
    fs::create_dir_all(folder.join(".obsidian"))?;
    let paths = plan.notes.iter().map(|note| &note.path).chain(&plan.assets);
    let folders: HashSet<&str> = paths
        .filter_map(|path| path.rsplit_once('/'))
        .map(|(folder, _)| folder)
        .collect();
    for path in folders {
        fs::create_dir_all(folder.join(path))?;
    }
    Ok(())
}

/// Writes one note with a past modification time. Returns its size.
fn write(folder: &Path, plan: &Plan, number: usize) -> Result<u64> {
    let text = note::text(plan, number);
    let path = folder.join(&plan.notes[number].path);
    let mut file = File::create_new(&path).with_context(|| path.display().to_string())?;
    file.write_all(text.as_bytes())?;
    let age = Random::new(plan.seed ^ 0x54, number as u64).log_normal(1e7, 1.5);
    let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(1_750_000_000 - age.min(3e8) as u64);
    file.set_modified(changed)?;
    Ok(text.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_gives_the_same_vault_with_a_linked_hub() {
        let place = tempfile::tempdir().expect("a folder");
        let (first, second) = (place.path().join("first"), place.path().join("second"));
        make(&first, 700, 1).expect("a vault");
        make(&second, 700, 1).expect("a vault");
        let plan = Plan::new(700, 1);
        let mut naming = 0;
        for note in &plan.notes {
            let text = fs::read_to_string(first.join(&note.path)).expect("a note");
            assert_eq!(
                text,
                fs::read_to_string(second.join(&note.path)).expect("a note")
            );
            let names = ["Hub", "[[hub]]"].iter().any(|name| text.contains(name));
            naming += usize::from(names && note.hub != plan::Hub::Itself);
        }
        assert_eq!(naming, plan::HUB_LINKS + plan::DECOYS);
    }

    #[test]
    fn non_empty_folder_is_rejected() {
        let place = tempfile::tempdir().expect("a folder");
        fs::write(place.path().join("mine.md"), "mine").expect("a note");
        assert!(make(place.path(), 5, 1).is_err());
        let left = fs::read_dir(place.path()).expect("a folder").count();
        assert_eq!(left, 1);
    }

    #[test]
    fn smallest_vaults_can_be_generated() {
        for notes in [1, 2, 3, 12] {
            let place = tempfile::tempdir().expect("a folder");
            make(&place.path().join("vault"), notes, 1).expect("a vault");
        }
    }
}
