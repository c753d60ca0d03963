//! The tags of a note, by Obsidian's rules: `#project/alpha` in prose, and the properties `tags` and `tag`.

use std::ops::Range;

use serde_json::{Map, Value};

use super::{frontmatter, lines, links};

/// One tag of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// Its name, without `#`: `project/alpha`.
    pub name: String,
    /// The line of the file, from 1; for a property the first line of the frontmatter.
    pub line: usize,
    /// Its bytes, with `#`; `None` for a property.
    pub range: Option<Range<usize>>,
}

/// The tags of a note: those of its properties, then those of its prose in order, one entry per occurrence.
pub fn tags(note: &str) -> Vec<Tag> {
    let properties = frontmatter::properties(note).unwrap_or_default();
    among(note, &links::hashes(note), &properties)
}

/// Like [`tags`], if the hashes and the properties are already known.
pub(super) fn among(note: &str, hashes: &[usize], properties: &Map<String, Value>) -> Vec<Tag> {
    let mut tags = of_properties(note, properties);
    let mut counted = 0;
    let mut line = 1;
    for &at in hashes {
        let Some(length) = length_at(note, at) else {
            continue;
        };
        line += memchr::memchr_iter(b'\n', &note.as_bytes()[counted..at]).count();
        counted = at;
        tags.push(Tag {
            name: note[at + 1..at + length].to_owned(),
            line,
            range: Some(at..at + length),
        });
    }
    tags
}

/// Whether a text is a valid tag name: letters, digits, `_`, `-`, and `/` between its parts; not only digits.
pub fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(belongs)
        && name
            .chars()
            .any(|letter| !letter.is_ascii_digit() && letter != '/')
        && name.split('/').all(|part| !part.is_empty())
}

/// The length of the tag that starts with the `#` at `at`, if there is one.
fn length_at(note: &str, at: usize) -> Option<usize> {
    let is_apart = note[..at]
        .chars()
        .next_back()
        .is_none_or(char::is_whitespace);
    let rest = &note[at + 1..];
    let end = rest.find(|letter| !belongs(letter)).unwrap_or(rest.len());
    let name = rest[..end].trim_end_matches('/');
    (is_apart && is_name(name)).then_some(1 + name.len())
}

fn belongs(letter: char) -> bool {
    match letter {
        '_' | '-' | '/' => true,
        letter if letter.is_ascii() => letter.is_ascii_alphanumeric(),
        // Obsidian accepts everything else except white space and punctuation, including emoji and joiners.
        letter => {
            !letter.is_whitespace()
                && !letter.is_control()
                && !matches!(letter, '\u{2000}'..='\u{200c}' | '\u{200e}'..='\u{206f}' | '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff0f}')
        }
    }
}

/// The tags in the properties. Invalid frontmatter has none.
fn of_properties(note: &str, properties: &Map<String, Value>) -> Vec<Tag> {
    let Some(found) = frontmatter::locate(note) else {
        return Vec::new();
    };
    let line = lines::line_of(note, found.block.start);
    let mut names = Vec::new();
    for (key, value) in properties {
        if key.eq_ignore_ascii_case("tags") || key.eq_ignore_ascii_case("tag") {
            collect(value, &mut names);
        }
    }
    let tag = |name: String| Tag {
        name,
        line,
        range: None,
    };
    names.into_iter().map(tag).collect()
}

fn collect(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            let parts = text.split(|letter: char| letter == ',' || letter.is_whitespace());
            let written =
                parts.map(|part| part.strip_prefix('#').unwrap_or(part).trim_end_matches('/'));
            names.extend(written.filter(|name| !name.is_empty()).map(str::to_owned));
        }
        Value::Number(number) => names.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, names)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(note: &str) -> Vec<String> {
        tags(note).into_iter().map(|tag| tag.name).collect()
    }

    #[test]
    fn tags_are_found_in_prose_only() {
        let note = "# Heading\n\n#one and #two/three, `#code` [[#Heading]] [x](a#b) http://a/#c a#d (#e)\n\n\
            ```\n#fence\n```\n\n%% #comment %%\n- #列表/项 #12 #1a #x/ ##y\n> #quoted\n\n| #cell | b |\n|---|---|\n| #in | c |\n";
        assert_eq!(
            names(note),
            [
                "one",
                "two/three",
                "列表/项",
                "1a",
                "x",
                "quoted",
                "cell",
                "in"
            ]
        );
    }

    #[test]
    fn tags_have_line_and_byte_range() {
        let note = "---\na: 1\n---\nx\n  #Ärger! #🎉\n";
        for tag in tags(note) {
            let range = tag.range.expect("it is in the text");
            assert_eq!(&note[range], format!("#{}", tag.name));
            assert_eq!(tag.line, 5);
        }
        assert_eq!(names(note), ["Ärger", "🎉"]);
    }

    #[test]
    fn every_form_of_tags_in_properties_is_read() {
        assert_eq!(
            names("---\ntags: [a, \"#b/c\", 2024]\n---\n"),
            ["a", "b/c", "2024"]
        );
        assert_eq!(
            names("---\ntags:\n  - a\n  - b\nTag: c, d e\n---\n#f"),
            ["a", "b", "c", "d", "e", "f"]
        );
        assert_eq!(names("---\ntags: [broken\n---\n#f"), ["f"]);
        assert_eq!(names("---\nother: [a]\n---\n"), Vec::<String>::new());
    }
}
