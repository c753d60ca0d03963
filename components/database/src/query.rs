//! The `query` action: rows filtered, sorted, grouped and summarised, in pages.

use crate::base::{Base, Sorting, View};
use crate::column::Column;
use crate::expression::{Expression, Row, Value, World};
use crate::filter::Filter;
use crate::place::{self, Database, Form};
use crate::rows::{Problems, Selection, cell, rows};
use crate::summaries::{self, Summary};
use crate::telling::{ColumnTold, Group, RowTold, Rows, shown};
use crate::types;
use notehost_sdk::index::building;
use notehost_sdk::pages::Span;
use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::{Map, Value as Json};
use std::cmp::Ordering;

/// How many columns a folder is shown with.
const MOST_COLUMNS: usize = 30;
/// How many groups are told.
const MOST_GROUPS: usize = 500;

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
        let database = place::open(vault, &self.database)?;
        let world = World::new(vault, this(&database))?;
        let base = &database.base;
        let view = base.view(self.view.as_deref())?;
        let asked = Asked::new(&self, base, view)?;
        let mut problems = Problems::default();
        let selection = Selection {
            view,
            filter: asked.filter.as_ref(),
            trees: asked.trees(),
        };
        let rows = rows(&world, &database, &selection, &mut problems)?;
        let columns = match asked.columns.clone() {
            Some(columns) => columns,
            None => columns_of(&rows),
        };
        let mut sorted = asked.sorted(&world, base, rows, &mut problems);
        if let Some(limit) = view.and_then(|view| view.limit) {
            sorted.truncate(limit);
        }
        let total = sorted.len() as u64;
        let summing = Summing::new(&world, base, &asked.summaries, &sorted, &mut problems);
        let summaries = summing.of(0..sorted.len(), &mut problems);
        let groups = asked
            .group
            .as_ref()
            .map(|_| groups(&sorted, &summing, &mut problems));
        let page: Vec<&Sorted> = sorted.iter().skip(span.begin).take(span.limit).collect();
        let trees: Vec<Expression> = columns.iter().map(Column::tree).collect();
        let mut cells: Vec<Vec<Value>> = vec![Vec::new(); columns.len()];
        let mut items = Vec::with_capacity(page.len());
        for sorted in &page {
            let mut values = Map::new();
            for (index, (column, tree)) in columns.iter().zip(&trees).enumerate() {
                let value = cell(&world, base, &sorted.row, column, tree, &mut problems);
                values.insert(column.id(), value.json());
                cells[index].push(value);
            }
            items.push(RowTold {
                path: sorted.row.note.path.clone(),
                values,
                group: sorted.group.as_ref().map(Value::json),
                etag: sorted.row.note.etag.clone(),
            });
        }
        let columns: Vec<ColumnTold> = columns
            .iter()
            .zip(&cells)
            .map(|(column, cells)| ColumnTold {
                column: column.id(),
                name: base.display_name(column),
                r#type: types::declared(&world, &database, column)
                    .or_else(|| types::inferred(cells))
                    .map(|kind| kind.as_str().to_owned()),
            })
            .collect();
        let asks_creation = selection.trees.iter().any(|tree| uses_creation(base, tree));
        Ok(Rows {
            database: database.name,
            view: view.map(|view| view.name.clone()),
            next_cursor: span.next(items.len(), total),
            columns,
            items,
            total,
            groups,
            summaries: (!summaries.is_empty()).then_some(summaries),
            problems: (problems.count > 0).then_some(problems.told),
            remark: asks_creation.then(|| {
                "`file.ctime` is reported as `file.mtime`: the vault stores no creation time"
                    .to_owned()
            }),
            index: building(vault),
        })
    }

    fn text(output: &Rows) -> String {
        shown(output)
    }
}

/// The file that `this` means in expressions.
pub(crate) fn this(database: &Database) -> Option<&str> {
    match database.form {
        Form::File | Form::Block => Some(&database.path),
        Form::Folder => None,
    }
}

fn uses_creation(base: &Base, tree: &Expression) -> bool {
    let mut uses = false;
    let mut formulas = Vec::new();
    tree.each(&mut |part| match part {
        Expression::FileField("ctime") => uses = true,
        Expression::Formula(name) => formulas.push(name.clone()),
        _ => {}
    });
    // Circles were refused before.
    uses || formulas.iter().any(
        |name| matches!(base.formulas.get(name), Some(Ok(inner)) if uses_creation(base, inner)),
    )
}

/// What a caller and a view want together.
struct Asked<'q> {
    view: Option<&'q View>,
    filter: Option<Filter>,
    sort: Vec<Sorting>,
    group: Option<Sorting>,
    /// Nothing where the properties of the rows decide.
    columns: Option<Vec<Column>>,
    summaries: Vec<(Column, String, Summary)>,
}

impl<'q> Asked<'q> {
    fn new(query: &QueryRows, base: &'q Base, view: Option<&'q View>) -> Result<Asked<'q>> {
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
                    .map(|part| Sorting::asked(part, base, "sort"));
                parts.collect::<Result<Vec<_>>>()?
            }
        };
        let group = match query.group.as_deref().map(str::trim) {
            None | Some("") => view.and_then(|view| view.group.clone()),
            Some(text) => Some(Sorting::asked(text, base, "group")?),
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
        Ok(Asked {
            view,
            filter,
            sort,
            group,
            columns,
            summaries: summaries.collect::<Result<_>>()?,
        })
    }

    /// All that is computed for rows.
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
        // The remark on times is about filters as well.
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
        world: &World<'_>,
        base: &Base,
        rows: Vec<Row>,
        problems: &mut Problems,
    ) -> Vec<Sorted> {
        let group = self
            .group
            .as_ref()
            .map(|group| (group, group.column.tree()));
        let sort: Vec<(&Sorting, Expression)> = self
            .sort
            .iter()
            .map(|sort| (sort, sort.column.tree()))
            .collect();
        let mut sorted: Vec<Sorted> = rows
            .into_iter()
            .map(|row| Sorted {
                group: group
                    .as_ref()
                    .map(|(group, tree)| cell(world, base, &row, &group.column, tree, problems)),
                keys: sort
                    .iter()
                    .map(|(sort, tree)| cell(world, base, &row, &sort.column, tree, problems))
                    .collect(),
                row,
            })
            .collect();
        sorted.sort_by(|one, other| {
            let by_group = match (&one.group, &other.group, &self.group) {
                (Some(left), Some(right), Some(group)) => {
                    in_direction(left, right, group.is_descending)
                        .then_with(|| left.shown().cmp(&right.shown()))
                }
                _ => Ordering::Equal,
            };
            let pairs = one.keys.iter().zip(&other.keys).zip(&self.sort);
            pairs.fold(by_group, |order, ((left, right), sort)| {
                order.then_with(|| in_direction(left, right, sort.is_descending))
            })
        });
        sorted
    }
}

fn name_column() -> Column {
    Column::File("name".to_owned())
}

/// The order of two values; what is empty comes last in both directions.
fn in_direction(one: &Value, other: &Value, is_descending: bool) -> Ordering {
    let order = one.order(other);
    match is_descending && !one.is_empty() && !other.is_empty() {
        true => order.reverse(),
        false => order,
    }
}

/// A row with what it is sorted by.
struct Sorted {
    row: Row,
    group: Option<Value>,
    keys: Vec<Value>,
}

/// The columns of notes that no view lists: their names and their properties, the first that are met first.
fn columns_of(rows: &[Row]) -> Vec<Column> {
    let mut columns = vec![name_column()];
    let mut seen = std::collections::HashSet::new();
    for row in rows {
        for key in row
            .note
            .properties
            .iter()
            .flat_map(|properties| properties.keys())
        {
            if columns.len() <= MOST_COLUMNS && seen.insert(notehost_sdk::fold_name(key)) {
                columns.push(Column::Property(key.clone()));
            }
        }
    }
    columns
}

/// The values of the columns that are summed up, for all rows.
struct Summing<'s, 'v> {
    world: &'s World<'v>,
    base: &'s Base,
    columns: Vec<(&'s Column, &'s str, &'s Summary, Vec<Value>)>,
}

impl<'s, 'v> Summing<'s, 'v> {
    fn new(
        world: &'s World<'v>,
        base: &'s Base,
        summaries: &'s [(Column, String, Summary)],
        rows: &[Sorted],
        problems: &mut Problems,
    ) -> Self {
        let columns = summaries.iter().map(|(column, name, summary)| {
            let tree = column.tree();
            let values = rows
                .iter()
                .map(|sorted| cell(world, base, &sorted.row, column, &tree, problems));
            (column, name.as_str(), summary, values.collect())
        });
        Summing {
            world,
            base,
            columns: columns.collect(),
        }
    }

    /// The summaries of some of the rows.
    fn of(&self, rows: std::ops::Range<usize>, problems: &mut Problems) -> Map<String, Json> {
        let mut told = Map::new();
        for (column, name, summary, values) in &self.columns {
            match summary.compute(self.world, self.base, &values[rows.clone()]) {
                Ok(value) => drop(told.insert(column.id(), summaries::to_json(name, value))),
                Err(reason) => problems.add(
                    "",
                    format!("summary `{name}` of `{}`: {reason}", column.id()),
                ),
            }
        }
        told
    }
}

/// The groups of sorted rows: rows of one group follow each other.
fn groups(rows: &[Sorted], summing: &Summing<'_, '_>, problems: &mut Problems) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut from = 0;
    while from < rows.len() && groups.len() < MOST_GROUPS {
        let label = |sorted: &Sorted| {
            sorted
                .group
                .as_ref()
                .map(|value| (value.type_name(), value.shown()))
        };
        let first = label(&rows[from]);
        let count = rows[from..]
            .iter()
            .take_while(|sorted| label(sorted) == first)
            .count();
        let summaries = summing.of(from..from + count, problems);
        groups.push(Group {
            value: rows[from].group.as_ref().map_or(Json::Null, Value::json),
            count: count as u64,
            summaries: (!summaries.is_empty()).then_some(summaries),
        });
        from += count;
    }
    groups
}
