//! This process, its user and limits, and other processes.

use std::io;

/// The user that this process acts as. Windows has no such numbers; there it is 0 and compared with nothing.
pub fn user_id() -> u32 {
    #[cfg(unix)]
    return rustix::process::geteuid().as_raw();
    #[cfg(not(unix))]
    0
}

/// Whether a file or folder belongs to this user. Assumed on Windows.
pub fn is_own(found: &std::fs::Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        found.uid() == user_id()
    }
    #[cfg(not(unix))]
    {
        let _ = found;
        true
    }
}

/// Raises the limit of open files to `wanted`, as far as the system allows. Returns the limit in force, at most `wanted`.
pub fn raise_file_limit(wanted: u64) -> u64 {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        let current = limit.current.unwrap_or(wanted);
        if current >= wanted {
            return wanted;
        }
        let raised = wanted.min(limit.maximum.unwrap_or(wanted));
        let raise = Rlimit {
            current: Some(raised),
            maximum: limit.maximum,
        };
        match setrlimit(Resource::Nofile, raise) {
            Ok(()) => raised,
            Err(_) => current,
        }
    }
    // Windows limits handles by memory only.
    #[cfg(not(unix))]
    wanted
}

/// Another process, watched until it exits.
#[derive(Debug)]
pub struct WatchedProcess {
    #[cfg(unix)]
    id: Option<rustix::process::Pid>,
    #[cfg(unix)]
    is_parent: bool,
}

impl WatchedProcess {
    /// Watches the process with this number. Not supported on Windows.
    pub fn new(id: u32) -> io::Result<WatchedProcess> {
        #[cfg(unix)]
        {
            let id = i32::try_from(id)
                .ok()
                .and_then(rustix::process::Pid::from_raw);
            let is_parent = id.is_some() && rustix::process::getppid() == id;
            Ok(WatchedProcess { id, is_parent })
        }
        #[cfg(not(unix))]
        {
            let _ = id;
            Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "watching another process is not supported on this system",
            ))
        }
    }

    /// Whether it has not exited yet.
    pub fn is_running(&self) -> bool {
        #[cfg(unix)]
        {
            use rustix::process::{getppid, test_kill_process};
            // A parent that exited and was not collected yet still accepts signals, but its children have another parent.
            let is_orphan = self.is_parent && getppid() != self.id;
            let found = self.id.map(test_kill_process);
            !is_orphan && !matches!(found, None | Some(Err(rustix::io::Errno::SRCH)))
        }
        #[cfg(not(unix))]
        true
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_running_until_it_exits() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .expect("a process");
        let watched = WatchedProcess::new(child.id()).expect("supported");
        assert!(watched.is_running());
        child.kill().expect("killed");
        child.wait().expect("collected");
        assert!(!watched.is_running());
        assert!(!WatchedProcess::new(0).expect("supported").is_running());
    }

    #[test]
    fn the_file_limit_is_at_most_what_was_wanted() {
        assert_eq!(raise_file_limit(1), 1);
        assert!(raise_file_limit(u64::MAX >> 1) > 1);
    }
}
