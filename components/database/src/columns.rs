//! The `columns` and `values` actions: the columns of a database and the distinct values of one.

use crate::column::Column;
use crate::expression::{Context, Row, Value};
use crate::open::{self, Database};
use crate::query::this;
use crate::query_reply::json_text;
use crate::rows::{Problems, Selection, cell, rows};
use crate::types::{self, ColumnType};
use notehost_sdk::index::{Building, building};
use notehost_sdk::pages::{Span, counted};
use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::Value as Json;
use notehost_sdk::{fold_name, quoted};
use std::collections::HashMap;

/// List the columns of a database: name, kind, type, formula, and number of rows with a value.
///
/// Example: `{"database": "Garden/Beds.base"}`
#[args]
pub struct Columns {
    /// A `.base` file, a note with a `base` block (`Note.md#base-2`), or a folder.
    pub database: String,
    /// Page size, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// The columns of a database.
#[reply]
pub struct ColumnPage {
    /// The columns.
    pub items: Vec<ColumnItem>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Total number on all pages.
    pub total: u64,
    /// How many rows the database has.
    pub rows: u64,
    /// Only while the index is being built: notes may be missing.
    pub index: Option<Building>,
}

/// A column.
#[reply]
pub struct ColumnItem {
    /// Its name, to pass as `column`.
    pub column: String,
    /// Its display name.
    pub name: String,
    /// `note` (a property), `file` or `formula`.
    pub kind: String,
    /// `text`, `number`, `checkbox`, `date`, `datetime`, `list` or `link`, if known.
    pub r#type: Option<String>,
    /// The expression that computes it.
    pub formula: Option<String>,
    /// Number of rows in which it is not empty.
    pub filled: u64,
    /// The views that show it.
    pub views: Vec<String>,
    /// Why it cannot be computed.
    pub problem: Option<String>,
}

impl Action for Columns {
    type Output = ColumnPage;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<ColumnPage> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let database = open::open(vault, &self.database)?;
        let context = Context::new(vault, this(&database))?;
        let named = database.base.named_columns();
        let computable = named
            .iter()
            .map(Column::tree)
            .filter(|tree| database.base.check(tree).is_ok());
        let selection = Selection {
            trees: computable.collect(),
            ..Selection::default()
        };
        let rows = rows(&context, &database, &selection, &mut Problems::default())?;
        let all = all_columns(&database, &rows);
        let total = all.len() as u64;
        let (part, next_cursor) = span.of(all);
        let items = part
            .iter()
            .map(|column| column_item(&context, &database, &rows, column));
        Ok(ColumnPage {
            items: items.collect(),
            next_cursor,
            total,
            rows: rows.len() as u64,
            index: building(vault),
        })
    }

    fn text(output: &ColumnPage) -> String {
        let line = |item: &ColumnItem| {
            let kind = item.r#type.as_deref().unwrap_or("any type");
            let (formula, problem) = (item.formula.as_ref(), item.problem.as_ref());
            ReplyText::new(format!(
                "{}: {kind}, filled in {}",
                item.column, item.filled
            ))
            .and(formula.map(|formula| format!(", = {formula}")))
            .and(problem.map(|problem| format!(", cannot be computed: {problem}")))
        };
        let (columns, rows) = (counted(output.total, "column"), counted(output.rows, "row"));
        ReplyText::new(format!("{columns} of {rows}"))
            .lines(&output.items, line)
            .unfinished(&output.index)
            .more(&output.next_cursor)
            .into()
    }
}

/// The columns named in the database, then the other properties of its rows.
pub(crate) fn all_columns(database: &Database, rows: &[Row]) -> Vec<Column> {
    let mut columns = database.base.named_columns();
    if columns.is_empty() {
        columns.push(Column::File("name".to_owned()));
    }
    let mut known: std::collections::HashSet<String> = columns
        .iter()
        .filter_map(|column| match column {
            Column::Property(name) => Some(fold_name(name)),
            _ => None,
        })
        .collect();
    for row in rows {
        for key in row
            .note
            .properties
            .iter()
            .flat_map(|properties| properties.keys())
        {
            if known.insert(fold_name(key)) {
                columns.push(Column::Property(key.clone()));
            }
        }
    }
    columns
}

fn column_item(
    context: &Context<'_>,
    database: &Database,
    rows: &[Row],
    column: &Column,
) -> ColumnItem {
    let base = &database.base;
    let tree = column.tree();
    let mut problems = Problems::default();
    let checked = base.check(&tree);
    let values: Vec<Value> = match checked.is_ok() {
        true => rows
            .iter()
            .map(|row| cell(context, base, row, column, &tree, &mut problems))
            .collect(),
        false => Vec::new(),
    };
    let kind = types::declared(context, database, column).or_else(|| types::inferred(&values));
    let views = base.views.iter().filter(|view| {
        view.order
            .iter()
            .flatten()
            .any(|shown| shown.is_same(column))
    });
    let formula = match column {
        Column::Formula(name) => base.formula_texts.iter().find(|(known, _)| known == name),
        _ => None,
    };
    ColumnItem {
        column: column.id(),
        name: base.display_name(column),
        kind: column.kind().to_owned(),
        r#type: kind.map(|kind| kind.as_str().to_owned()),
        formula: formula.map(|(_, text)| text.clone()),
        filled: values.iter().filter(|value| !value.is_empty()).count() as u64,
        views: views.map(|view| view.name.clone()).collect(),
        problem: checked
            .err()
            .or_else(|| problems.items.pop().map(|problem| problem.message)),
    }
}

/// The type of a property column: declared, else inferred from its cells.
pub(crate) fn type_of(
    context: &Context<'_>,
    database: &Database,
    rows: &[Row],
    column: &Column,
) -> Option<ColumnType> {
    let declared = types::declared(context, database, column);
    declared.or_else(|| {
        let Column::Property(name) = column else {
            return None;
        };
        let cells = rows.iter().filter_map(|row| row.property(name));
        let values: Vec<Value> = cells.map(|cell| Value::of_property(cell, None)).collect();
        types::inferred(&values)
    })
}

/// List the distinct values of a column with their row counts, most frequent first; list items are counted singly.
///
/// Example: `{"database": "Garden/Beds.base", "column": "crop"}`
#[args]
pub struct Values {
    /// A `.base` file, a note with a `base` block (`Note.md#base-2`), or a folder.
    pub database: String,
    /// Name of the column.
    pub column: String,
    /// Page size, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// The values of a column.
#[reply]
pub struct ValuePage {
    /// The column.
    pub column: String,
    /// The values, most frequent first.
    pub items: Vec<ValueItem>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Number of distinct values on all pages.
    pub total: u64,
    /// Number of rows without a value.
    pub empty: u64,
    /// Only while the index is being built: notes may be missing.
    pub index: Option<Building>,
}

/// A value of a column.
#[reply]
pub struct ValueItem {
    /// The value.
    pub value: Json,
    /// Number of rows.
    pub count: u64,
}

impl Action for Values {
    type Output = ValuePage;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<ValuePage> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let database = open::open(vault, &self.database)?;
        let context = Context::new(vault, this(&database))?;
        let column = Column::resolve(&self.column, &database.base)?;
        let tree = column.tree();
        let selection = Selection {
            trees: vec![tree.clone()],
            ..Selection::default()
        };
        let rows = rows(&context, &database, &selection, &mut Problems::default())?;
        known_column(&database, &rows, &column)?;
        let mut counts: HashMap<(&'static str, String), (Value, u64)> = HashMap::new();
        let mut empty = 0;
        for row in &rows {
            let value = cell(
                &context,
                &database.base,
                row,
                &column,
                &tree,
                &mut Problems::default(),
            );
            if value.is_empty() {
                empty += 1;
                continue;
            }
            let items = match &value {
                Value::List(list) => crate::expression::unique(list.items()),
                _ => vec![value],
            };
            for item in items {
                let key = (item.type_name(), item.display_text());
                counts.entry(key).or_insert((item, 0)).1 += 1;
            }
        }
        let mut counted: Vec<(Value, u64)> = counts.into_values().collect();
        counted.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.order(&other.0)));
        let total = counted.len() as u64;
        let (part, next_cursor) = span.of(counted);
        let items = part.into_iter().map(|(value, count)| ValueItem {
            value: value.json(),
            count,
        });
        Ok(ValuePage {
            column: column.id(),
            items: items.collect(),
            next_cursor,
            total,
            empty,
            index: building(vault),
        })
    }

    fn text(output: &ValuePage) -> String {
        ReplyText::new(format!(
            "{} of `{}`, {} empty",
            counted(output.total, "value"),
            output.column,
            counted(output.empty, "row")
        ))
        .lines(&output.items, |item| {
            format!("{:>5}  {}", item.count, json_text(&item.value))
        })
        .unfinished(&output.index)
        .more(&output.next_cursor)
        .into()
    }
}

/// Rejects a column that is neither named in the database nor present in a row.
pub(crate) fn known_column(database: &Database, rows: &[Row], column: &Column) -> Result<()> {
    let all = all_columns(database, rows);
    let is_known = match column {
        Column::Property(name) => {
            all.iter().any(|known| known.is_same(column)) || database.base.uses_property(name)
        }
        Column::File(_) | Column::Formula(_) => true,
    };
    if is_known {
        return Ok(());
    }
    let mut names: Vec<String> = all.iter().map(Column::id).collect();
    let folded = fold_name(&column.id());
    names.sort_by_key(|name| {
        !fold_name(name).starts_with(folded.chars().next().unwrap_or_default())
    });
    Err(Error::not_found(format!(
        "no column `{}` in `{}`; known columns: {}; `add_column` adds one",
        column.id(),
        database.name,
        quoted(names.iter().take(12))
    ))
    .with_details(json!({ "columns": names })))
}
