//! The `doctor` checks of one vault. The `vault` crate finds the problems; here they are worded.

use std::path::Path;

use crate::cli::commands::doctor::Check;
use notehost_config::VaultEntry;
use notehost_index::report;
use notehost_vault::{Findings, LARGE_NOTE, Vault, holder, inspect};

/// The maximum number of paths shown of a list.
const MAX_PATHS: usize = 5;

/// All checks of a vault.
pub(super) fn examine(vault: &VaultEntry, state: &Path) -> Vec<Check> {
    let subject = format!("vault {}", vault.id);
    let found = match inspect(&vault.id, &vault.path, state) {
        Ok(found) => found,
        Err(error) => {
            let message = format!("{} cannot be opened: {error}", vault.path.display());
            return vec![Check::fail(
                subject,
                message,
                "use an existing folder that you can read",
            )];
        }
    };
    let mut checks = vec![Check::ok(
        subject.as_str(),
        format!(
            "{}: {} notes, {} KiB",
            vault.path.display(),
            found.notes,
            found.bytes.div_ceil(1024)
        ),
    )];
    let served = holder(&vault.id, &vault.path, state).ok().flatten();
    if let Some(who) = &served {
        checks.push(Check::warn(
            subject.as_str(),
            format!("in use by process {who}"),
            "other processes with this state folder reach it through that one; others can use it after that process ends",
        ));
    }
    if !found.is_writable {
        checks.push(Check::warn(
            subject.as_str(),
            "its folder is not writable for your user",
            "clients can only read, regardless of their tier",
        ));
    }
    checks.extend(oddities(&subject, &found));
    checks.extend(of_index(&subject, vault, state, served.is_some()));
    checks
}

fn oddities(subject: &str, found: &Findings) -> Vec<Check> {
    let twins: Vec<String> = found.twins.iter().map(|alike| alike.join(" / ")).collect();
    let large = format!("over {} MiB, slow to read and to edit", LARGE_NOTE >> 20);
    let left: Vec<String> = found
        .left_as
        .iter()
        .map(|(path, left_as)| format!("{path} as `{left_as}`"))
        .collect();
    let lists: [(&[String], &str, &str); 12] = [
        (
            &found.unreadable,
            "cannot be read",
            "make them readable for your user, or move them out of the vault",
        ),
        (
            &found.read_only,
            "read-only on disk",
            "changes to them will be refused; `chmod u+w` allows them",
        ),
        (
            &found.not_utf8,
            "not UTF-8, so not readable as text",
            "convert them: `iconv -f latin1 -t utf8 OLD > NEW`",
        ),
        (
            &found.unspeakable,
            "names that are not valid in a path",
            "rename them without backslashes and control characters",
        ),
        (
            &twins,
            "names that differ only in case or Unicode normalization",
            "rename one of each: other systems treat them as the same file",
        ),
        (
            &found.stray_links,
            "symbolic links that are dangling or point outside the vault",
            "clients cannot see them; copy the notes into the vault if they should",
        ),
        (&found.large, &large, "split them"),
        (
            &found.future,
            "modified in the future",
            "check the clocks of the machines that share this folder",
        ),
        (
            &found.leftovers,
            "journals of an interrupted change",
            "the next `notehost serve` completes the change or rolls it back",
        ),
        (
            &found.set_aside,
            "kept from a change that could be neither completed nor rolled back",
            "compare `parked` files with your notes and keep them: one may be the only copy of a note; look into `notehost \
             call document.trash`, then remove the rest",
        ),
        (
            &left,
            "left by this machine under another id or path of this vault",
            "start once with that id and path, which finishes the change or takes it back; remove nothing before",
        ),
        (
            &found.foreign,
            "in `.notehost` and not written by this machine: never replayed",
            "another machine that shares this vault may need them; if there is none, look where they came from, and keep \
             `parked` files: one may be the only copy of a note",
        ),
    ];
    lists
        .into_iter()
        .filter(|(paths, _, _)| !paths.is_empty())
        .map(|(paths, what, advice)| {
            Check::warn(
                subject,
                format!("{} {what}: {}", paths.len(), some(paths)),
                advice,
            )
        })
        .collect()
}

/// The checks of the index, and the files that it reports.
fn of_index(subject: &str, vault: &VaultEntry, state: &Path, is_served: bool) -> Vec<Check> {
    let looked = Vault::open_read_only(&vault.id, &vault.path, state);
    let Some(found) = looked.ok().and_then(|vault| report(&vault).ok()) else {
        return Vec::new();
    };
    let mut checks = Vec::new();
    if found.is_there {
        let message = format!(
            "the index has {} notes, {} links, {} tags; {} files changed since it was written",
            found.notes, found.links, found.tags, found.changed
        );
        // A server follows the files, and writes the index periodically.
        checks.push(match found.changed > 0 && !is_served {
            true => Check::warn(
                subject,
                message,
                "the next `notehost serve` updates it; `notehost index rebuild` rebuilds it",
            ),
            false => Check::ok(subject, message),
        });
    }
    let lists: [(&[String], &str, &str); 4] = [
        (
            &found.conflicts,
            "sync conflict copies of notes that two machines changed",
            "compare each with its original, merge them and delete the copy",
        ),
        (
            &found.placeholders,
            "notes that are only in the cloud, so not readable here",
            "configure the sync tool to keep this folder on this machine",
        ),
        (
            &found.refused,
            "ignore filters that are invalid or over a limit, and have no effect",
            "correct or delete them",
        ),
        (
            &found.unread_properties,
            "notes without properties: their frontmatter is invalid YAML or over a limit",
            "`notehost call document.properties` on one of them shows the reason",
        ),
    ];
    for (paths, what, advice) in lists {
        if !paths.is_empty() {
            checks.push(Check::warn(
                subject,
                format!("{} {what}: {}", paths.len(), some(paths)),
                advice,
            ));
        }
    }
    if !found.ignored.is_empty() {
        checks.push(Check::ok(
            subject,
            format!(
                "{} notes are excluded from searches by `.notehostignore` or Obsidian's settings: {}",
                found.ignored.len(),
                some(&found.ignored)
            ),
        ));
    }
    checks
}

/// The first few of a list of paths.
fn some(paths: &[String]) -> String {
    let shown = paths
        .iter()
        .take(MAX_PATHS)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    match paths.len().saturating_sub(MAX_PATHS) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_cut() {
        let paths: Vec<String> = (0..8).map(|number| format!("{number}.md")).collect();
        assert_eq!(some(&paths), "0.md, 1.md, 2.md, 3.md, 4.md and 3 more");
    }
}
