//! Comparison of names regardless of case and Unicode normalization, as in Obsidian, macOS and Windows.

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
