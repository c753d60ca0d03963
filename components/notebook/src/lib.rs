//! The notebook domain: the top-level folders of a vault. The content of notes belongs to the document domain; changing
//! permissions is an admin task.

mod children;
mod contents;
mod edit_actions;
mod list_actions;
mod notebook_name;
mod paging;
mod settings;

#[cfg(test)]
mod tests;

pub use children::{Child, ChildKind, Children, ChildrenPage};
pub use edit_actions::{
    Configure, Create, NotebookSettings, Remove, RemovedNotebook, Rename, RenamedNotebook,
};
pub use list_actions::{
    Get, List, Notebook, NotebookPage, Permission, PermissionPage, Permissions,
};
pub use settings::Sort;

use notehost_sdk::domain;

domain! {
    /// Notebooks: the top-level folders of the vault, with icon, description and sort order. List them with counts and
    /// sizes, see their contents and permissions, create, rename (rewriting links), configure or remove one.
    /// The notebook `.` contains the notes in the vault root.
    "notebook" {
        "list" => List,
        "get" => Get,
        "create" => Create,
        "rename" => Rename,
        "configure" => Configure,
        "children" => Children,
        "permissions" => Permissions,
        "remove" => Remove,
    }
}
