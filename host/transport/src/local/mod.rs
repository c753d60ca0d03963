//! The local socket of the process that holds vaults: every other program of the same user reaches them here. After the
//! handshake (crate `relay`) a connection carries MCP as stdio does, for a caller with the settings of its own session.

mod callers;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notehost_platform::local_socket::{Detached, LocalListener, LocalStream};
use notehost_relay::{
    Compatibility, Hello, Refusal, ServedVault, Welcome, greet, socket_of, vault_key,
};
use tokio::runtime::{Builder, Handle};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use self::callers::LocalSession;
use crate::TransportError;
use crate::mcp::Server;
use crate::stdio::{CLOSE_GRACE, Wire, grace, serve_wire};
use notehost_pipeline::Host;

pub(crate) use self::callers::LocalSession as Local;

/// How many programs may be connected at once.
const MAX_SESSIONS: u32 = 64;
/// How long the calls of other programs may take when this process stops: they are sent again to the next one.
const HAND_OVER: Duration = Duration::from_secs(3);
/// How long the wait for them may take altogether.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a failing listener rests.
const ACCEPT_DELAY: Duration = Duration::from_millis(200);

/// The sessions of other programs on the vaults of this process.
pub struct LocalSessions {
    closing: CancellationToken,
    room: Arc<Semaphore>,
    sockets: Vec<PathBuf>,
}

impl LocalSessions {
    /// Listens for the programs of this user. The host holds the vaults, so nobody else listens for them.
    pub fn listen(host: &Arc<Host>) -> io::Result<LocalSessions> {
        let mut served = Vec::new();
        for vault in &host.settings().vaults {
            served.push(ServedVault {
                id: vault.id.clone(),
                key: vault_key(&vault.path)?,
            });
        }
        let served: Arc<[ServedVault]> = served.into();
        let mut sessions = LocalSessions {
            closing: CancellationToken::new(),
            room: Arc::new(Semaphore::new(MAX_SESSIONS as usize)),
            sockets: Vec::new(),
        };
        for vault in &*served {
            let socket = socket_of(host.state(), &vault.key)?;
            let listener = LocalListener::bind(&socket)?;
            sessions.sockets.push(socket);
            let acceptor = Acceptor {
                host: host.clone(),
                served: served.clone(),
                closing: sessions.closing.clone(),
                room: sessions.room.clone(),
            };
            tokio::spawn(acceptor.accept_all(listener));
        }
        Ok(sessions)
    }

    /// Ends the sessions: calls in flight are finished, as far as they are quick. Called while the host still holds the
    /// vaults, so that the sockets that are removed are its own.
    pub async fn close(self) {
        for socket in &self.sockets {
            remove(socket);
        }
        self.closing.cancel();
        let ended = self.room.acquire_many(MAX_SESSIONS);
        if tokio::time::timeout(CLOSE_TIMEOUT, ended).await.is_err() {
            tracing::warn!("stopping with sessions of other programs open");
        }
    }
}

fn remove(socket: &Path) {
    if let Err(error) = std::fs::remove_file(socket)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!("the local socket cannot be removed: {error}");
    }
}

#[derive(Clone)]
struct Acceptor {
    host: Arc<Host>,
    served: Arc<[ServedVault]>,
    closing: CancellationToken,
    room: Arc<Semaphore>,
}

impl Acceptor {
    async fn accept_all(self, listener: LocalListener) {
        loop {
            let accepted = tokio::select! {
                () = self.closing.cancelled() => return,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok(stream) => match self.room.clone().try_acquire_owned() {
                    Ok(permit) => drop(tokio::spawn(self.clone().serve(stream, permit))),
                    Err(_) => tracing::warn!(
                        "a program was not connected: there are already {MAX_SESSIONS}"
                    ),
                },
                Err(error) => {
                    tracing::warn!("the local socket cannot accept a connection: {error}");
                    tokio::time::sleep(ACCEPT_DELAY).await;
                }
            }
        }
    }

    async fn serve(self, stream: LocalStream, permit: OwnedSemaphorePermit) {
        let mut session = None;
        let decide = |hello: &Hello| {
            let (opened, welcome) = self.open(hello)?;
            session = Some(opened);
            Ok(welcome)
        };
        let greeted = tokio::select! {
            () = self.closing.cancelled() => return,
            greeted = greet(stream, decide) => greeted,
        };
        let (hello, stream) = match greeted {
            Ok(Some(greeted)) => greeted,
            Ok(None) => return,
            Err(error) => {
                tracing::debug!("a connection to the local socket ended in its handshake: {error}");
                return;
            }
        };
        let Some(session) = session else { return };
        tracing::info!(
            process = hello.compatibility.process,
            "another program is connected"
        );
        let ended = Detached::of(stream).map(|stream| self.run(session, stream));
        let ended = match ended {
            Ok(running) => running.await,
            Err(error) => Err(error.into()),
        };
        if let Err(error) = ended {
            tracing::info!("the session of another program ended: {error}");
        }
        drop(permit);
    }

    /// Serves a session on a thread of its own, as stdio is.
    async fn run(&self, session: LocalSession, stream: Detached) -> Result<(), TransportError> {
        let (host, pool) = (self.host.clone(), Handle::current());
        let closing = self.closing.child_token();
        let serving = tokio::task::spawn_blocking(move || {
            let thread = Builder::new_current_thread().enable_all().build()?;
            let served = thread.block_on(async {
                let (input, output) = stream.attach()?;
                let wire = Wire {
                    input,
                    output,
                    grace: grace(&host),
                    grace_at_shutdown: HAND_OVER,
                };
                let (caller, surface) = (session.caller.clone(), session.surface);
                let server = Server::new(
                    host,
                    caller.clone(),
                    surface,
                    closing.clone(),
                    Some(pool),
                    Some(session),
                )?;
                serve_wire(server, caller, closing, wire).await
            });
            thread.shutdown_timeout(CLOSE_GRACE);
            served
        });
        serving.await.map_err(io::Error::other)?
    }

    /// Opens the session of a program, or says why not.
    fn open(&self, hello: &Hello) -> Result<(LocalSession, Welcome), Refusal> {
        let session = LocalSession::open(&self.host, hello, &self.served)?;
        let mut notes = Vec::new();
        let process = std::process::id();
        let settings = self.host.settings();
        let contradictions = hello.contradictions(&settings);
        if !contradictions.is_empty() {
            let names: Vec<String> = contradictions
                .iter()
                .map(|name| format!("`{name}`"))
                .collect();
            notes.push(format!(
                "process {process} serves this vault, so its config decides {}, where yours differs",
                names.join(", ")
            ));
        }
        for (own, id) in &session.vault_ids {
            if own != id {
                notes.push(format!(
                    "process {process} serves this vault as `{id}`: use that id instead of `{own}`"
                ));
            }
        }
        let welcome = Welcome {
            compatibility: Compatibility::own(),
            vaults: session.vault_ids.clone(),
            notes,
        };
        Ok((session, welcome))
    }
}
