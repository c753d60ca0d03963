//! Conditions for the arguments that restrict a search: path, tags, properties, content types.

use notehost_sdk::host::Now;
use notehost_sdk::index::{Condition, Has};
use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::{Map, Value};

use crate::filter;
use notehost_sdk::matching::Place;

/// What a note must contain.
#[args]
#[derive(Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub enum Type {
    Note,
    Task,
    OpenTask,
    Heading,
    Link,
    BrokenLink,
    Backlink,
    Embed,
    Tag,
    Property,
    Alias,
    Block,
}

impl Type {
    fn has(self) -> Option<Has> {
        Some(match self {
            // Every result is a note.
            Type::Note => return None,
            Type::Task => Has::Tasks,
            Type::OpenTask => Has::OpenTasks,
            Type::Heading => Has::Headings,
            Type::Link => Has::Links,
            Type::BrokenLink => Has::BrokenLinks,
            Type::Backlink => Has::Backlinks,
            Type::Embed => Has::Embeds,
            Type::Tag => Has::Tags,
            Type::Property => Has::Properties,
            Type::Alias => Has::Aliases,
            Type::Block => Has::Blocks,
        })
    }
}

/// Combines conditions with AND.
pub(crate) fn all_of(conditions: impl IntoIterator<Item = Condition>) -> Condition {
    let mut conditions: Vec<Condition> = conditions.into_iter().collect();
    match conditions.len() {
        1 => conditions.remove(0),
        _ => Condition::All(conditions),
    }
}

/// The condition for `path`.
pub(crate) fn path_condition(vault: &Vault, path: Option<&str>) -> Result<Option<Condition>> {
    Ok(Place::find(vault, path)?.condition())
}

/// The conditions for `tags`: a note must have all of them.
pub(crate) fn tag_conditions(tags: Option<&[String]>) -> Result<Vec<Condition>> {
    let tags = tags.unwrap_or_default().iter();
    tags.map(|tag| {
        let name = tag.trim().trim_start_matches('#').trim_end_matches('/');
        match name {
            "" => Err(Error::validation("`tags` has an empty tag")),
            name => Ok(Condition::Tag(name.to_owned())),
        }
    })
    .collect()
}

/// The conditions for `properties`.
pub(crate) fn property_conditions(
    properties: Option<&Map<String, Value>>,
    now: &Now,
) -> Result<Vec<Condition>> {
    let properties = properties.into_iter().flatten();
    properties
        .map(|(key, value)| filter::property(key, value, now))
        .collect()
}

/// The conditions for `types`: a note must contain all of them.
pub(crate) fn type_conditions(types: Option<&[Type]>) -> Vec<Condition> {
    let types = types.unwrap_or_default().iter();
    types
        .filter_map(|content_type| content_type.has())
        .map(Condition::Has)
        .collect()
}
