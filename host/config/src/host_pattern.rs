//! Hosts as an admin or a component's manifest names them: `api.example.com`, `*.example.org`, `localhost:8080`,
//! `http://10.0.0.7:9000`, `*`.
//!
//! Without a scheme it is `https`, and for this machine itself also `http`. Without a port it is the scheme's own.
//! `*.` stands for one name or several before the rest, not for none. Whether an address behind a name may be
//! connected to is asked elsewhere; only an address or `localhost` that is named here in so many letters can be a
//! private one.

use std::net::{IpAddr, Ipv6Addr};

/// The two kinds of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// In the clear.
    Http,
    /// Over TLS.
    Https,
}

impl Scheme {
    /// The port where nothing names one.
    pub fn port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }

    /// As it stands in a URL.
    pub fn word(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }
}

/// Where a request is to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// How.
    pub scheme: Scheme,
    /// The host, in lower case; an IPv6 address without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl Destination {
    /// A destination by the parts of a URL.
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

    /// The address, where the host is one.
    pub fn address(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }

    /// As the `Host` header has it.
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
        write!(out, "{}://{}", self.scheme.word(), self.authority())
    }
}

/// One or several hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern {
    scheme: Option<Scheme>,
    host: Host,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    Any,
    /// Names that end with this, which begins with a dot.
    Below(String),
    Name(String),
    Address(IpAddr),
}

const LOCAL: &str = "localhost";

impl HostPattern {
    /// Read what an admin or a manifest wrote; the error tells what is wrong with it.
    pub fn parse(text: &str) -> Result<HostPattern, String> {
        let (scheme, rest) = match text.split_once("://") {
            None => (None, text),
            Some(("http", rest)) => (Some(Scheme::Http), rest),
            Some(("https", rest)) => (Some(Scheme::Https), rest),
            Some((other, _)) => {
                return Err(format!("requests go over http or https, not `{other}`"));
            }
        };
        if rest.contains(['/', '?', '#']) {
            return Err("a host has no path".into());
        }
        if rest.contains('@') {
            return Err("a host has no user".into());
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

    /// Whether a destination is one of these.
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

    /// Whether it names any host, in any way: what a manifest says that leaves the choice to the admin.
    pub fn is_anything(&self) -> bool {
        self.host == Host::Any && self.scheme.is_none() && self.port.is_none()
    }

    /// Whether it names one address, or this machine, in so many letters: then it may be a private one.
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
    // The colons of a bare IPv6 address are none of a port's.
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
        Ok(0) | Err(_) => Err(format!("`{port}` is no port")),
        Ok(port) => Ok((host, Some(port))),
    }
}

fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("it names no host".into());
    }
    if name.contains('*') {
        return Err("`*` stands alone or in front: `*.example.org`".into());
    }
    if !name.is_ascii() {
        return Err("write the name in its ASCII form, which begins with `xn--`".into());
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let is_label = |label: &str| (1..=63).contains(&label.len()) && label.bytes().all(plain);
    if name.len() > 253 || !name.split('.').all(is_label) {
        return Err("a host is a name such as `api.example.com` or an address".into());
    }
    // `127.1` and `0x7f.1` are addresses to some readers and names to others.
    let last = name.rsplit('.').next().unwrap_or_default();
    if last
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_digit())
    {
        return Err("an address is written out: `127.0.0.1`".into());
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
    fn a_pattern_covers_what_it_says_and_no_more() {
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
    fn only_what_is_spelt_out_can_be_private() {
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
        let anything = |text| HostPattern::parse(text).is_ok_and(|parsed| parsed.is_anything());
        assert!(anything("*") && !anything("http://*") && !anything("*:80"));
    }

    #[test]
    fn what_can_mean_no_host_is_refused() {
        for (text, told) in [
            ("", "names no host"),
            ("ftp://example.com", "not `ftp`"),
            ("https://example.com/path", "no path"),
            ("https://user@example.com", "no user"),
            ("example.com:http", "no port"),
            ("example.com:0", "no port"),
            ("exa mple.com", "a name such as"),
            ("a*.example.com", "stands alone"),
            ("*.*.example.com", "stands alone"),
            ("*.", "names no host"),
            ("müller.example", "ASCII form"),
            ("127.1", "written out"),
            ("0x7f000001", "written out"),
            ("example..com", "a name such as"),
        ] {
            let reason = HostPattern::parse(text).expect_err(text);
            assert!(reason.contains(told), "{text}: {reason}");
        }
    }

    #[test]
    fn the_host_header_is_made_from_what_was_checked() {
        assert_eq!(to("https://Example.com:443").authority(), "example.com");
        assert_eq!(to("http://[::1]:81").authority(), "[::1]:81");
        assert_eq!(to("http://a.b:443").to_string(), "http://a.b:443");
    }
}
