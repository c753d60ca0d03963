//! What an error of the operating system means. `std::io::ErrorKind` has no names for some of them.

use std::io;

/// The meaning of an error, as far as anybody here acts on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Nothing has this name, or a part of the path is not a folder.
    Absent,
    /// The name is a symbolic link, where none is followed.
    Link,
    /// This user may not do it, or the file system is read-only.
    Denied,
    /// The disk or the user's share of it is full.
    Full,
    /// The file system does not accept a name of this length.
    LongName,
    /// This process or the system has too many open files.
    TooManyFiles,
    /// Anything else.
    Other,
}

/// The meaning of an error.
pub fn cause(error: &io::Error) -> Cause {
    use io::ErrorKind;
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Cause::Absent,
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Cause::Denied,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Cause::Full,
        ErrorKind::InvalidFilename => Cause::LongName,
        _ => unnamed(error),
    }
}

#[cfg(unix)]
fn unnamed(error: &io::Error) -> Cause {
    use rustix::io::Errno;
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::LOOP) => Cause::Link,
        Some(Errno::MFILE | Errno::NFILE) => Cause::TooManyFiles,
        _ => Cause::Other,
    }
}

#[cfg(not(unix))]
fn unnamed(_: &io::Error) -> Cause {
    Cause::Other
}

/// The error of a full disk, as the system reports it: for fault injection.
pub fn disk_full() -> io::Error {
    #[cfg(unix)]
    return rustix::io::Errno::NOSPC.into();
    #[cfg(not(unix))]
    io::ErrorKind::StorageFull.into()
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn errors_have_a_cause() {
        for (errno, expected) in [
            (Errno::NOENT, Cause::Absent),
            (Errno::NOTDIR, Cause::Absent),
            (Errno::LOOP, Cause::Link),
            (Errno::ACCESS, Cause::Denied),
            (Errno::PERM, Cause::Denied),
            (Errno::ROFS, Cause::Denied),
            (Errno::NOSPC, Cause::Full),
            (Errno::DQUOT, Cause::Full),
            (Errno::NAMETOOLONG, Cause::LongName),
            (Errno::MFILE, Cause::TooManyFiles),
            (Errno::NFILE, Cause::TooManyFiles),
            (Errno::IO, Cause::Other),
        ] {
            assert_eq!(cause(&errno.into()), expected, "{errno:?}");
        }
        assert_eq!(cause(&disk_full()), Cause::Full);
    }
}
