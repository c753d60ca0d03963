//! A component offered for installation: fetched from a file or a registry, not yet inspected.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use notehost_runtime::MAX_COMPONENT_BYTES;
use notehost_runtime::packages::oci::{self, BadReference, OciError, Reference};
use notehost_runtime::packages::signature;

/// A component that somebody offers.
pub struct Offer {
    /// Its name in messages until its description is read.
    pub called: String,
    /// The component.
    pub bytes: Vec<u8>,
    /// Where it came from.
    pub source: String,
    /// The text of its signature, if it came with one.
    pub signature: Option<String>,
    /// The digest that it must have, `sha256:…`.
    pub digest: Option<String>,
}

/// Why a component could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum OfferError {
    /// The file cannot be read.
    #[error("`{}` cannot be read: {source}", .path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The reference is invalid.
    #[error(transparent)]
    Reference(#[from] BadReference),
    /// The registry did not return it.
    #[error(transparent)]
    Registry(#[from] OciError),
}

impl OfferError {
    /// A hint for the operator.
    pub fn hint(&self) -> Option<String> {
        match self {
            OfferError::Unreadable { .. } => None,
            OfferError::Reference(error) => Some(error.hint().to_owned()),
            OfferError::Registry(error) => error.hint(),
        }
    }
}

impl Offer {
    /// Fetches a component from `oci://…` or a file. Its signature is expected beside it, unless it is named.
    pub async fn fetch(from: &str, signature: Option<&Path>) -> Result<Offer, OfferError> {
        let named = signature.map(read_signature).transpose()?.flatten();
        if Reference::is_meant_by(from) {
            let reference: Reference = from.parse()?;
            let pulled = oci::pull(&reference).await?;
            return Ok(Offer {
                called: reference.name().to_owned(),
                bytes: pulled.bytes,
                source: from.to_owned(),
                signature: named.or(pulled.signature),
                digest: None,
            });
        }
        let path = std::path::absolute(from).unwrap_or_else(|_| PathBuf::from(from));
        let signature = match named {
            Some(named) => Some(named),
            None => read_signature(&signature::file_beside(&path))?,
        };
        let called = path.file_stem().unwrap_or_default().to_string_lossy();
        Ok(Offer {
            called: called.into_owned(),
            bytes: read(&path)?,
            source: path.display().to_string(),
            signature,
            digest: None,
        })
    }
}

/// Reads a file, up to one byte more than allowed.
fn read(path: &Path) -> Result<Vec<u8>, OfferError> {
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| {
        file.take(MAX_COMPONENT_BYTES as u64 + 1)
            .read_to_end(&mut bytes)
    });
    match read {
        Ok(_) => Ok(bytes),
        Err(source) => Err(OfferError::Unreadable {
            path: path.to_owned(),
            source,
        }),
    }
}

fn read_signature(path: &Path) -> Result<Option<String>, OfferError> {
    signature::read(path).map_err(|source| OfferError::Unreadable {
        path: path.to_owned(),
        source,
    })
}
