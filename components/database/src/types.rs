//! Column types: declared in the database or by the vault owner, or else inferred from the values.

use crate::column::Column;
use crate::expression::{Context, Value, parse_date};
use crate::open::Database;
use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::Value as Json;

/// The type of a column.
#[args]
#[derive(Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub enum ColumnType {
    Text,
    Number,
    Checkbox,
    Date,
    Datetime,
    List,
    Link,
}

impl ColumnType {
    pub(crate) const ALL: [ColumnType; 7] = [
        ColumnType::Text,
        ColumnType::Number,
        ColumnType::Checkbox,
        ColumnType::Date,
        ColumnType::Datetime,
        ColumnType::List,
        ColumnType::Link,
    ];

    /// Its name on the wire.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            ColumnType::Text => "text",
            ColumnType::Number => "number",
            ColumnType::Checkbox => "checkbox",
            ColumnType::Date => "date",
            ColumnType::Datetime => "datetime",
            ColumnType::List => "list",
            ColumnType::Link => "link",
        }
    }

    /// Parses a type name, also one of the owner's editor.
    pub(crate) fn parse(word: &str) -> Option<ColumnType> {
        match word {
            "multitext" | "tags" | "aliases" => Some(ColumnType::List),
            word => ColumnType::ALL
                .into_iter()
                .find(|known| known.as_str() == word),
        }
    }

    /// The values of this type, for error messages.
    fn expected(self) -> &'static str {
        match self {
            ColumnType::Text => "text",
            ColumnType::Number => "a number, such as `4.5`",
            ColumnType::Checkbox => "`true` or `false`",
            ColumnType::Date => "a date, such as `\"2024-05-31\"`",
            ColumnType::Datetime => "a date and time, such as `\"2024-05-31T10:00:00\"`",
            ColumnType::List => "a list, such as `[\"one\", \"two\"]`",
            ColumnType::Link => "a link, such as `\"[[Note]]\"`",
        }
    }

    /// Whether a value has this type; `null` clears any cell.
    fn accepts(self, value: &Json) -> bool {
        match (self, value) {
            (_, Json::Null) => true,
            (ColumnType::Text, Json::String(_))
            | (ColumnType::Number, Json::Number(_))
            | (ColumnType::Checkbox, Json::Bool(_)) => true,
            (ColumnType::Date, Json::String(text)) => {
                parse_date(text).is_some_and(|date| !date.is_timed)
                    && text.trim().len() == text.len()
            }
            (ColumnType::Datetime, Json::String(text)) => {
                parse_date(text).is_some() && text.trim().len() == text.len()
            }
            (ColumnType::List, Json::Array(items)) => items.iter().all(is_scalar),
            (ColumnType::Link, Json::String(text)) => crate::expression::is_link(text),
            _ => false,
        }
    }
}

fn is_scalar(value: &Json) -> bool {
    !matches!(value, Json::Array(_) | Json::Object(_) | Json::Null)
}

/// Rejects a value that does not match the type of its column. Without a type, any value but nested ones is accepted.
pub(crate) fn check(
    value: &Json,
    kind: Option<ColumnType>,
    column: &str,
    whose: &str,
) -> Result<()> {
    let (fits, expected) = match kind {
        Some(kind) => (
            kind.accepts(value),
            format!(
                "has the type `{}` and takes {}",
                kind.as_str(),
                kind.expected()
            ),
        ),
        None => {
            let fits = match value {
                Json::Array(items) => items.iter().all(is_scalar),
                Json::Object(_) => false,
                _ => true,
            };
            (
                fits,
                "takes text, numbers, booleans, dates, links, or lists of them".to_owned(),
            )
        }
    };
    match fits {
        true => Ok(()),
        false => {
            let mut shown = value.to_string();
            if shown.len() > 80 {
                shown = format!("{}…", shown.chars().take(80).collect::<String>());
            }
            Err(Error::validation(format!(
                "{whose}, column `{column}`: invalid value `{shown}`: the column {expected}"
            )))
        }
    }
}

/// The type declared for a column by the database or the vault owner.
pub(crate) fn declared(
    context: &Context<'_>,
    database: &Database,
    column: &Column,
) -> Option<ColumnType> {
    if let Some(word) = database.base.setting(column, "type") {
        return ColumnType::parse(word);
    }
    match column {
        Column::Property(name) => match name.as_str() {
            "tags" | "aliases" | "cssclasses" => Some(ColumnType::List),
            name => context.property_type(name).and_then(ColumnType::parse),
        },
        Column::File(field) => Some(match field.as_str() {
            "size" => ColumnType::Number,
            "ctime" | "mtime" => ColumnType::Datetime,
            "tags" | "links" | "backlinks" | "embeds" | "aliases" => ColumnType::List,
            "file" => ColumnType::Link,
            "properties" => return None,
            _ => ColumnType::Text,
        }),
        Column::Formula(_) => None,
    }
}

/// The common type of the values; `None` if there are none or they have no common type.
pub(crate) fn inferred<'c>(values: impl IntoIterator<Item = &'c Value>) -> Option<ColumnType> {
    let mut kind = None;
    for value in values {
        if value.is_empty() && !matches!(value, Value::List(_)) {
            continue;
        }
        let this = match value {
            Value::Text(_) => ColumnType::Text,
            Value::Number(_) | Value::Duration(_) => ColumnType::Number,
            Value::Bool(_) => ColumnType::Checkbox,
            Value::Date(date) if date.is_timed => ColumnType::Datetime,
            Value::Date(_) => ColumnType::Date,
            Value::List(_) => ColumnType::List,
            Value::Link(_) | Value::File(_) => ColumnType::Link,
            Value::Null | Value::Object(_) | Value::Pattern(_) => return None,
        };
        kind = match (kind, this) {
            (None, this) => Some(this),
            (Some(known), this) if known == this => Some(this),
            (
                Some(ColumnType::Date | ColumnType::Datetime),
                ColumnType::Date | ColumnType::Datetime,
            ) => Some(ColumnType::Datetime),
            (
                Some(ColumnType::Text | ColumnType::Link | ColumnType::Date),
                ColumnType::Text | ColumnType::Link | ColumnType::Date,
            ) => Some(ColumnType::Text),
            _ => return None,
        };
    }
    kind
}
