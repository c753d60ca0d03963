//! Inline fields in Dataview syntax: `key:: value` alone on a line, `[key:: value]` and `(key:: value)` inside a line.
//! All functions take the text of one block.

use std::ops::Range;

use notehost_sdk::prelude::*;

/// Maximum length of an inline value. Bounds the search for the closing bracket, so that unclosed brackets stay cheap.
const MAX_VALUE_BYTES: usize = 4096;

/// The notation of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `key:: value` on its own line.
    Line,
    /// In brackets or parentheses.
    Inline,
}

/// A field in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) key: String,
    pub(crate) value: String,
    form: Form,
    /// The whole field with its brackets; for a line field, from the key on.
    range: Range<usize>,
    value_range: Range<usize>,
}

/// The fields of a text, which excludes the item marker and the id.
pub(crate) fn fields(text: &str) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end();
        match line_field(content) {
            Some(field) => fields.push(shift(field, start)),
            None => inline_fields(content, start, &mut fields),
        }
        start += line.len();
    }
    fields
}

fn shift(field: Field, by: usize) -> Field {
    Field {
        range: field.range.start + by..field.range.end + by,
        value_range: field.value_range.start + by..field.value_range.end + by,
        ..field
    }
}

/// The line as a field, if it is one.
fn line_field(line: &str) -> Option<Field> {
    let (before, after) = line.split_once("::")?;
    let key = before.trim();
    if !is_key(key) || after.starts_with(':') {
        return None;
    }
    let start = before.len() - before.trim_start().len();
    let value = after.trim();
    let value_start = before.len() + 2 + (after.len() - after.trim_start().len());
    Some(Field {
        key: key.to_owned(),
        value: value.to_owned(),
        form: Form::Line,
        range: start..line.len(),
        value_range: value_start..value_start + value.len(),
    })
}

fn inline_fields(line: &str, offset: usize, fields: &mut Vec<Field>) {
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'`' => at = after_code(line, at),
            b'[' | b'(' => match inline_field(line, at) {
                Some(field) => {
                    at = field.range.end;
                    fields.push(shift(field, offset));
                }
                None => at += 1,
            },
            _ => at += 1,
        }
    }
}

/// The end of a code span, or the position after the backticks if it is not closed.
fn after_code(line: &str, at: usize) -> usize {
    let ticks = line[at..].bytes().take_while(|byte| *byte == b'`').count();
    let mark = &line[at..at + ticks];
    match line[at + ticks..].find(mark) {
        Some(end) => at + ticks + end + ticks,
        None => at + ticks,
    }
}

fn inline_field(line: &str, open: usize) -> Option<Field> {
    let bytes = line.as_bytes();
    let (opening, closing) = match bytes[open] {
        b'[' => (b'[', b']'),
        _ => (b'(', b')'),
    };
    // Keys are short; the limit keeps the search in every bracket cheap.
    let limit = line.floor_char_boundary((open + 1 + 128).min(line.len()));
    let mark = open + 1 + line[open + 1..limit].find("::")?;
    let key = line[open + 1..mark].trim();
    if !is_key(key) || line[mark + 2..].starts_with(':') {
        return None;
    }
    let mut depth = 1;
    let end = bytes.len().min(mark + 2 + MAX_VALUE_BYTES);
    let close = (mark + 2..end).find(|at| {
        match bytes[*at] {
            byte if byte == opening => depth += 1,
            byte if byte == closing => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    let inner = &line[mark + 2..close];
    let value = inner.trim();
    let value_start = mark + 2 + (inner.len() - inner.trim_start().len());
    Some(Field {
        key: key.to_owned(),
        value: value.to_owned(),
        form: Form::Inline,
        range: open..close + 1,
        value_range: value_start..value_start + value.len(),
    })
}

/// Whether this is a valid key: letters, digits, spaces and some punctuation, up to 120 bytes.
fn is_key(key: &str) -> bool {
    !key.is_empty()
        && key.len() <= 120
        && key.chars().any(char::is_alphanumeric)
        && key
            .chars()
            .all(|letter| letter.is_alphanumeric() || " -_/*.".contains(letter))
}

/// Sets a field: in place if it exists, otherwise at the end.
pub(crate) fn set(text: &str, key: &str, value: &str) -> Result<String> {
    let (key, value) = (key.trim(), value.trim());
    if !is_key(key) {
        return Err(Error::validation(format!(
            "invalid field key `{key}`: use letters, digits, spaces, `-` and `_`"
        )));
    }
    if value.contains(['\n', '\r']) {
        return Err(Error::validation(format!(
            "the value of `{key}` has several lines; a field value is a single line"
        )));
    }
    let existing = fields(text)
        .into_iter()
        .find(|field| is_same(&field.key, key));
    let is_line = existing
        .as_ref()
        .is_some_and(|field| field.form == Form::Line);
    if !is_line && !is_balanced(value) {
        return Err(Error::validation(format!(
            "the value of `{key}` has unbalanced brackets: `{value}`"
        )));
    }
    let mut changed = text.to_owned();
    match existing {
        Some(field) => {
            let is_close = changed[..field.value_range.start].ends_with(':') && !value.is_empty();
            let spaced = match is_close && field.value.is_empty() {
                true => format!(" {value}"),
                false => value.to_owned(),
            };
            changed.replace_range(field.value_range, &spaced);
        }
        None => {
            if !changed.is_empty() && !changed.ends_with([' ', '\t', '\n']) {
                changed.push(' ');
            }
            changed.push_str(&format!("[{key}:: {value}]"));
        }
    }
    Ok(changed)
}

/// Removes a field.
pub(crate) fn remove(text: &str, key: &str) -> Result<String> {
    let existing = fields(text)
        .into_iter()
        .find(|field| is_same(&field.key, key.trim()));
    let Some(field) = existing else {
        return Err(Error::not_found(format!(
            "the block has no field `{key}`: `attributes` lists its fields"
        )));
    };
    let mut range = field.range;
    if field.form == Form::Line {
        // Remove the whole line.
        match text[range.end..].find('\n') {
            Some(end) => range.end += end + 1,
            None => range.start = text[..range.start].trim_end().len(),
        }
    } else if text[..range.start].ends_with(' ') {
        range.start -= 1;
    } else if text[range.end..].starts_with(' ') {
        range.end += 1;
    }
    let mut changed = text.to_owned();
    changed.replace_range(range, "");
    Ok(changed)
}

fn is_same(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

fn is_balanced(value: &str) -> bool {
    let mut depth = 0_i32;
    for letter in value.chars() {
        match letter {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Vec<(String, String)> {
        let fields = fields(text).into_iter();
        fields.map(|field| (field.key, field.value)).collect()
    }

    #[test]
    fn fields_parses_every_notation() {
        let text = "due:: 2024-05-01\nread [rating:: 5] (with:: [[Ana]]) `[no:: x]` [link](u) a::b::c\nstd::fmt [x]::y\n漢字:: 語";
        let expected = [
            ("due", "2024-05-01"),
            ("rating", "5"),
            ("with", "[[Ana]]"),
            ("std", "fmt [x]::y"),
            ("漢字", "語"),
        ];
        let expected: Vec<(String, String)> = expected
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        assert_eq!(parsed(text), expected);
        assert_eq!(parsed("a [b c:::d] [::] [x:: y"), []);
    }

    #[test]
    fn set_replaces_an_existing_field() {
        assert_eq!(set("a [k:: 1] b", "K", "2").unwrap(), "a [k:: 2] b");
        assert_eq!(set("k::\nb", "k", "2").unwrap(), "k:: 2\nb");
        assert_eq!(set("a", "new key", "[[x]]").unwrap(), "a [new key:: [[x]]]");
        assert!(set("a", "k", "]").is_err());
        assert!(set("a", "k::", "x").is_err());
        assert!(set("a", "k", "x\ny").is_err());
    }

    #[test]
    fn remove_deletes_the_field_with_its_space_or_line() {
        assert_eq!(remove("a [k:: 1] b", "k").unwrap(), "a b");
        assert_eq!(remove("a\nk:: 1\nb", "k").unwrap(), "a\nb");
        assert_eq!(remove("a\nk:: 1", "k").unwrap(), "a");
        assert_eq!(remove("a", "k").unwrap_err().code(), "not_found");
    }
}
