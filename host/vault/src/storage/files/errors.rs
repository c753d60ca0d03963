//! Errors of the operating system in the caller's terms.

use std::io;

use notehost_platform::errors::{Cause, cause};
use notehost_sdk::Code;

use crate::error::VaultError;

impl VaultError {
    /// The error for a failed operation at a path.
    pub(in crate::storage) fn io(path: &str, error: &io::Error) -> Self {
        match cause(error) {
            Cause::Full => {
                VaultError::new(Code::Unavailable, "the disk is full; nothing was changed")
                    .with_hint("free some space on the disk that holds the vault")
            }
            Cause::Denied => VaultError::read_only(path),
            Cause::LongName => {
                VaultError::invalid(format!("the name of `{path}` is too long for the disk"))
            }
            Cause::Absent => VaultError::absent(path),
            Cause::TooManyFiles => {
                VaultError::new(Code::Unavailable, "too many files are open; try again")
            }
            Cause::Link | Cause::Other => VaultError::new(
                Code::Unavailable,
                format!("disk error at `{path}`: {}", error.kind()),
            ),
        }
    }
}
