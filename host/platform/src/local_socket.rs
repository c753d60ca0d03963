//! A socket between programs of one user on one machine: a Unix domain socket with the mode 0600 in a private folder. Both ends
//! check that the other one is the same user.
//!
//! Windows has none here: binding and connecting return an error, and a second program is refused as if there
//! were no socket.

use std::io;
use std::path::Path;

use crate::stdio::{Input, Output};

/// One end of a connection.
#[cfg(unix)]
pub type LocalStream = tokio::net::UnixStream;
/// One end of a connection, of which there are none on this system.
#[cfg(not(unix))]
pub type LocalStream = tokio::io::DuplexStream;

/// A connection that is moved to another runtime.
#[derive(Debug)]
pub struct Detached {
    #[cfg(unix)]
    stream: std::os::unix::net::UnixStream,
    #[cfg(not(unix))]
    stream: LocalStream,
}

impl Detached {
    /// Takes a connection from the runtime in which it was made.
    pub fn of(stream: LocalStream) -> io::Result<Detached> {
        #[cfg(unix)]
        let stream = stream.into_std()?;
        Ok(Detached { stream })
    }

    /// Both directions of the connection, in the runtime of the caller.
    pub fn attach(self) -> io::Result<(Input, Output)> {
        #[cfg(unix)]
        let (input, output) = tokio::net::UnixStream::from_std(self.stream)?.into_split();
        #[cfg(not(unix))]
        let (input, output) = tokio::io::split(self.stream);
        Ok((Box::new(input), Box::new(output)))
    }
}

/// Listens for connections of this user.
#[derive(Debug)]
pub struct LocalListener {
    #[cfg(unix)]
    listener: tokio::net::UnixListener,
}

impl LocalListener {
    /// Listens at this path, whose folder is private. A file that is there already is removed: only the process that owns
    /// the path, which a lock proves, may call this. Needs a tokio runtime.
    pub fn bind(path: &Path) -> io::Result<LocalListener> {
        #[cfg(unix)]
        return unix::bind(path).map(|listener| LocalListener { listener });
        #[cfg(not(unix))]
        {
            let _ = path;
            Err(unsupported())
        }
    }

    /// The next connection of this user. Those of other users are closed.
    pub async fn accept(&self) -> io::Result<LocalStream> {
        #[cfg(unix)]
        loop {
            let (stream, _) = self.listener.accept().await?;
            if unix::is_own(&stream) {
                return Ok(stream);
            }
            tracing::warn!("a connection of another user was refused");
        }
        #[cfg(not(unix))]
        std::future::pending().await
    }
}

/// Connects to a listener of this user.
pub async fn connect(path: &Path) -> io::Result<LocalStream> {
    #[cfg(unix)]
    return unix::connect(path).await;
    #[cfg(not(unix))]
    {
        let _ = path;
        Err(unsupported())
    }
}

/// Whether an error of [`connect`] means that nobody listens.
pub fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Unsupported
    )
}

#[cfg(not(unix))]
fn unsupported() -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        "local sockets are not supported on this system",
    )
}

#[cfg(unix)]
mod unix {
    use std::fs::{self, File, Permissions};
    use std::io;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::{Path, PathBuf};

    use tokio::net::{UnixListener, UnixStream};

    use crate::private::FILE_MODE;
    use crate::process::user_id;

    /// The longest path that fits into a socket address on every Unix: 104 bytes on macOS, with the final zero.
    const MAX_PATH_BYTES: usize = 103;

    pub(super) fn bind(path: &Path) -> io::Result<UnixListener> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let (_folder, short) = short(path)?;
        let listener = UnixListener::bind(short)?;
        fs::set_permissions(path, Permissions::from_mode(FILE_MODE))?;
        Ok(listener)
    }

    pub(super) async fn connect(path: &Path) -> io::Result<UnixStream> {
        let (_folder, short) = short(path)?;
        let stream = UnixStream::connect(short).await?;
        match is_own(&stream) {
            true => Ok(stream),
            false => Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "another user listens there",
            )),
        }
    }

    /// Whether the other end is a process of this user.
    pub(super) fn is_own(stream: &UnixStream) -> bool {
        stream.peer_cred().is_ok_and(|peer| peer.uid() == user_id())
    }

    /// A name of this path that fits into a socket address. A long one is reached through its open folder, which the
    /// caller keeps open meanwhile.
    fn short(path: &Path) -> io::Result<(Option<File>, PathBuf)> {
        if path.as_os_str().as_bytes().len() <= MAX_PATH_BYTES {
            return Ok((None, path.to_owned()));
        }
        through_folder(path)
    }

    #[cfg(target_os = "linux")]
    fn through_folder(path: &Path) -> io::Result<(Option<File>, PathBuf)> {
        use std::os::fd::AsRawFd as _;

        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let folder = File::open(folder)?;
        let mut short = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()));
        short.push(name);
        Ok((Some(folder), short))
    }

    #[cfg(not(target_os = "linux"))]
    fn through_folder(path: &Path) -> io::Result<(Option<File>, PathBuf)> {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "the path `{}` is too long for a socket: use a shorter state folder (`--state DIR`)",
                path.display()
            ),
        ))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    async fn passes(path: &Path) {
        let listener = LocalListener::bind(path).expect("a listener");
        let mode = std::fs::metadata(path)
            .expect("a file")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        let (here, there) = tokio::join!(connect(path), listener.accept());
        let (mut here, mut there) = (here.expect("connected"), there.expect("accepted"));
        here.write_all(b"line").await.expect("written");
        drop(here);
        let mut text = String::new();
        there.read_to_string(&mut text).await.expect("read");
        assert_eq!(text, "line");
    }

    #[tokio::test]
    async fn messages_pass_between_processes_of_one_user() {
        let folder = tempfile::tempdir().expect("a folder");
        passes(&folder.path().join("a.sock")).await;
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn long_paths_are_reached_through_their_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let deep = folder.path().join("a".repeat(90)).join("b".repeat(90));
        std::fs::create_dir_all(&deep).expect("a folder");
        passes(&deep.join("a.sock")).await;
    }

    #[tokio::test]
    async fn a_file_left_by_a_killed_process_is_replaced_by_its_owner() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.sock");
        assert!(is_absent(&connect(&path).await.expect_err("absent")));
        drop(LocalListener::bind(&path).expect("a listener"));
        assert!(is_absent(
            &connect(&path).await.expect_err("nobody listens")
        ));
        passes(&path).await;
    }
}
