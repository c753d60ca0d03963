//! The `add_rows` and `remove_rows` actions: rows are added as new notes that match the filters, and removed to the
//! trash.

use crate::cells::CellChecker;
use crate::expression::{Context, Row};
use crate::filter::{Filter, Requirements};
use crate::open::{self, Database, Form};
use crate::query::this;
use crate::rows::{found_note, is_row};
use notehost_sdk::pages::counted;
use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::{Map, Value};
use notehost_sdk::{fold_name, is_note, text};

/// Maximum number of rows per call.
const MAX_ROWS: usize = 500;
/// Characters not allowed in names: links to the note would break.
const FORBIDDEN: [char; 8] = ['/', '\\', '#', '^', '[', ']', '|', ':'];

/// Add rows to a database: new notes whose folder, tags and properties match its filters.
///
/// Example: `{"database": "Garden/Beds.base", "rows": [{"name": "Bed 3", "crop": "mint", "area": 0.3}]}`
#[args]
pub struct AddRows {
    /// A `.base` file, a note with a `base` block (`Note.md#base-2`), or a folder.
    pub database: String,
    /// Objects of column values; `name` (or `file.name`) is the name of the note: `{"name": "Dune", "rating": 5}`.
    pub rows: Vec<Map<String, Value>>,
    /// Folder of the new notes (default: taken from the filters).
    pub folder: Option<String>,
    /// View whose filters the rows must match too.
    pub view: Option<String>,
}

/// The added rows.
#[reply]
pub struct AddedRows {
    /// The new notes.
    pub items: Vec<AddedRow>,
    /// How many were added.
    pub total: u64,
    /// New notes that do not match the filters, so they are not rows.
    pub outside: Vec<String>,
}

/// A new note.
#[reply]
pub struct AddedRow {
    /// Its path.
    pub path: String,
    /// Its etag.
    pub etag: String,
}

impl Action for AddRows {
    type Output = AddedRows;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<AddedRows> {
        check_row_count(self.rows.len())?;
        let database = open::open(vault, &self.database)?;
        let context = Context::new(vault, this(&database))?;
        let base = &database.base;
        let view = match (&self.view, base.views.as_slice()) {
            (Some(name), _) => base.view(Some(name))?,
            (None, [only]) => Some(only),
            (None, _) => None,
        };
        let of_view = view.and_then(|view| view.filters.as_ref());
        let filters: Vec<&Filter> = base.filters.iter().chain(of_view).collect();
        let mut requirements = Requirements::default();
        filters
            .iter()
            .for_each(|filter| filter.requirements(&mut requirements));
        let folder = folder(&database, self.folder.as_deref(), &requirements)?;
        let mut checker = CellChecker::new(&context, &database)?;
        let mut made: Vec<(String, String)> = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            made.push(new_note(&mut checker, row, index, &folder, &requirements)?);
        }
        let (mut items, mut outside) = (Vec::new(), Vec::new());
        for (path, content) in made {
            let etag = vault.create(&path, content.as_bytes())?;
            // The path with its parent folders spelled as on disk.
            let path = vault.stat(&path)?.path;
            let note = Note {
                path: path.clone(),
                text: content,
                etag: etag.clone(),
            };
            let row = Row::new(found_note(vault, &note, true));
            let is_match = filters
                .iter()
                .all(|filter| filter.matches(&context, base, &row).unwrap_or_default());
            if !is_match {
                outside.push(path.clone());
            }
            items.push(AddedRow { path, etag });
        }
        Ok(AddedRows {
            total: items.len() as u64,
            items,
            outside,
        })
    }

    fn text(output: &AddedRows) -> String {
        const OUTSIDE: &str = ", which does not match the filters: set its cells so that it does";
        ReplyText::new(format!("added {}", counted(output.total, "row")))
            .lines(&output.items, |item| {
                let is_outside = output.outside.contains(&item.path);
                ReplyText::new(format!("`{}`", item.path)).and(is_outside.then_some(OUTSIDE))
            })
            .into()
    }
}

fn check_row_count(count: usize) -> Result<()> {
    match count {
        0 => Err(Error::validation("`rows` is empty: pass at least one row")),
        count if count > MAX_ROWS => Err(Error::too_large(format!(
            "`rows` has {count} items, the maximum is {MAX_ROWS}: use several calls"
        ))),
        _ => Ok(()),
    }
}

/// The folder of new notes: from the caller, else from the filters.
fn folder(
    database: &Database,
    requested: Option<&str>,
    requirements: &Requirements,
) -> Result<String> {
    if let Some(folder) = requested {
        let folder = folder.trim().trim_matches('/');
        return Ok(if folder == "." {
            String::new()
        } else {
            folder.to_owned()
        });
    }
    match (database.form, &requirements.folder) {
        (Form::Folder, _) => Ok(database.path.clone()),
        (_, Some(folder)) => Ok(folder.clone()),
        _ => Err(Error::validation(format!(
            "the filters of `{}` do not determine a folder: pass `folder`",
            database.name
        ))),
    }
}

/// The path and the text of a new row.
fn new_note(
    checker: &mut CellChecker<'_, '_>,
    row: &Map<String, Value>,
    index: usize,
    folder: &str,
    requirements: &Requirements,
) -> Result<(String, String)> {
    let number = index + 1;
    let named_by = ["file.name", "name"]
        .into_iter()
        .find(|key| row.contains_key(*key));
    let name = named_by
        .and_then(|key| row[key].as_str())
        .map(str::trim)
        .unwrap_or_default();
    let name = if is_note(name) {
        &name[..name.len() - 3]
    } else {
        name
    };
    if name.is_empty() {
        return Err(Error::validation(format!(
            "row {number} has no `name`: pass the name of its note"
        )));
    }
    if let Some(letter) = name
        .chars()
        .find(|letter| FORBIDDEN.contains(letter) || letter.is_control())
    {
        return Err(Error::validation(format!(
            "row {number}: the name `{name}` contains {letter:?}, which is not allowed in note names"
        )));
    }
    let mut properties = Map::new();
    for (column, value) in row {
        if Some(column.as_str()) == named_by {
            continue;
        }
        let property = checker.check(column, value, &format!("row {number}, `{name}`"))?;
        if properties.insert(property, value.clone()).is_some() {
            return Err(Error::validation(format!(
                "row {number}, `{name}`: duplicate column `{column}`"
            )));
        }
    }
    let has = |properties: &Map<String, Value>, name: &str| {
        properties
            .keys()
            .any(|key| fold_name(key) == fold_name(name))
    };
    for (name, value) in &requirements.properties {
        if !has(&properties, name) {
            properties.insert(name.clone(), value.clone());
        }
    }
    add_tags(&mut properties, &requirements.tags);
    let path = match folder {
        "" => format!("{name}.md"),
        folder => format!("{folder}/{name}.md"),
    };
    let content =
        text::set_properties("", &properties, &[]).map_err(|error| error.in_note(&path))?;
    Ok((path, content))
}

/// Adds the tags that the filters require.
fn add_tags(properties: &mut Map<String, Value>, required: &[String]) {
    for tag in required {
        let mut tags = match properties.get("tags") {
            Some(Value::Array(tags)) => tags.clone(),
            Some(Value::String(tag)) => vec![Value::from(tag.as_str())],
            _ => Vec::new(),
        };
        let is_there = |known: &Value| {
            known
                .as_str()
                .is_some_and(|known| fold_name(known.trim_start_matches('#')) == fold_name(tag))
        };
        if !tags.iter().any(is_there) {
            tags.push(Value::from(tag.as_str()));
        }
        properties.insert("tags".to_owned(), Value::Array(tags));
    }
}

/// Remove rows of a database: their notes go to the trash.
///
/// Example: `{"database": "Garden/Beds.base", "rows": ["Bed 2"]}`
#[args]
pub struct RemoveRows {
    /// A `.base` file, a note with a `base` block (`Note.md#base-2`), or a folder.
    pub database: String,
    /// Paths or unique names of the notes.
    pub rows: Vec<String>,
}

/// The removed rows.
#[reply]
pub struct RemovedRows {
    /// The removed notes.
    pub paths: Vec<String>,
    /// Ids for `document.restore`, in the same order.
    pub trash_ids: Vec<String>,
}

impl Action for RemoveRows {
    type Output = RemovedRows;
    const EFFECT: Effect = Effect::Delete;

    fn run(self, vault: &Vault) -> Result<RemovedRows> {
        check_row_count(self.rows.len())?;
        let database = open::open(vault, &self.database)?;
        let context = Context::new(vault, this(&database))?;
        let mut paths: Vec<String> = Vec::new();
        for name in &self.rows {
            let note = vault.read_note(name)?;
            if !is_row(&context, &database, &note)? {
                return Err(Error::not_found(format!(
                    "`{}` is not a row of `{}`: the note does not match its filters",
                    note.path, database.name
                )));
            }
            if !paths.contains(&note.path) {
                paths.push(note.path);
            }
        }
        let mut trash_ids = Vec::new();
        for path in &paths {
            trash_ids.extend(vault.remove(path)?);
        }
        Ok(RemovedRows { paths, trash_ids })
    }

    fn text(output: &RemovedRows) -> String {
        let lines = output.paths.iter().zip(&output.trash_ids);
        let lines =
            lines.map(|(path, id)| format!("removed `{path}`; restore it with `trash_id` {id}"));
        lines.collect::<Vec<_>>().join("\n")
    }
}
