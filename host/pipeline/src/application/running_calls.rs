//! The calls of local sessions that run in this process, by their ids. A call that its program sends again, because the
//! connection broke, waits for the first one and then finds in the vault's history whether that was committed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

/// The calls.
#[derive(Default)]
pub(crate) struct RunningCalls(Mutex<HashMap<String, watch::Receiver<()>>>);

/// A call that runs. Held until neither it nor its commit runs any more.
pub(crate) struct RunningCall {
    calls: Arc<RunningCalls>,
    id: String,
    /// Dropped with the call, which wakes those that wait for it.
    _ended: watch::Sender<()>,
}

impl RunningCalls {
    /// Begins a call, after one with the same id has ended.
    pub(crate) async fn begin(self: &Arc<Self>, id: &str) -> RunningCall {
        loop {
            let mut earlier = match self.0.lock().entry(id.to_owned()) {
                Entry::Occupied(earlier) => earlier.get().clone(),
                Entry::Vacant(free) => {
                    let (ended, waiting) = watch::channel(());
                    free.insert(waiting);
                    return RunningCall {
                        calls: self.clone(),
                        id: id.to_owned(),
                        _ended: ended,
                    };
                }
            };
            // Nothing is ever sent: this returns when the sender is dropped.
            let _ = earlier.changed().await;
        }
    }
}

impl RunningCall {
    /// Identifies this call in the vault's history. No idempotency key is stored under such a name.
    pub(crate) fn in_history(&self) -> String {
        format!("call\n{}", self.id)
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.calls.0.lock().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use super::*;

    #[tokio::test]
    async fn a_call_waits_for_the_one_with_its_id() {
        let calls = Arc::<RunningCalls>::default();
        let first = calls.begin("a").await;
        let _other = calls.begin("b").await;
        let mut again = Box::pin(calls.begin("a"));
        let polled = std::future::poll_fn(|context| Poll::Ready(again.as_mut().poll(context)));
        assert!(polled.await.is_pending());
        drop(first);
        let again = again.await;
        assert_eq!(again.in_history(), "call\na");
        drop(again);
        assert_eq!(calls.0.lock().len(), 1);
    }
}
