//! Names: compared regardless of case and Unicode normalization, as in Obsidian, macOS and Windows, and listed in messages.

use unicode_normalization::UnicodeNormalization as _;

/// A name in NFC and case-folded, for comparison.
pub fn fold_name(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    caseless::default_case_fold_str(&name.nfc().collect::<String>())
        .nfc()
        .collect()
}

/// Names in backticks, for a message: `` `a`, `b` ``.
pub fn quoted(names: impl IntoIterator<Item: std::fmt::Display>) -> String {
    let names = names.into_iter().map(|name| format!("`{name}`"));
    names.collect::<Vec<_>>().join(", ")
}

/// The first names in backticks and the number of the others, for a message: `` `a`, `b` and 3 more ``.
pub fn listed<T: std::fmt::Display>(names: &[T], most: usize) -> String {
    let shown = quoted(names.iter().take(most));
    match names.len().saturating_sub(most) {
        0 => shown,
        others => format!("{shown} and {others} more"),
    }
}
