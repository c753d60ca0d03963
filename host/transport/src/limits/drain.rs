//! A transport that reports the end of input only after all requests are answered. rmcp itself gives running calls a
//! few seconds once its input has ended, and cancels them at once when it has to stop.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage, RequestId,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// How many requests may wait for their answers, and how many bytes they may have, before more is read: what a caller may
/// have in flight over HTTP.
const MAX_UNANSWERED: usize = 1024;
const MAX_UNANSWERED_BYTES: usize = 160 << 20;

/// Stops reading at the end of the input or when `closing` is cancelled, and reports the end when every request was
/// answered, or at a timeout.
pub(crate) struct Draining<T> {
    inner: T,
    closing: CancellationToken,
    /// After the end of the input, and after a shutdown was requested.
    grace: (Duration, Duration),
    unanswered: Arc<Unanswered>,
    /// How many bytes were read since the last message.
    read: Arc<AtomicUsize>,
    /// Set when reading has stopped.
    deadline: Option<Instant>,
}

impl<T> Draining<T> {
    /// `closing` is cancelled here as well when the input ends, so that everything that waits for events ends.
    /// `read` is increased by the reader of the input.
    pub(crate) fn new(
        inner: T,
        closing: CancellationToken,
        grace: (Duration, Duration),
        read: Arc<AtomicUsize>,
    ) -> Draining<T> {
        Draining {
            inner,
            closing,
            grace,
            unanswered: Arc::default(),
            read,
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
                let unanswered = self.unanswered.clone();
                let next = async {
                    unanswered.room().await;
                    self.inner.receive().await
                };
                let message = tokio::select! {
                    biased;
                    () = self.closing.cancelled() => None,
                    message = next => message,
                };
                if let Some(message) = message {
                    let bytes = self.read.swap(0, Ordering::Relaxed);
                    self.unanswered.note(&message, bytes);
                    return Some(message);
                }
                let grace = match self.closing.is_cancelled() {
                    true => self.grace.1,
                    false => self.grace.0,
                };
                self.closing.cancel();
                *self.deadline.insert(Instant::now() + grace)
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
    held: Mutex<Held>,
    removed: Notify,
}

#[derive(Default)]
struct Held {
    /// How many bytes each of them has.
    requests: HashMap<RequestId, usize>,
    bytes: usize,
}

impl Held {
    fn is_full(&self) -> bool {
        self.requests.len() >= MAX_UNANSWERED || self.bytes >= MAX_UNANSWERED_BYTES
    }
}

impl Unanswered {
    fn note(&self, message: &ClientJsonRpcMessage, bytes: usize) {
        match message {
            // A subscription is answered when it ends, which `closing` brings about.
            JsonRpcMessage::Request(request)
                if !matches!(
                    request.request,
                    ClientRequest::SubscriptionsListenRequest(_)
                ) =>
            {
                let mut held = self.lock();
                held.bytes += bytes;
                let before = held.requests.insert(request.id.clone(), bytes);
                held.bytes -= before.unwrap_or(0);
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
        let mut held = self.lock();
        let bytes = held.requests.remove(id);
        held.bytes -= bytes.unwrap_or(0);
        drop(held);
        self.removed.notify_waiters();
    }

    /// Waits until another request may be read.
    async fn room(&self) {
        loop {
            let removed = self.removed.notified();
            if !self.lock().is_full() {
                return;
            }
            removed.await;
        }
    }

    async fn none_left(&self, deadline: Instant) {
        loop {
            let removed = self.removed.notified();
            let left = self.lock().requests.len();
            if left == 0 {
                return;
            }
            if timeout_at(deadline, removed).await.is_err() {
                tracing::warn!(left, "stopping with requests unanswered");
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock()
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

    /// Answers after the requested number of milliseconds.
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
                .serve(Draining::new(
                    wire,
                    closing,
                    (DRAIN_TIMEOUT, DRAIN_TIMEOUT),
                    Arc::default(),
                ))
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

    #[tokio::test]
    async fn nothing_is_read_while_too_much_waits_for_an_answer() {
        let request = |id: u64| -> ClientJsonRpcMessage {
            serde_json::from_str(&call(id, 1)).expect("a message")
        };
        let has_room = async |unanswered: &Unanswered| {
            let waiting = tokio::time::timeout(Duration::from_millis(20), unanswered.room());
            waiting.await.is_ok()
        };
        let unanswered = Unanswered::default();
        unanswered.note(&request(1), MAX_UNANSWERED_BYTES / 2);
        assert!(has_room(&unanswered).await);
        // The same id again takes the place of the one before.
        unanswered.note(&request(1), MAX_UNANSWERED_BYTES / 2);
        assert!(has_room(&unanswered).await);
        unanswered.note(&request(2), MAX_UNANSWERED_BYTES / 2);
        assert!(!has_room(&unanswered).await);
        let (_, freed) = tokio::join!(
            async { unanswered.remove(&RequestId::Number(1)) },
            has_room(&unanswered)
        );
        assert!(freed);
        for id in 2..=MAX_UNANSWERED as u64 {
            unanswered.note(&request(id), 0);
        }
        assert!(has_room(&unanswered).await);
        unanswered.note(&request(0), 0);
        assert!(!has_room(&unanswered).await);
        assert_eq!(unanswered.lock().bytes, 0);
    }
}
