//! Host patterns of grants and component manifests: `api.example.com`, `*.example.org`, `localhost:8080`,
//! `http://10.0.0.7:9000`, `*`.
//!
//! The default scheme is `https`, for `localhost` also `http`. The default port is that of the scheme.
//! `*.` matches one or more labels, not none. Whether the address that a name resolves to may be
//! connected to is decided in `runtime::http`; only an address or `localhost` that is listed literally can be a
//! private address.

use std::net::{IpAddr, Ipv6Addr};

/// The scheme of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Unencrypted.
    Http,
    /// Over TLS.
    Https,
}

impl Scheme {
    /// The default port.
    pub fn port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }

    /// The scheme as in a URL.
    pub fn as_str(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }
}

/// The destination of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// The scheme.
    pub scheme: Scheme,
    /// The host, in lower case; an IPv6 address without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl Destination {
    /// Creates a destination from the parts of a URL.
    pub fn new(scheme: Scheme, host: &str, port: Option<u16>) -> Destination {
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        Destination {
            scheme,
            host: bare.unwrap_or(host).to_ascii_lowercase(),
            port: port.unwrap_or(scheme.port()),
        }
    }

    /// The host as an IP address, if it is one.
    pub fn address(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }

    /// The value of the `Host` header.
    pub fn authority(&self) -> String {
        let host = match self.host.parse::<Ipv6Addr>() {
            Ok(address) => format!("[{address}]"),
            Err(_) => self.host.clone(),
        };
        match self.port == self.scheme.port() {
            true => host,
            false => format!("{host}:{}", self.port),
        }
    }
}

impl std::fmt::Display for Destination {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}://{}", self.scheme.as_str(), self.authority())
    }
}

/// A pattern that matches one or more hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern {
    scheme: Option<Scheme>,
    host: Host,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    Any,
    /// Names with this suffix, which begins with a dot.
    Below(String),
    Name(String),
    Address(IpAddr),
}

const LOCAL: &str = "localhost";

impl HostPattern {
    /// Parses a pattern; the error is the reason why it is invalid.
    pub fn parse(text: &str) -> Result<HostPattern, String> {
        let (scheme, rest) = match text.split_once("://") {
            None => (None, text),
            Some(("http", rest)) => (Some(Scheme::Http), rest),
            Some(("https", rest)) => (Some(Scheme::Https), rest),
            Some((other, _)) => {
                return Err(format!(
                    "unsupported scheme `{other}`: expected `http` or `https`"
                ));
            }
        };
        if rest.contains(['/', '?', '#']) {
            return Err("a host must not have a path".into());
        }
        if rest.contains('@') {
            return Err("a host must not have a user".into());
        }
        let (host, port) = split_port(rest)?;
        let host = host.to_ascii_lowercase();
        let host = if host == "*" {
            Host::Any
        } else if let Some(below) = host.strip_prefix("*.") {
            check_name(below)?;
            Host::Below(format!(".{below}"))
        } else if let Ok(address) = host.trim_matches(['[', ']']).parse() {
            Host::Address(address)
        } else {
            check_name(&host)?;
            Host::Name(host)
        };
        Ok(HostPattern { scheme, host, port })
    }

    /// Whether the pattern matches a destination.
    pub fn covers(&self, to: &Destination) -> bool {
        let host = match &self.host {
            Host::Any => true,
            Host::Below(end) => to.host.len() > end.len() && to.host.ends_with(end),
            Host::Name(name) => to.host == *name,
            Host::Address(address) => to.address() == Some(*address),
        };
        let scheme = match self.scheme {
            Some(scheme) => to.scheme == scheme,
            None => to.scheme == Scheme::Https || self.is_this_machine(),
        };
        host && scheme && to.port == self.port.unwrap_or(to.scheme.port())
    }

    /// Whether it matches every host, with every scheme and port: a manifest that leaves the choice to the admin.
    pub fn matches_everything(&self) -> bool {
        self.host == Host::Any && self.scheme.is_none() && self.port.is_none()
    }

    /// Whether it is a literal address or `localhost`: only then may it be a private address.
    pub fn is_literal(&self) -> bool {
        match &self.host {
            Host::Address(_) => true,
            Host::Name(name) => name == LOCAL,
            Host::Any | Host::Below(_) => false,
        }
    }

    fn is_this_machine(&self) -> bool {
        match &self.host {
            Host::Address(address) => address.is_loopback(),
            Host::Name(name) => name == LOCAL,
            Host::Any | Host::Below(_) => false,
        }
    }
}

fn split_port(text: &str) -> Result<(&str, Option<u16>), String> {
    // The colons of a bare IPv6 address do not separate a port.
    if text.parse::<Ipv6Addr>().is_ok() {
        return Ok((text, None));
    }
    let Some((host, port)) = text
        .rsplit_once(':')
        .filter(|(_, port)| !port.contains(']'))
    else {
        return Ok((text, None));
    };
    match port.parse() {
        Ok(0) | Err(_) => Err(format!("invalid port `{port}`")),
        Ok(port) => Ok((host, Some(port))),
    }
}

fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("the host is empty".into());
    }
    if name.contains('*') {
        return Err("`*` must be alone or the first label: `*.example.org`".into());
    }
    if !name.is_ascii() {
        return Err("write international names in their ASCII form (`xn--…`)".into());
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let is_label = |label: &str| (1..=63).contains(&label.len()) && label.bytes().all(plain);
    if name.len() > 253 || !name.split('.').all(is_label) {
        return Err("a host must be a name such as `api.example.com` or an IP address".into());
    }
    // Some parsers read `127.1` and `0x7f.1` as addresses, others as names.
    let last = name.rsplit('.').next().unwrap_or_default();
    if last
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_digit())
    {
        return Err("an IP address must be written in full: `127.0.0.1`".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(url: &str) -> Destination {
        let (scheme, rest) = url.split_once("://").expect("a URL");
        let scheme = match scheme {
            "http" => Scheme::Http,
            _ => Scheme::Https,
        };
        let (host, port) = split_port(rest).expect("a host");
        Destination::new(scheme, host, port)
    }

    #[test]
    fn a_pattern_matches_exactly_its_hosts() {
        for (pattern, covered, not) in [
            (
                "api.example.com",
                &["https://api.example.com", "https://API.Example.COM:443"][..],
                &[
                    "http://api.example.com",
                    "https://api.example.com:8443",
                    "https://example.com",
                    "https://api.example.com.evil.org",
                    "https://xapi.example.com",
                    "https://api.example.com.",
                ][..],
            ),
            (
                "*.example.org",
                &["https://a.example.org", "https://a.b.example.org"],
                &[
                    "https://example.org",
                    "https://aexample.org",
                    "https://.example.org",
                ],
            ),
            (
                "localhost:8080",
                &["http://localhost:8080", "https://localhost:8080"],
                &["http://localhost", "http://127.0.0.1:8080"],
            ),
            (
                "http://example.com",
                &["http://example.com"],
                &["https://example.com", "http://example.com:8080"],
            ),
            (
                "[::1]:9000",
                &["http://[::1]:9000", "http://[0:0::1]:9000"],
                &["http://[::ffff:127.0.0.1]:9000", "http://localhost:9000"],
            ),
            (
                "192.168.0.7",
                &["https://192.168.0.7"],
                &["http://192.168.0.7", "https://192.168.0.70"],
            ),
            (
                "*",
                &["https://example.com", "https://10.0.0.1"],
                &["http://example.com", "https://example.com:444"],
            ),
            (
                "http://*:9000",
                &["http://example.com:9000"],
                &["https://example.com:9000"],
            ),
        ] {
            let parsed = HostPattern::parse(pattern).expect(pattern);
            for url in covered {
                assert!(parsed.covers(&to(url)), "`{pattern}` covers {url}");
            }
            for url in not {
                assert!(!parsed.covers(&to(url)), "`{pattern}` does not cover {url}");
            }
        }
    }

    #[test]
    fn only_literal_hosts_can_be_private() {
        for (pattern, literal) in [
            ("localhost", true),
            ("127.0.0.1:80", true),
            ("http://[fd00::1]", true),
            ("*", false),
            ("*.localhost", false),
            ("intranet", false),
        ] {
            let parsed = HostPattern::parse(pattern).expect(pattern);
            assert_eq!(parsed.is_literal(), literal, "{pattern}");
        }
        let anything =
            |text| HostPattern::parse(text).is_ok_and(|parsed| parsed.matches_everything());
        assert!(anything("*") && !anything("http://*") && !anything("*:80"));
    }

    #[test]
    fn invalid_host_patterns_are_refused() {
        for (text, expected) in [
            ("", "host is empty"),
            ("ftp://example.com", "scheme `ftp`"),
            ("https://example.com/path", "must not have a path"),
            ("https://user@example.com", "must not have a user"),
            ("example.com:http", "invalid port"),
            ("example.com:0", "invalid port"),
            ("exa mple.com", "a name such as"),
            ("a*.example.com", "must be alone"),
            ("*.*.example.com", "must be alone"),
            ("*.", "host is empty"),
            ("müller.example", "ASCII form"),
            ("127.1", "written in full"),
            ("0x7f000001", "written in full"),
            ("example..com", "a name such as"),
        ] {
            let reason = HostPattern::parse(text).expect_err(text);
            assert!(reason.contains(expected), "{text}: {reason}");
        }
    }

    #[test]
    fn the_host_header_comes_from_the_checked_destination() {
        assert_eq!(to("https://Example.com:443").authority(), "example.com");
        assert_eq!(to("http://[::1]:81").authority(), "[::1]:81");
        assert_eq!(to("http://a.b:443").to_string(), "http://a.b:443");
    }
}
