//! Turns one word, phrase or `field:value` of a query into a condition.

use notehost_sdk::host::Now;
use notehost_sdk::index::{Condition, Has, Part, PropertyTest, Words};
use notehost_sdk::serde_json::{Value, json};
use notehost_sdk::text::tags;
use notehost_sdk::{Error, Result, words};

use super::tokens::Term;
use crate::filter;
use notehost_sdk::matching;

/// The field that a word is matched against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Field {
    Anywhere,
    Part(Part),
    Path,
    Tag,
    Has,
    Property(String),
}

impl Field {
    pub(super) fn named(name: &str) -> Field {
        match name.to_lowercase().as_str() {
            "title" | "name" | "file" => Field::Part(Part::Name),
            "heading" => Field::Part(Part::Headings),
            "content" => Field::Part(Part::Text),
            "path" => Field::Path,
            "tag" | "tags" => Field::Tag,
            "has" => Field::Has,
            _ => Field::Property(name.to_owned()),
        }
    }

    /// The condition for a word in this field; `None` if it has nothing to search for.
    pub(super) fn term(&self, term: &Term, now: &Now) -> Result<Option<Condition>> {
        match self {
            Field::Anywhere => match term.text.strip_prefix('#') {
                Some(tag) if !term.is_quoted && tags::is_name(tag.trim_end_matches('/')) => {
                    Ok(Some(Condition::Tag(tag.trim_end_matches('/').to_owned())))
                }
                _ => Ok(word(term, None)),
            },
            Field::Part(part) => Ok(word(term, Some(*part))),
            Field::Path => path(term),
            Field::Tag => {
                let name = term
                    .text
                    .trim()
                    .trim_start_matches('#')
                    .trim_end_matches('/');
                Ok((!name.is_empty()).then(|| Condition::Tag(name.to_owned())))
            }
            Field::Has => filter::has(&term.text).map(|has: Has| Some(Condition::Has(has))),
            Field::Property(name) => Ok(Some(property(name, term, now))),
        }
    }

    /// The condition for `field:` without a value.
    pub(super) fn without_value(&self, name: &str) -> Result<Condition> {
        match self {
            Field::Property(name) => Ok(property_exists(name, true)),
            _ => Err(Error::validation(format!(
                "`{name}:` in `query` needs a value directly after the colon, such as `{name}:plan` or `{name}:\"two words\"`"
            ))),
        }
    }
}

/// The condition that a property is set, or is not set.
pub(super) fn property_exists(name: &str, exists: bool) -> Condition {
    Condition::Property(Box::new(PropertyTest {
        key: name.to_owned(),
        exists: Some(exists),
        ..PropertyTest::default()
    }))
}

fn word(term: &Term, part: Option<Part>) -> Option<Condition> {
    let has_words = !words::query_terms(&term.text).is_empty();
    has_words.then(|| {
        let words = Words {
            text: term.text.clone(),
            part,
        };
        if term.is_prefix() {
            Condition::Prefix(words)
        } else {
            Condition::Words(words)
        }
    })
}

/// A part of a path, as Obsidian has it, or a glob.
fn path(term: &Term) -> Result<Option<Condition>> {
    let text = term.text.trim_start_matches('/');
    if text.is_empty() {
        return Ok(None);
    }
    // What the host would refuse is refused here, with the words of the query.
    let glob = |glob: String| matching::glob(&glob).map(|_| Condition::Path(glob));
    if !term.is_quoted && (term.is_prefix() || matching::is_glob(text)) {
        let text = format!("{text}{}", "*".repeat(term.stars));
        return Ok(Some(Condition::Any(vec![
            glob(format!("**/{text}"))?,
            glob(text)?,
        ])));
    }
    let text = matching::escape(text);
    Ok(Some(Condition::Any(vec![
        glob(format!("**/*{text}*"))?,
        glob(format!("**/*{text}*/**"))?,
    ])))
}

/// `status:done`, `rating:>=4`, `status:~dra` (contains), `status:dra*` (prefix).
fn property(name: &str, term: &Term, now: &Now) -> Condition {
    let text = term.text.as_str();
    if term.is_prefix() && !text.is_empty() {
        return filter::starts_with(name, text);
    }
    if term.is_quoted {
        return filter::equal(name, &json!(text), now);
    }
    for (operator, set) in OPERATORS {
        if let Some(value) = text
            .strip_prefix(operator)
            .filter(|value| !value.is_empty())
        {
            let mut test = PropertyTest {
                key: name.to_owned(),
                ..PropertyTest::default()
            };
            set(
                &mut test,
                filter::resolve_date(&filter::parse_value(value), now),
            );
            return Condition::Property(test.into());
        }
    }
    let text = text.strip_prefix('=').unwrap_or(text);
    let value = filter::parse_value(text);
    let canonical = value.to_string();
    match value.is_string() || canonical == text {
        true => filter::equal(name, &value, now),
        // `1.10` may be a number, or a version.
        false => Condition::Any(vec![
            filter::equal(name, &value, now),
            filter::equal(name, &json!(text), now),
        ]),
    }
}

type SetOperand = fn(&mut PropertyTest, Value);

/// Longer operators first: `>=` starts with `>`.
const OPERATORS: [(&str, SetOperand); 5] = [
    (">=", |test, value| test.at_least = Some(value)),
    ("<=", |test, value| test.at_most = Some(value)),
    (">", |test, value| test.greater = Some(value)),
    ("<", |test, value| test.less = Some(value)),
    ("~", |test, value| {
        test.contains = Some(match value {
            Value::String(text) => text,
            value => value.to_string(),
        });
    }),
];
