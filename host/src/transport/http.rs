//! MCP over Streamable HTTP at `/mcp`, with `/healthz` and `/readyz` beside it. Only on loopback: there are no
//! credentials yet. `Host` and `Origin` are checked against DNS rebinding all the same.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::get;
use axum::serve::ListenerExt;
use http::{Method, StatusCode};
use http_body::{Frame, SizeHint};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::mcp::Server;
use super::{MESSAGE_BYTES, ServeOptions, TransportError, shutdown};
use crate::auth::Caller;
use crate::dispatch::Host;

/// How long calls in flight may take to finish once we were told to stop.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long clients may take to close their connections after that.
const FAREWELL: Duration = Duration::from_secs(1);

/// Serve `/mcp` on a loopback address until we are told to stop. Port 0 is any free one; the address in use is told
/// on stderr.
pub async fn serve_http(
    host: Arc<Host>,
    address: SocketAddr,
    options: ServeOptions,
) -> Result<(), TransportError> {
    if !address.ip().is_loopback() {
        return Err(TransportError::NotLoopback(address));
    }
    let bind_error = |reason| TransportError::Bind { address, reason };
    let listener = TcpListener::bind(address).await.map_err(bind_error)?;
    let bound = listener.local_addr().map_err(bind_error)?;
    let closing = shutdown::requested(options.parent_pid)?;
    eprintln!("listening on http://{bound}/mcp");

    // Without this a reply in several parts waits 40 ms for the client's acknowledgement.
    let listener = listener.tap_io(|stream: &mut TcpStream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
    });
    let streams_end = CancellationToken::new();
    let in_flight = Arc::new(watch::Sender::new(()));
    let server = Server::new(
        host.clone(),
        Caller::loopback(),
        options.surface,
        closing.clone(),
    );
    let routes = Router::new()
        .nest_service("/mcp", mcp_service(server, bound, &streams_end))
        .layer(middleware::from_fn_with_state(
            in_flight.clone(),
            hold_in_flight,
        ))
        .route("/healthz", get(|| async { "ok" }))
        .route("/readyz", get(ready))
        .with_state(host);

    let stop_accepting = closing.clone();
    let serving = axum::serve(listener, routes)
        .with_graceful_shutdown(async move { stop_accepting.cancelled().await })
        .into_future();
    let finishing = async {
        closing.cancelled().await;
        if tokio::time::timeout(PATIENCE, in_flight.closed())
            .await
            .is_err()
        {
            tracing::warn!("stopping with requests unanswered");
        }
        // What is left are streams that wait for events, which would keep their connections open for ever.
        streams_end.cancel();
        tokio::time::sleep(FAREWELL).await;
    };
    tokio::select! {
        served = serving => Ok(served?),
        () = finishing => Ok(()),
    }
}

fn mcp_service(
    server: Server,
    bound: SocketAddr,
    streams_end: &CancellationToken,
) -> StreamableHttpService<Server, LocalSessionManager> {
    let address = bound.ip().to_string();
    let hosts = ["localhost", "127.0.0.1", "::1", &address];
    let origins = hosts.map(|host| match host.contains(':') {
        true => format!("http://[{host}]:*"),
        false => format!("http://{host}:*"),
    });
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_json_response(true)
        .with_max_request_body_bytes(MESSAGE_BYTES)
        .with_cancellation_token(streams_end.child_token());
    StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), config)
}

/// Whether calls can be answered.
async fn ready(State(host): State<Arc<Host>>) -> (StatusCode, &'static str) {
    if host.vault_ids().is_empty() {
        (StatusCode::SERVICE_UNAVAILABLE, "no vault is open")
    } else if host.registry().snapshot().domains().next().is_none() {
        (StatusCode::SERVICE_UNAVAILABLE, "no component is loaded")
    } else {
        (StatusCode::OK, "ready")
    }
}

/// Keeps a receiver of the channel until a request's answer was sent whole: the channel is closed when nothing is in
/// flight. A GET only waits for events.
async fn hold_in_flight(
    State(in_flight): State<Arc<watch::Sender<()>>>,
    request: Request,
    next: Next,
) -> Response {
    if request.method() == Method::GET {
        return next.run(request).await;
    }
    let held = in_flight.subscribe();
    let response = next.run(request).await;
    response.map(|body| Body::new(Held { body, _held: held }))
}

/// A body that is in flight until it is dropped.
struct Held {
    body: Body,
    _held: watch::Receiver<()>,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
