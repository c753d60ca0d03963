//! Connection limits: in total, per address, and per caller. The caller of a connection is known with its first
//! authenticated request and may change with a later one, because a proxy sends the requests of many callers on one
//! connection. If there is no room for another connection, the oldest unauthenticated one is closed, so that
//! unauthenticated clients cannot lock out others.

use std::collections::{BTreeMap, HashMap};
use std::future::Ready;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::task::Context;

use axum_server::accept::Accept;
use futures_util::task::AtomicWaker;
use notehost_platform::process;
use parking_lot::{Mutex, MutexGuard};
use tokio::net::TcpStream;

use super::write_timeout::Guarded;

/// The maximum number of connections.
const MAX_CONNECTIONS: u64 = 4096;

/// File descriptors reserved for notes and records.
const RESERVED_FILES: u64 = 256;

/// Accepts connections within the limits.
#[derive(Clone)]
pub(super) struct AuthGate(Arc<Connections>);

/// The open connections.
struct Connections {
    most: usize,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    last_id: u64,
    /// By the client's end, which a request carries: no two connections that are open have the same.
    by_peer: HashMap<SocketAddr, Weak<Link>>,
    /// By id, so the oldest first.
    unauthenticated: BTreeMap<u64, Weak<Link>>,
    count: usize,
    by_address: HashMap<IpAddr, usize>,
    by_caller: HashMap<Arc<str>, usize>,
}

/// One connection, until it is dropped.
pub(super) struct Link {
    connections: Arc<Connections>,
    id: u64,
    peer: SocketAddr,
    /// The last authenticated caller.
    caller: Mutex<Option<Arc<str>>>,
    is_closed: AtomicBool,
    reader: AtomicWaker,
}

/// The caller has too many connections.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooManyOfCaller(pub(super) usize);

impl AuthGate {
    pub(super) fn new() -> AuthGate {
        AuthGate(Connections::new(max_connections()))
    }

    /// Records a request of this caller on a connection.
    pub(super) fn bind(&self, peer: SocketAddr, caller: &str) -> Result<(), TooManyOfCaller> {
        let link = self.0.lock().by_peer.get(&peer).and_then(Weak::upgrade);
        link.map_or(Ok(()), |link| link.bind(caller))
    }

    fn admit(&self, stream: TcpStream) -> io::Result<Guarded<TcpStream>> {
        let link = self.0.open(stream.peer_addr()?)?;
        // Without this a reply in several parts waits 40 ms for the client's acknowledgement.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
        Ok(Guarded::new(stream, link))
    }
}

impl<S> Accept<TcpStream, S> for AuthGate {
    type Stream = Guarded<TcpStream>;
    type Service = S;
    type Future = Ready<io::Result<(Guarded<TcpStream>, S)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        std::future::ready(self.admit(stream).map(|stream| (stream, service)))
    }
}

/// The number of connections that fit into the file limit, which is raised if possible.
fn max_connections() -> usize {
    let files = process::raise_file_limit(MAX_CONNECTIONS + RESERVED_FILES);
    let most = files
        .saturating_sub(RESERVED_FILES)
        .clamp(64, MAX_CONNECTIONS);
    usize::try_from(most).unwrap_or(usize::MAX)
}

impl Connections {
    fn new(most: usize) -> Arc<Connections> {
        Arc::new(Connections {
            most,
            held: Mutex::default(),
        })
    }

    /// The maximum per address and per caller.
    fn most_of_one(&self) -> usize {
        (self.most / 2).max(1)
    }

    fn open(self: &Arc<Connections>, peer: SocketAddr) -> io::Result<Arc<Link>> {
        let address = peer.ip().to_canonical();
        let (link, closed) = {
            let mut held = self.lock();
            let of_address = held.by_address.get(&address).copied().unwrap_or(0);
            // Everybody on this machine, and everybody behind a proxy on it, has the same address.
            if of_address >= self.most_of_one() && !address.is_loopback() {
                tracing::warn!(%address, "a connection was closed: its address holds half of all connections");
                return Err(io::Error::other("too many connections from one address"));
            }
            let mut closed = None;
            if held.count >= self.most {
                let Some((_, oldest)) = held.unauthenticated.pop_first() else {
                    tracing::warn!(
                        most = self.most,
                        "a connection was closed: there are too many"
                    );
                    return Err(io::Error::other("too many connections"));
                };
                closed = oldest.upgrade();
            }
            held.last_id += 1;
            held.count += 1;
            *held.by_address.entry(address).or_default() += 1;
            let link = Arc::new(Link::new(self, held.last_id, peer));
            held.by_peer.insert(peer, Arc::downgrade(&link));
            held.unauthenticated.insert(link.id, Arc::downgrade(&link));
            (link, closed)
        };
        // Outside of the lock: its end counts itself.
        if let Some(closed) = closed {
            tracing::debug!("a connection without authentication was closed to make room");
            closed.close();
        }
        Ok(link)
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock()
    }
}

impl Link {
    fn new(connections: &Arc<Connections>, id: u64, peer: SocketAddr) -> Link {
        Link {
            connections: connections.clone(),
            id,
            peer,
            caller: Mutex::default(),
            is_closed: AtomicBool::new(false),
            reader: AtomicWaker::new(),
        }
    }

    /// Counts it as a connection of this caller.
    fn bind(&self, caller: &str) -> Result<(), TooManyOfCaller> {
        let mut bound = self.caller.lock();
        if bound.as_deref() == Some(caller) {
            return Ok(());
        }
        let most = self.connections.most_of_one();
        let mut held = self.connections.lock();
        let caller: Arc<str> = Arc::from(caller);
        if held.by_caller.get(&caller).copied().unwrap_or(0) >= most {
            return Err(TooManyOfCaller(most));
        }
        *held.by_caller.entry(caller.clone()).or_default() += 1;
        held.unauthenticated.remove(&self.id);
        if let Some(before) = bound.replace(caller) {
            forget_one(&mut held.by_caller, &before);
        }
        Ok(())
    }

    /// Closes the connection: its next read returns the end of the stream.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        self.reader.wake();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    pub(super) fn wake_at_close(&self, context: &Context<'_>) {
        self.reader.register(context.waker());
    }

    /// A connection among no others.
    #[cfg(test)]
    pub(super) fn alone() -> Arc<Link> {
        let connections = Connections::new(1);
        let opened = connections.open(SocketAddr::from(([127, 0, 0, 1], 1)));
        opened.expect("there is room")
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let mut held = self.connections.lock();
        held.count -= 1;
        held.unauthenticated.remove(&self.id);
        forget_one(&mut held.by_address, &self.peer.ip().to_canonical());
        // The next connection from there may be open already.
        let newest = held.by_peer.get(&self.peer);
        if newest.is_some_and(|newest| newest.as_ptr() == &raw const *self) {
            held.by_peer.remove(&self.peer);
        }
        if let Some(caller) = self.caller.get_mut() {
            forget_one(&mut held.by_caller, caller);
        }
    }
}

fn forget_one<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, usize>, key: &K) {
    let Some(count) = counts.get_mut(key) else {
        return;
    };
    *count -= 1;
    if *count == 0 {
        counts.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOPBACK_ADDRESS: [u8; 4] = [127, 0, 0, 1];

    fn opened(connections: &Arc<Connections>, address: [u8; 4], count: usize) -> Vec<Arc<Link>> {
        (0..count)
            .filter_map(|_| connections.open(SocketAddr::from((address, 1))).ok())
            .collect()
    }

    #[test]
    fn connections_are_limited_per_remote_address() {
        let connections = Connections::new(10);
        let far = opened(&connections, [192, 0, 2, 1], 6);
        assert_eq!(far.len(), 5);
        assert_eq!(opened(&connections, [192, 0, 2, 2], 1).len(), 1);
        drop(far);
        let near = opened(&connections, LOOPBACK_ADDRESS, 10);
        assert_eq!(near.len(), 10);
        drop(near);
        let held = connections.lock();
        assert!(held.by_address.is_empty() && held.count == 0 && held.unauthenticated.is_empty());
        assert!(held.by_peer.is_empty());
    }

    #[test]
    fn connections_are_limited_per_caller() {
        let connections = Connections::new(10);
        let links = opened(&connections, LOOPBACK_ADDRESS, 6);
        let bound = links.iter().filter(|link| link.bind("mallory").is_ok());
        assert_eq!(bound.count(), 5);
        assert_eq!(links[5].bind("mallory"), Err(TooManyOfCaller(5)));
        links[5].bind("ana").expect("others have room");
        // A connection is the last caller's: a proxy uses one for many.
        links[0].bind("ana").expect("another caller");
        links[5].bind("mallory").expect("one was given back");
        drop(links);
        assert!(connections.lock().by_caller.is_empty());
    }

    #[test]
    fn the_oldest_unauthenticated_connection_is_evicted() {
        let connections = Connections::new(4);
        let links = opened(&connections, LOOPBACK_ADDRESS, 4);
        links[0].bind("ana").expect("room");
        let fifth = opened(&connections, LOOPBACK_ADDRESS, 1);
        assert_eq!(fifth.len(), 1);
        let closed: Vec<bool> = links.iter().map(|link| link.is_closed()).collect();
        assert_eq!(closed, [false, true, false, false]);
        for (link, caller) in links[2..].iter().chain(&fifth).zip(["a", "b", "c"]) {
            link.bind(caller).expect("room");
        }
        assert!(
            opened(&connections, LOOPBACK_ADDRESS, 1).is_empty(),
            "all are in use"
        );
    }
}
