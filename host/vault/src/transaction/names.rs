//! Names of versions: giving, changing and removing them.
//!
//! Invariant: a name is visible only where its version is: the caller may see every path that the note had from that version
//! on. A hidden name does not exist, so another version may get the same one.

use notehost_sdk::Code;

use crate::{
    access::{Effect, Tier},
    error::VaultError,
    identifier::is_id,
    path::folded,
    storage::records::{NameEdit, NameRow},
    transaction::{
        Transaction,
        versions::{BEFORE, CURRENT},
    },
};

const MAX_NAME_CHARS: usize = 80;

impl Transaction {
    /// Names a version of a file; `None` removes its name. Not a change of the vault: it is not in the history.
    pub fn name_version(
        &mut self,
        path: &str,
        version: &str,
        name: Option<&str>,
    ) -> Result<(), VaultError> {
        self.must_have(Effect::Write)?;
        if !self.has_no_changes() {
            return Err(VaultError::invalid(
                "a call that names a version may not write anything else",
            ));
        }
        let name = name.map(checked_name).transpose()?;
        let (now, state) = self.state(path, version)?;
        self.must_reach(&now, Tier::Write)?;
        let bytes = self.read_version(path, version)?.bytes;
        let Some(digest) = state.digest else {
            return Err(VaultError::absent(path));
        };
        let names = self.visible_names(&now)?;
        let is_this = |row: &NameRow| row.digest == digest && row.origin == state.path;
        match &name {
            None if !names.iter().any(is_this) => {
                let message = format!("version `{version}` of `{path}` has no name");
                return Err(VaultError::new(Code::NotFound, message));
            }
            Some(name) => {
                let is_taken = |row: &&NameRow| folded(&row.name) == folded(name) && !is_this(row);
                if let Some(other) = names.iter().find(is_taken) {
                    let message =
                        format!("another version of `{path}` has the name `{}`", other.name);
                    return Err(VaultError::new(Code::AlreadyExists, message));
                }
            }
            None => {}
        }
        self.naming = Some(NameEdit {
            path: now,
            digest,
            origin: state.path,
            name,
            bytes,
        });
        Ok(())
    }

    /// The names of versions of the file at a canonical path.
    pub(super) fn visible_names(&self, path: &str) -> Result<Vec<NameRow>, VaultError> {
        let mut names = self.vault.storage.names(path)?;
        names.retain(|row| {
            self.sees_past(&row.origin) && row.trail.iter().all(|path| self.sees_past(path))
        });
        Ok(names)
    }
}

fn checked_name(name: &str) -> Result<String, VaultError> {
    let name = name.trim();
    let refusal = if name.is_empty() || name.chars().count() > MAX_NAME_CHARS {
        format!("a name has 1 to {MAX_NAME_CHARS} characters")
    } else if name.chars().any(char::is_control) {
        "a name has no control characters".to_owned()
    } else if is_id(name) || name == CURRENT || name.starts_with(BEFORE) {
        format!("`{name}` has the form of a version id: choose another name")
    } else {
        return Ok(name.to_owned());
    };
    Err(VaultError::invalid(refusal))
}
