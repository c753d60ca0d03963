//! Notebooks by name: what a caller may write, and which folder it means.

use notehost_sdk::{Entry, Kind, fold_name, prelude::*};

/// The notebook of the notes that lie in the root.
pub(crate) const ROOT: &str = ".";
/// A path in the root, to ask what the caller may do there: the root itself can be listed by anybody.
const NOTE_IN_ROOT: &str = "note.md";
/// Longer names would not fit the key that a notebook's settings are kept under.
const MAX_NAME_BYTES: usize = 180;

/// A notebook that is there and that the caller may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotebookName(String);

impl NotebookName {
    /// The notebook that a caller named.
    pub(crate) fn find(vault: &Vault, name: &str) -> Result<NotebookName> {
        let name = normalized(name)?;
        if name == ROOT {
            return match access(vault, ROOT) {
                Tier::None => Err(not_found_error(vault, name)),
                _ => Ok(NotebookName(ROOT.to_owned())),
            };
        }
        match vault.stat(name) {
            Ok(Entry {
                path,
                kind: Kind::Folder,
                ..
            }) => Ok(NotebookName(path)),
            Ok(Entry { path, .. }) => Err(Error::not_found(format!(
                "`{path}` is a file, not a notebook"
            ))),
            Err(error) if error.kind() == Code::NotFound => Err(not_found_error(vault, name)),
            Err(error) => Err(error),
        }
    }

    /// The notebook that a caller named, unless it is the root, to which this cannot be done.
    pub(crate) fn find_folder(vault: &Vault, name: &str, doing: &str) -> Result<NotebookName> {
        let found = NotebookName::find(vault, name)?;
        if found.is_root() {
            return Err(Error::validation(format!(
                "`.` is the vault root and cannot be {doing}"
            )));
        }
        Ok(found)
    }

    /// All that the caller may see, the root first if it has files of its own.
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

    /// What the caller may do in it.
    pub(crate) fn access(&self, vault: &Vault) -> Tier {
        access(vault, &self.0)
    }

    /// Refuse unless the caller may write in it.
    pub(crate) fn require_write(&self, vault: &Vault) -> Result<()> {
        if self.access(vault) >= Tier::Write {
            return Ok(());
        }
        let denied = format!("this caller may not write in the notebook `{}`", self.0);
        Err(Error::new(Code::PermissionDenied, denied).with_hint(Tier::Write.granting(&self.0)))
    }
}

/// The name of a notebook that is to be made, if one may be called so.
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

/// Whether two notebooks have the same name but for case and Unicode spelling.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    fold_name(one) == fold_name(other)
}

/// A name without what people write around it: spaces, a slash at the end.
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
    let known = NotebookName::all(vault).unwrap_or_default();
    let shown: Vec<String> = known
        .iter()
        .take(10)
        .map(|name| format!("`{}`", name.as_str()))
        .collect();
    let more = known.len() - shown.len();
    let error = match (shown.is_empty(), more) {
        (true, _) => {
            return Error::not_found(format!("no notebook `{name}`: the vault has no notebooks"));
        }
        (false, 0) => format!(
            "no notebook `{name}`; existing notebooks: {}",
            shown.join(", ")
        ),
        (false, _) => format!(
            "no notebook `{name}`; existing notebooks: {} and {more} more",
            shown.join(", ")
        ),
    };
    Error::not_found(error)
}
