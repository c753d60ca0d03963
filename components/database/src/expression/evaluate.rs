//! Evaluates an expression for one note. Time and memory are bounded: steps are counted, values have a maximum size.

use super::context::Context;
use super::operators::{arithmetic, compare};
use super::value::Value;
use super::{Expression, Local, Operator, functions, lists, texts};
use notehost_sdk::fold_name;
use notehost_sdk::index::FoundNote;
use notehost_sdk::serde_json::{Map, Value as Json};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::rc::Rc;

/// Maximum evaluation depth, including formulas that use other formulas.
const MAX_DEPTH: usize = 160;
/// Maximum steps for one value.
const MAX_STEPS: u32 = 400_000;
/// Maximum steps for all values of a call.
const MAX_TOTAL_STEPS: u64 = 200_000_000;

/// The parsed formulas of a database by name, or their parse errors.
pub(crate) type Formulas = HashMap<String, Result<Expression, String>>;

/// A note with its cached formula results.
pub(crate) struct Row {
    pub(crate) note: FoundNote,
    computed: RefCell<HashMap<String, Result<Value, String>>>,
}

impl Row {
    pub(crate) fn new(note: FoundNote) -> Row {
        Row {
            note,
            computed: RefCell::default(),
        }
    }

    /// The property with this name: an exact match, else case-insensitive.
    pub(crate) fn property(&self, name: &str) -> Option<&Json> {
        property(self.note.properties.as_ref()?, name)
    }
}

fn property<'p>(properties: &'p Map<String, Json>, name: &str) -> Option<&'p Json> {
    properties.get(name).or_else(|| {
        let mut all = properties.iter();
        let is_same = |key: &String| {
            key.eq_ignore_ascii_case(name)
                || (!(key.is_ascii() && name.is_ascii()) && fold_name(key) == fold_name(name))
        };
        all.find(|(key, _)| is_same(key)).map(|(_, value)| value)
    })
}

/// The list item for which an expression is evaluated.
pub(super) struct Item {
    pub(super) value: Value,
    pub(super) index: usize,
    pub(super) accumulator: Value,
}

/// Evaluates expressions for a row.
pub(crate) struct Evaluator<'e, 'v> {
    pub(crate) context: &'e Context<'v>,
    formulas: &'e Formulas,
    pub(super) row: Option<&'e Row>,
    /// The values of a column, in a summary.
    values: Option<Value>,
    items: Vec<Item>,
    depth: usize,
    steps: u32,
}

impl<'e, 'v> Evaluator<'e, 'v> {
    pub(crate) fn new(context: &'e Context<'v>, formulas: &'e Formulas, row: &'e Row) -> Self {
        Evaluator {
            context,
            formulas,
            row: Some(row),
            values: None,
            items: Vec::new(),
            depth: 0,
            steps: 0,
        }
    }

    /// Creates an evaluator for a summary of values.
    pub(crate) fn of_values(
        context: &'e Context<'v>,
        formulas: &'e Formulas,
        values: Value,
    ) -> Self {
        Evaluator {
            context,
            formulas,
            row: None,
            values: Some(values),
            items: Vec::new(),
            depth: 0,
            steps: 0,
        }
    }

    /// Evaluates an expression.
    pub(crate) fn compute(&mut self, expression: &Expression) -> Result<Value, String> {
        self.step()?;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.depth -= 1;
            return Err(format!("formulas are nested more than {MAX_DEPTH} deep"));
        }
        let value = self.inner(expression);
        self.depth -= 1;
        value
    }

    pub(super) fn step(&mut self) -> Result<(), String> {
        self.steps += 1;
        let total = self.context.steps.get() + 1;
        self.context.steps.set(total);
        if self.steps > MAX_STEPS || total > MAX_TOTAL_STEPS {
            return Err("the expression exceeds its step limit".to_owned());
        }
        Ok(())
    }

    fn inner(&mut self, expression: &Expression) -> Result<Value, String> {
        match expression {
            Expression::Literal(value) => Ok(value.clone()),
            Expression::List(items) => {
                let items = items.iter().map(|item| self.compute(item));
                Value::list(items.collect::<Result<_, _>>()?)
            }
            Expression::Object(entries) => {
                let mut map = Map::new();
                for (key, value) in entries {
                    map.insert(key.clone(), self.compute(value)?.json());
                }
                Ok(Value::Object(Rc::new(map)))
            }
            Expression::Property(name) => Ok(self.property(name)),
            Expression::Note => Ok(self
                .row
                .and_then(|row| row.note.properties.clone())
                .map_or(Value::Null, |properties| Value::Object(Rc::new(properties)))),
            Expression::File => Ok(self.row.map_or(Value::Null, |row| {
                Value::File(row.note.path.as_str().into())
            })),
            Expression::FileField(field) => match self.row {
                Some(row) => self.file_field(&row.note, field),
                None => Ok(Value::Null),
            },
            Expression::This => Ok(self.context.this().map_or(Value::Null, Value::File)),
            Expression::Formula(name) => self.formula(name),
            Expression::Local(local) => {
                Ok(self.items.last().map_or(Value::Null, |item| match local {
                    Local::Value => item.value.clone(),
                    Local::Index => Value::Number(item.index as f64),
                    Local::Accumulator => item.accumulator.clone(),
                }))
            }
            Expression::Values => Ok(self.values.clone().unwrap_or(Value::Null)),
            Expression::Member(inner, name) => self.member(inner, name),
            Expression::Index(inner, index) => {
                let value = self.compute(inner)?;
                let index = self.compute(index)?;
                self.indexed(&value, &index)
            }
            Expression::Call(name, arguments) => functions::call(self, name, arguments),
            Expression::Method(inner, name, arguments) => {
                let value = self.compute(inner)?;
                self.method(value, name, arguments)
            }
            Expression::Not(inner) => Ok(Value::Bool(!self.compute(inner)?.is_truthy())),
            Expression::Negate(inner) => match self.compute(inner)? {
                Value::Null => Ok(Value::Null),
                Value::Number(number) => Ok(Value::Number(-number)),
                Value::Duration(duration) => Ok(Value::Duration(duration.negated())),
                other => Err(format!("`-` takes a number, not a {}", other.type_name())),
            },
            Expression::All(parts) => {
                for part in parts {
                    if !self.compute(part)?.is_truthy() {
                        return Ok(Value::Bool(false));
                    }
                }
                Ok(Value::Bool(true))
            }
            Expression::Any(parts) => {
                for part in parts {
                    if self.compute(part)?.is_truthy() {
                        return Ok(Value::Bool(true));
                    }
                }
                Ok(Value::Bool(false))
            }
            Expression::Binary(operator, left, right) => {
                let (left, right) = (self.compute(left)?, self.compute(right)?);
                self.operate(*operator, &left, &right)
            }
        }
    }

    fn property(&self, name: &str) -> Value {
        let value = self.row.and_then(|row| row.property(name));
        value.map_or(Value::Null, |value| {
            Value::of_property(value, self.context.property_type(name))
        })
    }

    fn formula(&mut self, name: &str) -> Result<Value, String> {
        let formulas = self.formulas;
        let expression = match formulas.get(name) {
            Some(Ok(expression)) => expression,
            Some(Err(error)) => return Err(error.clone()),
            None => return Err(format!("no formula `{name}`")),
        };
        let Some(row) = self.row else {
            return Err("formulas are not available in a summary".to_owned());
        };
        if let Some(known) = row.computed.borrow().get(name) {
            return known.clone();
        }
        // List items of the caller are not in scope within the formula.
        let items = std::mem::take(&mut self.items);
        let value = self.compute(expression);
        self.items = items;
        row.computed
            .borrow_mut()
            .insert(name.to_owned(), value.clone());
        value
    }

    fn member(&mut self, inner: &Expression, name: &str) -> Result<Value, String> {
        if matches!(inner, Expression::This) {
            let Some(path) = self.context.this() else {
                return Ok(Value::Null);
            };
            if name == "file" {
                return Ok(Value::File(path));
            }
            let note = self.context.note(&path);
            let properties = note.as_ref().and_then(|note| note.properties.as_ref());
            let value = properties.and_then(|properties| property(properties, name));
            return Ok(value.map_or(Value::Null, |value| {
                Value::of_property(value, self.context.property_type(name))
            }));
        }
        let value = self.compute(inner)?;
        let missing = |value: &Value| Err(format!("a {} has no `{name}`", value.type_name()));
        match &value {
            Value::Null => Ok(Value::Null),
            Value::Text(text) if name == "length" => Ok(Value::Number(text.chars().count() as f64)),
            Value::List(list) if name == "length" => Ok(Value::Number(list.items().len() as f64)),
            Value::Object(map) => Ok(map
                .get(name)
                .map_or(Value::Null, |inner| Value::of_property(inner, None))),
            Value::Date(date) => match date.field(name) {
                Some(number) => Ok(Value::Number(number as f64)),
                None if name == "length" => Ok(Value::Number(date.text().len() as f64)),
                None => missing(&value),
            },
            Value::Duration(duration) => match duration.field(name) {
                Some(number) => Ok(Value::Number(number)),
                None => missing(&value),
            },
            Value::File(path) => self.other_file(path, name),
            Value::Link(_) => match self.context.file_of(&value) {
                Some(path) => self.other_file(&path, name),
                None => Ok(Value::Null),
            },
            _ => missing(&value),
        }
    }

    fn indexed(&self, value: &Value, index: &Value) -> Result<Value, String> {
        match (value, index) {
            (Value::Null, _) => Ok(Value::Null),
            (Value::List(list), Value::Number(index)) => {
                let from_end = if *index < 0.0 {
                    list.items().len() as f64
                } else {
                    0.0
                };
                let place = index + from_end;
                let is_place = place >= 0.0 && place.fract() == 0.0;
                let item = is_place.then(|| list.items().get(place as usize)).flatten();
                Ok(item.cloned().unwrap_or(Value::Null))
            }
            (Value::Text(text), Value::Number(index)) if *index >= 0.0 => {
                let letter = text.chars().nth(*index as usize);
                Ok(letter.map_or(Value::Null, |letter| Value::text(letter.to_string())))
            }
            (Value::Object(map), Value::Text(key)) => Ok(map
                .get(&**key)
                .map_or(Value::Null, |inner| Value::of_property(inner, None))),
            (value, index) => Err(format!(
                "a {} has no index `[{}]`",
                value.type_name(),
                index.display_text()
            )),
        }
    }

    fn method(
        &mut self,
        value: Value,
        name: &'static str,
        arguments: &[Expression],
    ) -> Result<Value, String> {
        match name {
            "isTruthy" => return Ok(Value::Bool(value.is_truthy())),
            "isEmpty" => return Ok(Value::Bool(value.is_empty())),
            "toString" => return Value::bounded_text(value.display_text()),
            "isType" => {
                let type_name = self.compute(&arguments[0])?.display_text();
                return Ok(Value::Bool(value.type_name() == type_name));
            }
            "filter" | "map" | "reduce" if matches!(value, Value::List(_)) => {
                return lists::per_item(self, &value, name, arguments);
            }
            _ => {}
        }
        let arguments = arguments.iter().map(|argument| self.compute(argument));
        let arguments: Vec<Value> = arguments.collect::<Result<_, _>>()?;
        let refused = || Err(format!("a {} has no function `{name}`", value.type_name()));
        match &value {
            // Predicates of a missing value are false; other methods return it unchanged.
            Value::Null => Ok(match name {
                "contains" | "containsAll" | "containsAny" | "startsWith" | "endsWith"
                | "hasLink" | "hasTag" | "hasProperty" | "inFolder" | "linksTo" | "matches" => {
                    Value::Bool(false)
                }
                _ => Value::Null,
            }),
            Value::Text(text) => texts::method(text, name, &arguments)?.map_or_else(refused, Ok),
            Value::Number(number) => {
                texts::of_number(*number, name, &arguments)?.map_or_else(refused, Ok)
            }
            Value::List(list) => {
                lists::method(self.context, list, name, &arguments)?.map_or_else(refused, Ok)
            }
            Value::Pattern(pattern) => match name {
                "matches" => Ok(Value::Bool(
                    pattern.regex.is_match(&arguments[0].display_text()),
                )),
                _ => refused(),
            },
            Value::Object(map) => match name {
                "keys" => Value::list(map.keys().map(|key| Value::text(key.as_str())).collect()),
                "values" => Value::list(
                    map.values()
                        .map(|inner| Value::of_property(inner, None))
                        .collect(),
                ),
                _ => refused(),
            },
            Value::Date(date) => match name {
                "date" => Ok(Value::Date(super::Date::day(date.days()))),
                "time" => Ok(Value::text(date.time())),
                "format" => {
                    let pattern = arguments[0].display_text();
                    Value::bounded_text(date.format(&pattern, self.context.now.offset_minutes))
                }
                "relative" => Ok(Value::text(date.relative(self.context.local_now()))),
                // A property that parses as a date may be intended as text.
                _ => texts::method(&date.text(), name, &arguments)?.map_or_else(refused, Ok),
            },
            Value::Duration(duration) => {
                texts::of_number(duration.milliseconds(), name, &arguments)?
                    .map_or_else(refused, Ok)
            }
            Value::File(_) | Value::Link(_) => {
                functions::of_file(self, &value, name, &arguments)?.map_or_else(refused, Ok)
            }
            Value::Bool(_) => refused(),
        }
    }

    /// Evaluates an expression for a list item.
    pub(super) fn for_item(
        &mut self,
        item: Item,
        expression: &Expression,
    ) -> Result<Value, String> {
        self.items.push(item);
        let value = self.compute(expression);
        self.items.pop();
        value
    }

    /// Reads the row's note, or the index entry of another file.
    pub(super) fn with_note<T>(&self, path: &str, look: impl FnOnce(&FoundNote) -> T) -> Option<T> {
        match self.row.filter(|row| row.note.path == path) {
            Some(row) => Some(look(&row.note)),
            None => self.context.note(path).map(|note| look(&note)),
        }
    }

    fn operate(&self, operator: Operator, left: &Value, right: &Value) -> Result<Value, String> {
        match operator {
            Operator::Equal => Ok(Value::Bool(self.context.same(left, right))),
            Operator::NotEqual => Ok(Value::Bool(!self.context.same(left, right))),
            Operator::Less | Operator::AtMost | Operator::Greater | Operator::AtLeast => {
                let fits = |order: Ordering| match operator {
                    Operator::Less => order.is_lt(),
                    Operator::AtMost => order.is_le(),
                    Operator::Greater => order.is_gt(),
                    _ => order.is_ge(),
                };
                Ok(Value::Bool(compare(left, right).is_some_and(fits)))
            }
            _ => arithmetic(operator, left, right),
        }
    }
}
