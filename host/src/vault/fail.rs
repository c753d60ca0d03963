//! Places where a test may stop the process or make a step fail, by name. Nothing of it is in a release.

use std::io;

/// Every step of commit and recovery at which a test may stop the process, in order.
pub const FAIL_POINTS: &[&str] = &[
    "commit-begin",
    "commit-validated",
    "commit-folder-ready",
    "commit-temp-written",
    "commit-trash-noted",
    "commit-history-pending",
    "commit-journal-written",
    "commit-journal-placed",
    "apply-folder-made",
    "apply-exchanged",
    "apply-put",
    "apply-moved",
    "apply-pruned",
    "commit-applied",
    "commit-folders-synced",
    "commit-history-done",
    "commit-journal-removed",
    "commit-temps-removed",
    "rollback-begin",
    "rollback-step",
    "rollback-end",
    "recover-begin",
    "recover-step",
    "recover-journal-redone",
    "recover-journal-removed",
    "recover-history-settled",
    "recover-end",
];

/// Stops the process here (`NOTEHOST_FAIL_POINT=name[:nth]`), or fails as a full disk would
/// (`NOTEHOST_FAIL_ENOSPC=name[:nth]`), if the environment asks for it.
#[cfg(debug_assertions)]
pub(super) fn fail_point(name: &str) -> io::Result<()> {
    use std::{collections::HashMap, sync::Mutex};
    static PASSED: Mutex<Option<HashMap<String, usize>>> = Mutex::new(None);

    debug_assert!(FAIL_POINTS.contains(&name), "`{name}` is not listed");
    #[cfg(test)]
    if injected::take(name) {
        return Err(rustix::io::Errno::NOSPC.into());
    }
    let asked = |variable: &str| {
        let value = std::env::var(variable).ok()?;
        let (wanted, nth) = value.split_once(':').unwrap_or((&value, "1"));
        (wanted == name).then(|| nth.parse::<usize>().unwrap_or(1))
    };
    let (stop, full) = (asked("NOTEHOST_FAIL_POINT"), asked("NOTEHOST_FAIL_ENOSPC"));
    if stop.is_none() && full.is_none() {
        return Ok(());
    }
    let mut passed = PASSED
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let count = passed
        .get_or_insert_default()
        .entry(name.to_owned())
        .or_default();
    *count += 1;
    if stop == Some(*count) {
        std::process::abort();
    }
    if full == Some(*count) {
        return Err(rustix::io::Errno::NOSPC.into());
    }
    Ok(())
}

/// In a release, nothing can be stopped here.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub(super) fn fail_point(_name: &str) -> io::Result<()> {
    Ok(())
}

/// A full disk at a chosen step, for the tests of this room, per thread.
#[cfg(test)]
pub(super) mod injected {
    use std::cell::RefCell;

    thread_local! { static FULL: RefCell<Option<(String, usize)>> = const { RefCell::new(None) }; }

    /// The `nth` time that this thread passes `name`, the disk is full.
    pub(crate) fn full_disk_at(name: &str, nth: usize) {
        FULL.set(Some((name.to_owned(), nth)));
    }

    /// Whether an injected failure is still waiting; it is taken back.
    pub(crate) fn clear() -> bool {
        FULL.take().is_some()
    }

    pub(super) fn take(name: &str) -> bool {
        FULL.with_borrow_mut(|full| match full {
            Some((wanted, 1)) if wanted == name => {
                *full = None;
                true
            }
            Some((wanted, nth)) if wanted == name => {
                *nth -= 1;
                false
            }
            _ => false,
        })
    }
}
