//! The database domain: notes as rows of a table. A database is a `.base` file, a `base` code block of a note, or a folder.
//!
//! `expression` is the language of filters and formulas, `base` the model of a `.base` file, `database` opens databases by
//! name, `rows` selects their notes, and `yaml_edit` edits their YAML losslessly. The other files are the actions.

pub mod adding;
mod base;
pub mod cells;
mod column;
pub mod columns;
pub mod entries;
mod expression;
mod filter;
mod layout;
pub mod looking;
pub mod making;
mod place;
pub mod query;
pub mod removing;
pub mod rows;
mod summaries;
mod table;
pub mod telling;
pub mod types;

#[cfg(test)]
mod tests;

use notehost_sdk::domain;

domain! {
    /// Databases (Obsidian Bases): tables of notes; each row is a note, each column a property. Query with filters,
    /// formulas, sorting, groups and summaries; add columns and rows, set many cells at once. A database is a `.base`
    /// file, a note with a `base` code block, or any folder.
    "database" {
        "list" => looking::List,
        "get" => looking::Get,
        "query" => query::QueryRows,
        "columns" => columns::Columns,
        "add_column" => adding::AddColumn,
        "remove_column" => removing::RemoveColumn,
        "add_rows" => entries::AddRows,
        "remove_rows" => entries::RemoveRows,
        "set_cells" => cells::SetCells,
        "create" => making::Create,
        "duplicate" => making::Duplicate,
        "values" => columns::Values,
    }
}
