//! Paths in arguments for notes that do not exist yet. `notes` resolves the names of existing notes.

use crate::{Error, Result, Vault, is_note, parent_of};

/// The path of a new note; adds a missing `.md`.
pub fn new_note(path: &str) -> Result<String> {
    let path = path.trim();
    if path.is_empty() || path.ends_with('/') {
        return Err(Error::validation(format!(
            "`{path}` is not a note's path: use one such as `Work/Plan.md`"
        )));
    }
    Ok(if is_note(path) {
        path.to_owned()
    } else {
        format!("{path}.md")
    })
}

/// The destination of a move: `to` is a path, a name in the folder of `from`, or a folder if it ends with `/`.
pub fn destination(from: &str, to: &str) -> Result<String> {
    let to = to.trim();
    if let Some(folder) = to.strip_suffix('/') {
        return Ok(within(folder, file_name(from)));
    }
    let path = new_note(to)?;
    Ok(if path.contains('/') {
        path
    } else {
        within(parent_of(from), &path)
    })
}

/// A path with the spelling of its existing folder, because links will be written with it.
pub fn spelt(vault: &Vault, path: &str) -> String {
    match vault.stat(parent_of(path)) {
        Ok(folder) => within(&folder.path, file_name(path)),
        Err(_) => path.to_owned(),
    }
}

/// A name in a folder; `""` is the vault itself.
pub fn within(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

/// The last part of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// A folder argument; `""`, `.` and `/` are the vault itself.
pub fn folder(path: Option<&str>) -> &str {
    match path.map(str::trim).unwrap_or_default() {
        "." | "/" => "",
        path => path.strip_suffix('/').unwrap_or(path),
    }
}

/// The error for a folder argument that names no folder.
pub fn no_folder(path: &str) -> Error {
    Error::not_found(format!(
        "no folder `{path}`: omit `path` for the whole vault"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_note_adds_the_extension() {
        assert_eq!(new_note("Work/Plan 1.2").unwrap(), "Work/Plan 1.2.md");
        assert_eq!(new_note("Plan.MD").unwrap(), "Plan.MD");
        for invalid in ["", " ", "Work/"] {
            assert_eq!(
                new_note(invalid).unwrap_err().code(),
                "validation_error",
                "{invalid}"
            );
        }
    }

    #[test]
    fn destination_is_a_name_a_path_or_a_folder() {
        assert_eq!(destination("Work/Plan.md", "Old").unwrap(), "Work/Old.md");
        assert_eq!(
            destination("Work/Plan.md", "Done/Old.md").unwrap(),
            "Done/Old.md"
        );
        assert_eq!(
            destination("Work/Plan.md", "Done/").unwrap(),
            "Done/Plan.md"
        );
        assert_eq!(destination("Work/Plan.md", "/").unwrap(), "Plan.md");
    }
}
