//! What a `.base` file says: filters, formulas, properties, summaries and views. Read from YAML here; changing the YAML is
//! in `layout`.

use crate::column::Column;
use crate::expression::{self, Expression, Formulas};
use crate::filter::Filter;
use notehost_sdk::serde_json::{Map, Value};
use notehost_sdk::text::{TextError, frontmatter};
use notehost_sdk::{Code, Error, Result, fold_name};
use std::collections::BTreeSet;

/// How many views a database may have.
const MOST_VIEWS: usize = 200;

/// A database as it is written.
#[derive(Default)]
pub(crate) struct Base {
    /// All that the YAML says, also what nobody here knows.
    pub(crate) all: Map<String, Value>,
    pub(crate) filters: Option<Filter>,
    pub(crate) formulas: Formulas,
    /// The texts of the formulas, in their order.
    pub(crate) formula_texts: Vec<(String, String)>,
    /// Formulas for summaries, in their order.
    pub(crate) summaries: Vec<(String, String)>,
    pub(crate) views: Vec<View>,
}

/// One way to look at the rows.
#[derive(Default)]
pub(crate) struct View {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) filters: Option<Filter>,
    /// The columns; nothing where the view does not say.
    pub(crate) order: Option<Vec<Column>>,
    pub(crate) sort: Vec<Sorting>,
    pub(crate) group: Option<Sorting>,
    pub(crate) limit: Option<usize>,
    /// The name of a summary by column.
    pub(crate) summaries: Vec<(Column, String)>,
}

/// A column to sort or group by.
#[derive(Debug, Clone)]
pub(crate) struct Sorting {
    pub(crate) column: Column,
    pub(crate) is_descending: bool,
}

impl Base {
    /// Reads YAML that begins on a line of a file.
    pub(crate) fn read(yaml: &str, place: &str, first_line: usize) -> Result<Base> {
        let all = mapping(yaml, place, first_line)?;
        Base::of(all).map_err(|reason| Error::validation(format!("`{place}`: {reason}")))
    }

    fn of(all: Map<String, Value>) -> Result<Base, String> {
        let filters = match all.get("filters") {
            None | Some(Value::Null) => None,
            Some(filters) => {
                Some(Filter::read(filters).map_err(|reason| format!("`filters`: {reason}"))?)
            }
        };
        let formula_texts = texts(&all, "formulas")?;
        let formulas = formula_texts
            .iter()
            .map(|(name, text)| {
                let tree = expression::parse(text, false);
                (
                    name.clone(),
                    tree.map_err(|reason| format!("formula `{name}`: {reason}")),
                )
            })
            .collect();
        let views = match all.get("views") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(views)) if views.len() <= MOST_VIEWS => {
                let views = views.iter().enumerate();
                views
                    .map(|(index, view)| View::read(view, index))
                    .collect::<Result<_, _>>()?
            }
            Some(_) => {
                return Err(format!(
                    "`views` must be a list of at most {MOST_VIEWS} views"
                ));
            }
        };
        if let Some(other) = all.get("properties")
            && !other.is_object()
            && !other.is_null()
        {
            return Err("`properties` must hold a setting for each property".to_owned());
        }
        Ok(Base {
            filters,
            formulas,
            summaries: texts(&all, "summaries")?,
            formula_texts,
            views,
            all,
        })
    }

    /// The settings of a column, such as its name for readers.
    pub(crate) fn setting(&self, column: &Column, key: &str) -> Option<&str> {
        let properties = self.all.get("properties")?.as_object()?;
        let named = |name: &str| properties.get(name)?.get(key)?.as_str();
        let id = column.id();
        named(&id).or_else(|| named(&format!("note.{id}")))
    }

    /// The name that readers see.
    pub(crate) fn display_name(&self, column: &Column) -> String {
        self.setting(column, "displayName")
            .map_or_else(|| column.short_name().to_owned(), str::to_owned)
    }

    /// The view of a name; without one, the first.
    pub(crate) fn view(&self, name: Option<&str>) -> Result<Option<&View>> {
        let Some(name) = name else {
            return Ok(self.views.first());
        };
        let folded = fold_name(name.trim());
        let exact = self.views.iter().find(|view| view.name == name.trim());
        let found = exact.or_else(|| {
            self.views
                .iter()
                .find(|view| fold_name(&view.name) == folded)
        });
        if found.is_some() {
            return Ok(found);
        }
        let names: Vec<String> = self
            .views
            .iter()
            .map(|view| format!("`{}`", view.name))
            .collect();
        Err(Error::not_found(match names.is_empty() {
            true => format!("no view `{name}`: the database has no views, leave `view` out"),
            false => format!("no view `{name}`: there is {}", names.join(", ")),
        }))
    }

    /// Refuses a tree that uses formulas that are not there, cannot be read, or use each other in a circle.
    pub(crate) fn check(&self, tree: &Expression) -> Result<(), String> {
        let mut open = Vec::new();
        let mut done = BTreeSet::new();
        self.check_formulas(tree, &mut open, &mut done)
    }

    fn check_formulas<'b>(
        &'b self,
        tree: &'b Expression,
        open: &mut Vec<&'b str>,
        done: &mut BTreeSet<&'b str>,
    ) -> Result<(), String> {
        let mut used: Vec<&'b str> = Vec::new();
        collect_formulas(tree, &mut used);
        for name in used {
            if open.contains(&name) {
                let circle: Vec<String> = open
                    .iter()
                    .chain([&name])
                    .map(|name| format!("`{name}`"))
                    .collect();
                return Err(format!(
                    "formulas use each other in a circle: {}",
                    circle.join(" → ")
                ));
            }
            if done.contains(name) {
                continue;
            }
            match self.formulas.get(name) {
                Some(Ok(inner)) => {
                    if open.len() > 30 {
                        return Err("formulas use each other more than 30 deep".to_owned());
                    }
                    open.push(name);
                    self.check_formulas(inner, open, done)?;
                    open.pop();
                    done.insert(name);
                }
                Some(Err(refusal)) => return Err(refusal.clone()),
                None => return Err(format!("there is no formula `{name}`")),
            }
        }
        Ok(())
    }

    /// Whether a filter or a formula uses a property.
    pub(crate) fn uses_property(&self, name: &str) -> bool {
        let mut found = false;
        let mut see = |tree: &Expression| {
            tree.each(&mut |part| {
                found |= matches!(part, Expression::Property(used) if fold_name(used) == fold_name(name));
            });
        };
        let of_views = self.views.iter().filter_map(|view| view.filters.as_ref());
        for filter in self.filters.iter().chain(of_views) {
            filter.each(&mut |_, tree| see(tree));
        }
        self.formulas.values().flatten().for_each(see);
        found
    }

    /// Every column that the database names: in its views, its settings, its formulas.
    pub(crate) fn named_columns(&self) -> Vec<Column> {
        let mut columns: Vec<Column> = Vec::new();
        let mut add = |column: Column| {
            if !columns.iter().any(|known| known.is_same(&column)) {
                columns.push(column);
            }
        };
        for view in &self.views {
            view.order.iter().flatten().cloned().for_each(&mut add);
        }
        let settings = self.all.get("properties").and_then(Value::as_object);
        for name in settings.into_iter().flat_map(|settings| settings.keys()) {
            if let Ok(column) = Column::named(name) {
                add(column);
            }
        }
        for (name, _) in &self.formula_texts {
            add(Column::Formula(name.clone()));
        }
        columns
    }
}

/// The formulas that a tree uses itself.
fn collect_formulas<'b>(tree: &'b Expression, used: &mut Vec<&'b str>) {
    // `each` hands out parts that live as long as the call only, so the walk is written out for what can hold others.
    match tree {
        Expression::Formula(name) => used.push(name),
        Expression::List(items)
        | Expression::All(items)
        | Expression::Any(items)
        | Expression::Call(_, items) => {
            items.iter().for_each(|item| collect_formulas(item, used));
        }
        Expression::Object(entries) => entries
            .iter()
            .for_each(|(_, value)| collect_formulas(value, used)),
        Expression::Member(inner, _) | Expression::Not(inner) | Expression::Negate(inner) => {
            collect_formulas(inner, used);
        }
        Expression::Index(one, other) | Expression::Binary(_, one, other) => {
            collect_formulas(one, used);
            collect_formulas(other, used);
        }
        Expression::Method(inner, _, items) => {
            collect_formulas(inner, used);
            items.iter().for_each(|item| collect_formulas(item, used));
        }
        _ => {}
    }
}

impl View {
    fn read(view: &Value, index: usize) -> Result<View, String> {
        let number = index + 1;
        let Some(map) = view.as_object() else {
            return Err(format!(
                "view {number} must have keys such as `type` and `name`"
            ));
        };
        let text = |key: &str| map.get(key).and_then(Value::as_str);
        let name = text("name").map_or_else(|| format!("View {number}"), str::to_owned);
        let within = |reason: String| format!("view `{name}`: {reason}");
        let filters = match map.get("filters") {
            None | Some(Value::Null) => None,
            Some(filters) => Some(Filter::read(filters).map_err(&within)?),
        };
        let order = match map.get("order") {
            None | Some(Value::Null) => None,
            Some(Value::Array(columns)) => {
                let columns = columns.iter().map(|column| match column.as_str() {
                    Some(column) => Column::named(column),
                    None => Err("`order` must be a list of names".to_owned()),
                });
                Some(columns.collect::<Result<_, _>>().map_err(&within)?)
            }
            Some(_) => return Err(within("`order` must be a list of names".to_owned())),
        };
        let sort = match map.get("sort") {
            Some(Value::Array(sorts)) => sorts
                .iter()
                .map(Sorting::read)
                .collect::<Result<_, _>>()
                .map_err(&within)?,
            None | Some(Value::Null) => Vec::new(),
            Some(_) => {
                return Err(within(
                    "`sort` must be a list of `property` and `direction`".to_owned(),
                ));
            }
        };
        let group = match map.get("groupBy") {
            None | Some(Value::Null) => None,
            Some(group) => Some(Sorting::read(group).map_err(&within)?),
        };
        let summaries = match map.get("summaries") {
            Some(Value::Object(summaries)) => summaries
                .iter()
                .filter_map(|(column, name)| Some((column, name.as_str()?)))
                .map(|(column, name)| Ok((Column::named(column)?, name.to_owned())))
                .collect::<Result<_, String>>()
                .map_err(&within)?,
            _ => Vec::new(),
        };
        Ok(View {
            kind: text("type").unwrap_or("table").to_owned(),
            filters,
            order,
            sort,
            group,
            limit: map
                .get("limit")
                .and_then(Value::as_u64)
                .and_then(|limit| usize::try_from(limit).ok()),
            summaries,
            name,
        })
    }
}

impl Sorting {
    fn read(value: &Value) -> Result<Sorting, String> {
        let property = match value {
            Value::String(property) => Some(property.as_str()),
            value => value
                .get("property")
                .or_else(|| value.get("column"))
                .and_then(Value::as_str),
        };
        let Some(property) = property else {
            return Err("a sort or group needs a `property`".to_owned());
        };
        let direction = value
            .get("direction")
            .and_then(Value::as_str)
            .unwrap_or("ASC");
        Ok(Sorting {
            column: Column::named(property)?,
            is_descending: direction.eq_ignore_ascii_case("desc"),
        })
    }

    /// `due` or `-due`, as callers write it.
    pub(crate) fn asked(text: &str, base: &Base, argument: &str) -> Result<Sorting> {
        let text = text.trim();
        let (is_descending, name) = match text.strip_prefix('-') {
            Some(name) => (true, name.trim()),
            None => (false, text),
        };
        if name.is_empty() {
            return Err(Error::validation(format!(
                "`{argument}` has an empty name: write a column, with `-` before it for the greatest first"
            )));
        }
        Ok(Sorting {
            column: Column::asked(name, base)?,
            is_descending,
        })
    }
}

/// What a key holds: names with texts.
fn texts(all: &Map<String, Value>, key: &str) -> Result<Vec<(String, String)>, String> {
    let map = match all.get(key) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(map)) => map,
        Some(_) => return Err(format!("`{key}` must hold an expression for each name")),
    };
    map.iter()
        .map(|(name, text)| match text {
            Value::String(text) => Ok((name.clone(), text.clone())),
            Value::Number(_) | Value::Bool(_) => Ok((name.clone(), text.to_string())),
            _ => Err(format!("`{key}`: `{name}` must be an expression")),
        })
        .collect()
}

/// A YAML text as a mapping, with errors that tell the line of the file.
pub(crate) fn mapping(yaml: &str, place: &str, first_line: usize) -> Result<Map<String, Value>> {
    let marker = yaml
        .lines()
        .position(|line| matches!(line.trim_end(), "---" | "..."));
    if let Some(line) = marker {
        return Err(Error::validation(format!(
            "`{place}`: line {} begins another YAML document, and a database is one",
            first_line + line
        )));
    }
    let wrapped = format!("---\n{yaml}\n---\n");
    frontmatter::properties(&wrapped).map_err(|error| {
        // The YAML begins on the second line of what was wrapped.
        let line_of = |line: usize| (line + first_line).saturating_sub(2).max(1);
        if let TextError::YamlTooComplex { limit, .. } = error {
            return Error::new(
                Code::TooLarge,
                format!("`{place}`: its YAML is too complex to be read: {limit}"),
            );
        }
        Error::validation(match error {
            TextError::BrokenFrontmatter { line, message } => {
                format!("`{place}`: line {} is no YAML: {message}", line_of(line))
            }
            TextError::NoProperties { line } => format!(
                "`{place}`: line {} has no keys such as `filters` and `views`",
                line_of(line)
            ),
            other => format!("`{place}`: {other}"),
        })
    })
}
