//! The conventions of a vault from the settings of Obsidian, for one caller. A folder or property that the caller may
//! not see is not named.

use std::collections::BTreeMap;

use notehost_sdk::host::Conventions;
use notehost_sdk::index::{Condition, PropertyTest, Query};
use serde_json::Value;

use notehost_index::{Answer, Index, Question};
use notehost_vault::{Tier, Transaction, Vault};

/// The maximum size of a settings file.
const MAX_SETTINGS_BYTES: u64 = 1 << 20;
/// The maximum number of property types read.
const MAX_PROPERTY_TYPES: usize = 200;

/// The conventions in a vault's settings, limited to what this transaction may see.
pub(crate) fn conventions(vault: &Vault, transaction: &mut Transaction) -> Conventions {
    let app = settings(vault, ".obsidian/app.json");
    let templates = settings(vault, ".obsidian/templates.json");
    let daily = settings(vault, ".obsidian/daily-notes.json");
    let text = |value: &Value| {
        value
            .as_str()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let attachments = match app["attachmentFolderPath"].as_str() {
        Some("/" | "") => Some(String::new()),
        Some(beside) if beside == "." || beside.starts_with("./") => Some(beside.to_owned()),
        _ => folder(&app["attachmentFolderPath"], transaction),
    };
    Conventions {
        attachments,
        link_format: text(&app["newLinkFormat"]),
        markdown_links: app["useMarkdownLinks"].as_bool() == Some(true),
        templates: folder(&templates["folder"], transaction),
        template_date: text(&templates["dateFormat"]),
        template_time: text(&templates["timeFormat"]),
        daily_notes: folder(&daily["folder"], transaction),
        daily_format: text(&daily["format"]),
        property_types: BTreeMap::new(),
    }
}

/// The types that the owner gave to properties: of those that occur in a note which this transaction may see.
pub(crate) fn property_types(
    vault: &Vault,
    index: &Index,
    transaction: &mut Transaction,
) -> BTreeMap<String, String> {
    let types = settings(vault, ".obsidian/types.json");
    let types = types["types"].as_object().into_iter().flatten();
    let named = types.filter_map(|(name, kind)| Some((name, kind.as_str()?)));
    named
        .take(MAX_PROPERTY_TYPES)
        .filter(|(name, _)| is_used(name, index, transaction))
        .map(|(name, kind)| (name.clone(), kind.to_owned()))
        .collect()
}

fn is_used(name: &str, index: &Index, transaction: &mut Transaction) -> bool {
    let query = Query {
        condition: Some(Condition::Property(Box::new(PropertyTest {
            key: name.to_owned(),
            exists: Some(true),
            ..PropertyTest::default()
        }))),
        limit: 1,
        ..Query::default()
    };
    match index.ask(transaction, Question::Find(query)) {
        Ok(Answer::Found(found)) => found.total > 0,
        _ => false,
    }
}

/// A folder named by a setting, if it exists and is visible.
fn folder(named: &Value, transaction: &mut Transaction) -> Option<String> {
    let folder = named.as_str()?.trim_matches('/');
    let is_visible = !folder.is_empty()
        && !folder.starts_with('.')
        && transaction.tier_at(folder) > Tier::None
        && transaction.stat(folder).is_ok();
    is_visible.then(|| folder.to_owned())
}

fn settings(vault: &Vault, path: &str) -> Value {
    let bytes = vault.own_file(path, MAX_SETTINGS_BYTES);
    let parsed = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    parsed.unwrap_or_default()
}
