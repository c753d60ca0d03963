//! What a page says of itself. Everything here comes from a stranger: it is text to be shown, cut and escaped.

use crate::url::Url;

/// How much of a title or a description is kept, in characters.
const LONGEST: usize = 200;

/// A page's title and description.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Page {
    pub title: Option<String>,
    pub description: Option<String>,
}

impl Page {
    /// Read the head of an HTML page. Anything else has neither.
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

/// The line that stands for a page in a note.
pub fn link_line(title: &str, url: &Url, description: Option<&str>) -> String {
    // A parenthesis would end the link.
    let target = url.to_string().replace('(', "%28").replace(')', "%29");
    let link = format!("- [{}]({target})", escaped(title));
    match description {
        Some(description) => format!("{link}: {}", escaped(description)),
        None => link,
    }
}

/// One line, without entities, not too long; nothing if nothing is left.
fn plain(text: &str) -> Option<String> {
    let text = unescaped(text);
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: String = words
        .join(" ")
        .chars()
        .filter(|letter| !letter.is_control())
        .take(LONGEST)
        .collect();
    (!line.is_empty()).then_some(line)
}

/// Letters that would mean something in a note do not.
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

/// The entities that titles have.
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
        // The last: what it leaves must not be read again.
        ("&amp;", "&"),
    ] {
        text = text.replace(entity, letter);
    }
    text
}

/// The text in the first element of that name.
fn element(html: &str, name: &str) -> Option<String> {
    let lower = html.to_ascii_lowercase();
    let tag = lower.find(&format!("<{name}"))?;
    let begin = tag + lower[tag..].find('>')? + 1;
    let end = begin + lower[begin..].find(&format!("</{name}"))?;
    Some(html[begin..end].to_owned())
}

/// The insides of every tag of that name.
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

/// The value of an attribute in the inside of a tag.
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
