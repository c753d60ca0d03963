//! The only place that accesses files of a vault: an open folder and the operations on one name in it.
//!
//! Every function takes a single name and never follows symbolic links, so no path can escape the vault, even if
//! folders are swapped concurrently. Access rules are not checked here.

use std::{
    ffi::CStr,
    fs::File,
    io::{self, Read, Write},
    path::Path,
    time::{Duration, SystemTime},
};

use cap_std::{ambient_authority, fs::Dir};
#[cfg(target_os = "linux")]
use rustix::fs::ResolveFlags;
use rustix::{
    fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, Stat},
    io::Errno,
};
use serde::{Deserialize, Serialize};

/// How long after a change the file's times may still hide another one.
const RACY: Duration = Duration::from_secs(2);

const FOLDER_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Names content: equal bytes have equal digests.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(super) struct Digest([u8; 32]);

impl Digest {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Digest(*blake3::hash(bytes).as_bytes())
    }

    pub(super) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Digest)
    }

    /// As callers see it.
    pub(super) fn etag(&self) -> String {
        self.0[..12]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

/// The kind of a directory entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Node {
    File,
    Folder,
    Link,
    /// Pipes, sockets, devices: never opened.
    Special,
}

impl From<FileType> for Node {
    fn from(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Node::File,
            FileType::Directory => Node::Folder,
            FileType::Symlink => Node::Link,
            _ => Node::Special,
        }
    }
}

/// File metadata that detects a change without reading the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Signature {
    pub(super) inode: u64,
    pub(super) size: u64,
    /// Nanoseconds since 1970.
    pub(super) modified: i128,
    changed: i128,
}

impl Signature {
    /// In bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether a change so soon after this one could carry the same times.
    pub fn is_racy(&self, seen: SystemTime) -> bool {
        let seen = seen
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |since| since.as_nanos() as i128);
        self.changed.max(self.modified) + RACY.as_nanos() as i128 > seen
    }

    /// The same content as far as a rename leaves the times alone (it sets the time of change).
    pub(super) fn is_renamed_from(&self, earlier: &Signature) -> bool {
        (self.inode, self.size, self.modified) == (earlier.inode, earlier.size, earlier.modified)
    }

    /// When the file was changed, in milliseconds since 1970.
    pub fn modified_millis(&self) -> u64 {
        u64::try_from(self.modified / 1_000_000).unwrap_or(0)
    }
}

/// What the disk says about a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Status {
    pub(super) node: Node,
    pub(super) signature: Signature,
    pub(super) mode: u32,
    pub(super) owner: (u32, u32),
}

impl Status {
    /// Whether its owner may write it: asked of the mode, because root may write whatever the mode says.
    pub(super) fn is_writable(&self) -> bool {
        self.mode & 0o200 != 0
    }
}

impl From<Stat> for Status {
    fn from(stat: Stat) -> Self {
        let nanos =
            |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        Status {
            node: FileType::from_raw_mode(stat.st_mode as _).into(),
            signature: Signature {
                inode: stat.st_ino as _,
                size: u64::try_from(stat.st_size).unwrap_or(0),
                modified: nanos(stat.st_mtime as _, stat.st_mtime_nsec as _),
                changed: nanos(stat.st_ctime as _, stat.st_ctime_nsec as _),
            },
            mode: (stat.st_mode & 0o7777) as _,
            owner: (stat.st_uid, stat.st_gid),
        }
    }
}

/// An open folder.
#[derive(Debug)]
pub(super) struct Folder {
    dir: Dir,
}

impl Folder {
    /// The vault itself: the one place where a path of the machine is opened.
    pub(super) fn open_vault(path: &Path) -> io::Result<Folder> {
        // What cap-std opens can only be gone through; to be listed and synced it must be opened for reading.
        let dir = Dir::open_ambient_dir(path, ambient_authority())?;
        let opened = rustix::fs::openat(&dir, ".", FOLDER_FLAGS, Mode::empty())?;
        Ok(Folder {
            dir: Dir::from(opened),
        })
    }

    /// Takes the folder itself for this process, so that nobody has to leave a file in it. Fails with `WouldBlock` while
    /// another process has it, and with another error where the file system has no such locks.
    pub(super) fn lock(&self) -> io::Result<()> {
        Ok(rustix::fs::flock(
            &self.dir,
            FlockOperation::NonBlockingLockExclusive,
        )?)
    }

    /// Whether another process has locked the folder; `false` where that cannot be known.
    pub(super) fn is_locked(&self) -> bool {
        match rustix::fs::flock(&self.dir, FlockOperation::NonBlockingLockShared) {
            Ok(()) => {
                self.unlock();
                false
            }
            Err(error) => error == rustix::io::Errno::WOULDBLOCK,
        }
    }

    /// Lets go of the folder.
    pub(super) fn unlock(&self) {
        let _ = rustix::fs::flock(&self.dir, FlockOperation::Unlock);
    }

    /// A folder in this one.
    pub(super) fn folder(&self, name: &str) -> io::Result<Folder> {
        let opened = rustix::fs::openat(&self.dir, single(name)?, FOLDER_FLAGS, Mode::empty())?;
        Ok(Folder {
            dir: Dir::from(opened),
        })
    }

    /// A folder any number of names below; `""` is this one.
    pub(super) fn descend(&self, path: &str) -> io::Result<Folder> {
        // `openat2` would follow `a/../b`: no part of a path may be anything but a name.
        names_of(path).try_for_each(|name| single(name).map(drop))?;
        #[cfg(target_os = "linux")]
        if path.contains('/')
            && let Some(folder) = self.descend_at_once(path)
        {
            return folder;
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

    /// The same in one step, where the system can be asked to follow no link on the way.
    #[cfg(target_os = "linux")]
    fn descend_at_once(&self, path: &str) -> Option<io::Result<Folder>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match rustix::fs::openat2(&self.dir, path, flags, Mode::empty(), resolve) {
            Ok(opened) => Some(Ok(Folder {
                dir: Dir::from(opened),
            })),
            // An old kernel, a sandbox that does not know the call, or names that moved meanwhile.
            Err(Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::AGAIN) => None,
            Err(error) => Some(Err(error.into())),
        }
    }

    /// The folder of a path and the name in it.
    pub(super) fn place<'path>(&self, path: &'path str) -> io::Result<(Folder, &'path str)> {
        let (folder, name) = super::path::split(path);
        Ok((self.descend(folder)?, name))
    }

    /// The status of a path below, if it exists.
    pub(super) fn status_below(&self, path: &str) -> io::Result<Option<Status>> {
        match self.place(path) {
            Ok((folder, name)) => folder.status(name),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What this folder is.
    pub(super) fn own_status(&self) -> io::Result<Status> {
        Ok(rustix::fs::fstat(&self.dir)?.into())
    }

    /// The device that this folder is on: its major and minor number.
    pub(super) fn device(&self) -> io::Result<(u32, u32)> {
        let device = rustix::fs::fstat(&self.dir)?.st_dev;
        Ok((rustix::fs::major(device), rustix::fs::minor(device)))
    }

    /// The status of a name, if it exists.
    pub(super) fn status(&self, name: &str) -> io::Result<Option<Status>> {
        match rustix::fs::statat(&self.dir, single(name)?, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat.into())),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a regular file; anything else is absent. A pipe swapped in does not block.
    pub(super) fn open(&self, name: &str) -> io::Result<Option<(File, Status)>> {
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let opened = match rustix::fs::openat(&self.dir, single(name)?, flags, Mode::empty()) {
            Ok(opened) => opened,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NXIO) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let status = Status::from(rustix::fs::fstat(&opened)?);
        Ok((status.node == Node::File).then(|| (File::from(opened), status)))
    }

    /// Where a symbolic link leads, if that can be said in UTF-8.
    pub(super) fn link(&self, name: &str) -> io::Result<Option<String>> {
        let target = rustix::fs::readlinkat(&self.dir, single(name)?, Vec::new())?;
        Ok(target.into_string().ok())
    }

    /// The names in this folder and their kinds. Names that are not UTF-8 are skipped.
    pub(super) fn names(&self) -> io::Result<Vec<(String, Node)>> {
        let mut names = Vec::new();
        // The folder's own handle may only name it (`O_PATH`): opened anew, it can be listed.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let listed = rustix::fs::openat(&self.dir, ".", flags, Mode::empty())?;
        for entry in rustix::fs::Dir::new(listed)? {
            let entry = entry?;
            let Some(name) = speakable(entry.file_name()) else {
                continue;
            };
            let node = match entry.file_type() {
                FileType::Unknown => match self.status(name)? {
                    Some(status) => status.node,
                    None => continue,
                },
                known => known.into(),
            };
            names.push((name.to_owned(), node));
        }
        Ok(names)
    }

    /// A new private file; fails if the name is taken.
    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(
            &self.dir,
            single(name)?,
            flags,
            Mode::from_raw_mode(0o600),
        )?))
    }

    /// A new folder for notes. Whether it was made: `false` if it was there.
    pub(super) fn make_folder(&self, name: &str) -> io::Result<bool> {
        let is_made = self.make_private_folder(name)?;
        if is_made {
            let folder = self.folder(name)?;
            // In a folder that a group shares, a new one is made to share it as well.
            let inherited = folder.own_status()?.mode & 0o7000;
            folder.set_mode(notehost_platform::private::notes_folder_mode() | inherited)?;
        }
        Ok(is_made)
    }

    /// Takes from everybody else what they may do in this folder. Whether they could do anything.
    pub(super) fn restrict(&self) -> io::Result<bool> {
        let mode = self.own_status()?.mode;
        if mode & 0o077 == 0 {
            return Ok(false);
        }
        self.set_mode(mode & !0o077)?;
        Ok(true)
    }

    /// Takes from everybody else what they may do with a file.
    pub(super) fn restrict_file(&self, name: &str) -> io::Result<()> {
        if let Some((file, status)) = self.open(name)?
            && status.mode & 0o077 != 0
        {
            rustix::fs::fchmod(&file, Mode::from_raw_mode((status.mode & !0o077) as _))?;
        }
        Ok(())
    }

    fn set_mode(&self, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::fchmod(
            &self.dir,
            Mode::from_raw_mode(mode as _),
        )?)
    }

    /// Creates a private folder. `false` if it already existed.
    pub(super) fn make_private_folder(&self, name: &str) -> io::Result<bool> {
        match rustix::fs::mkdirat(&self.dir, single(name)?, Mode::from_raw_mode(0o700)) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until the names in this folder are safe on disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.dir)?)
    }

    /// Digests a file without holding it in memory; `None` where there is no regular file.
    pub(super) fn digest(&self, name: &str) -> io::Result<Option<(Digest, Status)>> {
        let Some((mut file, status)) = self.open(name)? else {
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

    /// A new file with this content, owner and mode where given, private otherwise; not yet synced.
    pub(super) fn write_new(
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
        let now = Status::from(rustix::fs::fstat(file)?).owner;
        if now != (user, group) {
            // Only root may give files away; anybody else keeps what the system allows.
            let (user, group) = (
                rustix::fs::Uid::from_raw(user),
                rustix::fs::Gid::from_raw(group),
            );
            let _ = rustix::fs::fchown(file, Some(user), Some(group));
        }
    }
    if let Some(mode) = mode {
        rustix::fs::fchmod(file, Mode::from_raw_mode(mode as _))?;
    }
    Ok(())
}

/// The names that a path is made of.
fn names_of(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !name.is_empty())
}

/// One name in a folder. Anything that could lead elsewhere does not exist: every function here that names a file asks.
fn single(name: &str) -> io::Result<&str> {
    match name {
        "" | "." | ".." => Err(Errno::NOENT.into()),
        _ if name.bytes().any(|byte| matches!(byte, b'/' | 0)) => Err(Errno::NOENT.into()),
        _ => Ok(name),
    }
}

/// Reads a file of a known size, which may have grown or shrunk meanwhile, up to a limit; `None` above it.
pub(super) fn read_bounded(file: &mut File, size: u64, limit: u64) -> io::Result<Option<Vec<u8>>> {
    if size > limit {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    file.take(limit + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// Whether an error only says that nothing (or nothing that may be followed) is there.
pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error().map(Errno::from_raw_os_error),
        Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP)
    )
}

/// Whether a disk takes `A` and `a` for the same name, asked of a name that is there.
pub(super) fn is_forgiving(root: &Folder) -> bool {
    if cfg!(target_os = "macos") {
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
        (Ok(Some(one)), Ok(Some(other))) => one.signature.inode == other.signature.inode,
        _ => false,
    }
}

fn speakable(name: &CStr) -> Option<&str> {
    name.to_str()
        .ok()
        .filter(|name| !matches!(*name, "." | ".."))
}

mod names;
#[cfg(test)]
mod tests;
