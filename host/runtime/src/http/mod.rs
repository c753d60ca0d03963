//! Outgoing HTTP requests of components that were granted hosts, with the interfaces of `wasi:http`. Method, target
//! and size are checked for each request; redirects are returned to the guest, so the request that follows one is
//! checked like any other.
//!
//! A request uses nothing of the host's environment: no proxy, no cookies, no credentials, no connection of another
//! call.

mod address;
mod body;
mod codes;
mod exchange;

pub(super) use codes::tell_codes;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use http::{HeaderName, Method, Request, Response, Uri, header};
use wasmtime_wasi_http::{
    DEFAULT_FORBIDDEN_HEADERS, Error, ForbiddenHeaderFilter, RequestOptions, WasiBody,
    WasiHttpHooks,
};

use super::egress::{Denial, EgressPolicy};
use exchange::OutgoingRequest;
use notehost_config::{Destination, LimitSettings, Scheme};

/// What a component may send. The rest opens tunnels, or mirrors what was sent.
const METHODS: [Method; 7] = [
    Method::GET,
    Method::HEAD,
    Method::OPTIONS,
    Method::POST,
    Method::PUT,
    Method::PATCH,
    Method::DELETE,
];

/// Headers that belong to the connection, besides those that `wasi:http` keeps from guests.
const CONNECTION_HEADERS: [HeaderName; 3] = [header::TE, header::TRAILER, header::EXPECT];

/// How long a connection may take unless the guest allows less.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A guest gets a timeout error this long before its call ends, or at three quarters of the time that is left, so
/// that it can answer.
const ANSWER_RESERVE: Duration = Duration::from_secs(2);

/// What is behind a call's `wasi:http`.
pub(super) struct Outgoing {
    /// `None` while a component describes itself: no host is allowed.
    egress: Option<Arc<dyn EgressPolicy>>,
    deadline: Instant,
    requests_left: u32,
    bytes_left: Arc<AtomicU64>,
}

type IncomingResponse = (
    Response<WasiBody>,
    Box<dyn Future<Output = Result<(), Error>> + Send>,
);

impl Outgoing {
    /// Nothing can be reached.
    pub(super) fn nowhere(deadline: Instant) -> Outgoing {
        Outgoing {
            egress: None,
            deadline,
            requests_left: 0,
            bytes_left: Arc::default(),
        }
    }

    /// What `outside` permits can be reached.
    pub(super) fn through(
        egress: Arc<dyn EgressPolicy>,
        deadline: Instant,
        limits: &LimitSettings,
    ) -> Outgoing {
        Outgoing {
            egress: Some(egress),
            deadline,
            requests_left: limits.http_requests,
            bytes_left: Arc::new(AtomicU64::new(limits.http_bytes)),
        }
    }

    /// Decide about a request.
    fn decide(
        &mut self,
        request: &Request<WasiBody>,
        options: Option<RequestOptions>,
    ) -> Result<OutgoingRequest, Error> {
        let egress = self.egress.clone().ok_or(Error::HttpRequestDenied)?;
        let Some(to) = destination(request.uri()) else {
            egress.denied(None, Denial::NoRequest);
            return Err(Error::HttpRequestUriInvalid);
        };
        let refuse = |why: Denial, error: Error| {
            egress.denied(Some(&to), why);
            Err(error)
        };
        if !METHODS.contains(request.method()) {
            return refuse(Denial::NoRequest, Error::HttpRequestMethodInvalid);
        }
        let Some(left) = self.requests_left.checked_sub(1) else {
            return refuse(Denial::TooMany, Error::ConnectionLimitReached);
        };
        let permit = match egress.decide(request.method().as_str(), &to) {
            Ok(permit) => permit,
            Err(why) => return refuse(why, Error::HttpRequestDenied),
        };
        self.requests_left = left;
        let now = Instant::now();
        let time_left = self.deadline.saturating_duration_since(now);
        let give_up = self.deadline - ANSWER_RESERVE.min(time_left / 4);
        let options = options.unwrap_or_default();
        let within = |wanted: Option<Duration>| {
            let wanted = wanted.and_then(|wanted| now.checked_add(wanted));
            wanted.map_or(give_up, |wanted| wanted.min(give_up))
        };
        Ok(OutgoingRequest {
            connect_by: within(Some(
                options
                    .connect_timeout
                    .unwrap_or(CONNECT_TIMEOUT)
                    .min(CONNECT_TIMEOUT),
            )),
            answer_by: within(options.first_byte_timeout),
            silence: options.between_bytes_timeout,
            give_up,
            bytes_left: self.bytes_left.clone(),
            to,
            permit,
            egress,
        })
    }
}

impl WasiHttpHooks for Outgoing {
    fn forbidden_header_filter(&mut self) -> ForbiddenHeaderFilter {
        Arc::new(|name| {
            DEFAULT_FORBIDDEN_HEADERS.contains(name) || CONNECTION_HEADERS.contains(name)
        })
    }

    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Box<dyn Future<Output = Result<IncomingResponse, Error>> + Send> {
        match self.decide(&request, options) {
            Ok(errand) => Box::new(errand.run(request)),
            // An error value, which the guest meets where it asks for the answer.
            Err(error) => Box::new(std::future::ready(Err(error))),
        }
    }
}

/// Where a URI leads. Controlled by the guest.
fn destination(uri: &Uri) -> Option<Destination> {
    let scheme = match uri.scheme_str()? {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        _ => return None,
    };
    let authority = uri.authority()?;
    let (host, port) = (authority.host(), authority.port_u16());
    let expected = match port {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    };
    // A user, an empty port, or anything else that another parser may interpret differently.
    if host.is_empty() || authority.as_str() != expected {
        return None;
    }
    Some(Destination::new(scheme, host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ambiguous_urls_are_refused() {
        let read = |text: &str| destination(&text.parse::<Uri>().expect(text));
        let plain = read("https://Example.com:8443/a?b").expect("a destination");
        assert_eq!((plain.host.as_str(), plain.port), ("example.com", 8443));
        assert_eq!(
            read("http://[::1]:80/").map(|to| to.host),
            Some("::1".into())
        );
        for odd in [
            "https://user@example.com/",
            "https://a:b@example.com/",
            "https://example.com@evil.org/",
            "https://example.com:/",
            "https://example.com:0443/",
            "ftp://example.com/",
            "/only/a/path",
        ] {
            assert_eq!(read(odd), None, "{odd}");
        }
    }
}
