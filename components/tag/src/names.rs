//! Tags by name: what a caller may write, and when two are the same.

use notehost_sdk::text::tags::is_name;
use notehost_sdk::{Error, Result, fold_name};

/// A tag that a caller wants to have: it must be one.
pub(crate) fn new_tag(tag: &str) -> Result<String> {
    let name = bare(tag);
    if is_name(name) {
        return Ok(name.to_owned());
    }
    Err(Error::validation(format!(
        "`{tag}` is no tag: letters, digits, `_` and `-` are allowed, `/` between parts, and not only digits; for example `{}`",
        example(name)
    )))
}

/// A tag that a caller looks for: properties may have odd ones, such as a year.
pub(crate) fn known_tag(tag: &str) -> Result<String> {
    let name = bare(tag);
    let is_one = !name.is_empty()
        && !name.contains([',', '#'])
        && !name.contains(char::is_whitespace)
        && name.split('/').all(|part| !part.is_empty());
    if is_one {
        return Ok(name.to_owned());
    }
    Err(Error::validation(format!(
        "`{tag}` is no tag: write one without blanks, such as `project/alpha`"
    )))
}

/// Several tags, each once. `check` is [`new_tag`] or [`known_tag`].
pub(crate) fn several(tags: &[String], check: fn(&str) -> Result<String>) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for tag in tags {
        let name = check(tag)?;
        if !names.iter().any(|known| is_same(known, &name)) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return Err(Error::validation("`tags` is empty: name at least one tag"));
    }
    Ok(names)
}

fn bare(tag: &str) -> &str {
    let tag = tag.trim();
    tag.strip_prefix('#').unwrap_or(tag).trim_end_matches('/')
}

/// What a caller may have meant.
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

/// Whether two tags are one.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    fold_name(one) == fold_name(other)
}

/// How many bytes at the beginning of a tag are another one: all if it is that tag, fewer if it is below it, nothing if
/// it is neither.
pub(crate) fn common(tag: &str, above: &str) -> Option<usize> {
    let mut parts = tag.split('/');
    let mut length = 0;
    for (number, wanted) in above.split('/').enumerate() {
        let part = parts.next()?;
        if !is_same(part, wanted) {
            return None;
        }
        length += part.len() + usize::from(number > 0);
    }
    Some(length)
}

/// Which tags are meant.
pub(crate) struct Meant<'t> {
    pub(crate) tags: &'t [String],
    /// Whether those below them are meant too.
    pub(crate) nested: bool,
}

impl Meant<'_> {
    pub(crate) fn has(&self, tag: &str) -> bool {
        let is_meant = |meant: &String| match common(tag, meant) {
            Some(length) => self.nested || length == tag.len(),
            None => false,
        };
        self.tags.iter().any(is_meant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_taken_as_people_write_it() {
        assert_eq!(new_tag(" #Project/Ä_1-b/ ").unwrap(), "Project/Ä_1-b");
        assert_eq!(new_tag("🎉").unwrap(), "🎉");
        assert_eq!(known_tag("#2024").unwrap(), "2024");
        for (wrong, example) in [
            ("two words", "`two-words`"),
            ("2024", "`y2024`"),
            ("", "`project/alpha`"),
            ("a//b", "`a/b`"),
            ("a,b", "`a-b`"),
            ("#", "`project/alpha`"),
        ] {
            let error = new_tag(wrong).unwrap_err();
            assert!(error.message().ends_with(example), "{error}");
            assert_eq!(known_tag(wrong).is_ok(), wrong == "2024");
        }
    }

    #[test]
    fn tags_are_compared_part_by_part() {
        assert_eq!(common("vc/Project", "VC"), Some(2));
        assert_eq!(common("STRASSE/x", "straße"), Some(7));
        assert_eq!(common("vc", "vc/project"), None);
        assert_eq!(common("vcs", "vc"), None);
        assert_eq!(common("a/b", "A/B"), Some(3));
    }
}
