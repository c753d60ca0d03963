//! An issuer of signed tokens, with keys of its own.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};

use super::repository;

/// Whom the tokens are for.
pub(crate) const AUDIENCE: &str = "https://notes.example.org/mcp";
/// Who issues them.
pub(crate) const ISSUER: &str = "https://login.example.org";
/// What is shared with an issuer that has no keys.
pub(crate) const SECRET: &str = "a secret of more than thirty-two bytes";

/// A key that tokens are signed with.
#[derive(Clone)]
pub(crate) struct Key {
    /// Its name.
    pub(crate) kid: String,
    /// What it signs with.
    pub(crate) algorithm: Algorithm,
    key: EncodingKey,
}

/// A file of the tests' keys.
pub(crate) fn key_file(name: &str) -> PathBuf {
    repository().join("tests/policy/keys").join(name)
}

/// A copy of a private key of the tests that is as private as a server wants it.
pub(crate) fn private_key(name: &str, to: &Path) {
    // Made private and then filled: a server may look at it at any moment.
    let new = to.with_extension("new");
    std::fs::write(&new, bytes(name)).expect("a key");
    private(&new);
    std::fs::rename(&new, to).expect("renamed");
}

/// Make a file readable by its owner alone.
pub(crate) fn private(file: &Path) {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(file, mode).expect("a mode");
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(key_file(name)).expect("a key of the tests")
}

impl Key {
    /// An RSA key.
    pub(crate) fn rsa(kid: &str) -> Key {
        let key = EncodingKey::from_rsa_pem(&bytes("rsa.pem"));
        Key::new(kid, Algorithm::RS256, key.expect("a key"))
    }

    /// A key on the curve P-256.
    pub(crate) fn elliptic(kid: &str) -> Key {
        let key = EncodingKey::from_ec_pem(&bytes("ec.pem"));
        Key::new(kid, Algorithm::ES256, key.expect("a key"))
    }

    /// A key on the curve Ed25519.
    pub(crate) fn edwards(kid: &str) -> Key {
        let key = EncodingKey::from_ed_pem(&bytes("ed25519.pem"));
        Key::new(kid, Algorithm::EdDSA, key.expect("a key"))
    }

    /// A shared secret.
    pub(crate) fn secret(secret: &[u8]) -> Key {
        Key::new("", Algorithm::HS256, EncodingKey::from_secret(secret))
    }

    fn new(kid: &str, algorithm: Algorithm, key: EncodingKey) -> Key {
        Key {
            kid: kid.to_owned(),
            algorithm,
            key,
        }
    }

    /// What everybody may know of it.
    pub(crate) fn public(&self) -> Value {
        let jwk = Jwk::from_encoding_key(&self.key, self.algorithm).expect("a public half");
        let mut jwk = serde_json::to_value(jwk).expect("JSON");
        jwk["kid"] = json!(self.kid);
        jwk
    }

    /// A token that says this.
    pub(crate) fn sign(&self, claims: &Value) -> String {
        self.sign_as(self.algorithm, Some(&self.kid), claims)
    }

    /// A token that says this, and names this key.
    pub(crate) fn sign_as(
        &self,
        algorithm: Algorithm,
        kid: Option<&str>,
        claims: &Value,
    ) -> String {
        let mut header = Header::new(algorithm);
        header.kid = kid.filter(|kid| !kid.is_empty()).map(str::to_owned);
        encode(&header, claims, &self.key).expect("a token")
    }
}

/// Write the public halves of keys into a file.
pub(crate) fn publish(file: &Path, keys: &[&Key]) {
    let keys: Vec<Value> = keys.iter().map(|key| key.public()).collect();
    // By rename, as a careful admin would: nobody reads half of it.
    let beside = file.with_extension("new");
    std::fs::write(&beside, json!({ "keys": keys }).to_string()).expect("the file can be written");
    std::fs::rename(beside, file).expect("the file can be replaced");
}

/// What a good token says.
pub(crate) fn claims() -> Value {
    json!({
        "sub": "ana", "aud": AUDIENCE, "iss": ISSUER, "exp": now() + 600, "nbf": now() - 10,
        "scope": "openid read write",
    })
}

/// The same, with something said differently.
pub(crate) fn claims_with(name: &str, value: Value) -> Value {
    let mut claims = claims();
    claims[name] = value;
    claims
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("it is later than 1970").as_secs()
}
