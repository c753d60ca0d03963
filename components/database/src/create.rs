//! The `create` and `duplicate` actions: new `.base` files, empty or copied from a database.

use crate::add_column::validated_name;
use crate::column::Column;
use crate::expression::{Context, parse};
use crate::filter::Filter;
use crate::open::{self, Database, Form, in_folder, is_base};
use crate::query::this;
use crate::rows::{Problems, Selection, rows};
use crate::types::ColumnType;
use crate::yaml_edit;
use notehost_sdk::prelude::*;
use notehost_sdk::schemars::{self, Schema, SchemaGenerator};
use notehost_sdk::serde_json::{Map, Value};
use notehost_sdk::{is_note, quoted};

/// Create a database: a `.base` file with one table view.
///
/// Example: `{"path": "Garden/Plants.base", "columns": ["sown", {"name": "height", "type": "number"}], "source":
/// "Garden"}`
#[args]
pub struct Create {
    /// Path of the new file; `.base` is appended if missing.
    pub path: String,
    /// Columns: names, or objects with `name` and optional `type` (text, number, checkbox, date, datetime, list, link)
    /// or `formula`.
    #[schemars(schema_with = "column_list")]
    pub columns: Vec<Value>,
    /// Notes to show as rows: a folder, a `#tag`, or a filter expression (default: all notes).
    pub source: Option<String>,
}

fn column_list(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({
        "type": "array",
        "items": {
            "type": ["object", "string"],
            "properties": {
                "name": { "type": "string" },
                "type": { "type": "string", "enum": ColumnType::ALL.map(ColumnType::as_str) },
                "formula": { "type": "string" },
            },
        },
    })
}

/// A created database.
#[reply]
pub struct CreatedDatabase {
    /// Name to pass as `database`.
    pub database: String,
    /// Its path.
    pub path: String,
    /// Its etag.
    pub etag: String,
    /// Its YAML.
    pub content: String,
}

impl Action for Create {
    type Output = CreatedDatabase;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<CreatedDatabase> {
        let path = base_path(&self.path)?;
        let context = Context::new(vault, None)?;
        let mut all = Map::new();
        if let Some(filter) = self
            .source
            .as_deref()
            .map(str::trim)
            .filter(|source| !source.is_empty())
        {
            all.insert(
                "filters".to_owned(),
                json!({ "and": [source_filter(filter)?] }),
            );
        }
        let (mut formulas, mut settings, mut order) =
            (Map::new(), Map::new(), vec!["file.name".to_owned()]);
        for column in &self.columns {
            let spec = ColumnSpec::read(column)?;
            if order.contains(&spec.column.id()) && spec.column != Column::File("name".to_owned()) {
                return Err(Error::validation(format!(
                    "duplicate column `{}`",
                    spec.column.id()
                )));
            }
            if !order.contains(&spec.column.id()) {
                order.push(spec.column.id());
            }
            if let Some(formula) = spec.formula {
                formulas.insert(spec.column.short_name().to_owned(), Value::from(formula));
            }
            if let (Some(kind), Column::Property(name)) = (spec.kind, &spec.column) {
                match context.property_type(name).and_then(ColumnType::parse) {
                    Some(known) if known != kind => {
                        return Err(Error::validation(format!(
                            "`{name}` has the type `{}` in this vault, not `{}`: use that type or another name",
                            known.as_str(),
                            kind.as_str()
                        )));
                    }
                    Some(_) => {}
                    None => {
                        drop(settings.insert(spec.column.id(), json!({ "type": kind.as_str() })))
                    }
                }
            }
        }
        for (key, map) in [("formulas", formulas), ("properties", settings)] {
            if !map.is_empty() {
                all.insert(key.to_owned(), Value::Object(map));
            }
        }
        all.insert(
            "views".to_owned(),
            json!([{ "type": "table", "name": "Table", "order": order }]),
        );
        create_base(vault, &path, yaml_edit::to_yaml(&all)?)
    }

    fn text(output: &CreatedDatabase) -> String {
        format!("created `{}`\n{}", output.path, output.content)
    }
}

/// A parsed item of `columns`.
struct ColumnSpec {
    column: Column,
    kind: Option<ColumnType>,
    formula: Option<String>,
}

impl ColumnSpec {
    fn read(value: &Value) -> Result<ColumnSpec> {
        let map = match value {
            Value::String(name) => {
                let column = Column::named(name).map_err(Error::validation)?;
                if matches!(column, Column::Formula(_)) {
                    return Err(Error::validation(format!(
                        "column `{name}` is a formula: pass `{{\"name\": …, \"formula\": …}}`"
                    )));
                }
                return Ok(ColumnSpec {
                    column,
                    kind: None,
                    formula: None,
                });
            }
            Value::Object(map) => map,
            _ => {
                return Err(Error::validation(
                    "an item of `columns` must be a name or an object with `name`",
                ));
            }
        };
        if let Some(unknown) = map
            .keys()
            .find(|key| !["name", "type", "formula"].contains(&key.as_str()))
        {
            return Err(Error::validation(format!(
                "unknown key `{unknown}` in `columns`; the keys are `name`, `type` and `formula`"
            )));
        }
        let text = |key: &str| map.get(key).and_then(Value::as_str);
        let Some(name) = text("name") else {
            return Err(Error::validation("an item of `columns` has no `name`"));
        };
        let kind = match map.get("type").filter(|kind| !kind.is_null()) {
            None => None,
            Some(word) => Some(word.as_str().and_then(ColumnType::parse).ok_or_else(|| {
                Error::validation(format!(
                    "column `{name}`: invalid type {word}; the types are {}",
                    quoted(ColumnType::ALL.map(ColumnType::as_str))
                ))
            })?),
        };
        let Some(formula) = text("formula") else {
            let column = match name.starts_with("file.") {
                true => Column::named(name).map_err(Error::validation)?,
                false => Column::Property(validated_name(name)?.to_owned()),
            };
            return Ok(ColumnSpec {
                column,
                kind,
                formula: None,
            });
        };
        parse(formula, false)
            .map_err(|reason| Error::validation(format!("formula `{formula}`: {reason}")))?;
        Ok(ColumnSpec {
            column: Column::Formula(validated_name(name)?.to_owned()),
            kind: None,
            formula: Some(formula.to_owned()),
        })
    }
}

/// Converts `source` to a filter expression.
fn source_filter(text: &str) -> Result<String> {
    if let Some(tag) = text.strip_prefix('#') {
        return Ok(format!("file.hasTag(\"{}\")", tag.replace(['"', '\\'], "")));
    }
    if text.contains(['(', '=', '<', '>', '"']) {
        Filter::of_text(text).map_err(|reason| Error::validation(format!("`source` {reason}")))?;
        return Ok(text.to_owned());
    }
    let folder = text.trim_matches('/');
    Ok(in_folder(if folder == "." { "" } else { folder }))
}

/// The path of a new `.base` file.
fn base_path(path: &str) -> Result<String> {
    let path = path.trim();
    if path.is_empty() || path.ends_with('/') {
        return Err(Error::validation(format!(
            "`{path}` is not a file path: pass one such as `Work/Projects.base`"
        )));
    }
    if is_note(path) {
        return Err(Error::validation(format!(
            "`{path}` is a note, but a new database must be a `.base` file"
        )));
    }
    Ok(if is_base(path) {
        path.to_owned()
    } else {
        format!("{path}.base")
    })
}

fn create_base(vault: &Vault, path: &str, content: String) -> Result<CreatedDatabase> {
    // Check that the content can be parsed before it is written.
    crate::base::Base::read(&content, path, 1)?;
    let etag = vault.create(path, content.as_bytes())?;
    let path = vault.stat(path)?.path;
    Ok(CreatedDatabase {
        database: path.clone(),
        path,
        etag,
        content,
    })
}

/// Copy a database (its filters, formulas and views, not its notes) to a new `.base` file.
///
/// Example: `{"database": "Garden/Beds.base", "to": "Garden/Beds of next year.base"}`
#[args]
pub struct Duplicate {
    /// A `.base` file, a note with a `base` block (`Note.md#base-2`), or a folder.
    pub database: String,
    /// Path of the new file; `.base` is appended if missing.
    pub to: String,
}

impl Action for Duplicate {
    type Output = CreatedDatabase;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<CreatedDatabase> {
        let to = base_path(&self.to)?;
        let database = open::open(vault, &self.database)?;
        let content = match (&database.source, database.form) {
            // A file is copied byte for byte.
            (Some(source), Form::File) => source.note.text.clone(),
            (Some(source), _) => source.yaml().to_owned(),
            (None, _) => folder_yaml(vault, &database)?,
        };
        let content_without_mark = content.trim_start_matches('\u{feff}').to_owned();
        crate::base::Base::read(&content_without_mark, &to, 1)?;
        let etag = vault.create(&to, content.as_bytes())?;
        let path = vault.stat(&to)?.path;
        Ok(CreatedDatabase {
            database: path.clone(),
            path,
            etag,
            content,
        })
    }

    fn text(output: &CreatedDatabase) -> String {
        format!("created `{}`", output.path)
    }
}

/// The YAML of a `.base` file with the rows and columns of a folder.
fn folder_yaml(vault: &Vault, database: &Database) -> Result<String> {
    let context = Context::new(vault, this(database))?;
    let rows = rows(
        &context,
        database,
        &Selection::default(),
        &mut Problems::default(),
    )?;
    let columns = crate::columns::all_columns(database, &rows);
    let order: Vec<String> = columns.iter().map(Column::id).collect();
    let all = json!({
        "filters": { "and": [in_folder(&database.path)] },
        "views": [{ "type": "table", "name": "Table", "order": order }],
    });
    match all {
        Value::Object(all) => yaml_edit::to_yaml(&all),
        _ => Ok(String::new()),
    }
}
