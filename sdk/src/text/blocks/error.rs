//! Errors of editing blocks.

use crate::text::TextError;
use crate::{Code, Error};

/// Why a block could not be changed. The note is unchanged whenever this is returned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// The note is too large to be parsed.
    #[error(
        "the note is too large to parse into blocks: {bytes} bytes, at most {limit}; use `document`"
    )]
    TooLarge {
        /// The size of the note, or of its skeleton.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The text is empty.
    #[error("`text` is empty: {advice}")]
    Empty {
        /// What to do instead.
        advice: &'static str,
    },
    /// With this change, other blocks would be parsed differently.
    #[error(
        "this would change how {what} is parsed; check `text` for an unclosed code fence, comment or HTML tag"
    )]
    Disturbs {
        /// The block that would change.
        what: String,
    },
    /// The text does not form a separate block at that place.
    #[error("`text` does not form a separate block there: {why}")]
    NotABlock {
        /// What it would become instead.
        why: String,
    },
    /// A block cannot be placed there.
    #[error("{0}")]
    BadPlace(String),
    /// The operation is not supported for this kind of block.
    #[error("{0}")]
    Unsuited(String),
}

impl BlockError {
    /// The error code that callers see.
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
