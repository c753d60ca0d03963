//! Guests that compute for long take turns, one tick each, on all processors but one: whatever they do, calls that are
//! quick, and everything that is no call, find a processor that is free.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// After so many ticks a guest counts as one that computes for long.
const QUICK_TICKS: u32 = 2;

/// How many guests may compute for long at the same moment.
pub(super) fn long_runners() -> Arc<Semaphore> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Arc::new(Semaphore::new(processors.saturating_sub(1).max(1)))
}

/// One guest's place among those that compute for long.
pub(super) struct Turn {
    runners: Arc<Semaphore>,
    ticks: u32,
    held: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
}

impl Turn {
    pub(super) fn new(runners: &Arc<Semaphore>) -> Turn {
        Turn {
            runners: runners.clone(),
            ticks: 0,
            held: Arc::default(),
        }
    }

    /// A tick has passed: let the next one run, and wait until it is our turn again.
    pub(super) fn pass_on(&mut self) -> impl Future<Output = ()> + Send + 'static {
        self.ticks = self.ticks.saturating_add(1);
        let is_quick = self.ticks <= QUICK_TICKS;
        self.let_go();
        let (runners, held) = (self.runners.clone(), self.held.clone());
        async move {
            // Also where no other guest waits: what is awaited beside this one, such as a timer, is only looked at then.
            tokio::task::yield_now().await;
            if is_quick {
                return;
            }
            // A closed semaphore cannot happen: nothing closes it.
            let permit = runners.acquire_owned().await.ok();
            *held.lock().unwrap_or_else(PoisonError::into_inner) = permit;
        }
    }

    /// What the host does for a guest is not the guest's computing.
    pub(super) fn let_go(&self) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        drop(held.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    #[tokio::test]
    async fn who_computes_for_long_waits_for_a_turn() {
        let runners = Arc::new(Semaphore::new(1));
        let (mut one, mut other) = (Turn::new(&runners), Turn::new(&runners));
        for _ in 0..QUICK_TICKS {
            one.pass_on().await;
            other.pass_on().await;
        }
        one.pass_on().await;
        let mut waiting = Box::pin(other.pass_on());
        // The first time it only lets others run.
        for _ in 0..2 {
            let now = (&mut waiting).now_or_never();
            assert!(now.is_none(), "it is not its turn");
        }
        one.let_go();
        waiting.await;
        assert_eq!(runners.available_permits(), 0);
        drop(other);
        assert_eq!(runners.available_permits(), 1, "who ends lets go");
    }
}
