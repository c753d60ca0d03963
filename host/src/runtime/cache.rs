//! Compiled code on disk. A file is named by what it was compiled from and by what can run it, and carries a digest
//! of itself; one that is damaged, truncated or of another component is compiled anew, never trusted. The folder
//! belongs to us alone: whoever could write there could run code in the host.

use std::hash::{Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use wasmtime::Engine;
use wasmtime::component::Component;

/// What a file begins with; a change of the layout changes it.
const MAGIC: &[u8; 8] = b"nhcode01";
const DIGEST: usize = blake3::OUT_LEN;

/// The folder of compiled code.
pub(super) struct CompiledCode {
    folder: PathBuf,
    engine_key: String,
}

impl CompiledCode {
    pub(super) fn new(folder: &Path, engine: &Engine) -> CompiledCode {
        CompiledCode {
            folder: folder.to_owned(),
            engine_key: engine_key(engine),
        }
    }

    /// The component compiled from these bytes: from the folder if it is there and sound, else compiled and kept.
    pub(super) fn load(&self, engine: &Engine, wasm: &[u8]) -> wasmtime::Result<Component> {
        let name = blake3::hash(wasm).to_hex();
        let path = self.folder.join(format!("{name}-{}", self.engine_key));
        if let Some(component) = self.read(engine, &path) {
            return Ok(component);
        }
        let component = Component::new(engine, wasm)?;
        if let Err(error) = self.keep(&path, &component) {
            tracing::warn!("compiled code could not be kept: {error:#}");
        }
        Ok(component)
    }

    fn read(&self, engine: &Engine, path: &Path) -> Option<Component> {
        let file = std::fs::read(path).ok()?;
        let Some(code) = sound_code(&file, path) else {
            tracing::warn!("compiled code was damaged and is compiled again");
            return None;
        };
        // SAFETY: wasmtime trusts these bytes. They lie in a folder that only this user can write (mode 0700), are
        // bound by their digest to this component and this engine, and were written by `keep` below.
        #[allow(unsafe_code)]
        let component = unsafe { Component::deserialize(engine, code) };
        component
            .inspect_err(|error| tracing::warn!("compiled code is of another kind: {error:#}"))
            .ok()
    }

    fn keep(&self, path: &Path, component: &Component) -> wasmtime::Result<()> {
        let code = component.serialize()?;
        private_folder(&self.folder)?;
        let mut file = tempfile_in(&self.folder)?;
        file.1.write_all(MAGIC)?;
        file.1.write_all(digest(&code, path).as_bytes())?;
        file.1.write_all(&code)?;
        file.1.sync_all()?;
        std::fs::rename(&file.0, path)?;
        Ok(())
    }
}

/// The code within a file of the cache, if the file is what it says it is.
fn sound_code<'a>(file: &'a [u8], path: &Path) -> Option<&'a [u8]> {
    let (stored, code) = file.strip_prefix(MAGIC)?.split_at_checked(DIGEST)?;
    (digest(code, path).as_bytes() == stored).then_some(code)
}

/// Binds the code to the file's name, and so to the component and the engine.
fn digest(code: &[u8], path: &Path) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    let name = path.file_name().unwrap_or_default();
    hasher.update(name.as_encoded_bytes());
    hasher.update(&[0]);
    hasher.update(code);
    hasher.finalize()
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

fn private_folder(folder: &Path) -> std::io::Result<()> {
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
        let path = Path::new("/x/abc");
        let mut file = MAGIC.to_vec();
        file.extend_from_slice(digest(b"code", path).as_bytes());
        file.extend_from_slice(b"code");
        assert_eq!(sound_code(&file, path), Some(&b"code"[..]));
        assert_eq!(sound_code(&file, Path::new("/x/other")), None);
        let last = file.len() - 1;
        file[last] ^= 1;
        assert_eq!(sound_code(&file, path), None);
        assert_eq!(sound_code(&file[..20], path), None);
        assert_eq!(sound_code(b"", path), None);
    }
}
