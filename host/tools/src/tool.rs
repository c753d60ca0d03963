//! A tool as a plain value. Its JSON has the form of MCP, so that sizes measured here are those on the wire.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

/// A tool that a model can call.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// Its unique name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Arc<Map<String, Value>>,
    /// The JSON Schema of its structured result, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Arc<Map<String, Value>>>,
    /// Its behavior, for the client.
    pub annotations: Annotations,
}

/// The behavior of a tool, for the client's own confirmation. The vault handle and the egress policy enforce the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// A title for people.
    pub title: String,
    /// Whether it only reads.
    #[serde(rename = "readOnlyHint")]
    pub read_only: bool,
    /// Whether it may remove something.
    #[serde(rename = "destructiveHint")]
    pub destructive: bool,
    /// Whether the same call again changes nothing more.
    #[serde(rename = "idempotentHint")]
    pub idempotent: bool,
    /// Whether it may send requests to other hosts.
    #[serde(rename = "openWorldHint")]
    pub open_world: bool,
}
