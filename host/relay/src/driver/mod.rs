//! Moves lines between a client and the holder of its vault, and to the next holder when the connection ends. Each direction
//! has a loop of its own: neither waits because the other end of the other one does not read.

use std::io;
use std::pin::pin;
use std::time::{Duration, Instant};

use notehost_platform::stdio::{Input, Output};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;

use crate::lines::Lines;
use crate::session::Session;

/// The longest line that is read as a whole. A longer one is passed on in pieces; the holder refuses it.
const MAX_LINE_BYTES: usize = 40 << 20;
/// How long the answers of a holder that does not read any more are awaited.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// A holder that goes sooner after a connection may go again for the same reason: so often, with a pause before each further
/// connection, before the session gives up.
const QUICK_END: Duration = Duration::from_secs(1);
const MAX_QUICK_ENDS: u32 = 40;
const RECONNECT_DELAY: Duration = Duration::from_millis(50);

/// A connection to a holder.
pub struct Connection {
    /// Lines of the holder.
    pub input: Input,
    /// Lines for the holder.
    pub output: Output,
}

/// Finds the holder, or takes its place.
pub trait Connect {
    /// A connection to the holder. An error if there will be none.
    fn connect(&mut self) -> impl Future<Output = Result<Connection, RelayError>>;
}

/// Why a session ended without its client's wish.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// No holder can be reached.
    #[error("{message}")]
    NoHolder {
        /// Why.
        message: String,
        /// What a person can do.
        hint: Option<String>,
    },
    /// A stream of the client failed.
    #[error("relaying failed: {0}")]
    Io(#[from] io::Error),
}

/// How the work with one holder ended.
enum End {
    /// The client has gone, and everything was answered.
    Client,
    /// The holder has gone.
    Holder,
}

/// Relays until the client closes its input or `stop` completes, and its requests are answered or `grace` is over.
/// `updates` are lines for the holder that are not the client's.
pub async fn relay(
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
    stop: impl Future<Output = ()>,
    mut updates: mpsc::Receiver<Vec<u8>>,
    grace: Duration,
    connector: &mut impl Connect,
) -> Result<(), RelayError> {
    let shared = Shared::default();
    let mut client = ClientLines {
        lines: Lines::new(input, MAX_LINE_BYTES),
        has_ended: false,
        is_in_line: false,
    };
    let mut output = Outgoing::new(output);
    let mut stop = pin!(stop);
    let mut is_continued = false;
    let mut quick_ends = 0;
    loop {
        let connected = tokio::select! {
            biased;
            () = &mut stop => {
                let lines = shared.session.lock().fail("stopped while no process served the vault");
                lines.iter().for_each(|line| output.push(line));
                output.flush().await?;
                return Ok(());
            }
            connected = connector.connect() => connected,
        };
        let connected = match connected {
            Ok(_) if quick_ends > MAX_QUICK_ENDS => Err(RelayError::NoHolder {
                message: "the process that serves the vault closes every connection".to_owned(),
                hint: Some("its log says why; restart it".to_owned()),
            }),
            connected => connected,
        };
        let connection = match connected {
            Ok(connection) => connection,
            Err(error) => {
                for line in shared.session.lock().fail(&error.to_string()) {
                    output.push(&line);
                }
                output.flush().await?;
                return Err(error);
            }
        };
        let began = Instant::now();
        let mut holder = Lines::new(connection.input, MAX_LINE_BYTES);
        let replay = {
            let mut session = shared.session.lock();
            if is_continued {
                session.news().iter().for_each(|line| output.push(line));
            }
            session.connected()
        };
        is_continued = true;
        let end = {
            let down = pin!(to_client(&shared, &mut holder, &mut output));
            let up = pin!(to_holder(
                &shared,
                replay,
                &mut client,
                stop.as_mut(),
                &mut updates,
                grace,
                connection.output
            ));
            both(up, down).await?
        };
        if matches!(end, End::Client) {
            output.flush().await?;
            return Ok(());
        }
        {
            let mut session = shared.session.lock();
            let lines = [session.disconnected(), session.fail_often_sent()];
            lines.iter().flatten().for_each(|line| output.push(line));
        }
        tracing::info!("the connection to the process that serves the vault has ended");
        match began.elapsed() < QUICK_END {
            true => quick_ends += 1,
            false => quick_ends = 0,
        }
        if quick_ends > 1 {
            tokio::time::sleep(RECONNECT_DELAY * quick_ends.min(10)).await;
        }
    }
}

/// Runs both directions until one ends. What a holder answered before it went is still passed on.
async fn both(
    mut up: impl Future<Output = io::Result<End>> + Unpin,
    mut down: impl Future<Output = io::Result<End>> + Unpin,
) -> io::Result<End> {
    let ended = tokio::select! {
        ended = &mut up => ended?,
        ended = &mut down => return ended,
    };
    if matches!(ended, End::Holder) {
        return match timeout(LAST_ANSWERS, down).await {
            Ok(ended) => ended,
            Err(_) => Ok(End::Holder),
        };
    }
    Ok(ended)
}

/// The session, and the signal that something was answered.
#[derive(Default)]
struct Shared {
    session: Mutex<Session>,
    answered: Notify,
}

struct ClientLines<R> {
    lines: Lines<R>,
    has_ended: bool,
    /// Whether the last piece was not the end of its line.
    is_in_line: bool,
}

async fn to_holder(
    shared: &Shared,
    replay: Vec<Vec<u8>>,
    client: &mut ClientLines<impl AsyncRead + Unpin>,
    mut stop: std::pin::Pin<&mut impl Future<Output = ()>>,
    updates: &mut mpsc::Receiver<Vec<u8>>,
    grace: Duration,
    mut output: Output,
) -> io::Result<End> {
    for line in replay {
        if output.write_all(&line).await.is_err() {
            return Ok(End::Holder);
        }
    }
    while !client.has_ended {
        let answered = shared.answered.notified();
        if !shared.session.lock().has_room() {
            tokio::select! {
                biased;
                () = &mut stop => client.has_ended = true,
                () = answered => {}
            }
            continue;
        }
        let line = tokio::select! {
            biased;
            () = &mut stop => {
                client.has_ended = true;
                break;
            }
            Some(update) = updates.recv(), if !client.is_in_line => Some(update),
            line = client.lines.next() => match line? {
                None => {
                    client.has_ended = true;
                    break;
                }
                Some(line) => {
                    let is_rest = client.is_in_line;
                    client.is_in_line = !line.ends_with(b"\n");
                    match is_rest || client.is_in_line {
                        true => Some(line),
                        false => shared.session.lock().from_client(line),
                    }
                }
            },
        };
        if let Some(line) = line
            && output.write_all(&line).await.is_err()
        {
            return Ok(End::Holder);
        }
    }
    let idle = async {
        loop {
            let answered = shared.answered.notified();
            if shared.session.lock().is_idle() {
                return;
            }
            answered.await;
        }
    };
    if timeout(grace, idle).await.is_err() {
        tracing::warn!("stopping with requests unanswered");
    }
    Ok(End::Client)
}

async fn to_client(
    shared: &Shared,
    holder: &mut Lines<Input>,
    output: &mut Outgoing<impl AsyncWrite + Unpin>,
) -> io::Result<End> {
    loop {
        output.flush().await?;
        // A connection that breaks is one that ends.
        let Ok(Some(line)) = holder.next().await else {
            return Ok(End::Holder);
        };
        let line = shared.session.lock().from_holder(line);
        if let Some(line) = line {
            output.push(&line);
            output.flush().await?;
        }
        shared.answered.notify_waiters();
    }
}

/// A stream whose writes may be interrupted: the rest is written by the next flush.
struct Outgoing<W> {
    output: W,
    buffer: Vec<u8>,
    written: usize,
}

impl<W: AsyncWrite + Unpin> Outgoing<W> {
    fn new(output: W) -> Outgoing<W> {
        Outgoing {
            output,
            buffer: Vec::new(),
            written: 0,
        }
    }

    fn push(&mut self, line: &[u8]) {
        self.buffer.extend_from_slice(line);
    }

    async fn flush(&mut self) -> io::Result<()> {
        /// A buffer that a long line made larger than this is not kept.
        const MAX_KEPT_BUFFER: usize = 1 << 20;
        while self.written < self.buffer.len() {
            let written = self.output.write(&self.buffer[self.written..]).await?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            self.written += written;
        }
        self.written = 0;
        self.buffer.clear();
        if self.buffer.capacity() > MAX_KEPT_BUFFER {
            self.buffer = Vec::new();
        }
        self.output.flush().await
    }
}

#[cfg(test)]
mod tests;
