//! The settings of a notebook: icon, description, sort order. Each notebook has one key in the component's store. Keys are
//! case-insensitive, because other programs may change the spelling of a folder.

use notehost_sdk::{fold_name, prelude::*, serde, serde_json};

/// Sort order of a notebook's contents.
#[args]
#[derive(Copy, PartialEq, Eq, Default, serde::Serialize)]
pub enum Sort {
    /// By name, ascending.
    #[default]
    Name,
    /// By name, descending.
    NameReversed,
    /// By modification time, newest first.
    Newest,
    /// By modification time, oldest first.
    Oldest,
    /// By size, largest first.
    Largest,
}

/// The stored settings of one notebook.
#[reply]
#[derive(Default, PartialEq, Eq, serde::Deserialize)]
pub(crate) struct Settings {
    pub(crate) icon: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) sort: Option<Sort>,
}

impl Settings {
    /// Loads the settings of a notebook. Unreadable settings are ignored: they are only cosmetic.
    pub(crate) fn load(vault: &Vault, notebook: &str) -> Result<Settings> {
        let key = key(notebook);
        let kept = match key.len() > MAX_KEY_BYTES {
            true => None,
            false => vault.store_get(&key)?,
        };
        Ok(kept
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default())
    }

    /// Saves the settings; deletes the key if all of them are defaults.
    pub(crate) fn save(&self, vault: &Vault, notebook: &str) -> Result<()> {
        if *self == Settings::default() {
            return Settings::delete(vault, notebook);
        }
        let bytes = serde_json::to_vec(self)
            .map_err(|error| Error::new(Code::InternalError, error.to_string()))?;
        vault.store_set(&key(notebook), &bytes)
    }

    pub(crate) fn delete(vault: &Vault, notebook: &str) -> Result<()> {
        let key = key(notebook);
        if key.len() > MAX_KEY_BYTES || vault.store_get(&key)?.is_none() {
            return Ok(());
        }
        vault.store_remove(&key)
    }

    /// Updates the given settings; an empty string clears a setting.
    pub(crate) fn update(
        &mut self,
        icon: Option<String>,
        description: Option<String>,
    ) -> Result<()> {
        if let Some(icon) = icon {
            self.icon = validated("icon", &icon, MAX_ICON_CHARS)?;
        }
        if let Some(description) = description {
            self.description = validated("description", &description, MAX_DESCRIPTION_CHARS)?;
        }
        Ok(())
    }
}

/// The store's limit for keys.
const MAX_KEY_BYTES: usize = 200;
/// A single emoji can consist of eleven characters.
const MAX_ICON_CHARS: usize = 32;
const MAX_DESCRIPTION_CHARS: usize = 2000;

fn key(notebook: &str) -> String {
    format!("notebook/{}", fold_name(notebook))
}

fn validated(field: &str, text: &str, max_chars: usize) -> Result<Option<String>> {
    let text = text.trim();
    let length = text.chars().count();
    if length > max_chars {
        return Err(Error::validation(format!(
            "`{field}` has {length} characters: at most {max_chars} are allowed"
        )));
    }
    Ok((!text.is_empty()).then(|| text.to_owned()))
}
