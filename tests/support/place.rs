//! A separate place for each test: a vault, a state folder, and an outside folder that must not change.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use notehost::auth::{Caller, NewToken, Tokens, VaultBinding};
use notehost::config::{ComponentSettings, Confirm, GrantSettings, Settings, VaultEntry};
use notehost::dispatch::{self, CallError, Host, Reply, Request};
use notehost::vault::Tier;
use serde_json::Value;

use super::snapshot::Snapshot;

/// The modification time of every file in a fresh vault: 2024-05-01 12:00 UTC.
const INITIAL_MTIME: Duration = Duration::from_secs(1_714_564_800);

/// A temporary folder with a vault, a state folder and an outside folder.
pub(crate) struct Place {
    root: tempfile::TempDir,
}

impl Place {
    /// An empty vault.
    pub(crate) fn new() -> Place {
        let root = tempfile::tempdir().expect("a temporary folder");
        let place = Place { root };
        for folder in [place.vault(), place.state(), place.outside()] {
            fs::create_dir(folder).expect("a new folder");
        }
        share_compiled_code(&place.state());
        place
    }

    /// The vault.
    pub(crate) fn vault(&self) -> PathBuf {
        self.root.path().join("vault")
    }

    /// The state folder.
    pub(crate) fn state(&self) -> PathBuf {
        self.root.path().join("state")
    }

    /// A folder beside the vault.
    pub(crate) fn outside(&self) -> PathBuf {
        self.root.path().join("outside")
    }

    /// The parent folder of all of them.
    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// Writes a file of the vault, as an external editor does.
    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.vault().join(path);
        fs::create_dir_all(path.parent().expect("a file has a parent folder")).expect("folders");
        fs::write(&path, bytes).expect("the file can be written");
        let file = fs::File::options()
            .write(true)
            .open(&path)
            .expect("the file is there");
        file.set_modified(SystemTime::UNIX_EPOCH + INITIAL_MTIME)
            .expect("its time can be set");
    }

    /// The content of a file of the vault, if it exists.
    pub(crate) fn read(&self, path: &str) -> Option<Vec<u8>> {
        fs::read(self.vault().join(path)).ok()
    }

    /// Creates a symbolic link in the vault.
    pub(crate) fn link(&self, path: &str, target: impl AsRef<Path>) {
        let path = self.vault().join(path);
        fs::create_dir_all(path.parent().expect("a link has a parent folder")).expect("folders");
        std::os::unix::fs::symlink(target, path).expect("the link can be made");
    }

    /// Everything in the vault and outside of it: bytes, modes, targets of links.
    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot::of(&[&self.vault(), &self.outside()])
    }

    /// Settings that serve this vault and allow everything to every caller, without confirmation.
    pub(crate) fn settings(&self) -> Settings {
        let mut settings = Settings {
            vaults: vec![VaultEntry {
                id: "main".into(),
                path: self.vault(),
                ..VaultEntry::default()
            }],
            confirm: Confirm::Never,
            ..Settings::default()
        };
        settings.permissions.default = Tier::Delete;
        settings
    }

    /// Writes the settings to a config file for the built program.
    pub(crate) fn config_file(&self, settings: &Settings) -> PathBuf {
        let file = self.root.path().join("notehost.toml");
        let text = toml::to_string(settings).expect("settings can be written");
        fs::write(&file, text).expect("the config can be written");
        file
    }

    /// A token whose client is trusted to ask its user, with every scope but `admin`.
    pub(crate) fn attended_token(&self, name: &str) -> String {
        self.token(name, "read,write,delete", true)
    }

    /// A token, created as by `notehost token new`.
    pub(crate) fn token(&self, name: &str, scopes: &str, attended: bool) -> String {
        let records = notehost::records::open(&self.state()).expect("the records");
        let new = NewToken {
            name: name.into(),
            scopes: scopes.parse().expect("scopes"),
            vaults: VaultBinding::All,
            permissions: None,
            expires: None,
            attended,
        };
        Tokens::new(records, &self.state())
            .make(&new)
            .expect("a token")
    }

    /// A host in this process.
    pub(crate) async fn host(&self, settings: Settings) -> Arc<Host> {
        Host::start(settings, &self.state())
            .await
            .expect("the host starts")
    }
}

/// Compiling the components for each test would take most of the tests' time.
pub(crate) fn share_compiled_code(state: &Path) {
    let shared = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled");
    fs::create_dir_all(&shared).expect("the shared folder");
    fs::create_dir_all(state).expect("the state folder");
    std::os::unix::fs::symlink(shared, state.join("compiled"))
        .expect("a link to the shared folder");
}

/// Settings of a component from a file, with its grant.
pub(crate) fn component(file: PathBuf, grant: GrantSettings) -> ComponentSettings {
    ComponentSettings {
        path: Some(file),
        grant,
        ..ComponentSettings::default()
    }
}

/// The default caller of the tests.
pub(crate) fn ana() -> Caller {
    Caller::command_line(Some("ana"))
}

/// A request for `domain.action`.
pub(crate) fn request(name: &str, arguments: Value) -> Request {
    let (domain, action) = name.split_once('.').expect("domain.action");
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object");
    };
    Request::new(domain, action, arguments)
}

/// Calls `domain.action` as Ana.
pub(crate) async fn call(host: &Host, name: &str, arguments: Value) -> Result<Reply, CallError> {
    dispatch::call(host, &ana(), request(name, arguments)).await
}
