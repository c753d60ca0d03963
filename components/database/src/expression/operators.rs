//! Binary operators on values.

use super::dates::Duration;
use super::value::Value;
use super::{Date, Operator, parse_date};
use std::cmp::Ordering;

/// Compares two values; `None` if they are not comparable.
pub(super) fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Date(one), Value::Date(other)) => Some(one.milliseconds.cmp(&other.milliseconds)),
        (Value::Date(one), Value::Text(text)) => {
            Some(one.milliseconds.cmp(&parse_date(text)?.milliseconds))
        }
        (Value::Text(text), Value::Date(other)) => {
            Some(parse_date(text)?.milliseconds.cmp(&other.milliseconds))
        }
        (Value::Text(one), Value::Text(other)) => Some(one.cmp(other)),
        (Value::Bool(one), Value::Bool(other)) => Some(one.cmp(other)),
        (Value::Duration(one), Value::Text(text)) => one
            .milliseconds()
            .partial_cmp(&Duration::parse(text)?.milliseconds()),
        (one, other) => one.number()?.partial_cmp(&other.number()?),
    }
}

pub(super) fn arithmetic(operator: Operator, left: &Value, right: &Value) -> Result<Value, String> {
    let sign = match operator {
        Operator::Add => "+",
        Operator::Subtract => "-",
        Operator::Multiply => "*",
        Operator::Divide => "/",
        _ => "%",
    };
    let refused = || {
        Err(format!(
            "`{sign}` is not defined for a {} and a {}",
            left.type_name(),
            right.type_name()
        ))
    };
    let moved = |date: &Date, duration: Duration| {
        let duration = if operator == Operator::Subtract {
            duration.negated()
        } else {
            duration
        };
        let moved = date
            .plus(duration)
            .ok_or("date out of range: years 0 to 9999")?;
        Ok(Value::Date(moved))
    };
    let is_sum = matches!(operator, Operator::Add | Operator::Subtract);
    match (left, right) {
        (Value::Date(date), Value::Duration(duration)) if is_sum => moved(date, *duration),
        (Value::Duration(duration), Value::Date(date)) if operator == Operator::Add => {
            moved(date, *duration)
        }
        (Value::Date(date), Value::Number(number)) if is_sum => {
            moved(date, Duration::of(*number as i64))
        }
        (Value::Date(one), Value::Date(other)) if operator == Operator::Subtract => {
            Ok(Value::Duration(Duration::of(
                one.milliseconds.saturating_sub(other.milliseconds),
            )))
        }
        (Value::Date(date), Value::Text(text)) if is_sum => {
            match (Duration::parse(text), parse_date(text)) {
                (Some(duration), _) => moved(date, duration),
                (None, Some(other)) if operator == Operator::Subtract => Ok(Value::Duration(
                    Duration::of(date.milliseconds.saturating_sub(other.milliseconds)),
                )),
                _ if operator == Operator::Add => {
                    Value::bounded_text(format!("{}{text}", date.text()))
                }
                _ => Err(format!(
                    "invalid duration `{text}`: write for example `\"1d\"`, `\"2 weeks\"`, `\"1h 30m\"`"
                )),
            }
        }
        (Value::Duration(one), Value::Duration(other)) if is_sum => {
            Ok(Value::Duration(match operator {
                Operator::Add => one.plus(*other),
                _ => one.plus(other.negated()),
            }))
        }
        (Value::Duration(one), Value::Number(factor)) => match operator {
            Operator::Multiply => Ok(Value::Duration(one.times(*factor))),
            Operator::Divide if *factor != 0.0 => Ok(Value::Number(one.milliseconds() / factor)),
            _ => numbers(operator, one.milliseconds(), *factor),
        },
        (Value::Text(_) | Value::Link(_) | Value::File(_), other)
        | (other, Value::Text(_) | Value::Link(_) | Value::File(_))
            if operator == Operator::Add && !matches!(other, Value::List(_)) =>
        {
            Value::bounded_text(format!("{}{}", left.display_text(), right.display_text()))
        }
        (Value::List(one), Value::List(other)) if operator == Operator::Add => {
            Value::list(one.items().iter().chain(other.items()).cloned().collect())
        }
        (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
        (one, other) => match (one.number(), other.number()) {
            (Some(one), Some(other)) => numbers(operator, one, other),
            _ => refused(),
        },
    }
}

fn numbers(operator: Operator, one: f64, other: f64) -> Result<Value, String> {
    let number = match operator {
        Operator::Add => one + other,
        Operator::Subtract => one - other,
        Operator::Multiply => one * other,
        Operator::Divide | Operator::Remainder if other == 0.0 => return Ok(Value::Null),
        Operator::Divide => one / other,
        _ => one % other,
    };
    Ok(Value::Number(number))
}
