//! What a tool call names before it is resolved, for the records: the domain and the action as they were sent, and the client's
//! trace span.

use rmcp::RoleServer;
use rmcp::model::CallToolRequestParams;
use rmcp::service::RequestContext;
use serde_json::{Map, Value};

use notehost_pipeline::Request;
use notehost_tools::FLAT_SEPARATOR;

/// The request with the names that the client sent and without arguments, as it is recorded when it is answered without
/// a call.
pub(crate) fn named_request(
    sent: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Request {
    let (domain, action) = sent
        .name
        .split_once(FLAT_SEPARATOR)
        .unwrap_or((&sent.name, ""));
    let arguments = sent.arguments.as_ref();
    let action = arguments
        .and_then(|arguments| arguments.get("action"))
        .and_then(Value::as_str)
        .unwrap_or(action);
    Request {
        cancelled: context.ct.clone(),
        traceparent: traceparent(context),
        ..Request::new(domain, action, Map::new())
    }
}

/// The client's trace span of a request. The message takes precedence over the header, which only describes the request
/// that carried it.
fn traceparent(context: &RequestContext<RoleServer>) -> Option<String> {
    let header = || {
        let parts = context.extensions.get::<http::request::Parts>()?;
        parts.headers.get("traceparent")?.to_str().ok()
    };
    let traceparent = context.meta.get_traceparent().or_else(header);
    traceparent.map(str::to_owned)
}
