//! Corpus test: parsing real or awkward notes is deterministic, and card ranges are valid.
//! `NOTEHOST_CORPUS` is a folder of notes to use instead of the bundled ones.

use std::path::{Path, PathBuf};

use notehost_sdk::serde_json::json;
use notehost_sdk::{Describes as _, Vault};

fn notes(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            notes(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

#[test]
fn parsing_is_deterministic_and_ranges_are_valid() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/notes");
    let folder = std::env::var_os("NOTEHOST_CORPUS").map_or(own, PathBuf::from);
    let mut paths = Vec::new();
    notes(&folder, &mut paths);
    assert!(!paths.is_empty(), "no notes in {}", folder.display());
    let mut count = 0;
    for path in paths {
        let Ok(note) = std::fs::read_to_string(&path) else {
            continue;
        };
        let found = notehost_flashcard::passages(&note);
        assert_eq!(
            found,
            notehost_flashcard::passages(&note),
            "{}",
            path.display()
        );
        let mut end = 0;
        for (range, whole) in &found {
            let fits = end <= whole.start && whole.start <= range.start && range.end <= whole.end;
            assert!(
                fits && note.get(whole.clone()).is_some(),
                "{}: {whole:?}",
                path.display()
            );
            end = whole.end;
        }
        count += found.len();
        let vault = Vault::in_memory().with("N.md", &note);
        let list = || {
            notehost_flashcard::Domain::call(
                &vault,
                "list",
                &json!({ "path": "N.md", "limit": 500 }).to_string(),
            )
        };
        let (once, twice) = (list().expect("it is listed"), list().expect("it is listed"));
        assert_eq!(once, twice, "{}", path.display());
    }
    assert!(count > 0, "no cards in {}", folder.display());
}
