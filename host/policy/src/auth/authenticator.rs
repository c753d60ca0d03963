//! Who calls over HTTP: which proof the settings ask for, and whose proof it is. What a request looks like is
//! `transport`'s affair.

use std::path::PathBuf;
use std::sync::Arc;

use super::jwt::SignedTokens;
use super::tokens::PREFIX;
use super::{Caller, Tokens};
use notehost_config::{AuthMode, AuthSettings};
use notehost_records::database::DatabaseError;

/// Tells who calls over HTTP.
pub struct Authenticator {
    mode: AuthMode,
    tokens: Arc<Tokens>,
    signed: Option<SignedTokens>,
}

/// Why a request is not let in.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// It shows no token, and one is asked for.
    #[error("a token is required")]
    Missing,
    /// Its token does not hold. The reason is for the log.
    #[error("invalid token: {0}")]
    Invalid(String),
    /// Nobody can tell at the moment.
    #[error(transparent)]
    Unavailable(#[from] DatabaseError),
}

/// Why nobody could prove who they are.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// Signed tokens are asked for, and nothing could check them.
    #[error("`auth.mode` is `jwt`, but neither a secret nor keys are configured")]
    NothingToCheckWith,
    /// Any token of an issuer would be let in, whomever it was made for.
    #[error("signed tokens are configured without an audience")]
    NoAudience,
    /// Which one is meant?
    #[error("both `auth.jwt.secret_env` and `auth.jwt.secret_file` are set")]
    TwoSecrets,
    /// The shared secret cannot be used.
    #[error("the shared secret in {place} cannot be used: {reason}")]
    Secret {
        /// Where it is.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// The public keys cannot be used.
    #[error("the keys in `{}` cannot be used: {reason}", path.display())]
    Keys {
        /// Where they are.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The records cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

impl AuthError {
    /// What an admin can do.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            AuthError::NothingToCheckWith => {
                Some("set `auth.jwt.jwks_file`, `auth.jwt.secret_file` or `auth.jwt.secret_env`")
            }
            AuthError::NoAudience => Some(
                "set `auth.resource` to the URL that clients know this server by, or `auth.jwt.audience`",
            ),
            AuthError::TwoSecrets => Some("remove one of them"),
            AuthError::Secret { .. } => {
                Some("make one with `openssl rand -base64 48` and give it to the issuer as well")
            }
            AuthError::Keys { .. } => {
                Some("save the issuer's JSON Web Key Set there: public keys with `kid`")
            }
            AuthError::Database(_) => None,
        }
    }
}

impl Authenticator {
    /// As the settings say. Keys and secrets are read now, so that a mistake is told at the start.
    pub fn new(settings: &AuthSettings, tokens: Arc<Tokens>) -> Result<Authenticator, AuthError> {
        let signed = match settings.mode {
            AuthMode::Token => None,
            AuthMode::Auto | AuthMode::None | AuthMode::Jwt => SignedTokens::new(settings)?,
        };
        if settings.mode == AuthMode::Jwt && signed.is_none() {
            return Err(AuthError::NothingToCheckWith);
        }
        Ok(Authenticator {
            mode: settings.mode,
            tokens,
            signed,
        })
    }

    /// Whether callers must authenticate. Only an explicit `none` lets them in without a token.
    pub fn is_required(&self) -> bool {
        self.mode != AuthMode::None
    }

    /// Whether anybody could authenticate: signed tokens are configured, or a token was made, also one that no longer
    /// holds.
    pub fn has_credentials(&self) -> Result<bool, DatabaseError> {
        Ok(self.signed.is_some() || self.tokens.any()?)
    }

    /// Who shows this token, or none. A token that does not hold is refused also where none is needed: who shows one
    /// wants to be somebody.
    pub fn caller(&self, shown: Option<&str>) -> Result<Caller, Refused> {
        match shown {
            Some(token) => self.holder(token),
            None if self.is_required() => Err(Refused::Missing),
            None => Ok(Caller::loopback()),
        }
    }

    fn holder(&self, token: &str) -> Result<Caller, Refused> {
        let invalid = |reason: &str| Refused::Invalid(reason.to_owned());
        if token.starts_with(PREFIX) {
            if self.mode == AuthMode::Jwt {
                return Err(invalid("only signed tokens are accepted"));
            }
            let holder = self.tokens.caller(token)?;
            return holder.ok_or_else(|| invalid("unknown, expired or revoked"));
        }
        match &self.signed {
            Some(signed) => signed.caller(token).map_err(Refused::Invalid),
            None => Err(invalid("signed tokens are not accepted")),
        }
    }
}
