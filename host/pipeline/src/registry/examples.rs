//! Examples of calls. Authors write them at the end of an action's description, one after the other, so that they work
//! in every language and need only text:
//!
//! ```text
//! Read a note, or a section of it.
//!
//! Example: `{"path": "Garden/Compost"}`
//! Example (only a section): `{"path": "Garden/Compost", "section": "When it smells"}`
//! ```

use serde_json::{Map, Value};

/// The maximum number of examples per action.
const MAX_EXAMPLES: usize = 8;
const MARK: &str = "Example";

/// An example call.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// What is special about it.
    pub about: Option<String>,
    /// Its arguments.
    pub arguments: Map<String, Value>,
}

/// Splits the examples from an action's description. Malformed examples stay in the text.
pub(super) fn split(description: &str) -> (String, Vec<Example>) {
    let mut examples = Vec::new();
    let mut prose: Vec<&str> = Vec::new();
    let mut rest = description.trim_end();
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let found = marks(line).find_map(|at| Some((at, several(&rest[at..])?)));
        match found {
            Some((at, (found, after))) => {
                prose.extend(Some(line[..at].trim_end()).filter(|before| !before.is_empty()));
                examples.extend(found);
                rest = after;
            }
            None => {
                prose.push(line);
                rest = after;
            }
        }
    }
    examples.truncate(MAX_EXAMPLES);
    (prose.join("\n").trim_end().to_owned(), examples)
}

/// Where an example may begin: at the start of a line, or within a line whose paragraphs were joined.
fn marks(line: &str) -> impl Iterator<Item = usize> {
    let marks = line.match_indices(MARK).map(|(at, _)| at);
    marks.filter(move |at| *at == 0 || line[..*at].ends_with(char::is_whitespace))
}

/// The examples that a text begins with, and what comes after them; `None` if it begins with none.
fn several(text: &str) -> Option<(Vec<Example>, &str)> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some((example, after)) = one(rest) {
        found.push(example);
        rest = after.trim_start();
    }
    (!found.is_empty()).then_some((found, rest))
}

fn one(text: &str) -> Option<(Example, &str)> {
    let rest = text.strip_prefix(MARK)?;
    let (about, rest) = match rest.strip_prefix(" (") {
        Some(rest) => {
            let (about, rest) = rest.split_once("): `")?;
            (Some(about.to_owned()), rest)
        }
        None => (None, rest.strip_prefix(": `")?),
    };
    // The JSON says itself where it ends: there may be backticks in it.
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Map<String, Value>>();
    let arguments = values.next()?.ok()?;
    let after = rest[values.byte_offset()..]
        .trim_start()
        .strip_prefix('`')?;
    Some((Example { about, arguments }, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn arguments(description: &str) -> Vec<Value> {
        let (_, examples) = split(description);
        let arguments = examples.into_iter().map(|example| example.arguments);
        arguments.map(Value::Object).collect()
    }

    #[test]
    fn examples_are_split_from_descriptions() {
        let description = "Read a note.\nMore.\n\nExample: `{\"path\": \"A\"}`\nExample (lines): `{\"path\": \"A\", \"limit\": 2}`";
        let (prose, examples) = split(description);
        assert_eq!(prose, "Read a note.\nMore.");
        assert_eq!(examples[0].about, None);
        assert_eq!(examples[1].about.as_deref(), Some("lines"));
        let expected = [json!({"path": "A"}), json!({"path": "A", "limit": 2})];
        assert_eq!(arguments(description), expected);
    }

    #[test]
    fn joined_lines_parse_the_same() {
        let description = "Add text.\nExample: `{\"text\": \"`a` and }\"}` Example (twice): `{}`";
        assert_eq!(
            arguments(description),
            [json!({"text": "`a` and }"}), json!({})]
        );
        assert_eq!(split(description).0, "Add text.");
        let (prose, examples) = split("Add text. Example: `{}` Example: `{}`");
        assert_eq!((prose.as_str(), examples.len()), ("Add text.", 2));
    }

    #[test]
    fn malformed_examples_stay_in_the_text() {
        for description in [
            "Examples are good.",
            "Example: read it.",
            "Example: `[1]`",
            "Example (a: `{}`",
        ] {
            assert_eq!(split(description), (description.to_owned(), Vec::new()));
        }
    }
}
