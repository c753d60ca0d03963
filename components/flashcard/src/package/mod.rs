//! Anki packages: a zip archive with an SQLite file and media. Vaults and notes are not handled here.

pub(crate) mod anki;
pub(crate) mod archive;
pub(crate) mod html;
pub(crate) mod sqlite;

/// The error for a package that cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PackageError {
    /// The package is invalid.
    Invalid(String),
    /// The package exceeds the memory limits.
    TooLarge(String),
}

impl PackageError {
    /// Creates a [`PackageError::Invalid`].
    pub(crate) fn invalid(what: impl Into<String>) -> PackageError {
        PackageError::Invalid(what.into())
    }
}
