//! The standard streams, if they are sockets. Clients made with Node pass sockets, others pipes; only the former need code
//! here.

use tokio::io::{AsyncRead, AsyncWrite};

/// The input of a process.
pub type Input = Box<dyn AsyncRead + Send + Unpin>;
/// The output of a process.
pub type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Both standard streams without an intermediate thread, if both are sockets. Never on Windows, where they are pipes.
#[cfg(unix)]
pub fn sockets() -> Option<(Input, Output)> {
    use std::os::fd::AsFd as _;

    let streams = [
        socket(std::io::stdin().as_fd())?,
        socket(std::io::stdout().as_fd())?,
    ];
    // Only after both were found: a non-blocking stream cannot be read by a thread.
    let [input, output] = streams.map(|stream| {
        stream.set_nonblocking(true)?;
        tokio::net::UnixStream::from_std(stream)
    });
    Some((Box::new(input.ok()?), Box::new(output.ok()?)))
}

#[cfg(not(unix))]
pub fn sockets() -> Option<(Input, Output)> {
    None
}

#[cfg(unix)]
fn socket(stream: std::os::fd::BorrowedFd<'_>) -> Option<std::os::unix::net::UnixStream> {
    use rustix::fs::FileType;

    let mode = rustix::fs::fstat(stream).ok()?.st_mode;
    if FileType::from_raw_mode(mode) != FileType::Socket {
        return None;
    }
    let stream = std::os::unix::net::UnixStream::from(stream.try_clone_to_owned().ok()?);
    // Sockets of other kinds have no such address.
    stream.local_addr().is_ok().then_some(stream)
}
