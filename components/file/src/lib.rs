//! The file domain: files that are not notes (images, PDFs, audio, canvases) and the notes that use them; export of
//! notes; templates.
//!
//! `file_type` detects file types, `notehost_sdk::text::moving` updates links when a file moves, `canvas` parses the
//! references of canvases. Search for files by name belongs to the search domain.

mod canvas;
mod encoding;
pub mod export;
pub mod file_type;
mod image_size;
pub mod list;
mod paths;
mod pdf;
pub mod read;
pub mod rename_remove;
pub mod templates;
pub mod usage;
pub mod write;

#[cfg(test)]
mod tests;

use notehost_sdk::domain;

domain! {
    /// Files that are not notes (attachments, assets): images, PDF text, audio, canvases; read, write, rename, remove;
    /// find unused or missing ones; export notes as zip or HTML; templates. A file is given by path or unique name.
    "file" {
        "list" => list::List,
        "read" => read::Read,
        "write" => write::Write,
        "rename" => rename_remove::Rename,
        "remove" => rename_remove::Remove,
        "of" => usage::Of,
        "unused" => usage::Unused,
        "remove_unused" => usage::RemoveUnused,
        "missing" => usage::Missing,
        "export" => export::Export,
        "templates" => templates::Templates,
        "render" => templates::Render,
    }
}
