//! When two names are the same name: whatever their Unicode spelling and their case, as Obsidian, macOS and Windows
//! see it.

use unicode_normalization::UnicodeNormalization as _;

/// A name with its Unicode spelling and case folded away, for comparing.
pub fn fold_name(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    caseless::default_case_fold_str(&name.nfc().collect::<String>())
        .nfc()
        .collect()
}
