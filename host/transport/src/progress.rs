//! Progress notifications, for clients that sent a progress token. All are sent before the call's own response.

use std::future::Future;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer};
use tokio::sync::{oneshot, watch};

use notehost_pipeline::{Progress, ProgressSink};

/// The latest progress of a call. A call never waits for its receivers.
pub(super) type ProgressReceiver = watch::Receiver<Option<Progress>>;

/// The sink of a call, and its receiver.
pub(super) fn channel() -> (ProgressSink, ProgressReceiver) {
    let (says, heard) = watch::channel(None);
    let sink = ProgressSink::new(move |progress| drop(says.send_replace(Some(progress))));
    (sink, heard)
}

/// Sends progress to a client.
pub(super) struct ProgressNotifier {
    peer: Peer<RoleServer>,
    token: ProgressToken,
}

impl ProgressNotifier {
    /// Creates a notifier for a request with a progress token.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Option<ProgressNotifier> {
        Some(ProgressNotifier {
            token: context.meta.get_progress_token()?,
            peer: context.peer.clone(),
        })
    }

    /// Runs a call and sends its progress meanwhile. A notification that is being sent is completed first, because
    /// responses and notifications do not wait for each other.
    pub(super) async fn during<T>(
        &self,
        heard: ProgressReceiver,
        call: impl Future<Output = T>,
    ) -> T {
        let (over, is_over) = oneshot::channel();
        let call = async {
            let outcome = call.await;
            drop::<oneshot::Sender<()>>(over);
            outcome
        };
        tokio::join!(call, self.forward_all(heard, is_over)).0
    }

    async fn forward_all(&self, mut heard: ProgressReceiver, mut is_over: oneshot::Receiver<()>) {
        loop {
            tokio::select! {
                biased;
                Ok(()) = heard.changed() => if !self.forward(&mut heard).await { return },
                _ = &mut is_over => return,
            }
        }
    }

    /// Sends the latest progress. Returns whether that succeeded.
    async fn forward(&self, heard: &mut ProgressReceiver) -> bool {
        let Some(progress) = heard.borrow_and_update().clone() else {
            return true;
        };
        let told = self.peer.notify_progress(self.message(progress)).await;
        if let Err(error) = &told {
            tracing::debug!(%error, "a progress notification could not be sent");
        }
        told.is_ok()
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
