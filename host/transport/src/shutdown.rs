//! When to stop: at a signal, or when the watched parent process exits. How to stop is up to each transport.

use std::io;
use std::time::Duration;

use rustix::process::{Pid, getppid, test_kill_process};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

const PARENT_POLL: Duration = Duration::from_secs(1);

/// A token that is cancelled at SIGTERM, at SIGINT, or when the watched process exits.
pub(super) fn requested(parent_pid: Option<u32>) -> io::Result<CancellationToken> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    tokio::spawn(async move {
        let reason = tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
            () = parent_gone(parent_pid) => "the parent process has exited",
            () = stopped.cancelled() => return,
        };
        tracing::info!(reason, "stopping");
        stopped.cancel();
    });
    Ok(stop)
}

/// Returns when the process has exited; never, if none is watched.
async fn parent_gone(parent_pid: Option<u32>) {
    let Some(watched) = parent_pid else {
        return std::future::pending().await;
    };
    let watched = i32::try_from(watched).ok().and_then(Pid::from_raw);
    // A parent that ended but was not collected yet still answers signals; that we were handed to another
    // parent tells it at once.
    let is_parent = watched.is_some() && getppid() == watched;
    let mut poll = tokio::time::interval(PARENT_POLL);
    loop {
        poll.tick().await;
        let alive =
            watched.is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH));
        if !alive || (is_parent && getppid() != watched) {
            return;
        }
    }
}
