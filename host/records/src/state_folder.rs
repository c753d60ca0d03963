//! The state folder: which folder may be used as one, and which files in it are made private.
//!
//! `--state` can name any folder by mistake, also a home folder. So only names that Notehost creates are ever touched,
//! and a folder with other files in it is refused unless the records database shows that it is in use as a state folder.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use notehost_platform::private::{create_missing, is_open_to_others, restrict, restrict_folder};
use notehost_platform::process::is_own;

/// The database that makes a folder a state folder; `database` opens it.
const RECORDS: &str = "records.sqlite";
/// How deep a state folder nests: vault, index, segment files.
const MAX_DEPTH: usize = 8;
/// The folder of compiled code. Its files are executed: those that others could write are replaced (`runtime/cache`), and
/// a restricted mode would hide which they are.
const COMPILED: &str = "compiled";
/// The other folders, besides one for each vault.
const FOLDERS: [&str; 5] = ["components", "descriptions", "dev", "logs", "sockets"];
/// How the names of files begin, also of their temporary copies.
const FILES: [&str; 5] = [
    RECORDS,
    "owner-token",
    "question.key",
    "notehost.toml",
    ".notehost.toml",
];
/// Created by file systems, like names that begin with a dot: `.snapshot`, `.Trash-1000`, `.nfs…`, `.gitkeep`.
const TOLERATED: &str = "lost+found";
/// Dot folders that show that a folder has another purpose: a repository or a vault, which would be shared with the secrets
/// of a state folder in it.
const FOREIGN_FOLDERS: [&str; 3] = [".git", ".obsidian", ".notehost"];

/// Creates the state folder if it is missing, and makes it private. One that is open to others is made private with
/// everything in it that Notehost created.
pub fn open_state(path: &Path) -> io::Result<()> {
    check_state(path)?;
    create_missing(path)?;
    let was_open = is_open_to_others(path);
    restrict_folder(path)?;
    if was_open && path.join(RECORDS).is_file() {
        restrict_entries(path);
    }
    Ok(())
}

/// Refuses a folder that contains other files. Changes nothing.
pub fn check_state(path: &Path) -> io::Result<()> {
    if path.join(RECORDS).is_file() {
        return Ok(());
    }
    // A missing folder is fine, and an unreadable one is reported when it is opened.
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let mut names = entries.map(|entry| entry.file_name());
    match names.find(|name| !is_ours(name) && !is_tolerated(name)) {
        None => Ok(()),
        Some(name) => Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            format!(
                "`{}` is not a state folder of Notehost: it contains `{}`; choose an empty or new folder with `--state DIR`",
                path.display(),
                name.display()
            ),
        )),
    }
}

/// Restricts the entries of a state folder that Notehost created.
fn restrict_entries(state: &Path) {
    for entry in fs::read_dir(state).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name != COMPILED && is_ours(&name) {
            restrict_below(&entry, 0);
        }
    }
}

/// Errors are ignored, because nobody else can enter the folder above. Links are not followed, and files of other users
/// keep their modes.
fn restrict_below(entry: &fs::DirEntry, depth: usize) {
    let Ok(found) = entry.metadata() else { return };
    if !is_own(&found) || !(found.is_dir() || found.is_file()) {
        return;
    }
    let path = entry.path();
    let _ = restrict(&path);
    if found.is_dir() && depth < MAX_DEPTH {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            restrict_below(&entry, depth + 1);
        }
    }
}

/// Whether Notehost creates entries of this name in a state folder.
fn is_ours(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    name == COMPILED
        || FOLDERS.contains(&name)
        || FILES.iter().any(|file| name.starts_with(file))
        || is_vault_key(name)
}

/// `ID-DIGEST`, the name of a vault's folder.
fn is_vault_key(name: &str) -> bool {
    let is_digest = |text: &str| text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
    name.rsplit_once('-')
        .is_some_and(|(_, digest)| is_digest(digest))
}

/// Whether a foreign entry is tolerated in a state folder. It is never touched.
fn is_tolerated(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name == TOLERATED || name.starts_with('.') && !FOREIGN_FOLDERS.contains(&&*name)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("there").permissions().mode() & 0o777
    }

    /// Folders and files that everybody can read, in a folder that everybody can read.
    fn open_folder(root: &Path, files: &[&str]) {
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
        for file in files {
            let file = root.join(file);
            let folder = file.parent().expect("a folder");
            fs::create_dir_all(folder).expect("folders");
            fs::write(&file, "").expect("a file");
            set(&file, 0o644).expect("a mode");
            for folder in folder.ancestors().take_while(|it| it.starts_with(root)) {
                set(folder, 0o755).expect("a mode");
            }
        }
    }

    const VAULT: &str = "main-0123456789abcdef";

    #[test]
    fn a_foreign_folder_is_refused_and_unchanged() {
        let place = tempfile::tempdir().expect("a folder");
        let home = place.path().join("home");
        let files = ["letter.txt", "logs/mail.log"];
        open_folder(&home, &files);
        let error = open_state(&home).expect_err("it is refused");
        assert!(error.to_string().contains("letter.txt"), "{error}");
        assert_eq!(mode(&home), 0o755);
        // In use by mistake: what is ours becomes private, the rest stays.
        open_folder(&home, &[RECORDS, &format!("{VAULT}/history.db")]);
        symlink(home.join("letter.txt"), home.join("owner-token")).expect("a link");
        open_state(&home).expect("it is in use");
        assert_eq!((mode(&home), mode(&home.join(RECORDS))), (0o700, 0o600));
        assert_eq!(mode(&home.join(VAULT).join("history.db")), 0o600);
        assert_eq!(mode(&home.join("letter.txt")), 0o644);
    }

    #[test]
    fn open_files_of_a_state_folder_are_restricted() {
        let place = tempfile::tempdir().expect("a folder");
        let state = place.path().join("state");
        let history = format!("{VAULT}/history.db");
        let segment = format!("{VAULT}/index/segment");
        let ours = [RECORDS, "components/contents/x.wasm", &history, &segment];
        open_folder(&state, &ours);
        open_folder(&state, &["compiled/code"]);
        open_state(&state).expect("it is ours");
        for file in ours {
            let file = state.join(file);
            assert_eq!(mode(&file), 0o600, "{}", file.display());
            assert!(mode(file.parent().expect("a folder")) == 0o700);
        }
        // The cache judges these by the mode that they had.
        assert_eq!(mode(&state.join("compiled/code")), 0o644);
    }

    #[test]
    fn a_new_state_folder_may_contain_tolerated_entries() {
        let place = tempfile::tempdir().expect("a folder");
        let state = place.path().join("a/state");
        open_state(&state).expect("it is made");
        assert_eq!(mode(&state), 0o700);
        symlink(place.path(), state.join(COMPILED)).expect("a link");
        for name in ["lost+found", "notehost.toml", VAULT] {
            fs::create_dir(state.join(name)).expect("an entry");
        }
        open_state(&state).expect("nothing in it is foreign");
    }

    #[test]
    fn dot_entries_are_tolerated_and_never_touched() {
        let place = tempfile::tempdir().expect("a folder");
        let entries = [".snapshot/old", ".Trash-1000/info", ".gitkeep", ".nfs0001"];
        open_folder(place.path(), &entries);
        open_state(place.path()).expect("it ignores them");
        // Also once it is in use and was left open.
        open_folder(place.path(), &[RECORDS]);
        open_state(place.path()).expect("it is ours");
        for entry in entries {
            assert_eq!(mode(&place.path().join(entry)), 0o644, "{entry}");
        }
        assert_eq!(mode(&place.path().join(".snapshot")), 0o755);
        for purpose in FOREIGN_FOLDERS {
            let place = tempfile::tempdir().expect("a folder");
            fs::create_dir(place.path().join(purpose)).expect("a folder");
            let error = open_state(place.path()).expect_err("it is refused");
            assert!(error.to_string().contains(purpose), "{error}");
        }
    }
}
