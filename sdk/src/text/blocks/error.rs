//! Why a block could not be changed as asked.

use crate::text::TextError;
use crate::{Code, Error};

/// Why a block could not be changed. The note is unchanged whenever this is returned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// The structure of the note does not fit into memory.
    #[error(
        "the note is too large to be read by its blocks: {bytes} bytes, at most {limit}; use `document`"
    )]
    TooLarge {
        /// The size of the note, or of what decides its structure.
        bytes: usize,
        /// The largest size that works.
        limit: usize,
    },
    /// There is nothing to put there.
    #[error("`text` is empty: {advice}")]
    Empty {
        /// What to do instead.
        advice: &'static str,
    },
    /// With this change, other blocks would be read differently.
    #[error(
        "that would make something else of {what}; check `text` for a fence, comment or HTML that is not closed"
    )]
    Disturbs {
        /// Which block suffers.
        what: String,
    },
    /// The text does not become a block of its own at that place.
    #[error("`text` does not become a block of its own there: {why}")]
    NotABlock {
        /// What it becomes.
        why: String,
    },
    /// The place cannot take a block.
    #[error("{0}")]
    BadPlace(String),
    /// This cannot be done with a block of this kind.
    #[error("{0}")]
    Unsuited(String),
}

impl BlockError {
    /// The code that callers see.
    pub fn code(&self) -> Code {
        match self {
            BlockError::TooLarge { .. } => Code::TooLarge,
            BlockError::Unsuited(_) => Code::Unsupported,
            BlockError::Empty { .. }
            | BlockError::Disturbs { .. }
            | BlockError::NotABlock { .. }
            | BlockError::BadPlace(_) => Code::ValidationError,
        }
    }
}

impl From<TextError> for BlockError {
    fn from(error: TextError) -> BlockError {
        match error {
            TextError::TooLarge { bytes, limit } => BlockError::TooLarge { bytes, limit },
            other => BlockError::Unsuited(other.to_string()),
        }
    }
}

impl From<BlockError> for Error {
    fn from(error: BlockError) -> Error {
        Error::new(error.code(), error.to_string())
    }
}
