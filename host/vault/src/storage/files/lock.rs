//! The writer locks of a vault. A file in the state folder names the holder; a lock on the vault's folder itself also
//! excludes processes with another state folder. The folder is locked, not a file in it, so that opening a vault
//! read-only leaves no trace.

use notehost_sdk::Code;
use std::{
    fs::{File, TryLockError},
    io::{self, Read, Seek, Write},
    path::Path,
    sync::Arc,
};

use serde_json::json;

use crate::{
    error::VaultError,
    storage::files::{
        commit::journal::{KEY_FILE, Seal},
        disk::Folder,
    },
};

/// Held as long as the vault is open; the system lets go of it when the process ends, however it ends.
pub(crate) struct WriterLock {
    file: File,
    root: Arc<Folder>,
    /// What only the writer of this state folder can make.
    pub(crate) seal: Seal,
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        // A child process that is just being started may still share the file: closing it is not enough.
        self.root.unlock();
        let _ = self.file.unlock();
    }
}

impl WriterLock {
    /// Takes both locks. `state` is the vault's own state folder.
    pub(crate) fn take(state: &Path, root: &Arc<Folder>) -> Result<WriterLock, VaultError> {
        let failed =
            |error: std::io::Error| VaultError::internal("take the vault's lock", error.kind());
        let mut file = notehost_platform::private::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(state.join("lock"))
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(held_by(&mut file)),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        match root.lock() {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(held_elsewhere(root));
            }
            Err(error) => tracing::warn!(
                error = %error.kind(),
                "this file system cannot lock folders: a process with another state folder could also open the vault"
            ),
        }
        let program = std::env::current_exe()
            .ok()
            .and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
            .unwrap_or_default();
        file.set_len(0).map_err(failed)?;
        file.rewind().map_err(failed)?;
        writeln!(file, "{} {program}", std::process::id()).map_err(failed)?;
        let seal = Seal::of(state).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => damaged_key(),
            _ => failed(error),
        })?;
        Ok(WriterLock {
            file,
            root: Arc::clone(root),
            seal,
        })
    }
}

/// Without the key, journals that this machine wrote cannot be distinguished from others. A new one is not created silently: what a
/// crash left would stay undone, and nobody would know why.
fn damaged_key() -> VaultError {
    VaultError::new(
        Code::Unavailable,
        format!("the file `{KEY_FILE}` in the vault's state folder is damaged: it must have 32 bytes"),
    )
    .with_hint(
        "bring it back from a backup, or remove it: a new one is made, and journals that a crash left are reported by \
         `notehost doctor` instead of replayed",
    )
}

/// The process that has locked the vault's folder, where the system shows it.
fn holder_of(root: &Folder) -> Option<u32> {
    let status = root.own_status().ok()?;
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    holder_in(&locks, root.device().ok()?, status.stamp.identity)
}

/// Who has locked a vault's folder, if anybody has: also a process with another state folder.
pub(crate) fn holder_elsewhere(root: &Folder) -> Option<String> {
    root.is_locked().then(|| match holder_of(root) {
        Some(process) => format!("{process}, with another state folder"),
        None => "(unknown), with another state folder".to_owned(),
    })
}

/// A process with another state folder has the vault.
fn held_elsewhere(root: &Folder) -> VaultError {
    let process = holder_of(root);
    held(match process {
        Some(process) => format!("process {process}, with another state folder"),
        None => "another process, with another state folder".to_owned(),
    })
    .with_details(json!({ "process": process }))
}

/// The process that has locked the folder with this inode, by the system's list of locks. Files on two devices can have the
/// same inode.
fn holder_in(locks: &str, device: (u32, u32), inode: u64) -> Option<u32> {
    // `1: FLOCK  ADVISORY  WRITE 1234 08:01:56789 0 EOF`
    let found: Vec<((u32, u32), u32)> = locks
        .lines()
        .filter_map(|line| {
            let mut fields = line.split_whitespace().skip(1);
            let is_flock = fields.next() == Some("FLOCK");
            let process = fields.nth(2)?.parse().ok()?;
            let mut place = fields.next()?.split(':');
            let mut number = || u32::from_str_radix(place.next()?, 16).ok();
            let on = (number()?, number()?);
            let is_it = is_flock && place.next()?.parse() == Ok(inode);
            is_it.then_some((on, process))
        })
        .collect();
    // A file system with subvolumes, as Btrfs, has a number of its own for each, and is listed with another one. The
    // major number of all of them is 0.
    let exact = found.iter().find(|(on, _)| *on == device);
    let without_device = || found.iter().find(|(on, _)| on.0 == 0 && device.0 == 0);
    exact.or_else(without_device).map(|(_, process)| *process)
}

fn held(who: String) -> VaultError {
    VaultError::new(
        Code::Unavailable,
        format!("the vault is already served by {who}"),
    )
    .with_hint("only one process can serve a vault at a time: stop that process or connect to it")
}

fn held_by(file: &mut File) -> VaultError {
    let mut holder = String::new();
    // The holder may be just writing its name; a lock without one is still a lock.
    let _ = file.take(200).read_to_string(&mut holder);
    let (process, program) = holder.trim().split_once(' ').unwrap_or((holder.trim(), ""));
    let who = match (process, program) {
        ("", _) => "another process".to_owned(),
        (process, "") => format!("process {process}"),
        (process, program) => format!("process {process} (`{program}`)"),
    };
    held(who).with_details(json!({ "process": process.parse::<u32>().ok() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_is_found_by_device_and_inode() {
        let locks = "1: FLOCK  ADVISORY  WRITE 11 08:01:77 0 EOF\n\
                     1: -> FLOCK  ADVISORY  WRITE 16 fe:1a:77 0 EOF\n\
                     2: POSIX  ADVISORY  WRITE 12 fe:1a:77 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 13 fe:1a:77 0 EOF\n\
                     4: FLOCK  ADVISORY  WRITE 14 00:2b:78 0 EOF\n";
        assert_eq!(holder_in(locks, (0xfe, 0x1a), 77), Some(13));
        assert_eq!(holder_in(locks, (8, 1), 77), Some(11));
        assert_eq!(holder_in(locks, (8, 2), 77), None);
        assert_eq!(holder_in(locks, (0, 0x2c), 78), Some(14));
        assert_eq!(holder_in(locks, (8, 1), 78), None);
    }
}
