//! The `query` action: rows filtered, sorted, grouped and summarised, in pages.

use crate::base::{Base, Sorting, View};
use crate::column::Column;
use crate::expression::{Context, Expression, Row, Value};
use crate::filter::Filter;
use crate::open::{self, Database, Form};
use crate::query_reply::{Group, QueryColumn, RowItem, Rows, to_text};
use crate::rows::{Problems, Selection, cell, rows};
use crate::summaries::{self, Summary};
use crate::types;
use notehost_sdk::index::building;
use notehost_sdk::pages::Span;
use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::{Map, Value as Json};
use std::cmp::Ordering;

/// Maximum number of columns of a folder.
const MAX_COLUMNS: usize = 30;
/// Maximum number of reported groups.
const MAX_GROUPS: usize = 500;

/// Query a database: its rows as a table, with the filters, formulas, sorting, groups and summaries of a view.
///
/// Example: `{"database": "Garden/Beds.base", "sort": "-area"}`
/// Example (a folder, filtered): `{"database": "Garden", "filter": "file.hasTag(\"plan\")"}`
#[args]
pub struct QueryRows {
    /// A `.base` file, a note with a `base` block (`Note.md#base-2`), or a folder.
    pub database: String,
    /// Name of a view (default: the first one).
    pub view: Option<String>,
    /// Additional filter, an expression as in a `.base`: `status == "open" && due < today()`, `file.hasTag("x")`.
    pub filter: Option<String>,
    /// Columns to sort by, separated by `,`; a leading `-` sorts descending: `-due, file.name`.
    pub sort: Option<String>,
    /// Column to group by.
    pub group: Option<String>,
    /// Page size, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

impl Action for QueryRows {
    type Output = Rows;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Rows> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let database = open::open(vault, &self.database)?;
        let context = Context::new(vault, this(&database))?;
        let base = &database.base;
        let view = base.view(self.view.as_deref())?;
        let plan = QueryPlan::new(&self, base, view)?;
        let mut problems = Problems::default();
        let selection = Selection {
            view,
            filter: plan.filter.as_ref(),
            trees: plan.trees(),
        };
        let rows = rows(&context, &database, &selection, &mut problems)?;
        let columns = match plan.columns.clone() {
            Some(columns) => columns,
            None => property_columns(&rows),
        };
        let mut sorted = plan.sorted(&context, base, rows, &mut problems);
        if let Some(limit) = view.and_then(|view| view.limit) {
            sorted.truncate(limit);
        }
        let total = sorted.len() as u64;
        let summary_columns =
            SummaryColumns::new(&context, base, &plan.summaries, &sorted, &mut problems);
        let summaries = summary_columns.of(0..sorted.len(), &mut problems);
        let groups = plan
            .group
            .as_ref()
            .map(|_| groups(&sorted, &summary_columns, &mut problems));
        let page: Vec<&SortedRow> = sorted.iter().skip(span.begin).take(span.limit).collect();
        let trees: Vec<Expression> = columns.iter().map(Column::tree).collect();
        let mut cells: Vec<Vec<Value>> = vec![Vec::new(); columns.len()];
        let mut items = Vec::with_capacity(page.len());
        for sorted in &page {
            let mut values = Map::new();
            for (index, (column, tree)) in columns.iter().zip(&trees).enumerate() {
                let value = cell(&context, base, &sorted.row, column, tree, &mut problems);
                values.insert(column.id(), value.json());
                cells[index].push(value);
            }
            items.push(RowItem {
                path: sorted.row.note.path.clone(),
                values,
                group: sorted.group.as_ref().map(Value::json),
                etag: sorted.row.note.etag.clone(),
            });
        }
        let columns: Vec<QueryColumn> = columns
            .iter()
            .zip(&cells)
            .map(|(column, cells)| QueryColumn {
                column: column.id(),
                name: base.display_name(column),
                r#type: types::declared(&context, &database, column)
                    .or_else(|| types::inferred(cells))
                    .map(|kind| kind.as_str().to_owned()),
            })
            .collect();
        let uses_creation_time = selection
            .trees
            .iter()
            .any(|tree| uses_creation_time(base, tree));
        Ok(Rows {
            database: database.name,
            view: view.map(|view| view.name.clone()),
            next_cursor: span.next(items.len(), total),
            columns,
            items,
            total,
            groups,
            summaries: (!summaries.is_empty()).then_some(summaries),
            problems: (problems.count > 0).then_some(problems.items),
            remark: uses_creation_time.then(|| {
                "`file.ctime` is reported as `file.mtime`: the vault stores no creation time"
                    .to_owned()
            }),
            index: building(vault),
        })
    }

    fn text(output: &Rows) -> String {
        to_text(output)
    }
}

/// The file that `this` refers to in expressions.
pub(crate) fn this(database: &Database) -> Option<&str> {
    match database.form {
        Form::File | Form::Block => Some(&database.path),
        Form::Folder => None,
    }
}

fn uses_creation_time(base: &Base, tree: &Expression) -> bool {
    let mut uses = false;
    let mut formulas = Vec::new();
    tree.each(&mut |part| match part {
        Expression::FileField("ctime") => uses = true,
        Expression::Formula(name) => formulas.push(name.clone()),
        _ => {}
    });
    // Cyclic formulas have been rejected before.
    uses || formulas.iter().any(
        |name| matches!(base.formulas.get(name), Some(Ok(inner)) if uses_creation_time(base, inner)),
    )
}

/// The query of a caller merged with the settings of the view.
struct QueryPlan<'q> {
    view: Option<&'q View>,
    filter: Option<Filter>,
    sort: Vec<Sorting>,
    group: Option<Sorting>,
    /// `None` if the properties of the rows determine the columns.
    columns: Option<Vec<Column>>,
    summaries: Vec<(Column, String, Summary)>,
}

impl<'q> QueryPlan<'q> {
    fn new(query: &QueryRows, base: &'q Base, view: Option<&'q View>) -> Result<QueryPlan<'q>> {
        let filter = match query.filter.as_deref().map(str::trim) {
            None | Some("") => None,
            Some(text) => Some(
                Filter::of_text(text)
                    .map_err(|reason| Error::validation(format!("`filter` {reason}")))?,
            ),
        };
        let sort = match query.sort.as_deref().map(str::trim) {
            None | Some("") => view.map(|view| view.sort.clone()).unwrap_or_default(),
            Some(text) => {
                let parts = text
                    .split(',')
                    .map(|part| Sorting::parse(part, base, "sort"));
                parts.collect::<Result<Vec<_>>>()?
            }
        };
        let group = match query.group.as_deref().map(str::trim) {
            None | Some("") => view.and_then(|view| view.group.clone()),
            Some(text) => Some(Sorting::parse(text, base, "group")?),
        };
        let columns = match view.and_then(|view| view.order.clone()) {
            Some(columns) if !columns.is_empty() => Some(columns),
            _ => {
                let mut named = base.named_columns();
                named.retain(|column| *column != name_column());
                (!named.is_empty()).then(|| std::iter::once(name_column()).chain(named).collect())
            }
        };
        let summaries = view
            .iter()
            .flat_map(|view| &view.summaries)
            .map(|(column, name)| {
                let summary = Summary::named(name, base).map_err(Error::validation)?;
                Ok((column.clone(), name.clone(), summary))
            });
        Ok(QueryPlan {
            view,
            filter,
            sort,
            group,
            columns,
            summaries: summaries.collect::<Result<_>>()?,
        })
    }

    /// All expressions to compute for rows.
    fn trees(&self) -> Vec<Expression> {
        let sorted = self
            .sort
            .iter()
            .chain(&self.group)
            .map(|sorting| &sorting.column);
        let summed = self.summaries.iter().map(|(column, ..)| column);
        let shown = self.columns.iter().flatten();
        let mut trees: Vec<Expression> = sorted
            .chain(summed)
            .chain(shown)
            .map(Column::tree)
            .collect();
        // The remark on creation times covers filters too.
        let filters = self
            .view
            .and_then(|view| view.filters.as_ref())
            .into_iter()
            .chain(&self.filter);
        for filter in filters {
            filter.each(&mut |_, tree| trees.push(tree.clone()));
        }
        trees
    }

    fn sorted(
        &self,
        context: &Context<'_>,
        base: &Base,
        rows: Vec<Row>,
        problems: &mut Problems,
    ) -> Vec<SortedRow> {
        let group = self
            .group
            .as_ref()
            .map(|group| (group, group.column.tree()));
        let sort: Vec<(&Sorting, Expression)> = self
            .sort
            .iter()
            .map(|sort| (sort, sort.column.tree()))
            .collect();
        let mut sorted: Vec<SortedRow> = rows
            .into_iter()
            .map(|row| SortedRow {
                group: group
                    .as_ref()
                    .map(|(group, tree)| cell(context, base, &row, &group.column, tree, problems)),
                keys: sort
                    .iter()
                    .map(|(sort, tree)| cell(context, base, &row, &sort.column, tree, problems))
                    .collect(),
                row,
            })
            .collect();
        sorted.sort_by(|one, other| {
            let by_group = match (&one.group, &other.group, &self.group) {
                (Some(left), Some(right), Some(group)) => compare(left, right, group.is_descending)
                    .then_with(|| left.display_text().cmp(&right.display_text())),
                _ => Ordering::Equal,
            };
            let pairs = one.keys.iter().zip(&other.keys).zip(&self.sort);
            pairs.fold(by_group, |order, ((left, right), sort)| {
                order.then_with(|| compare(left, right, sort.is_descending))
            })
        });
        sorted
    }
}

fn name_column() -> Column {
    Column::File("name".to_owned())
}

/// Compares two values; empty values are last in both directions.
fn compare(one: &Value, other: &Value, is_descending: bool) -> Ordering {
    let order = one.order(other);
    match is_descending && !one.is_empty() && !other.is_empty() {
        true => order.reverse(),
        false => order,
    }
}

/// A row with its group and sort keys.
struct SortedRow {
    row: Row,
    group: Option<Value>,
    keys: Vec<Value>,
}

/// The default columns of rows: the name and the properties, in order of first occurrence.
fn property_columns(rows: &[Row]) -> Vec<Column> {
    let mut columns = vec![name_column()];
    let mut seen = std::collections::HashSet::new();
    for row in rows {
        for key in row
            .note
            .properties
            .iter()
            .flat_map(|properties| properties.keys())
        {
            if columns.len() <= MAX_COLUMNS && seen.insert(notehost_sdk::fold_name(key)) {
                columns.push(Column::Property(key.clone()));
            }
        }
    }
    columns
}

/// The values of the columns with a summary, for all rows.
struct SummaryColumns<'s, 'v> {
    context: &'s Context<'v>,
    base: &'s Base,
    columns: Vec<(&'s Column, &'s str, &'s Summary, Vec<Value>)>,
}

impl<'s, 'v> SummaryColumns<'s, 'v> {
    fn new(
        context: &'s Context<'v>,
        base: &'s Base,
        summaries: &'s [(Column, String, Summary)],
        rows: &[SortedRow],
        problems: &mut Problems,
    ) -> Self {
        let columns = summaries.iter().map(|(column, name, summary)| {
            let tree = column.tree();
            let values = rows
                .iter()
                .map(|sorted| cell(context, base, &sorted.row, column, &tree, problems));
            (column, name.as_str(), summary, values.collect())
        });
        SummaryColumns {
            context,
            base,
            columns: columns.collect(),
        }
    }

    /// The summaries of a range of rows.
    fn of(&self, rows: std::ops::Range<usize>, problems: &mut Problems) -> Map<String, Json> {
        let mut summaries = Map::new();
        for (column, name, summary, values) in &self.columns {
            match summary.compute(self.context, self.base, &values[rows.clone()]) {
                Ok(value) => drop(summaries.insert(column.id(), summaries::to_json(name, value))),
                Err(reason) => problems.add(
                    "",
                    format!("summary `{name}` of `{}`: {reason}", column.id()),
                ),
            }
        }
        summaries
    }
}

/// The groups of rows sorted by group.
fn groups(
    rows: &[SortedRow],
    summary_columns: &SummaryColumns<'_, '_>,
    problems: &mut Problems,
) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut from = 0;
    while from < rows.len() && groups.len() < MAX_GROUPS {
        let label = |sorted: &SortedRow| {
            sorted
                .group
                .as_ref()
                .map(|value| (value.type_name(), value.display_text()))
        };
        let first = label(&rows[from]);
        let count = rows[from..]
            .iter()
            .take_while(|sorted| label(sorted) == first)
            .count();
        let summaries = summary_columns.of(from..from + count, problems);
        groups.push(Group {
            value: rows[from].group.as_ref().map_or(Json::Null, Value::json),
            count: count as u64,
            summaries: (!summaries.is_empty()).then_some(summaries),
        });
        from += count;
    }
    groups
}
