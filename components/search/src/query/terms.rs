//! What one word, phrase or `field:value` of a query means.

use notehost_sdk::host::Now;
use notehost_sdk::index::{Condition, Has, Part, PropertyTest, Words};
use notehost_sdk::serde_json::{Value, json};
use notehost_sdk::text::tags;
use notehost_sdk::{Error, Result, words};

use super::tokens::Piece;
use crate::filter;
use notehost_sdk::matching;

/// Where a word is looked for.
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

    /// What a word in this field means; nothing if there is nothing to look for in it.
    pub(super) fn term(&self, piece: &Piece, now: &Now) -> Result<Option<Condition>> {
        match self {
            Field::Anywhere => match piece.text.strip_prefix('#') {
                Some(tag) if !piece.is_quoted && tags::is_name(tag.trim_end_matches('/')) => {
                    Ok(Some(Condition::Tag(tag.trim_end_matches('/').to_owned())))
                }
                _ => Ok(word(piece, None)),
            },
            Field::Part(part) => Ok(word(piece, Some(*part))),
            Field::Path => path(piece),
            Field::Tag => {
                let name = piece
                    .text
                    .trim()
                    .trim_start_matches('#')
                    .trim_end_matches('/');
                Ok((!name.is_empty()).then(|| Condition::Tag(name.to_owned())))
            }
            Field::Has => filter::has(&piece.text).map(|has: Has| Some(Condition::Has(has))),
            Field::Property(name) => Ok(Some(property(name, piece, now))),
        }
    }

    /// What `field:` without a value means.
    pub(super) fn alone(&self, name: &str) -> Result<Condition> {
        match self {
            Field::Property(name) => Ok(is_there(name, true)),
            _ => Err(Error::validation(format!(
                "`{name}:` in `query` needs a value right behind it, such as `{name}:plan` or `{name}:\"two words\"`"
            ))),
        }
    }
}

/// That a note has a property, or has it not.
pub(super) fn is_there(name: &str, exists: bool) -> Condition {
    Condition::Property(Box::new(PropertyTest {
        key: name.to_owned(),
        exists: Some(exists),
        ..PropertyTest::default()
    }))
}

fn word(piece: &Piece, part: Option<Part>) -> Option<Condition> {
    let has_words = !words::asked(&piece.text).is_empty();
    has_words.then(|| {
        let words = Words {
            text: piece.text.clone(),
            part,
        };
        if piece.is_beginning() {
            Condition::Prefix(words)
        } else {
            Condition::Words(words)
        }
    })
}

/// A part of a path, as Obsidian has it, or a glob.
fn path(piece: &Piece) -> Result<Option<Condition>> {
    let text = piece.text.trim_start_matches('/');
    if text.is_empty() {
        return Ok(None);
    }
    // What the host would refuse is refused here, with the words of the query.
    let glob = |glob: String| matching::glob(&glob).map(|_| Condition::Path(glob));
    if !piece.is_quoted && (piece.is_beginning() || matching::is_glob(text)) {
        let text = format!("{text}{}", "*".repeat(piece.stars));
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

/// `status:done`, `rating:>=4`, `status:~dra` (contains), `status:dra*` (begins so).
fn property(name: &str, piece: &Piece, now: &Now) -> Condition {
    let text = piece.text.as_str();
    if piece.is_beginning() && !text.is_empty() {
        return filter::beginning(name, text);
    }
    if piece.is_quoted {
        return filter::equal(name, &json!(text), now);
    }
    for (sign, change) in SIGNS {
        if let Some(value) = text.strip_prefix(sign).filter(|value| !value.is_empty()) {
            let mut test = PropertyTest {
                key: name.to_owned(),
                ..PropertyTest::default()
            };
            change(&mut test, filter::compared(&filter::value(value), now));
            return Condition::Property(test.into());
        }
    }
    let text = text.strip_prefix('=').unwrap_or(text);
    let asked = filter::value(text);
    let written = asked.to_string();
    match asked.is_string() || written == text {
        true => filter::equal(name, &asked, now),
        // `1.10` may be a number, or a version.
        false => Condition::Any(vec![
            filter::equal(name, &asked, now),
            filter::equal(name, &json!(text), now),
        ]),
    }
}

type Change = fn(&mut PropertyTest, Value);

/// The longer ones first: `>=` begins with `>`.
const SIGNS: [(&str, Change); 5] = [
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
