//! What happens in this server, as a stream of events (`text/event-stream`): for a console, or for whoever watches from a
//! terminal. It tells what others do, so where tokens are asked for it takes an admin's.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::sse::{Event as Line, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use tokio::sync::broadcast::error::RecvError;

use super::entry::Entry;
use crate::audit::Event;

/// The stream. Whoever comes again says with `Last-Event-ID` how far it came.
pub(super) async fn events(State(entry): State<Arc<Entry>>, request: Request) -> Response {
    if let Err(answer) = entry.admin_only(&request, "the events") {
        return answer;
    }
    let known = request.headers().get("last-event-id");
    let after = known
        .and_then(|id| id.to_str().ok()?.parse().ok())
        .unwrap_or(0);
    let (recent, following) = entry.host().audit().events().watch(after);
    let ending = entry.streams_end();
    let lines = futures_util::stream::unfold(
        (recent.into_iter(), following, ending),
        |(mut recent, mut following, ending)| async move {
            if let Some(event) = recent.next() {
                return Some((line(&event), (recent, following, ending)));
            }
            loop {
                let next = tokio::select! {
                    () = ending.cancelled() => return None,
                    next = following.recv() => next,
                };
                match next {
                    Ok(event) => return Some((line(&event), (recent, following, ending))),
                    // Too slow: it goes on with what is there.
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return None,
                }
            }
        },
    );
    Sse::new(lines)
        .keep_alive(KeepAlive::default())
        .into_response()
}

fn line(event: &Event) -> Result<Line, Infallible> {
    let data = serde_json::to_string(event).unwrap_or_default();
    Ok(Line::default().id(event.number.to_string()).data(data))
}
