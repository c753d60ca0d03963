//! The folder of installed components. Writers hold its lock; readers need none, because contents are immutable and
//! the lock file is only ever replaced.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::fail::fail_point;
use super::lock::{FORM, Installed, Lock, Version};
use super::signature::{self, SignatureError};
use crate::digest;
use notehost_config::TrustSettings;
use notehost_platform::private::create_folder;

/// The component store of a state folder.
#[derive(Debug, Clone)]
pub struct Packages {
    folder: PathBuf,
}

/// Why the store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PackagesError {
    /// An I/O error.
    #[error("the component store cannot be used: `{}`: {source}", .path.display())]
    Disk {
        /// Which file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The lock file is invalid.
    #[error("`{}` cannot be read: {reason}", .path.display())]
    Damaged {
        /// The lock file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The lock file was written by a later version of Notehost.
    #[error("`{}` was written by a newer version of Notehost", .path.display())]
    Newer {
        /// The lock file.
        path: PathBuf,
    },
    /// A content differs from what was installed.
    #[error("the stored file of `{name}` differs from the one that was installed ({digest})")]
    Tampered {
        /// Which component.
        name: String,
        /// What it should be.
        digest: String,
    },
    /// An installed version has no valid signature by an allowed key.
    #[error("`{name}` {version} is refused: {reason}")]
    Untrusted {
        /// Which component.
        name: String,
        /// Which of its versions.
        version: String,
        /// What is wrong with its signature.
        reason: SignatureError,
    },
    /// Nothing of that name is installed.
    #[error("no component `{0}` is installed")]
    Unknown(String),
    /// There is no previous version.
    #[error("`{0}` has no earlier version to roll back to")]
    NothingBefore(String),
}

impl Packages {
    /// The store of a state folder. No file is created before the first installation.
    pub fn of(state: &Path) -> Packages {
        Packages {
            folder: state.join("components"),
        }
    }

    /// The file that lists what is installed.
    pub fn lock_file(&self) -> PathBuf {
        self.folder.join("components.lock")
    }

    /// What is installed.
    pub fn installed(&self) -> Result<Lock, PackagesError> {
        let path = self.lock_file();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Lock::default()),
            Err(source) => return Err(PackagesError::Disk { path, source }),
        };
        // The format is checked first: only a later version of Notehost can read a later one.
        let form = toml::from_str::<toml::Table>(&text)
            .ok()
            .and_then(|table| table.get("form")?.as_integer());
        if form.is_some_and(|form| form > i64::from(FORM)) {
            return Err(PackagesError::Newer { path });
        }
        toml::from_str(&text).map_err(|error| PackagesError::Damaged {
            path,
            reason: error.message().to_owned(),
        })
    }

    /// The content of a version, if it is unchanged since the installation.
    pub fn content(&self, name: &str, version: &Version) -> Result<Vec<u8>, PackagesError> {
        let path = self.path_of(&version.digest);
        let bytes = fs::read(&path).map_err(|source| PackagesError::Disk { path, source })?;
        if format!("sha256:{}", digest(&bytes)) != version.digest {
            return Err(PackagesError::Tampered {
                name: name.to_owned(),
                digest: version.digest.clone(),
            });
        }
        Ok(bytes)
    }

    /// The text of the signature that a version was installed with; `None` if none was kept.
    pub fn signature(&self, version: &Version) -> Result<Option<String>, PackagesError> {
        let path = self.signature_of(&version.digest);
        signature::read(&path).map_err(|source| PackagesError::Disk { path, source })
    }

    /// The content of a version and its signature, if the signature satisfies the trust settings now: keys may be added and revoked.
    pub fn verified(
        &self,
        name: &str,
        version: &Version,
        trust: &TrustSettings,
    ) -> Result<(Vec<u8>, Option<String>), PackagesError> {
        let bytes = self.content(name, version)?;
        let kept = self.signature(version)?;
        let checked = signature::check_named(&bytes, kept.as_deref(), name, trust);
        checked.map_err(|reason| PackagesError::Untrusted {
            name: name.to_owned(),
            version: version.version.clone(),
            reason: match reason {
                SignatureError::Unsigned => SignatureError::NotKept,
                other => other,
            },
        })?;
        Ok((bytes, kept))
    }

    /// Installs a version of a component, which runs once this returns. Its signature is stored
    /// beside its content, because it is verified again each time that the component is loaded.
    pub fn put(
        &self,
        name: &str,
        bytes: &[u8],
        signature: Option<&str>,
        version: Version,
    ) -> Result<(), PackagesError> {
        let _turn = self.turn()?;
        fail_point("package-begin");
        let mut lock = self.installed()?;
        self.place(&self.path_of(&version.digest), bytes)?;
        if let Some(signature) = signature {
            self.place(&self.signature_of(&version.digest), signature.as_bytes())?;
        }
        lock.put(name, version);
        self.write(&lock)
    }

    /// Returns to the previous version, if it satisfies the trust settings now. `None` means that nothing is installed any
    /// more: the first installed version had replaced a built-in component.
    pub fn roll_back(
        &self,
        name: &str,
        is_embedded: bool,
        trust: &TrustSettings,
    ) -> Result<Option<Version>, PackagesError> {
        let _turn = self.turn()?;
        let mut lock = self.installed()?;
        let unknown = || PackagesError::Unknown(name.to_owned());
        let installed = lock.components.get_mut(name).ok_or_else(unknown)?;
        let before = match installed.previous.is_empty() {
            false => {
                self.verified(name, &installed.previous[0], trust)?;
                installed.current = installed.previous.remove(0);
                Some(installed.current.clone())
            }
            true if is_embedded => {
                lock.components.remove(name);
                None
            }
            true => return Err(PackagesError::NothingBefore(name.to_owned())),
        };
        self.write(&lock)?;
        Ok(before)
    }

    /// Removes a component with all its versions.
    pub fn remove(&self, name: &str) -> Result<Installed, PackagesError> {
        let _turn = self.turn()?;
        let mut lock = self.installed()?;
        let removed = lock
            .components
            .remove(name)
            .ok_or_else(|| PackagesError::Unknown(name.to_owned()))?;
        self.write(&lock)?;
        Ok(removed)
    }

    /// Takes the store's lock, which is released on drop.
    fn turn(&self) -> Result<File, PackagesError> {
        let failed = |source| PackagesError::Disk {
            path: self.folder.clone(),
            source,
        };
        create_folder(&self.folder.join("contents")).map_err(failed)?;
        let busy = File::create(self.folder.join("busy")).map_err(failed)?;
        busy.lock().map_err(failed)?;
        Ok(busy)
    }

    fn signature_of(&self, digest: &str) -> PathBuf {
        signature::file_beside(&self.path_of(digest))
    }

    fn path_of(&self, digest: &str) -> PathBuf {
        let hexadecimal = digest.strip_prefix("sha256:").unwrap_or(digest);
        // A digest comes from a file that people can edit: it names a file and nothing else.
        let name: String = hexadecimal
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .collect();
        self.folder.join("contents").join(format!("{name}.wasm"))
    }

    fn place(&self, path: &Path, bytes: &[u8]) -> Result<(), PackagesError> {
        let placed = || -> io::Result<()> {
            let new = path.with_extension("new");
            write_durably(&new, bytes)?;
            fail_point("package-content-written");
            fs::rename(&new, path)?;
            sync_folder(path)
        };
        placed().map_err(|source| PackagesError::Disk {
            path: path.to_owned(),
            source,
        })?;
        fail_point("package-content-placed");
        Ok(())
    }

    fn write(&self, lock: &Lock) -> Result<(), PackagesError> {
        let path = self.lock_file();
        let written = || -> io::Result<()> {
            let text = toml::to_string(lock).map_err(io::Error::other)?;
            let text = format!(
                "# Installed components, by digest. Written by `notehost component`.\n{text}"
            );
            let new = path.with_extension("new");
            write_durably(&new, text.as_bytes())?;
            fail_point("package-lock-written");
            fs::rename(&new, &path)?;
            sync_folder(&path)
        };
        written().map_err(|source| PackagesError::Disk {
            path: path.clone(),
            source,
        })?;
        fail_point("package-lock-placed");
        self.sweep(lock);
        fail_point("package-swept");
        Ok(())
    }

    /// Removes contents that no version refers to. What cannot be removed is tried again next time.
    fn sweep(&self, lock: &Lock) {
        let kept: Vec<PathBuf> = lock
            .digests()
            .flat_map(|digest| [self.path_of(digest), self.signature_of(digest)])
            .collect();
        let found = fs::read_dir(self.folder.join("contents"));
        for entry in found.into_iter().flatten().flatten() {
            if !kept.contains(&entry.path())
                && let Err(error) = fs::remove_file(entry.path())
            {
                tracing::warn!("could not remove an unused component: {error}");
            }
        }
    }
}

fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => notehost_platform::files::sync_folder(folder),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(bytes: &[u8], number: &str) -> Version {
        Version {
            version: number.into(),
            digest: format!("sha256:{}", digest(bytes)),
            size: bytes.len() as u64,
            contract: "1.0.0-rc.1".into(),
            source: "todo.wasm".into(),
            publisher: None,
            installed: 0,
        }
    }

    fn store() -> (tempfile::TempDir, Packages) {
        let folder = tempfile::tempdir().expect("a folder");
        let packages = Packages::of(folder.path());
        (folder, packages)
    }

    fn anybody() -> TrustSettings {
        TrustSettings::default()
    }

    fn contents(packages: &Packages) -> usize {
        fs::read_dir(packages.folder.join("contents")).map_or(0, Iterator::count)
    }

    #[test]
    fn installed_components_can_be_rolled_back() {
        let (_folder, packages) = store();
        assert_eq!(packages.installed().expect("a lock"), Lock::default());
        for (bytes, number) in [(b"one", "1"), (b"two", "2")] {
            let version = version(bytes, number);
            packages.put("todo", bytes, None, version).expect("put");
        }
        let installed = packages.installed().expect("a lock").components["todo"].clone();
        let content = packages.content("todo", &installed.current);
        assert_eq!(content.expect("content"), b"two");
        assert_eq!(contents(&packages), 2);

        let back = packages.roll_back("todo", false, &anybody()).expect("back");
        assert_eq!(back.map(|version| version.version), Some("1".into()));
        assert_eq!(contents(&packages), 1, "what nothing names is gone");
        assert!(matches!(
            packages.roll_back("todo", false, &anybody()),
            Err(PackagesError::NothingBefore(_))
        ));
        assert_eq!(
            packages.roll_back("todo", true, &anybody()).expect("back"),
            None
        );
        assert!(matches!(
            packages.remove("todo"),
            Err(PackagesError::Unknown(_))
        ));
    }

    #[test]
    fn signatures_are_kept_with_their_content() {
        let (_folder, packages) = store();
        let (one, two) = (version(b"one", "1"), version(b"two", "2"));
        let put = |bytes: &[u8], signature: Option<&str>, version: &Version| {
            let put = packages.put("todo", bytes, signature, version.clone());
            put.expect("put");
        };
        put(b"one", Some("vouched"), &one);
        put(b"two", None, &two);
        let kept = |version| packages.signature(version).expect("readable");
        assert_eq!(kept(&one).as_deref(), Some("vouched"));
        assert_eq!(kept(&two), None);
        // If signatures are required, a rollback to an unsigned version is refused and changes nothing.
        let strict = TrustSettings {
            require_signed: true,
            ..anybody()
        };
        put(b"one", None, &one);
        let refused = packages.roll_back("todo", false, &strict);
        let refused = refused.expect_err("refused").to_string();
        assert!(refused.contains("no signature was stored"), "{refused}");
        let current = &packages.installed().expect("a lock").components["todo"].current;
        assert_eq!(current.version, "1");
        packages.roll_back("todo", false, &anybody()).expect("back");
        // The same content again, without its signature: the stored signature stays valid.
        put(b"one", None, &one);
        assert_eq!(kept(&one).as_deref(), Some("vouched"));
        packages.remove("todo").expect("removed");
        assert_eq!(contents(&packages), 0);
    }

    #[test]
    fn modified_content_is_refused() {
        let (_folder, packages) = store();
        let one = version(b"one", "1");
        packages
            .put("todo", b"one", None, one.clone())
            .expect("put");
        fs::write(packages.path_of(&one.digest), b"0ne").expect("written");
        assert!(matches!(
            packages.content("todo", &one),
            Err(PackagesError::Tampered { .. })
        ));
    }

    #[test]
    fn an_invalid_lock_file_is_not_overwritten() {
        let (_folder, packages) = store();
        fs::create_dir_all(&packages.folder).expect("a folder");
        for (text, is_newer) in [("form = 2\nx = 1", true), ("form = ", false), ("", false)] {
            fs::write(packages.lock_file(), text).expect("written");
            let error = packages.put("todo", b"one", None, version(b"one", "1"));
            let error = error.expect_err("refused");
            assert_eq!(matches!(error, PackagesError::Newer { .. }), is_newer);
            let left = fs::read_to_string(packages.lock_file()).expect("a file");
            assert_eq!(left, text);
        }
    }

    #[test]
    fn a_digest_cannot_name_another_file() {
        let (_folder, packages) = store();
        let path = packages.path_of("sha256:../../x/y");
        assert_eq!(path, packages.folder.join("contents").join("xy.wasm"));
    }
}
