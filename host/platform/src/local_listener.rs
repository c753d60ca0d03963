//! Which user listens on a port of this machine. The owner's token is only sent to a server of the same user: while that
//! server is down, another user could listen on its port and receive the token.

/// Whether every process that listens on this port is run by this user. Root's are not accepted: containers and services
/// run as root. On systems other than Linux, which do not report it, this is assumed.
#[cfg(target_os = "linux")]
pub fn is_ours(port: u16) -> bool {
    let own = crate::process::user_id();
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let tables = tables.map(|table| std::fs::read_to_string(table).unwrap_or_default());
    let users = tables.iter().flat_map(|table| listeners(table, port));
    let mut users = users.peekable();
    users.peek().is_some() && users.all(|user| user == own)
}

#[cfg(not(target_os = "linux"))]
pub fn is_ours(_: u16) -> bool {
    true
}

/// The users of the sockets that listen on a port, from a table of the kernel: `sl local_address rem_address st tx:rx
/// tr:when retrnsmt uid …`, addresses and states in hexadecimal.
#[cfg(target_os = "linux")]
fn listeners(table: &str, port: u16) -> impl Iterator<Item = u32> {
    const LISTEN: &str = "0A";
    table.lines().skip(1).filter_map(move |line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (_, local) = fields.get(1)?.rsplit_once(':')?;
        let is_port = u16::from_str_radix(local, 16).ok()? == port;
        let is_listening = *fields.get(3)? == LISTEN;
        let user = fields.get(7)?.parse().ok()?;
        (is_port && is_listening).then_some(user)
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn listeners_are_attributed_to_their_user() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        assert!(is_ours(port));
        drop(listener);
        assert!(!is_ours(port));
    }

    #[test]
    fn the_user_is_read_from_the_table() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
            0: 0100007F:223D 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1001        0 1 1\n   \
            1: 0100007F:223D 0100007F:9999 01 00000000:00000000 00:00000000 00000000  1002        0 1 1\n";
        assert_eq!(listeners(table, 8765).collect::<Vec<_>>(), [1001]);
        assert_eq!(listeners(table, 8766).count(), 0);
    }
}
