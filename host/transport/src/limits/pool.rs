//! Runs the calls of a single client: quick ones on the thread that reads requests, which is faster than waking another
//! thread. A call that computes longer moves to the pool, so that others are answered meanwhile.

use std::future::{Future, poll_fn};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::task::JoinError;
use tokio_util::task::AbortOnDropHandle;

/// How long a call may block the thread. Guests yield at each tick of their clock.
const MAX_INLINE_TIME: Duration = Duration::from_millis(5);

/// Runs a call here or, if it takes long, in the pool. It is cancelled with its waiter.
pub(crate) async fn here_or_in<T: Send + 'static>(
    pool: &Handle,
    call: impl Future<Output = T> + Send + 'static,
) -> Result<T, JoinError> {
    let mut call = Box::pin(call);
    let here = poll_fn(|context| {
        let began = Instant::now();
        match call.as_mut().poll(context) {
            Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
            Poll::Pending if began.elapsed() < MAX_INLINE_TIME => Poll::Pending,
            Poll::Pending => Poll::Ready(None),
        }
    });
    match here.await {
        Some(outcome) => Ok(outcome),
        None => AbortOnDropHandle::new(pool.spawn(call)).await,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, mpsc};
    use std::thread;

    use tokio::runtime::{Builder, Runtime};
    use tokio::task::yield_now;

    use super::*;

    /// The pool, and a thread of its own.
    fn both() -> (Runtime, Runtime) {
        let pool = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let own = Builder::new_current_thread().enable_all().build().unwrap();
        (pool, own)
    }

    /// Computes for a while, then lets others in, as a guest does at each tick.
    async fn compute_for(duration: Duration) {
        thread::sleep(duration);
        yield_now().await;
    }

    #[test]
    fn long_calls_move_to_the_pool() {
        let (pool, own) = both();
        let here = thread::current().id();
        let quick = async { thread::current().id() };
        let at = own.block_on(here_or_in(pool.handle(), quick)).unwrap();
        assert_eq!(at, here);
        let long = async {
            compute_for(MAX_INLINE_TIME).await;
            thread::current().id()
        };
        let at = own.block_on(here_or_in(pool.handle(), long)).unwrap();
        assert_ne!(at, here);
    }

    #[test]
    fn dropped_calls_are_cancelled_in_the_pool() {
        let (pool, own) = both();
        let (ended, has_ended) = mpsc::channel::<()>();
        let is_there = Arc::new(AtomicBool::new(false));
        let arrived = is_there.clone();
        let call = async move {
            let _ended = ended;
            compute_for(MAX_INLINE_TIME).await;
            arrived.store(true, Ordering::SeqCst);
            std::future::pending::<()>().await;
        };
        own.block_on(async {
            let mut waiting = Box::pin(here_or_in(pool.handle(), call));
            while !is_there.load(Ordering::SeqCst) {
                tokio::select! {
                    biased;
                    _ = &mut waiting => unreachable!("it never answers"),
                    () = tokio::time::sleep(Duration::from_millis(1)) => {}
                }
            }
        });
        // Its sender was dropped with it.
        assert!(has_ended.recv().is_err());
    }
}
