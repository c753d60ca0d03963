//! The state of an index for people, computed from the files on disk so that it works beside a running server.

use std::collections::HashSet;

use notehost_sdk::is_note;

use crate::graph::Graph;
use crate::graph::disk;
use crate::graph::record::Holds;
use crate::indexer::ignore::Ignored;
use crate::{Index, indexer};
use notehost_vault::{Vault, VaultError};

/// The state of an index on disk, and which files of its vault need attention.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Whether there is an index at all.
    pub is_there: bool,
    /// How many notes are in it.
    pub notes: usize,
    /// How many other files are in it.
    pub assets: usize,
    /// How many links, tags and tasks its notes have.
    pub links: usize,
    /// How many different tags.
    pub tags: usize,
    /// How many tasks.
    pub tasks: usize,
    /// How many bytes it takes.
    pub bytes: u64,
    /// The files that changed, came or went since it was saved.
    pub changed: usize,
    /// Whether it is to be rebuilt.
    pub is_rebuild_requested: bool,
    /// The notes that searches leave out.
    pub ignored: Vec<String>,
    /// Notes that are found by their text but have no properties: their frontmatter is invalid or over a limit.
    pub unread_properties: Vec<String>,
    /// Ignore rules that are invalid.
    pub refused: Vec<String>,
    /// Copies that a sync tool made because two machines changed a note.
    pub conflicts: Vec<String>,
    /// Notes that are only in the cloud.
    pub placeholders: Vec<String>,
}

/// Inspects the index of a vault and its files.
pub fn report(vault: &Vault) -> Result<Report, VaultError> {
    let folder = vault.state().join("index");
    let stored = disk::load(&folder);
    let mut report = Report {
        is_there: stored.is_some(),
        bytes: disk::size(&folder),
        is_rebuild_requested: is_rebuild_requested(vault),
        placeholders: vault.placeholders(),
        ..Report::default()
    };
    let mut graph = Graph::default();
    for file in stored.unwrap_or_default() {
        match &file.note {
            Some(note) => {
                report.notes += 1;
                if note.has.contains(Holds::UNREAD_PROPERTIES) {
                    report.unread_properties.push(file.path.to_string());
                }
                report.links += note.links().iter().filter(|link| !link.external).count();
                report.tasks += note.rest().tasks.len();
            }
            None => report.assets += 1,
        }
        graph.put(file, false);
    }
    report.tags = graph.tags.len();

    let ignored = Ignored::of(vault);
    let scanned = vault.scan_files(|| true)?.unwrap_or_default();
    let mut there: HashSet<&str> = HashSet::new();
    for file in &scanned {
        there.insert(&file.path);
        let known = graph
            .doc_id(&file.path)
            .and_then(|doc_id| graph.file(doc_id));
        report.changed += usize::from(known.is_none_or(|known| known.stamp != file.stamp));
        if !is_note(&file.path) {
            continue;
        }
        if ignored.matches(&file.path) {
            report.ignored.push(file.path.clone());
        }
        if is_conflict_copy(&file.path) {
            report.conflicts.push(file.path.clone());
        }
    }
    report.changed += graph
        .files()
        .filter(|(_, file)| !there.contains(&*file.path))
        .count();
    report.refused = ignored.refused;
    for paths in [
        &mut report.ignored,
        &mut report.unread_properties,
        &mut report.conflicts,
        &mut report.placeholders,
    ] {
        paths.sort_unstable();
    }
    Ok(report)
}

/// Whether a rebuild of an index is requested and not done yet.
pub fn is_rebuild_requested(vault: &Vault) -> bool {
    vault.state().join("index").join(indexer::REBUILD).exists()
}

/// Requests a rebuild of an index. The process that serves the vault, now or later, does it.
pub fn request_rebuild(vault: &Vault) -> std::io::Result<()> {
    let folder = vault.state().join("index");
    notehost_platform::private::create_folder(&folder)?;
    std::fs::write(folder.join(indexer::REBUILD), b"")
}

/// Withdraws the request of [`request_rebuild`], unless building has begun. Returns whether it was withdrawn.
pub fn clear_rebuild_request(vault: &Vault, index: &Index) -> bool {
    let word = vault.state().join("index").join(indexer::REBUILD);
    index.is_ready() && std::fs::remove_file(word).is_ok()
}

/// Whether a file has the name that sync tools give to the loser of a conflict.
fn is_conflict_copy(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    [
        ".sync-conflict-",
        "conflicted copy",
        "case conflict",
        "_conflict-",
        ".conflict.md",
    ]
    .iter()
    .any(|mark| name.contains(mark))
}

#[cfg(test)]
mod report_tests {
    use super::is_conflict_copy;

    #[test]
    fn conflict_copies_are_recognised_by_name() {
        for name in [
            "Work/Plan.sync-conflict-20240131-101010-ABCDEFG.md",
            "Plan (Ann's conflicted copy 2024-01-31).md",
            "Plan (Case Conflict).md",
        ] {
            assert!(is_conflict_copy(name), "{name}");
        }
        assert!(!is_conflict_copy("Work/Conflict resolution.md"));
    }
}
