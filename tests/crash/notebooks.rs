//! A vault with several independent notebooks, changes to them, and an oracle: the same changes on a copy that is never
//! killed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use notehost::dispatch::Host;
use serde_json::{Value, json};

use crate::support::place::{Place, call};

/// Number of notes per notebook, besides its hub.
const NOTES: usize = 6;

/// The files of one notebook, by path.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

/// A call that changes one notebook, usually several of its files.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) name: &'static str,
    pub(super) arguments: Value,
}

/// Creates a notebook: a hub that links to every note, and notes that link to the hub and to each other.
pub(super) fn create_notebook(place: &Place, notebook: &str) {
    let mut hub = format!("---\nkind: hub # the middle\n---\n# Hub of {notebook}\r\n\n");
    for number in 0..NOTES {
        hub.push_str(&format!(
            "- [[{notebook} {number}]] and ![[{notebook} {number}#Part|part]]\n"
        ));
        place.write(
            &format!("{notebook}/{notebook} {number}.md"),
            format!(
                "# Note {number}\n\n## Part\n\nBack to [[{notebook} hub 0]], on to [next]({notebook}%20{}.md).\n",
                (number + 1) % NOTES
            ),
        );
    }
    place.write(&format!("{notebook}/{notebook} hub 0.md"), hub);
}

/// The next change for a notebook in this state.
pub(super) fn next_change(notebook: &str, files: &Files, turn: usize) -> Change {
    let hub = files
        .keys()
        .find(|path| path.contains(" hub "))
        .expect("the hub is never removed")
        .clone();
    let notes: Vec<&String> = files
        .keys()
        .filter(|path| !path.contains(" hub "))
        .collect();
    let some_note = notes
        .get(turn % notes.len().max(1))
        .map(|path| path.as_str());
    match (turn % 5, some_note) {
        (0, _) => Change {
            name: "document.rename",
            arguments: json!({"path": hub, "to": format!("{notebook} hub {}", turn + 1)}),
        },
        (1, Some(note)) => Change {
            name: "document.append",
            arguments: json!({"path": note, "text": format!("line of turn {turn}")}),
        },
        (2, Some(note)) => Change {
            name: "document.move",
            arguments: json!({"paths": [hub, note], "to": format!("{notebook}/Deep {}", turn % 3)}),
        },
        (3, Some(note)) if notes.len() > 3 => Change {
            name: "document.remove",
            arguments: json!({"paths": [note], "links": "unlink"}),
        },
        _ => Change {
            name: "document.create",
            arguments: json!({"path": format!("{notebook}/{notebook} new {turn}.md"), "content": format!("[[{notebook} 0]]\n")}),
        },
    }
}

/// The files of a notebook on disk.
pub(super) fn files(vault: &Path, notebook: &str) -> Files {
    let mut all = all_files(vault);
    all.retain(|path, _| path.starts_with(&format!("{notebook}/")));
    all
}

/// All visible files of a vault.
pub(super) fn all_files(vault: &Path) -> Files {
    fn collect(folder: &Path, below: &str, found: &mut Files) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let entry = entry.expect("an entry");
            let name = entry.file_name().into_string().expect("UTF-8");
            let path = format!("{below}{name}");
            if name.starts_with('.') {
                continue;
            }
            if entry.file_type().expect("a type").is_dir() {
                collect(&entry.path(), &format!("{path}/"), found);
            } else {
                found.insert(path, fs::read(entry.path()).expect("a file"));
            }
        }
    }
    let mut found = Files::new();
    collect(vault, "", &mut found);
    found
}

/// Asserts that a commit leaves no journal and no temporary file.
pub(super) fn assert_nothing_left_over(vault: &Path) {
    for folder in ["journal", "tmp"] {
        let left: Vec<_> = fs::read_dir(vault.join(".notehost").join(folder))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        assert!(left.is_empty(), "left in {folder}: {left:?}");
    }
}

/// Computes the state after a change without any fault.
pub(super) struct Oracle {
    place: Place,
    host: Arc<Host>,
}

impl Oracle {
    pub(super) async fn new() -> Oracle {
        let place = Place::new();
        let host = place.host(place.settings()).await;
        Oracle { place, host }
    }

    /// The files after a change, given those before it.
    pub(super) async fn after(&self, before: &Files, change: &Change) -> Files {
        let vault = self.place.vault();
        for entry in fs::read_dir(&vault).expect("the vault").flatten() {
            if entry.file_name() != ".notehost" {
                fs::remove_dir_all(entry.path()).expect("a notebook can be removed");
            }
        }
        for (path, bytes) in before {
            self.place.write(path, bytes);
        }
        call(&self.host, change.name, change.arguments.clone())
            .await
            .unwrap_or_else(|error| panic!("{change:?}: {}: {}", error.code, error.message));
        all_files(&vault)
    }
}
