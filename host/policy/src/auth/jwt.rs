//! Signed tokens (JWT) of issuers. Two verifiers share nothing: one has the shared secret and accepts HS256, the other
//! has public keys, each with the one algorithm that follows from the key itself. A token's header selects the verifier
//! but never the algorithm, so a public key cannot be used as a secret.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use parking_lot::Mutex;
use serde::Deserialize;

use super::authenticator::AuthError;
use super::keys::{KeyFile, Keys};
use super::{Caller, NAMES_OF_PLACES, Scopes, VaultBinding};
use notehost_config::{AuthSettings, CallerPermissions};
use notehost_platform::clock::now_ms;
use notehost_vault::Tier;

/// The minimum length of a shared secret: that of the MAC.
const SECRET_BYTES: usize = 32;

/// The accepted clock skew between issuer and host, in seconds.
const CLOCK_SECONDS: u64 = 30;

/// The maximum length of a token.
const TOKEN_BYTES: usize = 16 << 10;

/// The maximum number of cached verified tokens.
const MAX_VERIFIED_TOKENS: usize = 1024;

/// Verifies signed tokens.
pub(super) struct SignedTokens {
    secret: Option<SharedSecret>,
    keys: Option<PublicKeys>,
}

/// What a token without the claim `notehost_vaults` is for.
fn unclaimed(settings: &AuthSettings) -> VaultBinding {
    match settings.jwt.all_vaults {
        true => VaultBinding::All,
        false => VaultBinding::Default,
    }
}

/// Verifies tokens signed with a shared secret.
struct SharedSecret {
    key: DecodingKey,
    validation: Validation,
    /// The vaults of tokens that name none.
    unclaimed: VaultBinding,
}

/// Verifies tokens signed with an issuer's private keys.
struct PublicKeys {
    file: KeyFile,
    /// The required claims; the algorithm is added from the key.
    validation: Validation,
    /// The vaults of tokens that name none.
    unclaimed: VaultBinding,
    /// Verified tokens are cached: a signature check takes longer than most calls, and clients repeat the same token.
    believed: Mutex<VerifiedTokens>,
}

/// Tokens verified with certain keys; after a key change they are verified again.
#[derive(Default)]
struct VerifiedTokens {
    keys: Arc<Keys>,
    by_hash: HashMap<[u8; 32], (Caller, f64)>,
}

/// The claims of a token that are used.
#[derive(Deserialize)]
struct Claims {
    sub: String,
    /// Seconds since 1970; some issuers write fractions.
    exp: f64,
    scope: Option<String>,
    scopes: Option<Vec<String>>,
    notehost_vaults: Option<Vec<String>>,
    notehost_permissions: Option<BTreeMap<String, Tier>>,
}

impl SignedTokens {
    /// Reads the settings; `None` if they name neither a secret nor keys.
    pub(super) fn new(settings: &AuthSettings) -> Result<Option<SignedTokens>, AuthError> {
        let secret = secret(settings)?;
        let keys = match &settings.jwt.jwks_file {
            Some(path) => Some(KeyFile::open(path).map_err(|reason| AuthError::Keys {
                path: path.clone(),
                reason,
            })?),
            None => None,
        };
        if secret.is_none() && keys.is_none() {
            return Ok(None);
        }
        let jwt = &settings.jwt;
        let audience = jwt.audience.as_ref().or(settings.resource.as_ref());
        let audience = audience.ok_or(AuthError::NoAudience)?;
        let validation = |algorithm| {
            let mut validation = Validation::new(algorithm);
            validation.leeway = CLOCK_SECONDS;
            validation.validate_nbf = true;
            validation.set_audience(&[audience]);
            let mut required = vec!["exp", "aud", "sub"];
            if let Some(issuer) = &jwt.issuer {
                validation.set_issuer(&[issuer]);
                required.push("iss");
            }
            validation.set_required_spec_claims(&required);
            validation
        };
        Ok(Some(SignedTokens {
            secret: secret.map(|secret| SharedSecret {
                key: DecodingKey::from_secret(&secret),
                validation: validation(Algorithm::HS256),
                unclaimed: unclaimed(settings),
            }),
            keys: keys.map(|file| PublicKeys {
                file,
                validation: validation(Algorithm::RS256),
                unclaimed: unclaimed(settings),
                believed: Mutex::default(),
            }),
        }))
    }

    /// The caller of a token, or why it is invalid; the reason is for the log.
    pub(super) fn caller(&self, token: &str) -> Result<Caller, String> {
        if token.len() > TOKEN_BYTES {
            return Err("it is too long".into());
        }
        let header = decode_header(token).map_err(|error| error.to_string())?;
        // What a header calls critical must be understood, and we understand nothing of the kind.
        if header.crit.is_some() {
            return Err("it has critical extensions".into());
        }
        match (header.alg, &self.secret, &self.keys) {
            (Algorithm::HS256, Some(secret), _) => secret.caller(token),
            (Algorithm::RS256 | Algorithm::ES256 | Algorithm::EdDSA, _, Some(keys)) => {
                keys.caller(token, header.kid.as_deref())
            }
            (algorithm, ..) => Err(format!("{algorithm:?} is not accepted")),
        }
    }
}

impl SharedSecret {
    fn caller(&self, token: &str) -> Result<Caller, String> {
        let checked = decode(token, &self.key, &self.validation);
        let claims = checked.map_err(|error| error.to_string())?.claims;
        caller(claims, &self.unclaimed)
    }
}

impl PublicKeys {
    fn caller(&self, token: &str, kid: Option<&str>) -> Result<Caller, String> {
        let keys = self.file.keys();
        let hash = blake3::hash(token.as_bytes()).into();
        if let Some(caller) = self.believed(&keys).by_hash.get(&hash).and_then(still_good) {
            return Ok(caller);
        }
        let key = keys.get(kid.ok_or("it names no key")?);
        let key = key.ok_or("its key is unknown")?;
        let validation = Validation {
            algorithms: vec![key.algorithm],
            ..self.validation.clone()
        };
        let checked = decode::<Claims>(token, &key.key, &validation);
        let claims = checked.map_err(|error| error.to_string())?.claims;
        let expires = claims.exp;
        let caller = caller(claims, &self.unclaimed)?;
        self.believed(&keys)
            .by_hash
            .insert(hash, (caller.clone(), expires));
        Ok(caller)
    }

    /// The cache of tokens verified with these keys.
    fn believed(&self, keys: &Arc<Keys>) -> parking_lot::MutexGuard<'_, VerifiedTokens> {
        let mut believed = self.believed.lock();
        if !Arc::ptr_eq(&believed.keys, keys) || believed.by_hash.len() >= MAX_VERIFIED_TOKENS {
            *believed = VerifiedTokens {
                keys: keys.clone(),
                by_hash: HashMap::new(),
            };
        }
        believed
    }
}

/// The caller of a cached token, unless it has expired since.
fn still_good((caller, expires): &(Caller, f64)) -> Option<Caller> {
    let (now, leeway) = (now_ms() as f64 / 1000.0, CLOCK_SECONDS as f64);
    (expires + leeway > now).then(|| caller.clone())
}

fn caller(claims: Claims, unclaimed: &VaultBinding) -> Result<Caller, String> {
    let name = claims.sub;
    if name.is_empty() || name.len() > 255 || name.chars().any(char::is_control) {
        return Err("its `sub` cannot be a name".into());
    }
    if NAMES_OF_PLACES.contains(&name.as_str()) {
        return Err(format!("its `sub` is `{name}`, which is a reserved name"));
    }
    let scopes = match (&claims.scope, &claims.scopes) {
        (None, None) => known_scopes(["read"]),
        (words, list) => known_scopes(
            words
                .iter()
                .flat_map(|words| words.split(' '))
                .chain(list.iter().flatten().map(String::as_str)),
        ),
    };
    let permissions = claims
        .notehost_permissions
        .map(|notebooks| CallerPermissions {
            notebooks,
            ..CallerPermissions::default()
        });
    let expires = (claims.exp + CLOCK_SECONDS as f64) * 1000.0;
    let vaults = match claims.notehost_vaults {
        Some(ids) => VaultBinding::Only(ids),
        None => unclaimed.clone(),
    };
    let caller = Caller::with_signed_token(&name, scopes, vaults, permissions);
    Ok(caller.until(Some(expires as i64)))
}

/// Keeps known scopes: issuers also add their own (`openid`, `profile`).
fn known_scopes<'w>(words: impl IntoIterator<Item = &'w str>) -> Scopes {
    let known = words
        .into_iter()
        .filter(|word| Scopes::parse([*word]).is_ok());
    Scopes::parse(known).unwrap_or_default()
}

fn secret(settings: &AuthSettings) -> Result<Option<Vec<u8>>, AuthError> {
    let (secret, place) = match (&settings.jwt.secret_env, &settings.jwt.secret_file) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => return Err(AuthError::TwoSecrets),
        (Some(name), None) => {
            let value = std::env::var(name).map_err(|error| AuthError::Secret {
                place: format!("variable {name}"),
                reason: error.to_string(),
            })?;
            (value.into_bytes(), format!("variable {name}"))
        }
        (None, Some(path)) => (read_secret(path)?, format!("file `{}`", path.display())),
    };
    if secret.len() < SECRET_BYTES {
        return Err(AuthError::Secret {
            place,
            reason: format!(
                "it has {} bytes, and at least {SECRET_BYTES} are required",
                secret.len()
            ),
        });
    }
    Ok(Some(secret))
}

fn read_secret(path: &Path) -> Result<Vec<u8>, AuthError> {
    let mut secret = std::fs::read(path).map_err(|error| AuthError::Secret {
        place: format!("file `{}`", path.display()),
        reason: error.to_string(),
    })?;
    // Editors end a file with a line break, which is not part of the secret.
    while secret
        .last()
        .is_some_and(|byte| matches!(byte, b'\n' | b'\r'))
    {
        secret.pop();
    }
    Ok(secret)
}
