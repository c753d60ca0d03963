//! Globs over paths of a vault.

use notehost_vault::fold_path;

/// Compiles a glob over folded paths: case and Unicode normalization do not matter, `*` stays within a folder. The error
/// is the reason why it is invalid.
pub fn glob(text: &str) -> Result<globset::GlobMatcher, String> {
    globset::GlobBuilder::new(&fold_path(text))
        .literal_separator(true)
        .backslash_escape(false)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| error.kind().to_string())
}
