//! Static bearer tokens: created by `notehost token new`, shown once, stored as hashes, revocable at any time.
//!
//! A token is 200 random bits, so a plain BLAKE3 of it is enough: there is no dictionary to try, and a slow hash would
//! only make every request slow.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use subtle::ConstantTimeEq as _;

use notehost_config::CallerPermissions;
use notehost_records::database::{Database, DatabaseError, now_ms, random_word};

use super::{Caller, NAMES_OF_PLACES, OWNER, Scopes};

/// The table of tokens.
pub const TOKENS_TABLE: &str = "
CREATE TABLE IF NOT EXISTS tokens (
    name TEXT PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    vaults TEXT,            -- JSON list of ids; NULL is all
    permissions TEXT,       -- JSON of CallerPermissions; NULL is as the config says
    created INTEGER NOT NULL,
    expires INTEGER,
    last_used INTEGER,
    revoked INTEGER,
    attended INTEGER NOT NULL DEFAULT 0 -- 1: its client is trusted to ask its user
) STRICT;";

/// The prefix of every token, so that people and secret scanners recognize one.
pub(super) const PREFIX: &str = "nh_";

/// How many letters follow, of five bits each.
pub(super) const LETTERS: usize = 40;

/// How often a token's last use is stored at most.
const LAST_USE_INTERVAL_MS: i64 = 60_000;

const COLUMNS: &str =
    "name, scopes, vaults, permissions, created, expires, last_used, revoked, attended";

/// The created tokens.
pub struct Tokens {
    pub(super) database: Arc<Database>,
    known: Mutex<Known>,
    /// Tokens are never deleted, so this never becomes false again.
    any: AtomicBool,
}

/// Cache of the tokens used since the records last changed.
#[derive(Default)]
struct Known {
    version: Option<i64>,
    by_hash: HashMap<[u8; 32], Holding>,
}

/// A valid token.
struct Holding {
    hash: [u8; 32],
    caller: Caller,
    expires: Option<i64>,
    last_used: Option<i64>,
}

/// The properties of a new token.
#[derive(Debug, Clone)]
pub struct NewToken {
    /// Names its caller.
    pub name: String,
    /// What it may do at all.
    pub scopes: Scopes,
    /// The vaults it is bound to.
    pub vaults: Option<Vec<String>>,
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
    /// What it was made with.
    pub made: NewToken,
    /// When it was made.
    pub created: i64,
    /// When it was last shown.
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
    Random(#[from] getrandom::Error),
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
    Database(#[from] DatabaseError),
}

impl Tokens {
    /// The tokens in these records.
    pub fn new(database: Arc<Database>) -> Tokens {
        Tokens {
            database,
            known: Mutex::default(),
            any: AtomicBool::new(false),
        }
    }

    /// Whether one was ever made, also one that no longer holds.
    pub fn any(&self) -> Result<bool, DatabaseError> {
        if self.any.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let any = self.database.with(|connection| {
            connection.query_row("SELECT EXISTS (SELECT 1 FROM tokens)", [], |row| row.get(0))
        })?;
        self.any.store(any, Ordering::Relaxed);
        Ok(any)
    }

    /// Creates a token and returns its only copy. A name is never reused, so that audit records stay unambiguous.
    pub fn make(&self, new: &NewToken) -> Result<String, TokenError> {
        if !is_name(&new.name) {
            return Err(TokenError::BadName(new.name.clone()));
        }
        let secret = format!("{PREFIX}{}", random_word(LETTERS)?);
        let made = self
            .database
            .with(|connection| insert(connection, new, &secret))?;
        match made {
            0 => Err(TokenError::NameTaken(new.name.clone())),
            _ => Ok(secret),
        }
    }

    /// All tokens, including revoked and expired ones, the oldest first.
    pub fn list(&self) -> Result<Vec<Token>, DatabaseError> {
        self.database.with(|connection| {
            let mut rows = connection.prepare(&format!(
                "SELECT {COLUMNS} FROM tokens ORDER BY created, name"
            ))?;
            rows.query_map([], token)?.collect()
        })
    }

    /// Revokes a token. Revoking it again is not an error.
    pub fn revoke(&self, name: &str) -> Result<(), TokenError> {
        let revoked = self.database.with(|connection| {
            connection.execute(
                "UPDATE tokens SET revoked = coalesce(revoked, ?2) WHERE name = ?1",
                params![name, now_ms()],
            )
        })?;
        // The records' version only tells what others have written.
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Known::default();
        match revoked {
            0 => Err(TokenError::Unknown(name.to_owned())),
            _ if name == OWNER => self.forget_owner(),
            _ => Ok(()),
        }
    }

    /// The names of the tokens that were revoked.
    pub fn revoked(&self) -> Result<HashSet<String>, DatabaseError> {
        self.database.with(|connection| {
            let mut rows =
                connection.prepare_cached("SELECT name FROM tokens WHERE revoked IS NOT NULL")?;
            rows.query_map([], |row| row.get(0))?.collect()
        })
    }

    /// The caller of a token, if it is valid.
    pub fn caller(&self, secret: &str) -> Result<Option<Caller>, DatabaseError> {
        let hash = hash_of(secret);
        // Asked before anything is looked up: what is found may be newer than this version, never older.
        let version = self.database.version()?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.version != Some(version) {
            *known = Known {
                version: Some(version),
                by_hash: HashMap::new(),
            };
        }
        let holding = match known.by_hash.entry(hash) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => match self.holding(hash)? {
                Some(holding) => unknown.insert(holding),
                None => return Ok(None),
            },
        };
        let now = now_ms();
        let is_same = bool::from(holding.hash.ct_eq(&hash));
        if !is_same || holding.expires.is_some_and(|expires| expires <= now) {
            return Ok(None);
        }
        if holding
            .last_used
            .is_none_or(|last| now - last >= LAST_USE_INTERVAL_MS)
        {
            holding.last_used = Some(now);
            self.note_use(holding.caller.name(), now);
        }
        Ok(Some(holding.caller.clone()))
    }

    /// The token with this hash, unless it was revoked.
    fn holding(&self, hash: [u8; 32]) -> Result<Option<Holding>, DatabaseError> {
        let found = self.database.with(|connection| {
            let mut row = connection.prepare_cached(&format!(
                "SELECT {COLUMNS}, hash FROM tokens WHERE hash = ?1 AND revoked IS NULL"
            ))?;
            row.query_row([hash], |row| Ok((token(row)?, row.get(9)?)))
                .optional()
        })?;
        Ok(found.map(
            |(
                Token {
                    made, last_used, ..
                },
                hash,
            )| Holding {
                hash,
                caller: Caller::with_token(&made.name, made.scopes, made.vaults, made.permissions)
                    .until(made.expires)
                    .attended(made.attended),
                expires: made.expires,
                last_used,
            },
        ))
    }

    fn note_use(&self, name: &str, now: i64) {
        let noted = self.database.with(|connection| {
            connection.execute(
                "UPDATE tokens SET last_used = ?2 WHERE name = ?1",
                params![name, now],
            )
        });
        // That a use is not written down is no reason to refuse it.
        if let Err(error) = noted {
            tracing::warn!(%error, "the last use of a token could not be stored");
        }
    }
}

/// Stores a token as its hash. Nothing is inserted if the name is taken.
pub(super) fn insert(
    connection: &Connection,
    new: &NewToken,
    secret: &str,
) -> rusqlite::Result<usize> {
    connection.execute(
        "INSERT INTO tokens (name, hash, scopes, vaults, permissions, created, expires, attended)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (name) DO NOTHING",
        params![
            new.name,
            hash_of(secret),
            new.scopes.to_string(),
            json(&new.vaults),
            json(&new.permissions),
            now_ms(),
            new.expires,
            new.attended,
        ],
    )
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

fn json<T: serde::Serialize>(value: &Option<T>) -> Option<String> {
    // Lists and maps of text can always be written.
    value
        .as_ref()
        .map(|value| serde_json::to_string(value).unwrap_or_default())
}

fn token(row: &Row<'_>) -> rusqlite::Result<Token> {
    // What cannot be read must not become a token that may do more.
    fn unreadable(
        column: usize,
        error: impl std::error::Error + Send + Sync + 'static,
    ) -> rusqlite::Error {
        rusqlite::Error::FromSqlConversionFailure(
            column,
            rusqlite::types::Type::Text,
            Box::new(error),
        )
    }
    let scopes: String = row.get(1)?;
    let vaults: Option<String> = row.get(2)?;
    let permissions: Option<String> = row.get(3)?;
    Ok(Token {
        made: NewToken {
            name: row.get(0)?,
            scopes: scopes.parse().map_err(|error| unreadable(1, error))?,
            vaults: vaults
                .map(|text| serde_json::from_str(&text))
                .transpose()
                .map_err(|error| unreadable(2, error))?,
            permissions: permissions
                .map(|text| serde_json::from_str(&text))
                .transpose()
                .map_err(|error| unreadable(3, error))?,
            expires: row.get(5)?,
            attended: row.get(8)?,
        },
        created: row.get(4)?,
        last_used: row.get(6)?,
        revoked: row.get(7)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laptop() -> NewToken {
        NewToken {
            name: "laptop".into(),
            scopes: "read,document:write".parse().expect("scopes"),
            vaults: Some(vec!["main".into()]),
            permissions: None,
            expires: None,
            attended: false,
        }
    }

    fn records() -> (tempfile::TempDir, Arc<Database>) {
        let folder = tempfile::tempdir().expect("a folder");
        let database = crate::open_records(folder.path()).expect("records");
        (folder, Arc::new(database))
    }

    #[test]
    fn a_token_names_its_caller_until_it_is_revoked_elsewhere() {
        let (_folder, database) = records();
        let elsewhere = Tokens::new(Arc::new(database.reopen().expect("records")));
        let tokens = Tokens::new(database);
        assert!(!tokens.any().expect("records"));
        let secret = elsewhere.make(&laptop()).expect("a token");
        assert!(secret.starts_with("nh_") && secret.len() == 43, "{secret}");
        assert!(tokens.any().expect("records"));

        for _ in 0..2 {
            let caller = tokens.caller(&secret).expect("records").expect("a caller");
            assert_eq!(caller.name(), "laptop");
            assert_eq!(caller.scopes().to_string(), "read document:write");
            assert_eq!(caller.vaults(), Some(&["main".to_owned()][..]));
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
    fn tokens_expire() {
        let (_folder, database) = records();
        let tokens = Tokens::new(database);
        let ended = NewToken {
            expires: Some(now_ms() - 1),
            ..laptop()
        };
        let secret = tokens.make(&ended).expect("a token");
        assert!(tokens.caller(&secret).expect("records").is_none());
    }

    #[test]
    fn only_token_hashes_are_stored() {
        let (folder, database) = records();
        let secret = Tokens::new(database).make(&laptop()).expect("a token");
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
