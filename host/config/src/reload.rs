//! Reloading settings while Notehost runs: their source, whether the file changed, and which changes take effect
//! without a restart.

use std::path::PathBuf;

use notehost_platform::files::Stamp;
use parking_lot::Mutex;
use serde::Serialize;

use super::{ComponentSettings, ConfigError, Edit, Loaded, Overrides, Settings, VaultEntry, load};

/// The source of the settings of this process. The flags and variables of the start keep overriding the file.
#[derive(Debug)]
pub struct Source {
    flags: Overrides,
    file: PathBuf,
    /// Whether the file may be missing: the first command that changes a setting creates it.
    may_be_missing: bool,
    /// Editors write a new file and rename it over the old one, or write into it.
    seen: Mutex<Option<Stamp>>,
}

impl Source {
    pub(super) fn new(flags: Overrides, file: PathBuf) -> Source {
        let file = std::path::absolute(&file).unwrap_or(file);
        let flags = Overrides {
            // A file that disappears is reported as an error; another one must not replace it.
            config: Some(file.clone()),
            ..flags
        };
        Source::watching(flags, file, false)
    }

    /// A source without a file yet: this one is read as soon as it exists.
    pub(super) fn not_yet_created(flags: Overrides, file: PathBuf) -> Source {
        Source::watching(flags, file, true)
    }

    fn watching(flags: Overrides, file: PathBuf, may_be_missing: bool) -> Source {
        let source = Source {
            flags,
            may_be_missing,
            seen: Mutex::new(None),
            file,
        };
        source.changed();
        source
    }

    /// Whether the file changed since the last call of this function.
    pub fn changed(&self) -> bool {
        let now = Stamp::of(&self.file);
        let mut seen = self.seen.lock();
        let is_new = *seen != now;
        *seen = now;
        is_new
    }

    /// Reloads and validates everything. Fails if the file was written meanwhile: half of it could allow what the
    /// whole forbids.
    pub fn load(&self) -> Result<Loaded, ConfigError> {
        let before = Stamp::of(&self.file);
        let loaded = load(self.flags.clone(), &|name| std::env::var_os(name))?;
        if Stamp::of(&self.file) != before {
            return Err(ConfigError::new("the file changed while it was being read"));
        }
        loaded.check()?;
        Ok(loaded)
    }

    /// Edits the file, if the result is valid.
    pub fn edit(
        &self,
        change: impl FnOnce(&mut Edit) -> Result<(), ConfigError>,
    ) -> Result<(), ConfigError> {
        let mut edit = Edit::open(&self.file, self.may_be_missing)?;
        change(&mut edit)?;
        edit.save(&self.flags)
    }
}

/// The part of `wanted` that can replace `running` without a restart, and the keys that need one.
pub fn in_force(running: &Settings, mut wanted: Settings) -> (Settings, Vec<&'static str>) {
    let mut waiting = Vec::new();
    let mut keep = |key: &'static str, is_other: bool| {
        if is_other {
            waiting.push(key);
        }
    };
    let places = |settings: &Settings| -> Vec<(String, PathBuf)> {
        let vaults = settings.vaults.iter();
        vaults
            .map(|vault| (vault.id.clone(), vault.path.clone()))
            .collect()
    };
    let are_others = places(running) != places(&wanted);
    keep("vaults", are_others);
    // It may be one that is not open yet.
    keep(
        "default_vault",
        are_others && running.default_vault() != wanted.default_vault(),
    );
    keep("history", differ(&running.history, &wanted.history));
    keep("auth", differ(&running.auth, &wanted.auth));
    keep("http", differ(&running.http, &wanted.http));
    keep("telemetry", differ(&running.telemetry, &wanted.telemetry));
    keep("tool_surface", running.surface != wanted.surface);
    keep("os_sandbox", running.os_sandbox != wanted.os_sandbox);
    let (old, new) = (&running.limits, &wanted.limits);
    keep(
        "limits.concurrent_calls",
        old.concurrent_calls != new.concurrent_calls,
    );
    keep("limits.memory_bytes", old.memory_bytes != new.memory_bytes);
    let room = running.sandbox_limits().memory_bytes;
    let is_more = |component: &ComponentSettings| component.limits.memory_bytes > Some(room);
    keep(
        "components.*.limits.memory_bytes",
        wanted.components.values().any(is_more),
    );

    // The open vaults are kept; their switches and permissions are updated.
    let updated = |vault: &VaultEntry| match wanted.vault(&vault.id) {
        Some(found) => VaultEntry {
            path: vault.path.clone(),
            ..found.clone()
        },
        None => vault.clone(),
    };
    wanted.vaults = running.vaults.iter().map(updated).collect();
    if are_others {
        wanted.default_vault = running.default_vault().map(str::to_owned);
    }
    wanted.history = running.history.clone();
    wanted.auth = running.auth.clone();
    wanted.http = running.http.clone();
    wanted.telemetry = running.telemetry.clone();
    wanted.surface = running.surface;
    wanted.os_sandbox = running.os_sandbox;
    wanted.limits.concurrent_calls = running.limits.concurrent_calls;
    wanted.limits.memory_bytes = running.limits.memory_bytes;
    (wanted, waiting)
}

/// Whether two parts of the settings differ.
fn differ<T: Serialize>(one: &T, other: &T) -> bool {
    serde_json::to_value(one).ok() != serde_json::to_value(other).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use notehost_vault::Tier;

    fn settings(toml: &str) -> Settings {
        toml::from_str(toml).expect("settings")
    }

    #[test]
    fn settings_used_at_startup_wait_for_a_restart() {
        let running = settings("[[vaults]]\nid = 'a'\npath = '/a'\n");
        let wanted = settings(
            "read_only = true\ntool_surface = 'flat'\n[[vaults]]\nid = 'a'\npath = '/b'\nread_only = true\n[auth]\nmode = \
             'token'\n[limits]\ncall_ms = 5\nmemory_bytes = 1\n[rates]\nread = 1\n",
        );
        let (now, waiting) = in_force(&running, wanted);
        assert_eq!(
            waiting,
            ["vaults", "auth", "tool_surface", "limits.memory_bytes"]
        );
        assert!(now.read_only && now.vaults[0].read_only);
        assert_eq!(now.vaults[0].path, PathBuf::from("/a"));
        assert_eq!((now.limits.call_ms, now.rates.read), (5, 1));
        assert_eq!(now.limits.memory_bytes, running.limits.memory_bytes);
    }

    #[test]
    fn the_default_vault_and_permissions_of_open_vaults_change_at_once() {
        let running = settings(
            "[[vaults]]\nid = 'a'\npath = '/a'\n[[vaults]]\nid = 'b'\npath = '/b'\n[vaults.permissions]\ndefault = 'rw'\n",
        );
        let wanted = settings(
            "default_vault = 'b'\n[[vaults]]\nid = 'a'\npath = '/a'\n[vaults.permissions]\ndefault = 'none'\n[[vaults]]\n\
             id = 'b'\npath = '/b'\n",
        );
        let (now, waiting) = in_force(&running, wanted);
        assert_eq!(waiting, Vec::<&str>::new());
        assert_eq!(now.default_vault(), Some("b"));
        let default = |id: &str| now.vault(id).and_then(|vault| vault.permissions.default);
        assert_eq!((default("a"), default("b")), (Some(Tier::None), None));
    }

    #[test]
    fn a_file_that_is_written_or_replaced_has_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, other) = (folder.path().join("n.toml"), folder.path().join("new"));
        std::fs::write(&file, "").expect("a file");
        let source = Source::new(Overrides::default(), file.clone());
        assert!(!source.changed());
        std::fs::write(&file, "read_only = true").expect("a file");
        assert!(source.changed() && !source.changed());
        std::fs::write(&other, "read_only = true").expect("a file");
        let time = std::fs::metadata(&file)
            .and_then(|found| found.modified())
            .expect("a time");
        std::fs::File::options()
            .write(true)
            .open(&other)
            .and_then(|open| open.set_modified(time))
            .expect("a time");
        std::fs::rename(&other, &file).expect("renamed");
        assert!(source.changed(), "same time and length, another file");
        std::fs::remove_file(&file).expect("removed");
        assert!(source.changed());
    }
}
