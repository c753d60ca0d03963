//! One outgoing request and its response: the name is resolved once, the addresses are checked, and the connection is
//! made to one of exactly those addresses. Connections are not reused.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use http::{HeaderValue, Request, Uri, header};
use http_body_util::BodyExt as _;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout_at;
use tokio_rustls::TlsConnector;
use wasmtime_wasi_http::{Error, WasiBody};

use super::super::egress::{Denial, EgressPolicy, Permit};
use super::IncomingResponse;
use super::address::is_public;
use super::body::{Received, Sent};
use notehost_config::{Destination, Scheme};

/// How long the head of an answer may be.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// A request that may be sent, and what it may use.
pub(super) struct OutgoingRequest {
    pub(super) to: Destination,
    pub(super) permit: Permit,
    pub(super) egress: Arc<dyn EgressPolicy>,
    pub(super) connect_by: Instant,
    pub(super) answer_by: Instant,
    pub(super) silence: Option<Duration>,
    pub(super) give_up: Instant,
    pub(super) bytes_left: Arc<AtomicU64>,
}

/// What bytes go through.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

impl OutgoingRequest {
    /// Send the request, and receive the head of the answer; the rest comes as the guest reads it.
    #[tracing::instrument(name = "http.request", level = "debug", skip_all)]
    pub(super) async fn run(self, request: Request<WasiBody>) -> Result<IncomingResponse, Error> {
        let stream = timeout_at(self.connect_by.into(), self.connect())
            .await
            .map_err(|_| Error::ConnectionTimeout)??;
        let (mut sender, connection) = hyper::client::conn::http1::Builder::new()
            .max_buf_size(MAX_HEAD_BYTES)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| why(&error))?;
        // Ends with the call, which holds it: dropping the handle ends the task.
        let connection = wasmtime_wasi::runtime::spawn(connection);
        let too_much = Arc::new(AtomicBool::new(false));
        let request = self.addressed(request, too_much.clone())?;
        let answer = timeout_at(self.answer_by.into(), sender.send_request(request))
            .await
            .map_err(|_| Error::HttpResponseTimeout)?;
        let answer = answer.map_err(|error| match too_much.load(Ordering::Relaxed) {
            true => Error::HttpRequestBodySize(None),
            false => why(&error),
        })?;
        let (head, body) = answer.into_parts();
        let body = Received::new(body, self.bytes_left, self.give_up, self.silence)?;
        let response = http::Response::from_parts(head, body.boxed_unsync());
        let rest = async move {
            // The error is reported where the body is read.
            let _ = connection.await;
            Ok(())
        };
        Ok((response, Box::new(rest)))
    }

    /// The request as it goes over the wire: the path alone, and a `Host` that is what was checked.
    fn addressed(
        &self,
        request: Request<WasiBody>,
        too_much: Arc<AtomicBool>,
    ) -> Result<Request<Sent>, Error> {
        let (mut head, body) = request.into_parts();
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        head.uri = path
            .parse::<Uri>()
            .map_err(|_| Error::HttpRequestUriInvalid)?;
        let host = HeaderValue::from_str(&self.to.authority())
            .map_err(|_| Error::HttpRequestUriInvalid)?;
        head.headers.insert(header::HOST, host);
        let body = Sent::new(body, self.bytes_left.clone(), too_much);
        Ok(Request::from_parts(head, body))
    }

    #[tracing::instrument(name = "http.connect", level = "debug", skip_all)]
    async fn connect(&self) -> Result<Box<dyn Stream>, Error> {
        let mut failed = Error::DestinationNotFound;
        for address in self.addresses().await? {
            let stream = match TcpStream::connect(address).await {
                Ok(stream) => stream,
                Err(error) => {
                    tracing::debug!("cannot connect to {}: {error}", self.to);
                    failed = Error::ConnectionRefused;
                    continue;
                }
            };
            // Small requests must not wait for others; where it cannot be set they do.
            let _ = stream.set_nodelay(true);
            return match self.to.scheme {
                Scheme::Http => Ok(Box::new(stream)),
                Scheme::Https => self.secured(stream).await,
            };
        }
        Err(failed)
    }

    /// Where the name leads, if all of it may be connected to: a name with one address that is not public is
    /// not to be trusted with the others.
    #[tracing::instrument(name = "http.resolve", level = "debug", skip_all)]
    async fn addresses(&self) -> Result<Vec<SocketAddr>, Error> {
        let addresses: Vec<SocketAddr> = match (self.to.address(), self.to.host.as_str()) {
            (Some(address), _) => vec![SocketAddr::new(address, self.to.port)],
            // An address needs no name resolution.
            (None, "localhost") => [
                IpAddr::V4(Ipv4Addr::LOCALHOST),
                IpAddr::V6(Ipv6Addr::LOCALHOST),
            ]
            .map(|address| SocketAddr::new(address, self.to.port))
            .to_vec(),
            (None, name) => tokio::net::lookup_host((name, self.to.port))
                .await
                .map_err(|error| {
                    tracing::debug!("cannot resolve {}: {error}", self.to);
                    Error::DestinationNotFound
                })?
                .collect(),
        };
        let is_private = |address: &SocketAddr| !is_public(address.ip());
        if !self.permit.may_be_private && addresses.iter().any(is_private) {
            self.egress.denied(Some(&self.to), Denial::NotPublic);
            return Err(Error::DestinationIpProhibited);
        }
        Ok(addresses)
    }

    #[tracing::instrument(name = "http.tls", level = "debug", skip_all)]
    async fn secured(&self, stream: TcpStream) -> Result<Box<dyn Stream>, Error> {
        let name = match self.to.address() {
            Some(address) => ServerName::from(address),
            None => ServerName::try_from(self.to.host.clone())
                .map_err(|_| Error::HttpRequestUriInvalid)?,
        };
        let secured = TlsConnector::from(trust()?).connect(name, stream).await;
        let secured = secured.map_err(|error| {
            tracing::debug!("TLS handshake with {} failed: {error}", self.to);
            let of_tls = error
                .get_ref()
                .and_then(|error| error.downcast_ref::<rustls::Error>());
            match of_tls {
                Some(rustls::Error::InvalidCertificate(_)) => Error::TlsCertificateError,
                _ => Error::TlsProtocolError,
            }
        })?;
        Ok(Box::new(secured))
    }
}

/// Whose certificates are believed: Mozilla's list, as it is part of the program.
fn trust() -> Result<Arc<ClientConfig>, Error> {
    static TRUST: OnceLock<Option<Arc<ClientConfig>>> = OnceLock::new();
    let trust = TRUST.get_or_init(|| {
        let roots = rustls::RootCertStore {
            roots: webpki_roots::TLS_SERVER_ROOTS.into(),
        };
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .inspect_err(|error| tracing::error!("cannot set up TLS: {error}"))
            .ok()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        // What was agreed with a server in one call would make the next one known to it.
        config.resumption = Resumption::disabled();
        Some(Arc::new(config))
    });
    trust.clone().ok_or(Error::TlsProtocolError)
}

/// The error code that a guest gets for a failed exchange.
pub(super) fn why(error: &hyper::Error) -> Error {
    tracing::debug!("a request failed: {error}");
    if error.is_timeout() {
        Error::HttpResponseTimeout
    } else if error.is_parse_too_large() {
        Error::HttpResponseHeaderSectionSize(None)
    } else if error.is_incomplete_message() {
        Error::HttpResponseIncomplete
    } else if error.is_closed() || error.is_canceled() || error.is_body_write_aborted() {
        Error::ConnectionTerminated
    } else {
        Error::HttpProtocolError
    }
}
