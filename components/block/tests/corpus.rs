//! Corpus test: every note of a folder is parsed into blocks. `NOTEHOST_CORPUS` names the folder, default `tests/notes`
//! next to this file. Blocks cover the note, names are unique, and writing back the text that was read changes nothing.

use std::path::{Path, PathBuf};

use notehost_sdk::text::blocks::{Blocks, blocks, replace};
use std::collections::HashSet;

#[test]
fn blocks_cover_every_corpus_note() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/notes");
    let folder = std::env::var_os("NOTEHOST_CORPUS").map_or(own, PathBuf::from);
    let mut notes = Vec::new();
    collect(&folder, &mut notes);
    assert!(!notes.is_empty(), "no notes in {}", folder.display());
    let (mut read_notes, mut found, mut skipped) = (0, 0, 0);
    for path in &notes {
        let bytes = std::fs::read(path).expect("a note can be read");
        let Ok(text) = String::from_utf8(bytes) else {
            skipped += 1;
            continue;
        };
        let Ok(read) = blocks(&text) else {
            skipped += 1;
            continue;
        };
        check(&read, &path.display().to_string());
        read_notes += 1;
        found += read.len();
    }
    eprintln!("{read_notes} notes, {found} blocks, {skipped} skipped (not text or too large)");
}

fn collect(folder: &Path, notes: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("a folder");
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, notes);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            notes.push(path);
        }
    }
    notes.sort();
}

fn check(read: &Blocks<'_>, path: &str) {
    let note = read.note();
    let mut end = 0;
    for at in read.children(None) {
        let range = read[at].range.clone();
        assert!(
            range.start >= end,
            "{path}: line {} overlaps",
            read[at].line
        );
        blank(&note[end..range.start], path);
        end = range.end;
    }
    blank(&note[end..], path);
    let names = read.names();
    let mut seen = HashSet::new();
    for (at, name) in names.iter().enumerate() {
        assert!(
            seen.insert(&name.fragment),
            "{path}: {} twice",
            name.fragment
        );
        let mut inner = read[at].range.start;
        for child in read.children(Some(at)) {
            assert!(
                read[child].range.start >= inner,
                "{path}: line {}",
                read[child].line
            );
            inner = read[child].range.end;
        }
        assert!(
            inner <= read[at].range.end,
            "{path}: line {}",
            read[at].line
        );
    }
    // Checking every block of a long note would take quadratic time, so only a sample is checked.
    let step = read.len().div_ceil(60).max(1);
    for at in (0..read.len()).step_by(read.len().div_ceil(3).max(1)) {
        assert_eq!(
            read.find(&names[at].fragment),
            Ok(at),
            "{path}: {}",
            names[at].fragment
        );
    }
    for at in (0..read.len()).step_by(step) {
        let same = replace(read, at, &read.text_of(at)).expect("what was read can be written");
        assert!(
            same.text == note,
            "{path}: line {} is not written as it was read",
            read[at].line
        );
    }
}

fn blank(gap: &str, path: &str) {
    let is_blank = gap
        .trim_start_matches('\u{feff}')
        .bytes()
        .all(|byte| b" \t\r\n".contains(&byte));
    assert!(is_blank, "{path}: unexpected text between blocks: {gap:?}");
}
