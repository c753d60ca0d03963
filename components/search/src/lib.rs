//! The search domain: full-text, property and regex search, similar and recent notes, context passages, replace.
//!
//! One file per action. `query/` parses text queries and `filter` parses JSON filters; both produce conditions that the
//! host's index evaluates. An index cannot answer regular expressions: `notehost_sdk::matching` runs them over the
//! notes.

pub mod assets;
pub mod context;
pub mod filter;
mod passages;
pub mod pattern;
pub mod query;
pub mod recent;
pub mod replace;
pub mod restrictions;
pub mod similar;
mod sort_order;
pub mod table;
pub mod text;

#[cfg(test)]
mod tests;

use notehost_sdk::domain;

/// The maximum page size.
const MAX_PAGE_SIZE: usize = 200;

domain! {
    /// Search notes: by words, pattern, properties, similarity, time; pack passages into a token budget; replace
    /// everywhere. Use `text` by default, `query` for properties and dates, `context` to answer a question from the
    /// notes. `path` limits the search to a folder, a note or a glob (`Work/**`). Line numbers count from 1.
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
