//! CPU-bound guests share N−1 cores, round-robin by caller, one tick each: short calls and everything else find a free
//! core, and many guests of one caller do not delay another caller's guest.

use std::sync::{Arc, Mutex, PoisonError};

use super::fair_permits::{FairPermits, Permit, Shares};

/// After so many ticks a guest counts as one that computes for long.
const QUICK_TICKS: u32 = 2;

/// How many guests may compute for long at the same moment.
pub(super) fn long_runners() -> Arc<FairPermits> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    runners(processors.saturating_sub(1).max(1))
}

/// A turn is short, so a caller who is alone may have all of them.
fn runners(count: usize) -> Arc<FairPermits> {
    let shares = Shares {
        min_permits: usize::MAX,
        max_bytes: usize::MAX,
    };
    FairPermits::new(count, shares)
}

/// One guest's place among those that compute for long.
pub(super) struct Turn {
    runners: Arc<FairPermits>,
    caller: Arc<str>,
    ticks: u32,
    held: Arc<Mutex<Option<Permit>>>,
}

impl Turn {
    pub(super) fn new(runners: &Arc<FairPermits>, caller: Arc<str>) -> Turn {
        Turn {
            runners: runners.clone(),
            caller,
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
        let caller = self.caller.clone();
        async move {
            // Also where no other guest waits: what is awaited beside this one, such as a timer, is only looked at then.
            tokio::task::yield_now().await;
            if is_quick {
                return;
            }
            let permit = runners.acquire(&caller).await;
            *held.lock().unwrap_or_else(PoisonError::into_inner) = Some(permit);
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
    async fn long_running_guests_take_turns() {
        let runners = runners(1);
        let turn = || Turn::new(&runners, Arc::from("ana"));
        let (mut one, mut other) = (turn(), turn());
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
        assert_eq!(runners.free(), 0);
        drop(other);
        assert_eq!(runners.free(), 1, "who ends lets go");
    }
}
