//! What a storage reports of an entry: its kind, a stamp that detects changes without reading, and the digest of content.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

pub(crate) use notehost_platform::folder::Node;

/// How long after a change an equal stamp may still hide another one, where stamps are made of times.
const RACY: Duration = Duration::from_secs(2);

/// Identifies content: equal bytes have equal digests.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct Digest(pub(in crate::storage) [u8; 32]);

impl Digest {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Digest(*blake3::hash(bytes).as_bytes())
    }

    pub(crate) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Digest)
    }

    /// As callers see it.
    pub(crate) fn etag(&self) -> String {
        self.0[..12]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

/// Metadata that detects a change of a file without reading it. Only the storage that issued a stamp can interpret it;
/// everybody else compares it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Stamp {
    /// Identifies the file independently of its path.
    pub(in crate::storage) identity: u64,
    pub(in crate::storage) size: u64,
    /// Nanoseconds since 1970.
    pub(in crate::storage) modified: i128,
    /// Nanoseconds since 1970, or a version where [`Stamp::is_exact`] holds.
    pub(in crate::storage) changed: i128,
    /// Whether equal stamps always mean equal content.
    pub(in crate::storage) is_exact: bool,
}

impl Stamp {
    /// In bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// When the file was modified, in milliseconds since 1970.
    pub fn modified_millis(&self) -> u64 {
        u64::try_from(self.modified / 1_000_000).unwrap_or(0)
    }

    /// Whether a change after the stamp was taken at `seen` could leave it equal.
    pub fn is_racy(&self, seen: SystemTime) -> bool {
        if self.is_exact {
            return false;
        }
        let seen = seen
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |since| since.as_nanos() as i128);
        self.changed.max(self.modified) + RACY.as_nanos() as i128 > seen
    }

    /// Whether the content is the same if the file was at most renamed, which changes no time but that of the change.
    pub(in crate::storage) fn is_renamed_from(&self, earlier: &Stamp) -> bool {
        (self.identity, self.size, self.modified)
            == (earlier.identity, earlier.size, earlier.modified)
    }
}

/// What a storage reports of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Status {
    pub(crate) node: Node,
    pub(crate) stamp: Stamp,
    /// The permission bits, for history and undo.
    pub(crate) mode: u32,
    pub(in crate::storage) owner: (u32, u32),
}

impl Status {
    /// Whether its owner may write it. Derived from the mode, because root may write regardless of it.
    pub(crate) fn is_writable(&self) -> bool {
        self.mode & 0o200 != 0
    }
}
