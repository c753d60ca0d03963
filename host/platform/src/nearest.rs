//! Suggestions for misspelt names: commands, config keys, tools, arguments.

/// Comparing takes the product of both lengths. No name is this long, and a caller chooses the misspelt one.
const MAX_COMPARED_BYTES: usize = 256;
/// So many letters may be wrong in a short name; in a long one a third of its letters.
const MIN_TOLERANCE: usize = 2;

/// The known name nearest to a misspelt one, if any is near enough.
pub fn nearest<'a>(misspelt: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    near(misspelt, known)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// The known names that are as near to a misspelt one as the nearest is, or farther by one letter; the nearest first. At
/// most `max` names.
pub fn nearest_names<'a>(
    misspelt: &str,
    known: impl IntoIterator<Item = &'a str>,
    max: usize,
) -> Vec<&'a str> {
    let mut found: Vec<(usize, &str)> = near(misspelt, known).collect();
    found.sort_by_key(|(distance, _)| *distance);
    let best = found.first().map_or(0, |(distance, _)| *distance);
    found.retain(|(distance, _)| *distance <= best + 1);
    let mut names: Vec<&str> = found.into_iter().map(|(_, name)| name).collect();
    names.dedup();
    names.truncate(max);
    names
}

/// The names that are near enough, with the number of letters to change.
fn near<'a>(
    misspelt: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> impl Iterator<Item = (usize, &'a str)> {
    let compared = (misspelt.len() <= MAX_COMPARED_BYTES).then(|| plain(misspelt));
    let known = compared.is_some().then(|| known.into_iter());
    let compared = compared.unwrap_or_default();
    known.into_iter().flatten().filter_map(move |name| {
        let distance = strsim::damerau_levenshtein(&compared, &plain(name));
        let letters = name.chars().count();
        // Something of both names has to be the same.
        let shorter = letters.min(compared.chars().count());
        let is_near = distance <= MIN_TOLERANCE.max(letters / 3) && distance < shorter;
        is_near.then_some((distance, name))
    })
}

/// Names are compared without case and without the difference between `-` and `_`.
fn plain(name: &str) -> String {
    name.to_lowercase().replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_find_the_nearest_name_and_other_words_none() {
        let known = ["permissions", "path", "id", "keep_days"];
        assert_eq!(nearest("permision", known), Some("permissions"));
        assert_eq!(nearest("paht", known), Some("path"));
        assert_eq!(nearest("keep-day", known), Some("keep_days"));
        assert_eq!(nearest("zz", known), None);
        assert_eq!(nearest("up", ["out", "in", "both"]), None);
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest(&"path".repeat(100), known), None);
    }

    #[test]
    fn several_names_are_sorted_by_distance() {
        let known = ["block", "document", "block_add", "blocks", "clock"];
        assert_eq!(nearest_names("bloks", known, 3), ["blocks", "block"]);
        assert_eq!(
            nearest_names("blok", known, 3),
            ["block", "blocks", "clock"]
        );
        assert_eq!(nearest_names("blok", known, 1), ["block"]);
        assert!(nearest_names("nothing", known, 3).is_empty());
    }
}
