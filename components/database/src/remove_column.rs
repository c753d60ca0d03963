//! The `remove_column` action: removes a column from the views of a database and, with `values`, from its notes.

use crate::add_column::nested;
use crate::base::Base;
use crate::cells::{property_key, set_in_note};
use crate::column::Column;
use crate::expression::{Context, Expression};
use crate::open::{self, Database, Form};
use crate::query::this;
use crate::rows::change_rows;
use crate::yaml_edit::YamlEdit;
use notehost_sdk::fold_name;
use notehost_sdk::pages::counted;
use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::{Map, Value};

/// Remove a column from the views of a database; with `values`, also the property from its notes.
///
/// Example: `{"database": "Garden/Beds.base", "name": "area"}`
#[args]
pub struct RemoveColumn {
    /// A `.base` file, a note with a `base` block (`Note.md#base-2`), or a folder.
    pub database: String,
    /// Name of the column.
    pub name: String,
    /// Also remove the property from the notes (default false).
    #[serde(default)]
    pub values: bool,
}

/// The removed column.
#[reply]
pub struct RemovedColumn {
    /// The database.
    pub database: String,
    /// The column.
    pub column: String,
    /// The views that showed or used it.
    pub views: Vec<String>,
    /// Number of notes from which the property was removed.
    pub notes: u64,
    /// Filters and formulas that still use it.
    pub still_used: Vec<String>,
}

impl Action for RemoveColumn {
    type Output = RemovedColumn;
    const EFFECT: Effect = Effect::Delete;

    fn run(self, vault: &Vault) -> Result<RemovedColumn> {
        let database = open::open(vault, &self.database)?;
        let context = Context::new(vault, this(&database))?;
        let column = Column::resolve(&self.name, &database.base)?;
        if self.values && !matches!(column, Column::Property(_)) {
            return Err(Error::validation(format!(
                "`{}` is not a property, so its `values` cannot be removed from notes: omit `values`",
                column.id()
            )));
        }
        let still_used = uses(&database.base, &column);
        if matches!(column, Column::Formula(_)) && !still_used.is_empty() {
            return Err(Error::validation(format!(
                "`{}` is used by {}: change those first",
                column.id(),
                still_used.join(", ")
            )));
        }
        let (was_named, views) = match database.form {
            Form::Folder => (false, Vec::new()),
            Form::File | Form::Block => remove_from_views(vault, &database, &column)?,
        };
        let notes = match (&column, self.values) {
            (Column::Property(name), true) => remove_values(&context, &database, name)?,
            _ => 0,
        };
        if !was_named && notes == 0 {
            return Err(match (database.form, self.values) {
                (Form::Folder, false) => Error::validation(format!(
                    "`{}` is a folder, its columns are the properties of its notes: pass `values: true` to remove `{}` from them",
                    database.name,
                    column.id()
                )),
                _ => Error::not_found(format!(
                    "no column `{}` in `{}`",
                    column.id(),
                    database.name
                )),
            });
        }
        Ok(RemovedColumn {
            database: database.name,
            column: column.id(),
            views,
            notes,
            still_used,
        })
    }

    fn text(output: &RemovedColumn) -> String {
        let RemovedColumn {
            column,
            database,
            views,
            ..
        } = output;
        let notes = counted(output.notes, "note");
        ReplyText::new(format!("removed column `{column}` from `{database}`"))
            .and((!views.is_empty()).then(|| format!(", views: {}", views.join(", "))))
            .and((output.notes > 0).then(|| format!("; property removed from {notes}")))
            .lines(&output.still_used, |user| format!("still used by {user}"))
            .into()
    }
}

/// The filters and formulas that use a column.
fn uses(base: &Base, column: &Column) -> Vec<String> {
    let uses_it = |tree: &Expression| {
        let mut found = false;
        tree.each(&mut |part| {
            found |= match (part, column) {
                (Expression::Property(name), Column::Property(own)) => {
                    fold_name(name) == fold_name(own)
                }
                (Expression::Formula(name), Column::Formula(own)) => name == own,
                _ => false,
            };
        });
        found
    };
    let mut used = Vec::new();
    let of_views = base.views.iter().filter_map(|view| view.filters.as_ref());
    for filter in base.filters.iter().chain(of_views) {
        filter.each(&mut |text, tree| {
            if uses_it(tree) {
                used.push(format!("filter `{text}`"));
            }
        });
    }
    for (name, _) in &base.formula_texts {
        let is_itself = matches!(column, Column::Formula(own) if own == name);
        if let Some(Ok(tree)) = base.formulas.get(name)
            && !is_itself
            && uses_it(tree)
        {
            used.push(format!("formula `{name}`"));
        }
    }
    used
}

/// Removes a column from every view and setting. Returns whether anything changed, and the changed views.
fn remove_from_views(
    vault: &Vault,
    database: &Database,
    column: &Column,
) -> Result<(bool, Vec<String>)> {
    let is_column = |name: Option<&str>| {
        name.is_some_and(|name| Column::named(name).is_ok_and(|named| named.is_same(column)))
    };
    let mut edit = YamlEdit::of(database)?;
    let mut changed = Vec::new();
    for (index, view) in database.base.views.iter().enumerate() {
        let all = edit.all()?;
        let Some(written) = all
            .get("views")
            .and_then(|views| views.get(index)?.as_object())
        else {
            continue;
        };
        let (mut set, mut remove) = (Map::new(), Vec::new());
        for (key, value) in written {
            let kept = match (key.as_str(), value) {
                ("order" | "sort", Value::Array(items)) => {
                    let named = |item: &Value| {
                        item.as_str()
                            .or_else(|| item.get("property")?.as_str())
                            .map(str::to_owned)
                    };
                    let kept = items
                        .iter()
                        .filter(|item| !is_column(named(item).as_deref()))
                        .cloned();
                    Value::Array(kept.collect())
                }
                ("summaries" | "columnSize", Value::Object(map)) => {
                    let kept = map.iter().filter(|(name, _)| !is_column(Some(name)));
                    Value::Object(
                        kept.map(|(name, value)| (name.clone(), value.clone()))
                            .collect(),
                    )
                }
                ("groupBy", group)
                    if is_column(group.as_str().or_else(|| group.get("property")?.as_str())) =>
                {
                    Value::Null
                }
                _ => continue,
            };
            let is_empty = kept.is_null()
                || kept.as_array().is_some_and(Vec::is_empty)
                || kept.as_object().is_some_and(Map::is_empty);
            match kept == *value {
                true => {}
                false if is_empty => remove.push(key.clone()),
                false => drop(set.insert(key.clone(), kept)),
            }
        }
        if !set.is_empty() || !remove.is_empty() {
            edit.set_in_view(index, &set, &remove)?;
            changed.push(view.name.clone());
        }
    }
    for key in ["properties", "formulas"] {
        let inner = nested(&edit.all()?, key);
        let is_gone = |name: &str| match (key, column) {
            ("formulas", Column::Formula(formula)) => formula == name,
            ("formulas", _) => false,
            _ => is_column(Some(name)),
        };
        let kept: Map<String, Value> = inner
            .iter()
            .filter(|(name, _)| !is_gone(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        match (kept.len() == inner.len(), kept.is_empty()) {
            (true, _) => {}
            (false, true) => edit.set(&Map::new(), &[key.to_owned()])?,
            (false, false) => edit.set(
                &Map::from_iter([(key.to_owned(), Value::Object(kept))]),
                &[],
            )?,
        }
    }
    Ok((edit.write(vault)?, changed))
}

fn remove_values(context: &Context<'_>, database: &Database, name: &str) -> Result<u64> {
    change_rows(
        context,
        database,
        |row| row.property(name).is_some(),
        |note| {
            let key = property_key(note, name);
            set_in_note(context.vault, note, &Map::new(), &[key]).map(drop)
        },
    )
}
