//! One process writes a vault. The lock lies in the state folder, never in the vault, and says who holds it.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Seek, Write},
    path::Path,
};

use serde_json::json;

use super::error::VaultError;

/// Held as long as the vault is open; the system lets go of it when the process ends, however it ends.
pub(super) struct WriterLock {
    file: File,
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        // A child process that is just being started may still share the file: closing it is not enough.
        let _ = self.file.unlock();
    }
}

impl WriterLock {
    pub(super) fn take(state: &Path) -> Result<WriterLock, VaultError> {
        let failed =
            |error: std::io::Error| VaultError::internal("take the vault's lock", error.kind());
        let mut file = OpenOptions::new()
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
        let program = std::env::current_exe()
            .ok()
            .and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
            .unwrap_or_default();
        file.set_len(0).map_err(failed)?;
        file.rewind().map_err(failed)?;
        writeln!(file, "{} {program}", std::process::id()).map_err(failed)?;
        Ok(WriterLock { file })
    }
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
    VaultError::new(
        "unavailable",
        format!("the vault is already served by {who}"),
    )
    .with_hint("one process serves a vault at a time: stop that one, or ask it through its client")
    .with_details(json!({ "process": process.parse::<u32>().ok() }))
}
