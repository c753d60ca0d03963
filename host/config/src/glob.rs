//! Globs over paths of a vault.

use notehost_vault::fold_path;

/// A glob over folded paths: case and Unicode spelling do not matter, `*` stays within a folder. Or why it is none.
pub fn glob(text: &str) -> Result<globset::GlobMatcher, String> {
    globset::GlobBuilder::new(&fold_path(text))
        .literal_separator(true)
        .backslash_escape(false)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| error.kind().to_string())
}
