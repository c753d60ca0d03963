//! The queries of the contract's `index` interface as the index's own. They are controlled by the guest: they are bounded
//! and validated here, before anything is done with them.

use notehost_sdk::index::{self as own, Condition, MAX_CONDITIONS, PropertyTest};
use notehost_sdk::wire::list;
use notehost_sdk::{same_cases, same_fields};
use notehost_vault::VaultError;
use serde_json::Value;

use super::v1::bindings::notehost::domain::index as wire;

/// The longest texts of a query, not counting texts to compare notes with.
pub(super) const MAX_QUERY_BYTES: usize = 256 << 10;

same_cases! {
    wire::Part => own::Part { Name, Headings, Text }
    wire::Feature => own::Has {
        Tags, Properties, Aliases, Headings, Links, BrokenLinks, Backlinks, Embeds, Blocks, Tasks, OpenTasks,
    }
    wire::Field => own::Field {
        Modified, Size, Etag, Properties, Tags, Aliases, Headings, Links, Blocks, Tasks, Degree,
    }
}

same_fields! {
    wire::Span => own::Span { from, to }
    wire::BacklinksQuery => own::BacklinksQuery { path, offset, limit }
    wire::UnresolvedQuery => own::UnresolvedQuery { under, offset, limit, places }
    wire::TagsQuery => own::TagsQuery { prefix, under, by_count, offset, limit }
}

impl TryFrom<wire::Query> for own::Query {
    type Error = VaultError;

    fn try_from(query: wire::Query) -> Result<own::Query, VaultError> {
        Ok(own::Query {
            condition: condition(query.where_)?,
            sort: query.sort.into_iter().map(sort).collect(),
            offset: query.offset,
            limit: query.limit,
            fields: list(query.fields),
            snippets: query.snippets,
        })
    }
}

/// The bytes that a query holds.
pub(super) fn query_bytes(query: &wire::Query) -> usize {
    let fixed = query.where_.len() * size_of::<Condition>();
    fixed + own_bytes(query) + query.where_.iter().map(compared_bytes).sum::<usize>()
}

/// Refuses a query that is too large to be parsed.
pub(super) fn check_size(query: &wire::Query) -> Result<(), VaultError> {
    if query.where_.len() > MAX_CONDITIONS {
        return Err(VaultError::too_large(format!(
            "more than {MAX_CONDITIONS} conditions in one query: use fewer"
        )));
    }
    match own_bytes(query) > MAX_QUERY_BYTES {
        true => Err(VaultError::too_large(format!(
            "a query may have {MAX_QUERY_BYTES} bytes at most, not counting texts to compare notes with"
        ))),
        false => Ok(()),
    }
}

/// The bytes of a query without the texts to compare notes with.
fn own_bytes(query: &wire::Query) -> usize {
    let conditions = query.where_.iter().map(|condition| match condition {
        wire::Condition::All(inner) | wire::Condition::Any(inner) => inner.len() * size_of::<u32>(),
        wire::Condition::Words(words) | wire::Condition::Prefix(words) => words.text.len(),
        wire::Condition::Under(text)
        | wire::Condition::Path(text)
        | wire::Condition::Tag(text)
        | wire::Condition::LinksTo(text)
        | wire::Condition::LinkedFrom(text) => text.len(),
        wire::Condition::Property(test) => {
            let texts = [
                &test.equals,
                &test.contains,
                &test.greater,
                &test.at_least,
                &test.less,
                &test.at_most,
            ];
            test.key.len() + texts.into_iter().flatten().map(String::len).sum::<usize>()
        }
        wire::Condition::Not(_)
        | wire::Condition::Like(_)
        | wire::Condition::Modified(_)
        | wire::Condition::Size(_)
        | wire::Condition::Has(_) => 0,
    });
    let sorts = query.sort.iter().map(|sort| match &sort.by {
        wire::SortKey::Property(key) => size_of::<own::Sort>() + key.len(),
        _ => size_of::<own::Sort>(),
    });
    conditions.chain(sorts).sum::<usize>() + query.fields.len()
}

fn compared_bytes(condition: &wire::Condition) -> usize {
    match condition {
        wire::Condition::Like(text) => text.len(),
        _ => 0,
    }
}

/// Builds the tree of a list of conditions. They are built from the last to the first: a condition may refer to later
/// ones only, so there are no cycles, and a referred one is taken, so it is part of the tree once.
fn condition(conditions: Vec<wire::Condition>) -> Result<Option<Condition>, VaultError> {
    let mut built: Vec<Option<Condition>> = Vec::new();
    built.resize_with(conditions.len(), || None);
    for (place, condition) in conditions.into_iter().enumerate().rev() {
        let mut inner = |inner: u32| take(&mut built, place, inner);
        let condition = match condition {
            wire::Condition::All(places) => {
                Condition::All(places.into_iter().map(inner).collect::<Result<_, _>>()?)
            }
            wire::Condition::Any(places) => {
                Condition::Any(places.into_iter().map(inner).collect::<Result<_, _>>()?)
            }
            wire::Condition::Not(place) => Condition::Not(Box::new(inner(place)?)),
            wire::Condition::Words(given) => Condition::Words(words(given)),
            wire::Condition::Prefix(given) => Condition::Prefix(words(given)),
            wire::Condition::Like(text) => Condition::Like(text),
            wire::Condition::Under(folder) => Condition::Under(folder),
            wire::Condition::Path(glob) => Condition::Path(glob),
            wire::Condition::Tag(tag) => Condition::Tag(tag),
            wire::Condition::Property(test) => Condition::Property(Box::new(property(test)?)),
            wire::Condition::Modified(span) => Condition::Modified(span.into()),
            wire::Condition::Size(span) => Condition::Size(span.into()),
            wire::Condition::LinksTo(path) => Condition::LinksTo(path),
            wire::Condition::LinkedFrom(path) => Condition::LinkedFrom(path),
            wire::Condition::Has(feature) => Condition::Has(feature.into()),
        };
        built[place] = Some(condition);
    }
    let mut built = built.into_iter();
    let whole = built.next().flatten();
    match built.position(|left| left.is_some()) {
        Some(place) => Err(VaultError::invalid(format!(
            "condition {} of the query is not referred to: combine conditions with `all` or `any`",
            place + 1
        ))),
        None => Ok(whole),
    }
}

/// The condition to which the one at a place refers.
fn take(
    built: &mut [Option<Condition>],
    place: usize,
    inner: u32,
) -> Result<Condition, VaultError> {
    let count = built.len();
    let inner = inner as usize;
    if inner >= count {
        return Err(VaultError::invalid(format!(
            "condition {place} of the query refers to condition {inner}, but there are only {count}, counted from 0"
        )));
    }
    if inner <= place {
        return Err(VaultError::invalid(format!(
            "condition {place} of the query refers to condition {inner}: it may refer to later ones only, so that there \
             are no cycles"
        )));
    }
    built[inner].take().ok_or_else(|| {
        VaultError::invalid(format!(
            "condition {inner} of the query is referred to twice: repeat it instead"
        ))
    })
}

fn words(words: wire::Words) -> own::Words {
    own::Words {
        text: words.text,
        part: words.part.map(own::Part::from),
    }
}

fn property(test: wire::PropertyTest) -> Result<PropertyTest, VaultError> {
    let value = |json: Option<String>| -> Result<Option<Value>, VaultError> {
        let parsed = json.map(|json| serde_json::from_str(&json)).transpose();
        parsed.map_err(|error| {
            VaultError::invalid(format!(
                "a value to compare a property with is not JSON: {error}"
            ))
        })
    };
    Ok(PropertyTest {
        key: test.key,
        exists: test.exists,
        equals: value(test.equals)?,
        contains: test.contains,
        greater: value(test.greater)?,
        at_least: value(test.at_least)?,
        less: value(test.less)?,
        at_most: value(test.at_most)?,
    })
}

fn sort(sort: wire::Sort) -> own::Sort {
    own::Sort {
        by: match sort.by {
            wire::SortKey::Score => own::SortBy::Score,
            wire::SortKey::Path => own::SortBy::Path,
            wire::SortKey::Name => own::SortBy::Name,
            wire::SortKey::Modified => own::SortBy::Modified,
            wire::SortKey::Size => own::SortBy::Size,
            wire::SortKey::Incoming => own::SortBy::Incoming,
            wire::SortKey::Outgoing => own::SortBy::Outgoing,
            wire::SortKey::Property(key) => own::SortBy::Property(key),
        },
        descending: sort.descending,
    }
}

#[cfg(test)]
mod tests {
    use super::wire::Condition as C;
    use super::*;

    fn tag(tag: &str) -> C {
        C::Tag(tag.to_owned())
    }

    fn refused(conditions: Vec<C>) -> String {
        let error = condition(conditions).expect_err("an invalid list");
        assert_eq!(error.code(), "validation_error");
        error.to_string()
    }

    #[test]
    fn a_list_of_conditions_becomes_a_tree() {
        let tree = condition(vec![
            C::All(vec![1, 4]),
            C::Any(vec![2, 3]),
            tag("a"),
            tag("b"),
            C::Not(5),
            tag("c"),
        ]);
        let leaf = |tag: &str| Condition::Tag(tag.to_owned());
        let expected = Condition::All(vec![
            Condition::Any(vec![leaf("a"), leaf("b")]),
            Condition::Not(Box::new(leaf("c"))),
        ]);
        assert_eq!(tree, Ok(Some(expected)));
        assert_eq!(condition(Vec::new()), Ok(None));
        let empty = condition(vec![C::Any(Vec::new())]);
        assert_eq!(empty, Ok(Some(Condition::Any(Vec::new()))));
    }

    #[test]
    fn bad_references_are_refused() {
        assert!(refused(vec![C::Not(1)]).contains("there are only 1"));
        assert!(refused(vec![C::Not(u32::MAX)]).contains("there are only 1"));
        // Cycles.
        assert!(refused(vec![C::Not(0)]).contains("later ones only"));
        assert!(refused(vec![C::Not(1), C::All(vec![0])]).contains("later ones only"));
        let shared = refused(vec![C::All(vec![1, 1]), tag("a")]);
        assert!(shared.contains("referred to twice"), "{shared}");
        let unused = refused(vec![tag("a"), tag("b")]);
        assert!(
            unused.contains("condition 1 of the query is not referred to"),
            "{unused}"
        );
    }

    #[test]
    fn the_longest_chain_of_conditions_is_refused_by_its_depth() {
        let mut chain: Vec<C> = (1..MAX_CONDITIONS as u32).map(C::Not).collect();
        chain.push(tag("a"));
        let query = own::Query {
            condition: condition(chain).expect("a tree"),
            limit: 1,
            ..own::Query::default()
        };
        let error = notehost_index::Question::Find(query)
            .check()
            .expect_err("too deep");
        assert_eq!(error.code(), "validation_error");
    }

    fn query(conditions: Vec<C>) -> wire::Query {
        wire::Query {
            where_: conditions,
            sort: Vec::new(),
            offset: 0,
            limit: 1,
            fields: Vec::new(),
            snippets: 0,
        }
    }

    #[test]
    fn only_texts_to_compare_with_may_be_long() {
        let long = "x".repeat(MAX_QUERY_BYTES + 1);
        let like = query(vec![C::Like(long.clone())]);
        assert!(check_size(&like).is_ok());
        assert!(query_bytes(&like) > long.len());
        assert_eq!(
            check_size(&query(vec![C::Path(long.clone())]))
                .expect_err("too long")
                .code(),
            "too_large"
        );
        let wide = query(vec![C::Any(Vec::new()); MAX_CONDITIONS + 1]);
        assert_eq!(check_size(&wide).expect_err("too many").code(), "too_large");
        let mut sorted = query(Vec::new());
        sorted.sort.push(wire::Sort {
            by: wire::SortKey::Property(long),
            descending: false,
        });
        assert!(check_size(&sorted).is_err());
    }

    #[test]
    fn compared_values_are_json() {
        let test = |equals: &str| wire::PropertyTest {
            key: "status".to_owned(),
            exists: None,
            equals: Some(equals.to_owned()),
            contains: None,
            greater: None,
            at_least: None,
            less: None,
            at_most: None,
        };
        let parsed = property(test("[1, \"a\"]")).expect("JSON");
        assert_eq!(parsed.equals, Some(serde_json::json!([1, "a"])));
        let error = property(test("done")).expect_err("not JSON");
        assert_eq!(error.code(), "validation_error");
    }
}
