//! The types of columns: what the database or its owner says, or else what the values there are.

use crate::column::Column;
use crate::expression::{Value, World, parse_date};
use crate::place::Database;
use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::Value as Json;

/// What the cells of a column are.
#[args]
#[derive(Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words say it")]
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

    /// The word that callers see.
    pub(crate) fn word(self) -> &'static str {
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

    /// The type of a word, in the words of callers or of the owner's editor.
    pub(crate) fn of_word(word: &str) -> Option<ColumnType> {
        match word {
            "multitext" | "tags" | "aliases" => Some(ColumnType::List),
            word => ColumnType::ALL
                .into_iter()
                .find(|known| known.word() == word),
        }
    }

    /// What a cell of this type may be, for errors.
    fn wanted(self) -> &'static str {
        match self {
            ColumnType::Text => "a text",
            ColumnType::Number => "a number, such as `4.5`",
            ColumnType::Checkbox => "`true` or `false`",
            ColumnType::Date => "a date, such as `\"2024-05-31\"`",
            ColumnType::Datetime => "a date with a time, such as `\"2024-05-31T10:00:00\"`",
            ColumnType::List => "a list, such as `[\"one\", \"two\"]`",
            ColumnType::Link => "a link, such as `\"[[Note]]\"`",
        }
    }

    /// Whether a value may stand in such a column; `null` empties every cell.
    fn takes(self, value: &Json) -> bool {
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

/// Refuses a value that does not fit the type of its column. Without a type everything but nested values fits.
pub(crate) fn check(
    value: &Json,
    kind: Option<ColumnType>,
    column: &str,
    whose: &str,
) -> Result<()> {
    let (fits, wanted) = match kind {
        Some(kind) => (
            kind.takes(value),
            format!("is {}, so it takes {}", kind.word(), kind.wanted()),
        ),
        None => {
            let fits = match value {
                Json::Array(items) => items.iter().all(is_scalar),
                Json::Object(_) => false,
                _ => true,
            };
            (
                fits,
                "takes texts, numbers, `true` or `false`, dates, links, or lists of them"
                    .to_owned(),
            )
        }
    };
    match fits {
        true => Ok(()),
        false => {
            let mut given = value.to_string();
            if given.len() > 80 {
                given = format!("{}…", given.chars().take(80).collect::<String>());
            }
            Err(Error::validation(format!(
                "{whose}, column `{column}`: the column {wanted}, and `{given}` is none"
            )))
        }
    }
}

/// The type that the database or its owner says that a column has.
pub(crate) fn declared(
    world: &World<'_>,
    database: &Database,
    column: &Column,
) -> Option<ColumnType> {
    if let Some(word) = database.base.setting(column, "type") {
        return ColumnType::of_word(word);
    }
    match column {
        Column::Property(name) => match name.as_str() {
            "tags" | "aliases" | "cssclasses" => Some(ColumnType::List),
            name => world.property_type(name).and_then(ColumnType::of_word),
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

/// The type that all these values have; nothing where they differ too much or there are none.
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
