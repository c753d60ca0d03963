//! Named fail points at which tests stop the process or make a step fail. Release builds contain none.

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

/// Every step of a reply after its change has landed, in order.
pub const REPLY_POINTS: &[&str] = &["reply-landed", "reply-notify", "reply-cut", "reply-kept"];

/// Runs something that must not undo what happened before it: a panic in it is logged and ends here.
pub fn contained<T>(work: impl FnOnce() -> T) -> Option<T> {
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    if done.is_err() {
        tracing::error!("a part of a commit panicked");
    }
    done.ok()
}

/// A step of a reply at which a test may stop the process or let it panic.
pub fn reply_point(name: &str) {
    let _ = fail_point(name);
}

/// Stops the process here (`NOTEHOST_FAIL_POINT=name[:nth]`), fails as a full disk would (`NOTEHOST_FAIL_ENOSPC=name[:nth]`)
/// or panics (`NOTEHOST_FAIL_PANIC=name[:nth]`), if the environment asks for it.
#[cfg(debug_assertions)]
pub(crate) fn fail_point(name: &str) -> io::Result<()> {
    use std::collections::HashMap;

    use parking_lot::Mutex;
    static PASSED: Mutex<Option<HashMap<String, usize>>> = Mutex::new(None);

    debug_assert!(
        FAIL_POINTS.contains(&name) || REPLY_POINTS.contains(&name),
        "`{name}` is not listed"
    );
    #[cfg(test)]
    injected::act(name);
    #[cfg(test)]
    if injected::take(name) {
        return Err(notehost_platform::errors::disk_full());
    }
    let requested = |variable: &str| {
        let value = std::env::var(variable).ok()?;
        let (wanted, nth) = value.split_once(':').unwrap_or((&value, "1"));
        (wanted == name).then(|| nth.parse::<usize>().unwrap_or(1))
    };
    let (stop, full) = (
        requested("NOTEHOST_FAIL_POINT"),
        requested("NOTEHOST_FAIL_ENOSPC"),
    );
    let panic = requested("NOTEHOST_FAIL_PANIC");
    if stop.is_none() && full.is_none() && panic.is_none() {
        return Ok(());
    }
    let mut passed = PASSED.lock();
    let count = passed
        .get_or_insert_default()
        .entry(name.to_owned())
        .or_default();
    *count += 1;
    if stop == Some(*count) {
        std::process::abort();
    }
    assert!(panic != Some(*count), "a test asked for a panic");
    if full == Some(*count) {
        return Err(notehost_platform::errors::disk_full());
    }
    Ok(())
}

/// In a release, nothing can be stopped here.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub(crate) fn fail_point(_name: &str) -> io::Result<()> {
    Ok(())
}

/// A full disk at a chosen step, for the tests of this room, per thread.
#[cfg(test)]
pub(crate) mod injected {
    use std::cell::{Cell, RefCell};

    thread_local! { static IS_EXCHANGE_OFF: Cell<bool> = const { Cell::new(false) }; }
    thread_local! { static FULL: RefCell<Option<(String, usize)>> = const { RefCell::new(None) }; }

    /// The `nth` time that this thread passes `name`, the disk is full.
    pub(crate) fn full_disk_at(name: &str, nth: usize) {
        FULL.set(Some((name.to_owned(), nth)));
    }

    type Act = Box<dyn FnOnce()>;
    thread_local! { static ACT: RefCell<Option<(String, Act)>> = const { RefCell::new(None) }; }

    /// The next time that this thread passes `name`, somebody else does this.
    pub(crate) fn act_at(name: &str, act: impl FnOnce() + 'static) {
        ACT.set(Some((name.to_owned(), Box::new(act))));
    }

    pub(crate) fn act(name: &str) {
        let act = ACT.with_borrow_mut(|act| act.take_if(|(wanted, _)| wanted == name));
        if let Some((_, act)) = act {
            act();
        }
    }

    /// As on a disk that cannot swap two files, for this thread.
    pub(crate) fn switch_exchange_off(is_off: bool) {
        IS_EXCHANGE_OFF.set(is_off);
    }

    pub(crate) fn is_exchange_off() -> bool {
        IS_EXCHANGE_OFF.get()
    }

    /// Whether an injected failure is still waiting; it is taken back.
    pub(crate) fn clear() -> bool {
        FULL.take().is_some()
    }

    pub(crate) fn take(name: &str) -> bool {
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
