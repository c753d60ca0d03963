//! Removing files and folders: `rm`.

use notehost_sdk::Kind;
use notehost_sdk::prelude::*;

use crate::paths::named_entries;

/// Remove notes, files and (with `recursive`) folders: they go to the trash; `document.restore` recovers them.
///
/// Example: `{"path": "Garden/Compost"}`
/// Example (a folder): `{"path": "Journal", "recursive": true}`
#[args]
pub struct Rm {
    /// What to remove: path or unique name.
    pub path: Option<String>,
    /// Several paths, instead of `path`.
    pub paths: Option<Vec<String>>,
    /// Required for folders.
    #[serde(default)]
    pub recursive: bool,
}

/// The result of a removal.
#[reply]
pub struct RemovedFiles {
    /// The removed files and folders.
    pub paths: Vec<String>,
    /// For `document.restore`: one per file, including files in folders.
    pub trash_ids: Vec<String>,
}

impl Action for Rm {
    type Output = RemovedFiles;
    const EFFECT: Effect = Effect::Delete;

    fn run(self, vault: &Vault) -> Result<RemovedFiles> {
        let entries = named_entries(vault, "path", self.path.as_deref(), self.paths.as_deref())?;
        if !self.recursive
            && let Some(folder) = entries.iter().find(|entry| entry.kind == Kind::Folder)
        {
            return Err(Error::validation(format!(
                "`{}` is a folder: set `recursive` to true to remove it with its contents",
                folder.path
            )));
        }
        let mut trash_ids = Vec::new();
        for entry in &entries {
            trash_ids.extend(vault.remove(&entry.path)?);
        }
        Ok(RemovedFiles {
            paths: entries.into_iter().map(|entry| entry.path).collect(),
            trash_ids,
        })
    }

    fn text(output: &RemovedFiles) -> String {
        let mut text = format!("removed: {}", output.paths.join(", "));
        if !output.trash_ids.is_empty() {
            text.push_str(&format!(
                "\ntrash ids, for `document.restore`: {}",
                output.trash_ids.join(", ")
            ));
        }
        text
    }
}
