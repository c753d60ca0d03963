//! Notes, files and help as MCP resources. Content and lists come from `dispatch`, like every other call.

use notehost_sdk::Code;
use notehost_sdk::is_note;
use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::Server;
use notehost_pipeline::registry::Snapshot;
use notehost_pipeline::{CallError, Content, Reply, Request};
use notehost_policy::auth::Caller;
use notehost_tools::uris::{self, HELP_PREFIX, ResourceUri, VAULT_PREFIX};
use notehost_tools::{help, object};

/// The characters of a URI that an error repeats.
const MAX_SHOWN_URI_CHARS: usize = 1000;
const PAGE: u64 = 200;
const MARKDOWN: &str = "text/markdown";
/// The page after the last note. No vault has an empty id.
const HELP_PAGE: &str = "/help";

/// The last part of a path.
pub(crate) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The kind of a file, where it is known to be text.
pub(crate) fn mime(path: &str) -> Option<&'static str> {
    let (_, extension) = path.rsplit_once('.')?;
    extension.eq_ignore_ascii_case("md").then_some(MARKDOWN)
}

/// The resource templates.
pub(crate) fn templates() -> ListResourceTemplatesResult {
    let note = ResourceTemplate::new(format!("{VAULT_PREFIX}{{vault}}/{{+path}}"), "note")
        .with_title("Note")
        .with_description("A Markdown note, or another file, by its vault and path")
        .with_mime_type(MARKDOWN);
    let help = ResourceTemplate::new(format!("{HELP_PREFIX}{{domain}}/{{action}}"), "help")
        .with_title("Help")
        .with_description("What an action does, its arguments and its result, with examples")
        .with_mime_type(MARKDOWN);
    ListResourceTemplatesResult::with_all_items(vec![note, help])
}

/// A page of the notes, vault by vault; the last one has the help. The cursor is the vault's id and the domain's own
/// cursor within it.
pub(crate) async fn list(
    server: &Server,
    caller: &Caller,
    cursor: Option<&str>,
    cancelled: CancellationToken,
) -> Result<ListResourcesResult, ErrorData> {
    let tools = server.tools_of(caller);
    let vaults = match has_action(tools.snapshot(), "document", "list") {
        true => server.host().vault_ids_of(caller),
        false => Vec::new(),
    };
    let (vault, within) = match cursor {
        None => (vaults.first(), None),
        Some(HELP_PAGE) => (None, None),
        Some(cursor) => {
            let (vault, within) = cursor.split_once('/').unwrap_or((cursor, ""));
            let known = vaults.iter().find(|id| *id == vault);
            let known = known.ok_or_else(|| {
                ErrorData::invalid_params(format!("invalid cursor: `{cursor}`"), None)
            })?;
            (
                Some(known),
                Some(within).filter(|within| !within.is_empty()),
            )
        }
    };
    let Some(vault) = vault else {
        let help = help_pages(tools.snapshot());
        return Ok(ListResourcesResult::with_all_items(help));
    };
    let mut arguments = object(json!({ "recursive": true, "limit": PAGE }));
    if let Some(within) = within {
        arguments.insert("cursor".into(), within.into());
    }
    let reply = ask(server, caller, vault, LIST, arguments, cancelled)
        .await
        .map_err(|error| protocol_error(&error, cursor.unwrap_or_default()))?;
    let items = reply.structured.get("items").and_then(Value::as_array);
    let notes = items
        .into_iter()
        .flatten()
        .filter_map(|item| note(vault, item))
        .collect();
    let mut page = ListResourcesResult::with_all_items(notes);
    let next_vault = || vaults.iter().skip_while(|id| *id != vault).nth(1).cloned();
    let next = match reply.structured.get("next_cursor").and_then(Value::as_str) {
        Some(next) => format!("{vault}/{next}"),
        None => next_vault().unwrap_or_else(|| HELP_PAGE.to_owned()),
    };
    page.next_cursor = Some(next);
    Ok(page)
}

/// The help on each domain that a caller is shown; that on single actions is found by the template.
fn help_pages(snapshot: &Snapshot) -> Vec<Resource> {
    let pages = snapshot.domains().map(|domain| {
        let about = help::first_sentence(&domain.description, 200);
        Resource::new(
            uris::of_help(&domain.name),
            format!("help: {}", domain.name),
        )
        .with_description(about)
        .with_mime_type(MARKDOWN)
    });
    pages.collect()
}

fn has_action(snapshot: &Snapshot, domain: &str, action: &str) -> bool {
    let domain = snapshot.domain(domain);
    domain.is_some_and(|domain| domain.action(action).is_some())
}

fn note(vault: &str, item: &Value) -> Option<Resource> {
    let path = item.get("path")?.as_str()?;
    let mime = mime(path)?;
    let mut resource = Resource::new(uris::of_file(vault, path), name(path)).with_mime_type(mime);
    if let Some(size) = item.get("size").and_then(Value::as_u64) {
        resource = resource.with_size(size);
    }
    Some(resource)
}

/// The content of a note or file, or the help on an action.
pub(crate) async fn read(
    server: &Server,
    caller: &Caller,
    uri: &str,
    cancelled: CancellationToken,
) -> Result<ReadResourceResult, ErrorData> {
    let contents = match ResourceUri::parse(uri).ok_or_else(|| absent(uri))? {
        ResourceUri::File { vault, path } => {
            let read = read_file(server, caller, &vault, &path, cancelled).await;
            read.map_err(|error| protocol_error(&error, uri))?
        }
        ResourceUri::Help { domain, action } => {
            let text = read_help(server, caller, &domain, action.as_deref());
            FileContent::Text(text.ok_or_else(|| absent(uri))?, MARKDOWN.to_owned())
        }
    };
    Ok(ReadResourceResult::new(vec![contents.named(uri)]))
}

/// The content of a file.
pub(crate) enum FileContent {
    /// Text and its kind.
    Text(String, String),
    /// Bytes, encoded as base64, and their kind.
    Bytes(String, String),
}

impl FileContent {
    /// As a resource of that name.
    pub(crate) fn named(self, uri: &str) -> ResourceContents {
        match self {
            FileContent::Text(text, mime) => ResourceContents::text(text, uri).with_mime_type(mime),
            FileContent::Bytes(bytes, mime) => {
                ResourceContents::blob(bytes, uri).with_mime_type(mime)
            }
        }
    }
}

/// The actions that read notes, read other files, and list notes.
const READ_NOTE: (&str, &str) = ("document", "read");
const READ_FILE: (&str, &str) = ("file", "read");
const LIST: (&str, &str) = ("document", "list");

/// A note or file, whichever has that name.
pub(crate) async fn read_file(
    server: &Server,
    caller: &Caller,
    vault: &str,
    path: &str,
    cancelled: CancellationToken,
) -> Result<FileContent, CallError> {
    let known = server.host().vault_ids_of(caller);
    if !known.iter().any(|id| id == vault) {
        return Err(CallError::new(
            Code::NotFound,
            format!("no vault `{vault}`"),
        ));
    }
    let has_extension = name(path).contains('.');
    if has_extension && !is_note(path) {
        let read = read_whole(server, caller, vault, READ_FILE, path, cancelled.clone()).await;
        // `.md` may be left out, also where a name has another dot.
        match read {
            Err(error) if matches!(error.code, Code::NotFound | Code::Disabled) => {}
            read => return read,
        }
    }
    read_whole(server, caller, vault, READ_NOTE, path, cancelled).await
}

/// Reads a whole file, over as many replies as needed.
async fn read_whole(
    server: &Server,
    caller: &Caller,
    vault: &str,
    action: (&str, &str),
    path: &str,
    cancelled: CancellationToken,
) -> Result<FileContent, CallError> {
    let mut text = String::new();
    let mut offset = 1;
    loop {
        let mut arguments = object(json!({ "path": path }));
        if offset > 1 {
            arguments.insert("offset".into(), offset.into());
        }
        let mut reply = ask(server, caller, vault, action, arguments, cancelled.clone()).await?;
        if let Some(bytes) = bytes(&mut reply) {
            return Ok(bytes);
        }
        let content = reply.structured.get("content").and_then(Value::as_str);
        text.push_str(content.unwrap_or_default());
        let line = |which: &str| reply.structured.get("lines")?.get(which)?.as_u64();
        match (line("to"), line("total")) {
            (Some(to), Some(total)) if to < total && to >= offset => {
                if !text.ends_with('\n') {
                    text.push('\n');
                }
                offset = to + 1;
            }
            _ => {
                let mime = reply.structured.get("mime").and_then(Value::as_str);
                // The content of a PDF is its text, not the file.
                let mime = mime.filter(|mime| mime.starts_with("text/") || mime.contains("json"));
                let mime = match action == READ_NOTE {
                    true => MARKDOWN,
                    false => mime.unwrap_or("text/plain"),
                };
                return Ok(FileContent::Text(text, mime.to_owned()));
            }
        }
    }
}

/// The bytes in a reply: a picture, or other binary content.
fn bytes(reply: &mut Reply) -> Option<FileContent> {
    use base64::Engine as _;
    let encoded = reply.structured.remove("base64");
    if let Some(Value::String(encoded)) = encoded {
        let mime = reply.structured.get("mime").and_then(Value::as_str);
        let mime = mime.unwrap_or("application/octet-stream").to_owned();
        return Some(FileContent::Bytes(encoded, mime));
    }
    reply.content.drain(..).find_map(|content| match content {
        Content::Image { bytes, mime } | Content::Audio { bytes, mime } => {
            let encoded = base64::prelude::BASE64_STANDARD.encode(bytes);
            Some(FileContent::Bytes(encoded, mime))
        }
        Content::Link { .. } => None,
    })
}

fn read_help(
    server: &Server,
    caller: &Caller,
    domain: &str,
    action: Option<&str>,
) -> Option<String> {
    let tools = server.tools_of(caller);
    let reply = help::reply(tools.snapshot().domain(domain)?, action).ok()?;
    Some(reply.text)
}

async fn ask(
    server: &Server,
    caller: &Caller,
    vault: &str,
    (domain, action): (&str, &str),
    mut arguments: Map<String, Value>,
    cancelled: CancellationToken,
) -> Result<Reply, CallError> {
    // Where there is only one vault, actions do not take its name.
    if server.host().vault_ids().len() > 1 {
        arguments.insert("vault".into(), vault.into());
    }
    let request = Request {
        cancelled,
        ..Request::new(domain, action, arguments)
    };
    server.run(caller, request).await
}

/// The error for a resource that does not exist or is hidden from this caller.
pub(crate) fn absent(uri: &str) -> ErrorData {
    // A URI may be as long as a message.
    let uri: String = uri.chars().take(MAX_SHOWN_URI_CHARS).collect();
    ErrorData::resource_not_found("resource not found", Some(json!({ "uri": uri })))
}

/// Maps an error to a protocol error.
pub(crate) fn protocol_error(error: &CallError, uri: &str) -> ErrorData {
    let data = Some(error.to_json().into());
    match error.code {
        Code::NotFound | Code::Disabled => absent(uri),
        Code::ValidationError | Code::AmbiguousName | Code::Unsupported => {
            ErrorData::invalid_params(error.message.clone(), data)
        }
        _ => ErrorData::internal_error(error.message.clone(), data),
    }
}
