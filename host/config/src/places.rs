//! The default paths on this platform.

use std::path::{Path, PathBuf};

use directories::{BaseDirs, ProjectDirs};

/// The default path of the config file, if the platform has one.
pub fn config_file() -> Option<PathBuf> {
    Some(project_dirs()?.config_dir().join("notehost.toml"))
}

/// The default state folder: index, compiled code, history.
pub fn state_folder() -> Option<PathBuf> {
    let project_dirs = project_dirs()?;
    // Only Linux distinguishes state from data.
    Some(
        project_dirs
            .state_dir()
            .unwrap_or_else(|| project_dirs.data_local_dir())
            .to_owned(),
    )
}

fn project_dirs() -> Option<ProjectDirs> {
    ProjectDirs::from("", "", "notehost")
}

/// Expands a leading `~` to the home folder; other paths are unchanged.
pub fn expand_home(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), BaseDirs::new()) {
        (Ok(rest), Some(base)) if rest.as_os_str().is_empty() => base.home_dir().to_owned(),
        (Ok(rest), Some(base)) => base.home_dir().join(rest),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_leading_tilde_is_the_home_folder() {
        let home = BaseDirs::new()
            .expect("a home folder")
            .home_dir()
            .to_owned();
        assert_eq!(expand_home(Path::new("~")), home);
        assert_eq!(expand_home(Path::new("~/notes")), home.join("notes"));
        assert_eq!(expand_home(Path::new("/a/~/b")), Path::new("/a/~/b"));
        assert_eq!(
            expand_home(Path::new("~ana/notes")),
            Path::new("~ana/notes")
        );
    }
}
