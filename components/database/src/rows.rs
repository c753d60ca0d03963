//! The rows of a database: the notes that match its filters, loaded from the index.

use crate::base::{Base, View};
use crate::column::Column;
use crate::expression::{Evaluator, Expression, Row, Value, World};
use crate::filter::Filter;
use crate::place::{Database, Form};
use crate::query::this;
use notehost_sdk::index::{Condition, Field, FoundNote, LinkAt, Query, Sort, SortBy};
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
    pub(crate) told: Vec<Problem>,
    pub(crate) count: usize,
}

impl Problems {
    pub(crate) fn add(&mut self, path: &str, message: String) {
        self.count += 1;
        if self.told.len() < MAX_PROBLEMS {
            self.told.push(Problem {
                path: path.to_owned(),
                message,
            });
        }
    }
}

/// Which of the notes are rows.
#[derive(Default)]
pub(crate) struct Selection<'s> {
    pub(crate) view: Option<&'s View>,
    /// What the caller wants beyond the filters of the database.
    pub(crate) filter: Option<&'s Filter>,
    /// What is computed for the rows, so that the index is asked for what it needs.
    pub(crate) trees: Vec<Expression>,
}

impl Selection<'_> {
    fn filters<'f>(&'f self, base: &'f Base) -> impl Iterator<Item = &'f Filter> {
        let of_view = self.view.and_then(|view| view.filters.as_ref());
        base.filters.iter().chain(of_view).chain(self.filter)
    }
}

/// The rows of a database, in order of path.
pub(crate) fn rows(
    world: &World<'_>,
    database: &Database,
    selection: &Selection<'_>,
    problems: &mut Problems,
) -> Result<Vec<Row>> {
    let base = &database.base;
    let refused = |reason: String| Error::validation(format!("`{}`: {reason}", database.name));
    let mut needs = Needs::default();
    for filter in selection.filters(base) {
        filter.check(base).map_err(refused)?;
        filter.each(&mut |_, tree| needs.see(base, tree));
    }
    for tree in &selection.trees {
        base.check(tree).map_err(refused)?;
        needs.see(base, tree);
    }
    let conditions: Vec<Condition> = selection
        .filters(base)
        .filter_map(Filter::condition)
        .map(|condition| spelt(world.vault, condition))
        .collect();
    let mut query = Query {
        condition: (!conditions.is_empty()).then_some(Condition::All(conditions)),
        sort: vec![Sort {
            by: SortBy::Path,
            descending: false,
        }],
        limit: BATCH_SIZE,
        fields: needs.fields,
        ..Query::default()
    };
    let mut rows = Vec::new();
    loop {
        let page = world.vault.find(&query)?;
        let is_last = page.items.is_empty();
        query.offset += page.items.len() as u64;
        for note in page.items {
            let row = Row::new(note);
            let mut holds = true;
            for filter in selection.filters(base) {
                match filter.matches(world, base, &row) {
                    Ok(true) => {}
                    Ok(false) => holds = false,
                    Err(reason) => {
                        problems.add(&row.note.path, reason);
                        holds = false;
                    }
                }
                if !holds {
                    break;
                }
            }
            if holds {
                rows.push(row);
            }
        }
        if is_last || query.offset >= page.total {
            return Ok(rows);
        }
    }
}

/// How many rows a database has, whatever the view. Where no filter has to be computed, the index counts them.
pub(crate) fn count(vault: &Vault, database: &Database, problems: &mut Problems) -> Result<u64> {
    let folder = match (&database.base.filters, database.form) {
        (None, _) => "",
        (Some(_), Form::Folder) => &database.path,
        (Some(_), _) => {
            let world = World::new(vault, this(database))?;
            let rows = rows(&world, database, &Selection::default(), problems)?;
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

/// The condition with folders as they are spelt: the index knows them only so.
fn spelt(vault: &Vault, condition: Condition) -> Condition {
    let each = |conditions: Vec<Condition>| {
        let spelt = conditions.into_iter().map(|inner| spelt(vault, inner));
        spelt.collect()
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

/// Whether a note that was read is a row of the database, whatever the view.
pub(crate) fn is_row(world: &World<'_>, database: &Database, note: &Note) -> Result<bool> {
    let Some(filter) = &database.base.filters else {
        return Ok(true);
    };
    let mut asks_links = false;
    filter.each(&mut |_, tree| {
        tree.each(&mut |part| {
            asks_links |= matches!(
                part,
                Expression::Method(_, "hasLink" | "linksTo", _) | Expression::Formula(_)
            );
        });
    });
    let row = Row::new(told(world.vault, note, asks_links));
    filter
        .check(&database.base)
        .and_then(|()| filter.matches(world, &database.base, &row))
        .map_err(|reason| Error::validation(format!("`{}`: {reason}", database.name)))
}

/// What the index would tell of a note. Where its links lead is only looked up if that matters.
pub(crate) fn told(vault: &Vault, note: &Note, asks_links: bool) -> FoundNote {
    let facts = facts(&note.text);
    let links = facts.links.into_iter().map(|link| {
        let leads = (asks_links && !link.external && !link.target.is_empty()).then(|| {
            vault
                .resolve(&link.target, Some(&note.path))
                .ok()?
                .into_iter()
                .next()
        });
        LinkAt {
            kind: link.kind,
            path: leads.flatten(),
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

/// The value of a column for a row; what cannot be computed is empty, and told.
pub(crate) fn cell(
    world: &World<'_>,
    base: &Base,
    row: &Row,
    column: &Column,
    tree: &Expression,
    problems: &mut Problems,
) -> Value {
    match Evaluator::new(world, &base.formulas, row).compute(tree) {
        Ok(value) => value,
        Err(reason) => {
            problems.add(&row.note.path, format!("`{}`: {reason}", column.id()));
            Value::Null
        }
    }
}

/// What the index has to tell of notes.
struct Needs {
    fields: Vec<Field>,
    /// The formulas that were looked at.
    seen: Vec<String>,
}

impl Default for Needs {
    fn default() -> Needs {
        Needs {
            fields: vec![Field::Properties, Field::Etag],
            seen: Vec::new(),
        }
    }
}

impl Needs {
    fn see(&mut self, base: &Base, tree: &Expression) {
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
                // Facts of a file that is computed may be those of the row.
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
                    self.see(base, inner);
                }
            }
        }
    }
}
