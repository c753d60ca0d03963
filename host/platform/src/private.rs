//! Private files: everything in the state folder and in a vault's `.notehost`.
//!
//! The program creates every file private (`restrict_new_files`), and the vault widens a note to the mode that it should
//! have. The other way round there would be a moment in which anybody could open it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::random;

/// The mode of private folders.
pub const FOLDER_MODE: u32 = 0o700;
/// The mode of private files.
pub const FILE_MODE: u32 = 0o600;
#[cfg(unix)]
const STICKY: u32 = 0o1000;

/// The umask that the process was started with.
#[cfg(unix)]
static UMASK: OnceLock<u32> = OnceLock::new();

/// Makes new files and folders of this process private by default. Called once, at the very start.
pub fn restrict_new_files() {
    #[cfg(unix)]
    UMASK.get_or_init(|| u32::from(set_umask(0o077)));
}

/// Gives a child process the umask that this process was started with: the output of a compiler need not be
/// private.
pub fn restore_umask(command: &mut std::process::Command) {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        let original = umask() as u16;
        let restore = move || {
            set_umask(original);
            Ok(())
        };
        // SAFETY: between fork and exec only async-signal-safe functions may run; `umask` is one, and nothing is allocated.
        #[allow(unsafe_code)]
        unsafe {
            command.pre_exec(restore);
        }
    }
    #[cfg(not(unix))]
    let _ = command;
}

/// The mode that a new note gets: as for any program of this user.
pub fn note_mode() -> u32 {
    0o666 & !umask()
}

/// The mode that a new folder of notes gets.
pub fn notes_folder_mode() -> u32 {
    0o777 & !umask()
}

fn umask() -> u32 {
    #[cfg(unix)]
    return *UMASK.get_or_init(|| {
        // It can only be read by setting it; a file that another thread creates meanwhile is too private, never too open.
        let found = set_umask(0o077);
        set_umask(found);
        u32::from(found)
    });
    #[cfg(not(unix))]
    0
}

#[cfg(unix)]
fn set_umask(mask: u16) -> u16 {
    let mask = rustix::fs::Mode::from_raw_mode(mask.into());
    rustix::process::umask(mask).as_raw_mode() as u16
}

/// Creates every folder of this path that is missing, private. Folders that exist keep their mode.
pub fn create_missing(path: &Path) -> io::Result<()> {
    builder().recursive(true).create(path)
}

/// Creates a private folder and every missing folder above it. If it exists, its own mode is
/// restricted; files and folders in it keep theirs.
pub fn create_folder(path: &Path) -> io::Result<()> {
    create_missing(path)?;
    restrict_folder(path)
}

/// Creates a private folder with an unused name in a shared folder.
pub fn new_folder_in(place: &Path, prefix: &str) -> io::Result<PathBuf> {
    static LAST: AtomicU64 = AtomicU64::new(0);
    for _ in 0..1000 {
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let folder = place.join(format!("{prefix}-{}-{number}", std::process::id()));
        match builder().create(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(()) => return Ok(folder),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn builder() -> DirBuilder {
    #[allow(unused_mut, reason = "changed on Unix only")]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, FOLDER_MODE);
    builder
}

/// A private file at this path, empty if it is new: for libraries that open files by name.
///
/// A file that exists is never opened: closing it would release every lock that SQLite holds on it in this process, because
/// POSIX record locks belong to the process and end when any of its descriptors of that file is closed.
pub fn create_file(path: &Path) -> io::Result<()> {
    match options().write(true).create_new(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => restrict(path),
        made => made.map(drop),
    }
}

/// Options that create a file privately.
pub fn options() -> OpenOptions {
    #[allow(unused_mut, reason = "changed on Unix only")]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, FILE_MODE);
    options
}

/// Replaces a private file with this content, completely or not at all. Durable when this returns.
pub fn replace_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension(format!("{}.new", std::process::id()));
    // A file left by a killed process may have been created by anybody.
    match fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = options().write(true).create_new(true).open(&temporary)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&temporary, path)?;
    match path.parent() {
        Some(folder) => crate::files::sync_folder(folder),
        None => Ok(()),
    }
}

/// 32 random bytes in a private file, created on first use. Durable when this returns.
pub fn key(path: &Path) -> io::Result<[u8; 32]> {
    match File::open(path) {
        Ok(file) => {
            restrict(path)?;
            let mut bytes = Vec::new();
            file.take(33).read_to_end(&mut bytes)?;
            bytes.try_into().map_err(|_| {
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    "the key file must have 32 bytes",
                )
            })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let key = random::bytes().map_err(|error| io::Error::other(error.to_string()))?;
            replace_file(path, &key)?;
            Ok(key)
        }
        Err(error) => Err(error),
    }
}

/// Whether another user could have written this file or folder: it belongs neither to this user nor to root, or its mode
/// lets others write.
#[cfg(unix)]
pub fn is_writable_by_others(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let is_ours = found.uid() == 0 || found.uid() == rustix::process::geteuid().as_raw();
    !is_ours || found.mode() & 0o022 != 0
}

#[cfg(not(unix))]
pub fn is_writable_by_others(_: &fs::Metadata) -> bool {
    false
}

/// Whether others can read this secret. The group of a file that belongs to root may: that is how a system hands a key to
/// the users of its services.
#[cfg(unix)]
pub fn is_readable_by_others(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let is_handed_out = found.uid() == 0 && rustix::process::geteuid().as_raw() != 0;
    let others = if is_handed_out { 0o037 } else { 0o077 };
    found.mode() & others != 0
}

#[cfg(not(unix))]
pub fn is_readable_by_others(_: &fs::Metadata) -> bool {
    false
}

/// Whether any user of this machine can write it. The groups of many systems have one user each, so theirs count as ours.
#[cfg(unix)]
pub fn is_writable_by_everybody(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    found.mode() & 0o002 != 0
}

#[cfg(not(unix))]
pub fn is_writable_by_everybody(_: &fs::Metadata) -> bool {
    false
}

/// Whether a file belongs to this user and is inaccessible to others.
#[cfg(unix)]
pub fn is_own_and_private(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let own = rustix::process::geteuid().as_raw();
    file.metadata()
        .is_ok_and(|found| found.is_file() && found.uid() == own && found.mode() & 0o077 == 0)
}

#[cfg(not(unix))]
pub fn is_own_and_private(_: &File) -> bool {
    true
}

/// Restricts a folder. One that is meant for everybody, as `/tmp` is, keeps its mode: only what is created in it is
/// private.
#[cfg(unix)]
pub fn restrict_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    match fs::metadata(path)?.mode() & STICKY {
        0 => restrict(path),
        _ => Ok(()),
    }
}

/// Removes the permissions of everybody but the owner.
#[cfg(unix)]
pub fn restrict(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let found = fs::metadata(path)?;
    if found.mode() & 0o077 == 0 {
        return Ok(());
    }
    let own = rustix::process::geteuid().as_raw();
    match fs::set_permissions(path, fs::Permissions::from_mode(found.mode() & 0o700)) {
        Ok(()) if fs::metadata(path)?.mode() & 0o077 == 0 => Ok(()),
        // A mode that does not change, or that its owner cannot change, shows a file system without modes.
        Ok(()) => without_modes(path),
        Err(_) if found.uid() == own || has_no_modes(path) => without_modes(path),
        Err(error) => Err(io::Error::new(
            error.kind(),
            format!(
                "`{0}` belongs to the user {1}, and other users can open it: run `sudo chown -R {own} {0} && chmod 700 {0}`, \
                 or choose another folder with `--state DIR`",
                path.display(),
                found.uid()
            ),
        )),
    }
}

/// A file system without modes cannot keep anything private: that is the user's decision, and is reported.
#[cfg(unix)]
fn without_modes(path: &Path) -> io::Result<()> {
    static REPORTED: std::sync::Once = std::sync::Once::new();
    REPORTED.call_once(|| {
        tracing::warn!(
            "`{}` is on a file system without file modes: other users of this machine may be able to read it",
            path.display()
        );
    });
    Ok(())
}

/// Whether a file system is known to have no modes: FAT, exFAT, NTFS, SMB.
#[cfg(target_os = "linux")]
fn has_no_modes(path: &Path) -> bool {
    const TYPES: [u64; 6] = [
        0x4d44,
        0x2011_bab0,
        0x5346_544e,
        0x517b,
        0xff53_4d42,
        0xfe53_4d42,
    ];
    crate::files::file_system_type(path).is_some_and(|found| TYPES.contains(&found))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn has_no_modes(_: &Path) -> bool {
    false
}

/// Whether other users can open a file or folder.
#[cfg(unix)]
pub fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(path).is_ok_and(|found| found.mode() & 0o077 != 0)
}

#[cfg(not(unix))]
pub fn is_open_to_others(_: &Path) -> bool {
    false
}

#[cfg(not(unix))]
pub fn restrict_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
pub fn restrict(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("there").permissions().mode() & 0o777
    }

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    }

    #[test]
    fn a_shared_folder_keeps_its_mode() {
        let place = tempfile::tempdir().expect("a folder");
        let shared = place.path().join("shared");
        fs::create_dir(&shared).expect("a folder");
        set(&shared, 0o1777);
        create_folder(&shared).expect("it is there");
        assert_eq!(mode(&shared), 0o777);
        create_folder(&shared.join("state")).expect("a folder");
        assert_eq!(mode(&shared.join("state")), 0o700);
        let new = new_folder_in(&shared, "new").expect("a folder");
        assert_eq!(mode(&new), 0o700);
    }

    #[test]
    fn only_the_folder_itself_is_restricted() {
        let place = tempfile::tempdir().expect("a folder");
        let file = place.path().join("code");
        fs::write(&file, "").expect("a file");
        set(place.path(), 0o755);
        set(&file, 0o666);
        create_missing(place.path()).expect("it is there");
        assert_eq!(mode(place.path()), 0o755);
        create_folder(place.path()).expect("it is there");
        assert_eq!((mode(place.path()), mode(&file)), (0o700, 0o666));
        assert!(is_writable_by_others(&fs::metadata(&file).expect("there")));
    }

    #[test]
    fn a_key_is_created_once_and_a_damaged_one_is_refused() {
        let place = tempfile::tempdir().expect("a folder");
        let file = place.path().join("journal.key");
        let made = key(&file).expect("a key");
        assert_eq!(key(&file).expect("a key"), made);
        assert_ne!(made, [0; 32]);
        assert_eq!(mode(&file), 0o600);
        fs::write(&file, "short").expect("written");
        assert!(key(&file).is_err());
    }
}
