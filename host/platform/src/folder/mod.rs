//! An open folder and the operations of the system on single names in it. A path never leads out of the folder: every
//! function takes one name and follows no symbolic link.
//!
//! The vault is built on this. What a name means and who may use it is decided there.

use std::fs::File;
use std::io;
use std::path::Path;

#[cfg(unix)]
mod unix;
#[cfg(unix)]
use unix as system;
#[cfg(windows)]
mod windows;
#[cfg(windows)]
use windows as system;

/// Whether the usual file systems of this operating system ignore the case of names.
pub const USUALLY_IGNORES_CASE: bool = cfg!(any(target_os = "macos", windows));

/// The kind of a directory entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Node {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe, socket or device: never opened.
    Special,
}

/// The metadata of a file or folder.
#[derive(Clone, Copy, Debug)]
pub struct Stat {
    /// What it is.
    pub node: Node,
    /// Its number on the device.
    pub inode: u64,
    /// Its size in bytes.
    pub size: u64,
    /// When its content changed, in nanoseconds since 1970.
    pub modified: i128,
    /// When its content or metadata changed, in nanoseconds since 1970. On Windows the same as `modified`.
    pub changed: i128,
    /// Permissions and the set-id and sticky bits. On Windows `0o600`, or `0o400` if it is read-only.
    pub mode: u32,
    /// User and group. On Windows 0.
    pub owner: (u32, u32),
    /// The major and minor number of its device. On Windows 0.
    pub device: (u32, u32),
}

/// An open folder.
#[derive(Debug)]
pub struct Folder {
    inner: system::Folder,
}

impl Folder {
    /// Opens a folder by a path of the machine.
    pub fn open_path(path: &Path) -> io::Result<Folder> {
        wrap(system::Folder::open_path(path))
    }

    /// Another handle of the same folder.
    pub fn try_clone(&self) -> io::Result<Folder> {
        wrap(self.inner.try_clone())
    }

    /// Opens a folder in this one.
    pub fn folder(&self, name: &str) -> io::Result<Folder> {
        wrap(self.inner.folder(single(name)?))
    }

    /// Opens the folder at a path of several names, all of them checked, in one step; `None` if the system cannot do that
    /// without following links.
    pub fn descend(&self, path: &str) -> Option<io::Result<Folder>> {
        self.inner.descend(path).map(wrap)
    }

    /// The metadata of this folder.
    pub fn stat(&self) -> io::Result<Stat> {
        self.inner.stat()
    }

    /// The metadata of a name, if it exists.
    pub fn stat_of(&self, name: &str) -> io::Result<Option<Stat>> {
        self.inner.stat_of(single(name)?)
    }

    /// Opens a file for reading; anything but a regular file is absent. A pipe does not block.
    pub fn open(&self, name: &str) -> io::Result<Option<(File, Stat)>> {
        self.inner.open(single(name)?)
    }

    /// Opens the file at a path of several names, all of them checked, in one step; `None` if the system cannot do that
    /// without following links.
    pub fn open_below(&self, path: &str) -> Option<io::Result<Option<(File, Stat)>>> {
        self.inner.open_below(path)
    }

    /// The target of a symbolic link, if it is UTF-8.
    pub fn link(&self, name: &str) -> io::Result<Option<String>> {
        self.inner.link(single(name)?)
    }

    /// The names in this folder and their kinds, where the system knows them without a look at the entry. Names that are not
    /// UTF-8 are skipped.
    pub fn names(&self) -> io::Result<Vec<(String, Option<Node>)>> {
        self.inner.names()
    }

    /// Creates a private file; fails if the name is taken.
    pub fn create(&self, name: &str) -> io::Result<File> {
        self.inner.create(single(name)?)
    }

    /// Creates a private folder. `false` if it already existed.
    pub fn make_folder(&self, name: &str) -> io::Result<bool> {
        self.inner.make_folder(single(name)?)
    }

    /// Sets the mode of this folder. Does nothing on Windows.
    pub fn set_mode(&self, mode: u32) -> io::Result<()> {
        self.inner.set_mode(mode)
    }

    /// Whether this user may write in this folder.
    pub fn is_writable(&self) -> bool {
        self.inner.is_writable()
    }

    /// Waits until the names in this folder are durable. Does nothing on Windows, which cannot flush a folder.
    pub fn sync(&self) -> io::Result<()> {
        self.inner.sync()
    }

    /// Locks the folder for this process. Fails with `WouldBlock` while another process has locked it, and with another
    /// error where folders cannot be locked, as on Windows.
    pub fn lock(&self) -> io::Result<()> {
        self.inner.lock()
    }

    /// Whether another process has locked the folder; `false` if that cannot be known.
    pub fn is_locked(&self) -> bool {
        self.inner.is_locked()
    }

    /// Unlocks the folder.
    pub fn unlock(&self) {
        self.inner.unlock();
    }

    /// Renames a file to a name that nothing has yet (`AlreadyExists` otherwise). Where the system cannot do that in one
    /// step, the name is checked first.
    pub fn rename_new(&self, name: &str, to: &Folder, to_name: &str) -> io::Result<()> {
        let (name, to_name) = (single(name)?, single(to_name)?);
        match self.inner.rename_new(name, &to.inner, to_name)? {
            true => Ok(()),
            false if to.stat_of(to_name)?.is_some() => Err(io::ErrorKind::AlreadyExists.into()),
            false => self.inner.rename_over(name, &to.inner, to_name),
        }
    }

    /// Exchanges two files in one step. `false` if the file system cannot, as on Windows.
    pub fn exchange(&self, name: &str, with: &Folder, with_name: &str) -> io::Result<bool> {
        self.inner
            .exchange(single(name)?, &with.inner, single(with_name)?)
    }

    /// Renames a file over another one.
    pub fn rename_over(&self, name: &str, to: &Folder, to_name: &str) -> io::Result<()> {
        self.inner
            .rename_over(single(name)?, &to.inner, single(to_name)?)
    }

    /// Removes a file. Whether it was there.
    pub fn unlink(&self, name: &str) -> io::Result<bool> {
        self.inner.unlink(single(name)?)
    }

    /// Removes a folder if it is empty. Whether it is gone.
    pub fn unlink_folder(&self, name: &str) -> io::Result<bool> {
        self.inner.unlink_folder(single(name)?)
    }

    /// Gives a file a second name. `false` if the file system has no hard links.
    pub fn hard_link(&self, name: &str, at: &Folder, new: &str) -> io::Result<bool> {
        self.inner.hard_link(single(name)?, &at.inner, single(new)?)
    }
}

/// The metadata of an open file.
pub fn stat_of_file(file: &File) -> io::Result<Stat> {
    system::stat_of_file(file)
}

/// Sets the mode of an open file. Does nothing on Windows.
pub fn set_file_mode(file: &File, mode: u32) -> io::Result<()> {
    system::set_file_mode(file, mode)
}

/// Gives an open file to another user and group, which only root may. Does nothing on Windows.
pub fn set_file_owner(file: &File, owner: (u32, u32)) -> io::Result<()> {
    system::set_file_owner(file, owner)
}

/// Returns one name of a folder. Anything that could lead elsewhere does not exist.
pub fn single(name: &str) -> io::Result<&str> {
    let is_separator =
        |byte: u8| byte == b'/' || byte == 0 || cfg!(windows) && b"\\:".contains(&byte);
    match name {
        "" | "." | ".." => Err(absent()),
        _ if name.bytes().any(is_separator) => Err(absent()),
        _ => Ok(name),
    }
}

/// The error for a name that nothing has.
pub fn absent() -> io::Error {
    io::ErrorKind::NotFound.into()
}

fn wrap(opened: io::Result<system::Folder>) -> io::Result<Folder> {
    opened.map(|inner| Folder { inner })
}
