//! Earlier versions of a note: reading one, `restore_version` and `name_version`. Listing and comparing them is in `history`.

use notehost_sdk::documents::changes::Lines;
use notehost_sdk::prelude::*;
use notehost_sdk::text;

use crate::changes::written;
use crate::history::path_with_history;

/// A version of a note, as text.
pub(crate) fn read_version(vault: &Vault, name: &str, version: &str) -> Result<Note> {
    let path = path_with_history(vault, name)?;
    let blob = vault.read_version(&path, version)?;
    Ok(Note {
        text: as_text(&path, version, blob.bytes)?,
        etag: blob.etag,
        path,
    })
}

pub(crate) fn as_text(path: &str, version: &str, bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|_| {
        Error::unsupported(format!(
            "version `{version}` of `{path}` is not UTF-8 text; `restore_version` can bring it back"
        ))
    })
}

/// Restore a version of a note, or a section of it.
///
/// Example: `{"path": "Garden/Compost", "version": "068tmz9ky5r4x2"}`
/// Example (one section): `{"path": "Garden/Compost", "version": "068tmz9ky5r4x2", "section": "When it smells"}`
#[args]
pub struct RestoreVersion {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// From `history`: an id or name; `before-ID`: the one before a change.
    pub version: String,
    /// Only this section, by heading path: `A > B`.
    pub section: Option<String>,
}

/// A restored note.
#[reply]
pub struct RestoredVersion {
    /// The note.
    pub path: String,
    /// The version that was brought back.
    pub version: String,
    /// `false`: the note already has this text; nothing was written.
    pub changed: bool,
    /// The restored lines that differ; omitted if lines were only removed.
    pub lines: Option<Lines>,
}

impl Action for RestoreVersion {
    type Output = RestoredVersion;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<RestoredVersion> {
        let path = path_with_history(vault, &self.path)?;
        let old = vault.read_version(&path, &self.version)?;
        let restored = |changed, lines| RestoredVersion {
            path: path.clone(),
            version: self.version.clone(),
            changed,
            lines,
        };
        if let Some(section) = &self.section {
            let then = as_text(&path, &self.version, old.bytes)?;
            let note = vault.read_note(&path)?;
            let edited = written(
                vault,
                &note,
                &text::section::restore(&note.text, &then, section)?,
            )?;
            return Ok(restored(edited.changed, edited.lines));
        }
        let now = match vault.read(&path) {
            Err(error) if error.kind() == Code::NotFound => {
                vault.create(&path, &old.bytes)?;
                return Ok(restored(true, None));
            }
            now => now?,
        };
        if now.bytes == old.bytes {
            return Ok(restored(false, None));
        }
        match (String::from_utf8(now.bytes), String::from_utf8(old.bytes)) {
            (Ok(text), Ok(then)) => {
                let note = Note {
                    path: path.clone(),
                    text,
                    etag: now.etag,
                };
                let edited = written(vault, &note, &then)?;
                Ok(restored(true, edited.lines))
            }
            // What is not text comes back byte for byte as well.
            (_, then) => {
                let bytes = then.map_or_else(|error| error.into_bytes(), String::into_bytes);
                vault.write(&path, &bytes, Some(&now.etag))?;
                Ok(restored(true, None))
            }
        }
    }

    fn text(output: &RestoredVersion) -> String {
        let RestoredVersion { path, version, .. } = output;
        match output.changed {
            true => format!("restored version {version} of `{path}`"),
            false => format!("`{path}` already has the text of version {version}: nothing changed"),
        }
    }
}

/// Name a version of a note to keep it. Names are not in the history.
///
/// Example: `{"path": "Garden/Compost", "name": "before the move"}`
#[args]
pub struct NameVersion {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// From `history` (default: the current version).
    pub version: Option<String>,
    /// Unique per note, up to 80 characters; empty removes the name.
    pub name: String,
}

/// A named version.
#[reply]
pub struct NamedVersion {
    /// The note.
    pub path: String,
    /// The version, as requested.
    pub version: String,
    /// Its name; omitted if the name was removed.
    pub name: Option<String>,
}

impl Action for NameVersion {
    type Output = NamedVersion;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<NamedVersion> {
        let path = path_with_history(vault, &self.path)?;
        let version = self.version.unwrap_or_else(|| "current".to_owned());
        let name = Some(self.name.trim().to_owned()).filter(|name| !name.is_empty());
        vault.name_version(&path, &version, name.as_deref())?;
        Ok(NamedVersion {
            path,
            version,
            name,
        })
    }

    fn text(output: &NamedVersion) -> String {
        let NamedVersion { path, version, .. } = output;
        match &output.name {
            Some(name) => format!("version {version} of `{path}` is named \"{name}\""),
            None => format!("removed the name of version {version} of `{path}`"),
        }
    }
}
