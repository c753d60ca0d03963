//! MCP over Streamable HTTP at `/mcp`, and beside it what says how we are (`/healthz`, `/readyz`, `/metrics`) and how to
//! get in (`/.well-known/oauth-protected-resource`). A request passes, in this order: the number of connections, TLS,
//! the check of `Host` and `Origin`, the check of its token, the size and the time of its body. What is left of it is
//! MCP, and rmcp's affair.

mod address;
mod body;
mod entry;
mod events;
mod sessions;
mod tls;

use std::future::Ready;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::middleware;
use axum::routing::get;
use axum_server::accept::Accept;
use axum_server::tls_rustls::RustlsAcceptor;
use axum_server::{Handle, Server as HttpServer};
use http::StatusCode;
use hyper_util::rt::TokioTimer;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use self::entry::Entry;
use super::mcp::Server;
use super::{MESSAGE_BYTES, ServeOptions, TransportError, shutdown};
use crate::auth::{Authenticator, Caller, Tokens};
use crate::config::{AuthMode, Settings};
use crate::dispatch::Host;

/// How long calls in flight may take to finish once we were told to stop.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long clients may take to close their connections after that.
const FAREWELL: Duration = Duration::from_secs(1);

/// How long a client may take to say what it wants. A connection on which nothing is asked is closed after it too.
const HEADERS: Duration = Duration::from_secs(30);

/// More connections than this are not held at once.
const CONNECTIONS: u64 = 4096;

/// Files that must be left for notes and records when every connection is taken.
const FILES_KEPT: u64 = 256;

/// Serve `/mcp` until we are told to stop. Port 0 is any free one; the address in use is told on stderr. An address
/// that other machines can reach is only served where a token is asked for.
pub async fn serve_http(
    host: Arc<Host>,
    address: SocketAddr,
    options: ServeOptions,
) -> Result<(), TransportError> {
    let settings = host.settings();
    let (authenticator, tls) = admitted(&settings, host.tokens().clone(), address)?;
    let bind_error = |reason| TransportError::Bind { address, reason };
    let listener = TcpListener::bind(address).await.map_err(bind_error)?;
    let bound = listener.local_addr().map_err(bind_error)?;
    let closing = shutdown::requested(options.parent_pid)?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    if !bound.ip().is_loopback() && tls.is_none() {
        tracing::warn!(
            "tokens travel unencrypted; `http.tls_cert` and `http.tls_key` encrypt them"
        );
    }
    eprintln!("listening on {scheme}://{bound}/mcp");

    let streams_end = CancellationToken::new();
    let in_flight = Arc::new(watch::Sender::new(()));
    let server = Server::new(
        host.clone(),
        // Each request brings its own caller; one that did not would be nobody's.
        Caller::nobody(),
        options.surface,
        closing.clone(),
        None,
    );
    let idle = host.settings().http.session_idle_seconds;
    let sessions = sessions::manager(Duration::from_secs(idle));
    let entry = Arc::new(Entry::new(
        host,
        authenticator,
        sessions.clone(),
        bound,
        scheme,
        streams_end.child_token(),
    ));
    let service = mcp_service(server, sessions, &streams_end);
    let routes = routes(service, entry, in_flight.clone());

    let handle = Handle::new();
    let door = Door {
        handle: handle.clone(),
        most: connections(),
    };
    let mut http = HttpServer::from_listener(listener).handle(handle.clone());
    http.http_builder()
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS);
    let routes = routes.into_make_service();
    let serving = async move {
        match tls {
            None => only_http1(http.acceptor(door)).serve(routes).await,
            Some(certificate) => {
                let acceptor = RustlsAcceptor::new(certificate.in_use()).acceptor(door);
                tokio::select! {
                    served = only_http1(http.acceptor(acceptor)).serve(routes) => served,
                    never = certificate.follow() => match never {},
                }
            }
        }
    };
    let finishing = async {
        closing.cancelled().await;
        handle.graceful_shutdown(None);
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

/// Whether these settings may be served at an address: the refusals of [`serve_http`], without serving.
pub fn check_http(
    settings: &Settings,
    tokens: Arc<Tokens>,
    address: SocketAddr,
) -> Result<(), TransportError> {
    admitted(settings, tokens, address).map(|_| ())
}

/// Who checks those who come, and what encrypts it, if the address may be served.
fn admitted(
    settings: &Settings,
    tokens: Arc<Tokens>,
    address: SocketAddr,
) -> Result<(Authenticator, Option<tls::Certificate>), TransportError> {
    let authenticator = Authenticator::new(&settings.auth, tokens)?;
    let asks = authenticator.asks().map_err(crate::auth::AuthError::from)?;
    if !address.ip().is_loopback() && !asks {
        return Err(match settings.auth.mode {
            AuthMode::None => TransportError::NotLoopbackByChoice(address),
            _ => TransportError::NotLoopback(address),
        });
    }
    let tls = tls::read(&settings.http).map_err(TransportError::Tls)?;
    Ok((authenticator, tls))
}

fn routes(
    mcp: StreamableHttpService<Server, LocalSessionManager>,
    entry: Arc<Entry>,
    in_flight: Arc<watch::Sender<()>>,
) -> Router {
    let with_entry = || entry.clone();
    Router::new()
        .nest_service("/mcp", mcp)
        .layer(middleware::from_fn(sessions::tell_end))
        .layer(middleware::from_fn(body::take_in))
        .layer(middleware::from_fn_with_state(with_entry(), entry::prove))
        .layer(middleware::from_fn_with_state(
            in_flight,
            body::hold_in_flight,
        ))
        .route("/healthz", get(|| async { "ok" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(entry::metrics))
        .route("/events", get(events::events))
        .route(entry::METADATA, get(entry::metadata))
        .route(entry::METADATA_OF_MCP, get(entry::metadata))
        .layer(middleware::from_fn_with_state(
            with_entry(),
            entry::check_address,
        ))
        .with_state(entry)
}

fn mcp_service(
    server: Server,
    sessions: Arc<LocalSessionManager>,
    streams_end: &CancellationToken,
) -> StreamableHttpService<Server, LocalSessionManager> {
    let config = StreamableHttpServerConfig::default()
        // `Host` and `Origin` were checked before, for every route and by the settings of this moment.
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_json_response(true)
        .with_max_request_body_bytes(MESSAGE_BYTES)
        .with_cancellation_token(streams_end.child_token());
    StreamableHttpService::new(move || Ok(server.clone()), sessions, config)
}

/// Whether calls can be answered.
async fn ready(State(entry): State<Arc<Entry>>) -> (StatusCode, &'static str) {
    let host = entry.host();
    if host.vault_ids().is_empty() {
        (StatusCode::SERVICE_UNAVAILABLE, "no vault is open")
    } else if host.registry().snapshot().domains().next().is_none() {
        (StatusCode::SERVICE_UNAVAILABLE, "no component is loaded")
    } else {
        (StatusCode::OK, "ready")
    }
}

/// The limits on slow clients are those of HTTP/1. This must be said last: another acceptor makes a server forget it.
fn only_http1<A>(server: HttpServer<SocketAddr, A>) -> HttpServer<SocketAddr, A> {
    server.http1_only()
}

/// Lets connections in as long as there is room.
#[derive(Clone)]
struct Door {
    handle: Handle<SocketAddr>,
    most: usize,
}

impl<S> Accept<TcpStream, S> for Door {
    type Stream = TcpStream;
    type Service = S;
    type Future = Ready<io::Result<(TcpStream, S)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        if self.handle.connection_count() > self.most {
            tracing::warn!(
                most = self.most,
                "a connection was closed: there are too many"
            );
            return ready_error("too many connections");
        }
        // Without this a reply in several parts waits 40 ms for the client's acknowledgement.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
        std::future::ready(Ok((stream, service)))
    }
}

fn ready_error<T>(words: &'static str) -> Ready<io::Result<T>> {
    std::future::ready(Err(io::Error::other(words)))
}

/// How many connections can be held: each is a file to the system, whose usual limit is low and may be raised.
fn connections() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let wanted = CONNECTIONS + FILES_KEPT;
    let mut files = limit.current.unwrap_or(wanted);
    if files < wanted {
        let raised = wanted.min(limit.maximum.unwrap_or(wanted));
        let raise = Rlimit {
            current: Some(raised),
            maximum: limit.maximum,
        };
        if setrlimit(Resource::Nofile, raise).is_ok() {
            files = raised;
        }
    }
    let most = files.saturating_sub(FILES_KEPT).clamp(64, CONNECTIONS);
    usize::try_from(most).unwrap_or(usize::MAX)
}
