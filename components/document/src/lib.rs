//! The document domain: actions on one note, or on a few of them.
//!
//! One file per group of actions. Editing a note's bytes is implemented in `notehost_sdk::text`, which other domains use
//! too. Searching, link queries, blocks and files that are not notes belong to other domains.

pub mod backlinks;
pub mod create;
pub mod edit_actions;
pub mod extract_section;
pub mod history;
pub mod list_actions;
pub mod lookup;
pub mod merge;
pub mod move_actions;
pub mod properties;
pub mod read_actions;
pub mod sections;
pub mod trash;
pub mod versions;

#[cfg(test)]
mod tests;

use notehost_sdk::documents::{changes, naming};
use notehost_sdk::domain;

domain! {
    /// Notes (Markdown documents): read, create, edit, organise, history, trash, undo.
    /// Name a note by its path (`.md` is optional), unique name or `[[link]]`; a section by its heading path (`A > B`).
    /// Line numbers are those of the file, 1-based. Bytes outside an edit never change.
    "document" {
        "create" => create::Create,
        "read" => read_actions::Read,
        "read_many" => read_actions::ReadMany,
        "lookup" => lookup::Lookup,
        "outline" => lookup::NoteOutline,
        "update" => edit_actions::Update,
        "append" => edit_actions::Append,
        "prepend" => edit_actions::Prepend,
        "insert" => edit_actions::Insert,
        "edit" => edit_actions::EditNote,
        "read_section" => sections::ReadSection,
        "append_section" => sections::AppendSection,
        "replace_section" => sections::ReplaceSection,
        "delete_section" => sections::DeleteSection,
        "properties" => properties::Properties,
        "set_properties" => properties::SetProperties,
        "rename" => move_actions::Rename,
        "move" => move_actions::Move,
        "copy" => move_actions::Copy,
        "remove" => trash::Remove,
        "restore" => trash::Restore,
        "trash" => trash::Trash,
        "list" => list_actions::List,
        "tree" => list_actions::Tree,
        "history" => history::History,
        "diff" => history::Diff,
        "restore_version" => versions::RestoreVersion,
        "name_version" => versions::NameVersion,
        "undo" => history::Undo,
        "extract_section" => extract_section::ExtractSection,
        "merge" => merge::Merge,
    }
}
