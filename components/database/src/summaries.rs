//! Summaries: one value computed from all values of a column.

use crate::base::Base;
use crate::expression::{Context, Evaluator, Value, numbers, parse, unique};
use notehost_sdk::quoted;
use notehost_sdk::serde_json::{Map, Value as Json, json};

/// The built-in summaries.
const BUILT_IN: [&str; 14] = [
    "Average",
    "Min",
    "Max",
    "Sum",
    "Range",
    "Median",
    "Stddev",
    "Earliest",
    "Latest",
    "Checked",
    "Unchecked",
    "Empty",
    "Filled",
    "Unique",
];

/// A summary of a column.
pub(crate) enum Summary {
    BuiltIn(&'static str),
    Formula(Box<crate::expression::Expression>),
}

impl Summary {
    /// The summary with this name: a custom one of the database, else a built-in one.
    pub(crate) fn named(name: &str, base: &Base) -> Result<Summary, String> {
        if let Some((_, text)) = base.summaries.iter().find(|(known, _)| known == name) {
            let tree = parse(text, true).map_err(|reason| format!("summary `{name}`: {reason}"))?;
            return Ok(Summary::Formula(Box::new(tree)));
        }
        match BUILT_IN
            .into_iter()
            .find(|known| known.eq_ignore_ascii_case(name))
        {
            Some(known) => Ok(Summary::BuiltIn(known)),
            None => Err(format!(
                "unknown summary `{name}`; the summaries are {}, and those defined in `summaries`",
                quoted(BUILT_IN)
            )),
        }
    }

    /// Computes the summary of the values.
    pub(crate) fn compute(
        &self,
        context: &Context<'_>,
        base: &Base,
        values: &[Value],
    ) -> Result<Json, String> {
        let value = match self {
            Summary::BuiltIn(name) => built_in(name, values),
            Summary::Formula(tree) => {
                let values = Value::list(values.to_vec())?;
                Evaluator::of_values(context, &base.formulas, values).compute(tree)?
            }
        };
        Ok(value.json())
    }
}

/// A summary as JSON.
pub(crate) fn to_json(name: &str, value: Json) -> Json {
    Json::Object(Map::from_iter([
        ("summary".to_owned(), json!(name)),
        ("value".to_owned(), value),
    ]))
}

fn built_in(name: &str, values: &[Value]) -> Value {
    let count = |fits: fn(&Value) -> bool| {
        Value::Number(values.iter().filter(|value| fits(value)).count() as f64)
    };
    let mut sorted = numbers(values);
    sorted.sort_by(f64::total_cmp);
    let sum: f64 = sorted.iter().sum();
    let length = sorted.len() as f64;
    let number = |number: Option<f64>| number.map_or(Value::Null, Value::Number);
    let mut dates: Vec<&Value> = values
        .iter()
        .filter(|value| matches!(value, Value::Date(_)))
        .collect();
    dates.sort_by(|one, other| one.order(other));
    let date = |date: Option<&&Value>| date.map_or(Value::Null, |date| (*date).clone());
    match name {
        "Average" => number((!sorted.is_empty()).then(|| sum / length)),
        "Min" => number(sorted.first().copied()),
        "Max" => number(sorted.last().copied()),
        "Sum" => Value::Number(sum),
        "Range" => match (sorted.first(), sorted.last(), dates.first(), dates.last()) {
            (Some(first), Some(last), ..) => Value::Number(last - first),
            (_, _, Some(Value::Date(first)), Some(Value::Date(last))) => {
                Value::Number((last.milliseconds - first.milliseconds) as f64)
            }
            _ => Value::Null,
        },
        "Median" => number(match (sorted.len(), sorted.len() / 2) {
            (0, _) => None,
            (length, middle) if length % 2 == 1 => Some(sorted[middle]),
            (_, middle) => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
        }),
        "Stddev" => number((!sorted.is_empty()).then(|| {
            let mean = sum / length;
            let squares: f64 = sorted.iter().map(|number| (number - mean).powi(2)).sum();
            (squares / length).sqrt()
        })),
        "Earliest" => date(dates.first()),
        "Latest" => date(dates.last()),
        "Checked" => count(|value| matches!(value, Value::Bool(true))),
        "Unchecked" => count(|value| matches!(value, Value::Bool(false))),
        "Empty" => count(Value::is_empty),
        "Filled" => count(|value| !value.is_empty()),
        _ => {
            let filled: Vec<Value> = values
                .iter()
                .filter(|value| !value.is_empty())
                .cloned()
                .collect();
            Value::Number(unique(&filled).len() as f64)
        }
    }
}
