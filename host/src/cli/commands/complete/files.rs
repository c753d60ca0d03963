//! Completion of local files and folders.

use std::path::Path;

use super::Candidate;
use notehost_config::expand_home;

/// The maximum number of candidates.
const MAX_CANDIDATES: usize = 1000;

/// The files and folders with this prefix. Hidden ones only if the prefix begins with a dot.
pub(super) fn beginning(typed: &str) -> Vec<Candidate> {
    let (folder, name) = match typed.rsplit_once('/') {
        Some((folder, name)) => (format!("{folder}/"), name),
        None => (String::new(), typed),
    };
    let place = match folder.as_str() {
        "" => Path::new(".").to_owned(),
        folder => expand_home(Path::new(folder)),
    };
    let mut found: Vec<Candidate> = std::fs::read_dir(place)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let found = entry.file_name().into_string().ok()?;
            let is_shown = !found.starts_with('.') || name.starts_with('.');
            if !found.starts_with(name) || !is_shown {
                return None;
            }
            let end = if entry.path().is_dir() { "/" } else { "" };
            Some(Candidate::new(format!("{folder}{found}{end}"), ""))
        })
        .take(MAX_CANDIDATES)
        .collect();
    found.sort_by(|one, other| one.value.cmp(&other.value));
    found
}
