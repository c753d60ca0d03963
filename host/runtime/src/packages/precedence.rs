//! Which of two versions is the older one, by the precedence rules of Semantic Versioning. Versions are whatever a
//! component says: those that are not numbers have no order.

use std::cmp::Ordering;

/// Whether a version is older than another; `None` if that cannot be known.
pub fn is_older(version: &str, than: &str) -> Option<bool> {
    match (parse(version), parse(than)) {
        (Some(version), Some(than)) => Some(compare(&version, &than) == Ordering::Less),
        _ => (version == than).then_some(false),
    }
}

/// Numbers, and what makes it a pre-release.
type Parsed<'a> = (Vec<u64>, Vec<&'a str>);

fn parse(version: &str) -> Option<Parsed<'_>> {
    let version = version.trim().trim_start_matches(['v', 'V']);
    // Build metadata has no precedence.
    let version = version
        .split_once('+')
        .map_or(version, |(before, _)| before);
    let (numbers, pre) = version.split_once('-').unwrap_or((version, ""));
    let mut numbers: Vec<u64> = numbers
        .split('.')
        .map(|number| number.parse().ok())
        .collect::<Option<_>>()?;
    // `1` and `1.0.0` are the same version.
    while numbers.last() == Some(&0) {
        numbers.pop();
    }
    let pre = pre.split('.').filter(|part| !part.is_empty()).collect();
    Some((numbers, pre))
}

fn compare(one: &Parsed<'_>, other: &Parsed<'_>) -> Ordering {
    let by_pre = match (one.1.is_empty(), other.1.is_empty()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => compare_pre(&one.1, &other.1),
    };
    one.0.cmp(&other.0).then(by_pre)
}

fn compare_pre(one: &[&str], other: &[&str]) -> Ordering {
    for (one, other) in one.iter().zip(other) {
        let order = match (one.parse::<u64>(), other.parse::<u64>()) {
            (Ok(one), Ok(other)) => one.cmp(&other),
            (Ok(_), Err(_)) => Ordering::Less,
            (Err(_), Ok(_)) => Ordering::Greater,
            (Err(_), Err(_)) => one.cmp(other),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    one.len().cmp(&other.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_the_order_of_semantic_versioning() {
        let ascending = [
            "0.9.12",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0",
            "1.0.1",
            "1.2",
            "1.10.0",
            "v2.0.0+build.7",
        ];
        for (place, older) in ascending.iter().enumerate() {
            for newer in &ascending[place + 1..] {
                assert_eq!(is_older(older, newer), Some(true), "{older} < {newer}");
                assert_eq!(is_older(newer, older), Some(false), "{newer} > {older}");
            }
        }
    }

    #[test]
    fn the_same_is_not_older_and_the_unreadable_cannot_be_compared() {
        for (version, than, is_expected) in [
            ("1", "1.0.0", Some(false)),
            ("1.0.0+a", "1.0.0+b", Some(false)),
            ("tuesday", "tuesday", Some(false)),
            ("tuesday", "1.0.0", None),
            ("1.0.0", "", None),
            ("1..0", "2", None),
            ("99999999999999999999999", "1", None),
        ] {
            assert_eq!(is_older(version, than), is_expected, "{version} {than}");
        }
    }
}
