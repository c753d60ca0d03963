//! Validation and comparison of tag names.

use notehost_sdk::text::tags::is_name;
use notehost_sdk::{Error, Result, fold_name};

/// Validates a tag to be created.
pub(crate) fn new_tag(tag: &str) -> Result<String> {
    let name = bare(tag);
    if is_name(name) {
        return Ok(name.to_owned());
    }
    Err(Error::validation(format!(
        "invalid tag: `{tag}`: use letters, digits, `_` and `-`, with `/` between parts, and not only digits; for example `{}`",
        example(name)
    )))
}

/// Validates a tag to search for: properties may contain unusual tags, such as a year.
pub(crate) fn known_tag(tag: &str) -> Result<String> {
    let name = bare(tag);
    let is_valid = !name.is_empty()
        && !name.contains([',', '#'])
        && !name.contains(char::is_whitespace)
        && name.split('/').all(|part| !part.is_empty());
    if is_valid {
        return Ok(name.to_owned());
    }
    Err(Error::validation(format!(
        "invalid tag: `{tag}`: write one tag without spaces, such as `project/alpha`"
    )))
}

/// Validates a `tags` argument and removes duplicates. `check` is [`new_tag`] or [`known_tag`].
pub(crate) fn parse_tags(
    tags: &[String],
    check: fn(&str) -> Result<String>,
) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for tag in tags {
        let name = check(tag)?;
        if !names.iter().any(|known| is_same(known, &name)) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return Err(Error::validation("`tags` is empty: give at least one tag"));
    }
    Ok(names)
}

fn bare(tag: &str) -> &str {
    let tag = tag.trim();
    tag.strip_prefix('#').unwrap_or(tag).trim_end_matches('/')
}

/// A valid tag similar to an invalid one.
fn example(name: &str) -> String {
    let letters = name.chars().map(|letter| {
        if is_name(&format!("x{letter}")) || letter == '/' {
            letter
        } else {
            '-'
        }
    });
    let cleaned: String = letters.collect();
    let parts: Vec<&str> = cleaned
        .split('/')
        .map(|part| part.trim_matches('-'))
        .filter(|part| !part.is_empty())
        .collect();
    let cleaned = parts.join("/");
    match cleaned.as_str() {
        "" => "project/alpha".to_owned(),
        digits if !is_name(digits) => format!("y{digits}"),
        _ => cleaned,
    }
}

/// Whether two tags are the same, case-insensitive.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    fold_name(one) == fold_name(other)
}

/// The length in bytes of the prefix of `tag` that equals `parent`: all of it for the same tag, less for a nested tag,
/// `None` if it is neither.
pub(crate) fn prefix_length(tag: &str, parent: &str) -> Option<usize> {
    let mut parts = tag.split('/');
    let mut length = 0;
    for (number, expected) in parent.split('/').enumerate() {
        let part = parts.next()?;
        if !is_same(part, expected) {
            return None;
        }
        length += part.len() + usize::from(number > 0);
    }
    Some(length)
}

/// Matches tags against a list.
pub(crate) struct TagMatcher<'t> {
    pub(crate) tags: &'t [String],
    /// Whether nested tags match too.
    pub(crate) nested: bool,
}

impl TagMatcher<'_> {
    pub(crate) fn matches(&self, tag: &str) -> bool {
        let is_match = |listed: &String| match prefix_length(tag, listed) {
            Some(length) => self.nested || length == tag.len(),
            None => false,
        };
        self.tags.iter().any(is_match)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_spellings_of_tags_are_accepted() {
        assert_eq!(new_tag(" #Project/Ä_1-b/ ").unwrap(), "Project/Ä_1-b");
        assert_eq!(new_tag("🎉").unwrap(), "🎉");
        assert_eq!(known_tag("#2024").unwrap(), "2024");
        for (invalid, example) in [
            ("two words", "`two-words`"),
            ("2024", "`y2024`"),
            ("", "`project/alpha`"),
            ("a//b", "`a/b`"),
            ("a,b", "`a-b`"),
            ("#", "`project/alpha`"),
        ] {
            let error = new_tag(invalid).unwrap_err();
            assert!(error.message().ends_with(example), "{error}");
            assert_eq!(known_tag(invalid).is_ok(), invalid == "2024");
        }
    }

    #[test]
    fn tags_are_compared_by_their_parts() {
        assert_eq!(prefix_length("vc/Project", "VC"), Some(2));
        assert_eq!(prefix_length("STRASSE/x", "straße"), Some(7));
        assert_eq!(prefix_length("vc", "vc/project"), None);
        assert_eq!(prefix_length("vcs", "vc"), None);
        assert_eq!(prefix_length("a/b", "A/B"), Some(3));
    }
}
