//! Reading and editing the text of a note.

use notehost_sdk::text::blocks::{Blocks, blocks};
use notehost_sdk::{MemoryVault, Vault};
use serde_json::{Value, json};

use crate::{call, call_and_rollback, texts};

/// Number of blocks or cards of a note that are checked individually, as a sample.
const SAMPLE_SIZE: usize = 3;

/// A note of any text or of invalid UTF-8: everything that reads it.
pub fn note(input: &[u8]) {
    let vault = Vault::in_memory()
        .with("Work/Other.md", "# Other\n\n[[N]] and ![[N#A]]\n")
        .with_bytes("Work/N.md", input);
    let it = || json!({ "path": "Work/N.md", "limit": 500 });
    call::<notehost_document::Domain>(
        &vault,
        "read",
        json!({ "path": "Work/N.md", "format": "detailed" }),
    );
    call::<notehost_document::Domain>(
        &vault,
        "read",
        json!({ "path": "Work/N.md", "offset": 2, "limit": 2, "max_tokens": 3 }),
    );
    call::<notehost_document::Domain>(&vault, "outline", it());
    call::<notehost_document::Domain>(&vault, "properties", json!({ "path": "Work/N.md" }));
    call::<notehost_link::Domain>(&vault, "outgoing", it());
    call::<notehost_link::Domain>(&vault, "unresolved", json!({ "suggest": true }));
    call::<notehost_link::Domain>(&vault, "suggest", it());
    call::<notehost_tag::Domain>(&vault, "of", it());
    call::<notehost_file::Domain>(&vault, "of", it());
    call::<notehost_file::Domain>(
        &vault,
        "render",
        json!({ "template": "Work/N.md", "variables": { "title": "T" } }),
    );
    call_and_rollback::<notehost_file::Domain>(
        &vault,
        "export",
        json!({ "paths": ["Work/N.md"], "format": "html" }),
    );
    cards(&vault);
    if let Ok(text) = std::str::from_utf8(input) {
        check_coverage(text);
        check_round_trip(&vault, input);
    }
}

/// Cards are listed, found by the listed name, and reviewed.
fn cards(vault: &MemoryVault) {
    type Cards = notehost_flashcard::Domain;
    let listed = call::<Cards>(vault, "list", json!({ "path": "Work/N.md", "limit": 500 }));
    for item in sample(&listed) {
        let card = &item["card"];
        let found = call::<Cards>(vault, "get", json!({ "card": card }));
        assert!(found.is_some(), "card {card} is listed but not found");
        call_and_rollback::<Cards>(vault, "review", json!({ "card": card, "rating": 3 }));
        call_and_rollback::<Cards>(vault, "suspend", json!({ "card": card }));
        call_and_rollback::<Cards>(vault, "remove", json!({ "card": card }));
    }
}

/// Blocks cover the note: only blanks are between the top-level blocks.
fn check_coverage(text: &str) {
    let Ok(read) = blocks(text) else { return };
    let mut end = 0;
    for at in read.children(None) {
        let range = read[at].range.clone();
        assert_blank(&read, end..range.start);
        end = range.end;
    }
    assert_blank(&read, end..read.note().len());
}

fn assert_blank(read: &Blocks<'_>, gap: std::ops::Range<usize>) {
    let gap = &read.note()[gap];
    let plain = gap
        .trim_start_matches('\u{feff}')
        .bytes()
        .all(|byte| b" \t\r\n".contains(&byte));
    assert!(plain, "text between blocks: {gap:?}");
}

/// Writing a block back unchanged changes no byte.
fn check_round_trip(vault: &MemoryVault, bytes: &[u8]) {
    type Block = notehost_block::Domain;
    let listed = call::<Block>(vault, "list", json!({ "path": "Work/N.md", "limit": 500 }));
    for item in sample(&listed) {
        let block = &item["block"];
        let got = call::<Block>(vault, "get", json!({ "block": block }));
        let got = got.unwrap_or_else(|| panic!("block {block} is listed but not found"));
        call::<Block>(
            vault,
            "update",
            json!({ "block": block, "text": got["text"] }),
        );
        assert_eq!(
            vault.bytes("Work/N.md").as_deref(),
            Some(bytes),
            "block {block} written as read"
        );
        call::<Block>(vault, "attributes", json!({ "block": block }));
        call::<Block>(vault, "breadcrumb", json!({ "block": block }));
        call::<Block>(vault, "count", json!({ "blocks": [block] }));
        call_and_rollback::<Block>(vault, "identify", json!({ "block": block }));
        call_and_rollback::<Block>(vault, "remove", json!({ "block": block }));
    }
}

/// A sample of a list, over its whole length.
fn sample(reply: &Option<Value>) -> impl Iterator<Item = &Value> {
    let items = reply.as_ref().and_then(|reply| reply["items"].as_array());
    let items = items.map_or(&[][..], Vec::as_slice);
    items
        .iter()
        .step_by(items.len().div_ceil(SAMPLE_SIZE).max(1))
}

/// A note and three texts: every action that edits the note with them. The third may be a JSON object of properties.
pub fn edits(input: &[u8]) {
    let Some([note, first, second, third]) = texts(input) else {
        return;
    };
    let vault = Vault::in_memory()
        .with("Work/Other.md", "# Other\n\n## A\n\n[[N]] and ![[N#A]]\n")
        .with("Work/N.md", note);
    let path = "Work/N.md";
    edit_document(&vault, note, [first, second, third]);
    edit_blocks(&vault, first, second);
    call_and_rollback::<notehost_tag::Domain>(
        &vault,
        "add",
        json!({ "paths": [path], "tags": [first] }),
    );
    call_and_rollback::<notehost_tag::Domain>(
        &vault,
        "take",
        json!({ "paths": [path], "tags": [first] }),
    );
    call_and_rollback::<notehost_tag::Domain>(
        &vault,
        "take",
        json!({ "paths": [path], "tags": [first], "inline": "word" }),
    );
    call_and_rollback::<notehost_tag::Domain>(
        &vault,
        "rename",
        json!({ "from": first, "to": second }),
    );
    call_and_rollback::<notehost_link::Domain>(
        &vault,
        "rewrite",
        json!({ "from": first, "to": "Work/Other.md" }),
    );
    call_and_rollback::<notehost_document::Domain>(
        &vault,
        "rename",
        json!({ "path": path, "to": second }),
    );
    call_and_rollback::<notehost_search::Domain>(
        &vault,
        "replace",
        json!({ "find": first, "replace": second }),
    );
    call_and_rollback::<notehost_search::Domain>(
        &vault,
        "replace",
        json!({ "find": first, "replace": second, "regex": true }),
    );
    let cards = json!([{ "front": first, "back": second }, { "front": second }]);
    call_and_rollback::<notehost_flashcard::Domain>(
        &vault,
        "create",
        json!({ "path": path, "cards": cards }),
    );
}

fn edit_document(vault: &MemoryVault, note: &str, [first, second, third]: [&str; 3]) {
    type Document = notehost_document::Domain;
    let path = "Work/N.md";
    let try_action = |action: &str, mut arguments: Value| {
        arguments["path"] = path.into();
        call_and_rollback::<Document>(vault, action, arguments);
    };
    let edits = json!([{ "old": first, "new": second }, { "old": second, "new": third, "replace_all": true }]);
    try_action("edit", json!({ "edits": edits }));
    try_action("append", json!({ "text": second, "section": first }));
    try_action("prepend", json!({ "text": second, "section": first }));
    try_action("insert", json!({ "text": second, "after": first }));
    try_action("insert", json!({ "text": second, "before": first }));
    try_action("read_section", json!({ "section": first }));
    try_action(
        "replace_section",
        json!({ "section": first, "text": second }),
    );
    try_action("delete_section", json!({ "section": first }));
    try_action("extract_section", json!({ "section": first, "to": second }));
    try_action(
        "merge",
        json!({ "into": "Work/Other.md", "section": first }),
    );
    try_action("update", json!({ "content": second }));
    let set = match serde_json::from_str(third) {
        Ok(Value::Object(set)) => Value::Object(set),
        _ => json!({ first: third }),
    };
    let arguments = json!({ "path": path, "set": set, "remove": [second] });
    if call::<Document>(vault, "set_properties", arguments).is_some() {
        let body = notehost_sdk::text::frontmatter::locate(note)
            .map_or(note, |found| &note[found.block.end..]);
        let changed = vault.text(path).expect("it stays text");
        assert!(
            changed.ends_with(body.trim_start_matches('\u{feff}')),
            "setting properties changed the body"
        );
        let read = call::<Document>(vault, "properties", json!({ "path": path }));
        assert!(read.is_some(), "properties that were set cannot be read");
    }
    vault.rollback();
}

/// Edits of single blocks: the first of the note, and the one that the text names.
fn edit_blocks(vault: &MemoryVault, named: &str, text: &str) {
    type Block = notehost_block::Domain;
    let listed = call::<Block>(vault, "list", json!({ "path": "Work/N.md", "limit": 500 }));
    let mut known: Vec<Value> = sample(&listed).map(|item| item["block"].clone()).collect();
    let last = known.last().cloned();
    known.push(json!(format!("Work/N.md#{named}")));
    for block in &known {
        call_and_rollback::<Block>(vault, "update", json!({ "block": block, "text": text }));
        call_and_rollback::<Block>(vault, "insert", json!({ "before": block, "text": text }));
        call_and_rollback::<Block>(vault, "insert", json!({ "after": block, "text": text }));
        call_and_rollback::<Block>(vault, "append", json!({ "parent": block, "text": text }));
        call_and_rollback::<Block>(vault, "prepend", json!({ "parent": block, "text": text }));
        call_and_rollback::<Block>(vault, "move", json!({ "block": block, "after": last }));
        call_and_rollback::<Block>(vault, "move", json!({ "block": last, "before": block }));
        call_and_rollback::<Block>(
            vault,
            "edit",
            json!({ "block": block, "edits": [{ "old": named, "new": text }] }),
        );
        let fields = json!({ named: text });
        call_and_rollback::<Block>(
            vault,
            "set_attributes",
            json!({ "block": block, "fields": fields }),
        );
        call_and_rollback::<Block>(
            vault,
            "set_attributes",
            json!({ "block": block, "state": named, "title": text }),
        );
    }
}
