//! The profiles of remote servers, in `profiles.toml` of the config folder. The file contains tokens: it is created
//! readable by its owner only, and never in a vault.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cli::ui::failure::Failure;
use notehost_config::{config_file, is_inside, nearest};
use notehost_platform::private;

/// All profiles of the user.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profiles {
    /// The selected profile.
    #[serde(default, rename = "use", skip_serializing_if = "Option::is_none")]
    pub(crate) in_use: Option<String>,
    /// The profiles, by name.
    #[serde(default)]
    pub(crate) profiles: BTreeMap<String, Profile>,
}

/// A remote server and its token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profile {
    /// Its URL.
    pub(crate) server: String,
    /// The token for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<String>,
}

/// The path of the file.
pub(crate) fn file() -> Result<PathBuf, Failure> {
    let beside = config_file().ok_or_else(|| {
        Failure::start("this system has no default config folder")
            .with_hint("set HOME, or specify the server in each call: `--server URL`")
    })?;
    Ok(beside.with_file_name("profiles.toml"))
}

impl Profiles {
    /// Reads the profiles; none if the file does not exist.
    pub(crate) fn read() -> Result<Profiles, Failure> {
        Profiles::read_from(&file()?)
    }

    fn read_from(file: &Path) -> Result<Profiles, Failure> {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Profiles::default()),
            Err(error) => return Err(unreadable(file, &error.to_string())),
        };
        toml::from_str(&text).map_err(|error| unreadable(file, error.message()))
    }

    /// The profile with that name.
    pub(crate) fn named(&self, name: &str) -> Result<&Profile, Failure> {
        self.profiles.get(name).ok_or_else(|| {
            let hint = match nearest(name, self.profiles.keys().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None if self.profiles.is_empty() => {
                    "there are no profiles yet; add one with `notehost profile add NAME URL`"
                        .to_owned()
                }
                None => "`notehost profile list` shows the profiles".to_owned(),
            };
            Failure::call(format!("unknown profile `{name}`")).with_hint(hint)
        })
    }

    /// Writes the file, unless it would be in one of these vaults.
    pub(crate) fn write(&self, vaults: &[PathBuf]) -> Result<(), Failure> {
        let file = file()?;
        if let Some(vault) = vaults.iter().find(|vault| is_inside(&file, vault)) {
            return Err(Failure::call(format!(
                "`{}` is inside the vault `{}`, where note tools could access its tokens",
                file.display(),
                vault.display()
            ))
            .with_hint("set XDG_CONFIG_HOME to a folder outside the vault"));
        }
        self.write_to(&file)
            .map_err(|error| Failure::start(format!("cannot write `{}`: {error}", file.display())))
    }

    fn write_to(&self, file: &Path) -> io::Result<()> {
        let folder = file.parent().unwrap_or(Path::new("."));
        private::create_missing(folder)?;
        let text = toml::to_string(self).map_err(io::Error::other)?;
        private::replace_file(file, text.as_bytes())
    }
}

pub(crate) use notehost_platform::private::is_open_to_others;

fn unreadable(file: &Path, reason: &str) -> Failure {
    Failure::start(format!(
        "cannot read the profiles in `{}`: {reason}",
        file.display()
    ))
    .with_hint("fix the file, or move it away and add the profiles again")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn profiles_are_written_private_and_read_back() {
        let root = tempfile::tempdir().expect("a folder");
        let file = root.path().join("notehost/profiles.toml");
        let mut profiles = Profiles::read_from(&file).expect("no file is no profiles");
        assert!(profiles.profiles.is_empty());
        let team = Profile {
            server: "https://notes.example/mcp".into(),
            token: Some("secret".into()),
        };
        profiles.profiles.insert("team".into(), team.clone());
        profiles.in_use = Some("team".into());
        // Also if the file was readable by others, or a killed process left a temporary file.
        for _ in 0..2 {
            profiles.write_to(&file).expect("it can be written");
            assert!(!is_open_to_others(&file));
            fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("a mode");
            assert!(is_open_to_others(&file));
            let left = file.with_extension(format!("{}.new", std::process::id()));
            fs::write(left, "left").expect("a file");
        }
        let read = Profiles::read_from(&file).expect("it can be read");
        assert_eq!(read.profiles["team"], team);
        assert_eq!(read.in_use.as_deref(), Some("team"));
        fs::write(&file, "profiles = 1").expect("a file");
        assert!(Profiles::read_from(&file).is_err());
    }
}
