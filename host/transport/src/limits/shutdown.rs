//! When to stop: at a signal, or when the watched parent process exits. How to stop is up to each transport.

use std::io;
use std::time::Duration;

use notehost_platform::process::WatchedProcess;
use notehost_platform::signals::StopSignals;
use tokio_util::sync::CancellationToken;

const PARENT_POLL: Duration = Duration::from_secs(1);

/// A token that is cancelled at a signal that requests a stop, or when the watched process exits.
pub fn requested(parent_pid: Option<u32>) -> io::Result<CancellationToken> {
    let mut signals = StopSignals::listen()?;
    let parent = parent_pid.map(WatchedProcess::new).transpose()?;
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    tokio::spawn(async move {
        let reason = tokio::select! {
            signal = signals.received() => signal,
            () = parent_gone(parent) => "the parent process has exited",
            () = stopped.cancelled() => return,
        };
        tracing::info!(reason, "stopping");
        stopped.cancel();
    });
    Ok(stop)
}

/// Returns when the process has exited; never, if none is watched.
async fn parent_gone(watched: Option<WatchedProcess>) {
    let Some(watched) = watched else {
        return std::future::pending().await;
    };
    let mut poll = tokio::time::interval(PARENT_POLL);
    while watched.is_running() {
        poll.tick().await;
    }
}
