//! The arguments that narrow a search, beside its query.

use notehost_sdk::host::Now;
use notehost_sdk::index::{Condition, Has};
use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::{Map, Value};

use crate::filter;
use notehost_sdk::matching::Place;

/// What a note must have in it.
#[args]
#[derive(Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words say it")]
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
            // Whatever is found is a note.
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

/// All of these conditions as one.
pub(crate) fn all(conditions: impl IntoIterator<Item = Condition>) -> Condition {
    let mut conditions: Vec<Condition> = conditions.into_iter().collect();
    match conditions.len() {
        1 => conditions.remove(0),
        _ => Condition::All(conditions),
    }
}

/// Where a note must lie.
pub(crate) fn within(vault: &Vault, path: Option<&str>) -> Result<Option<Condition>> {
    Ok(Place::find(vault, path)?.condition())
}

/// The tags that a note must have, all of them.
pub(crate) fn tagged(tags: Option<&[String]>) -> Result<Vec<Condition>> {
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

/// The properties that a note must have.
pub(crate) fn with_properties(
    properties: Option<&Map<String, Value>>,
    now: &Now,
) -> Result<Vec<Condition>> {
    let properties = properties.into_iter().flatten();
    properties
        .map(|(key, value)| filter::property(key, value, now))
        .collect()
}

/// What a note must have in it, all of it.
pub(crate) fn of_types(types: Option<&[Type]>) -> Vec<Condition> {
    let types = types.unwrap_or_default().iter();
    types
        .filter_map(|wanted| wanted.has())
        .map(Condition::Has)
        .collect()
}
