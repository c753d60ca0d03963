//! Parses `sort`: `modified`, `-due, path`.

use notehost_sdk::index::{Sort, SortBy};
use notehost_sdk::{Error, Result};

/// The maximum number of sort criteria.
const MAX_CRITERIA: usize = 5;

/// Parses comma-separated names; a leading `-` reverses the order. Scores, times, sizes and link counts sort descending
/// by default, everything else ascending.
pub(crate) fn parse(text: Option<&str>) -> Result<Vec<Sort>> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok(Vec::new());
    };
    let criteria: Vec<&str> = text.split(',').map(str::trim).collect();
    if criteria.len() > MAX_CRITERIA {
        return Err(Error::validation(format!(
            "`sort` has {} criteria; the limit is {MAX_CRITERIA}",
            criteria.len()
        )));
    }
    criteria.into_iter().map(criterion).collect()
}

fn criterion(text: &str) -> Result<Sort> {
    let (is_reversed, name) = match text.strip_prefix('-') {
        Some(name) => (true, name.trim()),
        None => (false, text),
    };
    if name.is_empty() {
        return Err(Error::validation(
            "`sort` has an empty criterion: use `relevance`, `modified`, `path`, `name`, `size` or a property, separated by `,`",
        ));
    }
    let (by, descending) = match name {
        "relevance" | "score" => (SortBy::Score, true),
        "modified" | "file.modified" => (SortBy::Modified, true),
        "size" | "file.size" => (SortBy::Size, true),
        "incoming" | "file.backlinks" => (SortBy::Incoming, true),
        "outgoing" | "file.links" => (SortBy::Outgoing, true),
        "path" | "file.path" => (SortBy::Path, false),
        "name" | "file.name" => (SortBy::Name, false),
        property => {
            let key = property.strip_prefix("note.").unwrap_or(property);
            (SortBy::Property(key.to_owned()), false)
        }
    };
    Ok(Sort {
        by,
        descending: descending != is_reversed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_criterion_has_a_default_direction_and_can_be_reversed() {
        let sorts = parse(Some("modified, -path, note.name, -due")).unwrap();
        let parsed: Vec<(SortBy, bool)> = sorts
            .into_iter()
            .map(|sort| (sort.by, sort.descending))
            .collect();
        assert_eq!(
            parsed,
            [
                (SortBy::Modified, true),
                (SortBy::Path, true),
                (SortBy::Property("name".into()), false),
                (SortBy::Property("due".into()), true)
            ]
        );
        assert_eq!(parse(Some(" ")).unwrap(), []);
        assert!(parse(Some("a,,b")).is_err() && parse(Some("a,b,c,d,e,f")).is_err());
    }
}
