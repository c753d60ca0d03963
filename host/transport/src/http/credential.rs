//! The credential of a request for as long as its response or session lasts: revoking the token or its expiry ends
//! both. Checked at every part of a response, and by a timer while nothing is sent.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use futures_util::StreamExt as _;
use http::header::CONTENT_TYPE;

use super::entry::Entry;
use notehost_policy::auth::Caller;

/// How often the credential of an open stream or session is checked.
pub(super) const CHECK_PERIOD: Duration = Duration::from_secs(1);

/// A caller and its token.
#[derive(Clone)]
pub(super) struct Credential {
    caller: Caller,
    /// `None` where no authentication is required.
    token: Option<Arc<str>>,
}

impl Credential {
    pub(super) fn new(caller: Caller, token: Option<&str>) -> Credential {
        Credential {
            caller,
            token: token.map(Arc::from),
        }
    }

    pub(super) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Whether the token still authenticates the same caller; `false` if that cannot be checked.
    pub(super) fn holds(&self, entry: &Entry) -> bool {
        let shown = entry.authenticator().caller(self.token.as_deref());
        shown.is_ok_and(|caller| caller.key() == self.caller.key())
    }

    /// Waits until the token is invalid.
    pub(super) async fn lapsed(&self, entry: &Entry) {
        loop {
            tokio::time::sleep(CHECK_PERIOD).await;
            if !self.holds(entry) {
                return;
            }
        }
    }
}

/// A response that ends with the credential of its request, if it is an event stream.
pub(super) fn bounded(answer: Response, entry: Arc<Entry>, credential: Credential) -> Response {
    let kind = answer.headers().get(CONTENT_TYPE);
    let is_stream = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    if !is_stream {
        return answer;
    }
    let (watching, checked) = (entry.clone(), credential.clone());
    let lapsed = async move { checked.lapsed(&watching).await };
    answer.map(|body| {
        let parts = body
            .into_data_stream()
            .take_while(move |_| std::future::ready(credential.holds(&entry)))
            .take_until(Box::pin(lapsed));
        Body::from_stream(parts)
    })
}
