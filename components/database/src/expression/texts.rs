//! Methods of texts and numbers. `None` if the name is unknown.

use super::value::{MAX_TEXT_BYTES, Value};

pub(super) fn method(text: &str, name: &str, arguments: &[Value]) -> Result<Option<Value>, String> {
    let first = || arguments[0].display_text();
    Ok(Some(match name {
        "contains" => Value::Bool(text.contains(&first())),
        "containsAll" => Value::Bool(
            arguments
                .iter()
                .all(|part| text.contains(&part.display_text())),
        ),
        "containsAny" => Value::Bool(
            arguments
                .iter()
                .any(|part| text.contains(&part.display_text())),
        ),
        "startsWith" => Value::Bool(text.starts_with(&first())),
        "endsWith" => Value::Bool(text.ends_with(&first())),
        "lower" => Value::text(text.to_lowercase()),
        "upper" => Value::text(text.to_uppercase()),
        "title" => Value::text(title(text)),
        "trim" => Value::text(text.trim()),
        "reverse" => Value::text(text.chars().rev().collect::<String>()),
        "repeat" => {
            let count =
                usize::try_from(whole(&arguments[0], "repeat")?.max(0)).unwrap_or(usize::MAX);
            if text.len().saturating_mul(count) > MAX_TEXT_BYTES {
                return Err("text is too long".to_owned());
            }
            Value::text(text.repeat(count))
        }
        "replace" => {
            let replacement = arguments[1].display_text();
            let places = match &arguments[0] {
                Value::Pattern(pattern) => pattern.regex.find_iter(text).count(),
                other => text.matches(&other.display_text()).count(),
            };
            if places.saturating_mul(replacement.len()) > MAX_TEXT_BYTES {
                return Err("text is too long".to_owned());
            }
            let replaced = match &arguments[0] {
                Value::Pattern(pattern) if pattern.is_global => pattern
                    .regex
                    .replace_all(text, replacement.as_str())
                    .into_owned(),
                Value::Pattern(pattern) => pattern
                    .regex
                    .replace(text, replacement.as_str())
                    .into_owned(),
                other => text.replace(&other.display_text(), &replacement),
            };
            Value::bounded_text(replaced)?
        }
        "slice" => {
            let letters: Vec<char> = text.chars().collect();
            let (from, to) = bounds(arguments, letters.len())?;
            Value::text(letters[from..to].iter().collect::<String>())
        }
        "split" => {
            let most = match arguments.get(1) {
                Some(most) => usize::try_from(whole(most, "split")?).unwrap_or_default(),
                None => usize::MAX,
            };
            let parts: Vec<Value> = match &arguments[0] {
                Value::Pattern(pattern) => pattern
                    .regex
                    .split(text)
                    .take(most)
                    .map(Value::text)
                    .collect(),
                separator => match separator.display_text().as_str() {
                    "" => text
                        .chars()
                        .take(most)
                        .map(|letter| Value::text(letter.to_string()))
                        .collect(),
                    separator => text.split(separator).take(most).map(Value::text).collect(),
                },
            };
            Value::list(parts)?
        }
        "matches" => match &arguments[0] {
            Value::Pattern(pattern) => Value::Bool(pattern.regex.is_match(text)),
            _ => return Ok(None),
        },
        _ => return Ok(None),
    }))
}

/// Capitalises the first letter of each word.
fn title(text: &str) -> String {
    let mut title = String::with_capacity(text.len());
    let mut begins = true;
    for letter in text.chars() {
        match begins {
            true => title.extend(letter.to_uppercase()),
            false => title.extend(letter.to_lowercase()),
        }
        begins = !letter.is_alphanumeric() && letter != '\'' && letter != '’';
    }
    title
}

pub(super) fn of_number(
    number: f64,
    name: &str,
    arguments: &[Value],
) -> Result<Option<Value>, String> {
    let digits = || match arguments.first() {
        Some(digits) => Ok(whole(digits, name)?.clamp(0, 15)),
        None => Ok::<i64, String>(0),
    };
    Ok(Some(match name {
        "abs" => Value::Number(number.abs()),
        "ceil" => Value::Number(number.ceil()),
        "floor" => Value::Number(number.floor()),
        "round" => Value::Number(rounded(number, digits()?)),
        "toFixed" => {
            let digits = digits()?;
            let places = usize::try_from(digits).unwrap_or_default();
            Value::text(format!("{:.places$}", rounded(number, digits)))
        }
        _ => return Ok(None),
    }))
}

/// Rounds to a number of decimal places; halves round up, as in spreadsheets.
pub(super) fn rounded(number: f64, digits: i64) -> f64 {
    let scale = 10f64.powi(i32::try_from(digits).unwrap_or_default());
    let scaled = number * scale;
    // `1.005 * 100` is a little less than `100.5` in binary.
    let nudged = scaled + scaled.abs() * f64::EPSILON;
    let result = (nudged + 0.5).floor() / scale;
    if result.is_finite() { result } else { number }
}

/// An integer argument of a function.
fn whole(value: &Value, name: &str) -> Result<i64, String> {
    match value.number() {
        Some(number) if number.is_finite() => Ok(number as i64),
        _ => Err(format!(
            "`{name}` takes a number, not a {}",
            value.type_name()
        )),
    }
}

/// The range of a slice; negative positions count from the end.
pub(super) fn bounds(arguments: &[Value], length: usize) -> Result<(usize, usize), String> {
    let place = |value: &Value| -> Result<usize, String> {
        let at = whole(value, "slice")?;
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        let at = if at < 0 {
            length.saturating_add(at).max(0)
        } else {
            at.min(length)
        };
        Ok(usize::try_from(at).unwrap_or_default())
    };
    let from = place(&arguments[0])?;
    let to = arguments.get(1).map_or(Ok(length), place)?;
    Ok((from, to.max(from)))
}
