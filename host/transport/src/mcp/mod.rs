//! The MCP server shared by both transports. rmcp implements the stateless and the session-based revisions; here its
//! requests become calls of `dispatch`, and changes of the set of tools become notifications.

mod call_names;
mod completion;
mod elicitation;
mod orientation;
mod progress;
mod prompts;
mod resources;
mod results;
mod subscriptions;
mod tasks;
mod tool_call;
mod tool_lists;

use std::io;
use std::sync::Arc;

use notehost_sdk::Code;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams,
    CompleteRequestParams, CompleteResult, CustomNotification, CustomRequest, CustomResult,
    DiscoverResult, ErrorCode, Extensions, GetPromptRequestParams, GetPromptResponse,
    GetTaskParams, GetTaskResult, Implementation, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, RequestStateCodec,
    ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;

use self::call_names::named_request;
use self::elicitation::{open_seal, take_arguments};
use self::orientation::{INSTRUCTIONS, OrientedClients, instructions};
use self::results::Repeat;
use self::subscriptions::Clients;
use self::tasks::Tasks;
use self::tool_call::ToolCall;
use self::tool_lists::{ToolList, ToolLists};
use crate::limits::panic_guard::contained;
use crate::limits::pool::here_or_in;
use crate::local::Local;
use crate::stdio::lines::REFUSED;
use notehost_config::Surface;
use notehost_pipeline::{self as dispatch, CallError, Host, Reply, Request};
use notehost_policy::auth::{Caller, Entrance, Proof, Scopes};
use notehost_relay::{CALL_KEY, SETTINGS_METHOD};
use notehost_tools::{Target, Unresolved, resolve};

/// The request for all actions visible to a caller, from which the command line of another machine makes flags. The
/// crate `client` sends it.
const ACTIONS_METHOD: &str = "notehost/actions";

/// The server: one for stdio, one for all of HTTP. Clones are the same server.
#[derive(Clone)]
pub(crate) struct Server(Arc<Shared>);

struct Shared {
    host: Arc<Host>,
    caller: Caller,
    surface: Surface,
    /// Cancelled when it is time to stop.
    closing: CancellationToken,
    tool_lists: ToolLists,
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
    /// The session of another program, if this server is for one.
    local: Option<Local>,
}

impl Server {
    /// A server for one caller, which notifies its clients of changes until `closing` is cancelled. With a pool, long
    /// calls continue there.
    pub(crate) fn new(
        host: Arc<Host>,
        caller: Caller,
        surface: Surface,
        closing: CancellationToken,
        pool: Option<Handle>,
        local: Option<Local>,
    ) -> io::Result<Server> {
        let sealed = open_seal(host.state())?;
        let server = Server(Arc::new(Shared {
            host,
            caller,
            surface,
            closing,
            tool_lists: ToolLists::default(),
            sealed,
            oriented: OrientedClients::default(),
            tasks: Tasks::default(),
            clients: Clients::default(),
            pool,
            local,
        }));
        tokio::spawn(subscriptions::notify_clients(server.clone()));
        Ok(server)
    }

    /// The host.
    pub(crate) fn host(&self) -> &Host {
        &self.0.host
    }

    /// Whether its client is reached through another program of this user.
    pub(crate) fn is_local_session(&self) -> bool {
        self.0.local.is_some()
    }

    /// The session-based clients.
    pub(crate) fn clients(&self) -> &Clients {
        &self.0.clients
    }

    /// How the tools are presented to a caller.
    pub(crate) fn surface_of(&self, caller: &Caller) -> Surface {
        let settings = self.0.host.settings_of(caller);
        let own = settings.callers.get(caller.name());
        let usual = match &self.0.local {
            Some(_) => settings.surface,
            None => self.0.surface,
        };
        own.and_then(|own| own.surface).unwrap_or(usual)
    }

    /// Cancelled when it is time to stop.
    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.0.closing
    }

    /// What seals the state of a question.
    pub(crate) fn seal(&self) -> &RequestStateCodec {
        &self.0.sealed
    }

    /// The tasks.
    pub(crate) fn tasks(&self) -> &Tasks {
        &self.0.tasks
    }

    /// The result of a call; the first one of a client has the orientation.
    pub(crate) async fn first_result(
        &self,
        caller: &Caller,
        context: &RequestContext<RoleServer>,
        outcome: Result<Reply, CallError>,
    ) -> CallToolResult {
        let result = results::of(outcome, self.repeat(caller, context));
        let oriented = &self.0.oriented;
        oriented
            .with_first_result(&self.0.host, caller, context, result)
            .await
    }

    /// The caller of a request: over HTTP the bearer of its token.
    pub(crate) fn caller(&self, extensions: &Extensions) -> Caller {
        let parts = extensions.get::<http::request::Parts>();
        let caller = parts.and_then(|parts| parts.extensions.get::<Caller>());
        let caller = caller.unwrap_or(&self.0.caller).clone();
        // A client renews its signed token within a session; the session is notified of changes while the newest is valid.
        if caller.proof() == Proof::Signed {
            let session = subscriptions::session(extensions);
            self.clients().renew(&session, &caller);
        }
        caller
    }

    /// The caller of a call. Several programs are the same caller on stdio: each with the name of its client.
    fn named_caller(&self, context: &RequestContext<RoleServer>) -> Caller {
        let caller = self.caller(&context.extensions);
        match context.client_info() {
            Some(client) if caller.entrance() == Entrance::Stdio => {
                caller.with_client(&client.name)
            }
            _ => caller,
        }
    }

    /// Runs one call of an action. A call that takes long leaves the thread that reads requests; a panic ends only this
    /// call.
    pub(crate) async fn run(&self, caller: &Caller, request: Request) -> Result<Reply, CallError> {
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

    /// The tools that a caller sees.
    pub(crate) fn tools_of(&self, caller: &Caller) -> Arc<ToolList> {
        self.tools_with(self.0.host.scopes_of(caller), self.surface_of(caller))
    }

    fn tools_with(&self, scopes: Scopes, surface: Surface) -> Arc<ToolList> {
        let registry = self.0.host.registry();
        self.0.tool_lists.list(registry, scopes, surface)
    }

    /// Whether long text is repeated for a caller.
    fn repeat(&self, caller: &Caller, context: &RequestContext<RoleServer>) -> Repeat {
        let client = context.client_info();
        let wanted = self.0.host.settings_of(caller).long_text_of(caller.name());
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
        let tools = self.tools_of(&caller).tools.clone();
        Ok(ListToolsResult::with_all_items(tools))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools_with(Scopes::everything(), self.0.surface)
            .tools
            .iter()
            .find(|tool| tool.name == name)
            .cloned()
    }

    async fn call_tool(
        &self,
        mut sent: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.named_caller(&context);
        let tools = self.tools_of(&caller);
        let named = named_request(&sent, &context);
        // Arguments may be as large as a message: they are moved, and only a digest of them is kept for comparison.
        let arguments = take_arguments(&mut sent, &context);
        let outcome = match resolve(&tools.set, &sent.name, arguments) {
            Ok(Target::Call {
                domain,
                action,
                arguments,
            }) => {
                let sent_id = context.meta.get(CALL_KEY);
                let local = self.0.local.as_ref();
                let request = Request {
                    call: local.and_then(|local| local.call(sent_id?)),
                    cancelled: named.cancelled,
                    traceparent: named.traceparent,
                    ..Request::new(domain, action, arguments)
                };
                let call = ToolCall::new(self, caller, sent, request, context)?;
                return call.respond().await;
            }
            Ok(Target::Answer(reply)) => Ok(reply),
            Err(Unresolved::Refused(error)) => Err(error),
            Err(Unresolved::UnknownTool) => {
                let message = format!("unknown tool `{}`", sent.name);
                let outcome = Err(CallError::new(Code::NotFound, message.clone()));
                dispatch::answered(self.host(), &caller, &named, &outcome);
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        dispatch::answered(self.host(), &caller, &named, &outcome);
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
        let task = self.tasks().status(&caller, &request)?;
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

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        _: NotificationContext<RoleServer>,
    ) {
        // Only the program of a local session may change its settings.
        if let (Some(local), SETTINGS_METHOD) = (&self.0.local, notification.method.as_str()) {
            match serde_json::from_value(notification.params.unwrap_or_default()) {
                Ok(update) => local.update(update),
                Err(error) => tracing::warn!("changed settings of a session are invalid: {error}"),
            }
        }
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
        if request.method != ACTIONS_METHOD {
            let unknown = ErrorCode::METHOD_NOT_FOUND;
            return Err(ErrorData::new(unknown, request.method, None));
        }
        let caller = self.caller(&context.extensions);
        Ok(CustomResult(self.tools_of(&caller).snapshot().to_listing()))
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

/// The JSON of a result with the whole text.
pub(crate) fn tool_result(outcome: Result<Reply, CallError>) -> Value {
    serde_json::to_value(results::of(outcome, Repeat::Whole)).unwrap_or_default()
}
