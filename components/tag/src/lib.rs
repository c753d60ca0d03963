//! The tag domain: list tags, find tagged notes, and edit tags in some notes or everywhere.
//!
//! `notehost_sdk::text::tags` defines the syntax of tags. `inline_tags` edits tags in the text, `property_tags` those
//! in the properties; everything else keeps its bytes.

pub mod add_take;
mod inline_tags;
mod names;
mod notes;
mod property_tags;
pub mod rename_remove;
pub mod tag_queries;

#[cfg(test)]
mod tests;

use notehost_sdk::domain;

domain! {
    /// Tags: list them with counts, find the notes of a tag, add, take away, rename or remove tags, in the text
    /// (`#tag`) and in the properties (`tags`). Tags are written with or without `#` and are case-insensitive; `vc`
    /// includes nested tags such as `vc/project`.
    "tag" {
        "list" => tag_queries::List,
        "notes" => tag_queries::Notes,
        "of" => tag_queries::Of,
        "add" => add_take::Add,
        "take" => add_take::Take,
        "rename" => rename_remove::Rename,
        "remove" => rename_remove::Remove,
    }
}
