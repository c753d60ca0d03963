//! Anki's packages: a zip with an SQLite file and media. Nothing here knows a vault or a note.

pub(crate) mod anki;
pub(crate) mod archive;
pub(crate) mod html;
pub(crate) mod sqlite;

/// Why a package cannot be read or made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Broken {
    /// It is not what it should be.
    Not(String),
    /// It would not fit into memory.
    TooLarge(String),
}

impl Broken {
    /// It is not what it should be.
    pub(crate) fn not(what: impl Into<String>) -> Broken {
        Broken::Not(what.into())
    }
}
