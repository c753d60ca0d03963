//! Information about the host, the caller and the vault, shared by host and components: the types of the contract's
//! `host` interface. They leave out what the caller may not see.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The current time, with the owner's time zone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Now {
    /// Milliseconds since 1970, in UTC.
    pub milliseconds: u64,
    /// The offset of local time from UTC.
    #[serde(default)]
    pub offset_minutes: i32,
    /// The name of the time zone, such as `Europe/Berlin`, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

/// The host and what it serves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The version of Notehost.
    pub version: String,
    /// The vault of this call.
    pub vault: String,
    /// The vaults that this caller may use.
    pub vaults: Vec<String>,
    /// How actions are exposed as tools: `domain`, `split`, `flat` or `finder`.
    pub surface: String,
    /// Whether writes are currently disabled for everyone.
    #[serde(default)]
    pub read_only: bool,
    /// Start time of the host, in milliseconds since 1970.
    pub started: u64,
    /// `open`, or `existing` if notes may only get tags that are already in use.
    pub tag_policy: String,
    /// The loaded domains that this caller may use.
    pub domains: Vec<AboutDomain>,
}

/// One tool domain.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AboutDomain {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The number of its actions that this caller may call.
    pub actions: u32,
}

/// The caller.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CallerInfo {
    /// Its name, as in the audit log.
    pub name: String,
    /// Its scopes: `read`, `write`, `delete`, `admin`.
    pub scopes: Vec<String>,
    /// The vault that it is restricted to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_to: Option<String>,
    /// The number of its previous calls in this vault.
    pub calls: u64,
    /// Its rate limits, by effect.
    pub limits: Vec<LimitLeft>,
}

/// The rate limit of an effect.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LimitLeft {
    /// `read`, `write` or `delete`.
    pub effect: String,
    /// Calls per minute.
    pub per_minute: u32,
    /// Remaining calls at present.
    pub left: u32,
}

/// Conventions for notes, from the settings of the owner's editor. Leaves out folders that the caller may not see.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conventions {
    /// The location of new attachments: a folder, `""` for the vault itself, `./` for the note's folder, `./name` for a
    /// folder in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachments: Option<String>,
    /// The path format of new links: `shortest`, `relative` or `absolute`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_format: Option<String>,
    /// Whether new links are `[text](note.md)` instead of `[[note]]`.
    #[serde(default)]
    pub markdown_links: bool,
    /// The folder of templates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub templates: Option<String>,
    /// The default format of `{{date}}` in a template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template_date: Option<String>,
    /// The default format of `{{time}}` in a template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template_time: Option<String>,
    /// The folder of daily notes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daily_notes: Option<String>,
    /// The name format of daily notes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daily_format: Option<String>,
    /// The types assigned to properties: `text`, `number`, `checkbox`, `date`, `datetime`, `multitext`, `tags`, `aliases`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub property_types: BTreeMap<String, String>,
}
