//! Shell-style paths and how they resolve in the vault.

use notehost_sdk::prelude::*;
use notehost_sdk::{Entry, Kind, is_note};

/// Longer suffixes do not count as a file extension.
const MAX_EXTENSION_BYTES: usize = 8;

/// A parsed path from a caller.
pub(crate) struct ShellPath {
    /// Relative to the vault root, without `.`, `..` and empty parts; `""` is the root.
    pub(crate) path: String,
    /// Whether it starts with `/`, `./` or `../`. Such a path is never looked up as a note name.
    is_rooted: bool,
    /// Whether it ends like a folder: `a/`, `a/.`, `a/..`.
    pub(crate) is_folder: bool,
}

impl ShellPath {
    /// Parses a path relative to the vault root. `..` must not go above the root.
    pub(crate) fn parse(written: &str) -> Result<ShellPath> {
        let written = written.trim();
        if written.is_empty() {
            return Err(Error::validation(
                "the path is empty: use `/` for the vault root",
            ));
        }
        // The content of a link is not a path.
        if written.starts_with("[[") {
            return Ok(ShellPath {
                path: written.to_owned(),
                is_rooted: false,
                is_folder: false,
            });
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in written.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    if parts.pop().is_none() {
                        return Err(Error::validation(format!(
                            "`{written}` points outside the vault: `/` is its root"
                        )));
                    }
                }
                part => parts.push(part),
            }
        }
        let is_dotted = matches!(written.split('/').next(), Some("" | "." | ".."));
        let last = written.rsplit('/').next();
        Ok(ShellPath {
            path: parts.join("/"),
            is_rooted: is_dotted,
            is_folder: matches!(last, Some("" | "." | "..")),
        })
    }

    /// Resolves to the file or folder at the path, or else to a note by its path without `.md` or its name.
    pub(crate) fn entry(&self, vault: &Vault) -> Result<Entry> {
        match self.existing(vault)? {
            Some(entry) => Ok(entry),
            // `a/` names a folder: it must not move or remove a note of that name.
            None if self.is_folder => Err(Error::not_found(format!("no folder `{}`", self.path))),
            None => self.file_by_name(vault),
        }
    }

    /// Resolves to a file, even if a folder has the same name.
    pub(crate) fn file(&self, vault: &Vault) -> Result<Entry> {
        match self.existing(vault)? {
            Some(entry) if entry.kind == Kind::File => Ok(entry),
            Some(folder) => self.file_by_name(vault).map_err(|_| is_folder(&folder)),
            None => self.file_by_name(vault),
        }
    }

    /// The path of a new file or folder. Rejects links.
    pub(crate) fn new_path(&self) -> Result<&str> {
        if self.path.starts_with("[[") {
            return Err(Error::validation(format!(
                "`{}` is a link: expected a path such as `Work/Plan.md`",
                self.path
            )));
        }
        Ok(&self.path)
    }

    /// The entry at exactly this path.
    pub(crate) fn existing(&self, vault: &Vault) -> Result<Option<Entry>> {
        if self.path.starts_with("[[") {
            return Ok(None);
        }
        vault.entry(&self.path)
    }

    fn file_by_name(&self, vault: &Vault) -> Result<Entry> {
        if self.path.is_empty() {
            return Err(Error::validation(
                "`/` is the vault root: name a file in it",
            ));
        }
        if !is_note(&self.path)
            && let Some(note) = vault
                .entry(&format!("{}.md", self.path))
                .unwrap_or_default()
            && note.kind == Kind::File
        {
            return Ok(note);
        }
        let found = vault.find_file(&self.path)?;
        if self.is_rooted {
            return Err(Error::not_found(format!(
                "no file `/{}`; did you mean `{found}`",
                self.path
            )));
        }
        vault.stat(&found)
    }
}

/// The path of a folder argument; the vault root by default.
pub(crate) fn folder(written: Option<&str>) -> Result<String> {
    match written.map(str::trim) {
        None | Some("") => Ok(String::new()),
        Some(written) => Ok(ShellPath::parse(written)?.path),
    }
}

/// The error for a folder where a file is expected.
pub(crate) fn is_folder(folder: &Entry) -> Error {
    let path = match folder.path.as_str() {
        "" => "/",
        path => path,
    };
    Error::validation(format!(
        "`{path}` is a folder, not a file: use `ls` to list it"
    ))
}

/// The path of a new file: `.md` is added to a name without an extension.
pub(crate) fn with_default_extension(path: &str) -> String {
    if has_extension(path) {
        path.to_owned()
    } else {
        format!("{path}.md")
    }
}

/// Whether a name has a file extension: `a.csv` does, `Plan 1.2` and `Dr. Who` do not.
fn has_extension(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && ending.len() <= MAX_EXTENSION_BYTES
            && ending.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// The entries named by a call, one by `argument` or several by `paths`. Removes duplicates and rejects nested entries.
pub(crate) fn named_entries(
    vault: &Vault,
    argument: &str,
    one: Option<&str>,
    several: Option<&[String]>,
) -> Result<Vec<Entry>> {
    let names: Vec<&str> = match (one, several) {
        (Some(one), None) => vec![one],
        (None, Some(several)) if !several.is_empty() => {
            several.iter().map(String::as_str).collect()
        }
        (None, Some(_)) => {
            return Err(Error::validation(
                "`paths` is empty: name at least one file or folder",
            ));
        }
        (Some(_), Some(_)) => {
            return Err(Error::validation(format!(
                "`{argument}` and `paths` are mutually exclusive: pass one of them"
            )));
        }
        (None, None) => {
            return Err(Error::validation(format!(
                "`{argument}` or `paths` is required"
            )));
        }
    };
    let mut entries: Vec<Entry> = Vec::new();
    for name in names {
        let entry = ShellPath::parse(name)?.entry(vault)?;
        if entry.path.is_empty() {
            return Err(Error::validation(format!(
                "`{name}` is the vault root and cannot be moved or removed: name files or folders in it"
            )));
        }
        if !entries.iter().any(|known| known.path == entry.path) {
            entries.push(entry);
        }
    }
    for inner in &entries {
        let is_around = |outer: &&Entry| {
            let rest = inner.path.strip_prefix(&outer.path);
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        if let Some(outer) = entries.iter().find(is_around) {
            return Err(Error::validation(format!(
                "`{}` is inside `{}`, which is also in the list: name only one of them",
                inner.path, outer.path
            )));
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_path_spellings_are_normalized() {
        for (written, path, is_folder) in [
            ("a", "a", false),
            ("./a", "a", false),
            ("/a", "a", false),
            ("a/", "a", true),
            ("//a//b/", "a/b", true),
            ("a/./b", "a/b", false),
            ("a/../b", "b", false),
            ("a/b/..", "a", true),
            ("/", "", true),
            (".", "", true),
            ("./", "", true),
            (" a b ", "a b", false),
            ("a/..", "", true),
            ("[[a/../b]]", "[[a/../b]]", false),
            ("...", "...", false),
        ] {
            let parsed = ShellPath::parse(written).unwrap();
            assert_eq!(
                (parsed.path.as_str(), parsed.is_folder),
                (path, is_folder),
                "{written}"
            );
        }
        for written in ["..", "../a", "/..", "a/../..", "./../a", "", " "] {
            let refused = ShellPath::parse(written).err().unwrap();
            assert_eq!(refused.code(), "validation_error", "{written}");
        }
    }

    #[test]
    fn names_without_an_extension_are_notes() {
        for (path, expected) in [
            ("a", "a.md"),
            ("a.md", "a.md"),
            ("a.MD", "a.MD"),
            ("a.csv", "a.csv"),
            ("a.b/c", "a.b/c.md"),
            ("Plan 1.2", "Plan 1.2.md"),
            ("Dr. Who", "Dr. Who.md"),
            ("a.", "a..md"),
            ("2026.日記", "2026.日記.md"),
        ] {
            assert_eq!(with_default_extension(path), expected);
        }
    }
}
