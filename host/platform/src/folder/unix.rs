//! Folders of Linux and macOS: `openat` and its relatives.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::{Node, Stat};

const FOLDER_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

#[derive(Debug)]
pub(super) struct Folder {
    fd: OwnedFd,
}

impl Folder {
    pub(super) fn open_path(path: &Path) -> io::Result<Folder> {
        // The path that an admin configured may be a symbolic link.
        let flags = FOLDER_FLAGS.difference(OFlags::NOFOLLOW);
        Ok(Folder {
            fd: rustix::fs::open(path, flags, Mode::empty())?,
        })
    }

    pub(super) fn try_clone(&self) -> io::Result<Folder> {
        Ok(Folder {
            fd: self.fd.try_clone()?,
        })
    }

    pub(super) fn folder(&self, name: &str) -> io::Result<Folder> {
        Ok(Folder {
            fd: rustix::fs::openat(&self.fd, name, FOLDER_FLAGS, Mode::empty())?,
        })
    }

    #[cfg(target_os = "linux")]
    pub(super) fn descend(&self, path: &str) -> Option<io::Result<Folder>> {
        use rustix::fs::ResolveFlags;
        let flags = FOLDER_FLAGS.difference(OFlags::NOFOLLOW);
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match rustix::fs::openat2(&self.fd, path, flags, Mode::empty(), resolve) {
            Ok(fd) => Some(Ok(Folder { fd })),
            // An old kernel, a sandbox without this call, or names that are renamed meanwhile.
            Err(Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::AGAIN) => None,
            Err(error) => Some(Err(error.into())),
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn descend(&self, _: &str) -> Option<io::Result<Folder>> {
        None
    }

    pub(super) fn stat(&self) -> io::Result<Stat> {
        Ok(rustix::fs::fstat(&self.fd)?.into())
    }

    pub(super) fn stat_of(&self, name: &str) -> io::Result<Option<Stat>> {
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat.into())),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn open(&self, name: &str) -> io::Result<Option<(File, Stat)>> {
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        match rustix::fs::openat(&self.fd, name, flags, Mode::empty()) {
            Ok(opened) => regular_file(opened.into()),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NXIO) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    #[cfg(target_os = "linux")]
    pub(super) fn open_below(&self, path: &str) -> Option<io::Result<Option<(File, Stat)>>> {
        use rustix::fs::ResolveFlags;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match rustix::fs::openat2(&self.fd, path, flags, Mode::empty(), resolve) {
            Ok(opened) => Some(regular_file(opened.into())),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NXIO) => Some(Ok(None)),
            Err(Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::AGAIN) => None,
            Err(error) => Some(Err(error.into())),
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn open_below(&self, _: &str) -> Option<io::Result<Option<(File, Stat)>>> {
        None
    }

    pub(super) fn link(&self, name: &str) -> io::Result<Option<String>> {
        let target = rustix::fs::readlinkat(&self.fd, name, Vec::new())?;
        Ok(target.into_string().ok())
    }

    pub(super) fn names(&self) -> io::Result<Vec<(String, Option<Node>)>> {
        let mut names = Vec::new();
        // A handle of its own: listing moves the position of a handle.
        let listed = rustix::fs::openat(&self.fd, ".", FOLDER_FLAGS, Mode::empty())?;
        for entry in rustix::fs::Dir::new(listed)? {
            let entry = entry?;
            let Some(name) = utf8_name(entry.file_name()) else {
                continue;
            };
            let node = match entry.file_type() {
                FileType::Unknown => None,
                known => Some(known.into()),
            };
            names.push((name.to_owned(), node));
        }
        Ok(names)
    }

    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o600);
        Ok(File::from(rustix::fs::openat(&self.fd, name, flags, mode)?))
    }

    pub(super) fn make_folder(&self, name: &str) -> io::Result<bool> {
        match rustix::fs::mkdirat(&self.fd, name, Mode::from_raw_mode(0o700)) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn set_mode(&self, mode: u32) -> io::Result<()> {
        set_mode(&self.fd, mode)
    }

    pub(super) fn is_writable(&self) -> bool {
        let access = rustix::fs::Access::WRITE_OK;
        rustix::fs::accessat(&self.fd, ".", access, AtFlags::empty()).is_ok()
    }

    #[cfg(not(target_vendor = "apple"))]
    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.fd)?)
    }

    /// `fsync` of Apple's systems leaves the data in the cache of the drive; the standard library flushes that as well.
    #[cfg(target_vendor = "apple")]
    pub(super) fn sync(&self) -> io::Result<()> {
        File::from(self.fd.try_clone()?).sync_all()
    }

    pub(super) fn lock(&self) -> io::Result<()> {
        let operation = FlockOperation::NonBlockingLockExclusive;
        Ok(rustix::fs::flock(&self.fd, operation)?)
    }

    pub(super) fn is_locked(&self) -> bool {
        match rustix::fs::flock(&self.fd, FlockOperation::NonBlockingLockShared) {
            Ok(()) => {
                self.unlock();
                false
            }
            Err(error) => error == Errno::WOULDBLOCK,
        }
    }

    pub(super) fn unlock(&self) {
        let _ = rustix::fs::flock(&self.fd, FlockOperation::Unlock);
    }

    /// `false` if the file system cannot refuse to replace a file.
    pub(super) fn rename_new(&self, name: &str, to: &Folder, to_name: &str) -> io::Result<bool> {
        self.rename_with(name, to, to_name, RenameFlags::NOREPLACE)
    }

    pub(super) fn exchange(&self, name: &str, with: &Folder, with_name: &str) -> io::Result<bool> {
        self.rename_with(name, with, with_name, RenameFlags::EXCHANGE)
    }

    /// `false` if the file system does not know the flags.
    fn rename_with(
        &self,
        name: &str,
        to: &Folder,
        to_name: &str,
        flags: RenameFlags,
    ) -> io::Result<bool> {
        match rustix::fs::renameat_with(&self.fd, name, &to.fd, to_name, flags) {
            Ok(()) => Ok(true),
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn rename_over(&self, name: &str, to: &Folder, to_name: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.fd, name, &to.fd, to_name)?)
    }

    pub(super) fn unlink(&self, name: &str) -> io::Result<bool> {
        match rustix::fs::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn unlink_folder(&self, name: &str) -> io::Result<bool> {
        match rustix::fs::unlinkat(&self.fd, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR | Errno::BUSY) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn hard_link(&self, name: &str, at: &Folder, new: &str) -> io::Result<bool> {
        match rustix::fs::linkat(&self.fd, name, &at.fd, new, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::MLINK) => {
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn regular_file(file: File) -> io::Result<Option<(File, Stat)>> {
    let stat = stat_of_file(&file)?;
    Ok((stat.node == Node::File).then_some((file, stat)))
}

pub(super) fn stat_of_file(file: &File) -> io::Result<Stat> {
    Ok(rustix::fs::fstat(file)?.into())
}

pub(super) fn set_file_mode(file: &File, mode: u32) -> io::Result<()> {
    set_mode(file, mode)
}

fn set_mode(of: impl AsFd, mode: u32) -> io::Result<()> {
    Ok(rustix::fs::fchmod(of, Mode::from_raw_mode(mode as _))?)
}

pub(super) fn set_file_owner(file: &File, (user, group): (u32, u32)) -> io::Result<()> {
    let user = rustix::fs::Uid::from_raw(user);
    let group = rustix::fs::Gid::from_raw(group);
    Ok(rustix::fs::fchown(file, Some(user), Some(group))?)
}

fn utf8_name(name: &CStr) -> Option<&str> {
    let name = name.to_str().ok()?;
    (!matches!(name, "." | "..")).then_some(name)
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

impl From<rustix::fs::Stat> for Stat {
    fn from(stat: rustix::fs::Stat) -> Self {
        let nanos =
            |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        Stat {
            node: FileType::from_raw_mode(stat.st_mode as _).into(),
            inode: stat.st_ino as _,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: nanos(stat.st_mtime as _, stat.st_mtime_nsec as _),
            changed: nanos(stat.st_ctime as _, stat.st_ctime_nsec as _),
            mode: (stat.st_mode & 0o7777) as _,
            owner: (stat.st_uid, stat.st_gid),
            device: (
                rustix::fs::major(stat.st_dev as _),
                rustix::fs::minor(stat.st_dev as _),
            ),
        }
    }
}
