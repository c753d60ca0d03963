//! Parses the address of `--http`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The default address of `--http`.
pub const DEFAULT_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8765);

/// Parses an address with or without a port, a port alone, or `localhost`. Whether other machines may reach it is decided
/// in `transport`, because it depends on authentication.
pub fn parse_address(text: &str) -> Result<SocketAddr, String> {
    read(text).ok_or_else(|| {
        format!(
            "invalid address `{text}`: expected `127.0.0.1:8765`, `localhost`, `[::1]:8765` or a port"
        )
    })
}

fn read(text: &str) -> Option<SocketAddr> {
    let text = text.trim();
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    if let Ok(host) = text
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse::<Ipv6Addr>()
    {
        return Some(SocketAddr::new(host.into(), DEFAULT_ADDRESS.port()));
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) => (host, port.parse().ok()?),
        None => match text.parse() {
            Ok(port) => ("", port),
            Err(_) => (text, DEFAULT_ADDRESS.port()),
        },
    };
    let host = match host {
        "" | "localhost" => IpAddr::V4(Ipv4Addr::LOCALHOST),
        host => host.parse().ok()?,
    };
    Some(SocketAddr::new(host, port))
}

#[cfg(test)]
mod tests {
    use super::parse_address;

    #[test]
    fn omitted_parts_get_their_default() {
        for (text, address) in [
            ("127.0.0.1", "127.0.0.1:8765"),
            ("127.0.0.1:9000", "127.0.0.1:9000"),
            ("localhost", "127.0.0.1:8765"),
            ("localhost:1", "127.0.0.1:1"),
            (":9000", "127.0.0.1:9000"),
            ("9000", "127.0.0.1:9000"),
            ("::1", "[::1]:8765"),
            ("[::1]", "[::1]:8765"),
            ("[::1]:80", "[::1]:80"),
            ("0.0.0.0:9000", "0.0.0.0:9000"),
        ] {
            assert_eq!(parse_address(text).expect(text).to_string(), address);
        }
    }

    #[test]
    fn a_folder_is_not_an_address() {
        assert!(parse_address("~/notes").is_err());
        assert!(parse_address("127.0.0.1:99999").is_err());
    }
}
