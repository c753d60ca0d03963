//! Notes as rows of a table, filtered by properties, tags, paths, times and links.

use notehost_sdk::dates;
use notehost_sdk::index::{Building, Field, FoundNote, Query, building};
use notehost_sdk::pages::Span;
use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::{Map, Value};
use notehost_sdk::{fold_name, parent_of, stem_of};

use crate::MAX_PAGE_SIZE;
use crate::{filter, sort_order};

/// The maximum number of columns.
const MAX_COLUMNS: usize = 50;

/// Find notes by a JSON filter, as rows. A key is a property (`status`; nested `a.b`), or one of `tag`, `path` (folder,
/// note or glob), `links_to`, `linked_from`, `has` (`tasks`, `open_tasks`, `backlinks`, …), `text` (a query as in
/// `text`), `file.name`, `file.modified`, `file.size`; `note.x` is always the property `x`. All keys must match; `and`,
/// `or`, `not` contain filters. A value: equal to it, a list of alternatives, `null` (not set), or operators `=`, `!=`,
/// `>`, `>=`, `<`, `<=`, `contains`, `starts_with`, `in`, `exists`. Times: `2024-05-31`, `today`, `-7d`, `+2w`.
///
/// Example: `{"filter": {"tags": "garden"}, "columns": ["season", "file.modified"]}`
#[args]
pub struct QueryNotes {
    /// The filter; `{}` matches every note.
    pub filter: Map<String, Value>,
    /// Comma-separated: a property, `path`, `name`, `modified`, `size`, `incoming`, `outgoing`; a leading `-` reverses
    /// the order. Default `path`.
    pub sort: Option<String>,
    /// Columns to return: properties, `file.name`, `file.folder`, `file.modified`, `file.size`, `file.tags`,
    /// `file.aliases`, `file.headings`, `file.tasks`, `file.links`, `file.backlinks` (a count). Default: all
    /// properties.
    pub columns: Option<Vec<String>>,
    /// Page size, 1–200 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// Notes as rows.
#[reply]
pub struct Rows {
    /// The rows.
    pub items: Vec<Row>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Number of results on all pages.
    pub total: u64,
    /// Present while the index is being built: notes may be missing.
    pub index: Option<Building>,
}

/// A note as a row.
#[reply]
pub struct Row {
    /// The note.
    pub path: String,
    /// Values by column; `null` if the note has none.
    pub values: Map<String, Value>,
}

impl Action for QueryNotes {
    type Output = Rows;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Rows> {
        let span = Span::within(self.limit, 50, MAX_PAGE_SIZE, self.cursor.as_deref())?;
        let columns = self.columns.unwrap_or_default();
        let mut fields = vec![Field::Properties];
        for column in &columns {
            fields.extend(Column::named(column)?.field());
        }
        if columns.len() > MAX_COLUMNS {
            return Err(Error::validation(format!(
                "`columns` has {}; the limit is {MAX_COLUMNS}",
                columns.len()
            )));
        }
        fields.sort_by_key(|field| *field as u8);
        fields.dedup();
        let found = vault.find(&Query {
            condition: Some(filter::condition(vault, &self.filter, &vault.now())?),
            sort: sort_order::parse(self.sort.as_deref())?,
            offset: span.offset(),
            limit: span.count(),
            fields,
            snippets: 0,
        })?;
        let rows = found.items.into_iter().map(|note| row(note, &columns));
        Ok(Rows {
            items: rows.collect::<Result<_>>()?,
            next_cursor: span.next(span.limit, found.total),
            total: found.total,
            index: building(vault),
        })
    }

    fn text(output: &Rows) -> String {
        let first = match output.total {
            0 => "no notes match the filter".to_owned(),
            total => format!("{} of {total}:", output.items.len()),
        };
        let value = |line: ReplyText, (column, value): (&String, &Value)| {
            line.and(match value {
                Value::Null => None,
                Value::String(value) => Some(format!("  {column}: {value}")),
                value => Some(format!("  {column}: {value}")),
            })
        };
        ReplyText::new(first)
            .lines(&output.items, |row| {
                row.values.iter().fold(ReplyText::new(&row.path), value)
            })
            .unfinished(&output.index)
            .more(&output.next_cursor)
            .into()
    }
}

/// A column of the table.
enum Column<'c> {
    Path,
    Name,
    Folder,
    Of(Field),
    Backlinks,
    Property(&'c str),
}

impl<'c> Column<'c> {
    fn named(name: &'c str) -> Result<Column<'c>> {
        Ok(match name.trim() {
            "" => return Err(Error::validation("`columns` has an empty name")),
            "path" | "file.path" => Column::Path,
            "file.name" => Column::Name,
            "file.folder" => Column::Folder,
            "file.modified" => Column::Of(Field::Modified),
            "file.size" => Column::Of(Field::Size),
            "file.etag" => Column::Of(Field::Etag),
            "tags" | "file.tags" => Column::Of(Field::Tags),
            "file.aliases" => Column::Of(Field::Aliases),
            "file.headings" => Column::Of(Field::Headings),
            "file.tasks" => Column::Of(Field::Tasks),
            "file.links" => Column::Of(Field::Links),
            "file.backlinks" => Column::Backlinks,
            name => match name.strip_prefix("file.") {
                Some(_) => {
                    return Err(Error::validation(format!(
                        "`columns` has the unknown column `{name}`: the file columns are `file.name`, `file.path`, `file.folder`, `file.modified`, `file.size`, `file.etag`, `file.tags`, `file.aliases`, `file.headings`, `file.tasks`, `file.links`, `file.backlinks`"
                    )));
                }
                None => Column::Property(name.strip_prefix("note.").unwrap_or(name)),
            },
        })
    }

    fn field(&self) -> Option<Field> {
        match self {
            Column::Of(field) => Some(*field),
            Column::Backlinks => Some(Field::Degree),
            Column::Path | Column::Name | Column::Folder | Column::Property(_) => None,
        }
    }

    fn value(&self, note: &FoundNote) -> Value {
        match self {
            Column::Path => json!(note.path),
            Column::Name => json!(stem_of(&note.path)),
            Column::Folder => json!(parent_of(&note.path)),
            Column::Backlinks => json!(note.degree.map(|degree| degree.incoming)),
            Column::Property(key) => note
                .properties
                .as_ref()
                .and_then(|properties| inner(properties, key))
                .cloned()
                .unwrap_or_default(),
            Column::Of(field) => of_field(note, *field),
        }
    }
}

fn of_field(note: &FoundNote, field: Field) -> Value {
    match field {
        Field::Modified => json!(note.modified.map(dates::iso)),
        Field::Size => json!(note.size),
        Field::Etag => json!(note.etag),
        Field::Aliases => json!(note.aliases),
        Field::Tasks => json!(note.tasks),
        Field::Headings => {
            let headings = note.headings.iter().flatten();
            headings
                .map(|heading| json!(heading.text))
                .collect::<Vec<_>>()
                .into()
        }
        Field::Tags => {
            let mut names: Vec<&str> = Vec::new();
            for tag in note.tags.iter().flatten() {
                if !names.contains(&tag.tag.as_str()) {
                    names.push(&tag.tag);
                }
            }
            json!(names)
        }
        // Resolved targets; broken links as they are written.
        Field::Links => {
            let links = note.links.iter().flatten().filter(|link| !link.external);
            let targets = links.map(|link| link.path.as_ref().unwrap_or(&link.target));
            let mut unique: Vec<&String> = Vec::new();
            for target in targets.filter(|target| **target != note.path) {
                if !unique.contains(&target) {
                    unique.push(target);
                }
            }
            json!(unique)
        }
        Field::Properties | Field::Blocks | Field::Degree => Value::Null,
    }
}

fn row(mut note: FoundNote, columns: &[String]) -> Result<Row> {
    let values = if columns.is_empty() {
        note.properties.take().unwrap_or_default()
    } else {
        let mut values = Map::new();
        for column in columns {
            let value = Column::named(column)?.value(&note);
            values.insert(column.trim().to_owned(), value);
        }
        values
    };
    Ok(Row {
        path: note.path,
        values,
    })
}

/// The value of a key, case-insensitive; `a.b` is the key itself or `b` within `a`.
fn inner<'p>(properties: &'p Map<String, Value>, key: &str) -> Option<&'p Value> {
    let named = |name: &str| {
        let name = fold_name(name);
        let mut all = properties.iter();
        all.find(|(key, _)| fold_name(key) == name)
            .map(|(_, value)| value)
    };
    named(key).or_else(|| {
        key.match_indices('.')
            .find_map(|(dot, _)| inner(named(&key[..dot])?.as_object()?, &key[dot + 1..]))
    })
}
