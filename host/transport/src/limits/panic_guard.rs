//! Isolates a panic of one call from the others.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// The future's outcome, or its panic message. Without this a panic would leave the request unanswered.
pub(crate) async fn contained<T>(future: impl Future<Output = T>) -> Result<T, String> {
    let mut future = pin!(future);
    poll_fn(
        |context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => Poll::Ready(Err(panic_words(panic.as_ref()))),
        },
    )
    .await
}

fn panic_words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn panics_are_isolated() {
        assert_eq!(contained(async { 1 }).await, Ok(1));
        let words = contained(async { panic!("{}", "boom") }).await;
        assert_eq!(words, Err::<(), _>("boom".to_owned()));
    }
}
