//! Progress notifications, for clients that sent a progress token. All are sent before the call's own response.

use std::future::Future;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer};
use tokio::sync::{oneshot, watch};

use notehost_pipeline::{Progress, ProgressSink};

/// The latest progress of a call. A call never waits for its receivers.
pub(crate) type ProgressReceiver = watch::Receiver<Option<Progress>>;

/// The sink of a call, and its receiver.
pub(crate) fn channel() -> (ProgressSink, ProgressReceiver) {
    let (sender, receiver) = watch::channel(None);
    let sink = ProgressSink::new(move |progress| drop(sender.send_replace(Some(progress))));
    (sink, receiver)
}

/// Sends progress to a client.
pub(crate) struct ProgressNotifier {
    peer: Peer<RoleServer>,
    token: ProgressToken,
}

impl ProgressNotifier {
    /// Creates a notifier for a request with a progress token.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Option<ProgressNotifier> {
        Some(ProgressNotifier {
            token: context.meta.get_progress_token()?,
            peer: context.peer.clone(),
        })
    }

    /// Runs a call and sends its progress meanwhile. A notification that is being sent is completed first, because
    /// responses and notifications do not wait for each other.
    pub(crate) async fn during<T>(
        &self,
        receiver: ProgressReceiver,
        call: impl Future<Output = T>,
    ) -> T {
        let (over, is_over) = oneshot::channel();
        let call = async {
            let outcome = call.await;
            drop::<oneshot::Sender<()>>(over);
            outcome
        };
        tokio::join!(call, self.forward_all(receiver, is_over)).0
    }

    async fn forward_all(
        &self,
        mut receiver: ProgressReceiver,
        mut is_over: oneshot::Receiver<()>,
    ) {
        loop {
            tokio::select! {
                biased;
                Ok(()) = receiver.changed() => if !self.forward(&mut receiver).await { return },
                _ = &mut is_over => return,
            }
        }
    }

    /// Sends the latest progress. Returns whether that succeeded.
    async fn forward(&self, receiver: &mut ProgressReceiver) -> bool {
        let Some(progress) = receiver.borrow_and_update().clone() else {
            return true;
        };
        let sent = self.peer.notify_progress(self.message(progress)).await;
        if let Err(error) = &sent {
            tracing::debug!(%error, "a progress notification could not be sent");
        }
        sent.is_ok()
    }

    fn message(&self, progress: Progress) -> ProgressNotificationParam {
        #[allow(
            clippy::cast_precision_loss,
            reason = "the protocol counts in floating point"
        )]
        let number = |count: u64| count as f64;
        let mut message = ProgressNotificationParam::new(self.token.clone(), number(progress.done));
        message.total = progress.total.map(number);
        message.message = Some(progress.message).filter(|words| !words.is_empty());
        message
    }
}
