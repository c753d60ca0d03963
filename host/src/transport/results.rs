//! What a call came to, as MCP says it. A failed call is a result too: clients show a protocol error to nobody.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, Resource};

use super::resources;
use crate::dispatch::{CallError, Content, Reply};

/// The result of a call.
pub(super) fn of(outcome: Result<Reply, CallError>) -> CallToolResult {
    match outcome {
        Ok(reply) => succeeded(reply),
        Err(error) => failed(&error),
    }
}

fn succeeded(reply: Reply) -> CallToolResult {
    let mut content = vec![ContentBlock::text(reply.text)];
    content.extend(reply.content.into_iter().map(block));
    let mut result = CallToolResult::success(content);
    result.structured_content = Some(reply.structured.into());
    result
}

/// The result of a call that was refused or failed.
pub(super) fn failed(error: &CallError) -> CallToolResult {
    let mut text = format!("{}: {}", error.code, error.message);
    if let Some(hint) = &error.hint {
        text.push_str(&format!("\nhint: {hint}"));
    }
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    result.structured_content = Some(error.to_json().into());
    result
}

fn block(content: Content) -> ContentBlock {
    match content {
        Content::Image { bytes, mime } => ContentBlock::image(STANDARD.encode(bytes), mime),
        Content::Audio { bytes, mime } => ContentBlock::audio(STANDARD.encode(bytes), mime),
        Content::Link { vault, path } => {
            let link = Resource::new(resources::note_uri(&vault, &path), resources::name(&path));
            ContentBlock::resource_link(match resources::mime(&path) {
                Some(mime) => link.with_mime_type(mime),
                None => link,
            })
        }
    }
}
