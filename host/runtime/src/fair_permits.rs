//! Permits that callers share fairly. Callers with the fewest permits go first, then those served the longest ago;
//! within one caller, first come, first served. The maximum of one caller depends on how many permits are free, so
//! that a caller who arrives later always finds some: a single caller gets half of them, two get a third each.
//!
//! The same permits count the memory of guests: in total, and for each caller.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// What one caller may hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shares {
    /// So many permits a caller may hold as long as any is free. Above it, only as many as are still free.
    pub(super) min_permits: usize,
    /// How many bytes all permits may count together. One caller may count half of them.
    pub(super) max_bytes: usize,
}

/// A number of permits.
pub(super) struct FairPermits {
    shares: Shares,
    state: Mutex<State>,
}

struct State {
    free: usize,
    bytes: usize,
    /// Counts what was handed out: the time of this scheduler.
    clock: u64,
    callers: HashMap<Arc<str>, CallerState>,
}

#[derive(Default)]
struct CallerState {
    held: usize,
    bytes: usize,
    served: u64,
    waiting: VecDeque<oneshot::Sender<Permit>>,
}

/// One permit of a caller, until it is dropped.
pub(super) struct Permit {
    of: Arc<FairPermits>,
    caller: Arc<str>,
    bytes: AtomicUsize,
}

impl FairPermits {
    pub(super) fn new(count: usize, shares: Shares) -> Arc<FairPermits> {
        Arc::new(FairPermits {
            shares,
            state: Mutex::new(State {
                free: count.max(1),
                bytes: 0,
                clock: 0,
                callers: HashMap::new(),
            }),
        })
    }

    /// Waits for a permit. Dropping the future gives up the place in the queue.
    pub(super) async fn acquire(self: &Arc<FairPermits>, caller: &Arc<str>) -> Permit {
        loop {
            let (sender, receiver) = oneshot::channel();
            self.lock().enqueue(caller, sender);
            self.hand_out();
            // A sender is only dropped unused with the queue itself.
            if let Ok(permit) = receiver.await {
                return permit;
            }
        }
    }

    /// Gives permits to those who wait and may have one.
    fn hand_out(self: &Arc<FairPermits>) {
        loop {
            let next = self.lock().next(&self.shares);
            let Some((caller, sender)) = next else { return };
            let permit = Permit {
                of: self.clone(),
                caller,
                bytes: AtomicUsize::new(0),
            };
            // A waiter that gave up meanwhile drops it, and it is handed out again.
            drop(sender.send(permit));
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn free(&self) -> usize {
        self.lock().free
    }
}

impl State {
    fn enqueue(&mut self, caller: &Arc<str>, sender: oneshot::Sender<Permit>) {
        // Each moment has a number of its own, so that of two callers one always came first.
        self.clock += 1;
        let clock = self.clock;
        let state = self
            .callers
            .entry(caller.clone())
            .or_insert_with(|| CallerState {
                served: clock,
                ..CallerState::default()
            });
        // Waiters that gave up are removed when the queue has doubled since, and when it is their turn.
        if state.waiting.len() >= 64 && state.waiting.len().is_power_of_two() {
            state.waiting.retain(|waiting| !waiting.is_closed());
        }
        state.waiting.push_back(sender);
    }

    /// Takes a permit for the caller who is next.
    fn next(&mut self, shares: &Shares) -> Option<(Arc<str>, oneshot::Sender<Permit>)> {
        let (free, bytes) = (self.free, self.bytes);
        if free == 0 {
            return None;
        }
        loop {
            let waiting = self.callers.iter().filter(|(_, state)| {
                !state.waiting.is_empty() && state.may_have_another(free, bytes, shares)
            });
            let (caller, _) = waiting.min_by_key(|(_, state)| (state.held, state.served))?;
            let caller = caller.clone();
            let state = self.callers.get_mut(&caller)?;
            let sender = state.waiting.pop_front()?;
            if sender.is_closed() {
                self.forget_idle(&caller);
                continue;
            }
            self.clock += 1;
            state.served = self.clock;
            state.held += 1;
            self.free -= 1;
            return Some((caller, sender));
        }
    }

    fn forget_idle(&mut self, caller: &Arc<str>) {
        let state = self.callers.get(caller);
        if state.is_some_and(|state| state.held == 0 && state.waiting.is_empty()) {
            self.callers.remove(caller);
        }
    }
}

impl CallerState {
    /// Bytes are counted while a permit is held, so a caller that has used much of its share waits before it begins more.
    fn may_have_another(&self, free: usize, bytes: usize, shares: &Shares) -> bool {
        let has_share = self.held < shares.min_permits || self.held < free;
        let has_bytes = self.bytes <= shares.max_bytes / 4 && bytes <= shares.max_bytes / 4 * 3;
        has_share && has_bytes
    }
}

impl Permit {
    /// Counts so many bytes in place of what was counted before. `false`, and nothing is counted, if there is no room.
    pub(super) fn count_bytes(&self, bytes: usize) -> bool {
        let mut state = self.of.lock();
        let counted = self.bytes.load(Ordering::Relaxed);
        let Some(more) = bytes.checked_sub(counted) else {
            return true;
        };
        let max = self.of.shares.max_bytes;
        let in_all = state.bytes.saturating_add(more);
        let Some(own) = state.callers.get_mut(&self.caller) else {
            return true;
        };
        if in_all > max || own.bytes.saturating_add(more) > max / 2 {
            return false;
        }
        own.bytes += more;
        state.bytes = in_all;
        self.bytes.store(bytes, Ordering::Relaxed);
        true
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        {
            let bytes = *self.bytes.get_mut();
            let mut state = self.of.lock();
            state.free += 1;
            state.bytes -= bytes;
            if let Some(own) = state.callers.get_mut(&self.caller) {
                own.held -= 1;
                own.bytes -= bytes;
            }
            state.forget_idle(&self.caller);
        }
        self.of.hand_out();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn permits(count: usize, min_permits: usize) -> Arc<FairPermits> {
        let max_bytes = 1000;
        FairPermits::new(
            count,
            Shares {
                min_permits,
                max_bytes,
            },
        )
    }

    /// As many permits as a caller gets at once.
    fn take_all(permits: &Arc<FairPermits>, caller: &str) -> Vec<Permit> {
        let caller = Arc::from(caller);
        std::iter::from_fn(|| permits.acquire(&caller).now_or_never()).collect()
    }

    #[tokio::test]
    async fn late_callers_get_permits() {
        let permits = permits(128, 4);
        let first = take_all(&permits, "mallory");
        assert_eq!(first.len(), 64);
        let second = take_all(&permits, "trudy");
        assert_eq!(second.len(), 32);
        assert!(!take_all(&permits, "ana").is_empty());
        drop((first, second));
        assert_eq!(permits.free(), 128);
        assert!(permits.lock().callers.is_empty());
    }

    #[tokio::test]
    async fn small_permit_counts_are_not_divided() {
        let permits = permits(3, 4);
        assert_eq!(take_all(&permits, "ana").len(), 3);
    }

    #[tokio::test]
    async fn callers_take_turns() {
        let permits = permits(1, usize::MAX);
        let (many, one) = (Arc::from("many"), Arc::from("one"));
        let held = permits.acquire(&many).await;
        let mut of_many: Vec<_> = (0..3).map(|_| Box::pin(permits.acquire(&many))).collect();
        for waiting in &mut of_many {
            assert!(waiting.now_or_never().is_none());
        }
        let mut of_one = Box::pin(permits.acquire(&one));
        assert!((&mut of_one).now_or_never().is_none());
        // A waiter that gives up is skipped.
        drop(of_many.remove(0));
        drop(held);
        let first = (&mut of_many[0]).now_or_never().expect("it came first");
        drop(first);
        let second = of_one.now_or_never().expect("the other caller is next");
        drop(second);
        assert!((&mut of_many[1]).now_or_never().is_some());
    }

    #[tokio::test]
    async fn memory_is_shared_fairly() {
        let permits = permits(16, 4);
        let mut held = take_all(&permits, "mallory");
        assert!(held[0].count_bytes(200) && held[1].count_bytes(300));
        assert!(!held[2].count_bytes(1), "half of it is taken");
        assert!(held[0].count_bytes(100), "less is always fine");
        held.truncate(2);
        assert!(take_all(&permits, "mallory").is_empty(), "it has to wait");
        let other = take_all(&permits, "ana");
        assert!(other[0].count_bytes(500));
        assert!(!other[1].count_bytes(1));
        drop((held, other));
        assert_eq!(permits.lock().bytes, 0);
    }
}
