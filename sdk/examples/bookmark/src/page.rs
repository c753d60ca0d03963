//! The title and description of a page. The input is untrusted: the results are truncated, and escaped for a note.

use crate::url::Url;

/// The maximum length of a title or description.
const MAX_CHARACTERS: usize = 200;

/// A page's title and description.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Page {
    pub title: Option<String>,
    pub description: Option<String>,
}

impl Page {
    /// Reads them from the head of an HTML page. Both are `None` for anything else.
    pub fn read(html: &[u8]) -> Page {
        let html = String::from_utf8_lossy(html);
        let meta = |name: &str| {
            let tags = tags(&html, "meta");
            let named = tags.into_iter().find(|tag| {
                let is =
                    |key| attribute(tag, key).is_some_and(|value| value.eq_ignore_ascii_case(name));
                is("name") || is("property")
            })?;
            attribute(named, "content")
        };
        let title = element(&html, "title").or_else(|| meta("og:title"));
        let description = meta("description").or_else(|| meta("og:description"));
        Page {
            title: title.as_deref().and_then(plain),
            description: description.as_deref().and_then(plain),
        }
    }
}

/// The line of a note that links to a page.
pub fn link_line(title: &str, url: &Url, description: Option<&str>) -> String {
    // A parenthesis would end the link.
    let target = url.to_string().replace('(', "%28").replace(')', "%29");
    let link = format!("- [{}]({target})", escaped(title));
    match description {
        Some(description) => format!("{link}: {}", escaped(description)),
        None => link,
    }
}

/// The text on one line, without entities and truncated; `None` if it is empty.
fn plain(text: &str) -> Option<String> {
    let text = unescaped(text);
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: String = words
        .join(" ")
        .chars()
        .filter(|letter| !letter.is_control())
        .take(MAX_CHARACTERS)
        .collect();
    (!line.is_empty()).then_some(line)
}

/// Escapes the characters that are Markdown syntax.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if "\\`*_[]<>#|".contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

/// Decodes the entities that are common in titles.
fn unescaped(text: &str) -> String {
    let mut text = text.to_owned();
    for (entity, letter) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&apos;", "'"),
        ("&nbsp;", " "),
        ("&ndash;", "–"),
        ("&mdash;", "—"),
        // Last, so that its result is not decoded again.
        ("&amp;", "&"),
    ] {
        text = text.replace(entity, letter);
    }
    text
}

/// The content of the first element of that name.
fn element(html: &str, name: &str) -> Option<String> {
    let lower = html.to_ascii_lowercase();
    let tag = lower.find(&format!("<{name}"))?;
    let begin = tag + lower[tag..].find('>')? + 1;
    let end = begin + lower[begin..].find(&format!("</{name}"))?;
    Some(html[begin..end].to_owned())
}

/// The attributes part of every tag of that name.
fn tags<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let lower = html.to_ascii_lowercase();
    let opening = format!("<{name}");
    let begins = lower
        .match_indices(&opening)
        .map(|(at, _)| at + opening.len());
    begins
        .filter_map(|begin| Some(&html[begin..begin + html[begin..].find('>')?]))
        .collect()
}

/// The value of an attribute in the attributes part of a tag.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let lower = tag.to_ascii_lowercase();
    let mut from = 0;
    while let Some(found) = lower[from..].find(name) {
        let at = from + found;
        from = at + name.len();
        let begins = lower[..at].ends_with([' ', '\n', '\t', '\r', '"', '\'', '/']);
        let rest = tag[from..].trim_start();
        if let (true, Some(value)) = (begins, rest.strip_prefix('=')) {
            let value = value.trim_start();
            let quote = value
                .chars()
                .next()
                .filter(|letter| matches!(letter, '"' | '\''));
            return Some(match quote {
                Some(quote) => value[1..]
                    .split(quote)
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
                None => value
                    .split_whitespace()
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
            });
        }
    }
    None
}
