//! Globs over paths of a vault.

use notehost_vault::fold_path;
use notehost_vault::glob::Glob;

/// A glob over folded paths: case and Unicode spelling do not matter, `*` stays within a folder. Or why it is none.
pub fn glob(text: &str) -> Result<Glob, String> {
    Glob::new(&fold_path(text))
}
