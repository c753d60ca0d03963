//! The file domain: what lies in a vault and is no note. Pictures, PDFs, recordings, canvases; which notes use them;
//! templates; and notes taken out of the vault with all that belongs to them.
//!
//! What a file is, `kinds` decides. How links follow a file that moves, `notehost_sdk::text::moving` knows; what canvases
//! refer to, `canvas`. Looking for files by name is the search domain's.

mod canvas;
pub mod changing;
mod encoding;
pub mod exporting;
pub mod kinds;
pub mod listing;
mod pdf;
mod pictures;
mod places;
pub mod reading;
pub mod templating;
pub mod using;
pub mod writing;

#[cfg(test)]
mod tests;

use notehost_sdk::domain;

domain! {
    /// Files that are no notes (attachments, assets): images, PDF text, audio, canvases; read, write, rename, remove; which
    /// are unused or missing; export of notes as zip or HTML; templates. A file is named by its path or unique name.
    "file" {
        "list" => listing::List,
        "read" => reading::Read,
        "write" => writing::Write,
        "rename" => changing::Rename,
        "remove" => changing::Remove,
        "of" => using::Of,
        "unused" => using::Unused,
        "remove_unused" => using::RemoveUnused,
        "missing" => using::Missing,
        "export" => exporting::Export,
        "templates" => templating::Templates,
        "render" => templating::Render,
    }
}
