//! A transport that reports the end of input only after all requests are answered. rmcp itself gives running calls a
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

/// Stops reading at the end of the input or when `closing` is cancelled, and reports the end when every request was
/// answered, or at a timeout.
pub(super) struct Draining<T> {
    inner: T,
    closing: CancellationToken,
    patience: Duration,
    unanswered: Arc<Unanswered>,
    /// Set when reading has stopped.
    deadline: Option<Instant>,
}

impl<T> Draining<T> {
    /// `closing` is also cancelled here when the input ends, so that waiting subscriptions end.
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

/// The requests without a response so far.
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult};
    use rmcp::service::RequestContext;
    use rmcp::transport::async_rw::AsyncRwTransport;
    use rmcp::{ErrorData, ServerHandler, ServiceExt};
    use serde_json::{Value, json};
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

    use super::*;

    const DRAIN_TIMEOUT: Duration = Duration::from_secs(20);

    /// Answers after as many milliseconds as it is asked to.
    struct Slow;

    impl ServerHandler for Slow {
        async fn call_tool(
            &self,
            request: CallToolRequestParams,
            context: RequestContext<RoleServer>,
        ) -> Result<CallToolResponse, ErrorData> {
            let wait = request.arguments.unwrap_or_default()["ms"]
                .as_u64()
                .unwrap();
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(wait)) => {}
                () = context.ct.cancelled() => {}
            }
            Ok(CallToolResult::success(Vec::new()).into())
        }
    }

    /// A server, and the client's ends of the wire.
    fn serve(closing: CancellationToken) -> (DuplexStream, DuplexStream) {
        let (to_server, input) = tokio::io::duplex(1 << 20);
        let (output, from_server) = tokio::io::duplex(1 << 20);
        tokio::spawn(async move {
            let wire = AsyncRwTransport::new_server(input, output);
            let running = Slow
                .serve(Draining::new(wire, closing, DRAIN_TIMEOUT))
                .await
                .unwrap();
            running.waiting().await.unwrap();
        });
        (to_server, from_server)
    }

    fn line(message: &Value) -> String {
        format!("{message}\n")
    }

    fn begin() -> String {
        let client = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
        });
        line(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client }))
            + &line(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
    }

    fn call(id: u64, wait: u64) -> String {
        let params = json!({ "name": "slow", "arguments": { "ms": wait } });
        line(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
    }

    /// The ids that were answered until the server closed its end.
    async fn answered(mut from_server: DuplexStream) -> BTreeSet<u64> {
        let mut text = String::new();
        from_server.read_to_string(&mut text).await.unwrap();
        let replies = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        replies.filter_map(|reply| reply["id"].as_u64()).collect()
    }

    #[tokio::test]
    async fn requests_before_end_of_input_are_answered() {
        let (mut to_server, from_server) = serve(CancellationToken::new());
        let calls: String = (1..=400).map(|id| call(id, id * 7 % 60)).collect();
        // Longer than rmcp itself would wait.
        let slow = call(401, 5_500);
        to_server
            .write_all((begin() + &calls + &slow).as_bytes())
            .await
            .unwrap();
        drop(to_server);
        assert_eq!(answered(from_server).await, (0..=401).collect());
    }

    #[tokio::test]
    async fn shutdown_finishes_calls_in_flight() {
        let closing = CancellationToken::new();
        let (mut to_server, from_server) = serve(closing.clone());
        to_server
            .write_all((begin() + &call(1, 400)).as_bytes())
            .await
            .unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
        closing.cancel();
        assert_eq!(answered(from_server).await, BTreeSet::from([0, 1]));
    }

    #[tokio::test]
    async fn shutdown_ignores_cancelled_calls() {
        let (mut to_server, from_server) = serve(CancellationToken::new());
        let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
        let messages = begin() + &call(1, 60_000) + &line(&cancel);
        to_server.write_all(messages.as_bytes()).await.unwrap();
        drop(to_server);
        let answered = tokio::time::timeout(DRAIN_TIMEOUT / 2, answered(from_server))
            .await
            .unwrap();
        assert_eq!(answered, BTreeSet::from([0]));
    }
}
