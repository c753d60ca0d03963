//! The search domain: notes found by what is in them, and passages made of what was found.
//!
//! One file per action. What a query of words means is in `query/`, what a JSON filter means in `filter`; both become
//! conditions for the host's index, which does the finding. What no index can answer, patterns, is run over the notes
//! themselves by `notehost_sdk::matching`.

pub mod assets;
pub mod context;
pub mod filter;
pub mod narrowing;
mod order;
mod passages;
pub mod pattern;
pub mod query;
pub mod recent;
pub mod replace;
pub mod similar;
pub mod table;
pub mod text;

#[cfg(test)]
mod tests;

use notehost_sdk::domain;

/// How many items a page may have.
const MOST: usize = 200;

domain! {
    /// Search notes: by words, pattern, properties, likeness, time; pack passages into a token budget; replace everywhere.
    /// `text` is the usual way; `query` for properties and dates; `context` to answer a question from the notes. `path`
    /// narrows to a folder, a note or a glob (`Work/**`). Lines are those of the file, from 1.
    "search" {
        "text" => text::Text,
        "regex" => pattern::RegexSearch,
        "query" => table::QueryNotes,
        "similar" => similar::Similar,
        "recent" => recent::Recent,
        "assets" => assets::Assets,
        "replace" => replace::Replace,
        "context" => context::Context,
    }
}
