//! Static bearer tokens: created by `notehost token new`, shown once, stored as hashes, revocable at any time.
//!
//! A token is 200 random bits, so a plain BLAKE3 of it is enough: there is no dictionary to try, and a slow hash would
//! only make every request slow.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use subtle::ConstantTimeEq as _;

use notehost_config::CallerPermissions;
use notehost_platform::clock::now_ms;
use notehost_platform::random::{self, RandomError};
use notehost_records::RecordsError;
use notehost_records::store::{RecordsVersion, TokenRecord, TokenRecords};

use super::{Caller, NAMES_OF_PLACES, OWNER, Scopes, VaultBinding};

/// The prefix of every token, so that people and secret scanners recognize one.
pub(super) const PREFIX: &str = "nh_";

/// How many letters follow, of five bits each.
pub(super) const LETTERS: usize = 40;

/// How often a token's last use is stored at most.
const LAST_USE_INTERVAL_MS: i64 = 60_000;

/// The created tokens.
pub struct Tokens {
    pub(super) records: Arc<dyn TokenRecords>,
    /// The folder with the file of the owner's token.
    pub(super) state: PathBuf,
    known: Mutex<Known>,
    /// Tokens are never deleted, so this never becomes false again.
    any: AtomicBool,
}

/// Cache of the tokens used since the records last changed.
#[derive(Default)]
struct Known {
    version: Option<RecordsVersion>,
    by_hash: HashMap<[u8; 32], ValidToken>,
}

/// A valid token.
struct ValidToken {
    hash: [u8; 32],
    caller: Caller,
    expires: Option<i64>,
    last_used: Option<i64>,
}

/// The properties of a new token.
#[derive(Debug, Clone)]
pub struct NewToken {
    /// The name of its caller.
    pub name: String,
    /// What it may do at all.
    pub scopes: Scopes,
    /// The vaults it is bound to.
    pub vaults: VaultBinding,
    /// What it may do in which notebook.
    pub permissions: Option<CallerPermissions>,
    /// When it ends, in milliseconds since 1970.
    pub expires: Option<i64>,
    /// Whether its client is trusted to ask its user.
    pub attended: bool,
}

/// A stored token, without its secret.
#[derive(Debug, Clone)]
pub struct Token {
    /// Its properties.
    pub made: NewToken,
    /// When it was created.
    pub created: i64,
    /// When it was last used.
    pub last_used: Option<i64>,
    /// When it was revoked.
    pub revoked: Option<i64>,
}

/// Why a token cannot be created or revoked.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The name is taken.
    #[error("the token `{0}` already exists")]
    NameTaken(String),
    /// The name is invalid.
    #[error(
        "`{0}` is not a valid token name: use at most 64 letters, digits, `-`, `_` or `.`, and not stdio, http or cli"
    )]
    BadName(String),
    /// There is none.
    #[error("no token `{0}`")]
    Unknown(String),
    /// The system's random number generator failed.
    #[error("the token cannot be created: {0}")]
    Random(#[from] RandomError),
    /// The file with the text of the owner's token cannot be written or removed.
    #[error("the owner's token in `{}` cannot be written or removed: {reason}", path.display())]
    File {
        /// Where it is.
        path: PathBuf,
        /// The error of the system.
        reason: io::Error,
    },
    /// The records cannot be used.
    #[error(transparent)]
    Records(#[from] RecordsError),
}

impl Tokens {
    /// The tokens in these records. The state folder has the file of the owner's token.
    pub fn new(records: Arc<dyn TokenRecords>, state: &Path) -> Tokens {
        Tokens {
            records,
            state: state.to_owned(),
            known: Mutex::default(),
            any: AtomicBool::new(false),
        }
    }

    /// Whether one was ever created, expired and revoked ones included.
    pub fn any(&self) -> Result<bool, RecordsError> {
        if self.any.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let any = self.records.any_token()?;
        self.any.store(any, Ordering::Relaxed);
        Ok(any)
    }

    /// Creates a token and returns its only copy. A name is never reused, so that audit records stay unambiguous.
    pub fn make(&self, new: &NewToken) -> Result<String, TokenError> {
        if !is_name(&new.name) {
            return Err(TokenError::BadName(new.name.clone()));
        }
        let secret = format!("{PREFIX}{}", random::id(LETTERS)?);
        match self.records.insert_token(&new.record(&secret))? {
            false => Err(TokenError::NameTaken(new.name.clone())),
            true => Ok(secret),
        }
    }

    /// All tokens, including revoked and expired ones, the oldest first.
    pub fn list(&self) -> Result<Vec<Token>, RecordsError> {
        self.records.tokens()?.into_iter().map(Token::of).collect()
    }

    /// Revokes a token. Revoking it again is not an error.
    pub fn revoke(&self, name: &str) -> Result<(), TokenError> {
        let is_revoked = self.records.revoke_token(name, now_ms())?;
        // The version of the records shows only what others have written.
        *self.known.lock() = Known::default();
        match is_revoked {
            false => Err(TokenError::Unknown(name.to_owned())),
            true if name == OWNER => self.forget_owner(),
            true => Ok(()),
        }
    }

    /// The names of the tokens that were revoked.
    pub fn revoked(&self) -> Result<HashSet<String>, RecordsError> {
        self.records.revoked_tokens()
    }

    /// The caller of a token, if it is valid.
    pub fn caller(&self, secret: &str) -> Result<Option<Caller>, RecordsError> {
        let hash = hash_of(secret);
        // Read before any lookup: what is found may be newer than this version, never older.
        let version = self.records.records_version()?;
        let mut known = self.known.lock();
        if known.version != Some(version) {
            *known = Known {
                version: Some(version),
                by_hash: HashMap::new(),
            };
        }
        let token = match known.by_hash.entry(hash) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => match self.records.unrevoked_token(&hash)? {
                Some(record) => unknown.insert(ValidToken::of(record)?),
                None => return Ok(None),
            },
        };
        let now = now_ms();
        let is_same = bool::from(token.hash.ct_eq(&hash));
        if !is_same || token.expires.is_some_and(|expires| expires <= now) {
            return Ok(None);
        }
        if token
            .last_used
            .is_none_or(|last| now - last >= LAST_USE_INTERVAL_MS)
        {
            token.last_used = Some(now);
            self.note_use(token.caller.name(), now);
        }
        Ok(Some(token.caller.clone()))
    }

    fn note_use(&self, name: &str, now: i64) {
        // A use that cannot be stored must not refuse the call.
        if let Err(error) = self.records.store_token_use(name, now) {
            tracing::warn!(%error, "the last use of a token could not be stored");
        }
    }
}

impl NewToken {
    /// The record of a new token with this secret.
    pub(super) fn record(&self, secret: &str) -> TokenRecord {
        TokenRecord {
            name: self.name.clone(),
            hash: hash_of(secret),
            scopes: self.scopes.to_string(),
            vaults: self.vaults.clone(),
            permissions: self.permissions.clone(),
            is_attended: self.attended,
            created: now_ms(),
            expires: self.expires,
            last_used: None,
            revoked: None,
        }
    }
}

impl Token {
    fn of(record: TokenRecord) -> Result<Token, RecordsError> {
        // Unreadable scopes must not become a token that may do more.
        let scopes = record.scopes.parse().map_err(|error| {
            RecordsError::unreadable(format!("the scopes of the token `{}`", record.name), error)
        })?;
        Ok(Token {
            made: NewToken {
                name: record.name,
                scopes,
                vaults: record.vaults,
                permissions: record.permissions,
                expires: record.expires,
                attended: record.is_attended,
            },
            created: record.created,
            last_used: record.last_used,
            revoked: record.revoked,
        })
    }
}

impl ValidToken {
    fn of(record: TokenRecord) -> Result<ValidToken, RecordsError> {
        let hash = record.hash;
        let Token {
            made, last_used, ..
        } = Token::of(record)?;
        Ok(ValidToken {
            hash,
            expires: made.expires,
            last_used,
            caller: Caller::with_token(&made.name, made.scopes, made.vaults, made.permissions)
                .until(made.expires)
                .attended(made.attended),
        })
    }
}

fn hash_of(secret: &str) -> [u8; 32] {
    blake3::hash(secret.as_bytes()).into()
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty()
        && name.len() <= 64
        && name.chars().all(plain)
        && !NAMES_OF_PLACES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use notehost_records::Records;

    fn laptop() -> NewToken {
        NewToken {
            name: "laptop".into(),
            scopes: "read,document:write".parse().expect("scopes"),
            vaults: VaultBinding::Only(vec!["main".into()]),
            permissions: None,
            expires: None,
            attended: false,
        }
    }

    fn records() -> (tempfile::TempDir, Arc<dyn Records>) {
        let folder = tempfile::tempdir().expect("a folder");
        let records = notehost_records::open(folder.path()).expect("records");
        (folder, records)
    }

    #[test]
    fn a_token_names_its_caller_until_it_is_revoked_elsewhere() {
        let (folder, records) = records();
        let elsewhere = Tokens::new(records.reopen().expect("records"), folder.path());
        let tokens = Tokens::new(records, folder.path());
        assert!(!tokens.any().expect("records"));
        let secret = elsewhere.make(&laptop()).expect("a token");
        assert!(secret.starts_with("nh_") && secret.len() == 43, "{secret}");
        assert!(tokens.any().expect("records"));

        for _ in 0..2 {
            let caller = tokens.caller(&secret).expect("records").expect("a caller");
            assert_eq!(caller.name(), "laptop");
            assert_eq!(caller.scopes().to_string(), "read document:write");
            let main = VaultBinding::Only(vec!["main".to_owned()]);
            assert_eq!(caller.vaults(), &main);
        }
        let listed = elsewhere.list().expect("records");
        assert!(listed[0].last_used.is_some());
        assert!(tokens.caller("nh_other").expect("records").is_none());

        elsewhere.revoke("laptop").expect("it is there");
        assert!(tokens.caller(&secret).expect("records").is_none());
        assert!(tokens.any().expect("records"));
        assert!(matches!(
            elsewhere.make(&laptop()),
            Err(TokenError::NameTaken(_))
        ));
        assert!(matches!(
            elsewhere.revoke("phone"),
            Err(TokenError::Unknown(_))
        ));
    }

    #[test]
    fn the_vaults_of_a_token_are_kept() {
        let (folder, records) = records();
        let tokens = Tokens::new(records, folder.path());
        for (name, vaults) in [
            ("default", VaultBinding::Default),
            ("all", VaultBinding::All),
            ("none", VaultBinding::Only(Vec::new())),
            // The id of a vault may be the word for all.
            ("one", VaultBinding::Only(vec!["all".into()])),
        ] {
            let new = NewToken {
                name: name.into(),
                vaults: vaults.clone(),
                ..laptop()
            };
            let secret = tokens.make(&new).expect("a token");
            let caller = tokens.caller(&secret).expect("records").expect("a caller");
            assert_eq!(caller.vaults(), &vaults);
        }
    }

    #[test]
    fn tokens_expire() {
        let (folder, records) = records();
        let tokens = Tokens::new(records, folder.path());
        let ended = NewToken {
            expires: Some(now_ms() - 1),
            ..laptop()
        };
        let secret = tokens.make(&ended).expect("a token");
        assert!(tokens.caller(&secret).expect("records").is_none());
    }

    #[test]
    fn only_token_hashes_are_stored() {
        let (folder, records) = records();
        let tokens = Tokens::new(records, folder.path());
        let secret = tokens.make(&laptop()).expect("a token");
        for file in std::fs::read_dir(folder.path()).expect("a folder") {
            let bytes = std::fs::read(file.expect("a file").path()).expect("its bytes");
            assert!(memchr::memmem::find(&bytes, secret.as_bytes()).is_none());
        }
    }

    #[test]
    fn token_names_are_plain_and_not_reserved() {
        for (name, does) in [
            ("laptop-2.home_x", true),
            ("", false),
            ("a b", false),
            ("stdio", false),
            ("http", false),
            ("ä", false),
            (&"x".repeat(65), false),
        ] {
            assert_eq!(is_name(name), does, "{name}");
        }
    }
}
