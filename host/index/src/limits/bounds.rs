//! Limits of a query and estimates of its cost. A condition is checked before any work is done: its cost is the number
//! of its parts times the number of notes.

use notehost_sdk::index::{Condition, MAX_CONDITIONS, PropertyTest, Query, SortBy};
use serde_json::Value;

use notehost_vault::VaultError;

/// How deep conditions may nest.
pub(crate) const MAX_DEPTH: usize = 32;
/// How long the texts in them may be together, without a text that others shall be like.
pub(crate) const MAX_CONDITION_BYTES: usize = 64 << 10;
/// How long one text of words may be.
pub(crate) const MAX_WORDS_BYTES: usize = 4 << 10;
/// How long a text may be that others shall be like, or in which names are looked for.
pub(crate) const MAX_TEXT_BYTES: usize = 4 << 20;
/// How many sort keys, and how many fields of each note.
pub(crate) const MAX_SORT_KEYS: usize = 32;
/// How many values a comparison may have: a list of choices counts each.
const MAX_VALUES: usize = 1000;
/// How many lists of texts, and how many texts, `containing` takes.
pub(crate) const MAX_CHOICES: usize = 10_000;
/// The largest page.
pub const MAX_RESULTS: u32 = 10_000;
/// How many names of notes are returned of one text.
pub(crate) const MAX_NAMES: usize = 100_000;
/// How many of the tags above a tag are counted.
pub(crate) const MAX_TAG_DEPTH: usize = 64;
/// So many tests of notes take about a millisecond.
const QUICK_TESTS: usize = 20_000;
/// Looking a word up touches the notes that have it: as a rule, one in so many.
const NOTES_PER_WORD: usize = 8;

/// Refuses a query that is too large to be worth an answer.
pub(crate) fn check_query(query: &Query) -> Result<(), VaultError> {
    if query.sort.len() > MAX_SORT_KEYS || query.fields.len() > MAX_SORT_KEYS {
        return Err(VaultError::too_large(format!(
            "a query may have {MAX_SORT_KEYS} sort keys and {MAX_SORT_KEYS} fields at most"
        )));
    }
    match &query.condition {
        Some(condition) => check(condition),
        None => Ok(()),
    }
}

/// Refuses a condition that is too deep, or has too many parts.
fn check(condition: &Condition) -> Result<(), VaultError> {
    let mut size = Size::default();
    size.add(condition, 0)
}

#[derive(Default)]
struct Size {
    conditions: usize,
    values: usize,
    bytes: usize,
}

impl Size {
    fn add(&mut self, condition: &Condition, depth: usize) -> Result<(), VaultError> {
        if depth > MAX_DEPTH {
            return Err(VaultError::invalid(format!(
                "conditions may be nested {MAX_DEPTH} levels deep at most"
            )));
        }
        self.conditions += 1;
        if self.conditions > MAX_CONDITIONS {
            return Err(VaultError::too_large(format!(
                "more than {MAX_CONDITIONS} conditions in one query"
            )));
        }
        self.bytes = self.bytes.saturating_add(match condition {
            Condition::All(inner) | Condition::Any(inner) => {
                return inner
                    .iter()
                    .try_for_each(|inner| self.add(inner, depth + 1));
            }
            Condition::Not(inner) => return self.add(inner, depth + 1),
            Condition::Words(words) | Condition::Prefix(words)
                if words.text.len() > MAX_WORDS_BYTES =>
            {
                return Err(VaultError::too_large(format!(
                    "search words may have {MAX_WORDS_BYTES} bytes at most"
                )));
            }
            Condition::Words(words) | Condition::Prefix(words) => words.text.len(),
            Condition::Like(text) if text.len() > MAX_TEXT_BYTES => {
                return Err(VaultError::too_large(format!(
                    "a text to compare with may have {MAX_TEXT_BYTES} bytes at most"
                )));
            }
            Condition::Like(_) => 0,
            Condition::Under(text)
            | Condition::Path(text)
            | Condition::Tag(text)
            | Condition::LinksTo(text)
            | Condition::LinkedFrom(text) => text.len(),
            Condition::Property(test) => self.of_test(test),
            Condition::Modified(_) | Condition::Size(_) | Condition::Has(_) => 0,
        });
        if self.bytes > MAX_CONDITION_BYTES || self.values > MAX_VALUES {
            return Err(VaultError::too_large(format!(
                "the conditions of a query may have {MAX_CONDITION_BYTES} bytes and {MAX_VALUES} values at most"
            )));
        }
        Ok(())
    }

    fn of_test(&mut self, test: &PropertyTest) -> usize {
        let compared = [
            &test.equals,
            &test.greater,
            &test.at_least,
            &test.less,
            &test.at_most,
        ];
        let mut bytes = test.key.len() + test.contains.as_ref().map_or(0, String::len);
        for value in compared.into_iter().flatten() {
            bytes = bytes.saturating_add(self.of_value(value));
        }
        bytes
    }

    fn of_value(&mut self, value: &Value) -> usize {
        self.values += 1;
        match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(|item| self.of_value(item)).sum(),
            Value::Object(map) => map
                .iter()
                .map(|(key, value)| key.len() + self.of_value(value))
                .sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        }
    }
}

/// Whether a query is answered within about a millisecond in a vault of so many notes, whose properties take so many steps
/// more to go through. It is an estimate: an answer that takes longer is made on another thread.
pub(crate) fn is_quick(query: &Query, notes: usize, property_steps: usize) -> bool {
    let mut left = QUICK_TESTS;
    let sorts = query.sort.iter();
    let by_property = sorts.filter(|sort| matches!(sort.by, SortBy::Property(_)));
    let sorting = by_property.count().saturating_mul(property_steps);
    if !take(&mut left, sorting) {
        return false;
    }
    match &query.condition {
        Some(condition) => within(condition, (notes.max(1), property_steps), 0, &mut left),
        None => notes <= left,
    }
}

fn take(left: &mut usize, tests: usize) -> bool {
    match left.checked_sub(tests) {
        Some(rest) => {
            *left = rest;
            true
        }
        None => false,
    }
}

fn within(
    condition: &Condition,
    (notes, property_steps): (usize, usize),
    depth: usize,
    left: &mut usize,
) -> bool {
    if depth > MAX_DEPTH {
        return false;
    }
    let mut all = |inner: &[Condition]| {
        let mut inner = inner.iter();
        inner.all(|inner| within(inner, (notes, property_steps), depth + 1, left))
    };
    let tests = match condition {
        // Fulfilled by every note.
        Condition::All(inner) if inner.is_empty() => notes,
        Condition::All(inner) | Condition::Any(inner) => return all(inner),
        Condition::Not(inner) => return all(std::slice::from_ref(&**inner)),
        // These look at links, or fold every path.
        Condition::Like(_) | Condition::Has(_) | Condition::Path(_) => return false,
        Condition::Words(words) | Condition::Prefix(words) => {
            (notes / NOTES_PER_WORD + 1) * (1 + words.text.len() / NOTES_PER_WORD)
        }
        Condition::Tag(_) | Condition::LinksTo(_) | Condition::LinkedFrom(_) => {
            notes / NOTES_PER_WORD + 1
        }
        Condition::Property(_) => notes.saturating_add(property_steps),
        Condition::Under(_) | Condition::Modified(_) | Condition::Size(_) => notes,
    };
    take(left, tests)
}

/// Refuses lists of texts that are too long.
pub(crate) fn check_texts(texts: &[Vec<String>]) -> Result<(), VaultError> {
    let count: usize = texts.iter().map(|choices| choices.len() + 1).sum();
    let bytes: usize = texts.iter().flatten().map(String::len).sum();
    if count > MAX_CHOICES || bytes > MAX_TEXT_BYTES {
        return Err(VaultError::too_large(format!(
            "more than {MAX_CHOICES} texts or {MAX_TEXT_BYTES} bytes to search for"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use notehost_sdk::index::{Condition, PropertyTest, Words};
    use serde_json::json;

    use super::*;

    fn property(value: Value) -> Condition {
        Condition::Property(Box::new(PropertyTest {
            key: "status".to_owned(),
            equals: Some(value),
            ..PropertyTest::default()
        }))
    }

    #[test]
    fn conditions_are_bounded_in_number_depth_bytes_and_values() {
        let many = |count: usize| Condition::Any(vec![property(json!("open")); count]);
        assert!(check(&many(MAX_CONDITIONS - 1)).is_ok());
        assert_eq!(
            check(&many(MAX_CONDITIONS)).unwrap_err().code(),
            "too_large"
        );
        let mut deep = property(json!(1));
        for _ in 0..=MAX_DEPTH {
            deep = Condition::Not(Box::new(deep));
        }
        assert_eq!(check(&deep).unwrap_err().code(), "validation_error");
        let long = Condition::Words(Words {
            text: "x".repeat(MAX_WORDS_BYTES + 1),
            part: None,
        });
        assert_eq!(check(&long).unwrap_err().code(), "too_large");
        let longer = Condition::Under("x".repeat(MAX_CONDITION_BYTES + 1));
        assert_eq!(check(&longer).unwrap_err().code(), "too_large");
        let wide = property(json!(vec![0; MAX_VALUES]));
        assert_eq!(check(&wide).unwrap_err().code(), "too_large");
    }

    #[test]
    fn what_is_quick_depends_on_conditions_and_notes() {
        let three = Condition::All(vec![property(json!("open")); 3]);
        let query = |condition: Option<&Condition>| Query {
            condition: condition.cloned(),
            ..Query::default()
        };
        let is_quick =
            |condition: &Condition, notes| super::is_quick(&query(Some(condition)), notes, 0);
        assert!(is_quick(&three, 5_000));
        assert!(!is_quick(&three, 50_000));
        let many = Condition::All(vec![property(json!("open")); 900]);
        assert!(!is_quick(&many, 1_000));
        assert!(is_quick(&many, 10));
        let everything = Condition::All(Vec::new());
        assert!(is_quick(&everything, 5_000) && super::is_quick(&query(None), 5_000, 0));
        assert!(!is_quick(&everything, 50_000) && !super::is_quick(&query(None), 50_000, 0));
        // Few notes, with very many properties.
        assert!(!super::is_quick(&query(Some(&three)), 100, QUICK_TESTS));
        let mut sorted = query(None);
        assert!(super::is_quick(&sorted, 100, QUICK_TESTS / 2));
        let by = SortBy::Property("due".to_owned());
        sorted.sort = vec![
            notehost_sdk::index::Sort {
                by,
                descending: false
            };
            3
        ];
        assert!(!super::is_quick(&sorted, 100, QUICK_TESTS / 2));
    }
}
