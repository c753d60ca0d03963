//! Requests of the system to stop this process.

use std::io;

/// Signals that request a stop, received from the moment this is created.
#[derive(Debug)]
pub struct StopSignals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(windows)]
    close: tokio::signal::windows::CtrlClose,
    #[cfg(windows)]
    interrupt: tokio::signal::windows::CtrlC,
}

impl StopSignals {
    /// Replaces the default reaction to these signals, which ends the process at once. Needs a tokio runtime.
    pub fn listen() -> io::Result<StopSignals> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(StopSignals {
                terminate: signal(SignalKind::terminate())?,
                interrupt: signal(SignalKind::interrupt())?,
            })
        }
        #[cfg(windows)]
        Ok(StopSignals {
            close: tokio::signal::windows::ctrl_close()?,
            interrupt: tokio::signal::windows::ctrl_c()?,
        })
    }

    /// Waits for the next signal and returns its name.
    pub async fn received(&mut self) -> &'static str {
        #[cfg(unix)]
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
        #[cfg(windows)]
        tokio::select! {
            _ = self.close.recv() => "CTRL_CLOSE",
            _ = self.interrupt.recv() => "CTRL_C",
        }
    }
}
