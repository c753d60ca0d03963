//! Authentication over HTTP: which credential the settings require, and who its caller is. The form of a request is up
//! to `transport`.

use std::path::PathBuf;
use std::sync::Arc;

use super::jwt::SignedTokens;
use super::tokens::PREFIX;
use super::{Caller, Tokens};
use notehost_config::{AuthMode, AuthSettings};
use notehost_records::RecordsError;

/// Authenticates callers over HTTP.
pub struct Authenticator {
    mode: AuthMode,
    tokens: Arc<Tokens>,
    signed: Option<SignedTokens>,
}

/// Why authentication failed.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// A token is required but was not sent.
    #[error("a token is required")]
    Missing,
    /// The token is invalid. The reason is for the log.
    #[error("invalid token: {0}")]
    Invalid(String),
    /// Tokens cannot be checked at the moment.
    #[error(transparent)]
    Unavailable(#[from] RecordsError),
}

/// Why authentication cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// Signed tokens are required, but neither a secret nor keys are configured.
    #[error("`auth.mode` is `jwt`, but neither a secret nor keys are configured")]
    NothingToCheckWith,
    /// No audience is configured, so tokens made for other services would be accepted.
    #[error("signed tokens are configured without an audience")]
    NoAudience,
    /// Both are configured.
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
    Database(#[from] RecordsError),
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
    /// Creates an authenticator from the settings. Keys and secrets are read now, so that mistakes are reported at the
    /// start.
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

    /// Whether callers must authenticate. Only an explicit `none` allows calls without a token.
    pub fn is_required(&self) -> bool {
        self.mode != AuthMode::None
    }

    /// Whether any credential exists: signed tokens are configured, or a token was created, even if it is no longer
    /// valid.
    pub fn has_credentials(&self) -> Result<bool, RecordsError> {
        Ok(self.signed.is_some() || self.tokens.any()?)
    }

    /// The caller of this token, or of a request without one. An invalid token is refused even where none is required.
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
