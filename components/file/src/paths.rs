//! Path arguments: folders to list, files to find, destinations.

use notehost_sdk::documents::naming;
use notehost_sdk::prelude::*;
use notehost_sdk::{Kind, is_note, parent_of};

use crate::file_type::extension;

/// Resolves a `path` argument to an existing folder; `""`, `.` and `/` are the vault root.
pub(crate) fn folder(vault: &Vault, path: Option<&str>) -> Result<String> {
    let path = naming::folder(path);
    if path.is_empty() {
        return Ok(String::new());
    }
    let entry = vault.stat(path)?;
    if entry.kind == Kind::File {
        return Err(Error::validation(format!(
            "`path` is the file `{}`, expected a folder",
            entry.path
        )));
    }
    Ok(entry.path)
}

/// Resolves an existing file that is not a note. `instead` is the equivalent action of the document domain.
pub(crate) fn asset_path(vault: &Vault, name: &str, instead: &str) -> Result<String> {
    let path = vault
        .find_file(name)
        .map_err(|error| file_error(name, error))?;
    match is_note(&path) {
        true => Err(Error::validation(format!(
            "`{path}` is a note: use `document.{instead}`"
        ))),
        false => Ok(path),
    }
}

/// Adapts the not-found error of notes to files.
pub(crate) fn file_error(name: &str, error: Error) -> Error {
    match error.code() {
        "not_found" if error.details().is_none() => Error::not_found(format!(
            "no file `{}`: `file.list` lists the files",
            name.trim()
        )),
        _ => error,
    }
}

/// Validates the path of a new file that is not a note.
pub(crate) fn new_file(path: &str, argument: &str) -> Result<String> {
    let path = path.trim();
    if path.is_empty() || path.ends_with('/') {
        return Err(Error::validation(format!(
            "`{argument}` is `{path}`, expected a file path such as `Files/picture.png`"
        )));
    }
    if is_note(path) {
        return Err(Error::validation(format!(
            "`{path}` is a note: use `document.create` or `document.update`"
        )));
    }
    Ok(path.to_owned())
}

/// The destination of a file: `to` is a path, a name in the folder of `from`, or a folder if it ends with `/`. A name
/// without extension keeps the extension of the file.
pub(crate) fn destination(from: &str, to: &str) -> Result<String> {
    let to = to.trim();
    if let Some(folder) = to.strip_suffix('/') {
        return Ok(join(folder, file_name(from)));
    }
    let mut path = new_file(to, "to")?;
    if extension(&path).is_none() && extension(from).is_some() {
        let (_, written) = file_name(from).rsplit_once('.').unwrap_or_default();
        path = format!("{}.{written}", path.trim_end_matches('.'));
    }
    Ok(match path.contains('/') {
        true => path,
        false => join(parent_of(from), &path),
    })
}

/// Joins a folder and a name; `""` is the vault root.
pub(crate) fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

/// The last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destination_is_a_name_a_path_or_a_folder() {
        let to = |to: &str| destination("Work/a.png", to).unwrap();
        assert_eq!(to("b.jpg"), "Work/b.jpg");
        assert_eq!(to("b"), "Work/b.png");
        assert_eq!(to("Files/"), "Files/a.png");
        assert_eq!(to("/"), "a.png");
        assert_eq!(to("Files/b.c"), "Files/b.c");
        for invalid in ["", " ", "b.md"] {
            let error = destination("a.png", invalid).unwrap_err();
            assert_eq!(error.code(), "validation_error", "{invalid}");
        }
        assert_eq!(destination("LICENSE", "COPYING").unwrap(), "COPYING");
    }
}
