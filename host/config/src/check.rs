//! Validates settings against each other and against the disk: vaults that exist and do not overlap, and a
//! config file and a state folder that no note tool can reach.

use std::path::{Path, PathBuf};

use super::check_serving::named_files;
use super::containment::is_inside;
use super::file::join;
use super::{ConfigError, Settings};

/// An invalid setting: the problem and its dotted key.
#[derive(Debug)]
pub(super) struct InvalidSetting {
    pub(super) key: String,
    pub(super) problem: ConfigError,
}

impl InvalidSetting {
    pub(super) fn new(key: impl Into<String>, problem: ConfigError) -> InvalidSetting {
        InvalidSetting {
            key: key.into(),
            problem,
        }
    }
}

/// Validates settings that are used with this config file and this state folder.
pub(super) fn check(
    settings: &Settings,
    file: Option<&Path>,
    state: &Path,
) -> Result<(), InvalidSetting> {
    let mut folders: Vec<(&str, PathBuf)> = Vec::new();
    for (index, vault) in settings.vaults.iter().enumerate() {
        let at =
            |key: &str, problem| InvalidSetting::new(format!("vaults[{index}].{key}"), problem);
        let id = vault.id.as_str();
        check_id(id).map_err(|problem| at("id", problem))?;
        if folders.iter().any(|(other, _)| *other == id) {
            return Err(at(
                "id",
                ConfigError::new(format!("two vaults have the id `{id}`")),
            ));
        }
        let folder = open(&vault.path).map_err(|problem| at("path", problem))?;
        for (other, theirs) in &folders {
            if is_inside(&folder, theirs) || is_inside(theirs, &folder) {
                let problem = overlapping(id, &folder, other, theirs);
                return Err(at("path", problem));
            }
        }
        for (what, flag, theirs) in [
            ("config file", "--config", file),
            ("state folder", "--state", Some(state)),
        ] {
            if theirs.is_some_and(|theirs| is_inside(theirs, &folder)) {
                let problem = ConfigError::new(format!(
                    "the {what} is inside the vault `{id}`, where note tools could change it"
                ))
                .with_hint(format!(
                    "move it out of `{}` and pass its new path with `{flag}`",
                    folder.display()
                ));
                return Err(at("path", problem));
            }
        }
        if is_inside(&folder, state) {
            let problem = ConfigError::new(format!(
                "the vault `{id}` is inside the state folder, which is reserved for Notehost"
            ))
            .with_hint(format!("move it out of `{}`", state.display()));
            return Err(at("path", problem));
        }
        for (key, path) in named_files(settings) {
            if is_inside(path, &folder) {
                let problem = ConfigError::new(format!(
                    "the file of `{key}` is inside the vault `{id}`, where note tools could access it"
                ))
                .with_hint(format!("move it out of `{}`", folder.display()));
                return Err(InvalidSetting::new(key, problem));
            }
        }
        for (key, path) in code_places(settings) {
            if is_inside(path, &folder) {
                let problem = ConfigError::new(format!(
                    "`{key}` is inside the vault `{id}`, where note tools could write code"
                ))
                .with_hint(format!("move it out of `{}`", folder.display()));
                return Err(InvalidSetting::new(key, problem));
            }
        }
        folders.push((id, folder));
    }
    check_limits(settings)
}

/// The paths that components are loaded from, with their keys.
fn code_places(settings: &Settings) -> impl Iterator<Item = (String, &Path)> {
    let files = settings.components.iter().filter_map(|(name, component)| {
        let key = format!("{}.path", join("components", name));
        Some((key, component.path.as_deref()?))
    });
    let folder = settings.component_folder.as_deref();
    files.chain(folder.map(|folder| ("component_folder".to_owned(), folder)))
}

fn check_id(id: &str) -> Result<(), ConfigError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !id.is_empty() && id.len() <= 64 && id.chars().all(plain) {
        return Ok(());
    }
    Err(ConfigError::new(format!("invalid vault id `{id}`"))
        .with_hint("an id consists of at most 64 letters, digits, `-` and `_`"))
}

fn open(path: &Path) -> Result<PathBuf, ConfigError> {
    let shown = path.display();
    let folder = path.canonicalize().map_err(|error| {
        ConfigError::new(format!("cannot open the vault folder `{shown}`: {error}"))
            .with_hint("use an existing folder; Notehost does not create vaults")
    })?;
    if folder.is_dir() {
        Ok(folder)
    } else {
        Err(ConfigError::new(format!("`{shown}` is not a folder"))
            .with_hint("a vault is a folder of notes"))
    }
}

fn overlapping(id: &str, folder: &Path, other: &str, theirs: &Path) -> ConfigError {
    if is_inside(folder, theirs) && is_inside(theirs, folder) {
        return ConfigError::new(format!(
            "the vaults `{other}` and `{id}` are the same folder"
        ));
    }
    let (inner, outer) = if is_inside(folder, theirs) {
        (id, other)
    } else {
        (other, id)
    };
    ConfigError::new(format!("the vault `{inner}` is inside the vault `{outer}`")).with_hint(
        "vaults must not be nested; use `[permissions]` to give a folder of a vault its own tier",
    )
}

/// A limit of 0 would refuse every call.
fn check_limits(settings: &Settings) -> Result<(), InvalidSetting> {
    let limits = serde_json::to_value(&settings.limits).unwrap_or_default();
    for (name, value) in limits.as_object().into_iter().flatten() {
        // 0 is a valid value of these.
        let may_be_none = matches!(
            name.as_str(),
            "store_bytes" | "http_requests" | "http_bytes"
        );
        if value.as_u64() == Some(0) && !may_be_none {
            let problem =
                ConfigError::new(format!("`limits.{name}` is 0: every call would be refused"))
                    .with_hint("omit the key to use its default");
            return Err(InvalidSetting::new(format!("limits.{name}"), problem));
        }
    }
    check_supervision(settings)
}

/// The circuit breaker needs positive times.
fn check_supervision(settings: &Settings) -> Result<(), InvalidSetting> {
    let supervision = &settings.supervision;
    for (name, value) in [
        ("window_s", supervision.window_s),
        ("first_pause_s", supervision.first_pause_s),
    ] {
        if value == 0 {
            let problem = ConfigError::new(format!(
                "`supervision.{name}` is 0: the circuit breaker would never open"
            ))
            .with_hint("use `strikes = 0` to switch the circuit breaker off");
            return Err(InvalidSetting::new(format!("supervision.{name}"), problem));
        }
    }
    if supervision.longest_pause_s < supervision.first_pause_s {
        let problem = ConfigError::new(format!(
            "the longest pause ({} s) is shorter than the first pause ({} s)",
            supervision.longest_pause_s, supervision.first_pause_s
        ));
        return Err(InvalidSetting::new("supervision.longest_pause_s", problem));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::VaultEntry;
    use super::*;

    fn vaults(entries: &[(&str, &Path)]) -> Settings {
        let entry = |(id, path): &(&str, &Path)| VaultEntry {
            id: (*id).into(),
            path: (*path).to_owned(),
            ..VaultEntry::default()
        };
        Settings {
            vaults: entries.iter().map(entry).collect(),
            ..Settings::default()
        }
    }

    fn refused(settings: &Settings, file: Option<&Path>, state: &Path) -> (String, String) {
        let found = check(settings, file, state).expect_err("refused");
        (found.key, found.problem.to_string())
    }

    #[test]
    fn overlapping_vaults_are_refused() {
        let root = tempfile::tempdir().expect("a folder");
        let (notes, inner, state) = (
            root.path().join("notes"),
            root.path().join("notes/in"),
            root.path().join("state"),
        );
        std::fs::create_dir_all(&inner).expect("folders");
        std::fs::write(root.path().join("file"), "").expect("a file");

        assert!(check(&vaults(&[("main", &notes)]), None, &state).is_ok());
        let (key, message) = refused(&vaults(&[("a", &notes), ("b", &inner)]), None, &state);
        assert_eq!(
            (key.as_str(), message.as_str()),
            ("vaults[1].path", "the vault `b` is inside the vault `a`")
        );
        let (_, message) = refused(&vaults(&[("b", &inner), ("a", &notes)]), None, &state);
        assert_eq!(message, "the vault `b` is inside the vault `a`");
        let (_, message) = refused(
            &vaults(&[("a", &notes), ("b", &inner.join(".."))]),
            None,
            &state,
        );
        assert_eq!(message, "the vaults `a` and `b` are the same folder");
        let (key, message) = refused(&vaults(&[("a", &notes), ("a", root.path())]), None, &state);
        assert_eq!(
            (key.as_str(), message.as_str()),
            ("vaults[1].id", "two vaults have the id `a`")
        );
        assert!(
            refused(&vaults(&[("a", &notes.join("gone"))]), None, &state)
                .1
                .contains("cannot open")
        );
        assert!(
            refused(&vaults(&[("a", &root.path().join("file"))]), None, &state)
                .1
                .contains("not a folder")
        );
        assert!(
            refused(&vaults(&[("a/b", &notes)]), None, &state)
                .1
                .contains("invalid vault id")
        );
    }

    #[test]
    fn config_and_state_must_be_outside_vaults() {
        let root = tempfile::tempdir().expect("a folder");
        let outside = tempfile::tempdir().expect("a folder");
        let settings = vaults(&[("main", root.path())]);
        let file = root.path().join("Work/notehost.toml");
        let (_, message) = refused(&settings, Some(&file), outside.path());
        assert!(
            message.starts_with("the config file is inside the vault `main`"),
            "{message}"
        );
        let (_, message) = refused(&settings, None, &root.path().join(".state"));
        assert!(
            message.starts_with("the state folder is inside the vault `main`"),
            "{message}"
        );
        #[cfg(unix)]
        {
            let link = outside.path().join("link");
            std::os::unix::fs::symlink(root.path(), &link).expect("a link");
            assert!(
                refused(&settings, Some(&link.join("notehost.toml")), outside.path())
                    .1
                    .contains("inside")
            );
        }
    }

    #[test]
    fn a_vault_is_not_part_of_the_state_folder() {
        let root = tempfile::tempdir().expect("a folder");
        let notes = root.path().join("state/notes");
        std::fs::create_dir_all(&notes).expect("folders");
        let (key, message) = refused(
            &vaults(&[("main", &notes)]),
            None,
            &root.path().join("state"),
        );
        assert_eq!(key, "vaults[0].path");
        assert!(message.contains("inside the state folder"), "{message}");
    }

    #[test]
    fn component_paths_inside_a_vault_are_refused() {
        let root = tempfile::tempdir().expect("a folder");
        let mut settings = vaults(&[("main", root.path())]);
        settings.component_folder = Some(root.path().join("tools"));
        let (key, message) = refused(&settings, None, Path::new("/state"));
        assert_eq!(key, "component_folder");
        assert!(message.contains("write code"), "{message}");
        settings.component_folder = None;
        let component = super::super::ComponentSettings {
            path: Some(root.path().join("x/../todo.wasm")),
            ..Default::default()
        };
        settings.components.insert("todo".into(), component);
        let (key, message) = refused(&settings, None, Path::new("/state"));
        assert_eq!(key, "components.todo.path");
        assert!(message.contains("write code"), "{message}");
    }

    #[test]
    fn keys_and_certificates_must_be_outside_vaults() {
        let root = tempfile::tempdir().expect("a folder");
        let mut settings = vaults(&[("main", root.path())]);
        settings.http.tls_key = Some(root.path().join("key.pem"));
        let (key, message) = refused(&settings, None, Path::new("/state"));
        assert_eq!(key, "http.tls_key");
        assert!(message.contains("inside the vault `main`"), "{message}");
    }

    #[test]
    fn a_limit_of_zero_is_refused() {
        let mut settings = Settings::default();
        settings.limits.call_ms = 0;
        assert_eq!(
            refused(&settings, None, Path::new("state")).0,
            "limits.call_ms"
        );
        let mut settings = Settings::default();
        settings.supervision.first_pause_s = 7200;
        assert_eq!(
            refused(&settings, None, Path::new("state")).0,
            "supervision.longest_pause_s"
        );
        settings.supervision.first_pause_s = 0;
        assert_eq!(
            refused(&settings, None, Path::new("state")).0,
            "supervision.first_pause_s"
        );
    }
}
