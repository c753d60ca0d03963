//! What a component may know of where it runs: the records behind the JSON of the contract's `host` interface. Host and
//! components share them, so they cannot drift apart. Within a track a record may gain optional fields; nothing else
//! changes. As everywhere, what the caller may not see is not in them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The moment, and what the clock on the owner's wall shows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Now {
    /// Milliseconds since 1970, in UTC.
    pub milliseconds: u64,
    /// How far local time is ahead of UTC.
    #[serde(default)]
    pub offset_minutes: i32,
    /// The name of the time zone, such as `Europe/Berlin`, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

/// The host, and what it serves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The version of Notehost.
    pub version: String,
    /// The vault of this call.
    pub vault: String,
    /// The vaults that this caller may use.
    pub vaults: Vec<String>,
    /// How actions are offered as tools: `domain`, `split`, `flat` or `finder`.
    pub surface: String,
    /// Whether nobody may write at the moment.
    #[serde(default)]
    pub read_only: bool,
    /// When the host began to serve, in milliseconds since 1970.
    pub started: u64,
    /// `open`, or `existing` where a note may only get tags that are in use.
    pub tag_policy: String,
    /// What is loaded and may be called by this caller.
    pub domains: Vec<AboutDomain>,
}

/// One tool domain.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AboutDomain {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// How many of its actions this caller may call.
    pub actions: u32,
}

/// Who calls.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CallerTold {
    /// The name that the audit has.
    pub name: String,
    /// What it may do at all: `read`, `write`, `delete`, `admin`.
    pub scopes: Vec<String>,
    /// The only vault it may use, if there is just one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_to: Option<String>,
    /// How many calls it has made in this vault before this one.
    pub calls: u64,
    /// What is left of its limits, by effect.
    pub limits: Vec<LimitLeft>,
}

/// How many more calls of an effect a caller may make.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LimitLeft {
    /// `read`, `write` or `delete`.
    pub effect: String,
    /// How many a minute.
    pub per_minute: u32,
    /// How many at once, now.
    pub left: u32,
}

/// How the owner keeps the notes, from the settings of their editor, as far as the caller may see the folders that are
/// named in them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conventions {
    /// Where attachments go: a folder, `""` for the vault itself, `./` for the note's own folder, `./name` for one
    /// within it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachments: Option<String>,
    /// How new links name a note: `shortest`, `relative` or `absolute`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_format: Option<String>,
    /// Whether new links are `[text](note.md)` instead of `[[note]]`.
    #[serde(default)]
    pub markdown_links: bool,
    /// The folder of templates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub templates: Option<String>,
    /// How `{{date}}` is written in a template, unless it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template_date: Option<String>,
    /// How `{{time}}` is written in a template, unless it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template_time: Option<String>,
    /// The folder of daily notes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daily_notes: Option<String>,
    /// How a daily note is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daily_format: Option<String>,
    /// The types that the owner gave to properties: `text`, `number`, `checkbox`, `date`, `datetime`, `multitext`, `tags`,
    /// `aliases`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub property_types: BTreeMap<String, String>,
}
