//! Files and folders beyond `std::fs`: identity, positioned reads, durable names, file systems. Files of a vault are
//! accessed only through the vault.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Metadata that detects a replaced or changed file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    modified: Option<SystemTime>,
    bytes: u64,
    /// A replaced file has another one.
    inode: u64,
}

impl Stamp {
    /// The stamp of an existing file.
    pub fn of(file: &Path) -> Option<Stamp> {
        let found = fs::metadata(file).ok()?;
        Some(Stamp {
            modified: found.modified().ok(),
            bytes: found.len(),
            inode: system::inode(&found),
        })
    }
}

/// The number of an open file, which it keeps when it is renamed.
pub fn number(file: &File) -> io::Result<u64> {
    system::number(file)
}

/// The identity of an existing folder (device and number), independent of its name.
pub fn folder_identity(folder: &Path) -> Option<(u64, u64)> {
    system::folder_identity(folder)
}

/// Fills the buffer from a position. The position of the file may change.
pub fn read_exact_at(file: &File, buffer: &mut [u8], position: u64) -> io::Result<()> {
    system::read_exact_at(file, buffer, position)
}

/// Waits until the names in this folder are durable. Does nothing on Windows, which cannot flush a folder; NTFS writes its
/// own journal.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    system::sync_folder(folder)
}

/// Creates a symbolic link to a folder.
pub fn link_folder(target: &Path, link: &Path) -> io::Result<()> {
    system::link_folder(target, link)
}

/// Opens a folder, to check its metadata or open files in it. A symbolic link is followed.
pub fn open_folder(folder: &Path) -> io::Result<File> {
    system::open_folder(folder)
}

/// Opens a regular file in an open folder. A symbolic link is not followed, and a pipe does not block. On Windows the
/// folder is named by its path.
pub fn open_in_folder(folder: &File, path: &Path, name: &str) -> io::Result<File> {
    system::open_in_folder(folder, path, name)
}

/// A path that names this very open file: on Linux through `/proc`, elsewhere the path it was opened by.
pub fn path_of_open(file: &File, path: &Path) -> PathBuf {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd as _;
        let _ = path;
        PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = file;
        path.to_owned()
    }
}

/// The free bytes on the disk of a folder; `None` if unknown, as always on Windows.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let disk = rustix::fs::statvfs(folder).ok()?;
        Some(disk.f_bavail.saturating_mul(disk.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        None
    }
}

/// Whether a folder is on a network drive, where the system does not report changes by other machines. Known on Linux only.
pub fn is_remote(folder: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        const REMOTE: [u64; 7] = [
            0x6969,      // NFS
            0x517b,      // SMB
            0xff53_4d42, // CIFS
            0xfe53_4d42, // SMB2
            0x6573_5546, // FUSE
            0x0102_1997, // 9P
            0x5346_414f, // AFS
        ];
        file_system_type(folder).is_some_and(|found| REMOTE.contains(&found))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        false
    }
}

/// The number by which Linux names the type of a file system.
#[cfg(target_os = "linux")]
pub(crate) fn file_system_type(path: &Path) -> Option<u64> {
    let found = rustix::fs::statfs(path).ok()?;
    // Signed on some processors.
    Some(found.f_type as u64 & 0xffff_ffff)
}

#[cfg(unix)]
mod system {
    use std::fs::{File, Metadata};
    use std::io;
    use std::os::unix::fs::{FileExt as _, MetadataExt as _};
    use std::path::Path;

    use rustix::fs::{Mode, OFlags};

    pub(super) fn inode(found: &Metadata) -> u64 {
        found.ino()
    }

    pub(super) fn number(file: &File) -> io::Result<u64> {
        Ok(file.metadata()?.ino())
    }

    pub(super) fn folder_identity(folder: &Path) -> Option<(u64, u64)> {
        let found = std::fs::metadata(folder).ok()?;
        Some((found.dev(), found.ino()))
    }

    pub(super) fn read_exact_at(file: &File, buffer: &mut [u8], position: u64) -> io::Result<()> {
        file.read_exact_at(buffer, position)
    }

    pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }

    pub(super) fn open_folder(folder: &Path) -> io::Result<File> {
        File::open(folder)
    }

    pub(super) fn link_folder(target: &Path, link: &Path) -> io::Result<()> {
        std::os::unix::fs::symlink(target, link)
    }

    pub(super) fn open_in_folder(folder: &File, _: &Path, name: &str) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        Ok(rustix::fs::openat(folder, name, flags, Mode::empty())?.into())
    }
}

#[cfg(windows)]
mod system {
    use std::fs::{File, Metadata};
    use std::io;
    use std::os::windows::fs::{FileExt as _, OpenOptionsExt as _};
    use std::path::Path;

    use winapi_util::{Handle, file};

    /// Unknown without opening the file: the times and the size have to be enough.
    pub(super) fn inode(_: &Metadata) -> u64 {
        0
    }

    pub(super) fn number(opened: &File) -> io::Result<u64> {
        Ok(file::information(opened)?.file_index())
    }

    pub(super) fn folder_identity(folder: &Path) -> Option<(u64, u64)> {
        let found = file::information(Handle::from_path_any(folder).ok()?).ok()?;
        Some((found.volume_serial_number(), found.file_index()))
    }

    pub(super) fn read_exact_at(
        file: &File,
        mut buffer: &mut [u8],
        mut position: u64,
    ) -> io::Result<()> {
        while !buffer.is_empty() {
            match file.seek_read(buffer, position) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => {
                    buffer = &mut buffer[read..];
                    position += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    pub(super) fn sync_folder(_: &Path) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn open_folder(folder: &Path) -> io::Result<File> {
        const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
        File::options()
            .read(true)
            .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
            .open(folder)
    }

    pub(super) fn link_folder(target: &Path, link: &Path) -> io::Result<()> {
        std::os::windows::fs::symlink_dir(target, link)
    }

    pub(super) fn open_in_folder(_: &File, path: &Path, name: &str) -> io::Result<File> {
        let path = path.join(name);
        match std::fs::symlink_metadata(&path)?.is_file() {
            true => File::open(path),
            false => Err(io::ErrorKind::InvalidInput.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_or_changed_file_has_another_stamp() {
        let place = tempfile::tempdir().expect("a folder");
        let (file, other) = (place.path().join("a"), place.path().join("b"));
        assert_eq!(Stamp::of(&file), None);
        fs::write(&file, "one").expect("a file");
        let before = Stamp::of(&file);
        assert_eq!(Stamp::of(&file), before);
        fs::write(&other, "two").expect("a file");
        fs::rename(&other, &file).expect("renamed");
        assert_ne!(Stamp::of(&file), before);
    }

    #[test]
    fn a_file_is_read_from_a_position() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("a");
        fs::write(&path, "0123456789").expect("a file");
        let file = File::open(&path).expect("opened");
        let mut found = [0; 3];
        read_exact_at(&file, &mut found, 4).expect("read");
        assert_eq!(&found, b"456");
        assert!(read_exact_at(&file, &mut found, 8).is_err());
        let same = File::open(path_of_open(&file, &path)).expect("opened");
        assert_eq!(number(&same).ok(), number(&file).ok());
    }

    #[test]
    fn a_file_of_a_folder_is_opened_and_links_are_not_followed() {
        let place = tempfile::tempdir().expect("a folder");
        fs::write(place.path().join("a"), "").expect("a file");
        link_folder(place.path(), &place.path().join("link")).expect("a link");
        let folder = open_folder(place.path()).expect("opened");
        assert!(open_in_folder(&folder, place.path(), "a").is_ok());
        assert!(open_in_folder(&folder, place.path(), "link").is_err());
        assert!(open_in_folder(&folder, place.path(), "missing").is_err());
        assert_eq!(
            folder_identity(&place.path().join("link")),
            folder_identity(place.path())
        );
        sync_folder(place.path()).expect("synced");
    }
}
