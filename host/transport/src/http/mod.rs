//! MCP over Streamable HTTP at `/mcp`, with `/healthz`, `/readyz`, `/metrics` and
//! `/.well-known/oauth-protected-resource` beside it. A request passes, in this order: the connection limit, TLS, the
//! check of `Host` and `Origin`, the check of its token, the limits of its caller, the size and time limits of its
//! body. The rest is MCP, handled by rmcp.

mod address;
mod body;
mod connections;
mod credential;
mod entry;
mod events;
mod intake;
mod sessions;
mod tls;
mod write_timeout;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::middleware;
use axum::routing::get;
use axum_server::tls_rustls::RustlsAcceptor;
use axum_server::{Handle, Server as HttpServer};
use http::StatusCode;
use hyper_util::rt::TokioTimer;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use self::connections::AuthGate;
use self::credential::CHECK_PERIOD;
use self::entry::Entry;
use self::intake::Intake;
use crate::limits::bounds::MAX_MESSAGE_BYTES;
use crate::limits::shutdown;
use crate::mcp::Server;
use crate::{ServeOptions, TransportError};
use notehost_config::{AuthMode, Settings};
use notehost_pipeline::Host;
use notehost_policy::auth::{AuthError, Authenticator, Caller, OWNER, OwnerToken, Tokens};

/// How long running calls may take to finish during shutdown.
const CALL_GRACE: Duration = Duration::from_secs(10);

/// How long clients may take to close their connections afterwards.
const CLOSE_GRACE: Duration = Duration::from_secs(1);

/// The time limit for the headers of a request; idle connections are closed after it too.
const HEADERS: Duration = Duration::from_secs(30);

/// Serves `/mcp` until shutdown. Port 0 picks any free one; the bound address is printed on stderr. An address that
/// other machines can reach is only served if callers authenticate; on loopback the first start creates a token.
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
    if let Some(stop) = options.stop {
        let closing = closing.clone();
        tokio::spawn(async move {
            stop.cancelled().await;
            closing.cancel();
        });
    }
    let owner = first_token(&authenticator, host.tokens(), bound)?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    if !bound.ip().is_loopback() && tls.is_none() {
        tracing::warn!(
            "tokens travel unencrypted; `http.tls_cert` and `http.tls_key` encrypt them"
        );
    }
    if let Some(token) = owner {
        show_once(&token, &format!("{scheme}://{bound}/mcp"), host.state());
    }
    if !authenticator.is_required() {
        tracing::warn!(
            "no authentication is required: every user and container of this machine can call"
        );
    }
    eprintln!("listening on {scheme}://{bound}/mcp");

    let streams_end = CancellationToken::new();
    let in_flight = Arc::new(watch::Sender::new(()));
    let server = Server::new(
        host.clone(),
        // Each request has its own caller; one without would have no rights.
        Caller::nobody(),
        options.surface,
        closing.clone(),
        None,
        None,
    )?;
    let idle = host.settings().http.session_idle_seconds;
    let sessions = sessions::manager(Duration::from_secs(idle));
    let intake = Intake::new(host.clone());
    let door = AuthGate::new();
    let entry = Arc::new(Entry::new(
        host,
        authenticator,
        sessions.clone(),
        door.clone(),
        bound,
        scheme,
        streams_end.child_token(),
    ));
    tokio::spawn(end_lapsed_sessions(Arc::downgrade(&entry)));
    let service = mcp_service(server, sessions, &streams_end);
    let routes = routes(service, entry, intake, in_flight.clone());

    let handle = Handle::new();
    let mut http = HttpServer::from_listener(listener).handle(handle.clone());
    http.http_builder()
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS);
    let routes = routes.into_make_service_with_connect_info::<SocketAddr>();
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
        if tokio::time::timeout(CALL_GRACE, in_flight.closed())
            .await
            .is_err()
        {
            tracing::warn!("stopping with requests unanswered");
        }
        // What is left are streams that wait for events, which would keep their connections open for ever.
        streams_end.cancel();
        tokio::time::sleep(CLOSE_GRACE).await;
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

/// The authenticator and the TLS certificate, if the address may be served.
fn admitted(
    settings: &Settings,
    tokens: Arc<Tokens>,
    address: SocketAddr,
) -> Result<(Authenticator, Option<tls::Certificate>), TransportError> {
    let authenticator = Authenticator::new(&settings.auth, tokens)?;
    if !address.ip().is_loopback() {
        match settings.auth.mode {
            AuthMode::None => return Err(TransportError::NotLoopbackByChoice(address)),
            AuthMode::Auto if !authenticator.has_credentials().map_err(AuthError::from)? => {
                return Err(TransportError::NotLoopback(address));
            }
            AuthMode::Auto | AuthMode::Token | AuthMode::Jwt => {}
        }
    }
    let tls = tls::read(&settings.http).map_err(TransportError::Tls)?;
    Ok((authenticator, tls))
}

/// Creates the owner's token at the first start if no other credential exists.
fn first_token(
    authenticator: &Authenticator,
    tokens: &Tokens,
    bound: SocketAddr,
) -> Result<Option<OwnerToken>, TransportError> {
    let is_missing = authenticator.is_required()
        && bound.ip().is_loopback()
        && !authenticator.has_credentials().map_err(AuthError::from)?;
    match is_missing {
        true => Ok(tokens.make_owner()?),
        false => Ok(None),
    }
}

/// Prints the owner's token to stderr, never to the log, which may be sent elsewhere.
fn show_once(token: &OwnerToken, url: &str, state: &Path) {
    let authorization = format!("Bearer {}", token.reveal());
    let entry = serde_json::json!({ "mcpServers": { "notehost": {
        "type": "http", "url": url, "headers": { "Authorization": authorization },
    } } });
    eprintln!(
        "made the token `{OWNER}` with all scopes; it is shown once, and kept in `{}` for commands of this user\n\
         client entry: {entry}\n\
         other tokens: `notehost token new`; without authentication: `--no-auth`",
        OwnerToken::file_in(state).display()
    );
}

/// Ends sessions with revoked or expired tokens while the server runs.
async fn end_lapsed_sessions(entry: Weak<Entry>) {
    loop {
        tokio::time::sleep(CHECK_PERIOD).await;
        let Some(entry) = entry.upgrade() else { return };
        entry.end_lapsed_sessions().await;
    }
}

fn routes(
    mcp: StreamableHttpService<Server, LocalSessionManager>,
    entry: Arc<Entry>,
    intake: Arc<Intake>,
    in_flight: Arc<watch::Sender<()>>,
) -> Router {
    let with_entry = || entry.clone();
    Router::new()
        .nest_service("/mcp", mcp)
        .layer(middleware::from_fn(sessions::tell_end))
        .layer(middleware::from_fn_with_state(intake, intake::take_in))
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
        .with_max_request_body_bytes(MAX_MESSAGE_BYTES)
        .with_cancellation_token(streams_end.child_token());
    StreamableHttpService::new(move || Ok(server.clone()), sessions, config)
}

/// Readiness: whether calls can be served.
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

/// Sets the limits on slow clients, which are those of HTTP/1. Must be called last: setting another acceptor resets
/// them.
fn only_http1<A>(server: HttpServer<SocketAddr, A>) -> HttpServer<SocketAddr, A> {
    server.http1_only()
}
