//! Moving and copying: `mv` and `cp`.

use notehost_sdk::documents::moving::{Copied, Moved, copy, into_folder, relocate};
use notehost_sdk::documents::naming::{file_name, within};
use notehost_sdk::prelude::*;
use notehost_sdk::{Entry, Kind, is_note};

use crate::paths::{self, ShellPath, named_entries};

/// Maximum number of files in a copied folder.
const MAX_COPY_FILES: usize = 500;
/// Maximum total size of a copied folder.
const MAX_COPY_BYTES: u64 = 64 << 20;

/// Move or rename notes, files and folders; links are rewritten everywhere. Nothing is overwritten.
///
/// Example: `{"from": "Garden/Compost", "to": "Garden/Worm bin"}`
/// Example (several into a folder): `{"paths": ["Garden/Compost", "Garden/Tomatoes"], "to": "Archive/"}`
#[args]
pub struct Mv {
    /// What to move: path or unique name.
    pub from: Option<String>,
    /// Several paths instead of `from`, moved into the folder `to`.
    pub paths: Option<Vec<String>>,
    /// The new path, or a folder to move into: an existing one, or one ending with `/`.
    pub to: String,
}

impl Action for Mv {
    type Output = Moved;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Moved> {
        let is_single = self.paths.is_none();
        let entries = named_entries(vault, "from", self.from.as_deref(), self.paths.as_deref())?;
        let moves = match entries.as_slice() {
            [only] if is_single => vec![(only.path.clone(), destination(vault, only, &self.to)?)],
            several => {
                let written = ShellPath::parse(&self.to)?;
                let folder = written.new_path()?;
                let folder = match vault.entry(folder)? {
                    Some(file) if file.kind == Kind::File => {
                        return Err(Error::validation(format!(
                            "`to` is the file `{}`: expected a folder",
                            file.path
                        )));
                    }
                    Some(folder) => folder.path,
                    None => folder.to_owned(),
                };
                into_folder(several.iter().map(|entry| entry.path.clone()), &folder)?
            }
        };
        let mut moved = relocate(vault, moves)?;
        for path in &mut moved.paths {
            *path = vault.stat(path)?.path;
        }
        Ok(moved)
    }
}

/// Copy a note, a file or (with `recursive`) a folder. Links keep pointing to the original. Nothing is overwritten.
///
/// Example: `{"from": "Garden/Compost", "to": "Garden/Compost copy"}`
/// Example (a folder): `{"from": "Garden", "to": "Garden 2025", "recursive": true}`
#[args]
pub struct Cp {
    /// What to copy: path or unique name.
    pub from: String,
    /// The path of the copy, or a folder to copy into.
    pub to: String,
    /// Required for folders.
    #[serde(default)]
    pub recursive: bool,
}

impl Action for Cp {
    type Output = Copied;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Copied> {
        let from = ShellPath::parse(&self.from)?.entry(vault)?;
        let to = destination(vault, &from, &self.to)?;
        match from.kind {
            Kind::File => copy(vault, from.path, &to),
            Kind::Folder if self.recursive => copy_folder(vault, from.path, &to),
            Kind::Folder => Err(Error::validation(format!(
                "`{}` is a folder: set `recursive` to true to copy it with its contents",
                display_path(&from.path)
            ))),
        }
    }
}

/// The destination path: inside `to` if that is a folder, otherwise `to` itself.
fn destination(vault: &Vault, from: &Entry, to: &str) -> Result<String> {
    let written = ShellPath::parse(to)?;
    let path = written.new_path()?;
    let existing = written.existing(vault)?;
    if let Some(folder) = existing.filter(|entry| entry.kind == Kind::Folder)
        // If only the case differs, the folder itself is renamed.
        && (folder.path != from.path || folder.path == path)
    {
        return Ok(within(&folder.path, file_name(&from.path)));
    }
    if written.is_folder && from.kind == Kind::File {
        return Ok(within(path, file_name(&from.path)));
    }
    Ok(if from.kind == Kind::File && is_note(&from.path) {
        paths::with_default_extension(path)
    } else {
        path.to_owned()
    })
}

/// Copies a folder with everything in it that the caller can see.
fn copy_folder(vault: &Vault, from: String, to: &str) -> Result<Copied> {
    if to == from || to.starts_with(&within(&from, "")) {
        return Err(Error::validation(format!(
            "`{}` cannot be copied into itself",
            display_path(&from)
        )));
    }
    let entries = vault.list_all(&from, true)?;
    let files = entries.iter().filter(|entry| entry.kind == Kind::File);
    let (count, bytes) = files.fold((0, 0_u64), |(count, bytes), file| {
        (count + 1, bytes.saturating_add(file.size))
    });
    if count > MAX_COPY_FILES || bytes > MAX_COPY_BYTES {
        return Err(Error::new(
            Code::TooLarge,
            format!(
                "`{from}` has {count} files with {bytes} bytes: at most {MAX_COPY_FILES} files with {MAX_COPY_BYTES} bytes are allowed; copy parts of it"
            ),
        ));
    }
    vault.create_folder(to)?;
    for entry in &entries {
        let target = format!("{to}{}", &entry.path[from.len()..]);
        match entry.kind {
            Kind::Folder => vault.create_folder(&target)?,
            Kind::File => {
                vault.create(&target, &vault.read(&entry.path)?.bytes)?;
            }
        }
    }
    Ok(Copied {
        path: vault.stat(to)?.path,
        from,
    })
}

/// A path for messages: `/` for the vault root.
fn display_path(path: &str) -> &str {
    match path {
        "" => "/",
        path => path,
    }
}
