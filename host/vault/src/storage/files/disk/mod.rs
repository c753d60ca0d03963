//! The only place that accesses files of a vault: an open folder and the operations on one name in it.
//!
//! Every function takes a single name and never follows symbolic links, so no path can escape the vault, even if
//! folders are swapped concurrently. Access rules are not checked here.

use std::{
    fs::File,
    io::{self, Read, Write},
    path::Path,
};

use crate::storage::stamp::{Digest, Node, Stamp, Status};
use notehost_platform::{
    errors::{Cause, cause},
    folder::{self, Stat},
};

impl From<Stat> for Status {
    fn from(stat: Stat) -> Self {
        Status {
            node: stat.node,
            stamp: Stamp {
                identity: stat.inode,
                size: stat.size,
                modified: stat.modified,
                changed: stat.changed,
                is_exact: false,
            },
            mode: stat.mode,
            owner: stat.owner,
        }
    }
}

/// An open folder.
#[derive(Debug)]
pub(crate) struct Folder {
    dir: folder::Folder,
}

impl Folder {
    /// The vault itself: the one place where a path of the machine is opened.
    pub(crate) fn open_vault(path: &Path) -> io::Result<Folder> {
        Ok(Folder {
            dir: folder::Folder::open_path(path)?,
        })
    }

    /// Takes the folder itself for this process, so that nobody has to leave a file in it. Fails with `WouldBlock` while
    /// another process has it, and with another error where the file system has no such locks.
    pub(crate) fn lock(&self) -> io::Result<()> {
        self.dir.lock()
    }

    /// Whether another process has locked the folder; `false` where that cannot be known.
    pub(crate) fn is_locked(&self) -> bool {
        self.dir.is_locked()
    }

    /// Lets go of the folder.
    pub(crate) fn unlock(&self) {
        self.dir.unlock();
    }

    /// A folder in this one.
    pub(crate) fn folder(&self, name: &str) -> io::Result<Folder> {
        Ok(Folder {
            dir: self.dir.folder(name)?,
        })
    }

    /// A folder any number of names below; `""` is this one.
    pub(crate) fn descend(&self, path: &str) -> io::Result<Folder> {
        // In one step `a/../b` would be followed: no part of a path may be anything but a name.
        names_of(path).try_for_each(|name| folder::single(name).map(drop))?;
        if path.contains('/')
            && let Some(opened) = self.dir.descend(path)
        {
            return Ok(Folder { dir: opened? });
        }
        self.descend_by_name(path)
    }

    /// The same name by name, as every system can.
    fn descend_by_name(&self, path: &str) -> io::Result<Folder> {
        let mut names = names_of(path);
        let Some(first) = names.next() else {
            return Ok(Folder {
                dir: self.dir.try_clone()?,
            });
        };
        names.try_fold(self.folder(first)?, |folder, name| folder.folder(name))
    }

    /// The folder of a path and the name in it.
    pub(crate) fn place<'path>(&self, path: &'path str) -> io::Result<(Folder, &'path str)> {
        let (folder, name) = crate::path::split(path);
        Ok((self.descend(folder)?, name))
    }

    /// The status of a path below, if it exists; `""` is this folder.
    pub(crate) fn status_below(&self, path: &str) -> io::Result<Option<Status>> {
        match path {
            "" => return self.own_status().map(Some),
            name if !name.contains('/') => return self.status(name),
            _ => {}
        }
        match self.place(path) {
            Ok((folder, name)) => folder.status(name),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What this folder is.
    pub(crate) fn own_status(&self) -> io::Result<Status> {
        Ok(self.dir.stat()?.into())
    }

    /// The device that this folder is on: its major and minor number.
    pub(crate) fn device(&self) -> io::Result<(u32, u32)> {
        Ok(self.dir.stat()?.device)
    }

    /// The status of a name, if it exists.
    pub(crate) fn status(&self, name: &str) -> io::Result<Option<Status>> {
        Ok(self.dir.stat_of(name)?.map(Status::from))
    }

    /// Opens a regular file; anything else is absent. A pipe swapped in does not block.
    pub(crate) fn open(&self, name: &str) -> io::Result<Option<(File, Status)>> {
        let opened = self.dir.open(name)?;
        Ok(opened.map(|(file, stat)| (file, stat.into())))
    }

    /// Opens a regular file at a path below, in one step where the system can be asked to follow no link on the way.
    pub(crate) fn open_below(&self, path: &str) -> io::Result<Option<(File, Status)>> {
        names_of(path).try_for_each(|name| folder::single(name).map(drop))?;
        if path.contains('/')
            && let Some(opened) = self.dir.open_below(path)
        {
            return Ok(opened?.map(|(file, stat)| (file, stat.into())));
        }
        match self.place(path) {
            Ok((folder, name)) => folder.open(name),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Where a symbolic link leads, if that can be said in UTF-8.
    pub(crate) fn link(&self, name: &str) -> io::Result<Option<String>> {
        self.dir.link(name)
    }

    /// The names in this folder and their kinds. Names that are not UTF-8 are skipped.
    pub(crate) fn names(&self) -> io::Result<Vec<(String, Node)>> {
        let mut names = Vec::new();
        for (name, node) in self.dir.names()? {
            let node = match node {
                Some(node) => node,
                None => match self.status(&name)? {
                    Some(status) => status.node,
                    None => continue,
                },
            };
            names.push((name, node));
        }
        Ok(names)
    }

    /// A new private file; fails if the name is taken.
    pub(crate) fn create(&self, name: &str) -> io::Result<File> {
        self.dir.create(name)
    }

    /// A new folder for notes. Whether it was made: `false` if it was there.
    pub(crate) fn make_folder(&self, name: &str) -> io::Result<bool> {
        let is_made = self.make_private_folder(name)?;
        if is_made {
            let folder = self.folder(name)?;
            // In a folder that a group shares, a new one is made to share it as well.
            let inherited = folder.own_status()?.mode & 0o7000;
            folder
                .dir
                .set_mode(notehost_platform::private::notes_folder_mode() | inherited)?;
        }
        Ok(is_made)
    }

    /// Takes from everybody else what they may do in this folder. Whether they could do anything.
    pub(crate) fn restrict(&self) -> io::Result<bool> {
        let mode = self.own_status()?.mode;
        if mode & 0o077 == 0 {
            return Ok(false);
        }
        self.dir.set_mode(mode & !0o077)?;
        Ok(true)
    }

    /// Takes from everybody else what they may do with a file.
    pub(crate) fn restrict_file(&self, name: &str) -> io::Result<()> {
        if let Some((file, status)) = self.open(name)?
            && status.mode & 0o077 != 0
        {
            folder::set_file_mode(&file, status.mode & !0o077)?;
        }
        Ok(())
    }

    /// Whether this user may write in this folder.
    pub(crate) fn is_writable(&self) -> bool {
        self.dir.is_writable()
    }

    /// Creates a private folder. `false` if it already existed.
    pub(crate) fn make_private_folder(&self, name: &str) -> io::Result<bool> {
        self.dir.make_folder(name)
    }

    /// Waits until the names in this folder are safe on disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.dir.sync()
    }

    /// Digests a file without holding it in memory; `None` where there is no regular file.
    pub(crate) fn digest(&self, name: &str) -> io::Result<Option<(Digest, Status)>> {
        digest_of(self.open(name)?)
    }

    /// The same for a path below.
    pub(crate) fn digest_below(&self, path: &str) -> io::Result<Option<(Digest, Status)>> {
        digest_of(self.open_below(path)?)
    }

    /// A new file with this content, owner and mode where given, private otherwise; not yet synced.
    pub(crate) fn write_new(
        &self,
        name: &str,
        bytes: &[u8],
        mode: Option<u32>,
        owner: Option<(u32, u32)>,
    ) -> io::Result<File> {
        let mut file = self.create(name)?;
        file.write_all(bytes)?;
        widen(&file, mode, owner)?;
        Ok(file)
    }
}

/// Gives a file that is private so far its owner and mode, after its content: nobody reads a part of it.
fn widen(file: &File, mode: Option<u32>, owner: Option<(u32, u32)>) -> io::Result<()> {
    if let Some((user, group)) = owner {
        let now = folder::stat_of_file(file)?.owner;
        if now != (user, group) {
            // Only root may give files away; anybody else keeps what the system allows.
            let _ = folder::set_file_owner(file, (user, group));
        }
    }
    if let Some(mode) = mode {
        folder::set_file_mode(file, mode)?;
    }
    Ok(())
}

/// The names that a path is made of.
fn names_of(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !name.is_empty())
}

fn digest_of(opened: Option<(File, Status)>) -> io::Result<Option<(Digest, Status)>> {
    let Some((mut file, status)) = opened else {
        return Ok(None);
    };
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 128 << 10];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(Some((Digest(*hasher.finalize().as_bytes()), status))),
            Ok(read) => hasher.update(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
    }
}

/// Reads a file of a known size, which may have grown or shrunk meanwhile, up to a limit; `None` above it.
pub(crate) fn read_bounded(file: &mut File, size: u64, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    Ok(read_into(file, size, limit, &mut bytes)?.then_some(bytes))
}

/// The same into a buffer, whose content is replaced. Whether the file is within the limit.
pub(crate) fn read_into(
    file: &mut File,
    size: u64,
    limit: u64,
    bytes: &mut Vec<u8>,
) -> io::Result<bool> {
    bytes.clear();
    if size > limit {
        return Ok(false);
    }
    bytes.reserve_exact(usize::try_from(size).unwrap_or(0).saturating_add(1));
    file.take(limit.saturating_add(1)).read_to_end(bytes)?;
    Ok(bytes.len() as u64 <= limit)
}

/// Whether an error only says that nothing (or nothing that may be followed) is there.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(cause(error), Cause::Absent | Cause::Link)
}

/// Whether a disk treats `A` and `a` as one name, tested with a name that exists.
pub(crate) fn folds_names(root: &Folder) -> bool {
    if folder::USUALLY_IGNORES_CASE {
        return true;
    }
    let Ok(names) = root.names() else { return true };
    let probe = names.iter().find_map(|(name, _)| {
        let swapped: String = name
            .chars()
            .map(|c| {
                if c.is_ascii_lowercase() {
                    c.to_ascii_uppercase()
                } else {
                    c.to_ascii_lowercase()
                }
            })
            .collect();
        (swapped != *name).then_some((name, swapped))
    });
    let Some((name, swapped)) = probe else {
        return false;
    };
    match (root.status(name), root.status(&swapped)) {
        (Ok(Some(one)), Ok(Some(other))) => one.stamp.identity == other.stamp.identity,
        _ => false,
    }
}

mod names;
#[cfg(test)]
mod tests;
