//! Notebook names: normalization, validation, and resolution to a folder.

use notehost_sdk::{Kind, fold_name, listed, prelude::*};

/// The notebook of the notes in the vault root.
pub(crate) const ROOT: &str = ".";
/// A path in the root, to query the caller's access there: the root itself is visible to every caller.
const NOTE_IN_ROOT: &str = "note.md";
/// Maximum length of a notebook name: longer names would exceed the store's key limit.
const MAX_NAME_BYTES: usize = 180;

/// The name of an existing notebook that is visible to the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotebookName(String);

impl NotebookName {
    /// Resolves the name of a notebook.
    pub(crate) fn find(vault: &Vault, name: &str) -> Result<NotebookName> {
        let name = normalized(name)?;
        if name == ROOT {
            return match access(vault, ROOT) {
                Tier::None => Err(not_found_error(vault, name)),
                _ => Ok(NotebookName(ROOT.to_owned())),
            };
        }
        match vault.entry(name)? {
            None => Err(not_found_error(vault, name)),
            Some(entry) if entry.kind == Kind::Folder => Ok(NotebookName(entry.path)),
            Some(entry) => Err(Error::not_found(format!(
                "`{}` is a file, not a notebook",
                entry.path
            ))),
        }
    }

    /// Resolves the name of a notebook and rejects the root, which cannot be renamed or removed.
    pub(crate) fn find_folder(vault: &Vault, name: &str, doing: &str) -> Result<NotebookName> {
        let found = NotebookName::find(vault, name)?;
        if found.is_root() {
            return Err(Error::validation(format!(
                "`.` is the vault root and cannot be {doing}"
            )));
        }
        Ok(found)
    }

    /// All notebooks visible to the caller; the root comes first if it contains files.
    pub(crate) fn all(vault: &Vault) -> Result<Vec<NotebookName>> {
        let entries = vault.list_all("", false)?;
        let has_files = entries.iter().any(|entry| entry.kind == Kind::File);
        let root = has_files.then(|| NotebookName(ROOT.to_owned()));
        let folders = entries
            .into_iter()
            .filter(|entry| entry.kind == Kind::Folder)
            .map(|entry| NotebookName(entry.path));
        Ok(root.into_iter().chain(folders).collect())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_root(&self) -> bool {
        self.0 == ROOT
    }

    /// Its folder in the vault; empty for the root.
    pub(crate) fn path(&self) -> &str {
        if self.is_root() { "" } else { &self.0 }
    }

    /// The caller's access to it.
    pub(crate) fn access(&self, vault: &Vault) -> Tier {
        access(vault, &self.0)
    }

    /// Fails unless the caller has write access.
    pub(crate) fn require_write(&self, vault: &Vault) -> Result<()> {
        if self.access(vault) >= Tier::Write {
            return Ok(());
        }
        let denied = format!("this caller may not write in the notebook `{}`", self.0);
        Err(Error::new(Code::PermissionDenied, denied).with_hint(Tier::Write.grant_hint(&self.0)))
    }
}

/// Validates the name of a new notebook.
pub(crate) fn new_name(name: &str) -> Result<&str> {
    let name = normalized(name)?;
    if name == ROOT {
        return Err(Error::validation(
            "`.` is the vault root and cannot be created: pass another name",
        ));
    }
    if name.len() > MAX_NAME_BYTES {
        return Err(Error::validation(format!(
            "the notebook name has {} bytes: at most {MAX_NAME_BYTES} are allowed",
            name.len()
        )));
    }
    if let Some(letter) = name.chars().find(|letter| "#^[]|".contains(*letter)) {
        return Err(Error::validation(format!(
            "a notebook name cannot contain `{letter}`: links to notes in `{name}` would not work"
        )));
    }
    Ok(name)
}

/// Whether two names are equal, ignoring case and Unicode normalization.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    fold_name(one) == fold_name(other)
}

/// A name without surrounding spaces, a leading `./` and trailing slashes.
fn normalized(name: &str) -> Result<&str> {
    let name = name.trim();
    let name = match name.strip_prefix("./") {
        Some("") => ROOT,
        Some(rest) => rest,
        None => name,
    };
    let name = name.trim_end_matches('/').trim_end();
    if name.is_empty() {
        return Err(Error::validation(
            "the notebook name is empty; use `.` for the vault root",
        ));
    }
    match name.split_once('/') {
        None => Ok(name),
        Some((notebook, _)) => Err(Error::validation(format!(
            "`{name}` is a folder inside a notebook; a notebook is a top-level folder, such as `{notebook}`"
        ))),
    }
}

fn access(vault: &Vault, notebook: &str) -> Tier {
    vault.access(if notebook == ROOT {
        NOTE_IN_ROOT
    } else {
        notebook
    })
}

fn not_found_error(vault: &Vault, name: &str) -> Error {
    const MAX_LISTED: usize = 10;
    let known = NotebookName::all(vault).unwrap_or_default();
    let names: Vec<&str> = known.iter().map(NotebookName::as_str).collect();
    Error::not_found(match names.is_empty() {
        true => format!("no notebook `{name}`: no notebooks found"),
        false => format!(
            "no notebook `{name}`; existing notebooks: {}",
            listed(&names, MAX_LISTED)
        ),
    })
}
