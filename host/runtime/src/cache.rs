//! The on-disk cache of compiled code. A file is named by the digest of its source and by the engine settings, and its
//! own digest is beside it; a file that is damaged, truncated or from another component is compiled again.
//!
//! A process that can write to the cache can run code in the host. So the folder and each file must belong to this user or to
//! root and be writable by nobody else, and no file may be a symbolic link. Both are opened once, and the open handles
//! are checked; files that fail are compiled again and replaced. A folder that stays writable for others is not used.
//!
//! Code is memory-mapped: only what runs takes memory, and the system can reclaim it.

use std::fs::File;
use std::hash::{Hash as _, Hasher as _};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use wasmtime::Engine;
use wasmtime::component::Component;

use super::engine::{self, Room};
use notehost_config::LimitSettings;
use notehost_platform::files::{open_folder, open_in_folder, path_of_open};
use notehost_platform::memory::release_free_memory;
use notehost_platform::private::{self, is_writable_by_others};

/// How much of a file is read at once to check it.
const BUFFER_BYTES: usize = 256 << 10;
/// More than a digest has.
const MAX_DIGEST_BYTES: u64 = 64;
/// How the name of a file begins that is being written.
const NEW: &str = "new-";

/// The folder of compiled code.
pub(super) struct CompiledCode {
    folder: PathBuf,
    engine_key: String,
    limits: LimitSettings,
    room: Room,
    /// Whether it was reported that others can write to the folder.
    is_reported: AtomicBool,
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
            is_reported: AtomicBool::new(false),
        }
    }

    /// The component compiled from the bytes of this digest, if it is in the folder and sound.
    pub(super) fn find(&self, engine: &Engine, digest: &str) -> Option<Component> {
        self.read(engine, &self.name(digest))
    }

    /// Compile the bytes of this digest, and keep what comes of it.
    pub(super) fn compile(
        &self,
        engine: &Engine,
        digest: &str,
        wasm: &[u8],
    ) -> wasmtime::Result<Component> {
        let name = self.name(digest);
        let code = engine::compiler(&self.limits, self.room)?.precompile_component(wasm)?;
        match self.keep(&name, &code) {
            Ok(false) => {}
            Ok(true) => {
                if let Some(component) = self.read(engine, &name) {
                    // What was compiled is in memory as a whole; what was cached is not.
                    drop(code);
                    release_free_memory();
                    return Ok(component);
                }
            }
            Err(error) => tracing::warn!("cannot cache compiled code: {error:#}"),
        }
        // SAFETY: wasmtime itself just made these bytes.
        #[allow(unsafe_code)]
        unsafe {
            Component::deserialize(engine, &code)
        }
    }

    fn name(&self, digest: &str) -> String {
        format!("{digest}-{}", self.engine_key)
    }

    fn read(&self, engine: &Engine, name: &str) -> Option<Component> {
        let code = match self.open_sound(name) {
            Ok(code) => code?,
            // `keep` closes the folder, or reports that it cannot.
            Err(CacheError::OpenFolder) => return None,
            Err(reason) => {
                let folder = self.folder.display();
                tracing::warn!(
                    "compiled code in `{folder}` is not trusted and is compiled again: {reason}"
                );
                return None;
            }
        };
        // SAFETY: wasmtime trusts this file. It was opened in a folder and with a mode that let only this user (or root)
        // write it, its digest binds it to this component and this engine, it was written by `keep` below, and it is
        // replaced but never changed.
        #[allow(unsafe_code)]
        let component = unsafe {
            Component::deserialize_file(engine, path_of_open(&code, &self.folder.join(name)))
        };
        component
            .inspect_err(|error| tracing::warn!("cannot load compiled code: {error:#}"))
            .ok()
    }

    /// The file of that name, opened: `None` if there is none, an error if it cannot be trusted.
    fn open_sound(&self, name: &str) -> Result<Option<File>, CacheError> {
        let Some(folder) = found(open_folder(&self.folder))? else {
            return Ok(None);
        };
        check_owner(&folder, true)?;
        let open = |name: &str| -> Result<Option<File>, CacheError> {
            let Some(file) = found(open_in_folder(&folder, &self.folder, name))? else {
                return Ok(None);
            };
            check_owner(&file, false)?;
            Ok(Some(file))
        };
        let Some(mut code) = open(name)? else {
            return Ok(None);
        };
        let mut stored = Vec::new();
        if let Some(file) = open(&beside(name))? {
            file.take(MAX_DIGEST_BYTES).read_to_end(&mut stored)?;
        }
        if stored != digest(&mut code, name)?.as_bytes() {
            return Err(CacheError::Damaged);
        }
        code.rewind()?;
        Ok(Some(code))
    }

    /// Whether it was kept: not in a folder that others can write.
    fn keep(&self, name: &str, mut code: &[u8]) -> wasmtime::Result<bool> {
        if !self.reclaim()? {
            self.report_open();
            return Ok(false);
        }
        self.put(name, code)?;
        let digest = digest(&mut code, name)?;
        self.put(&beside(name), digest.as_bytes())?;
        Ok(true)
    }

    /// Makes the folder ours alone, and returns whether it is. Code in one that others could write is removed: a mode that
    /// is mended says nothing about who wrote a file before. Only regular files that are named as the cache names them are
    /// ever removed. A link may lead to a folder with other files in it: that one is left as it is.
    fn reclaim(&self) -> std::io::Result<bool> {
        private::create_missing(&self.folder)?;
        let found = std::fs::metadata(&self.folder)?;
        if self.folder.is_symlink() && !self.has_only_code()? {
            return Ok(!is_writable_by_others(&found));
        }
        private::create_folder(&self.folder)?;
        if !is_writable_by_others(&found) {
            return Ok(true);
        }
        if is_writable_by_others(&std::fs::metadata(&self.folder)?) {
            return Ok(false);
        }
        tracing::warn!(
            "other users could write to `{}`: its compiled code is discarded",
            self.folder.display()
        );
        for entry in std::fs::read_dir(&self.folder)?.flatten() {
            if entry.file_type()?.is_file() && is_code(&entry.file_name()) {
                std::fs::remove_file(entry.path())?;
            }
        }
        Ok(true)
    }

    /// Whether there is nothing in the folder but what the cache puts there.
    fn has_only_code(&self) -> std::io::Result<bool> {
        for entry in std::fs::read_dir(&self.folder)? {
            if !is_code(&entry?.file_name()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Every component meets it, and one line is enough.
    fn report_open(&self) {
        if !self.is_reported.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "compiled code is not kept: others can write to `{}`, so every start compiles anew; allow it only to the \
                 user that runs notehost: `chmod go-w`",
                self.folder.display()
            );
        }
    }

    fn put(&self, name: &str, bytes: &[u8]) -> wasmtime::Result<()> {
        let mut file = tempfile_in(&self.folder)?;
        file.1.write_all(bytes)?;
        file.1.sync_all()?;
        std::fs::rename(&file.0, self.folder.join(name))?;
        Ok(())
    }
}

/// Why a file of the cache is not run.
#[derive(Debug, thiserror::Error)]
enum CacheError {
    #[error("the folder belongs to another user, or others can write to it")]
    OpenFolder,
    #[error("a file belongs to another user, or others can write to it")]
    OpenFile,
    #[error("it is not a regular file")]
    NoFile,
    #[error("it is damaged")]
    Damaged,
    #[error("it cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
}

/// A missing file is not an error.
fn found(opened: std::io::Result<File>) -> Result<Option<File>, CacheError> {
    match opened {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Checks what was opened, not what has the name now.
fn check_owner(opened: &File, is_folder: bool) -> Result<(), CacheError> {
    let found = opened.metadata()?;
    match is_folder {
        true if is_writable_by_others(&found) => Err(CacheError::OpenFolder),
        false if !found.is_file() => Err(CacheError::NoFile),
        false if is_writable_by_others(&found) => Err(CacheError::OpenFile),
        _ => Ok(()),
    }
}

/// Whether the cache gives files this name: `DIGEST-ENGINE`, `DIGEST-ENGINE.digest`, or `new-PROCESS-NUMBER`.
fn is_code(name: &std::ffi::OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    let is_hex = |text: &str, digits: usize| {
        text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let code = name.strip_suffix(".digest").unwrap_or(name);
    let is_kept = |(digest, engine)| is_hex(digest, 64) && is_hex(engine, 16);
    let is_new = |(process, number)| is_number(process) && is_number(number);
    let new = name.strip_prefix(NEW);
    code.split_once('-').is_some_and(is_kept)
        || new
            .and_then(|rest| rest.split_once('-'))
            .is_some_and(is_new)
}

/// The file with the digest of a file.
fn beside(name: &str) -> String {
    format!("{name}.digest")
}

/// Binds code to its file's name, and so to the component and the engine.
fn digest(code: &mut impl std::io::Read, name: &str) -> std::io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(name.as_bytes());
    hasher.update(&[0]);
    let mut part = vec![0; BUFFER_BYTES];
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

/// A new file that no other process writes to.
fn tempfile_in(folder: &Path) -> std::io::Result<(PathBuf, std::fs::File)> {
    let mut attempt = 0u32;
    loop {
        let path = folder.join(format!("{NEW}{}-{attempt}", std::process::id()));
        match private::options().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && attempt < 1000 => {
                attempt += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn cache(folder: &Path) -> CompiledCode {
        let limits = LimitSettings::default();
        let (engine, room) = engine::start(&limits).expect("an engine");
        CompiledCode::new(folder, &engine, &limits, room)
    }

    #[track_caller]
    fn distrusted(cache: &CompiledCode, name: &str, wanted: &str) {
        let refused = cache.open_sound(name).expect_err("it is not trusted");
        assert!(refused.to_string().contains(wanted), "{refused}");
    }

    #[test]
    fn cache_files_are_bound_to_their_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = cache(folder.path());
        let put = |name: &str, code: &[u8], digest_of: &str| {
            let digest = digest(&mut &b"code"[..], digest_of).expect("a digest");
            cache.put(name, code).expect("code");
            cache.put(&beside(name), digest.as_bytes()).expect("kept");
        };
        put("abc-1", b"code", "abc-1");
        assert!(cache.open_sound("abc-1").is_ok_and(|code| code.is_some()));
        for (name, code, digest_of) in [
            ("abc-2", &b"code"[..], "abc-1"),
            ("abc-3", b"cod3", "abc-3"),
            ("abc-4", b"cod", "abc-4"),
        ] {
            put(name, code, digest_of);
            distrusted(&cache, name, "damaged");
        }
        cache.put(&beside("abc-1"), b"").expect("it is cut");
        distrusted(&cache, "abc-1", "damaged");
        assert!(cache.open_sound("abc-5").is_ok_and(|code| code.is_none()));
    }

    #[test]
    fn files_writable_by_others_are_replaced() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("compiled");
        let cache = cache(&folder);
        let name = &cache.name(&"a".repeat(64));
        let code = folder.join(name);
        let mode = |path: &Path, mode| set_permissions(path, Permissions::from_mode(mode));
        let is_sound = || cache.open_sound(name).is_ok_and(|code| code.is_some());
        let keep = || assert!(cache.keep(name, b"code").expect("kept"));
        keep();
        assert!(is_sound());
        for open in [0o620, 0o602, 0o666] {
            mode(&code, open).expect("a mode");
            distrusted(&cache, name, "others can write");
            keep();
            assert!(is_sound(), "it was replaced");
        }
        mode(&folder.join(beside(name)), 0o606).expect("a mode");
        distrusted(&cache, name, "others can write");
        keep();

        // In a folder that was open nothing is trusted, whatever its own mode is.
        mode(&folder, 0o777).expect("a mode");
        let planted = cache.name(&"b".repeat(64));
        cache.put(&planted, b"code").expect("written");
        cache.put("new-7-0", b"code").expect("written");
        let theirs = folder.join("theirs");
        std::fs::create_dir(&theirs).expect("a folder");
        std::fs::write(theirs.join(&planted), "text").expect("a file");
        distrusted(&cache, name, "the folder");
        keep();
        assert!(is_sound());
        assert!(!folder.join(&planted).exists() && !folder.join("new-7-0").exists());
        assert!(theirs.join(&planted).exists(), "no folder is removed");
        let found = std::fs::metadata(&folder).expect("a folder");
        assert_eq!(found.permissions().mode() & 0o777, 0o700);

        // A link to code of somebody else, and something that is not a file.
        std::fs::rename(&code, place.path().join("elsewhere")).expect("renamed");
        std::os::unix::fs::symlink("../elsewhere", &code).expect("a link");
        distrusted(&cache, name, "cannot be read");
        std::fs::remove_file(&code).expect("removed");
        std::fs::create_dir(&code).expect("a folder");
        distrusted(&cache, name, "not a regular file");
    }

    #[test]
    fn a_foreign_folder_behind_a_symlink_is_not_modified() {
        let place = tempfile::tempdir().expect("a folder");
        let (theirs, folder) = (place.path().join("theirs"), place.path().join("compiled"));
        let cache = cache(&folder);
        let name = cache.name(&"a".repeat(64));
        for file in ["letters/one.txt", "two.txt", &name] {
            let file = theirs.join(file);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(file, "text").expect("a file");
        }
        set_permissions(&theirs, Permissions::from_mode(0o775)).expect("a mode");
        std::os::unix::fs::symlink(&theirs, &folder).expect("a link");
        assert!(!cache.keep(&name, b"code").expect("nothing failed"));
        for file in ["letters/one.txt", "two.txt", &name] {
            assert_eq!(
                std::fs::read(theirs.join(file)).expect("still there"),
                b"text"
            );
        }
        let mode = || {
            std::fs::metadata(&theirs)
                .expect("there")
                .permissions()
                .mode()
                & 0o777
        };
        assert_eq!(mode(), 0o775);

        // One for the cache alone is closed, and its code compiled again.
        std::fs::remove_dir_all(theirs.join("letters")).expect("removed");
        std::fs::remove_file(theirs.join("two.txt")).expect("removed");
        assert!(cache.keep(&name, b"code").expect("kept"));
        assert_eq!(mode(), 0o700);
        assert!(cache.open_sound(&name).is_ok_and(|code| code.is_some()));
    }

    #[test]
    fn a_world_writable_folder_is_not_used() {
        let place = tempfile::tempdir().expect("a folder");
        let cache = cache(place.path());
        let name = cache.name(&"a".repeat(64));
        // As `/tmp` is: it keeps its mode.
        set_permissions(place.path(), Permissions::from_mode(0o1777)).expect("a mode");
        assert!(!cache.keep(&name, b"code").expect("nothing failed"));
        assert!(!place.path().join(&name).exists());
    }
}
