//! Checks of a vault's files for `notehost doctor`. Read-only and without locks; findings use paths relative to the
//! vault.

use std::collections::BTreeMap;
use std::fs::{OpenOptions, TryLockError};
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirEntry};

use crate::path::{PRIVATE, folded, is_closed, join};
use crate::state_key;
use crate::storage::files::commit::journal::{Origin, Seal};
use crate::storage::files::commit::recovery::read_journal;
use crate::storage::files::disk::{Folder, is_absent};
use crate::storage::files::lock::holder_elsewhere;

/// A note over this size is slow in every editor.
pub const LARGE_NOTE: u64 = 8 << 20;
/// How deep folders may nest before the walk stops: a mount of something into itself has no end.
const MAX_DEPTH: usize = 64;
/// Clocks of two machines that share a folder differ by less than this.
const CLOCK_SLACK: Duration = Duration::from_secs(10 * 60);

/// What was found in a vault. Every list holds vault-relative paths.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Whether files can be made in its folder.
    pub is_writable: bool,
    /// How many notes there are.
    pub notes: usize,
    /// How many bytes they have.
    pub bytes: u64,
    /// Files and folders that cannot be read.
    pub unreadable: Vec<String>,
    /// Files and folders whose mode forbids writing.
    pub read_only: Vec<String>,
    /// Notes that are not UTF-8.
    pub not_utf8: Vec<String>,
    /// Names that are not Unicode, or that no path can name.
    pub unspeakable: Vec<String>,
    /// Names in one folder that differ only in case or Unicode normal form.
    pub twins: Vec<Vec<String>>,
    /// Symbolic links that lead out of the vault, or nowhere.
    pub stray_links: Vec<String>,
    /// Notes over [`LARGE_NOTE`].
    pub large: Vec<String>,
    /// Notes that were changed in the future.
    pub future: Vec<String>,
    /// What an interrupted commit left in the vault's private folder.
    pub leftovers: Vec<String>,
    /// What a start could neither finish nor take back, and kept.
    pub set_aside: Vec<String>,
    /// What is in the vault's private folder and was not written with this state folder.
    pub foreign: Vec<String>,
    /// What this machine left there under another id of the vault or another path: each with the folder name of that vault
    /// in the state folder.
    pub left_as: Vec<(String, String)>,
}

/// Look at every file of the vault in this folder. `state` is the folder that `Vault::open` was given.
pub fn inspect(id: &str, folder: &Path, state: &Path) -> std::io::Result<Findings> {
    let own = state_key(id, &folder.canonicalize()?);
    let (own, others) = Seal::all(state)
        .into_iter()
        .partition::<Vec<_>, _>(|(name, _)| *name == own);
    let own = own.into_iter().next().map(|(_, seal)| seal);
    let root = Dir::open_ambient_dir(folder, ambient_authority())?;
    let mut walk = Walk {
        root: &root,
        latest: SystemTime::now() + CLOCK_SLACK,
        findings: Findings::default(),
    };
    walk.folder(&root, "", 0);
    // A folder that cannot be listed is among the findings already.
    if let Ok(root) = Folder::open_vault(folder) {
        walk.findings.is_writable = root.is_writable();
        walk.leftovers(&root, own.as_ref(), &others);
    }
    Ok(walk.findings)
}

/// The process that serves this vault, if there is one. `state` is the folder that `Vault::open` was given.
pub fn holder(id: &str, folder: &Path, state: &Path) -> std::io::Result<Option<String>> {
    let lock = state
        .join(state_key(id, &folder.canonicalize()?))
        .join("lock");
    let mut file = match OpenOptions::new().read(true).open(lock) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(holder_elsewhere(&Folder::open_vault(folder)?));
        }
        Err(error) => return Err(error),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(holder_elsewhere(&Folder::open_vault(folder)?)),
        Err(TryLockError::Error(error)) => Err(error),
        Err(TryLockError::WouldBlock) => {
            let mut who = String::new();
            file.read_to_string(&mut who)?;
            Ok(Some(who.trim().to_owned()))
        }
    }
}

struct Walk<'a> {
    root: &'a Dir,
    latest: SystemTime,
    findings: Findings,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Dir, path: &str, depth: usize) {
        let Ok(entries) = folder.entries() else {
            self.findings.unreadable.push(shown_folder(path));
            return;
        };
        let mut spellings: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for entry in entries.flatten() {
            let Ok(name) = entry.file_name().into_string() else {
                self.findings
                    .unspeakable
                    .push(join(path, &entry.file_name().to_string_lossy()));
                continue;
            };
            if is_closed(&name) {
                continue;
            }
            let inner = join(path, &name);
            spellings
                .entry(folded(&name))
                .or_default()
                .push(inner.clone());
            self.entry(&entry, folder, &name, inner, depth);
        }
        let twins = spellings.into_values().filter(|alike| alike.len() > 1);
        self.findings.twins.extend(twins);
    }

    fn entry(&mut self, entry: &DirEntry, folder: &Dir, name: &str, path: String, depth: usize) {
        let Ok(metadata) = entry.metadata() else {
            self.findings.unreadable.push(path);
            return;
        };
        if name.contains('\\') || name.chars().any(char::is_control) {
            self.findings.unspeakable.push(path.clone());
        }
        if metadata.is_symlink() {
            // cap_std follows a link only as far as the vault reaches.
            if self.root.metadata(&path).is_err() {
                self.findings.stray_links.push(path);
            }
            return;
        }
        if metadata.permissions().readonly() {
            self.findings.read_only.push(path.clone());
        }
        if metadata.is_dir() {
            match folder.open_dir(name) {
                Ok(inner) if depth < MAX_DEPTH => self.folder(&inner, &path, depth + 1),
                _ => self.findings.unreadable.push(path),
            }
        } else if metadata.is_file() && folded(name).ends_with(".md") {
            self.note(folder, name, path, &metadata);
        }
    }

    fn note(&mut self, folder: &Dir, name: &str, path: String, metadata: &cap_std::fs::Metadata) {
        self.findings.notes += 1;
        self.findings.bytes += metadata.len();
        let modified = metadata.modified().map(|time| time.into_std());
        if modified.is_ok_and(|modified| modified > self.latest) {
            self.findings.future.push(path.clone());
        }
        if metadata.len() > LARGE_NOTE {
            // Not read: whether it is UTF-8 is not its first problem.
            self.findings.large.push(path);
            return;
        }
        match folder.read(name) {
            Ok(bytes) if std::str::from_utf8(&bytes).is_err() => self.findings.not_utf8.push(path),
            Ok(_) => {}
            Err(_) => self.findings.unreadable.push(path),
        }
    }

    /// A commit writes beside what it replaces only within the private folder, and leaves nothing there.
    fn leftovers(&mut self, root: &Folder, own: Option<&Seal>, others: &[(String, Seal)]) {
        for place in ["journal", "tmp", "set-aside"] {
            let path = join(PRIVATE, place);
            let listed = root.descend(&path).and_then(|folder| {
                let names = folder.names()?;
                Ok((folder, names))
            });
            let (folder, names) = match listed {
                Ok(listed) => listed,
                Err(error) if is_absent(&error) => continue,
                Err(_) => {
                    self.findings.unreadable.push(path);
                    continue;
                }
            };
            for (name, _) in names {
                let path = join(&path, &name);
                let mut others = others.iter();
                if let Some((left_as, _)) =
                    others.find(|(_, seal)| seal.origin(&name) == Origin::Own)
                {
                    self.findings.left_as.push((path, left_as.clone()));
                    continue;
                }
                let own = own.filter(|seal| seal.origin(&name) == Origin::Own);
                let found = match (own, place) {
                    (None, _) => &mut self.findings.foreign,
                    (Some(_), "set-aside") => &mut self.findings.set_aside,
                    // The name alone can be forged. Nothing is opened that is not named as ours are, and a pipe does not
                    // block.
                    (Some(seal), "journal") => match read_journal(&folder, &name) {
                        Ok(Some(bytes)) if seal.open(&name, &bytes).is_some() => {
                            &mut self.findings.leftovers
                        }
                        Ok(_) => &mut self.findings.foreign,
                        Err(_) => &mut self.findings.unreadable,
                    },
                    (Some(_), _) => &mut self.findings.leftovers,
                };
                found.push(path);
            }
        }
    }
}

fn shown_folder(path: &str) -> String {
    if path.is_empty() {
        ".".into()
    } else {
        path.into()
    }
}

#[cfg(test)]
mod inspect_tests {
    use super::*;

    #[test]
    fn only_problems_are_reported() {
        let vault = tempfile::tempdir().expect("a folder");
        let at = |path: &str| vault.path().join(path);
        for folder in ["Work", ".obsidian", ".notehost/journal"] {
            std::fs::create_dir_all(at(folder)).expect("a folder");
        }
        std::fs::write(at("Work/Plan.md"), "fine").expect("a note");
        std::fs::write(at("Work/plan.md"), "twin").expect("a note");
        std::fs::write(at("Caf\u{e9}.md"), "a").expect("a note");
        std::fs::write(at("Cafe\u{301}.md"), "b").expect("a note");
        std::fs::write(at("Old.md"), b"caf\xe9").expect("a note");
        std::fs::write(at("picture.png"), b"\xff\xfe").expect("a file");
        std::fs::write(at(".obsidian/broken.md"), b"\xff").expect("a file");
        std::fs::write(at(".notehost/journal/7"), "").expect("a file");
        std::fs::File::create(at("Huge.md"))
            .and_then(|file| file.set_len(LARGE_NOTE + 1))
            .expect("a note");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/etc", at("out")).expect("a link");
            std::os::unix::fs::symlink("Work/Plan.md", at("in.md")).expect("a link");
        }

        let state = tempfile::tempdir().expect("a folder");
        let found = inspect("main", vault.path(), state.path()).expect("findings");
        assert_eq!(found.notes, 6);
        assert_eq!(found.not_utf8, ["Old.md"]);
        assert_eq!(found.large, ["Huge.md"]);
        assert!(found.leftovers.is_empty());
        assert_eq!(found.foreign, [".notehost/journal/7"]);
        assert_eq!(found.stray_links, ["out"]);
        assert_eq!(found.twins.len(), 2);
        assert!(
            found.unreadable.is_empty() && found.read_only.is_empty() && found.future.is_empty()
        );
    }

    #[test]
    fn what_another_id_of_the_vault_left_is_not_taken_for_that_of_another_machine() {
        let vault = tempfile::tempdir().expect("a folder");
        let state = tempfile::tempdir().expect("a folder");
        let canonical = vault.path().canonicalize().expect("a path");
        let before = state_key("before", &canonical);
        std::fs::create_dir_all(state.path().join(&before)).expect("a folder");
        let seal = Seal::of(&state.path().join(&before)).expect("a seal");
        let temps = vault.path().join(".notehost/tmp");
        std::fs::create_dir_all(&temps).expect("a folder");
        let parked = format!("{}-parked-0", seal.prefix("0000000000000001"));
        std::fs::write(temps.join(&parked), "the only copy").expect("a file");
        std::fs::write(temps.join("ffffffffffff-0000000000000001-0"), "").expect("a file");
        let found = inspect("after", vault.path(), state.path()).expect("findings");
        let path = format!(".notehost/tmp/{parked}");
        assert_eq!(found.left_as, [(path, before)]);
        assert_eq!(found.foreign.len(), 1, "{:?}", found.foreign);
        // Under its id it is its own.
        let found = inspect("before", vault.path(), state.path()).expect("findings");
        assert!(found.left_as.is_empty());
        assert_eq!(found.leftovers.len(), 1);
    }

    #[test]
    fn only_journals_named_as_ours_are_opened_and_a_pipe_does_not_block() {
        let vault = tempfile::tempdir().expect("a folder");
        let state = tempfile::tempdir().expect("a folder");
        let canonical = vault.path().canonicalize().expect("a path");
        let own = state.path().join(state_key("main", &canonical));
        std::fs::create_dir_all(&own).expect("a folder");
        let seal = Seal::of(&own).expect("a seal");
        let journals = vault.path().join(".notehost/journal");
        std::fs::create_dir_all(&journals).expect("a folder");
        let ours = |id: &str| {
            seal.journal_name(
                id,
                crate::storage::files::commit::journal::Direction::Forward,
            )
        };
        let (pipe, link) = (ours("0000000000000001"), ours("0000000000000002"));
        for name in [pipe.as_str(), "pipe", "ffffffffffff-0123456789abcdef.json"] {
            let made = std::process::Command::new("mkfifo")
                .arg(journals.join(name))
                .status();
            assert!(made.expect("mkfifo").success());
        }
        std::os::unix::fs::symlink("/dev/zero", journals.join(&link)).expect("a link");
        let set_aside = vault.path().join(".notehost/set-aside");
        std::fs::create_dir_all(&set_aside).expect("a folder");
        std::fs::write(set_aside.join(ours("0000000000000003")), "").expect("a file");

        let (sender, receiver) = std::sync::mpsc::channel();
        let (folder, state_path) = (vault.path().to_owned(), state.path().to_owned());
        std::thread::spawn(move || sender.send(inspect("main", &folder, &state_path)));
        let found = receiver.recv_timeout(Duration::from_secs(20));
        let found = found.expect("it does not wait").expect("findings");
        assert_eq!(found.foreign.len(), 4, "{:?}", found.foreign);
        assert_eq!(found.set_aside.len(), 1);
        assert!(found.leftovers.is_empty() && found.unreadable.is_empty());
    }
}
