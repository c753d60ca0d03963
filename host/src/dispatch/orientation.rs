//! What a model should know about a vault before it works in it: the notes that its owner wrote for assistants, the
//! notebooks, the tags in use, how links and attachments are kept. Made from the index, for one caller: it names
//! nothing that this caller may not see.

use std::fmt::Write as _;
use std::sync::Arc;

use notehost_sdk::index::{Condition, Field, Found, Query, Sort, SortBy, Tags, TagsOf};
use serde_json::Value;

use super::Host;
use super::conventions::conventions;
use crate::auth::Caller;
use crate::index::{Answer, Index, Question};
use crate::vault::{Access, Effect, Kind, Limits, Rules, Transaction, Vault};

/// How many of each are told.
const MOST_NOTES: u32 = 12;
const MOST_TAGS: u32 = 15;
const MOST_NOTEBOOKS: usize = 20;
/// A description is one or two sentences.
const LONGEST_DESCRIPTION: usize = 200;

/// What a model should know of the vaults of one caller, in words; empty if that is switched off, if there is nothing to
/// tell, or if the index is not ready to say.
pub fn orientation(host: &Host, caller: &Caller) -> String {
    let settings = host.settings();
    if !settings.orientation.enabled {
        return String::new();
    }
    let (Ok(rights), Ok(vaults)) = (host.rights_of(caller), host.vaults_of(caller)) else {
        return String::new();
    };
    let has_several = vaults.len() > 1;
    let mut text = String::new();
    for vault in vaults {
        let index = host.index_of(&vault);
        if !index.is_ready() {
            continue;
        }
        let rules: Arc<dyn Rules> = rights.permissions.clone();
        let mut looking = Looking {
            transaction: vault.begin(Access {
                rules: rules.clone(),
                effect: Effect::Read,
                component: "host".into(),
                limits: Limits::default(),
            }),
            vault,
            index,
            rules,
        };
        let told = looking.words(&settings.orientation.tag);
        if told.is_empty() {
            continue;
        }
        if has_several {
            let _ = writeln!(text, "Vault `{}`:", looking.vault.id());
        }
        text.push_str(&told);
    }
    text
}

/// One caller's look at one vault.
struct Looking {
    vault: Arc<Vault>,
    index: Arc<Index>,
    rules: Arc<dyn Rules>,
    transaction: Transaction,
}

impl Looking {
    fn words(&mut self, tag: &str) -> String {
        let mut text = String::new();
        self.notes(tag, &mut text);
        self.notebooks(&mut text);
        self.tags(&mut text);
        self.conventions(&mut text);
        text
    }

    /// What the owner wrote for assistants.
    fn notes(&mut self, tag: &str, text: &mut String) {
        let query = Query {
            condition: Some(Condition::Tag(tag.to_owned())),
            sort: vec![Sort {
                by: SortBy::Path,
                descending: false,
            }],
            limit: MOST_NOTES,
            fields: vec![Field::Properties],
            ..Query::default()
        };
        let found: Found = self.ask(Question::Find(query)).unwrap_or_default();
        if found.items.is_empty() {
            return;
        }
        let _ = writeln!(
            text,
            "Notes that the owner tagged `#{tag}` for you; read those that matter to your task:"
        );
        for note in &found.items {
            let properties = note.properties.as_ref();
            let description = properties
                .and_then(|properties| properties.get("description"))
                .and_then(Value::as_str)
                .map(one_line)
                .filter(|description| !description.is_empty());
            let description = description.unwrap_or_else(|| {
                "(it has no description: ask the owner whether you may add the property `description`)".to_owned()
            });
            let _ = writeln!(text, "- `{}`: {description}", note.path);
        }
        let more = found.total.saturating_sub(found.items.len() as u64);
        if more > 0 {
            let _ = writeln!(text, "- and {more} more: `tag.notes` with `tag: \"{tag}\"`");
        }
    }

    fn notebooks(&mut self, text: &mut String) {
        let Ok(page) = self.transaction.list("", false, None, 1000) else {
            return;
        };
        let folders = page.entries.into_iter();
        let folders = folders.filter(|entry| entry.kind == Kind::Folder);
        let told: Vec<String> = folders
            .map(|entry| {
                let tier = self.rules.tier_of(&entry.path, Kind::Folder);
                format!("`{}` ({tier})", entry.path)
            })
            .collect();
        if told.is_empty() {
            return;
        }
        let shown = told.iter().take(MOST_NOTEBOOKS).cloned();
        let more = match told.len().saturating_sub(MOST_NOTEBOOKS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let _ = writeln!(
            text,
            "Notebooks, with what you may do there: {}{more}.",
            shown.collect::<Vec<_>>().join(", ")
        );
    }

    fn tags(&mut self, text: &mut String) {
        let asked = TagsOf {
            by_count: true,
            limit: MOST_TAGS,
            ..TagsOf::default()
        };
        let tags: Tags = self.ask(Question::Tags(asked)).unwrap_or_default();
        if tags.items.is_empty() {
            return;
        }
        let told: Vec<String> = tags
            .items
            .iter()
            .map(|tag| format!("#{} ({})", tag.tag, tag.notes))
            .collect();
        let more = match tags.total.saturating_sub(told.len() as u64) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let _ = writeln!(text, "Tags in use: {}{more}.", told.join(", "));
    }

    /// How this vault's owner has Obsidian keep things.
    fn conventions(&mut self, text: &mut String) {
        let kept = conventions(&self.vault, &mut self.transaction);
        let mut told = Vec::new();
        if kept.markdown_links {
            told.push("links are written as Markdown links".to_owned());
        }
        match kept.link_format.as_deref() {
            Some("absolute") => told.push("links have the full path".to_owned()),
            Some("relative") => told.push("links have relative paths".to_owned()),
            _ => {}
        }
        let folders = [
            ("attachments go to", kept.attachments),
            ("daily notes are in", kept.daily_notes),
            ("templates are in", kept.templates),
        ];
        for (what, folder) in folders {
            let folder = folder.filter(|folder| !folder.is_empty() && !folder.starts_with('.'));
            told.extend(folder.map(|folder| format!("{what} `{folder}`")));
        }
        if !told.is_empty() {
            let _ = writeln!(text, "Conventions: {}.", told.join("; "));
        }
    }

    fn ask<T: serde::de::DeserializeOwned>(&mut self, question: Question) -> Option<T> {
        match self.index.ask(&mut self.transaction, question).ok()? {
            Answer::Json(json) => serde_json::from_str(&json).ok(),
            Answer::Paths(_) => None,
        }
    }
}

/// A text of a note for one line of ours: bounded, and nothing in it breaks out of the line.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(LONGEST_DESCRIPTION) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
