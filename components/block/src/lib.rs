//! The block domain: actions on one block of a note, and on several in one batch.
//!
//! Parsing and editing blocks is implemented in `notehost_sdk::text::blocks`. Here are the actions, the resolution of block
//! names (`block_names`) and the notes that one call works on (`session`).

pub mod attributes;
pub mod batch;
pub mod block_ids;
pub mod block_list;
mod block_names;
pub mod counts;
pub mod edit_actions;
mod fields;
pub mod insert_actions;
pub mod link_transfer;
pub mod move_block;
pub mod read_actions;
pub mod recent;
pub mod references;
mod session;

#[cfg(test)]
mod tests;

use notehost_sdk::domain;

domain! {
    /// Blocks of a note (paragraph, heading, list item, task, table, callout, quote, code, …): read, insert, change, move,
    /// remove, link to. Name a block by the `block` value of a reply, `Note#^id`, `[[Note#^id]]` or `Note#Heading`; a
    /// `block` value is valid until the block's text changes. Block text excludes the indent and `>` of its parent.
    "block" {
        "get" => read_actions::Get,
        "list" => block_list::List,
        "insert" => insert_actions::Insert,
        "append" => insert_actions::Append,
        "prepend" => insert_actions::Prepend,
        "update" => edit_actions::Update,
        "edit" => edit_actions::EditBlock,
        "move" => move_block::Move,
        "remove" => edit_actions::Remove,
        "identify" => block_ids::Identify,
        "breadcrumb" => read_actions::Breadcrumb,
        "references" => references::References,
        "transfer_references" => link_transfer::TransferReferences,
        "attributes" => attributes::Attributes,
        "set_attributes" => attributes::SetAttributes,
        "count" => counts::Count,
        "recent" => recent::Recent,
        "batch" => batch::Batch,
    }
}
