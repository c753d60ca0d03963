//! The only way to a YAML parser. What is handed to one is measured first, in one pass over its bytes (`scan`), because
//! the parsers themselves have no limits that help: their time is quadratic in the nesting, and aliases multiply what is
//! kept. Everything over a limit is refused before a parser sees it.

use std::fmt;

use yaml_edit::YamlFile;

mod scan;

/// The largest YAML that is parsed, in bytes.
pub const MAX_BYTES: usize = 256 << 10;
/// How deep lists and mappings may nest.
pub const MAX_DEPTH: usize = 64;
/// How many nodes there may be: values, keys, lists and mappings, with aliases expanded. Marks after which a value may be
/// left out (`-`, `:`, `,`) count as well.
pub const MAX_NODES: usize = 30_000;
/// How many aliases (`*name`) there may be.
pub const MAX_ALIASES: usize = 100;
/// How large the YAML may become when its aliases are replaced with what they stand for, in bytes.
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
    /// [`MAX_EXPANDED_BYTES`], or an alias within what it stands for.
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

/// Why there are no values.
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

/// What YAML stands for.
pub(crate) fn values(yaml: &str) -> Result<yaml_serde::Value, Refused> {
    check(yaml).map_err(Refused::Limit)?;
    yaml_serde::from_str(yaml).map_err(Refused::Syntax)
}

/// Where everything in it is written.
pub(crate) fn tree(yaml: &str) -> Option<YamlFile> {
    check(yaml).ok()?;
    Some(YamlFile::parse(yaml).tree())
}

#[cfg(test)]
mod tests;
