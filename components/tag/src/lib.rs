//! The tag domain: which tags there are, which notes have them, and changing them in one note or everywhere.
//!
//! What a tag is, `notehost_sdk::text::tags` knows. Tags of the prose are changed in `inline`, those of the properties in
//! `listed`; whatever is no tag keeps every byte.

pub mod adding;
mod inline;
mod listed;
pub mod looking;
mod names;
mod notes;
pub mod renaming;

#[cfg(test)]
mod tests;

use notehost_sdk::domain;

domain! {
    /// Tags: list them with counts, find the notes of one, add, take away, rename or remove them, in the text (`#tag`) and
    /// in the properties (`tags`). A tag is written with or without `#`; case does not matter; `vc` includes what is below
    /// it, such as `vc/project`.
    "tag" {
        "list" => looking::List,
        "notes" => looking::Notes,
        "of" => looking::Of,
        "add" => adding::Add,
        "take" => adding::Take,
        "rename" => renaming::Rename,
        "remove" => renaming::Remove,
    }
}
