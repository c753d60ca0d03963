//! The database domain: notes as rows of a table. A database is a `.base` file, a `base` code block of a note, or a
//! folder.
//!
//! `expression` is the language of filters and formulas, `base` the model of a `.base` file, `open` opens databases by
//! name, `rows` selects their notes, and `yaml_edit` edits their YAML losslessly. The other files are the actions.

pub mod add_column;
mod base;
pub mod catalog;
pub mod cells;
mod column;
pub mod columns;
pub mod create;
mod expression;
mod filter;
mod markdown_table;
mod open;
pub mod query;
pub mod query_reply;
pub mod remove_column;
pub mod row_actions;
pub mod rows;
mod summaries;
pub mod types;
mod yaml_edit;

#[cfg(test)]
mod tests;

use notehost_sdk::domain;

domain! {
    /// Databases (Obsidian Bases): tables of notes; each row is a note, each column a property. Query with filters,
    /// formulas, sorting, groups and summaries; add columns and rows, set many cells at once. A database is a `.base`
    /// file, a note with a `base` code block, or any folder.
    "database" {
        "list" => catalog::List,
        "get" => catalog::Get,
        "query" => query::QueryRows,
        "columns" => columns::Columns,
        "add_column" => add_column::AddColumn,
        "remove_column" => remove_column::RemoveColumn,
        "add_rows" => row_actions::AddRows,
        "remove_rows" => row_actions::RemoveRows,
        "set_cells" => cells::SetCells,
        "create" => create::Create,
        "duplicate" => create::Duplicate,
        "values" => columns::Values,
    }
}
