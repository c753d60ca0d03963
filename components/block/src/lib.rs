//! The block domain: what is done to one block of a note, and to several in one go.
//!
//! What a block is, which bytes it has and how they change, `notehost_sdk::text::blocks` knows. Here is what callers ask for:
//! how they name blocks (`naming`), the notes that one call works on (`session`), and the actions.

pub mod attributes;
pub mod batch;
pub mod changing;
pub mod counting;
mod fields;
pub mod identifying;
pub mod inserting;
pub mod listing;
pub mod moving;
mod naming;
pub mod reading;
pub mod recent;
pub mod references;
mod session;
pub mod transferring;

#[cfg(test)]
mod tests;

use notehost_sdk::domain;

domain! {
    /// Blocks of a note (paragraph, heading, list item, task, table, callout, quote, code, …): read, insert, change, move,
    /// remove, link to. Name a block by the `block` value of a reply, `Note#^id`, `[[Note#^id]]` or `Note#Heading`; a
    /// `block` value is valid until the block's text changes. Block text excludes the indent and `>` of its parent.
    "block" {
        "get" => reading::Get,
        "list" => listing::List,
        "insert" => inserting::Insert,
        "append" => inserting::Append,
        "prepend" => inserting::Prepend,
        "update" => changing::Update,
        "edit" => changing::EditBlock,
        "move" => moving::Move,
        "remove" => changing::Remove,
        "identify" => identifying::Identify,
        "breadcrumb" => reading::Breadcrumb,
        "references" => references::References,
        "transfer_references" => transferring::TransferReferences,
        "attributes" => attributes::Attributes,
        "set_attributes" => attributes::SetAttributes,
        "count" => counting::Count,
        "recent" => recent::Recent,
        "batch" => batch::Batch,
    }
}
