//! What `doctor` says about one vault. The vault room looks; here it is put into words.

use std::path::Path;

use super::doctor::Check;
use notehost_config::VaultEntry;
use notehost_index::report;
use notehost_vault::{Findings, LARGE_NOTE, Vault, holder, inspect};

/// How many paths of a long list are told.
const TOLD: usize = 5;

/// Everything worth telling about a vault.
pub(super) fn examine(vault: &VaultEntry, state: &Path) -> Vec<Check> {
    let subject = format!("vault {}", vault.id);
    let found = match inspect(&vault.id, &vault.path, state) {
        Ok(found) => found,
        Err(error) => {
            let told = format!("{} cannot be opened: {error}", vault.path.display());
            return vec![Check::fail(
                subject,
                told,
                "name a folder that exists and that you may read",
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
            format!("it is being served by process {who}"),
            "another process can serve or call it when that one has ended",
        ));
    }
    if !found.is_writable {
        checks.push(Check::warn(
            subject.as_str(),
            "its folder cannot be written by you",
            "clients will only be able to read, whatever their tier",
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
            "give yourself the right to read, or move them out of the vault",
        ),
        (
            &found.read_only,
            "read-only on disk",
            "changes to them will be refused; `chmod u+w` allows them",
        ),
        (
            &found.not_utf8,
            "not UTF-8, so they cannot be read as text",
            "convert them: `iconv -f latin1 -t utf8 OLD > NEW`",
        ),
        (
            &found.unspeakable,
            "names that no path can spell",
            "rename them without backslashes and control characters",
        ),
        (
            &twins,
            "names that differ only in case or accents' encoding",
            "rename one of each: other systems take them for the same",
        ),
        (
            &found.stray_links,
            "symbolic links that lead out of the vault or nowhere",
            "clients cannot see them; copy the notes in if they should",
        ),
        (&found.large, &large, "split them"),
        (
            &found.future,
            "changed in the future",
            "check the clocks of the machines that share this folder",
        ),
        (
            &found.leftovers,
            "left by an interrupted change",
            "the next `notehost serve` finishes the change or takes it back",
        ),
        (
            &found.set_aside,
            "kept from a change that could be neither finished nor taken back",
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

/// What the index has to say, and what it makes of peculiar files.
fn of_index(subject: &str, vault: &VaultEntry, state: &Path, is_served: bool) -> Vec<Check> {
    let looked = Vault::open_to_look(&vault.id, &vault.path, state);
    let Some(found) = looked.ok().and_then(|vault| report(&vault).ok()) else {
        return Vec::new();
    };
    let mut checks = Vec::new();
    if found.is_there {
        let told = format!(
            "its index has {} notes, {} links, {} tags; {} files changed since it was written",
            found.notes, found.links, found.tags, found.changed
        );
        // Whoever serves it follows the files, and writes down what it knows now and then.
        checks.push(match found.changed > 0 && !is_served {
            true => Check::warn(
                subject,
                told,
                "the next `notehost serve` reads them; `notehost index rebuild` builds it anew",
            ),
            false => Check::ok(subject, told),
        });
    }
    let lists: [(&[String], &str, &str); 4] = [
        (
            &found.conflicts,
            "copies that a sync tool made of notes that two machines changed",
            "compare each with its original, keep what is right and remove the copy",
        ),
        (
            &found.placeholders,
            "notes that are only in the cloud, so nobody can read them here",
            "have the sync tool keep this folder on this machine",
        ),
        (
            &found.refused,
            "ignore filters that are invalid or over a limit, and ignore nothing",
            "correct or remove them",
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
                "{} notes are left out of searches, as `.notehostignore` and Obsidian's settings say: {}",
                found.ignored.len(),
                some(&found.ignored)
            ),
        ));
    }
    checks
}

/// The first few of a list of paths.
fn some(paths: &[String]) -> String {
    let told = paths
        .iter()
        .take(TOLD)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    match paths.len().saturating_sub(TOLD) {
        0 => told,
        more => format!("{told} and {more} more"),
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
