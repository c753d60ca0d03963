//! Suggestions for misspelt names.

/// The known name nearest to a misspelt one, if any is near enough.
pub fn nearest<'a>(misspelt: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let misspelt = plain(misspelt);
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&misspelt, &plain(name)), name))
        // A third of a name may be wrong, and at least two letters.
        .filter(|(distance, name)| {
            *distance <= 2.max(name.chars().count() / 3) && *distance < name.chars().count()
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Names are compared without case and without the difference between `-` and `_`.
fn plain(name: &str) -> String {
    name.to_lowercase().replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn typos_find_the_nearest_name_and_other_words_none() {
        let known = ["permissions", "path", "id", "keep_days"];
        assert_eq!(nearest("permision", known), Some("permissions"));
        assert_eq!(nearest("paht", known), Some("path"));
        assert_eq!(nearest("keep-day", known), Some("keep_days"));
        assert_eq!(nearest("zz", known), None);
        assert_eq!(nearest("colour", known), None);
    }
}
