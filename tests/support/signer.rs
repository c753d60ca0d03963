//! Signs components like `minisign`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use blake2::{Blake2b512, Digest as _};
use ed25519_dalek::{Signer as _, SigningKey};

/// A publisher with its own key.
pub(crate) struct Signer {
    key: SigningKey,
    id: [u8; 8],
}

impl Signer {
    /// A publisher; the same number gives the same key.
    pub(crate) fn number(number: u8) -> Signer {
        Signer {
            key: SigningKey::from_bytes(&[number; 32]),
            id: [number; 8],
        }
    }

    /// The public key, as in a config.
    pub(crate) fn public_key(&self) -> String {
        let mut bytes = b"Ed".to_vec();
        bytes.extend(self.id);
        bytes.extend(self.key.verifying_key().as_bytes());
        STANDARD.encode(bytes)
    }

    /// The text of a `.minisig` file for these bytes.
    pub(crate) fn sign(&self, bytes: &[u8], comment: &str) -> String {
        let signature = self.key.sign(&Blake2b512::digest(bytes)).to_bytes();
        let mut first = b"ED".to_vec();
        first.extend(self.id);
        first.extend(signature);
        let mut whole = signature.to_vec();
        whole.extend(comment.as_bytes());
        let second = self.key.sign(&whole).to_bytes();
        format!(
            "untrusted comment: made by the tests\n{}\ntrusted comment: {comment}\n{}\n",
            STANDARD.encode(first),
            STANDARD.encode(second)
        )
    }
}
