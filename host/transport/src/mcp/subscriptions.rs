//! Notifications to clients: changed tools and prompts, created and removed notes, changes of subscribed notes.
//! Session-based clients are registered at `initialize`; stateless ones open a subscription stream. No client is
//! notified of a note that it may not read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use notehost_sdk::{fold_name, is_note};
use parking_lot::Mutex;
use rmcp::model::{
    Extensions, ResourceUpdatedNotificationParam, SubscriptionFilter, SubscriptionFilterBuilder,
};
use rmcp::service::{SubscriptionContext, SubscriptionSink};
use rmcp::{ErrorData, Peer, RoleServer};
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::{broadcast, watch};

use super::{Server, resources};
use notehost_pipeline::{Edit, EventFilter, FileEvent};
use notehost_policy::auth::Caller;
use notehost_tools::uris::ResourceUri;

/// Events within this time are sent together.
const BATCH_WINDOW: Duration = Duration::from_millis(100);

/// The timeout for sending a notification.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(5);

/// How often the token of a listener is checked while nothing happens.
const CHECK_PERIOD: Duration = Duration::from_secs(1);

/// The maximum number of subscriptions per client.
const MAX_SUBSCRIPTIONS: usize = 1000;

/// How many bytes the names may have that one listener, or all sessions of one caller together, subscribe to.
const MAX_LISTENER_BYTES: usize = 1 << 20;
const MAX_CALLER_BYTES: usize = 8 << 20;

/// The session-based clients.
#[derive(Default)]
pub(crate) struct Clients(Mutex<Vec<Client>>);

/// A session-based client.
#[derive(Clone)]
struct Client {
    session: String,
    peer: Peer<RoleServer>,
    caller: Caller,
    /// Shared with the notifications that are being sent, so that nothing is copied.
    subscribed: Arc<Subscribed>,
}

impl Clients {
    /// Registers a client, and drops disconnected ones.
    pub(crate) fn begin(&self, session: String, peer: Peer<RoleServer>, caller: Caller) {
        let mut clients = self.0.lock();
        clients.retain(|client| !client.peer.is_transport_closed());
        if !clients.iter().any(|client| client.session == session) {
            clients.push(Client {
                session,
                peer,
                caller,
                subscribed: Arc::default(),
            });
        }
    }

    /// Updates the caller of a session after another token was used.
    pub(crate) fn renew(&self, session: &str, caller: &Caller) {
        let mut clients = self.0.lock();
        let known = clients.iter_mut().find(|client| client.session == session);
        if let Some(client) = known {
            client.caller = caller.clone();
        }
    }

    /// Subscribes a client to a resource. It need not exist or be visible yet: that is checked at each event and not
    /// revealed by the response.
    pub(crate) fn subscribe(&self, session: &str, uri: &str) -> Result<(), ErrorData> {
        let Some(named) = ResourceUri::parse(uri) else {
            return Err(resources::absent(uri));
        };
        let mut clients = self.0.lock();
        let Some(at) = clients.iter().position(|known| known.session == session) else {
            return Ok(());
        };
        if clients[at].subscribed.uris.contains(uri) {
            return Ok(());
        }
        let refused = |message: String| Err(ErrorData::invalid_params(message, None));
        if clients[at].subscribed.uris.len() >= MAX_SUBSCRIPTIONS {
            return refused(format!(
                "there are already {MAX_SUBSCRIPTIONS} subscriptions"
            ));
        }
        let key = clients[at].caller.key();
        let own = clients.iter().filter(|client| client.caller.key() == key);
        let bytes: usize = own.map(|client| client.subscribed.bytes).sum();
        if bytes + uri.len() > MAX_CALLER_BYTES {
            return refused(format!(
                "the subscriptions of one caller may have {MAX_CALLER_BYTES} bytes"
            ));
        }
        Arc::make_mut(&mut clients[at].subscribed).add(uri, named);
        Ok(())
    }

    /// Removes a subscription of a client.
    pub(crate) fn unsubscribe(&self, session: &str, uri: &str) {
        let mut clients = self.0.lock();
        let known = clients.iter_mut().find(|client| client.session == session);
        if let Some(client) = known
            && client.subscribed.uris.contains(uri)
        {
            Arc::make_mut(&mut client.subscribed).remove(uri);
        }
    }

    fn live(&self) -> Vec<Client> {
        let mut clients = self.0.lock();
        clients.retain(|client| !client.peer.is_transport_closed());
        clients.clone()
    }
}

/// The session id of a session-based request; over stdio there is one session.
pub(crate) fn session(extensions: &Extensions) -> String {
    let header = || {
        let parts = extensions.get::<http::request::Parts>()?;
        parts.headers.get("mcp-session-id")?.to_str().ok()
    };
    header().unwrap_or("stdio").to_owned()
}

/// The accepted part of a requested filter: resource URIs may name anything, but only Notehost URIs are kept.
pub(crate) fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = requested.clone();
    if let Some(uris) = &mut accepted.resource_subscriptions {
        let mut bytes = 0;
        uris.retain(|uri| {
            bytes += uri.len();
            bytes <= MAX_LISTENER_BYTES && ResourceUri::parse(uri).is_some()
        });
        uris.truncate(MAX_SUBSCRIPTIONS);
    }
    accepted
}

/// Notifies session-based clients until shutdown.
pub(crate) async fn notify_clients(server: Server) {
    let mut queue = EventQueue::of(&server);
    let kinds = SubscriptionFilterBuilder::default()
        .tools_list_changed()
        .prompts_list_changed()
        .resources_list_changed()
        .build();
    while let Some(batch) = queue.next(&server).await {
        let mut clients = server.clients().live();
        clients.retain(|client| server.host().still_holds(&client.caller));
        let sends = clients.iter().map(|client| async {
            let notices = batch.for_subscriber(&server, &client.caller, &kinds, &client.subscribed);
            // A client that does not read must not delay the others.
            let _ = tokio::time::timeout(
                NOTIFY_TIMEOUT,
                notify(&Subscriber::Client(&client.peer), notices),
            )
            .await;
        });
        join_all(sends).await;
    }
}

/// Notifies one stateless listener until it cancels or shutdown.
pub(crate) async fn notify_listener(server: &Server, context: &SubscriptionContext) {
    let caller = server.caller(&context.request_context().extensions);
    let mut queue = EventQueue::of(server);
    let subscribed = Subscribed::of(context.accepted());
    loop {
        let batch = tokio::select! {
            () = context.cancelled() => return,
            () = lapsed(server, &caller) => return,
            batch = queue.next(server) => batch,
        };
        let Some(batch) = batch else { return };
        if !server.host().still_holds(&caller) {
            return;
        }
        let notices = batch.for_subscriber(server, &caller, context.accepted(), &subscribed);
        notify(&Subscriber::Listener(context.sink()), notices).await;
    }
}

/// Waits until a caller's credential is invalid.
async fn lapsed(server: &Server, caller: &Caller) {
    while server.host().still_holds(caller) {
        tokio::time::sleep(CHECK_PERIOD).await;
    }
}

/// The receiver of notifications.
enum Subscriber<'a> {
    Client(&'a Peer<RoleServer>),
    Listener(&'a SubscriptionSink),
}

/// A notification.
#[derive(Debug, PartialEq, Eq)]
enum Notice {
    Tools,
    Prompts,
    Resources,
    Updated(String),
}

async fn notify(subscriber: &Subscriber<'_>, notices: Vec<Notice>) {
    for notice in notices {
        let failed = match subscriber {
            Subscriber::Client(peer) => {
                let sent = match notice {
                    Notice::Tools => peer.notify_tool_list_changed().await,
                    Notice::Prompts => peer.notify_prompt_list_changed().await,
                    Notice::Resources => peer.notify_resource_list_changed().await,
                    Notice::Updated(uri) => {
                        let updated = ResourceUpdatedNotificationParam::new(uri);
                        peer.notify_resource_updated(updated).await
                    }
                };
                sent.err().map(|error| error.to_string())
            }
            Subscriber::Listener(sink) => {
                let sent = match notice {
                    Notice::Tools => sink.notify_tool_list_changed().await,
                    Notice::Prompts => sink.notify_prompt_list_changed().await,
                    Notice::Resources => sink.notify_resource_list_changed().await,
                    Notice::Updated(uri) => sink.notify_resource_updated(uri).await,
                };
                sent.err().map(|error| error.to_string())
            }
        };
        // A client that cannot be notified is gone, and removed at the next event.
        if let Some(error) = failed {
            tracing::debug!(error, "a client could not be notified");
        }
    }
}

/// The events that were not sent yet.
struct EventQueue {
    components: watch::Receiver<u64>,
    files: broadcast::Receiver<FileEvent>,
}

/// Events within one batch window.
#[derive(Default)]
struct Batch {
    /// Whether the loaded components changed: tools, prompts, help.
    components: bool,
    files: Vec<FileEvent>,
    /// Whether events were lost because of too many.
    is_partial: bool,
}

impl EventQueue {
    fn of(server: &Server) -> EventQueue {
        EventQueue {
            components: server.host().registry().changes(),
            files: server.host().file_events(),
        }
    }

    /// Waits for the first event and then for the batch window, so that related events are sent once.
    async fn next(&mut self, server: &Server) -> Option<Batch> {
        let mut batch = Batch::default();
        tokio::select! {
            () = server.closing().cancelled() => return None,
            changed = self.components.changed() => {
                changed.ok()?;
                batch.components = true;
            }
            happened = self.files.recv() => match happened {
                Ok(happened) => batch.files.push(happened),
                Err(RecvError::Lagged(_)) => batch.is_partial = true,
                Err(RecvError::Closed) => return None,
            },
        }
        tokio::time::sleep(BATCH_WINDOW).await;
        batch.components |= self.components.has_changed().ok()?;
        self.components.mark_unchanged();
        loop {
            match self.files.try_recv() {
                Ok(happened) => batch.files.push(happened),
                Err(TryRecvError::Lagged(_)) => batch.is_partial = true,
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        Some(batch)
    }
}

impl Batch {
    /// The notifications for one subscriber.
    fn for_subscriber(
        &self,
        server: &Server,
        caller: &Caller,
        wanted: &SubscriptionFilter,
        subscribed: &Subscribed,
    ) -> Vec<Notice> {
        let filter = EventFilter::of(server.host(), caller);
        let wants = |flag: Option<bool>| flag == Some(true);
        let mut notices = Vec::new();
        if self.components {
            notices.extend(wants(wanted.tools_list_changed).then_some(Notice::Tools));
            notices.extend(wants(wanted.prompts_list_changed).then_some(Notice::Prompts));
        }
        let edits = || {
            let files = self.files.iter();
            files.filter(|happened| filter.reaches(&happened.vault, &happened.path))
        };
        // Help is a resource too, and comes and goes with what is loaded.
        let comes_or_goes =
            self.components || self.is_partial || edits().any(|event| event.edit != Edit::Altered);
        if comes_or_goes && wants(wanted.resources_list_changed) {
            notices.push(Notice::Resources);
        }
        let mut updated: BTreeSet<&str> = edits()
            .flat_map(|happened| subscribed.to_file(&happened.vault, &happened.path))
            .collect();
        if self.is_partial {
            let visible = subscribed.files.iter();
            let visible = visible.filter(|((vault, _), names)| {
                names.iter().any(|(path, _)| filter.reaches(vault, path))
            });
            updated.extend(visible.flat_map(|(_, names)| names.iter().map(|(_, uri)| &**uri)));
        }
        if self.components {
            updated.extend(subscribed.help.iter().map(|uri| &**uri));
        }
        notices.extend(
            updated
                .into_iter()
                .map(|uri| Notice::Updated(uri.to_owned())),
        );
        notices
    }
}

/// By vault and folded path; the path and the name as they were given.
type SubscribedFiles = BTreeMap<(String, String), Vec<(String, Arc<str>)>>;

/// The subscriptions of one client, by parsed URI.
#[derive(Clone, Default)]
struct Subscribed {
    uris: BTreeSet<Arc<str>>,
    /// How long all of them are together.
    bytes: usize,
    files: SubscribedFiles,
    help: BTreeSet<Arc<str>>,
}

impl Subscribed {
    fn of(wanted: &SubscriptionFilter) -> Subscribed {
        let mut subscribed = Subscribed::default();
        for uri in wanted.resource_subscriptions.iter().flatten() {
            if let Some(named) = ResourceUri::parse(uri) {
                subscribed.add(uri, named);
            }
        }
        subscribed
    }

    fn add(&mut self, uri: &str, named: ResourceUri) {
        let uri: Arc<str> = Arc::from(uri);
        if !self.uris.insert(Arc::clone(&uri)) {
            return;
        }
        self.bytes += uri.len();
        match named {
            ResourceUri::File { vault, path } => {
                let key = (vault, folded(&path));
                self.files.entry(key).or_default().push((path, uri));
            }
            ResourceUri::Help { .. } => {
                self.help.insert(uri);
            }
        }
    }

    fn remove(&mut self, uri: &str) {
        if !self.uris.remove(uri) {
            return;
        }
        self.bytes -= uri.len();
        self.help.remove(uri);
        if let Some(ResourceUri::File { vault, path }) = ResourceUri::parse(uri) {
            let key = (vault, folded(&path));
            if let Some(names) = self.files.get_mut(&key) {
                names.retain(|(_, name)| &**name != uri);
                if names.is_empty() {
                    self.files.remove(&key);
                }
            }
        }
    }

    /// The subscribed URIs of a file.
    fn to_file(&self, vault: &str, path: &str) -> impl Iterator<Item = &str> {
        let names = self.files.get(&(vault.to_owned(), folded(path)));
        names.into_iter().flatten().map(|(_, uri)| &**uri)
    }
}

/// The normalized form of a path: without `.md`, and with equivalent spellings folded.
fn folded(path: &str) -> String {
    let folded = fold_name(path);
    match is_note(&folded) {
        true => folded[..folded.len() - ".md".len()].to_owned(),
        false => folded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(uris: Vec<String>) -> SubscriptionFilter {
        SubscriptionFilterBuilder::default()
            .resource_subscriptions(&uris)
            .build()
    }

    #[test]
    fn a_listener_subscribes_to_so_many_bytes() {
        let uris = |count: usize, length: usize| {
            let path = "a".repeat(length);
            let uris = (0..count).map(|number| format!("notehost://vault/main/{number}/{path}"));
            let accepted = accepted(&filter(uris.collect())).resource_subscriptions;
            accepted.map_or(0, |uris| uris.len())
        };
        assert_eq!(uris(2000, 100), MAX_SUBSCRIPTIONS);
        assert_eq!(uris(10, 9000), 0);
        let long = uris(900, 4000);
        assert!((200..300).contains(&long), "{long}");
    }

    #[test]
    fn what_is_unsubscribed_leaves_nothing() {
        let uris = ["notehost://vault/main/A.md", "notehost://help/document"];
        let mut subscribed = Subscribed::of(&filter(uris.map(str::to_owned).to_vec()));
        assert_eq!(subscribed.to_file("main", "a.md").count(), 1);
        assert_eq!(subscribed.bytes, uris[0].len() + uris[1].len());
        uris.iter().for_each(|uri| subscribed.remove(uri));
        assert_eq!(subscribed.to_file("main", "a.md").count(), 0);
        assert_eq!((subscribed.bytes, subscribed.help.len()), (0, 0));
    }
}
