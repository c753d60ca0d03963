//! Authentication of requests: every request must use an accepted host name, and one for `/mcp` must carry a token if
//! one is required. A request refused here never becomes a call.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::uri::{Authority, Uri};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::address;
use super::connections::{AuthGate, TooManyOfCaller};
use super::credential::{Credential, bounded};
use super::sessions::Owners;
use notehost_pipeline::Host;
use notehost_policy::auth::{Authenticator, Caller, Refused, Scope};

/// The path of the resource metadata (RFC 9728).
pub(super) const METADATA: &str = "/.well-known/oauth-protected-resource";
/// The same, for the path of the endpoint.
pub(super) const METADATA_OF_MCP: &str = "/.well-known/oauth-protected-resource/mcp";

const SESSION: &str = "mcp-session-id";

/// The authentication gate.
pub(super) struct Entry {
    host: Arc<Host>,
    authenticator: Authenticator,
    owners: Owners,
    door: AuthGate,
    bound: SocketAddr,
    scheme: &'static str,
    streams_end: CancellationToken,
}

impl Entry {
    pub(super) fn new(
        host: Arc<Host>,
        authenticator: Authenticator,
        sessions: Arc<LocalSessionManager>,
        door: AuthGate,
        bound: SocketAddr,
        scheme: &'static str,
        streams_end: CancellationToken,
    ) -> Entry {
        Entry {
            host,
            authenticator,
            owners: Owners::new(sessions),
            door,
            bound,
            scheme,
            streams_end,
        }
    }

    pub(super) fn host(&self) -> &Host {
        &self.host
    }

    pub(super) fn authenticator(&self) -> &Authenticator {
        &self.authenticator
    }

    /// Ends sessions with invalid tokens.
    pub(super) async fn end_lapsed_sessions(&self) {
        self.owners
            .end_lapsed(|credential| credential.holds(self))
            .await;
    }

    /// The credential of a request, or the response that refuses it.
    fn credential(
        &self,
        headers: &HeaderMap,
        called: &Called,
        needed: Scope,
    ) -> Result<Credential, Response> {
        let shown = bearer(headers);
        let refused = match shown.map(|token| (token, self.authenticator.caller(token))) {
            Ok((token, Ok(caller))) => return Ok(Credential::new(caller, token)),
            Ok((_, Err(refused))) => refused,
            Err(reason) => Refused::Invalid(reason.to_owned()),
        };
        Err(match refused {
            Refused::Missing => self.unauthorized(called, needed, None),
            Refused::Invalid(reason) => {
                tracing::info!(reason, "a token was refused");
                self.unauthorized(called, needed, Some("invalid_token"))
            }
            Refused::Unavailable(error) => {
                tracing::error!(%error, "tokens cannot be checked");
                refusal(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "unavailable",
                    "tokens cannot be checked at the moment",
                )
            }
        })
    }

    /// Whether a caller has the scope `admin` now.
    pub(super) fn is_admin(&self, caller: &Caller) -> bool {
        self.host.scopes_of(caller).allow("admin", Scope::Admin)
    }

    /// Requires the scope `admin`, even if no authentication is required.
    pub(super) fn admin_only(&self, request: &Request, what: &str) -> Result<Credential, Response> {
        let called = request.extensions().get::<Called>();
        let called =
            called.ok_or_else(|| refusal(StatusCode::BAD_REQUEST, "forbidden", "no `Host`"))?;
        let credential = self.credential(request.headers(), called, Scope::Admin)?;
        self.bind(request, credential.caller())?;
        if self.is_admin(credential.caller()) {
            return Ok(credential);
        }
        if !credential.caller().has_token() {
            return Err(self.unauthorized(called, Scope::Admin, None));
        }
        let answer = refusal(
            StatusCode::FORBIDDEN,
            "forbidden",
            &format!("{what} require a token with the scope `admin`"),
        );
        Err(self.challenge(answer, called, Scope::Admin, Some("insufficient_scope")))
    }

    /// Counts the connection of a request for its caller. If the caller has too many, the request is refused and the
    /// connection closed after the response.
    fn bind(&self, request: &Request, caller: &Caller) -> Result<(), Response> {
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
        let bound = peer.map_or(Ok(()), |ConnectInfo(peer)| {
            self.door.bind(*peer, &caller.key())
        });
        bound.map_err(|TooManyOfCaller(most)| {
            let name = caller.name();
            tracing::warn!(
                caller = name,
                "a request was refused: its caller has too many connections"
            );
            let words = format!(
                "this caller has {most} open connections: close some, or send more requests on each"
            );
            let mut answer = refusal(StatusCode::TOO_MANY_REQUESTS, "throttled", &words);
            let headers = answer.headers_mut();
            headers.insert(RETRY_AFTER, HeaderValue::from_static("5"));
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
            answer
        })
    }

    /// Ends when the server does.
    pub(super) fn streams_end(&self) -> CancellationToken {
        self.streams_end.clone()
    }

    fn unauthorized(&self, called: &Called, needed: Scope, error: Option<&str>) -> Response {
        let words = match error {
            None => {
                "a bearer token is required: send `Authorization: Bearer …`; an admin creates one with `notehost token \
                new`"
            }
            Some(_) => "invalid token: unknown, expired, revoked or wrong audience",
        };
        let answer = refusal(StatusCode::UNAUTHORIZED, "unauthorized", words);
        self.challenge(answer, called, needed, error)
    }

    /// A 401 response that names the required scope and the resource metadata.
    fn challenge(
        &self,
        mut answer: Response,
        called: &Called,
        needed: Scope,
        error: Option<&str>,
    ) -> Response {
        let error = error.map_or(String::new(), |error| format!("error=\"{error}\", "));
        let challenge = format!(
            "Bearer {error}resource_metadata=\"{}\", scope=\"{}\"",
            self.metadata_url(called),
            needed.as_str()
        );
        if let Ok(challenge) = HeaderValue::from_str(&challenge) {
            answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        answer
    }

    /// The public URL of the endpoint: from the settings, or as used by this client.
    fn resource(&self, called: &Called) -> String {
        let settings = self.host.settings();
        let configured = settings.auth.resource.clone();
        configured.unwrap_or_else(|| format!("{}://{}/mcp", self.scheme, called.0))
    }

    /// RFC 9728 puts the well-known part between the host and the path.
    fn metadata_url(&self, called: &Called) -> String {
        let resource = self.resource(called).parse::<Uri>().unwrap_or_default();
        match (resource.scheme_str(), resource.authority()) {
            (Some(scheme), Some(authority)) => {
                let path = resource.path().trim_end_matches('/');
                format!("{scheme}://{authority}{METADATA}{path}")
            }
            _ => format!("{}://{}{METADATA_OF_MCP}", self.scheme, called.0),
        }
    }
}

/// The host name used by a request.
#[derive(Clone)]
pub(super) struct Called(Authority);

/// Refuses requests with an unknown host name.
pub(super) async fn check_address(
    State(entry): State<Arc<Entry>>,
    mut request: Request,
    next: Next,
) -> Response {
    let settings = entry.host.settings();
    match address::check(request.uri(), request.headers(), entry.bound, &settings) {
        Ok(called) => {
            request.extensions_mut().insert(Called(called));
            next.run(request).await
        }
        Err((status, words)) => refusal(status, "forbidden", words),
    }
}

/// Refuses unauthenticated requests to MCP, and requests to another caller's session.
pub(super) async fn prove(
    State(entry): State<Arc<Entry>>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(called) = request.extensions().get::<Called>().cloned() else {
        return refusal(StatusCode::BAD_REQUEST, "forbidden", "no `Host`");
    };
    let credential = match entry.credential(request.headers(), &called, Scope::Read) {
        Ok(credential) => credential,
        Err(answer) => return answer,
    };
    let caller = credential.caller();
    if let Err(answer) = entry.bind(&request, caller) {
        return answer;
    }
    request.extensions_mut().insert(caller.clone());
    if let Some(session) = request.headers().get(SESSION) {
        // Other callers must not learn that the session exists.
        let is_own = session
            .to_str()
            .is_ok_and(|session| entry.owners.is_of(session, &credential));
        return match is_own {
            true => bounded(next.run(request).await, entry, credential),
            false => refusal(
                StatusCode::NOT_FOUND,
                "not_found",
                "no such session; start one with `initialize`",
            ),
        };
    }
    // Requests of the era without sessions name their method, and it is not this one.
    let named = request.headers().get("mcp-method");
    let is_stateless = named.is_some_and(|method| method.as_bytes() != b"initialize");
    let may_begin = request.method() == Method::POST && !is_stateless;
    if may_begin && !entry.owners.has_room(caller).await {
        tracing::warn!(
            caller = caller.name(),
            "a session was refused: there are too many"
        );
        let mut answer = refusal(
            StatusCode::SERVICE_UNAVAILABLE,
            "unavailable",
            "there are too many sessions; end some, or try again later",
        );
        answer
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from_static("60"));
        return answer;
    }
    let answer = next.run(request).await;
    if let Some(session) = answer
        .headers()
        .get(SESSION)
        .and_then(|id| id.to_str().ok())
    {
        entry.owners.begin(session, &credential);
    }
    bounded(answer, entry, credential)
}

/// Metrics since the start, for Prometheus. They show how much others do, so they require the scope `admin`. They
/// contain no paths of notes and no names of notebooks.
pub(super) async fn metrics(State(entry): State<Arc<Entry>>, request: Request) -> Response {
    if let Err(answer) = entry.admin_only(&request, "the metrics") {
        return answer;
    }
    let sessions = entry.owners.count().await;
    let text = format!(
        "{}# HELP notehost_sessions Open sessions of session-based MCP revisions\n# TYPE notehost_sessions \
        gauge\nnotehost_sessions {sessions}\n",
        notehost_records::audit::metrics_text()
    );
    (
        [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")],
        text,
    )
        .into_response()
}

/// The resource metadata (RFC 9728), which is public.
pub(super) async fn metadata(State(entry): State<Arc<Entry>>, request: Request) -> Response {
    let Some(called) = request.extensions().get::<Called>() else {
        return refusal(StatusCode::BAD_REQUEST, "forbidden", "no `Host`");
    };
    let scopes = [Scope::Read, Scope::Write, Scope::Delete, Scope::Admin];
    let mut metadata = json!({
        "resource": entry.resource(called),
        "resource_name": "Notehost",
        "scopes_supported": scopes.map(Scope::as_str),
        "bearer_methods_supported": ["header"],
    });
    if let Some(issuer) = &entry.host.settings().auth.jwt.issuer {
        metadata["authorization_servers"] = json!([issuer]);
    }
    Json(metadata).into_response()
}

/// The bearer token of a request: only from the header, and only one. Other kinds of credentials may be meant for a
/// proxy.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, &'static str> {
    let mut shown = None;
    for value in headers.get_all(AUTHORIZATION) {
        let value = value.to_str().map_err(|_| "it is not text")?;
        let (kind, token) = value.trim().split_once(' ').unwrap_or((value.trim(), ""));
        if !kind.eq_ignore_ascii_case("bearer") {
            continue;
        }
        if shown.replace(token.trim()).is_some() {
            return Err("there are two of them");
        }
    }
    Ok(shown)
}

/// A refusing response, in the form of a call's error.
pub(super) fn refusal(status: StatusCode, code: &str, message: &str) -> Response {
    let retryable = status == StatusCode::SERVICE_UNAVAILABLE;
    let error: Value =
        json!({ "error": { "code": code, "message": message, "retryable": retryable } });
    (status, Json(error)).into_response()
}
