//! Completion of what was typed, for one caller: it never offers what the caller may not see.

use crate::Host;
use crate::application::file_events::reader;
use notehost_index::{CompletionKind, fitting};
use notehost_policy::auth::Caller;
use notehost_vault::Kind;

/// The maximum number of notebooks that are compared.
const MAX_NOTEBOOKS: u32 = 10_000;

/// The notes, tags, properties or headings of a vault that fit what was typed, the best first.
pub fn complete(
    host: &Host,
    caller: &Caller,
    vault: &str,
    completing: CompletionKind<'_>,
    typed: &str,
) -> Vec<String> {
    let Some((vault, reader)) = reader(host, caller, vault) else {
        return Vec::new();
    };
    host.index_of(&vault).complete(&reader, completing, typed)
}

/// The notebooks of a vault that fit what was typed, the best first.
pub fn complete_notebook(host: &Host, caller: &Caller, vault: &str, typed: &str) -> Vec<String> {
    let Some((_, mut reader)) = reader(host, caller, vault) else {
        return Vec::new();
    };
    let Ok(page) = reader.list("", false, None, MAX_NOTEBOOKS) else {
        return Vec::new();
    };
    let folders = page.entries.into_iter();
    let folders = folders.filter(|entry| entry.kind == Kind::Folder);
    fitting(folders.map(|entry| entry.path).collect(), typed)
}
