//! A transport whose input ends only after everything asked was answered. rmcp by itself gives calls in flight a
//! few seconds once its input has ended, and cancels them at once when it is told to stop.

use std::collections::HashSet;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage, RequestId,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// Stops reading at the end of the input or when `closing` is cancelled, and reports the end when every request
/// was answered, or when patience ran out.
pub(super) struct Draining<T> {
    inner: T,
    closing: CancellationToken,
    patience: Duration,
    unanswered: Arc<Unanswered>,
    /// Set when reading has stopped.
    deadline: Option<Instant>,
}

impl<T> Draining<T> {
    /// `closing` is cancelled here as well when the input ends, so that whatever waits for events lets go.
    pub(super) fn new(inner: T, closing: CancellationToken, patience: Duration) -> Draining<T> {
        Draining {
            inner,
            closing,
            patience,
            unanswered: Arc::default(),
            deadline: None,
        }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Draining<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answered = match &item {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        let unanswered = self.unanswered.clone();
        let sending = self.inner.send(item);
        async move {
            let sent = sending.await;
            if let Some(id) = answered {
                unanswered.remove(&id);
            }
            sent
        }
    }

    // The service loop drops and remakes this future at every other event, so all progress is kept in `self`.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let deadline = match self.deadline {
            Some(deadline) => deadline,
            None => {
                let message = tokio::select! {
                    biased;
                    () = self.closing.cancelled() => None,
                    message = self.inner.receive() => message,
                };
                if let Some(message) = message {
                    self.unanswered.note(&message);
                    return Some(message);
                }
                self.closing.cancel();
                *self.deadline.insert(Instant::now() + self.patience)
            }
        };
        self.unanswered.none_left(deadline).await;
        None
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}

/// The requests that came in and wait for their answer.
#[derive(Default)]
struct Unanswered {
    ids: Mutex<HashSet<RequestId>>,
    removed: Notify,
}

impl Unanswered {
    fn note(&self, message: &ClientJsonRpcMessage) {
        match message {
            // A subscription is answered when it ends, which `closing` brings about.
            JsonRpcMessage::Request(request)
                if !matches!(
                    request.request,
                    ClientRequest::SubscriptionsListenRequest(_)
                ) =>
            {
                self.lock().insert(request.id.clone());
            }
            // A cancelled request gets no answer.
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.remove(id);
                }
            }
            _ => {}
        }
    }

    fn remove(&self, id: &RequestId) {
        self.lock().remove(id);
        self.removed.notify_waiters();
    }

    async fn none_left(&self, deadline: Instant) {
        loop {
            let removed = self.removed.notified();
            let left = self.lock().len();
            if left == 0 {
                return;
            }
            if timeout_at(deadline, removed).await.is_err() {
                tracing::warn!(left, "stopping with requests unanswered");
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
