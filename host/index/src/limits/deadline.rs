//! The time limit of a query: the deadline of its call, or cancellation by its caller. Every loop over notes, links,
//! conditions or words counts its steps here, and locks that may be held for long are waited for here.
//!
//! On an async worker a query gets a short time slice and never blocks: what does not fit is repeated on a blocking
//! thread, so a wrong estimate costs a slice and never stalls the server.

use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use notehost_vault::{Transaction, VaultError};

/// How many steps are made between two deadline checks.
const STEPS: u32 = 128;
/// How many bytes of properties, texts or keys are gone through in one step.
pub(crate) const STEP_BYTES: usize = 1 << 10;
/// How long a question may take on an async worker.
const QUICK_TIME: Duration = Duration::from_millis(4);
/// How many bytes may be decoded in one piece on an async worker.
pub(crate) const QUICK_BYTES: usize = 64 << 10;
/// How long to wait before a lock is tried again, at first and at most.
const RETRY_DELAY: Duration = Duration::from_micros(100);
const MAX_RETRY_DELAY: Duration = Duration::from_millis(5);

/// Set when the answer is no longer needed.
pub type CancelFlag = Arc<AtomicBool>;

/// When work on a question ends.
pub(crate) struct Deadline {
    at: Option<Instant>,
    cancelled: Option<CancelFlag>,
    /// Whether it runs on an async worker, which must not wait.
    is_quick: bool,
    steps: Cell<u32>,
    /// How many steps and checks pass before the deadline does.
    #[cfg(test)]
    left: Option<Cell<u64>>,
}

impl Deadline {
    fn new(at: Option<Instant>) -> Deadline {
        Deadline {
            at,
            cancelled: None,
            is_quick: false,
            steps: Cell::new(0),
            #[cfg(test)]
            left: None,
        }
    }

    /// The deadline of the call that began a transaction.
    pub(crate) fn of(transaction: &Transaction, cancelled: Option<&CancelFlag>) -> Deadline {
        Deadline {
            cancelled: cancelled.cloned(),
            ..Deadline::new(transaction.access().limits.deadline)
        }
    }

    /// The same, but not later than in so long.
    pub(crate) fn within(transaction: &Transaction, time: Duration) -> Deadline {
        let latest = Instant::now() + time;
        let own = transaction.access().limits.deadline;
        Deadline::new(Some(own.map_or(latest, |own| own.min(latest))))
    }

    /// A slice of an async worker's time.
    pub(crate) fn quick(transaction: &Transaction) -> Deadline {
        Deadline {
            is_quick: true,
            ..Deadline::within(transaction, QUICK_TIME)
        }
    }

    /// None at all: for the indexer and for tests.
    pub(crate) fn none() -> Deadline {
        Deadline::new(None)
    }

    /// Passes after so many steps and checks.
    #[cfg(test)]
    pub(crate) fn after(steps: u64) -> Deadline {
        Deadline {
            left: Some(Cell::new(steps)),
            ..Deadline::new(None)
        }
    }

    /// How many steps and checks of [`Deadline::after`] are left.
    #[cfg(test)]
    pub(crate) fn left(&self) -> u64 {
        self.left.as_ref().map_or(0, Cell::get)
    }

    /// One small step more; fails with `timeout` once the time is up.
    #[inline]
    pub(crate) fn step(&self) -> Result<(), VaultError> {
        #[cfg(test)]
        self.count()?;
        let steps = self.steps.get().wrapping_add(1);
        self.steps.set(steps);
        match steps % STEPS {
            0 => self.check_now(),
            _ => Ok(()),
        }
    }

    /// The same before something that is not small.
    pub(crate) fn check(&self) -> Result<(), VaultError> {
        #[cfg(test)]
        self.count()?;
        self.check_now()
    }

    /// The same before so many bytes are decoded or searched in one piece.
    pub(crate) fn before(&self, bytes: usize) -> Result<(), VaultError> {
        match bytes > QUICK_BYTES {
            true if self.is_quick => Err(VaultError::timeout()),
            true => self.check(),
            false => self.step(),
        }
    }

    /// The same before so many bytes are gone through in one piece: as many steps as that takes. What is small takes one.
    pub(crate) fn before_all(&self, bytes: usize) -> Result<(), VaultError> {
        self.before(bytes)?;
        let steps = u32::try_from(bytes / STEP_BYTES).unwrap_or(u32::MAX);
        #[cfg(test)]
        self.count_many(steps.into())?;
        let before = self.steps.get();
        let after = before.wrapping_add(steps);
        self.steps.set(after);
        match before / STEPS == after / STEPS {
            true => Ok(()),
            false => self.check_now(),
        }
    }

    fn check_now(&self) -> Result<(), VaultError> {
        let cancelled = self.cancelled.as_ref();
        if cancelled.is_some_and(|cancelled| cancelled.load(Ordering::Relaxed)) {
            return Err(VaultError::timeout());
        }
        match self.at {
            Some(at) if Instant::now() >= at => Err(VaultError::timeout()),
            _ => Ok(()),
        }
    }

    #[cfg(test)]
    fn count(&self) -> Result<(), VaultError> {
        self.count_many(1)
    }

    #[cfg(test)]
    fn count_many(&self, steps: u64) -> Result<(), VaultError> {
        let Some(left) = &self.left else {
            return Ok(());
        };
        let rest = left.get().checked_sub(steps);
        left.set(rest.unwrap_or(0));
        rest.map(|_| ()).ok_or_else(VaultError::timeout)
    }

    /// Takes a lock as soon as it is free.
    pub(crate) fn lock<'l, T>(&self, lock: &'l Mutex<T>) -> Result<MutexGuard<'l, T>, VaultError> {
        self.wait_for(|| lock.try_lock())
    }

    /// Takes a read lock, waiting until the deadline.
    pub(crate) fn read<'l, T>(
        &self,
        lock: &'l RwLock<T>,
    ) -> Result<RwLockReadGuard<'l, T>, VaultError> {
        if self.waits_for_ever() {
            return Ok(lock.read());
        }
        self.wait_for(|| lock.try_read())
    }

    fn waits_for_ever(&self) -> bool {
        self.at.is_none() && self.cancelled.is_none()
    }

    fn wait_for<T>(&self, mut attempt: impl FnMut() -> Option<T>) -> Result<T, VaultError> {
        let mut delay = RETRY_DELAY;
        loop {
            if let Some(taken) = attempt() {
                return Ok(taken);
            }
            if self.is_quick {
                return Err(VaultError::timeout());
            }
            self.check()?;
            std::thread::sleep(delay);
            delay = (delay * 2).min(MAX_RETRY_DELAY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quick() -> Deadline {
        Deadline {
            is_quick: true,
            ..Deadline::new(Some(Instant::now() + Duration::from_secs(3600)))
        }
    }

    #[test]
    fn an_async_worker_waits_for_no_lock_and_decodes_nothing_large() {
        let (lock, table) = (Mutex::new(()), RwLock::new(()));
        assert!(quick().lock(&lock).is_ok() && quick().read(&table).is_ok());
        let _held = (lock.lock(), table.write());
        assert_eq!(quick().lock(&lock).unwrap_err().code(), "timeout");
        assert_eq!(quick().read(&table).unwrap_err().code(), "timeout");
        assert!(quick().before(QUICK_BYTES).is_ok());
        assert_eq!(
            quick().before(QUICK_BYTES + 1).unwrap_err().code(),
            "timeout"
        );
    }

    #[test]
    fn waiting_for_a_lock_ends_at_the_deadline_and_when_nobody_waits() {
        let lock = Mutex::new(());
        let _held = lock.lock();
        assert_eq!(
            Deadline::after(3).lock(&lock).unwrap_err().code(),
            "timeout"
        );
        let cancelled = CancelFlag::default();
        cancelled.store(true, Ordering::Relaxed);
        let left = Deadline {
            cancelled: Some(cancelled),
            ..Deadline::none()
        };
        assert_eq!(left.lock(&lock).unwrap_err().code(), "timeout");
    }
}
