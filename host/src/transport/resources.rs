//! Notes and help as MCP resources: `notehost://vault/{vault}/{path}` and `notehost://help/{domain}/{action}`. What
//! a note says and which notes there are is asked through `dispatch`, as every other call is.

use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::mcp::Server;
use super::{help, schema};
use crate::auth::Caller;
use crate::dispatch::{CallError, Reply, Request};

pub(super) const VAULT_PREFIX: &str = "notehost://vault/";
pub(super) const HELP_PREFIX: &str = "notehost://help/";
const PAGE: u64 = 200;
const MARKDOWN: &str = "text/markdown";

/// Where a note or file is found as a resource.
pub(super) fn note_uri(vault: &str, path: &str) -> String {
    format!("{VAULT_PREFIX}{}/{}", encoded(vault), encoded(path))
}

/// The vault and the path that a resource of ours names.
pub(super) fn named_by(uri: &str) -> Option<(String, String)> {
    parts(uri.strip_prefix(VAULT_PREFIX)?)
}

/// The last part of a path.
pub(super) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The kind of a file, where it is known to be text.
pub(super) fn mime(path: &str) -> Option<&'static str> {
    let (_, extension) = path.rsplit_once('.')?;
    extension.eq_ignore_ascii_case("md").then_some(MARKDOWN)
}

/// The forms that resources have.
pub(super) fn templates() -> ListResourceTemplatesResult {
    let note = ResourceTemplate::new(format!("{VAULT_PREFIX}{{vault}}/{{+path}}"), "note")
        .with_title("Note")
        .with_description("A Markdown note, by its vault and path")
        .with_mime_type(MARKDOWN);
    let help = ResourceTemplate::new(format!("{HELP_PREFIX}{{domain}}/{{action}}"), "help")
        .with_title("Help")
        .with_description("What an action does, takes and answers")
        .with_mime_type(MARKDOWN);
    ListResourceTemplatesResult::with_all_items(vec![note, help])
}

/// A page of the notes. The cursor is the vault's id and the domain's own cursor within it.
pub(super) async fn list(
    server: &Server,
    caller: &Caller,
    cursor: Option<&str>,
    cancelled: CancellationToken,
) -> Result<ListResourcesResult, ErrorData> {
    let vaults = server.host().vault_ids_of(caller);
    let (vault, within) = match cursor {
        None => (vaults.first().cloned(), None),
        Some(cursor) => {
            let (vault, within) = cursor.split_once('/').unwrap_or((cursor, ""));
            let known = vaults.iter().find(|id| *id == vault).cloned();
            let known = known
                .ok_or_else(|| ErrorData::invalid_params(format!("no page `{cursor}`"), None))?;
            (Some(known), (!within.is_empty()).then(|| within.to_owned()))
        }
    };
    let offered = server.offered_to(caller);
    let can_list = offered
        .snapshot
        .domain("document")
        .is_some_and(|domain| domain.action("list").is_some());
    let Some(vault) = vault.filter(|_| can_list) else {
        return Ok(ListResourcesResult::with_all_items(Vec::new()));
    };
    let mut arguments = schema::object(json!({ "recursive": true, "limit": PAGE }));
    if let Some(within) = within {
        arguments.insert("cursor".into(), within.into());
    }
    let reply = ask(server, caller, &vault, "list", arguments, cancelled)
        .await
        .map_err(|error| protocol_error(&error, cursor.unwrap_or_default()))?;
    let items = reply.structured.get("items").and_then(Value::as_array);
    let notes = items
        .into_iter()
        .flatten()
        .filter_map(|item| note(&vault, item))
        .collect();
    let mut page = ListResourcesResult::with_all_items(notes);
    let next_vault = || vaults.iter().skip_while(|id| **id != vault).nth(1).cloned();
    page.next_cursor = match reply.structured.get("next_cursor").and_then(Value::as_str) {
        Some(next) => Some(format!("{vault}/{next}")),
        None => next_vault(),
    };
    Ok(page)
}

fn note(vault: &str, item: &Value) -> Option<Resource> {
    let path = item.get("path")?.as_str()?;
    let mime = mime(path)?;
    let mut resource = Resource::new(note_uri(vault, path), name(path)).with_mime_type(mime);
    if let Some(size) = item.get("size").and_then(Value::as_u64) {
        resource = resource.with_size(size);
    }
    Some(resource)
}

/// The text of a note, or of the help on an action.
pub(super) async fn read(
    server: &Server,
    caller: &Caller,
    uri: &str,
    cancelled: CancellationToken,
) -> Result<ReadResourceResult, ErrorData> {
    let text = if let Some(rest) = uri.strip_prefix(VAULT_PREFIX) {
        let (vault, path) = parts(rest).ok_or_else(|| absent(uri))?;
        if !server.host().vault_ids_of(caller).contains(&vault) {
            return Err(absent(uri));
        }
        read_note(server, caller, &vault, &path, cancelled)
            .await
            .map_err(|error| protocol_error(&error, uri))?
    } else if let Some(rest) = uri.strip_prefix(HELP_PREFIX) {
        read_help(server, caller, rest).ok_or_else(|| absent(uri))?
    } else {
        return Err(absent(uri));
    };
    let contents = ResourceContents::text(text, uri).with_mime_type(MARKDOWN);
    Ok(ReadResourceResult::new(vec![contents]))
}

/// A whole note, however many replies that takes.
async fn read_note(
    server: &Server,
    caller: &Caller,
    vault: &str,
    path: &str,
    cancelled: CancellationToken,
) -> Result<String, CallError> {
    let mut text = String::new();
    let mut offset = 1;
    loop {
        let mut arguments = schema::object(json!({ "path": path }));
        if offset > 1 {
            arguments.insert("offset".into(), offset.into());
        }
        let reply = ask(server, caller, vault, "read", arguments, cancelled.clone()).await?;
        let content = reply
            .structured
            .get("content")
            .and_then(Value::as_str)
            .unwrap_or_default();
        text.push_str(content);
        let line = |which: &str| reply.structured.get("lines")?.get(which)?.as_u64();
        match (line("to"), line("total")) {
            (Some(to), Some(total)) if to < total && to >= offset => {
                if !text.ends_with('\n') {
                    text.push('\n');
                }
                offset = to + 1;
            }
            _ => return Ok(text),
        }
    }
}

fn read_help(server: &Server, caller: &Caller, rest: &str) -> Option<String> {
    let offered = server.offered_to(caller);
    let (domain, topic) = match rest.split_once('/') {
        Some((domain, action)) => (decoded(domain)?, Some(decoded(action)?)),
        None => (decoded(rest)?, None),
    };
    let reply = help::reply(offered.snapshot.domain(&domain)?, topic.as_deref()).ok()?;
    Some(reply.text)
}

async fn ask(
    server: &Server,
    caller: &Caller,
    vault: &str,
    action: &str,
    mut arguments: Map<String, Value>,
    cancelled: CancellationToken,
) -> Result<Reply, CallError> {
    // Where there is only one vault, actions do not take its name.
    if server.host().vault_ids().len() > 1 {
        arguments.insert("vault".into(), vault.into());
    }
    let request = Request {
        domain: "document".into(),
        action: action.into(),
        arguments,
        cancelled,
        traceparent: None,
    };
    server.call(caller, request).await
}

fn absent(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("resource not found", Some(json!({ "uri": uri })))
}

fn protocol_error(error: &CallError, uri: &str) -> ErrorData {
    let data = Some(error.to_json().into());
    match error.code {
        "not_found" | "disabled" => absent(uri),
        "validation_error" | "ambiguous_name" | "unsupported" => {
            ErrorData::invalid_params(error.message.clone(), data)
        }
        _ => ErrorData::internal_error(error.message.clone(), data),
    }
}

/// The vault and the path of a URI's end.
fn parts(rest: &str) -> Option<(String, String)> {
    let (vault, path) = rest.split_once('/')?;
    let path = decoded(path)?;
    (!path.is_empty()).then_some((decoded(vault)?, path))
}

/// Percent-encoding, which leaves the slashes between the parts of a path.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                encoded.push(byte.into())
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// The text behind percent-encoding; `None` if it is damaged or no UTF-8.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        if *byte == b'%' {
            let (digits, after) = after.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = after;
        } else {
            bytes.push(*byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_survives_its_uri() {
        for path in ["Plan.md", "Work/Über uns 100%.md", "日记/今天#1?.md"] {
            let uri = note_uri("main", path);
            assert!(uri.is_ascii());
            let rest = uri.strip_prefix(VAULT_PREFIX).unwrap();
            assert_eq!(parts(rest), Some(("main".to_owned(), path.to_owned())));
        }
    }

    #[test]
    fn damaged_encoding_names_nothing() {
        for rest in ["main", "main/", "main/%", "main/%2", "main/%zz", "main/%ff"] {
            assert_eq!(parts(rest), None, "{rest}");
        }
    }
}
