//! The order that a caller asks for: `modified`, `-due, path`.

use notehost_sdk::index::{Sort, SortBy};
use notehost_sdk::{Error, Result};

/// How many criteria make sense.
const MOST: usize = 5;

/// Names with `,` between; `-` before one turns it round. Scores, times, sizes and counts of links come with the greatest
/// first, everything else with the least.
pub(crate) fn parse(text: Option<&str>) -> Result<Vec<Sort>> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok(Vec::new());
    };
    let criteria: Vec<&str> = text.split(',').map(str::trim).collect();
    if criteria.len() > MOST {
        return Err(Error::validation(format!(
            "`sort` has {} criteria, and {MOST} are the most",
            criteria.len()
        )));
    }
    criteria.into_iter().map(criterion).collect()
}

fn criterion(text: &str) -> Result<Sort> {
    let (is_turned, name) = match text.strip_prefix('-') {
        Some(name) => (true, name.trim()),
        None => (false, text),
    };
    if name.is_empty() {
        return Err(Error::validation(
            "`sort` has an empty criterion: write `relevance`, `modified`, `path`, `name`, `size`, or a property, with `,` between",
        ));
    }
    let (by, greatest_first) = match name {
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
        descending: greatest_first != is_turned,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_comes_first_where_that_is_meant() {
        let sorts = parse(Some("modified, -path, note.name, -due")).unwrap();
        let told: Vec<(SortBy, bool)> = sorts
            .into_iter()
            .map(|sort| (sort.by, sort.descending))
            .collect();
        assert_eq!(
            told,
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
