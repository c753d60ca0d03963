//! The model of a `.base` file: filters, formulas, properties, summaries and views. It is parsed from YAML here;
//! editing the YAML is in `yaml_edit`.

use crate::column::Column;
use crate::expression::{self, Expression, Formulas};
use crate::filter::Filter;
use notehost_sdk::serde_json::{Map, Value};
use notehost_sdk::text::{TextError, frontmatter};
use notehost_sdk::{Code, Error, Result, fold_name, quoted};
use std::collections::BTreeSet;

/// Maximum number of views of a database.
const MAX_VIEWS: usize = 200;

/// A parsed `.base` file.
#[derive(Default)]
pub(crate) struct Base {
    /// The whole YAML mapping, including unknown keys.
    pub(crate) all: Map<String, Value>,
    pub(crate) filters: Option<Filter>,
    pub(crate) formulas: Formulas,
    /// The source texts of the formulas, in file order.
    pub(crate) formula_texts: Vec<(String, String)>,
    /// The custom summaries: name and formula, in file order.
    pub(crate) summaries: Vec<(String, String)>,
    pub(crate) views: Vec<View>,
}

/// A view of the rows.
#[derive(Default)]
pub(crate) struct View {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) filters: Option<Filter>,
    /// The columns; `None` if the view has no `order`.
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
    /// Parses YAML that begins at `first_line` of the file `place`.
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
            Some(Value::Array(views)) if views.len() <= MAX_VIEWS => {
                let views = views.iter().enumerate();
                views
                    .map(|(index, view)| View::read(view, index))
                    .collect::<Result<_, _>>()?
            }
            Some(_) => {
                return Err(format!(
                    "`views` must be a list of at most {MAX_VIEWS} views"
                ));
            }
        };
        if let Some(other) = all.get("properties")
            && !other.is_object()
            && !other.is_null()
        {
            return Err("`properties` must be a mapping of property names to settings".to_owned());
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

    /// A setting of a column, such as `displayName`.
    pub(crate) fn setting(&self, column: &Column, key: &str) -> Option<&str> {
        let properties = self.all.get("properties")?.as_object()?;
        let named = |name: &str| properties.get(name)?.get(key)?.as_str();
        let id = column.id();
        named(&id).or_else(|| named(&format!("note.{id}")))
    }

    /// The display name of a column.
    pub(crate) fn display_name(&self, column: &Column) -> String {
        self.setting(column, "displayName")
            .map_or_else(|| column.short_name().to_owned(), str::to_owned)
    }

    /// The view with this name, or the first view if no name is given.
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
        Err(Error::not_found(match self.views.is_empty() {
            true => format!("no view `{name}`: the database has no views, omit `view`"),
            false => format!(
                "no view `{name}`; known views: {}",
                quoted(self.views.iter().map(|view| &view.name))
            ),
        }))
    }

    /// Rejects an expression whose formulas are missing, invalid or cyclic.
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
                let cycle: Vec<String> = open
                    .iter()
                    .chain([&name])
                    .map(|name| format!("`{name}`"))
                    .collect();
                return Err(format!("cyclic formulas: {}", cycle.join(" → ")));
            }
            if done.contains(name) {
                continue;
            }
            match self.formulas.get(name) {
                Some(Ok(inner)) => {
                    if open.len() > 30 {
                        return Err("formulas are nested more than 30 deep".to_owned());
                    }
                    open.push(name);
                    self.check_formulas(inner, open, done)?;
                    open.pop();
                    done.insert(name);
                }
                Some(Err(error)) => return Err(error.clone()),
                None => return Err(format!("no formula `{name}`")),
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

    /// Every column named in the views, settings and formulas of the database.
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

/// The formulas that an expression uses directly.
fn collect_formulas<'b>(tree: &'b Expression, used: &mut Vec<&'b str>) {
    // `each` passes parts that live only as long as the call, so the traversal is written out here.
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
                "view {number} must be a mapping with keys such as `type` and `name`"
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
                    None => Err("`order` must be a list of column names".to_owned()),
                });
                Some(columns.collect::<Result<_, _>>().map_err(&within)?)
            }
            Some(_) => return Err(within("`order` must be a list of column names".to_owned())),
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
                    "`sort` must be a list of mappings with `property` and `direction`".to_owned(),
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

    /// Parses `due` or `-due` from a caller.
    pub(crate) fn parse(text: &str, base: &Base, argument: &str) -> Result<Sorting> {
        let text = text.trim();
        let (is_descending, name) = match text.strip_prefix('-') {
            Some(name) => (true, name.trim()),
            None => (false, text),
        };
        if name.is_empty() {
            return Err(Error::validation(format!(
                "`{argument}` has an empty column name: write `column`, or `-column` to sort descending"
            )));
        }
        Ok(Sorting {
            column: Column::resolve(name, base)?,
            is_descending,
        })
    }
}

/// The names and expressions in the mapping at a key.
fn texts(all: &Map<String, Value>, key: &str) -> Result<Vec<(String, String)>, String> {
    let map = match all.get(key) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(map)) => map,
        Some(_) => return Err(format!("`{key}` must be a mapping of names to expressions")),
    };
    map.iter()
        .map(|(name, text)| match text {
            Value::String(text) => Ok((name.clone(), text.clone())),
            Value::Number(_) | Value::Bool(_) => Ok((name.clone(), text.to_string())),
            _ => Err(format!("`{key}`: `{name}` must be an expression")),
        })
        .collect()
}

/// Parses YAML as a mapping; errors name the line of the file.
pub(crate) fn mapping(yaml: &str, place: &str, first_line: usize) -> Result<Map<String, Value>> {
    let marker = yaml
        .lines()
        .position(|line| matches!(line.trim_end(), "---" | "..."));
    if let Some(line) = marker {
        return Err(Error::validation(format!(
            "`{place}`: line {} starts a second YAML document, only one is allowed",
            first_line + line
        )));
    }
    let wrapped = format!("---\n{yaml}\n---\n");
    frontmatter::properties(&wrapped).map_err(|error| {
        // The YAML begins on the second line of the wrapped text.
        let line_of = |line: usize| (line + first_line).saturating_sub(2).max(1);
        if let TextError::YamlTooComplex { limit, .. } = error {
            return Error::new(
                Code::TooLarge,
                format!("`{place}`: its YAML is too complex: {limit}"),
            );
        }
        Error::validation(match error {
            TextError::BrokenFrontmatter { line, message } => {
                format!(
                    "`{place}`: invalid YAML on line {}: {message}",
                    line_of(line)
                )
            }
            TextError::NoProperties { line } => format!(
                "`{place}`: expected a mapping with keys such as `filters` and `views` on line {}",
                line_of(line)
            ),
            other => format!("`{place}`: {other}"),
        })
    })
}
