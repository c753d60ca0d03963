//! The document domain: everything that is done to one note, or to a few of them.
//!
//! One file per group of actions. How a note's bytes change is not here: `notehost_sdk::text` knows that, and other
//! domains use it too. Searching, links as such, blocks and files that are no notes are other domains.

pub mod backlinks;
pub mod creating;
pub mod editing;
pub mod extracting;
pub mod finding;
pub mod history;
pub mod listing;
pub mod merging;
pub mod moving;
pub mod properties;
pub mod reading;
pub mod removing;
pub mod sections;

#[cfg(test)]
mod tests;

use notehost_sdk::documents::{changes, naming};
use notehost_sdk::domain;

domain! {
    /// Notes (Markdown documents): read, create, edit, organise, history, trash, undo.
    /// Name a note by its path (`.md` is optional), unique name or `[[link]]`; a section by its heading path (`A > B`).
    /// Line numbers are those of the file, 1-based. Bytes outside an edit never change.
    "document" {
        "create" => creating::Create,
        "read" => reading::Read,
        "read_many" => reading::ReadMany,
        "lookup" => finding::Lookup,
        "outline" => finding::OutlineOf,
        "update" => editing::Update,
        "append" => editing::Append,
        "prepend" => editing::Prepend,
        "insert" => editing::Insert,
        "edit" => editing::EditNote,
        "read_section" => sections::ReadSection,
        "append_section" => sections::AppendSection,
        "replace_section" => sections::ReplaceSection,
        "delete_section" => sections::DeleteSection,
        "properties" => properties::Properties,
        "set_properties" => properties::SetProperties,
        "rename" => moving::Rename,
        "move" => moving::Move,
        "copy" => moving::Copy,
        "remove" => removing::Remove,
        "restore" => removing::Restore,
        "trash" => removing::Trash,
        "list" => listing::List,
        "tree" => listing::Tree,
        "history" => history::History,
        "diff" => history::Diff,
        "undo" => history::Undo,
        "extract_section" => extracting::ExtractSection,
        "merge" => merging::Merge,
    }
}
