//! The owner's token: created at the first start of an HTTP server that has no other way to authenticate a caller, so
//! that not every user and container of the machine has access. Its text is stored in a private file of the state
//! folder, where the command line of the same user finds it. All other tokens are stored as hashes only.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::tokens::{LETTERS, NewToken, PREFIX, TokenError, Tokens};
use super::{OWNER, Scopes, VaultBinding};
use notehost_platform::{private, random};
use notehost_records::store::FirstToken;

/// The file of the state folder with the token's text.
const FILE: &str = "owner-token";

/// The text of a token. It is never part of debug output.
pub struct OwnerToken(String);

impl OwnerToken {
    /// The token itself, for a header or for its owner's eyes.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The file of a state folder that keeps it.
    pub fn file_in(state: &Path) -> PathBuf {
        state.join(FILE)
    }

    /// The token in a state folder; `None` if there is none, or if others could have read or written the file.
    pub fn kept_in(state: &Path) -> Option<OwnerToken> {
        let file = File::open(OwnerToken::file_in(state)).ok()?;
        if !private::is_own_and_private(&file) {
            return None;
        }
        let mut text = String::new();
        file.take(256).read_to_string(&mut text).ok()?;
        let text = text.trim();
        let is_token = text.strip_prefix(PREFIX).is_some_and(|rest| {
            rest.len() == LETTERS && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        is_token.then(|| OwnerToken(text.to_owned()))
    }
}

impl fmt::Debug for OwnerToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("OwnerToken(…)")
    }
}

impl Tokens {
    /// Creates the owner's token with every scope, unless a token was ever created: revoking the last one is a
    /// deliberate decision.
    pub fn make_owner(&self) -> Result<Option<OwnerToken>, TokenError> {
        if self.any()? {
            return Ok(None);
        }
        let secret = format!("{PREFIX}{}", random::id(LETTERS)?);
        let path = OwnerToken::file_in(&self.state);
        let new = NewToken {
            name: OWNER.to_owned(),
            scopes: Scopes::everything(),
            vaults: VaultBinding::All,
            permissions: None,
            expires: None,
            // Anyone who can read the file has it: a person decides elsewhere.
            attended: false,
        };
        // Of two servers that start at once only one writes the file, and what a crash leaves is replaced by the next start.
        let mut publish = || private::replace_file(&path, format!("{secret}\n").as_bytes());
        let record = new.record(&secret);
        match self.records.insert_first_token(&record, &mut publish)? {
            FirstToken::Stored => Ok(Some(OwnerToken(secret))),
            FirstToken::NotFirst => Ok(None),
            FirstToken::NotPublished(reason) => Err(TokenError::File { path, reason }),
        }
    }

    /// Removes the text of the revoked owner's token.
    pub(super) fn forget_owner(&self) -> Result<(), TokenError> {
        let path = OwnerToken::file_in(&self.state);
        match fs::remove_file(&path) {
            Err(reason) if reason.kind() != io::ErrorKind::NotFound => {
                Err(TokenError::File { path, reason })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(state: &Path) -> Tokens {
        Tokens::new(notehost_records::open(state).expect("records"), state)
    }

    #[test]
    fn the_owner_token_is_created_once_and_removed_when_revoked() {
        let state = tempfile::tempdir().expect("a folder");
        let made = tokens(state.path()).make_owner().expect("records");
        let made = made.expect("the first start makes one");
        assert_eq!(format!("{made:?}"), "OwnerToken(…)");
        let kept = OwnerToken::kept_in(state.path()).expect("a file");
        assert_eq!(kept.reveal(), made.reveal());

        let again = tokens(state.path());
        assert!(again.make_owner().expect("records").is_none());
        let caller = again.caller(made.reveal()).expect("records");
        let caller = caller.expect("it holds");
        assert_eq!(caller.name(), OWNER);
        assert_eq!(caller.scopes(), &Scopes::everything());

        again.revoke(OWNER).expect("it is there");
        assert!(OwnerToken::kept_in(state.path()).is_none());
        assert!(!state.path().join(FILE).exists());
        assert!(again.make_owner().expect("records").is_none());
    }

    #[cfg(unix)]
    #[test]
    fn token_files_readable_by_others_are_ignored() {
        use std::os::unix::fs::PermissionsExt as _;
        let state = tempfile::tempdir().expect("a folder");
        tokens(state.path()).make_owner().expect("records");
        let file = state.path().join(FILE);
        let mode = |mode| fs::set_permissions(&file, fs::Permissions::from_mode(mode));
        mode(0o644).expect("a mode");
        assert!(OwnerToken::kept_in(state.path()).is_none());
        mode(0o600).expect("a mode");
        assert!(OwnerToken::kept_in(state.path()).is_some());
        fs::write(&file, "nh_short\n").expect("a file");
        assert!(OwnerToken::kept_in(state.path()).is_none());
    }
}
