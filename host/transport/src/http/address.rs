//! Checks of `Host` and `Origin`. A web page can have its own host name resolved to this machine (DNS rebinding); its
//! requests then carry that name in `Host`, and the page's address in `Origin`.

use std::net::{IpAddr, SocketAddr};

use http::header::{HOST, ORIGIN};
use http::uri::{Authority, Uri};
use http::{HeaderMap, StatusCode};

use notehost_config::Settings;

/// Why the address of a request is refused.
pub(super) type Wrong = (StatusCode, &'static str);

const NO_HOST: Wrong = (
    StatusCode::BAD_REQUEST,
    "the header `Host` is missing or cannot be read",
);
const OTHER_HOST: Wrong = (
    StatusCode::FORBIDDEN,
    "this server does not accept that `Host`; an admin can add it to `http.allowed_hosts`",
);
const OTHER_ORIGIN: Wrong = (
    StatusCode::FORBIDDEN,
    "requests from that `Origin` are not accepted; an admin can add it to `http.allowed_origins`",
);

/// Checks the address of a request and returns the host name used.
pub(super) fn check(
    uri: &Uri,
    headers: &HeaderMap,
    bound: SocketAddr,
    settings: &Settings,
) -> Result<Authority, Wrong> {
    let host = host(uri, headers).ok_or(NO_HOST)?;
    let name = name_of(host.host());
    if !is_ours(&name, bound) && !is_allowed_host(&name, host.port_u16(), settings) {
        return Err(OTHER_HOST);
    }
    let mut origins = headers.get_all(ORIGIN).iter();
    match (origins.next(), origins.next()) {
        (None, _) => Ok(host),
        (Some(origin), None) => {
            let origin = origin.to_str().ok().and_then(Origin::parse);
            let is_allowed = |origin: &Origin| {
                (origin.is_of_the_web() && is_ours(&origin.host, bound))
                    || settings
                        .http
                        .allowed_origins
                        .iter()
                        .any(|allowed| origin.is_allowed_by(allowed))
            };
            origin.filter(is_allowed).map(|_| host).ok_or(OTHER_ORIGIN)
        }
        (Some(_), Some(_)) => Err(OTHER_ORIGIN),
    }
}

/// The host name of a request; all its sources must agree.
fn host(uri: &Uri, headers: &HeaderMap) -> Option<Authority> {
    let mut hosts = headers.get_all(HOST).iter();
    let header: Authority = hosts.next()?.to_str().ok()?.parse().ok()?;
    let agrees = uri.authority().is_none_or(|named| *named == header);
    (hosts.next().is_none() && agrees && !header.as_str().contains('@')).then_some(header)
}

/// Accepts loopback and the bound address. When bound to all addresses any IP address is accepted: a rebound page would
/// send a name.
fn is_ours(name: &str, bound: SocketAddr) -> bool {
    if name == "localhost" {
        return true;
    }
    let address: Option<IpAddr> = name.parse().ok();
    address.is_some_and(|address| {
        address.is_loopback() || address == bound.ip() || bound.ip().is_unspecified()
    })
}

fn is_allowed_host(name: &str, port: Option<u16>, settings: &Settings) -> bool {
    let allows = |allowed: &str| {
        let allowed: Option<Authority> = allowed.parse().ok();
        allowed.is_some_and(|allowed| {
            name_of(allowed.host()) == name
                && allowed.port_u16().is_none_or(|only| Some(only) == port)
        })
    };
    let resource = settings.auth.resource.as_deref();
    let resource = resource.and_then(|url| url.parse::<Uri>().ok());
    let resource = resource.as_ref().and_then(Uri::host);
    settings.http.allowed_hosts.iter().any(|host| allows(host)) || resource.is_some_and(allows)
}

/// The normalized form of a host name.
fn name_of(host: &str) -> String {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.trim_end_matches('.').to_lowercase()
}

/// A web origin.
struct Origin {
    scheme: String,
    host: String,
    port: Option<u16>,
}

impl Origin {
    fn parse(text: &str) -> Option<Origin> {
        let (scheme, rest) = text.split_once("://")?;
        let authority: Authority = rest.parse().ok()?;
        if authority.as_str().contains('@') {
            return None;
        }
        let scheme = scheme.to_lowercase();
        let usual = match scheme.as_str() {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        };
        Some(Origin {
            host: name_of(authority.host()),
            port: authority.port_u16().or(usual),
            scheme,
        })
    }

    fn is_of_the_web(&self) -> bool {
        matches!(self.scheme.as_str(), "http" | "https")
    }

    /// An allowed origin may end with `:*` for any port.
    fn is_allowed_by(&self, allowed: &str) -> bool {
        let (allowed, any_port) = match allowed.strip_suffix(":*") {
            Some(rest) => (rest, true),
            None => (allowed.trim_end_matches('/'), false),
        };
        Origin::parse(allowed).is_some_and(|allowed| {
            allowed.scheme == self.scheme
                && allowed.host == self.host
                && (any_port || allowed.port == self.port)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOPBACK: &str = "127.0.0.1:8765";

    fn status(bound: &str, settings: &Settings, headers: &[(&'static str, &str)]) -> u16 {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().expect("a value"));
        }
        let bound = bound.parse().expect("an address");
        match check(&Uri::from_static("/mcp"), &map, bound, settings) {
            Ok(_) => 200,
            Err((status, _)) => status.as_u16(),
        }
    }

    #[test]
    fn unknown_hosts_are_refused() {
        let plain = Settings::default();
        for (host, expected) in [
            ("localhost", 200),
            ("LOCALHOST.:1", 200),
            ("127.0.0.1:8765", 200),
            ("[::1]:8765", 200),
            ("evil.example", 403),
            ("localhost.evil.example", 403),
            ("127.0.0.1.evil.example", 403),
            ("192.0.2.7", 403),
            ("localhost@evil.example", 400),
        ] {
            assert_eq!(
                status(LOOPBACK, &plain, &[("host", host)]),
                expected,
                "{host}"
            );
        }
        assert_eq!(status(LOOPBACK, &plain, &[]), 400);
        let twice = [("host", "localhost"), ("host", "evil.example")];
        assert_eq!(status(LOOPBACK, &plain, &twice), 400);
        // On all addresses an address is enough, a name is not.
        assert_eq!(status("0.0.0.0:1", &plain, &[("host", "192.0.2.7:1")]), 200);
        assert_eq!(
            status("0.0.0.0:1", &plain, &[("host", "evil.example")]),
            403
        );
    }

    #[test]
    fn settings_add_hosts_and_origins() {
        let mut settings = Settings::default();
        settings.http.allowed_hosts = vec!["notes.example.org".into(), "b.example:81".into()];
        settings.http.allowed_origins =
            vec!["https://app.example".into(), "http://dev.example:*".into()];
        settings.auth.resource = Some("https://public.example/mcp".into());
        for (host, expected) in [
            ("notes.example.org:99", 200),
            ("b.example:81", 200),
            ("b.example", 403),
            ("public.example", 200),
        ] {
            assert_eq!(
                status(LOOPBACK, &settings, &[("host", host)]),
                expected,
                "{host}"
            );
        }
        for (origin, expected) in [
            ("https://app.example", 200),
            ("https://app.example:443", 200),
            ("http://app.example", 403),
            ("https://app.example:444", 403),
            ("http://dev.example:5173", 200),
            ("http://localhost:3000", 200),
            ("https://127.0.0.1", 200),
            ("http://evil.example", 403),
            ("null", 403),
            ("chrome-extension://localhost", 403),
        ] {
            let headers = [("host", "localhost"), ("origin", origin)];
            assert_eq!(status(LOOPBACK, &settings, &headers), expected, "{origin}");
        }
    }
}
