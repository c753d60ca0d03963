//! Tags in the properties of a note, in whatever style they are written there: a list, or a text with commas or blanks.
//! One tag is changed at a time, so that all others keep their bytes.

use std::ops::Range;

use notehost_sdk::serde_json::{Map, Value};
use notehost_sdk::text::{TextError, frontmatter, set_properties};

use crate::names::is_same;

/// What becomes of a tag.
pub(crate) enum Fate {
    Stays,
    Becomes(String),
    Goes,
}

/// A note with other tags in its properties.
pub(crate) struct Changed {
    pub(crate) text: String,
    /// How many tags are different.
    pub(crate) count: usize,
}

/// Gives each tag of the properties its fate. One that becomes what is there already goes.
///
/// # Errors
/// Where the frontmatter is broken, or written in a way that cannot be changed.
pub(crate) fn change(note: &str, fate: impl Fn(&str) -> Fate) -> Result<Changed, TextError> {
    let mut text = note.to_owned();
    let mut count = 0;
    let mut next = 0;
    loop {
        let properties = frontmatter::properties(&text)?;
        let places = places(&properties);
        let Some(place) = places.get(next) else {
            return Ok(Changed { text, count });
        };
        let becomes = match fate(&place.name) {
            Fate::Stays => None,
            Fate::Goes => Some(None),
            Fate::Becomes(new) => {
                // Those before have their fate already, those behind will have it.
                let will_be = |(number, other): (usize, &Place)| match fate(&other.name) {
                    _ if number == next => false,
                    Fate::Becomes(name) if number > next => is_same(&name, &new),
                    Fate::Goes if number > next => false,
                    _ => is_same(&other.name, &new),
                };
                let is_there = places.iter().enumerate().any(will_be);
                match new == place.name {
                    true => None,
                    false => Some((!is_there).then_some(new)),
                }
            }
        };
        let Some(becomes) = becomes else {
            next += 1;
            continue;
        };
        text = write(&text, &properties, place, becomes.as_deref())?;
        count += 1;
        // Where a tag went, the next one has its number now.
        next += usize::from(becomes.is_some());
    }
}

/// Adds tags to the properties, in the style of the tags that are there.
///
/// # Errors
/// Where the frontmatter is broken, or what it has as `tags` can hold none.
pub(crate) fn add(note: &str, tags: &[String]) -> Result<String, TextError> {
    let properties = frontmatter::properties(note)?;
    let key = ["tags", "tag"].iter().find_map(|wanted| {
        properties
            .keys()
            .find(|key| key.eq_ignore_ascii_case(wanted))
    });
    let key = key.map_or("tags", String::as_str);
    let listed = || tags.iter().cloned().map(Value::String);
    let value = match properties.get(key) {
        None | Some(Value::Null) => Value::Array(listed().collect()),
        Some(Value::Array(items)) => Value::Array(items.iter().cloned().chain(listed()).collect()),
        Some(Value::String(text)) if text.trim().is_empty() => Value::Array(listed().collect()),
        Some(Value::String(text)) => Value::String(joined(text, tags)),
        Some(Value::Number(number)) => Value::String(joined(&number.to_string(), tags)),
        Some(_) => {
            return Err(TextError::NotEditable {
                key: key.to_owned(),
            });
        }
    };
    set_properties(note, &Map::from_iter([(key.to_owned(), value)]), &[])
}

/// A text of tags with some more, parted as the others are.
fn joined(text: &str, tags: &[String]) -> String {
    let text = text.trim_end_matches([',', ' ']);
    let is_by_blanks = !text.contains(',') && text.trim().contains(char::is_whitespace);
    let separator = if is_by_blanks { " " } else { ", " };
    let hash = if text.trim_start().starts_with('#') {
        "#"
    } else {
        ""
    };
    let added: String = tags
        .iter()
        .map(|tag| format!("{separator}{hash}{tag}"))
        .collect();
    text.to_owned() + &added
}

/// Where a tag stands in the properties.
struct Place {
    name: String,
    key: String,
    /// The way to its text through lists within lists.
    items: Vec<usize>,
    /// Its bytes in that text; nothing for a number.
    range: Option<Range<usize>>,
}

/// The tags of the properties, in the order in which `text::tags` tells them.
fn places(properties: &Map<String, Value>) -> Vec<Place> {
    let mut places = Vec::new();
    for (key, value) in properties {
        if key.eq_ignore_ascii_case("tags") || key.eq_ignore_ascii_case("tag") {
            collect(key, value, &mut Vec::new(), &mut places);
        }
    }
    places
}

fn collect(key: &str, value: &Value, items: &mut Vec<usize>, places: &mut Vec<Place>) {
    let place = |name: String, items: &[usize], range| Place {
        name,
        key: key.to_owned(),
        items: items.to_vec(),
        range,
    };
    match value {
        Value::String(text) => {
            for range in words(text) {
                places.push(place(text[range.clone()].to_owned(), items, Some(range)));
            }
        }
        Value::Number(number) => places.push(place(number.to_string(), items, None)),
        Value::Array(inner) => {
            for (number, value) in inner.iter().enumerate() {
                items.push(number);
                collect(key, value, items, places);
                items.pop();
            }
        }
        _ => {}
    }
}

/// The tags of a text, without their `#`.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = 0;
    for part in text.split_inclusive(|letter: char| letter == ',' || letter.is_whitespace()) {
        let word = part.trim_end_matches(|letter: char| letter == ',' || letter.is_whitespace());
        let hash = usize::from(word.starts_with('#'));
        let name = word[hash..].trim_end_matches('/');
        if !name.is_empty() {
            words.push(start + hash..start + hash + name.len());
        }
        start += part.len();
    }
    words
}

/// The note with another tag in a place, or none.
fn write(
    note: &str,
    properties: &Map<String, Value>,
    place: &Place,
    tag: Option<&str>,
) -> Result<String, TextError> {
    let current = properties.get(&place.key).unwrap_or(&Value::Null);
    match edited(current, &place.items, place.range.as_ref(), tag) {
        Some(value) => set_properties(note, &Map::from_iter([(place.key.clone(), value)]), &[]),
        None => set_properties(note, &Map::new(), std::slice::from_ref(&place.key)),
    }
}

/// A value with another tag in a place; nothing if nothing is left of it.
fn edited(
    value: &Value,
    items: &[usize],
    range: Option<&Range<usize>>,
    tag: Option<&str>,
) -> Option<Value> {
    match (value, items, range) {
        (Value::Array(list), [number, below @ ..], _) => {
            let mut list = list.clone();
            match edited(list.get(*number)?, below, range, tag) {
                Some(value) => list[*number] = value,
                None => drop(list.remove(*number)),
            }
            (!list.is_empty()).then_some(Value::Array(list))
        }
        (Value::String(text), [], Some(range)) => {
            let text = match tag {
                Some(tag) => format!("{}{tag}{}", &text[..range.start], &text[range.end..]),
                None => cut(text, range),
            };
            (!text.trim().is_empty()).then_some(Value::String(text))
        }
        _ => tag.map(|tag| Value::String(tag.to_owned())),
    }
}

/// A text without one of its tags and what parts it from the next, or from the one before if it is the last.
fn cut(text: &str, range: &Range<usize>) -> String {
    let parts = |letter: char| letter == ',' || letter.is_whitespace();
    let start = text[..range.start]
        .strip_suffix('#')
        .map_or(range.start, str::len);
    let after = text[range.end..].trim_start_matches('/');
    let rest = after.trim_start_matches(parts);
    if rest.is_empty() {
        let before = text[..start].trim_end_matches(parts);
        format!("{before}{}", if before.is_empty() { "" } else { rest })
    } else {
        format!("{}{rest}", &text[..start])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(yaml: &str, tag: &str) -> String {
        let note = format!("---\n{yaml}---\nbody #x\n");
        let fate = |name: &str| {
            if is_same(name, tag) {
                Fate::Goes
            } else {
                Fate::Stays
            }
        };
        change(&note, fate).unwrap().text
    }

    fn renamed(yaml: &str, from: &str, to: &str) -> String {
        let fate = |name: &str| {
            if is_same(name, from) {
                Fate::Becomes(to.to_owned())
            } else {
                Fate::Stays
            }
        };
        let text = change(&format!("---\n{yaml}---\n"), fate).unwrap().text;
        let text = text.strip_prefix("---\n").unwrap();
        text.strip_suffix("---\n").unwrap().to_owned()
    }

    fn added(yaml: &str, tags: &[&str]) -> String {
        let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let text = add(&format!("---\n{yaml}---\n"), &tags).unwrap();
        let text = text.strip_prefix("---\n").unwrap();
        text.strip_suffix("---\n").unwrap().to_owned()
    }

    #[test]
    fn tags_are_added_in_the_style_that_is_there() {
        for (before, after) in [
            ("tags: [a, 'b'] # c\n", "tags: [a, 'b', x, y/z] # c\n"),
            (
                "tags:\n- a\n- \"b\" # c\nz: 1\n",
                "tags:\n- a\n- \"b\" # c\n- x\n- y/z\nz: 1\n",
            ),
            ("tags: a, b\n", "tags: a, b, x, y/z\n"),
            ("tags: a b\n", "tags: a b x y/z\n"),
            ("tag: a\n", "tag: a, x, y/z\n"),
            ("Tags: [a]\n", "Tags: [a, x, y/z]\n"),
            ("tags: []\n", "tags: [x, y/z]\n"),
            ("tags:\nz: 1\n", "tags:\n  - x\n  - y/z\nz: 1\n"),
            ("z: 1\n", "z: 1\ntags:\n  - x\n  - y/z\n"),
            ("tags: \"#a\"\n", "tags: \"#a, #x, #y/z\"\n"),
        ] {
            assert_eq!(added(before, &["x", "y/z"]), after);
        }
        assert_eq!(
            add("\u{feff}text", &["x".to_owned()]).unwrap(),
            "\u{feff}---\ntags:\n  - x\n---\ntext"
        );
        assert!(add("---\ntags: [a\n---\n", &["x".to_owned()]).is_err());
        assert!(add("---\ntags: {a: b}\n---\n", &["x".to_owned()]).is_err());
    }

    #[test]
    fn tags_go_without_a_trace() {
        for (before, after) in [
            ("tags: [a, 'b', c] # d\n", "tags: [a, c] # d\n"),
            (
                "tags:\n  - a # one\n  - b\n  - c\n",
                "tags:\n  - a # one\n  - c\n",
            ),
            ("tags: a, b, c\n", "tags: a, c\n"),
            ("tags: a b\n", "tags: a\n"),
            ("tag: B\nz: 1\n", "z: 1\n"),
            ("tags: [\"a, #b\", 2024]\n", "tags: [\"a\", 2024]\n"),
        ] {
            assert_eq!(without(before, "b"), format!("---\n{after}---\nbody #x\n"));
        }
        assert_eq!(without("tags: [b]\n", "b"), "body #x\n");
        assert_eq!(
            without("tags: [2024, a]\n", "2024"),
            "---\ntags: [a]\n---\nbody #x\n"
        );
    }

    #[test]
    fn a_renamed_tag_stands_in_a_list_once() {
        for (before, after) in [
            ("tags: [a, \"b\", 'c']\n", "tags: [a, \"n\", 'c']\n"),
            ("tags: [b, n]\n", "tags: [n]\n"),
            ("tags: b, N\n", "tags: N\n"),
            ("tags: [b, B, a]\n", "tags: [n, a]\n"),
            ("tags: [\"#b\"]\ntag: n\n", "tag: n\n"),
        ] {
            assert_eq!(renamed(before, "b", "n"), after);
        }
        assert_eq!(renamed("tags: [b]\n", "b", "B"), "tags: [B]\n");
        let deeper = |tag: &str| Fate::Becomes(tag.replacen('a', "a/b", 1));
        assert_eq!(
            change("---\ntags: [a, a/b]\n---\n", deeper).unwrap().text,
            "---\ntags: [a/b, a/b/b]\n---\n"
        );
    }
}
