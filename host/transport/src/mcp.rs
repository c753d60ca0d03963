//! The MCP server shared by both transports. rmcp implements the stateless and the session-based revisions; here its
//! requests become calls of `dispatch`, and changes of the set of tools become notifications.

use notehost_sdk::Code;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams,
    CompleteRequestParams, CompleteResult, CustomRequest, CustomResult, DiscoverResult, ErrorCode,
    Extensions, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
    Implementation, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, RequestStateCodec, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
    UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use tokio::runtime::Handle;
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;

use super::elicitation::{new_seal, take_arguments};
use super::lines::REFUSED;
use super::orientation::{INSTRUCTIONS, OrientedClients, instructions};
use super::panic_guard::contained;
use super::pool::here_or_in;
use super::resolve::{FLAT_SEPARATOR, Target, Unresolved, resolve};
use super::results::Repeat;
use super::subscriptions::{self, Clients};
use super::surface::Offered;
use super::tasks::{self, Tasks};
use super::{client, completion, prompts, resources, results};
use notehost_config::Surface;
use notehost_pipeline::registry::Snapshot;
use notehost_pipeline::{self as dispatch, CallError, Host, Reply, Request};
use notehost_policy::auth::{Caller, Proof, Scopes};

/// The maximum number of cached views by scopes and surface.
const MAX_PROFILES: usize = 256;

/// The server: one for stdio, one for all of HTTP. Clones are the same server.
#[derive(Clone)]
pub(super) struct Server(Arc<Shared>);

struct Shared {
    host: Arc<Host>,
    caller: Caller,
    surface: Surface,
    /// Cancelled when it is time to stop.
    closing: CancellationToken,
    offered: Mutex<Option<OfferedTo>>,
    /// Seals the state that a client carries from a question to its answer.
    sealed: RequestStateCodec,
    /// The clients that were oriented.
    oriented: OrientedClients,
    /// The tasks.
    tasks: Tasks,
    /// The session-based clients, for notifications.
    clients: Clients,
    /// The pool for long calls, if requests are read on a separate thread.
    pool: Option<Handle>,
}

/// The tools for callers with the same scopes on a surface, built once per snapshot.
struct OfferedTo {
    made_from: Arc<Snapshot>,
    by_profile: HashMap<(Scopes, Surface), Arc<Offered>>,
}

impl Server {
    /// A server for one caller, which notifies its clients of changes until `closing` is cancelled. With a pool, long
    /// calls continue there.
    pub(super) fn new(
        host: Arc<Host>,
        caller: Caller,
        surface: Surface,
        closing: CancellationToken,
        pool: Option<Handle>,
    ) -> Result<Server, getrandom::Error> {
        let server = Server(Arc::new(Shared {
            host,
            caller,
            surface,
            closing,
            offered: Mutex::default(),
            sealed: new_seal()?,
            oriented: OrientedClients::default(),
            tasks: Tasks::default(),
            clients: Clients::default(),
            pool,
        }));
        tokio::spawn(subscriptions::notify_clients(server.clone()));
        Ok(server)
    }

    /// The host.
    pub(super) fn host(&self) -> &Host {
        &self.0.host
    }

    /// The session-based clients.
    pub(super) fn clients(&self) -> &Clients {
        &self.0.clients
    }

    /// How the tools are presented to a caller.
    pub(super) fn surface_of(&self, caller: &Caller) -> Surface {
        let settings = self.0.host.settings();
        let own = settings.callers.get(caller.name());
        own.and_then(|own| own.surface).unwrap_or(self.0.surface)
    }

    /// Cancelled when it is time to stop.
    pub(super) fn closing(&self) -> &CancellationToken {
        &self.0.closing
    }

    /// What seals the state of a question.
    pub(super) fn seal(&self) -> &RequestStateCodec {
        &self.0.sealed
    }

    /// The tasks.
    pub(super) fn tasks(&self) -> &Tasks {
        &self.0.tasks
    }

    /// The result of a call; the first one of a client has the orientation.
    pub(super) async fn first_result(
        &self,
        caller: &Caller,
        context: &RequestContext<RoleServer>,
        outcome: Result<Reply, CallError>,
    ) -> CallToolResult {
        let result = results::of(outcome, self.repeat(caller, context));
        let told = &self.0.oriented;
        told.with_first_result(&self.0.host, caller, context, result)
            .await
    }

    /// The caller of a request: over HTTP the bearer of its token.
    pub(super) fn caller(&self, extensions: &Extensions) -> Caller {
        let parts = extensions.get::<http::request::Parts>();
        let caller = parts.and_then(|parts| parts.extensions.get::<Caller>());
        let caller = caller.unwrap_or(&self.0.caller).clone();
        // A client renews its signed token within a session, which is told of changes for as long as the newest holds.
        if caller.proof() == Proof::Signed {
            let session = subscriptions::session(extensions);
            self.clients().renew(&session, &caller);
        }
        caller
    }

    /// Runs one call of any tool or resource. A panic ends only this call.
    pub(super) async fn call(&self, caller: &Caller, request: Request) -> Result<Reply, CallError> {
        let (host, caller) = (self.0.host.clone(), caller.clone());
        let call = async move { contained(dispatch::call(&host, &caller, request)).await };
        let outcome = match &self.0.pool {
            Some(pool) => here_or_in(pool, call).await,
            None => Ok(call.await),
        };
        let failed = |error: JoinError| Err(error.to_string());
        outcome.unwrap_or_else(failed).unwrap_or_else(|panic| {
            tracing::error!(panic, "a call panicked in the host");
            Err(CallError::new(
                Code::InternalError,
                "internal error in the host; other calls are not affected",
            ))
        })
    }

    /// The tools visible to a caller.
    pub(super) fn offered_to(&self, caller: &Caller) -> Arc<Offered> {
        self.offered_with(self.0.host.scopes_of(caller), self.surface_of(caller))
    }

    fn offered_with(&self, scopes: Scopes, surface: Surface) -> Arc<Offered> {
        let whole = self.0.host.registry().snapshot();
        let mut offered = self
            .0
            .offered
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let current = match offered.take() {
            Some(current) if Arc::ptr_eq(&current.made_from, &whole) => current,
            _ => OfferedTo {
                made_from: whole.clone(),
                by_profile: HashMap::new(),
            },
        };
        let current = offered.insert(current);
        // Signed tokens may bring any number of scopes.
        if current.by_profile.len() >= MAX_PROFILES {
            current.by_profile.clear();
        }
        let shown = current
            .by_profile
            .entry((scopes, surface))
            .or_insert_with_key(|(scopes, surface)| {
                Arc::new(Offered::new(whole.seen_with(scopes), *surface))
            });
        shown.clone()
    }

    /// Whether long text is repeated for a caller.
    fn repeat(&self, caller: &Caller, context: &RequestContext<RoleServer>) -> Repeat {
        let client = context.client_info();
        let wanted = self.0.host.settings().long_text_of(caller.name());
        Repeat::chosen(wanted, client.as_ref().map(|client| client.name.as_str()))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_completions()
            .enable_tasks()
            .build();
        let implementation =
            Implementation::new("notehost", env!("CARGO_PKG_VERSION")).with_title("Notehost");
        ServerConfig::new(capabilities)
            .with_server_info(implementation)
            .with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut answer = self.negotiate_initialize(&request)?;
        let caller = self.caller(&context.extensions);
        answer.instructions = Some(instructions(&self.0.host, &caller).await);
        Ok(answer)
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let caller = self.caller(&context.extensions);
        let mut info = self.get_info();
        info.instructions = Some(instructions(&self.0.host, &caller).await);
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, info))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let caller = self.caller(&context.extensions);
        completion::complete(self, caller, request).await
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let caller = self.caller(&context.extensions);
        let tools = self.offered_to(&caller).tools.clone();
        Ok(ListToolsResult::with_all_items(tools))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.offered_with(Scopes::everything(), self.0.surface)
            .tools
            .iter()
            .find(|tool| tool.name == name)
            .cloned()
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.caller(&context.extensions);
        let offered = self.offered_to(&caller);
        // Arguments may be as large as a message: they are moved, and a digest stays where they are compared later.
        let asked = asked(&request, &context);
        let arguments = take_arguments(&mut request, &context);
        let outcome = match resolve(&offered, &request.name, arguments) {
            Ok(Target::Call {
                domain,
                action,
                arguments,
            }) => {
                // A cancelled request ends its guest: `dispatch` watches the token.
                let call = Request {
                    domain,
                    action,
                    arguments,
                    ..asked
                };
                return tasks::call(self, caller, request, call, context).await;
            }
            Ok(Target::Answer(reply)) => Ok(reply),
            Err(Unresolved::Refused(error)) => Err(error),
            Err(Unresolved::UnknownTool) => {
                let message = format!("unknown tool `{}`", request.name);
                let outcome = Err(CallError::new(Code::NotFound, message.clone()));
                dispatch::answered(self.host(), &caller, &asked, &outcome);
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        dispatch::answered(self.host(), &caller, &asked, &outcome);
        Ok(results::of(outcome, self.repeat(&caller, &context)).into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let caller = self.caller(&context.extensions);
        resources::list(self, &caller, cursor.as_deref(), context.ct).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let caller = self.caller(&context.extensions);
        let read = resources::read(self, &caller, &request.uri, context.ct).await?;
        Ok(read.into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let session = subscriptions::session(&context.extensions);
        let caller = self.caller(&context.extensions);
        self.clients().begin(session.clone(), context.peer, caller);
        self.clients().subscribe(&session, &request.uri)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let session = subscriptions::session(&context.extensions);
        self.clients().unsubscribe(&session, &request.uri);
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let caller = self.caller(&context.extensions);
        Ok(prompts::list(self, &caller))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let caller = self.caller(&context.extensions);
        let filled = prompts::fill(self, &caller, request, context.ct).await?;
        Ok(filled.into())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let caller = self.caller(&context.extensions);
        let task = self.tasks().look(&caller, &request)?;
        Ok(GetTaskResult::new(task))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let caller = self.caller(&context.extensions);
        self.tasks().answer(&caller, request)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let caller = self.caller(&context.extensions);
        self.tasks().cancel(&caller, &request)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let session = subscriptions::session(&context.extensions);
        let caller = self.caller(&context.extensions);
        self.clients().begin(session, context.peer, caller);
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method == REFUSED {
            let params = request.params.as_ref();
            let reason = params.and_then(|params| params["reason"].as_str());
            let data = json!({ "code": "too_large" });
            let words = reason.unwrap_or("the message is too large").to_owned();
            return Err(ErrorData::invalid_request(words, Some(data)));
        }
        if request.method != client::ACTIONS {
            let unknown = ErrorCode::METHOD_NOT_FOUND;
            return Err(ErrorData::new(unknown, request.method, None));
        }
        let caller = self.caller(&context.extensions);
        Ok(CustomResult(self.offered_to(&caller).snapshot.to_listing()))
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // rmcp takes away what our capabilities do not offer.
        Some(subscriptions::accepted(requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        subscriptions::notify_listener(self, &context).await;
        Ok(())
    }
}

/// The request as recorded when it is answered without a call: without its arguments.
fn asked(request: &CallToolRequestParams, context: &RequestContext<RoleServer>) -> Request {
    let (domain, action) = request
        .name
        .split_once(FLAT_SEPARATOR)
        .unwrap_or((&request.name, ""));
    let named = request.arguments.as_ref();
    let action = named
        .and_then(|arguments| arguments.get("action"))
        .and_then(Value::as_str)
        .unwrap_or(action);
    Request {
        domain: domain.to_owned(),
        action: action.to_owned(),
        cancelled: context.ct.clone(),
        traceparent: traceparent(context),
        progress: None,
        arguments: Map::new(),
    }
}

/// The client's trace span of a request. The message takes precedence over the header, which only describes the request
/// that carried it.
fn traceparent(context: &RequestContext<RoleServer>) -> Option<String> {
    let header = || {
        let parts = context.extensions.get::<http::request::Parts>()?;
        parts.headers.get("traceparent")?.to_str().ok()
    };
    let told = context.meta.get_traceparent().or_else(header);
    told.map(str::to_owned)
}
