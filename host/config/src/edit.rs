//! Edits of the config file by commands: everything else in it is kept, including comments. An edit that would make the
//! settings invalid is not written; the file is replaced atomically.

use std::io::Write;
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::layers::{load_with, read};
use super::{ComponentLimits, ConfigError, GrantSettings, Overrides, SwitchReason};
use notehost_vault::{Tier, fold_path};

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

    /// Sets the tier of a notebook, or the default tier; for everybody or for one caller.
    pub fn set_tier(
        &mut self,
        caller: Option<&str>,
        notebook: Option<&str>,
        tier: Tier,
    ) -> Result<(), ConfigError> {
        let mut path = match caller {
            Some(caller) => vec!["callers", caller, "permissions"],
            None => vec!["permissions"],
        };
        path.extend(notebook.map(|_| "notebooks"));
        let table = self.table(&path)?;
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
        let Some(id) = vault else {
            put(self.document.as_table_mut(), "read_only", on.into());
            return Ok(());
        };
        let vaults = match self.document.get_mut("vaults") {
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
        match vaults.into_iter().find(has_id) {
            Some(table) => {
                put(table, "read_only", on.into());
                Ok(())
            }
            None => Err(ConfigError::new(format!("the config file has no vault `{id}`"))
                .at(&self.file, None)
                .with_hint("vault ids are listed under `[[vaults]]`; omit `--vault` to change all vaults")),
        }
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
    let mut here: &mut dyn TableLike = document;
    let mut is_inline = false;
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
mod tests {
    use super::*;

    fn edited(text: &str, change: impl FnOnce(&mut Edit)) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("n.toml");
        std::fs::write(&file, text).expect("a file");
        let mut edit = Edit::open(&file, false).expect("it can be read");
        change(&mut edit);
        let flags = Overrides {
            state: Some(folder.path().join("state")),
            ..Overrides::default()
        };
        edit.save(&flags).expect("it can be written");
        std::fs::read_to_string(&file).expect("the file")
    }

    #[test]
    fn setting_a_tier_keeps_everything_else() {
        let text = "# mine\nconfirm = 'never' # yes\n\n[permissions.notebooks]\n# work\nWork = 'r' # for now\n\n[rates]\nread = 1_000\n";
        let set = |notebook: &'static str| {
            move |edit: &mut Edit| {
                edit.set_tier(None, Some(notebook), Tier::Write)
                    .expect("set")
            }
        };
        assert_eq!(edited(text, set("work")), text.replace("'r'", "\"rw\""));
        assert_eq!(
            edited(text, set("My Own")),
            text.replace("for now\n", "for now\n\"My Own\" = \"rw\"\n")
        );
    }

    #[test]
    fn missing_tables_are_created_and_inline_ones_stay_inline() {
        let set = |edit: &mut Edit| {
            edit.set_tier(Some("phone"), Some("Work"), Tier::Read)
                .expect("set");
            edit.set_tier(Some("phone"), None, Tier::None).expect("set");
        };
        let made = edited("", set);
        assert_eq!(
            made,
            "[callers.phone.permissions]\ndefault = \"none\"\n\n[callers.phone.permissions.notebooks]\nWork = \"r\"\n"
        );
        let kept = edited("callers = { phone = { scopes = ['read'] } }\n", set);
        let settings: super::super::Settings = toml::from_str(&kept).expect("settings");
        assert_eq!(
            settings.callers["phone"].permissions.notebooks["Work"],
            Tier::Read
        );
        assert!(settings.callers["phone"].scopes.is_some());
    }

    #[test]
    fn read_only_is_set_for_all_or_one_vault() {
        assert_eq!(
            edited("", |edit| edit.set_read_only(None, true).expect("set")),
            "read_only = true\n"
        );
        let folder = tempfile::tempdir().expect("a folder");
        let text = format!(
            "[[vaults]]\nid = 'a'\npath = '{}'\n",
            folder.path().display()
        );
        let closed = edited(&text, |edit| {
            assert!(edit.set_read_only(Some("b"), true).is_err());
            edit.set_read_only(Some("a"), true).expect("set");
        });
        assert_eq!(closed, format!("{text}read_only = true\n"));
    }

    #[test]
    fn a_grant_is_replaced_and_removed_as_a_whole() {
        let grant = GrantSettings {
            read: vec!["Work/**".into()],
            http: vec!["api.example.com".into()],
            store_bytes: Some(1000),
            ..GrantSettings::default()
        };
        let limits = ComponentLimits {
            call_ms: Some(500),
            ..ComponentLimits::default()
        };
        let text = "[components.todo]\nenabled = false # mine\n";
        let granted = edited(text, |edit| {
            edit.set_grant("todo", &grant).expect("set");
            edit.set_limits("todo", &limits).expect("set");
        });
        let settings: super::super::Settings = toml::from_str(&granted).expect("settings");
        assert_eq!(settings.components["todo"].grant, grant);
        assert_eq!(settings.components["todo"].limits, limits);
        let narrower = edited(&granted, |edit| {
            let nothing = GrantSettings::default();
            edit.set_grant("todo", &nothing).expect("set");
            edit.set_limits("todo", &ComponentLimits::default())
                .expect("set");
        });
        assert!(!narrower.contains("http") && !narrower.contains("limits"));
        let revoked = edited(&granted, |edit| {
            edit.remove_grant("todo").expect("removed");
            edit.set_limits("todo", &ComponentLimits::default())
                .expect("set");
        });
        assert_eq!(revoked, text);
    }

    #[test]
    fn the_reason_is_removed_when_switched_on() {
        let off = SwitchReason {
            because: Some("too \"loud\"".into()),
            by: Some("ana".into()),
        };
        let text = "[components.echo.grant]\nread = ['**'] # all\n";
        let done = edited(text, |edit| {
            edit.set_enabled("echo", None, Some(&off)).expect("set");
            edit.set_enabled("echo", Some("say"), Some(&off))
                .expect("set");
        });
        let settings: super::super::Settings = toml::from_str(&done).expect("settings");
        let echo = &settings.components["echo"];
        assert_eq!(
            (echo.enabled, &echo.because, &echo.by),
            (false, &off.because, &off.by)
        );
        assert_eq!((echo.actions["say"], &echo.reasons["say"]), (false, &off));
        let undone = edited(&done, |edit| {
            edit.set_enabled("echo", None, None).expect("set");
            edit.set_enabled("echo", Some("say"), None).expect("set");
        });
        assert!(
            !undone.contains("loud") && !undone.contains("reasons"),
            "{undone}"
        );
        // What it was granted is as it was.
        assert!(undone.contains("read = ['**'] # all"), "{undone}");
    }

    #[test]
    fn invalid_edits_are_not_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("n.toml");
        std::fs::write(&file, "read_only = false\n").expect("a file");
        let mut edit = Edit::open(&file, false).expect("it can be read");
        edit.set_tier(None, Some("Work/Private"), Tier::None)
            .expect("set");
        let flags = Overrides {
            state: Some(folder.path().join("state")),
            ..Overrides::default()
        };
        let error = edit.save(&flags).expect_err("refused");
        assert!(error.to_string().contains("not a notebook"), "{error}");
        assert_eq!(
            std::fs::read_to_string(&file).expect("the file"),
            "read_only = false\n"
        );
    }
}
