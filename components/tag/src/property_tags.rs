//! Edits tags in the properties of a note, in any style: a list, or a string with commas or spaces. Tags are changed
//! one at a time, so that all others keep their bytes.

use std::ops::Range;

use notehost_sdk::serde_json::{Map, Value};
use notehost_sdk::text::{TextError, frontmatter, set_properties};

use crate::names::is_same;

/// The change to a tag.
pub(crate) enum TagChange {
    Keep,
    Rename(String),
    Remove,
}

/// A note with changed tags in its properties.
pub(crate) struct EditedText {
    pub(crate) text: String,
    /// The number of changed tags.
    pub(crate) count: usize,
}

/// Changes tags of the properties. A tag that is renamed to an existing one is removed.
///
/// # Errors
/// If the frontmatter is invalid or cannot be edited.
pub(crate) fn change(
    note: &str,
    change_of: impl Fn(&str) -> TagChange,
) -> Result<EditedText, TextError> {
    let mut text = note.to_owned();
    let mut count = 0;
    let mut next = 0;
    loop {
        let properties = frontmatter::properties(&text)?;
        let places = places(&properties);
        let Some(place) = places.get(next) else {
            return Ok(EditedText { text, count });
        };
        let new_tag = match change_of(&place.name) {
            TagChange::Keep => None,
            TagChange::Remove => Some(None),
            TagChange::Rename(new) => {
                // Earlier tags are already changed, later ones are not yet.
                let will_equal = |(number, other): (usize, &Place)| match change_of(&other.name) {
                    _ if number == next => false,
                    TagChange::Rename(name) if number > next => is_same(&name, &new),
                    TagChange::Remove if number > next => false,
                    _ => is_same(&other.name, &new),
                };
                let is_duplicate = places.iter().enumerate().any(will_equal);
                match new == place.name {
                    true => None,
                    false => Some((!is_duplicate).then_some(new)),
                }
            }
        };
        let Some(new_tag) = new_tag else {
            next += 1;
            continue;
        };
        text = write(&text, &properties, place, new_tag.as_deref())?;
        count += 1;
        // If a tag was removed, the next one now has its index.
        next += usize::from(new_tag.is_some());
    }
}

/// Adds tags to the properties, in the style of the existing tags.
///
/// # Errors
/// If the frontmatter is invalid, or its `tags` is not a list or string.
pub(crate) fn add(note: &str, tags: &[String]) -> Result<String, TextError> {
    let properties = frontmatter::properties(note)?;
    let key = ["tags", "tag"]
        .iter()
        .find_map(|name| properties.keys().find(|key| key.eq_ignore_ascii_case(name)));
    let key = key.map_or("tags", String::as_str);
    let new_items = || tags.iter().cloned().map(Value::String);
    let value = match properties.get(key) {
        None | Some(Value::Null) => Value::Array(new_items().collect()),
        Some(Value::Array(items)) => {
            Value::Array(items.iter().cloned().chain(new_items()).collect())
        }
        Some(Value::String(text)) if text.trim().is_empty() => Value::Array(new_items().collect()),
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

/// Appends tags to a string of tags, with the same separator.
fn joined(text: &str, tags: &[String]) -> String {
    let text = text.trim_end_matches([',', ' ']);
    let is_space_separated = !text.contains(',') && text.trim().contains(char::is_whitespace);
    let separator = if is_space_separated { " " } else { ", " };
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

/// The position of a tag in the properties.
struct Place {
    name: String,
    key: String,
    /// The indices in nested lists.
    items: Vec<usize>,
    /// Its byte range in the string; `None` for a number.
    range: Option<Range<usize>>,
}

/// The tags of the properties, in the order of `text::tags`.
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

/// The ranges of the tags in a string, without `#`.
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

/// Replaces or removes the tag at a position.
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

/// Replaces or removes a tag in a value; `None` if the value becomes empty.
fn edited(
    value: &Value,
    items: &[usize],
    range: Option<&Range<usize>>,
    tag: Option<&str>,
) -> Option<Value> {
    match (value, items, range) {
        (Value::Array(list), [number, inner @ ..], _) => {
            let mut list = list.clone();
            match edited(list.get(*number)?, inner, range, tag) {
                Some(value) => list[*number] = value,
                None => drop(list.remove(*number)),
            }
            (!list.is_empty()).then_some(Value::Array(list))
        }
        (Value::String(text), [], Some(range)) => {
            let text = match tag {
                Some(tag) => format!("{}{tag}{}", &text[..range.start], &text[range.end..]),
                None => without_tag(text, range),
            };
            (!text.trim().is_empty()).then_some(Value::String(text))
        }
        _ => tag.map(|tag| Value::String(tag.to_owned())),
    }
}

/// Removes a tag and its separator from a string.
fn without_tag(text: &str, range: &Range<usize>) -> String {
    let is_separator = |letter: char| letter == ',' || letter.is_whitespace();
    let start = text[..range.start]
        .strip_suffix('#')
        .map_or(range.start, str::len);
    let after = text[range.end..].trim_start_matches('/');
    let rest = after.trim_start_matches(is_separator);
    if rest.is_empty() {
        let before = text[..start].trim_end_matches(is_separator);
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
        let change_of = |name: &str| {
            if is_same(name, tag) {
                TagChange::Remove
            } else {
                TagChange::Keep
            }
        };
        change(&note, change_of).unwrap().text
    }

    fn renamed(yaml: &str, from: &str, to: &str) -> String {
        let change_of = |name: &str| {
            if is_same(name, from) {
                TagChange::Rename(to.to_owned())
            } else {
                TagChange::Keep
            }
        };
        let text = change(&format!("---\n{yaml}---\n"), change_of)
            .unwrap()
            .text;
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
    fn tags_are_added_in_the_existing_style() {
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
    fn tags_are_removed_with_their_separators() {
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
    fn a_renamed_tag_is_not_duplicated() {
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
        let deeper = |tag: &str| TagChange::Rename(tag.replacen('a', "a/b", 1));
        assert_eq!(
            change("---\ntags: [a, a/b]\n---\n", deeper).unwrap().text,
            "---\ntags: [a/b, a/b/b]\n---\n"
        );
    }
}
