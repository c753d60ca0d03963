//! Static bearer tokens, stored as hashes.

use std::collections::HashSet;
use std::io;

use notehost_config::CallerPermissions;

use super::RecordsError;

/// The vaults that a caller may use.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum VaultBinding {
    /// Only the default vault: its token names none.
    #[default]
    Default,
    /// All.
    All,
    /// Those with these ids.
    Only(Vec<String>),
}

/// A stored token.
#[derive(Debug, Clone)]
pub struct TokenRecord {
    /// The name of its caller; unique, and never reused.
    pub name: String,
    /// The hash of the secret.
    pub hash: [u8; 32],
    /// The scopes, as text.
    pub scopes: String,
    /// The vaults that it is bound to.
    pub vaults: VaultBinding,
    /// Permissions in place of those of the config.
    pub permissions: Option<CallerPermissions>,
    /// Whether its client is trusted to ask its user.
    pub is_attended: bool,
    /// When it was created, in milliseconds since 1970.
    pub created: i64,
    /// When it expires.
    pub expires: Option<i64>,
    /// When it was last used.
    pub last_used: Option<i64>,
    /// When it was revoked.
    pub revoked: Option<i64>,
}

/// Compares equal as long as no other process has changed the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordsVersion(
    /// A number with no meaning of its own.
    pub i64,
);

/// The outcome of storing the first token.
#[derive(Debug)]
pub enum FirstToken {
    /// It is stored.
    Stored,
    /// A token had been stored before.
    NotFirst,
    /// Its secret could not be published, and it is not stored.
    NotPublished(io::Error),
}

/// The tokens. They are never deleted, so that names in the audit log stay unambiguous.
pub trait TokenRecords: Send + Sync {
    /// The version of the records. What was read after it may be cached until it changes; changes made through this handle
    /// do not change it.
    fn records_version(&self) -> Result<RecordsVersion, RecordsError>;

    /// Whether a token was ever stored, also if it is revoked.
    fn any_token(&self) -> Result<bool, RecordsError>;

    /// Stores a token. Returns `false` if the name is taken.
    fn insert_token(&self, token: &TokenRecord) -> Result<bool, RecordsError>;

    /// Stores a token if none was ever stored. `publish` runs when this is certain and before the token is valid; meanwhile
    /// no other process can store one or run its own `publish`. If it fails, or the process crashes after it, no token is
    /// stored.
    fn insert_first_token(
        &self,
        token: &TokenRecord,
        publish: &mut dyn FnMut() -> io::Result<()>,
    ) -> Result<FirstToken, RecordsError>;

    /// All tokens, also revoked and expired ones, the oldest first.
    fn tokens(&self) -> Result<Vec<TokenRecord>, RecordsError>;

    /// The token with this hash, unless it was revoked.
    fn unrevoked_token(&self, hash: &[u8; 32]) -> Result<Option<TokenRecord>, RecordsError>;

    /// The names of the revoked tokens.
    fn revoked_tokens(&self) -> Result<HashSet<String>, RecordsError>;

    /// Revokes a token; one that is revoked keeps its time. Returns `false` if there is none.
    fn revoke_token(&self, name: &str, now: i64) -> Result<bool, RecordsError>;

    /// Stores when a token was last used.
    fn store_token_use(&self, name: &str, now: i64) -> Result<(), RecordsError>;
}
