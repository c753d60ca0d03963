//! What may follow what somebody has typed, for one caller: nothing that it may not see is ever offered.

use super::Host;
use super::file_events::look;
use notehost_index::{CompletionKind, fitting};
use notehost_policy::auth::Caller;
use notehost_vault::Kind;

/// So many notebooks are looked at.
const MAX_NOTEBOOKS: u32 = 10_000;

/// The notes, tags, properties or headings of a vault that fit what was typed, the best first.
pub fn complete(
    host: &Host,
    caller: &Caller,
    vault: &str,
    completing: CompletionKind<'_>,
    typed: &str,
) -> Vec<String> {
    let Some((vault, look)) = look(host, caller, vault) else {
        return Vec::new();
    };
    host.index_of(&vault).complete(&look, completing, typed)
}

/// The notebooks of a vault that fit what was typed, the best first.
pub fn complete_notebook(host: &Host, caller: &Caller, vault: &str, typed: &str) -> Vec<String> {
    let Some((_, mut look)) = look(host, caller, vault) else {
        return Vec::new();
    };
    let Ok(page) = look.list("", false, None, MAX_NOTEBOOKS) else {
        return Vec::new();
    };
    let folders = page.entries.into_iter();
    let folders = folders.filter(|entry| entry.kind == Kind::Folder);
    fitting(folders.map(|entry| entry.path).collect(), typed)
}
