//! List functions.

use super::Expression;
use super::context::Context;
use super::evaluate::{Evaluator, Item};
use super::texts::bounds;
use super::value::{List, MAX_TEXT_BYTES, Value};
use std::collections::HashSet;

/// `filter`, `map` and `reduce`: evaluate an expression for every item.
pub(super) fn per_item(
    evaluator: &mut Evaluator<'_, '_>,
    list: &Value,
    name: &str,
    arguments: &[Expression],
) -> Result<Value, String> {
    let Value::List(list) = list else {
        return Ok(Value::Null);
    };
    let mut accumulator = match arguments.get(1) {
        Some(first) => evaluator.compute(first)?,
        None => Value::Null,
    };
    let mut kept = Vec::new();
    for (index, value) in list.items().iter().enumerate() {
        let item = Item {
            value: value.clone(),
            index,
            accumulator: accumulator.clone(),
        };
        let computed = evaluator.for_item(item, &arguments[0])?;
        match name {
            "filter" if computed.is_truthy() => kept.push(value.clone()),
            "filter" => {}
            "map" => kept.push(computed),
            _ => accumulator = computed,
        }
    }
    match name {
        "reduce" => Ok(accumulator),
        _ => Value::list(kept),
    }
}

/// The other list functions. `None` if the name is unknown.
pub(super) fn method(
    context: &Context<'_>,
    list: &List,
    name: &str,
    arguments: &[Value],
) -> Result<Option<Value>, String> {
    let items = list.items();
    let has = |wanted: &Value| items.iter().any(|item| context.same(item, wanted));
    Ok(Some(match name {
        "contains" => Value::Bool(has(&arguments[0])),
        "containsAll" => Value::Bool(arguments.iter().all(has)),
        "containsAny" => Value::Bool(arguments.iter().any(has)),
        "flat" => {
            let mut flat = Vec::with_capacity(items.len());
            flatten(items, &mut flat);
            Value::list(flat)?
        }
        "join" => {
            let separator = arguments
                .first()
                .map_or_else(|| ",".to_owned(), Value::display_text);
            if separator.len().saturating_mul(items.len()) > MAX_TEXT_BYTES {
                return Err("text is too long".to_owned());
            }
            let shown: Vec<String> = items.iter().map(Value::display_text).collect();
            Value::bounded_text(shown.join(&separator))?
        }
        "reverse" => Value::list(items.iter().rev().cloned().collect())?,
        "slice" => {
            let (from, to) = bounds(arguments, items.len())?;
            Value::list(items[from..to].to_vec())?
        }
        "sort" => {
            let mut sorted = items.to_vec();
            sorted.sort_by(Value::order);
            Value::list(sorted)?
        }
        "unique" => Value::list(unique(items))?,
        "sum" => Value::Number(numbers(items).iter().sum()),
        "mean" => match numbers(items).as_slice() {
            [] => Value::Null,
            numbers => Value::Number(numbers.iter().sum::<f64>() / numbers.len() as f64),
        },
        "min" => extreme(items, |value, best| value.order(best).is_lt()),
        "max" => extreme(items, |value, best| value.order(best).is_gt()),
        _ => return Ok(None),
    }))
}

fn flatten(items: &[Value], flat: &mut Vec<Value>) {
    for item in items {
        match item {
            Value::List(inner) => flatten(inner.items(), flat),
            other => flat.push(other.clone()),
        }
    }
}

/// The distinct values, in order of first occurrence.
pub(crate) fn unique(items: &[Value]) -> Vec<Value> {
    let mut seen = HashSet::new();
    let is_new = |value: &&Value| seen.insert((value.type_name(), value.display_text()));
    items.iter().filter(is_new).cloned().collect()
}

pub(crate) fn numbers(items: &[Value]) -> Vec<f64> {
    items
        .iter()
        .filter_map(Value::number)
        .filter(|number| number.is_finite())
        .collect()
}

fn extreme(items: &[Value], is_better: fn(&Value, &Value) -> bool) -> Value {
    let mut best: Option<&Value> = None;
    for item in items
        .iter()
        .filter(|item| matches!(item, Value::Number(_) | Value::Date(_) | Value::Duration(_)))
    {
        if best.is_none_or(|best| is_better(item, best)) {
            best = Some(item);
        }
    }
    best.cloned().unwrap_or(Value::Null)
}
