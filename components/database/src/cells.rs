//! The `set_cells` action: sets properties of the notes that are rows, all cells of a call or none.

use crate::column::Column;
use crate::columns::{known_column, type_of};
use crate::expression::{Context, Row};
use crate::open::{self, Database, Form};
use crate::query::this;
use crate::rows::{Problems, Selection, is_row, rows};
use crate::types::{self, ColumnType};
use notehost_sdk::fold_name;
use notehost_sdk::pages::counted;
use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::{Map, Value};
use notehost_sdk::text::{self, frontmatter};
use std::collections::HashMap;

/// Maximum number of cells per call.
const MAX_CELLS: usize = 2000;

/// Set cells of a database (properties of its notes), many in one commit. Values are checked against column types.
///
/// Example: `{"database": "Garden/Beds.base", "cells": [{"row": "Bed 1", "column": "crop", "value": "radishes"}]}`
#[args]
pub struct SetCells {
    /// A `.base` file, a note with a `base` block (`Note.md#base-2`), or a folder.
    pub database: String,
    /// Objects `{"row": note, "column": name, "value": any}`, optional `if_match` (etag of the note); `null` clears.
    pub cells: Vec<Map<String, Value>>,
}

/// The result of setting cells.
#[reply]
pub struct CellsSet {
    /// The database.
    pub database: String,
    /// Number of cells in the call.
    pub cells: u64,
    /// The notes that changed.
    pub paths: Vec<String>,
    /// Notes that no longer match the filters of the database.
    pub left: Vec<String>,
}

impl Action for SetCells {
    type Output = CellsSet;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<CellsSet> {
        if self.cells.is_empty() {
            return Err(Error::validation(
                "`cells` is empty: give at least one `{\"row\", \"column\", \"value\"}`",
            ));
        }
        if self.cells.len() > MAX_CELLS {
            return Err(Error::too_large(format!(
                "`cells` has {} items, the maximum is {MAX_CELLS}: use several calls",
                self.cells.len()
            )));
        }
        let database = open::open(vault, &self.database)?;
        let context = Context::new(vault, this(&database))?;
        let mut checker = CellChecker::new(&context, &database)?;
        let mut notes: Vec<(Note, Map<String, Value>)> = Vec::new();
        let mut found: HashMap<String, usize> = HashMap::new();
        for (index, cell) in self.cells.iter().enumerate() {
            let cell = Cell::read(cell, index)?;
            let place = match found.get(cell.row) {
                Some(place) => *place,
                None => {
                    let note = vault.read_note(cell.row)?;
                    let place = notes.iter().position(|(known, _)| known.path == note.path);
                    let place = place.unwrap_or_else(|| {
                        notes.push((note, Map::new()));
                        notes.len() - 1
                    });
                    found.insert(cell.row.to_owned(), place);
                    place
                }
            };
            let (note, set) = &mut notes[place];
            if cell.if_match.is_some_and(|etag| etag != note.etag) {
                return Err(Error::conflict(format!(
                    "`{}` changed since it was read: read it again, its etag is `{}`",
                    note.path, note.etag
                )));
            }
            if set.is_empty() && !is_row(&context, &database, note)? {
                return Err(Error::not_found(format!(
                    "`{}` is not a row of `{}`: the note does not match its filters",
                    note.path, database.name
                )));
            }
            let name = checker.check(
                cell.column,
                cell.value,
                &format!("cell {}, `{}`", index + 1, note.path),
            )?;
            let key = property_key(note, &name);
            if set.insert(key, cell.value.clone()).is_some() {
                return Err(Error::validation(format!(
                    "cell {}: `{}` of `{}` is set twice: name each cell once",
                    index + 1,
                    cell.column,
                    note.path
                )));
            }
        }
        let (mut paths, mut left) = (Vec::new(), Vec::new());
        for (note, set) in &notes {
            let edited = set_in_note(vault, note, set, &[])?;
            if edited != note.text {
                paths.push(note.path.clone());
                let now = Note {
                    text: edited,
                    ..note.clone()
                };
                if !is_row(&context, &database, &now).unwrap_or_default() {
                    left.push(note.path.clone());
                }
            }
        }
        Ok(CellsSet {
            database: database.name.clone(),
            cells: self.cells.len() as u64,
            paths,
            left,
        })
    }

    fn text(output: &CellsSet) -> String {
        let first = match output.paths.len() {
            0 => "nothing changed: every cell already has its value".to_owned(),
            count => format!(
                "{} set, {} changed",
                counted(output.cells, "cell"),
                counted(count as u64, "note")
            ),
        };
        ReplyText::new(first)
            .lines(&output.left, |path| {
                format!("`{path}` is not a row of `{}`", output.database)
            })
            .into()
    }
}

/// A parsed item of `cells`.
struct Cell<'c> {
    row: &'c str,
    column: &'c str,
    value: &'c Value,
    if_match: Option<&'c str>,
}

impl<'c> Cell<'c> {
    fn read(map: &'c Map<String, Value>, index: usize) -> Result<Cell<'c>> {
        let number = index + 1;
        const KEYS: [&str; 4] = ["row", "column", "value", "if_match"];
        if let Some(unknown) = map.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(Error::validation(format!(
                "cell {number}: unknown key `{unknown}`; the keys are `row`, `column`, `value` and `if_match`"
            )));
        }
        let text = |key: &str| match map.get(key) {
            Some(Value::String(text)) if !text.trim().is_empty() => Ok(text.trim()),
            _ => Err(Error::validation(format!(
                "cell {number}: `{key}` must be a non-empty string"
            ))),
        };
        let value = map.get("value").ok_or_else(|| {
            Error::validation(format!(
                "cell {number} has no `value`: pass `null` to clear the cell"
            ))
        })?;
        let if_match = match map.get("if_match") {
            None | Some(Value::Null) => None,
            Some(_) => Some(text("if_match")?),
        };
        Ok(Cell {
            row: text("row")?,
            column: text("column")?,
            value,
            if_match,
        })
    }
}

/// Checks values before they are written: the column must be a property of the database, the value must have its type.
pub(crate) struct CellChecker<'w, 'v> {
    context: &'w Context<'v>,
    database: &'w Database,
    rows: Vec<Row>,
    /// Property and type by the column name of the caller.
    known: HashMap<String, (String, Option<ColumnType>)>,
}

impl<'w, 'v> CellChecker<'w, 'v> {
    pub(crate) fn new(context: &'w Context<'v>, database: &'w Database) -> Result<Self> {
        Ok(CellChecker {
            context,
            database,
            rows: rows(
                context,
                database,
                &Selection::default(),
                &mut Problems::default(),
            )?,
            known: HashMap::new(),
        })
    }

    /// Returns the property of a column if the value has its type.
    pub(crate) fn check(&mut self, column: &str, value: &Value, whose: &str) -> Result<String> {
        if !self.known.contains_key(column) {
            let found = self.property(column)?;
            self.known.insert(column.to_owned(), found);
        }
        let (name, kind) = &self.known[column];
        types::check(value, *kind, column, whose)?;
        Ok(name.clone())
    }

    fn property(&self, column: &str) -> Result<(String, Option<ColumnType>)> {
        let found = Column::resolve(column, &self.database.base)?;
        let name = match &found {
            Column::Property(name) => name.clone(),
            Column::File(_) => {
                return Err(Error::validation(format!(
                    "column `{column}` is a file attribute, not a property: use `document.rename` or `document.move` to change names and folders"
                )));
            }
            Column::Formula(_) => {
                return Err(Error::validation(format!(
                    "column `{column}` is computed by a formula: set the properties it uses"
                )));
            }
        };
        // The columns of a folder are the properties of its notes; any name may be added.
        if self.database.form != Form::Folder {
            known_column(self.database, &self.rows, &found)?;
        }
        let kind = type_of(self.context, self.database, &self.rows, &found);
        Ok((name, kind))
    }
}

/// The key of a property as spelled in the note; a new key is returned unchanged.
pub(crate) fn property_key(note: &Note, name: &str) -> String {
    let properties = frontmatter::properties(&note.text).unwrap_or_default();
    if properties.contains_key(name) {
        return name.to_owned();
    }
    let mut keys = properties.keys();
    keys.find(|key| fold_name(key) == fold_name(name))
        .cloned()
        .unwrap_or_else(|| name.to_owned())
}

/// Edits properties of a note; returns its new text.
pub(crate) fn set_in_note(
    vault: &Vault,
    note: &Note,
    set: &Map<String, Value>,
    remove: &[String],
) -> Result<String> {
    let edited =
        text::set_properties(&note.text, set, remove).map_err(|error| error.in_note(&note.path))?;
    vault.write_note(note, &edited)?;
    Ok(edited)
}
