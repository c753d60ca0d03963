//! The only access to the YAML parsers. They have no effective limits: their time is quadratic in the nesting, and aliases
//! multiply memory. So YAML is measured first, in one pass over its bytes (`scan`), and rejected if it exceeds a limit.

use std::fmt;

use yaml_edit::YamlFile;

mod scan;

/// The maximum size of YAML.
pub const MAX_BYTES: usize = 256 << 10;
/// The maximum nesting of lists and mappings.
pub const MAX_DEPTH: usize = 64;
/// The maximum number of nodes: values, keys, lists and mappings, with aliases expanded. Indicators whose value may be
/// omitted (`-`, `:`, `,`) count as well.
pub const MAX_NODES: usize = 30_000;
/// The maximum number of aliases (`*name`).
pub const MAX_ALIASES: usize = 100;
/// The maximum size of YAML with its aliases expanded.
pub const MAX_EXPANDED_BYTES: usize = 512 << 10;

/// The limit that some YAML exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum YamlLimit {
    /// [`MAX_BYTES`]
    Bytes,
    /// [`MAX_DEPTH`]
    Depth,
    /// [`MAX_NODES`]
    Nodes,
    /// [`MAX_ALIASES`]
    Aliases,
    /// [`MAX_EXPANDED_BYTES`], or a recursive alias.
    Expansion,
}

impl fmt::Display for YamlLimit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes => write!(out, "at most {MAX_BYTES} bytes"),
            Self::Depth => write!(out, "at most {MAX_DEPTH} nested levels"),
            Self::Nodes => write!(out, "at most {MAX_NODES} values"),
            Self::Aliases => write!(out, "at most {MAX_ALIASES} aliases"),
            Self::Expansion => {
                write!(
                    out,
                    "at most {MAX_EXPANDED_BYTES} bytes with aliases expanded"
                )
            }
        }
    }
}

/// Why YAML was not parsed.
pub(crate) enum Refused {
    Limit(YamlLimit),
    Syntax(yaml_serde::Error),
}

/// Whether YAML is within all limits.
///
/// # Errors
/// The limit that it exceeds.
pub fn check(yaml: &str) -> Result<(), YamlLimit> {
    scan::measure(yaml).map(drop)
}

/// Parses YAML to values.
pub(crate) fn values(yaml: &str) -> Result<yaml_serde::Value, Refused> {
    check(yaml).map_err(Refused::Limit)?;
    yaml_serde::from_str(yaml).map_err(Refused::Syntax)
}

/// Parses YAML to a syntax tree with positions.
pub(crate) fn tree(yaml: &str) -> Option<YamlFile> {
    check(yaml).ok()?;
    Some(YamlFile::parse(yaml).tree())
}

#[cfg(test)]
mod tests;
