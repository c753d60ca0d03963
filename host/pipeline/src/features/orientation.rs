//! The orientation for a model about the vaults: the rules of this server in the host's own words (confirmations, tag
//! policy, how to add notes for assistants), and data of each vault: assistant notes, notebooks, tags in use, conventions
//! for links and attachments. Made from the index for one caller: it names nothing that this caller may not see.
//!
//! A note counts as an assistant note only if its frontmatter has the tag and the config lists its notebook: a clipped
//! page can have a tag in its text, and any writer can add one to a frontmatter. Text from the vault is quoted, one
//! line each; whatever shows it marks it as data.

use notehost_sdk::Code;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use notehost_sdk::index::{
    Condition, Field, Found, PropertyTest, Query, Sort, SortBy, Tags, TagsQuery,
};
use serde_json::Value;

use super::conventions::conventions;
use crate::stages::confirm::is_confirmed;
use crate::{Host, data_line};
use notehost_config::{OrientationSettings, Settings, TagPolicy};
use notehost_index::{Answer, Index, Question};
use notehost_policy::auth::Caller;
use notehost_vault::{Access, Effect, Kind, Limits, Rules, Tier, Transaction, Vault, VaultError};

/// The maximum numbers of listed items.
const MAX_NOTES: u32 = 12;
const MAX_TAGS: u32 = 15;
/// More of them if no others may be added, in at most so many bytes.
const MAX_ALLOWED_TAGS: u32 = 60;
const MAX_TAGS_BYTES: usize = 600;
const MAX_NOTEBOOKS: usize = 20;
const MAX_VAULTS: usize = 8;
/// A description is one or two sentences.
const MAX_DESCRIPTION_CHARS: usize = 200;
/// Its time limit: callers wait for it before something else.
const ORIENTATION_TIME: Duration = Duration::from_millis(1000);
/// Longer names of files and tags are cut.
const MAX_NAME_CHARS: usize = 200;
/// How long a tag may be that is shown.
const MAX_TAG_CHARS: usize = 40;

/// Which notes are written for assistants; `None` if the settings do not show them to models.
pub(crate) fn assistant_notes(settings: &OrientationSettings) -> Option<Condition> {
    let notebooks = settings.notebooks.iter();
    let within: Vec<Condition> = notebooks
        .filter(|notebook| !notebook.is_empty())
        .map(|notebook| match notebook.as_str() {
            "." => Condition::Path("*".to_owned()),
            notebook => Condition::Under(notebook.to_owned()),
        })
        .collect();
    if !settings.enabled || within.is_empty() {
        return None;
    }
    let tag = settings.tag.trim_start_matches('#');
    let written = [tag.to_owned(), format!("#{tag}")];
    let tagged = ["tags", "tag"].into_iter().flat_map(|key| {
        written.iter().map(move |tag| {
            Condition::Property(Box::new(PropertyTest {
                key: key.to_owned(),
                equals: Some(tag.as_str().into()),
                ..PropertyTest::default()
            }))
        })
    });
    Some(Condition::All(vec![
        Condition::Any(within),
        Condition::Any(tagged.collect()),
    ]))
}

/// What a model should know.
#[derive(Debug, Clone, Default)]
pub struct Orientation {
    /// The rules of this server, in its own words.
    pub rules: String,
    /// Data of the vaults; empty if there is none, or if the index is still loading or does not answer in time.
    pub vaults: String,
}

/// What a model should know of this server and the vaults of one caller; nothing if that is switched off.
///
/// Not for async workers: it waits for the index, and goes through all notes.
pub fn orientation(host: &Host, caller: &Caller) -> Orientation {
    let settings = host.settings_of(caller);
    if !settings.orientation.enabled {
        return Orientation::default();
    }
    let (Ok(rights), Ok(vaults)) = (host.rights_of(caller), host.vaults_of(caller)) else {
        return Orientation::default();
    };
    let has_only_existing_tags = settings.tags.policy == TagPolicy::Existing;
    let mut own_rules = format!("{}\n", confirmation_rule(host, &settings, caller));
    if has_only_existing_tags {
        own_rules.push_str(TAG_RULE);
        own_rules.push('\n');
    }
    let incomplete = |rules: String| Orientation {
        rules,
        vaults: String::new(),
    };
    let (mut is_read, mut has_notes) = (false, false);
    let mut written_in = BTreeSet::new();
    let has_several = vaults.len() > 1;
    let limits = Limits {
        deadline: Some(Instant::now() + ORIENTATION_TIME),
        ..Limits::default()
    };
    let mut text = String::new();
    if let (true, Some(default)) = (has_several, vaults.first()) {
        let ids = vaults.iter().take(MAX_VAULTS).map(|vault| vault.id());
        let more = match vaults.len().saturating_sub(MAX_VAULTS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let _ = writeln!(
            own_rules,
            "Vaults: {}{more}. A call without `vault` goes to `{}`.",
            ids.collect::<Vec<_>>().join(", "),
            default.id()
        );
    }
    for vault in vaults {
        let index = host.index_of(&vault);
        if !index.is_ready() {
            continue;
        }
        let Some(here) = rights.in_vault(vault.id()) else {
            continue;
        };
        let rules: Arc<dyn Rules> = here.permissions.clone();
        is_read = true;
        let mut summary = VaultSummary {
            has_only_existing_tags,
            has_notes: false,
            transaction: vault.begin(Access {
                rules: rules.clone(),
                effect: Effect::Read,
                component: "host".into(),
                limits,
            }),
            vault,
            index,
            rules,
        };
        let Ok(lines) = summary.words(&settings.orientation) else {
            // An incomplete orientation would look complete: it is shown later.
            return incomplete(own_rules);
        };
        has_notes |= summary.has_notes;
        written_in.extend(summary.notebooks_for_assistants(&settings.orientation));
        if lines.is_empty() {
            continue;
        }
        if has_several {
            let _ = writeln!(text, "Vault `{}`:", summary.vault.id());
        }
        text.push_str(&lines);
    }
    if is_read && !has_notes {
        let hint = assistant_notes_hint(&settings.orientation, &written_in);
        own_rules.extend(hint.map(|hint| format!("{hint}\n")));
    }
    Orientation {
        rules: own_rules,
        vaults: text,
    }
}

/// What happens to the destructive calls of this caller.
fn confirmation_rule(host: &Host, settings: &Settings, caller: &Caller) -> &'static str {
    if !is_confirmed(settings, caller) {
        "Confirmations: none are asked here; ask your user before you delete notes or drop content."
    } else if host.is_attended(caller) {
        "Confirmations: before a call deletes notes or drops content, the user is asked; `confirmation_required` means that \
         nothing was changed yet: once it is approved, repeat the call with `approval`."
    } else {
        "Confirmations: a call that deletes notes or drops content returns `confirmation_required` and changes nothing; a \
         person decides elsewhere, then repeat the call with `approval`."
    }
}

/// The tag policy `existing`. The tags themselves are data of the vault.
const TAG_RULE: &str = "Tags: only tags that notes already have may be added; ask the user before you need another one.";

/// How the owner adds notes for assistants, where there are none; `None` if this caller sees no notebook that is listed
/// for them.
fn assistant_notes_hint(
    settings: &OrientationSettings,
    written_in: &BTreeSet<String>,
) -> Option<String> {
    let tag = settings.tag.trim_start_matches('#');
    if settings.notebooks.is_empty() {
        return Some(format!(
            "No notes for assistants are set up. If the user wants you to know how these notes are kept: list a notebook under \
             `[orientation] notebooks` in the config, and tag notes there with `{tag}` in their frontmatter."
        ));
    }
    let first = match written_in.first()?.as_str() {
        "." => "the root of the vault".to_owned(),
        notebook => format!("the notebook {}", name(notebook)),
    };
    Some(format!(
        "There are no notes for assistants yet: the user can add one in {first}, with `tags: [{tag}]` and a `description` in its \
         frontmatter."
    ))
}

/// One vault as one caller sees it.
struct VaultSummary {
    vault: Arc<Vault>,
    index: Arc<Index>,
    rules: Arc<dyn Rules>,
    transaction: Transaction,
    /// Whether only existing tags may be added.
    has_only_existing_tags: bool,
    /// Whether it has notes for assistants.
    has_notes: bool,
}

impl VaultSummary {
    /// The notebooks whose tagged notes are shown, if the caller sees them.
    fn notebooks_for_assistants(&mut self, settings: &OrientationSettings) -> Vec<String> {
        let notebooks = settings.notebooks.iter().filter(|name| !name.is_empty());
        let visible = notebooks.filter(|name| match name.as_str() {
            "." => true,
            name => self.rules.tier_of(name, Kind::Folder) > Tier::None,
        });
        let visible: Vec<String> = visible.cloned().collect();
        // One that does not exist is not named: nothing can be added there yet.
        visible
            .into_iter()
            .filter(|name| name == "." || self.transaction.stat(name).is_ok())
            .collect()
    }

    fn words(&mut self, settings: &OrientationSettings) -> Result<String, VaultError> {
        let mut text = String::new();
        if let Some(condition) = assistant_notes(settings) {
            self.notes(&settings.tag, condition, &mut text)?;
        }
        self.notebooks(&mut text);
        self.tags(&mut text)?;
        self.conventions(&mut text);
        Ok(text)
    }

    /// What the owner wrote for assistants.
    fn notes(
        &mut self,
        tag: &str,
        condition: Condition,
        text: &mut String,
    ) -> Result<(), VaultError> {
        let query = Query {
            condition: Some(condition),
            sort: vec![Sort {
                by: SortBy::Path,
                descending: false,
            }],
            limit: MAX_NOTES,
            fields: vec![Field::Properties],
            ..Query::default()
        };
        let found: Found = self.ask(Question::Find(query))?.unwrap_or_default();
        if found.items.is_empty() {
            return Ok(());
        }
        self.has_notes = true;
        let _ = writeln!(
            text,
            "Notes with the property `tags: {tag}`; read those that matter to your task:"
        );
        for note in &found.items {
            let properties = note.properties.as_ref();
            let description = properties
                .and_then(|properties| properties.get("description"))
                .and_then(Value::as_str)
                .map(|description| data_line(description, MAX_DESCRIPTION_CHARS))
                .filter(|description| !description.is_empty());
            let description = match description {
                Some(description) => format!("\"{description}\""),
                None => "(it has no description: ask the owner whether you may add the property `description`)".to_owned(),
            };
            let _ = writeln!(text, "- {}: {description}", name(&note.path));
        }
        let more = found.total.saturating_sub(found.items.len() as u64);
        if more > 0 {
            let _ = writeln!(text, "- and {more} more: `tag.notes` with `tag: \"{tag}\"`");
        }
        Ok(())
    }

    fn notebooks(&mut self, text: &mut String) {
        let Ok(page) = self.transaction.list("", false, None, 1000) else {
            return;
        };
        let folders = page.entries.into_iter();
        let folders = folders.filter(|entry| entry.kind == Kind::Folder);
        let listed: Vec<String> = folders
            .map(|entry| {
                let tier = self.rules.tier_of(&entry.path, Kind::Folder);
                format!("{} ({tier})", name(&entry.path))
            })
            .collect();
        if listed.is_empty() {
            return;
        }
        let shown = listed.iter().take(MAX_NOTEBOOKS).cloned();
        let more = match listed.len().saturating_sub(MAX_NOTEBOOKS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let _ = writeln!(
            text,
            "Notebooks, with what you may do there: {}{more}.",
            shown.collect::<Vec<_>>().join(", ")
        );
    }

    fn tags(&mut self, text: &mut String) -> Result<(), VaultError> {
        let query = TagsQuery {
            by_count: true,
            limit: match self.has_only_existing_tags {
                true => MAX_ALLOWED_TAGS,
                false => MAX_TAGS,
            },
            ..TagsQuery::default()
        };
        let tags: Tags = self.ask(Question::Tags(query))?.unwrap_or_default();
        // A tag is text of a note: one that is long enough for a sentence is not shown.
        let listed = tags
            .items
            .iter()
            .filter(|tag| tag.tag.chars().count() <= MAX_TAG_CHARS)
            .map(|tag| format!("#{} ({})", data_line(&tag.tag, MAX_TAG_CHARS), tag.notes));
        let mut bytes = 0;
        let listed: Vec<String> = listed
            .take_while(|tag| {
                bytes += tag.len() + 2;
                bytes <= MAX_TAGS_BYTES
            })
            .collect();
        if listed.is_empty() {
            return Ok(());
        }
        let heading = match self.has_only_existing_tags {
            true => "Tags that may be added",
            false => "Tags in use",
        };
        let more = match tags.total.saturating_sub(listed.len() as u64) {
            0 => String::new(),
            more => format!(" and {more} more (`tag.list`)"),
        };
        let _ = writeln!(text, "{heading}: {}{more}.", listed.join(", "));
        Ok(())
    }

    /// The settings of this vault's owner in Obsidian.
    fn conventions(&mut self, text: &mut String) {
        let kept = conventions(&self.vault, &mut self.transaction);
        let mut listed = Vec::new();
        if kept.markdown_links {
            listed.push("links are written as Markdown links".to_owned());
        }
        match kept.link_format.as_deref() {
            Some("absolute") => listed.push("links have the full path".to_owned()),
            Some("relative") => listed.push("links have relative paths".to_owned()),
            _ => {}
        }
        let folders = [
            ("attachments go to", kept.attachments),
            ("daily notes are in", kept.daily_notes),
            ("templates are in", kept.templates),
        ];
        for (what, folder) in folders {
            let folder = folder.filter(|folder| !folder.is_empty() && !folder.starts_with('.'));
            listed.extend(folder.map(|folder| format!("{what} {}", name(&folder))));
        }
        if !listed.is_empty() {
            let _ = writeln!(text, "Conventions: {}.", listed.join("; "));
        }
    }

    /// Queries the index; fails if it does not answer in time.
    fn ask<T: TryFrom<Answer>>(&mut self, question: Question) -> Result<Option<T>, VaultError> {
        match self.index.ask(&mut self.transaction, question) {
            Ok(answer) => Ok(answer.try_into().ok()),
            Err(error) if error.code() == Code::Timeout => Err(error),
            Err(_) => Ok(None),
        }
    }
}

/// The name of a file or folder, quoted.
fn name(path: &str) -> String {
    format!("`{}`", data_line(path, MAX_NAME_CHARS))
}
