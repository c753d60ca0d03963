//! The rows of a database: the notes that match its filters, loaded from the index.

use crate::base::{Base, View};
use crate::column::Column;
use crate::expression::{Context, Evaluator, Expression, Row, Value};
use crate::filter::Filter;
use crate::open::{Database, Form};
use crate::query::this;
use notehost_sdk::index::{Condition, Field, FoundNote, LinkAt, Query, Sort};
use notehost_sdk::prelude::*;
use notehost_sdk::text::facts::facts;

/// How many notes one index query returns.
const BATCH_SIZE: u32 = 5000;
/// Maximum number of reported problems.
const MAX_PROBLEMS: usize = 10;

/// A cell or filter that could not be computed.
#[reply]
pub struct Problem {
    /// The note.
    pub path: String,
    /// The reason.
    pub message: String,
}

/// The evaluation errors of a call: all are counted, the first few kept.
#[derive(Default)]
pub(crate) struct Problems {
    pub(crate) items: Vec<Problem>,
    pub(crate) count: usize,
}

impl Problems {
    pub(crate) fn add(&mut self, path: &str, message: String) {
        self.count += 1;
        if self.items.len() < MAX_PROBLEMS {
            self.items.push(Problem {
                path: path.to_owned(),
                message,
            });
        }
    }
}

/// Selects the rows of a query.
#[derive(Default)]
pub(crate) struct Selection<'s> {
    pub(crate) view: Option<&'s View>,
    /// The additional filter of the caller.
    pub(crate) filter: Option<&'s Filter>,
    /// The expressions to compute for the rows; they determine the index fields to fetch.
    pub(crate) trees: Vec<Expression>,
}

impl Selection<'_> {
    fn filters<'f>(&'f self, base: &'f Base) -> impl Iterator<Item = &'f Filter> {
        let of_view = self.view.and_then(|view| view.filters.as_ref());
        base.filters.iter().chain(of_view).chain(self.filter)
    }
}

/// The rows of a database, ordered by path.
pub(crate) fn rows(
    context: &Context<'_>,
    database: &Database,
    selection: &Selection<'_>,
    problems: &mut Problems,
) -> Result<Vec<Row>> {
    let base = &database.base;
    let invalid = |reason: String| Error::validation(format!("`{}`: {reason}", database.name));
    let mut index_fields = IndexFields::default();
    for filter in selection.filters(base) {
        filter.check(base).map_err(invalid)?;
        filter.each(&mut |_, tree| index_fields.add(base, tree));
    }
    for tree in &selection.trees {
        base.check(tree).map_err(invalid)?;
        index_fields.add(base, tree);
    }
    let conditions: Vec<Condition> = selection
        .filters(base)
        .filter_map(Filter::condition)
        .map(|condition| with_stored_spelling(context.vault, condition))
        .collect();
    let found = context.vault.find_all(Query {
        condition: (!conditions.is_empty()).then_some(Condition::All(conditions)),
        sort: Sort::by_path(),
        limit: BATCH_SIZE,
        fields: index_fields.fields,
        ..Query::default()
    });
    let mut rows = Vec::new();
    for note in found {
        let row = Row::new(note?);
        let mut is_match = true;
        for filter in selection.filters(base) {
            match filter.matches(context, base, &row) {
                Ok(true) => {}
                Ok(false) => is_match = false,
                Err(reason) => {
                    problems.add(&row.note.path, reason);
                    is_match = false;
                }
            }
            if !is_match {
                break;
            }
        }
        if is_match {
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Changes the notes of the rows that `needs_change` selects; returns their number.
pub(crate) fn change_rows(
    context: &Context<'_>,
    database: &Database,
    needs_change: impl Fn(&Row) -> bool,
    mut change: impl FnMut(&Note) -> Result<()>,
) -> Result<u64> {
    let mut count = 0;
    let all = rows(
        context,
        database,
        &Selection::default(),
        &mut Problems::default(),
    )?;
    for row in all.iter().filter(|row| needs_change(row)) {
        change(&context.vault.read_text(&row.note.path)?)?;
        count += 1;
    }
    Ok(count)
}

/// The number of rows of a database, regardless of the view. Without a filter to compute, the index counts them.
pub(crate) fn count(vault: &Vault, database: &Database, problems: &mut Problems) -> Result<u64> {
    let folder = match (&database.base.filters, database.form) {
        (None, _) => "",
        (Some(_), Form::Folder) => &database.path,
        (Some(_), _) => {
            let context = Context::new(vault, this(database))?;
            let rows = rows(&context, database, &Selection::default(), problems)?;
            return Ok(rows.len() as u64);
        }
    };
    let counted = vault.find(&Query {
        condition: (!folder.is_empty()).then(|| Condition::Under(folder.to_owned())),
        limit: 0,
        ..Query::default()
    })?;
    Ok(counted.total)
}

/// The condition with folder names spelled as stored, as the index requires.
fn with_stored_spelling(vault: &Vault, condition: Condition) -> Condition {
    let each = |conditions: Vec<Condition>| {
        let mapped = conditions
            .into_iter()
            .map(|inner| with_stored_spelling(vault, inner));
        mapped.collect()
    };
    match condition {
        Condition::All(conditions) => Condition::All(each(conditions)),
        Condition::Any(conditions) => Condition::Any(each(conditions)),
        Condition::Under(folder) => {
            let entry = vault.stat(&folder);
            Condition::Under(entry.map_or(folder, |entry| entry.path))
        }
        other => other,
    }
}

/// Whether a note is a row of the database, regardless of the view.
pub(crate) fn is_row(context: &Context<'_>, database: &Database, note: &Note) -> Result<bool> {
    let Some(filter) = &database.base.filters else {
        return Ok(true);
    };
    let mut needs_links = false;
    filter.each(&mut |_, tree| {
        tree.each(&mut |part| {
            needs_links |= matches!(
                part,
                Expression::Method(_, "hasLink" | "linksTo", _) | Expression::Formula(_)
            );
        });
    });
    let row = Row::new(found_note(context.vault, note, needs_links));
    filter
        .check(&database.base)
        .and_then(|()| filter.matches(context, &database.base, &row))
        .map_err(|reason| Error::validation(format!("`{}`: {reason}", database.name)))
}

/// The index entry of a note, computed from its text. Link targets are resolved only on request.
pub(crate) fn found_note(vault: &Vault, note: &Note, needs_links: bool) -> FoundNote {
    let facts = facts(&note.text);
    let links = facts.links.into_iter().map(|link| {
        let target = (needs_links && !link.external && !link.target.is_empty()).then(|| {
            vault
                .resolve(&link.target, Some(&note.path))
                .ok()?
                .into_iter()
                .next()
        });
        LinkAt {
            kind: link.kind,
            path: target.flatten(),
            target: link.target,
            fragment: link.fragment,
            text: link.text,
            line: link.line,
            rivals: 0,
            fragment_found: None,
            external: link.external,
        }
    });
    FoundNote {
        path: note.path.clone(),
        modified: Some(
            vault
                .stat(&note.path)
                .map_or_else(|_| vault.now().milliseconds, |entry| entry.modified),
        ),
        size: Some(note.text.len() as u64),
        etag: Some(note.etag.clone()),
        links: Some(links.collect()),
        properties: Some(facts.properties),
        tags: Some(facts.tags),
        aliases: Some(facts.aliases),
        ..FoundNote::default()
    }
}

/// The value of a column for a row. A value that cannot be computed is empty and recorded as a problem.
pub(crate) fn cell(
    context: &Context<'_>,
    base: &Base,
    row: &Row,
    column: &Column,
    tree: &Expression,
    problems: &mut Problems,
) -> Value {
    match Evaluator::new(context, &base.formulas, row).compute(tree) {
        Ok(value) => value,
        Err(reason) => {
            problems.add(&row.note.path, format!("`{}`: {reason}", column.id()));
            Value::Null
        }
    }
}

/// The index fields that expressions need.
struct IndexFields {
    fields: Vec<Field>,
    /// The formulas already visited.
    seen: Vec<String>,
}

impl Default for IndexFields {
    fn default() -> IndexFields {
        IndexFields {
            fields: vec![Field::Properties, Field::Etag],
            seen: Vec::new(),
        }
    }
}

impl IndexFields {
    fn add(&mut self, base: &Base, tree: &Expression) {
        let mut formulas = Vec::new();
        tree.each(&mut |part| {
            let field = match part {
                Expression::FileField("tags") => Field::Tags,
                Expression::FileField("links" | "embeds") => Field::Links,
                Expression::FileField("aliases") => Field::Aliases,
                Expression::FileField("size") => Field::Size,
                Expression::FileField("mtime" | "ctime") => Field::Modified,
                Expression::Method(_, "hasTag", _) => Field::Tags,
                Expression::Method(_, "hasLink" | "linksTo", _) => Field::Links,
                // The attributes of a computed file may be those of the row.
                Expression::Member(_, name) => match name.as_str() {
                    "tags" => Field::Tags,
                    "links" | "embeds" => Field::Links,
                    "aliases" => Field::Aliases,
                    "size" => Field::Size,
                    "mtime" | "ctime" => Field::Modified,
                    _ => return,
                },
                Expression::Formula(name) => return formulas.push(name.clone()),
                _ => return,
            };
            if !self.fields.contains(&field) {
                self.fields.push(field);
            }
        });
        for name in formulas {
            if !self.seen.contains(&name) {
                self.seen.push(name.clone());
                if let Some(Ok(inner)) = base.formulas.get(&name) {
                    self.add(base, inner);
                }
            }
        }
    }
}
