//! The event stream of the server (`text/event-stream`), for a console or a terminal. It shows what others do, so it
//! requires the scope `admin`, also on loopback; and it shows only what the watcher's permissions allow. It ends when
//! the watcher's token does.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::sse::{Event as Line, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use super::credential::Credential;
use super::entry::Entry;
use notehost_pipeline::EventFilter;
use notehost_records::audit::{Event, EventKind};

/// The event stream. A reconnecting client sends `Last-Event-ID` to continue.
pub(super) async fn events(State(entry): State<Arc<Entry>>, request: Request) -> Response {
    let credential = match entry.admin_only(&request, "the events") {
        Ok(credential) => credential,
        Err(answer) => return answer,
    };
    let known = request.headers().get("last-event-id");
    let after = known
        .and_then(|id| id.to_str().ok()?.parse().ok())
        .unwrap_or(0);
    let (recent, following) = entry.host().audit().events().watch(after);
    let watcher = Watcher {
        ending: entry.streams_end(),
        entry,
        credential,
        recent: recent.into_iter(),
        following,
    };
    let lines = futures_util::stream::unfold(watcher, |mut watcher| async move {
        let event = watcher.next().await?;
        Some((line(&event), watcher))
    });
    Sse::new(lines)
        .keep_alive(KeepAlive::default())
        .into_response()
}

/// A watcher.
struct Watcher {
    entry: Arc<Entry>,
    credential: Credential,
    recent: std::vec::IntoIter<Arc<Event>>,
    following: Receiver<Arc<Event>>,
    ending: CancellationToken,
}

impl Watcher {
    /// The next visible event; `None` ends the stream.
    async fn next(&mut self) -> Option<Event> {
        loop {
            let event = match self.recent.next() {
                Some(event) => event,
                None => tokio::select! {
                    () = self.ending.cancelled() => return None,
                    () = self.credential.lapsed(&self.entry) => return None,
                    next = self.following.recv() => match next {
                        Ok(event) => event,
                        // Too slow: it goes on with what is there.
                        Err(RecvError::Lagged(_)) => continue,
                        Err(RecvError::Closed) => return None,
                    },
                },
            };
            let caller = self.credential.caller();
            if !self.credential.holds(&self.entry) || !self.entry.is_admin(caller) {
                return None;
            }
            if let Some(event) = self.visible(&event) {
                return Some(event);
            }
        }
    }

    /// An event filtered for this watcher: without vaults that it may not use and paths that it may not read. The text
    /// of a notice was written by its caller for watchers.
    fn visible(&self, event: &Event) -> Option<Event> {
        let mut event = event.clone();
        if let EventKind::Notice { vault, .. } = &event.what {
            let vaults = self.entry.host().vault_ids_of(self.credential.caller());
            return vaults.contains(vault).then_some(event);
        }
        if let EventKind::Call {
            vault: Some(vault),
            paths,
            ..
        } = &mut event.what
        {
            let (host, caller) = (self.entry.host(), self.credential.caller());
            if !host.vault_ids_of(caller).contains(vault) {
                return None;
            }
            let filter = EventFilter::of(host, caller);
            paths.retain(|path| filter.reaches(vault, path));
        } else if let EventKind::Call { paths, .. } = &mut event.what {
            // The owner of these paths is unknown.
            paths.clear();
        }
        Some(event)
    }
}

fn line(event: &Event) -> Result<Line, Infallible> {
    let data = serde_json::to_string(event).unwrap_or_default();
    Ok(Line::default().id(event.number.to_string()).data(data))
}
