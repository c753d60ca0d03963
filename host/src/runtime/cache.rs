//! Compiled code on disk. A file is named by what it was compiled from and by what can run it, and beside it lies its
//! digest; one that is damaged, truncated or of another component is compiled anew, never trusted. The folder
//! belongs to us alone: whoever could write there could run code in the host.
//!
//! Code is mapped, not read: only what runs takes memory, and the system can take it back.

use std::hash::{Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use wasmtime::Engine;
use wasmtime::component::Component;

use super::engine::{self, Room};
use crate::config::LimitSettings;
use crate::memory::give_back_all;

/// How much of a file is read at once to check it.
const AT_ONCE: usize = 256 << 10;

/// The folder of compiled code.
pub(super) struct CompiledCode {
    folder: PathBuf,
    engine_key: String,
    limits: LimitSettings,
    room: Room,
}

impl CompiledCode {
    /// For an engine that was started with these limits.
    pub(super) fn new(
        folder: &Path,
        engine: &Engine,
        limits: &LimitSettings,
        room: Room,
    ) -> CompiledCode {
        CompiledCode {
            folder: folder.to_owned(),
            engine_key: engine_key(engine),
            limits: limits.clone(),
            room,
        }
    }

    /// The component compiled from the bytes of this digest, if it is in the folder and sound.
    pub(super) fn find(&self, engine: &Engine, digest: &str) -> Option<Component> {
        self.read(engine, &self.path(digest))
    }

    /// Compile the bytes of this digest, and keep what comes of it.
    pub(super) fn compile(
        &self,
        engine: &Engine,
        digest: &str,
        wasm: &[u8],
    ) -> wasmtime::Result<Component> {
        let path = self.path(digest);
        let code = engine::compiler(&self.limits, self.room)?.precompile_component(wasm)?;
        if let Err(error) = self.keep(&path, &code) {
            tracing::warn!("compiled code could not be kept: {error:#}");
        } else if let Some(component) = self.read(engine, &path) {
            // What was compiled lies in memory as a whole; what was kept does not.
            drop(code);
            give_back_all();
            return Ok(component);
        }
        // SAFETY: wasmtime itself just made these bytes.
        #[allow(unsafe_code)]
        unsafe {
            Component::deserialize(engine, &code)
        }
    }

    fn path(&self, digest: &str) -> PathBuf {
        self.folder.join(format!("{digest}-{}", self.engine_key))
    }

    fn read(&self, engine: &Engine, path: &Path) -> Option<Component> {
        if !path.exists() {
            return None;
        }
        if !is_sound(path) {
            tracing::warn!("compiled code was damaged and is compiled again");
            return None;
        }
        // SAFETY: wasmtime trusts this file. It lies in a folder that only this user can write (mode 0700), is bound by
        // its digest to this component and this engine, was written by `keep` below, and is replaced but never changed.
        #[allow(unsafe_code)]
        let component = unsafe { Component::deserialize_file(engine, path) };
        component
            .inspect_err(|error| tracing::warn!("compiled code is of another kind: {error:#}"))
            .ok()
    }

    fn keep(&self, path: &Path, mut code: &[u8]) -> wasmtime::Result<()> {
        private_folder(&self.folder)?;
        self.put(path, code)?;
        let digest = digest(&mut code, path)?;
        self.put(&beside(path), digest.as_bytes())
    }

    fn put(&self, path: &Path, bytes: &[u8]) -> wasmtime::Result<()> {
        let mut file = tempfile_in(&self.folder)?;
        file.1.write_all(bytes)?;
        file.1.sync_all()?;
        std::fs::rename(&file.0, path)?;
        Ok(())
    }
}

/// Where the digest of a file lies.
fn beside(path: &Path) -> PathBuf {
    path.with_extension("digest")
}

/// Whether a file of the cache is what its digest says.
fn is_sound(path: &Path) -> bool {
    let stored = std::fs::read(beside(path)).unwrap_or_default();
    let found = std::fs::File::open(path).and_then(|mut file| digest(&mut file, path));
    found.is_ok_and(|found| stored == found.as_bytes())
}

/// Binds code to its file's name, and so to the component and the engine.
fn digest(code: &mut impl std::io::Read, path: &Path) -> std::io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    let name = path.file_name().unwrap_or_default();
    hasher.update(name.as_encoded_bytes());
    hasher.update(&[0]);
    let mut part = vec![0; AT_ONCE];
    loop {
        match code.read(&mut part)? {
            0 => return Ok(hasher.finalize()),
            length => hasher.update(&part[..length]),
        };
    }
}

/// What a compiled file must agree with to be run by this engine.
fn engine_key(engine: &Engine) -> String {
    let mut hasher = StableHasher(blake3::Hasher::new());
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.write(env!("CARGO_PKG_VERSION").as_bytes());
    hasher.0.finalize().to_hex()[..16].to_owned()
}

/// A `Hasher` whose result is the same in every process.
struct StableHasher(blake3::Hasher);

impl std::hash::Hasher for StableHasher {
    fn finish(&self) -> u64 {
        let mut first = [0; 8];
        first.copy_from_slice(&self.0.finalize().as_bytes()[..8]);
        u64::from_le_bytes(first)
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
}

/// A folder that only this user can use: whoever could write there could run code here, or in the sandbox.
pub(crate) fn private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
        builder.mode(0o700);
        builder.create(folder)?;
        return std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700));
    }
    #[allow(unreachable_code)]
    builder.create(folder)
}

/// A new file that no other process writes to.
fn tempfile_in(folder: &Path) -> std::io::Result<(PathBuf, std::fs::File)> {
    let mut attempt = 0u32;
    loop {
        let path = folder.join(format!("new-{}-{attempt}", std::process::id()));
        match std::fs::File::create_new(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && attempt < 1000 => {
                attempt += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_only_sound_under_its_own_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let put = |name: &str, code: &[u8], digest_of: &str| {
            let path = folder.path().join(name);
            let named = folder.path().join(digest_of);
            std::fs::write(&path, code).expect("code");
            let digest = digest(&mut &b"code"[..], &named).expect("a digest");
            std::fs::write(beside(&path), digest.as_bytes()).expect("a digest");
            is_sound(&path)
        };
        assert!(put("abc-1", b"code", "abc-1"));
        assert!(!put("abc-2", b"code", "abc-1"));
        assert!(!put("abc-3", b"cod3", "abc-3"));
        assert!(!put("abc-4", b"cod", "abc-4"));
        std::fs::write(beside(&folder.path().join("abc-1")), b"").expect("it is cut");
        assert!(!is_sound(&folder.path().join("abc-1")));
        assert!(!is_sound(&folder.path().join("abc-5")));
    }
}
