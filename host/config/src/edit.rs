//! Edits of the config file by commands: everything else in it is kept, including comments. An edit that would make the
//! settings invalid is not written; the file is replaced atomically.

use std::io::Write;
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::layers::{load_with, read};
use super::{ComponentLimits, ConfigError, GrantSettings, Overrides, SwitchReason};
use notehost_vault::{Tier, fold_path};

/// Whose tiers are set, and where.
#[derive(Debug, Clone, Copy, Default)]
pub struct TierScope<'scope> {
    /// Only those of this caller.
    pub caller: Option<&'scope str>,
    /// Only those in this vault.
    pub vault: Option<&'scope str>,
}

/// An edit of a config file.
#[derive(Debug)]
pub struct Edit {
    file: PathBuf,
    /// Its text when it was read; `None` if it does not exist yet.
    before: Option<String>,
    document: DocumentMut,
}

impl Edit {
    /// Opens a file for editing; a missing one is only created if `may_make` is set.
    pub fn open(file: &Path, may_make: bool) -> Result<Edit, ConfigError> {
        // A symbolic link is kept: its target is edited.
        let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        let before = match read(&file) {
            Ok(text) => Some(text),
            Err(_) if may_make && !file.exists() => None,
            Err(error) => return Err(error),
        };
        let text = before.as_deref().unwrap_or_default();
        let document = text.parse().map_err(|error: toml_edit::TomlError| {
            let line = error.span().map(|span| {
                let above = &text.as_bytes()[..span.start.min(text.len())];
                1 + above.iter().filter(|byte| **byte == b'\n').count()
            });
            ConfigError::new(error.message().trim()).at(&file, line)
        })?;
        Ok(Edit {
            file,
            before,
            document,
        })
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Whether the file does not exist yet.
    pub fn is_new(&self) -> bool {
        self.before.is_none()
    }

    /// Sets the tier of a notebook, or the default tier; for everybody or for one caller, in all vaults or in one.
    pub fn set_tier(
        &mut self,
        scope: TierScope<'_>,
        notebook: Option<&str>,
        tier: Tier,
    ) -> Result<(), ConfigError> {
        let mut path = match scope.caller {
            Some(caller) => vec!["callers", caller, "permissions"],
            None => vec!["permissions"],
        };
        path.extend(notebook.map(|_| "notebooks"));
        let file = self.file.clone();
        let table = match scope.vault {
            None => self.table(&path)?,
            Some(id) => {
                let (vault, is_inline) = self.vault(id)?;
                table_in(vault, is_inline, &path)
                    .ok_or_else(|| not_a_table(&path).at(&file, None))?
            }
        };
        // The line of a notebook may spell its name differently (case, normalization).
        let key = notebook.unwrap_or("default");
        let same = |known: &&str| notebook.is_some() && fold_path(known) == fold_path(key);
        let spelt = table.iter().map(|(known, _)| known).find(same);
        let spelt = spelt.unwrap_or(key).to_owned();
        put(table, &spelt, tier.as_str().into());
        Ok(())
    }

    /// Switches a component, or one of its actions, on; or off, with the reason and the author.
    pub fn set_enabled(
        &mut self,
        component: &str,
        action: Option<&str>,
        off: Option<&SwitchReason>,
    ) -> Result<(), ConfigError> {
        let mut path = vec!["components", component];
        path.extend(action.map(|_| "actions"));
        let table = self.table(&path)?;
        put(table, action.unwrap_or("enabled"), off.is_none().into());
        // The previous reason no longer applies.
        let table = self.table(&["components", component])?;
        let fields = off.map(|reason| [("because", &reason.because), ("by", &reason.by)]);
        let fields = fields.into_iter().flatten();
        let mut fields = fields
            .filter_map(|(key, word)| Some((key, word.as_ref()?)))
            .peekable();
        match action {
            None => {
                table.remove("because");
                table.remove("by");
                fields.for_each(|(key, word)| put(table, key, word.as_str().into()));
            }
            Some(action) if fields.peek().is_some() => {
                let table = self.table(&["components", component, "reasons"])?;
                let reason: InlineTable = fields
                    .map(|(key, word)| (key, Value::from(word.as_str())))
                    .collect();
                put(table, action, reason.into());
            }
            Some(action) => {
                let reasons = table.get_mut("reasons").and_then(Item::as_table_like_mut);
                if let Some(reasons) = reasons {
                    reasons.remove(action);
                    if reasons.is_empty() {
                        table.remove("reasons");
                    }
                }
            }
        }
        Ok(())
    }

    /// Replaces the grant of a third-party component.
    pub fn set_grant(&mut self, component: &str, grant: &GrantSettings) -> Result<(), ConfigError> {
        let table = self.table(&["components", component, "grant"])?;
        for (effect, globs) in [
            ("read", &grant.read),
            ("write", &grant.write),
            ("delete", &grant.delete),
        ] {
            put(table, effect, Value::from_iter(globs));
        }
        match grant.http.is_empty() {
            true => drop(table.remove("http")),
            false => put(table, "http", Value::from_iter(&grant.http)),
        }
        put_or_remove(table, "store_bytes", grant.store_bytes);
        Ok(())
    }

    /// Removes the grant of a third-party component.
    pub fn remove_grant(&mut self, component: &str) -> Result<(), ConfigError> {
        self.table(&["components", component])?.remove("grant");
        Ok(())
    }

    /// Sets the call limits of a component.
    pub fn set_limits(
        &mut self,
        component: &str,
        limits: &ComponentLimits,
    ) -> Result<(), ConfigError> {
        let parent = self.table(&["components", component])?;
        if *limits == ComponentLimits::default() {
            parent.remove("limits");
            return Ok(());
        }
        let table = self.table(&["components", component, "limits"])?;
        put_or_remove(table, "memory_bytes", limits.memory_bytes);
        put_or_remove(table, "call_ms", limits.call_ms);
        put_or_remove(table, "host_calls", limits.host_calls);
        Ok(())
    }

    fn table(&mut self, path: &[&str]) -> Result<&mut dyn TableLike, ConfigError> {
        let file = &self.file;
        table_at(self.document.as_table_mut(), path).ok_or_else(|| not_a_table(path).at(file, None))
    }

    /// Switches all vaults, or one, to read-only or back.
    pub fn set_read_only(&mut self, vault: Option<&str>, on: bool) -> Result<(), ConfigError> {
        match vault {
            None => put(self.document.as_table_mut(), "read_only", on.into()),
            Some(id) => put(self.vault(id)?.0, "read_only", on.into()),
        }
        Ok(())
    }

    /// The table of a vault, and whether it is an inline one.
    fn vault(&mut self, id: &str) -> Result<(&mut dyn TableLike, bool), ConfigError> {
        let item = self.document.get_mut("vaults");
        let is_inline = matches!(item, Some(Item::Value(_)));
        let vaults: Vec<&mut dyn TableLike> = match item {
            Some(Item::ArrayOfTables(several)) => {
                let tables = several.iter_mut().map(|table| table as &mut dyn TableLike);
                tables.collect()
            }
            Some(Item::Value(Value::Array(several))) => {
                let tables = several.iter_mut().filter_map(Value::as_inline_table_mut);
                tables.map(|table| table as &mut dyn TableLike).collect()
            }
            _ => Vec::new(),
        };
        let has_id = |table: &&mut dyn TableLike| {
            table
                .get("id")
                .and_then(Item::as_str)
                .is_some_and(|known| known == id)
        };
        let found = vaults.into_iter().find(has_id);
        found.map(|table| (table, is_inline)).ok_or_else(|| {
            ConfigError::new(format!("the config file has no vault `{id}`"))
                .at(&self.file, None)
                .with_hint(
                    "vault ids are listed under `[[vaults]]`; omit `--vault` to change all vaults",
                )
        })
    }

    /// Writes the file, if its settings are valid together with these flags.
    pub fn save(self, flags: &Overrides) -> Result<(), ConfigError> {
        let text = self.document.to_string();
        let flags = Overrides {
            config: Some(self.file.clone()),
            ..flags.clone()
        };
        load_with(flags, &|name| std::env::var_os(name), Some(&text))?.check()?;
        if std::fs::read_to_string(&self.file).ok() != self.before {
            return Err(ConfigError::new(
                "the file was changed by another program; nothing was written",
            )
            .at(&self.file, None)
            .with_hint("run the command again"));
        }
        replace(&self.file, &text).map_err(|error| {
            ConfigError::new(format!("cannot write the file: {error}")).at(&self.file, None)
        })
    }
}

/// Writes the new text next to the old file, then renames it over that file.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let beside = folder.join(format!(".{name}.{}", std::process::id()));
    let written = (|| {
        let mut new = std::fs::File::create(&beside)?;
        if let Ok(old) = std::fs::metadata(file) {
            new.set_permissions(old.permissions())?;
        }
        new.write_all(text.as_bytes())?;
        new.sync_all()?;
        std::fs::rename(&beside, file)
    })();
    if written.is_err() {
        // It may not exist.
        let _ = std::fs::remove_file(&beside);
    }
    written
}

/// The table at a path, created if missing; `None` if the path has another type.
fn table_at<'document>(
    document: &'document mut Table,
    path: &[&str],
) -> Option<&'document mut dyn TableLike> {
    table_in(document, false, path)
}

/// The same in another table. What is created in an inline table is inline.
fn table_in<'document>(
    parent: &'document mut dyn TableLike,
    mut is_inline: bool,
    path: &[&str],
) -> Option<&'document mut dyn TableLike> {
    let mut here = parent;
    for part in path {
        let item = here.entry(part).or_insert_with(|| match is_inline {
            true => Item::Value(InlineTable::new().into()),
            false => {
                let mut table = Table::new();
                table.set_implicit(true);
                Item::Table(table)
            }
        });
        is_inline = item.is_inline_table();
        here = item.as_table_like_mut()?;
    }
    Some(here)
}

/// Sets a value and keeps the comment behind the old one.
fn put(table: &mut dyn TableLike, key: &str, mut value: Value) {
    match table.get_mut(key) {
        Some(Item::Value(old)) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        _ => drop(table.insert(key, Item::Value(value))),
    }
}

/// Sets a number, or removes the key.
fn put_or_remove(table: &mut dyn TableLike, key: &str, number: Option<impl TryInto<i64>>) {
    // TOML integers are 64-bit signed; no valid value is larger.
    let number = number.map(|number| number.try_into().unwrap_or(i64::MAX));
    match number {
        Some(number) => put(table, key, number.into()),
        None => drop(table.remove(key)),
    }
}

fn not_a_table(path: &[&str]) -> ConfigError {
    ConfigError::new(format!("`{}` is not a table", path.join(".")))
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
