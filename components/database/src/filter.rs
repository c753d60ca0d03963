//! Filters select the notes that are rows: a tree of `and`, `or` and `not` with expressions as leaves.
//!
//! Besides evaluating a filter for a note, this derives what is known without evaluation: an index condition that
//! preselects notes, and the requirements that make a new note a row.

use crate::base::Base;
use crate::expression::{Context, Evaluator, Expression, Operator, Row, Value, parse, parse_date};
use notehost_sdk::index::{Condition, PropertyTest};
use notehost_sdk::serde_json::{Value as Json, json};

/// Maximum nesting depth of filters.
const MAX_DEPTH: usize = 24;

/// A filter.
pub(crate) enum Filter {
    All(Vec<Filter>),
    Any(Vec<Filter>),
    None(Vec<Filter>),
    Expression { text: String, tree: Expression },
}

impl Filter {
    /// Parses the value of `filters`.
    pub(crate) fn read(value: &Json) -> Result<Filter, String> {
        Filter::nested(value, 0)
    }

    /// A filter that is one expression.
    pub(crate) fn of_text(text: &str) -> Result<Filter, String> {
        let tree = parse(text, false).map_err(|reason| format!("`{text}`: {reason}"))?;
        Ok(Filter::Expression {
            text: text.to_owned(),
            tree,
        })
    }

    fn nested(value: &Json, depth: usize) -> Result<Filter, String> {
        if depth > MAX_DEPTH {
            return Err(format!("filters are nested more than {MAX_DEPTH} deep"));
        }
        match value {
            Json::String(text) => Filter::of_text(text),
            Json::Bool(boolean) => Filter::of_text(&boolean.to_string()),
            Json::Object(map) => {
                let mut groups = Vec::new();
                for (key, inner) in map {
                    let join = match key.as_str() {
                        "and" => Filter::All,
                        "or" => Filter::Any,
                        "not" => Filter::None,
                        other => {
                            return Err(format!(
                                "unknown key `{other}`: a filter is an expression, or a mapping with `and`, `or` or `not`"
                            ));
                        }
                    };
                    let items = match inner {
                        Json::Array(items) => items.as_slice(),
                        Json::Null => &[],
                        single => std::slice::from_ref(single),
                    };
                    let items = items.iter().map(|item| Filter::nested(item, depth + 1));
                    let items: Vec<Filter> = items.collect::<Result<_, _>>()?;
                    // An empty `or` matches every note.
                    groups.push(if items.is_empty() {
                        Filter::All(items)
                    } else {
                        join(items)
                    });
                }
                Ok(match groups.len() {
                    1 => groups.remove(0),
                    _ => Filter::All(groups),
                })
            }
            _ => Err(
                "a filter must be an expression, or a mapping with `and`, `or` or `not`".to_owned(),
            ),
        }
    }

    /// Calls `see` with every expression.
    pub(crate) fn each<'f>(&'f self, see: &mut impl FnMut(&'f str, &'f Expression)) {
        match self {
            Filter::All(items) | Filter::Any(items) | Filter::None(items) => {
                items.iter().for_each(|item| item.each(see));
            }
            Filter::Expression { text, tree } => see(text, tree),
        }
    }

    /// Rejects a filter that uses formulas that cannot be computed.
    pub(crate) fn check(&self, base: &Base) -> Result<(), String> {
        let mut checked = Ok(());
        self.each(&mut |text, tree| {
            if checked.is_ok() {
                checked = base
                    .check(tree)
                    .map_err(|reason| format!("filter `{text}`: {reason}"));
            }
        });
        checked
    }

    /// Whether a note matches.
    pub(crate) fn matches(
        &self,
        context: &Context<'_>,
        base: &Base,
        row: &Row,
    ) -> Result<bool, String> {
        match self {
            Filter::All(items) => {
                for item in items {
                    if !item.matches(context, base, row)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Filter::Any(items) => {
                for item in items {
                    if item.matches(context, base, row)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Filter::None(items) => {
                for item in items {
                    if item.matches(context, base, row)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Filter::Expression { text, tree } => Evaluator::new(context, &base.formulas, row)
                .compute(tree)
                .map(|value| value.is_truthy())
                .map_err(|reason| format!("filter `{text}`: {reason}")),
        }
    }

    /// A condition for the index that every matching note satisfies; notes that do not match may satisfy it too.
    pub(crate) fn condition(&self) -> Option<Condition> {
        match self {
            Filter::All(items) => joined(
                items.iter().filter_map(Filter::condition).collect(),
                Condition::All,
            ),
            Filter::Any(items) => {
                let conditions: Option<Vec<Condition>> =
                    items.iter().map(Filter::condition).collect();
                joined(conditions?, Condition::Any)
            }
            Filter::None(_) => None,
            Filter::Expression { tree, .. } => condition_of(tree),
        }
    }

    /// Collects the requirements that every matching note must satisfy.
    pub(crate) fn requirements(&self, requirements: &mut Requirements) {
        match self {
            Filter::All(items) => items
                .iter()
                .for_each(|item| item.requirements(requirements)),
            Filter::Expression { tree, .. } => add_requirements(tree, requirements),
            // An `or` of one item requires that item.
            Filter::Any(items) if items.len() == 1 => items
                .iter()
                .for_each(|item| item.requirements(requirements)),
            Filter::Any(_) | Filter::None(_) => {}
        }
    }
}

fn joined(
    mut conditions: Vec<Condition>,
    join: fn(Vec<Condition>) -> Condition,
) -> Option<Condition> {
    match conditions.len() {
        0 => None,
        1 => conditions.pop(),
        _ => Some(join(conditions)),
    }
}

/// What a new note needs to match a filter, as far as it can be derived.
#[derive(Debug, Default)]
pub(crate) struct Requirements {
    pub(crate) folder: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) properties: Vec<(String, Json)>,
}

/// A simple predicate that an expression may consist of.
enum Predicate<'e> {
    InFolder(&'e str),
    Folder(&'e str),
    Tags(Vec<&'e str>),
    HasProperty(&'e str),
    Property(&'e str, &'e Value),
    Contains(&'e str, &'e Value),
}

fn predicate(tree: &Expression) -> Option<Predicate<'_>> {
    match tree {
        Expression::Method(inner, name, arguments) if matches!(**inner, Expression::File) => {
            let texts: Option<Vec<&str>> = arguments.iter().map(Expression::literal_text).collect();
            let texts = texts?;
            match *name {
                "inFolder" => texts.first().map(|folder| Predicate::InFolder(folder)),
                "hasTag" => Some(Predicate::Tags(texts)),
                "hasProperty" => texts.first().map(|name| Predicate::HasProperty(name)),
                _ => None,
            }
        }
        Expression::Method(inner, "contains", arguments) => {
            match (&**inner, arguments.as_slice()) {
                (Expression::FileField("tags"), [tag]) => {
                    Some(Predicate::Tags(vec![tag.literal_text()?]))
                }
                (Expression::Property(name), [Expression::Literal(value)]) => {
                    Some(Predicate::Contains(name, value))
                }
                _ => None,
            }
        }
        Expression::Binary(Operator::Equal, left, right) => match (&**left, &**right) {
            (Expression::FileField("folder"), other) | (other, Expression::FileField("folder")) => {
                other.literal_text().map(Predicate::Folder)
            }
            (Expression::Property(name), Expression::Literal(value))
            | (Expression::Literal(value), Expression::Property(name)) => {
                Some(Predicate::Property(name, value))
            }
            _ => None,
        },
        _ => None,
    }
}

fn condition_of(tree: &Expression) -> Option<Condition> {
    match tree {
        Expression::All(parts) => {
            return joined(
                parts.iter().filter_map(condition_of).collect(),
                Condition::All,
            );
        }
        Expression::Any(parts) => {
            let conditions: Option<Vec<Condition>> = parts.iter().map(condition_of).collect();
            return joined(conditions?, Condition::Any);
        }
        _ => {}
    }
    match predicate(tree)? {
        Predicate::InFolder(folder) | Predicate::Folder(folder) => {
            let folder = folder.trim_matches('/');
            (!folder.is_empty()).then(|| Condition::Under(folder.to_owned()))
        }
        Predicate::Tags(tags) => {
            let tags = tags.into_iter().map(|tag| tag.trim_start_matches('#'));
            let tags: Vec<&str> = tags.collect();
            let is_tag = |tag: &&str| !tag.trim().is_empty() && !tag.ends_with('/');
            match tags.iter().all(is_tag) {
                true => joined(
                    tags.iter()
                        .map(|tag| Condition::Tag((*tag).to_owned()))
                        .collect(),
                    Condition::Any,
                ),
                false => None,
            }
        }
        // The index compares more loosely than expressions: text case-insensitively, numbers also as text.
        Predicate::Property(name, Value::Text(text)) => {
            let is_plain = !text.trim().is_empty()
                && !name.contains('.')
                && !text.contains("[[")
                && parse_date(text).is_none();
            is_plain.then(|| {
                Condition::Property(Box::new(PropertyTest {
                    key: name.to_owned(),
                    equals: Some(json!(&**text)),
                    ..PropertyTest::default()
                }))
            })
        }
        _ => None,
    }
}

fn add_requirements(tree: &Expression, requirements: &mut Requirements) {
    if let Expression::All(parts) = tree {
        parts
            .iter()
            .for_each(|part| add_requirements(part, requirements));
        return;
    }
    match predicate(tree) {
        Some(Predicate::InFolder(folder)) => {
            requirements
                .folder
                .get_or_insert_with(|| folder.trim_matches('/').to_owned());
        }
        Some(Predicate::Folder(folder)) => {
            requirements.folder = Some(folder.trim_matches('/').to_owned())
        }
        Some(Predicate::Tags(tags)) => {
            if let Some(tag) = tags.first() {
                requirements
                    .tags
                    .push(tag.trim_start_matches('#').to_owned());
            }
        }
        Some(Predicate::Property(name, value)) => requirements
            .properties
            .push((name.to_owned(), value.json())),
        Some(Predicate::Contains(name, value)) => requirements
            .properties
            .push((name.to_owned(), json!([value.json()]))),
        Some(Predicate::HasProperty(name)) => {
            requirements.properties.push((name.to_owned(), Json::Null))
        }
        None => {}
    }
}
