//! Writing files and creating folders: `write`, `edit`, `mkdir`.

use notehost_sdk::documents::changes::{self, Edited, Lines, replaced};
use notehost_sdk::prelude::*;
use notehost_sdk::text::{self, Edit};
use notehost_sdk::{Entry, Kind, is_note};

use crate::cat::read_text;
use crate::paths::{self, ShellPath};

/// Write a file: all of its text, or with `append` lines at its end. Created if missing, with its parent folders.
///
/// Example: `{"path": "Garden/Basil.md", "content": "# Basil\n"}`
/// Example (at the end): `{"path": "Garden/Compost", "content": "Stirred it.", "append": true}`
#[args]
pub struct Write {
    /// The exact path; `.md` is added if it has no extension.
    pub path: String,
    /// The text, including a note's frontmatter.
    pub content: String,
    /// Append to the file.
    #[serde(default)]
    pub append: bool,
}

/// The result of a write.
#[reply]
pub struct FileWritten {
    /// The file.
    pub path: String,
    /// `true`: the file is new.
    pub created: bool,
    /// `false`: the text was already the same, nothing was written.
    pub changed: bool,
    /// The new or changed lines; absent if lines were only removed.
    pub lines: Option<Lines>,
}

impl Action for Write {
    type Output = FileWritten;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<FileWritten> {
        if self.append && self.content.is_empty() {
            return Err(Error::validation("`content` is empty: nothing to append"));
        }
        let path = match write_target(vault, &self.path)? {
            WriteTarget::New(path) => path,
            WriteTarget::Existing(path) => return self.rewrite(vault, &path),
        };
        vault.create(&path, self.content.as_bytes())?;
        let total = text::lines::count(&self.content);
        Ok(FileWritten {
            // Use the spelling of the parent folders on disk.
            path: vault.stat(&path)?.path,
            created: true,
            changed: true,
            lines: (total > 0).then_some(Lines {
                from: 1,
                to: total,
                total,
            }),
        })
    }

    fn text(output: &FileWritten) -> String {
        if output.created {
            return format!("created `{}`", output.path);
        }
        let edited = Edited {
            path: output.path.clone(),
            changed: output.changed,
            lines: output.lines,
            replacements: None,
        };
        edited.sentence()
    }
}

impl Write {
    /// Replaces or appends to an existing text file. Files that are not text are never overwritten.
    fn rewrite(&self, vault: &Vault, path: &str) -> Result<FileWritten> {
        let file = read_text(vault, path)?;
        let edited = match self.append {
            true => changes::written(vault, &file, &text::append(&file.text, &self.content)?)?,
            false => changes::written(vault, &file, &self.content)?,
        };
        Ok(FileWritten {
            path: edited.path,
            created: false,
            changed: edited.changed,
            lines: edited.lines,
        })
    }
}

/// The target of a write.
enum WriteTarget {
    /// A file that does not exist yet.
    New(String),
    /// An existing file.
    Existing(String),
}

fn write_target(vault: &Vault, written: &str) -> Result<WriteTarget> {
    let parsed = ShellPath::parse(written)?;
    let path = parsed.new_path()?;
    if parsed.is_folder {
        return Err(Error::validation(format!(
            "`{written}` does not name a file: use a path such as `Work/Plan.md`"
        )));
    }
    let existing = parsed.existing(vault)?;
    if let Some(file) = existing.as_ref().filter(|entry| entry.kind == Kind::File) {
        return Ok(WriteTarget::Existing(file.path.clone()));
    }
    // `Plan` means `Plan.md`, existing or new, unless a folder has exactly the given name.
    let path = paths::with_default_extension(path);
    match (vault.entry(&path)?, existing) {
        (Some(file), _) if file.kind == Kind::File => Ok(WriteTarget::Existing(file.path)),
        (Some(folder), _) | (None, Some(folder)) => Err(paths::is_folder(&folder)),
        (None, None) => Ok(WriteTarget::New(path)),
    }
}

/// Edit a file by exact text: each `old` must occur exactly once (or `replace_all`). All edits are made, or none.
///
/// Example: `{"path": "Garden/Compost", "edits": [{"old": "about four months", "new": "about five months"}]}`
#[args]
pub struct EditFile {
    /// The file: path or unique name.
    pub path: String,
    /// The edits, applied in order.
    pub edits: Vec<Edit>,
}

impl Action for EditFile {
    type Output = Edited;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Edited> {
        let Entry { path, .. } = ShellPath::parse(&self.path)?.file(vault)?;
        replaced(vault, &read_text(vault, &path)?, &self.edits)
    }
}

/// Make a folder and its missing parent folders.
///
/// Example: `{"path": "Garden/Seeds"}`
#[args]
pub struct Mkdir {
    /// The folder.
    pub path: String,
}

/// A folder.
#[reply]
pub struct Folder {
    /// Its path.
    pub path: String,
    /// `false`: it already existed.
    pub created: bool,
}

impl Action for Mkdir {
    type Output = Folder;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Folder> {
        let written = ShellPath::parse(&self.path)?;
        let path = written.new_path()?;
        if is_note(path) {
            return Err(Error::validation(format!(
                "`{path}` is a note name: a folder name cannot end with `.md`"
            )));
        }
        match vault.entry(path)? {
            Some(entry) if entry.kind == Kind::Folder => Ok(Folder {
                path: entry.path,
                created: false,
            }),
            Some(file) => Err(Error::new(
                Code::AlreadyExists,
                format!("`{}` is a file", file.path),
            )),
            None => {
                vault.create_folder(path)?;
                Ok(Folder {
                    path: vault.stat(path)?.path,
                    created: true,
                })
            }
        }
    }

    fn text(output: &Folder) -> String {
        match output.created {
            true => format!("created the folder `{}`", output.path),
            false => format!("the folder `{}` already exists", output.path),
        }
    }
}
