//! The `add_column` action: adds a column to the views of a database and, with `default`, to its notes.

use crate::base::Base;
use crate::cells::set_in_note;
use crate::column::Column;
use crate::expression::{Context, parse};
use crate::open::{self, Database, Form};
use crate::query::this;
use crate::rows::change_rows;
use crate::types::{self, ColumnType};
use crate::yaml_edit::YamlEdit;
use notehost_sdk::pages::counted;
use notehost_sdk::prelude::*;
use notehost_sdk::quoted;
use notehost_sdk::schemars::{self, Schema, SchemaGenerator};
use notehost_sdk::serde_json::{Map, Value};

/// Add a column (a property or a formula) to the views of a database; with `default`, also to its notes.
///
/// Example: `{"database": "Garden/Beds.base", "name": "watered", "type": "date"}`
/// Example (computed): `{"database": "Garden/Beds.base", "name": "litres", "formula": "area * 2"}`
#[args]
pub struct AddColumn {
    /// A `.base` file, a note with a `base` block (`Note.md#base-2`), or a folder.
    pub database: String,
    /// Name of the column.
    pub name: String,
    /// Type of its cells; not with `formula`.
    pub r#type: Option<ColumnType>,
    /// Expression that computes it: `(price / pages).round(2)`.
    pub formula: Option<String>,
    /// Value for rows that lack the property.
    #[serde(default)]
    #[schemars(schema_with = "any_value")]
    pub default: Option<Value>,
    /// Only this view (default: all views).
    pub view: Option<String>,
}

fn any_value(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({ "type": ["string", "number", "boolean", "array"] })
}

/// The added column.
#[reply]
pub struct AddedColumn {
    /// The database.
    pub database: String,
    /// Its name in the database.
    pub column: String,
    /// Its type.
    pub r#type: Option<String>,
    /// The views to which it was added.
    pub views: Vec<String>,
    /// Number of notes to which the property was added.
    pub notes: u64,
}

impl Action for AddColumn {
    type Output = AddedColumn;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<AddedColumn> {
        let database = open::open(vault, &self.database)?;
        let context = Context::new(vault, this(&database))?;
        let name = validated_name(&self.name)?;
        let column = match (&self.formula, self.r#type, &self.default) {
            (Some(_), Some(_), _) | (Some(_), _, Some(_)) => {
                return Err(Error::validation(
                    "`formula` cannot be combined with `type` or `default`: a formula computes its cells",
                ));
            }
            (Some(_), None, None) => Column::Formula(name.to_owned()),
            (None, None, _) => {
                return Err(Error::validation(format!(
                    "`type` is missing: pass one of {}, or a `formula`",
                    quoted(ColumnType::ALL.map(ColumnType::as_str))
                )));
            }
            (None, Some(_), _) => Column::Property(name.to_owned()),
        };
        if let Some(kind) = self.r#type {
            check_declared_type(&context, &database, &column, kind)?;
        }
        let default = match (self.default, self.r#type) {
            (Some(default), Some(kind)) => Some(convert_default(default, kind, &column)?),
            _ => None,
        };
        let views = match database.form {
            Form::Folder if default.is_none() => {
                return Err(Error::validation(format!(
                    "`{}` is a folder, its columns are the properties of its notes: pass a `default` for them, or use `set_cells`",
                    database.name
                )));
            }
            Form::Folder => Vec::new(),
            Form::File | Form::Block => add_to_views(
                vault,
                &context,
                &database,
                &column,
                &self.formula,
                self.r#type,
                self.view.as_deref(),
            )?,
        };
        let notes = match &default {
            Some(default) => fill(&context, &database, name, default)?,
            None => 0,
        };
        if database.form == Form::Folder && notes == 0 {
            return Err(Error::already_exists(format!(
                "every note of `{}` already has `{name}`",
                database.name
            )));
        }
        Ok(AddedColumn {
            database: database.name,
            column: column.id(),
            r#type: self.r#type.map(|kind| kind.as_str().to_owned()),
            views,
            notes,
        })
    }

    fn text(output: &AddedColumn) -> String {
        let AddedColumn {
            column,
            database,
            views,
            ..
        } = output;
        let notes = counted(output.notes, "note");
        ReplyText::new(format!("added column `{column}` to `{database}`"))
            .and((!views.is_empty()).then(|| format!(", views: {}", views.join(", "))))
            .and((output.notes > 0).then(|| format!("; property added to {notes}")))
            .into()
    }
}

/// Validates the name of a new column and strips its prefix.
pub(crate) fn validated_name(name: &str) -> Result<&str> {
    let name = name.trim();
    let plain = name.strip_prefix("note.").unwrap_or(name);
    if plain.is_empty() || plain.contains(['\n', '\r']) {
        return Err(Error::validation("`name` must be a single non-empty line"));
    }
    if plain.starts_with("file.") {
        return Err(Error::validation(format!(
            "`{name}` is a file attribute, not a property: views can show it, but it cannot be added"
        )));
    }
    Ok(plain.strip_prefix("formula.").unwrap_or(plain))
}

/// Rejects a type that differs from the declared type of the property.
fn check_declared_type(
    context: &Context<'_>,
    database: &Database,
    column: &Column,
    kind: ColumnType,
) -> Result<()> {
    match types::declared(context, database, column) {
        Some(known) if known != kind => Err(Error::validation(format!(
            "`{}` already has the type `{}`, not `{}`: use that type or another name",
            column.id(),
            known.as_str(),
            kind.as_str()
        ))),
        _ => Ok(()),
    }
}

/// Converts a default that was passed as text to its column type.
fn convert_default(default: Value, kind: ColumnType, column: &Column) -> Result<Value> {
    let read = match (&default, kind) {
        (Value::String(text), ColumnType::Number) => {
            text.trim()
                .parse::<f64>()
                .ok()
                .map(|number| match number.fract() == 0.0 {
                    true => json!(number as i64),
                    false => json!(number),
                })
        }
        (Value::String(text), ColumnType::Checkbox) => {
            text.trim().parse::<bool>().ok().map(Value::Bool)
        }
        (Value::String(text), ColumnType::List) => Some(json!([text])),
        _ => None,
    };
    let value = read.unwrap_or(default);
    types::check(&value, Some(kind), &column.id(), "`default`")?;
    Ok(value)
}

fn add_to_views(
    vault: &Vault,
    context: &Context<'_>,
    database: &Database,
    column: &Column,
    formula: &Option<String>,
    kind: Option<ColumnType>,
    view: Option<&str>,
) -> Result<Vec<String>> {
    let base = &database.base;
    let id = column.id();
    if let Some(text) = formula {
        let tree = parse(text, false)
            .map_err(|reason| Error::validation(format!("`formula` `{text}`: {reason}")))?;
        base.check(&tree)
            .map_err(|reason| Error::validation(format!("`formula` `{text}`: {reason}")))?;
        if base
            .formula_texts
            .iter()
            .any(|(known, _)| known == column.short_name())
        {
            return Err(Error::already_exists(format!(
                "`{}` already has a formula `{id}`",
                database.name
            )));
        }
    }
    let only_view = base
        .view(view)?
        .map(|view| view.name.clone())
        .filter(|_| view.is_some());
    let mut edit = YamlEdit::of(database)?;
    if let Some(text) = formula {
        set_nested(
            &mut edit,
            "formulas",
            column.short_name(),
            Value::from(text.as_str()),
        )?;
    }
    if let Some(kind) = kind
        && types::declared(context, database, column).is_none()
    {
        let mut setting = nested(&edit.all()?, "properties")
            .get(&id)
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        setting.insert("type".to_owned(), Value::from(kind.as_str()));
        set_nested(&mut edit, "properties", &id, Value::Object(setting))?;
    }
    let mut changed_views = Vec::new();
    for (index, view) in base.views.iter().enumerate() {
        let is_wanted = only_view.as_ref().is_none_or(|name| *name == view.name);
        if !is_wanted
            || view
                .order
                .iter()
                .flatten()
                .any(|known| known.is_same(column))
        {
            continue;
        }
        let mut order = match &view.order {
            Some(_) => written_order(base, index),
            None => vec![Value::from("file.name")],
        };
        order.push(Value::from(id.as_str()));
        edit.set_in_view(
            index,
            &Map::from_iter([("order".to_owned(), Value::Array(order))]),
            &[],
        )?;
        changed_views.push(view.name.clone());
    }
    if base.views.is_empty() {
        let view = json!([{ "type": "table", "name": "Table", "order": ["file.name", id] }]);
        edit.set(&Map::from_iter([("views".to_owned(), view)]), &[])?;
        changed_views.push("Table".to_owned());
    }
    if changed_views.is_empty() {
        return Err(Error::already_exists(format!(
            "`{}` already shows `{id}`",
            database.name
        )));
    }
    edit.write(vault)?;
    Ok(changed_views)
}

/// The `order` of a view, as written.
fn written_order(base: &Base, index: usize) -> Vec<Value> {
    let views = base.all.get("views");
    let order = views.and_then(|views| views.get(index)?.get("order")?.as_array());
    order.cloned().unwrap_or_default()
}

pub(crate) fn nested(all: &Map<String, Value>, key: &str) -> Map<String, Value> {
    all.get(key)
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default()
}

/// Sets an entry of a mapping under a top-level key.
fn set_nested(edit: &mut YamlEdit<'_>, key: &str, name: &str, value: Value) -> Result<()> {
    let mut inner = nested(&edit.all()?, key);
    inner.insert(name.to_owned(), value);
    edit.set(
        &Map::from_iter([(key.to_owned(), Value::Object(inner))]),
        &[],
    )
}

/// Adds the property to all rows that lack it.
fn fill(context: &Context<'_>, database: &Database, name: &str, default: &Value) -> Result<u64> {
    let set = Map::from_iter([(name.to_owned(), default.clone())]);
    change_rows(
        context,
        database,
        |row| row.property(name).is_none(),
        |note| set_in_note(context.vault, note, &set, &[]).map(drop),
    )
}
