//! An issuer of signed tokens with its own keys.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};

use super::repository;

/// The audience of the tokens.
pub(crate) const AUDIENCE: &str = "https://notes.example.org/mcp";
/// The issuer of the tokens.
pub(crate) const ISSUER: &str = "https://login.example.org";
/// The shared secret of an issuer without keys.
pub(crate) const SECRET: &str = "a secret of more than thirty-two bytes";

/// A signing key.
#[derive(Clone)]
pub(crate) struct Key {
    /// Its name.
    pub(crate) kid: String,
    /// Its algorithm.
    pub(crate) algorithm: Algorithm,
    key: EncodingKey,
}

/// A file of the tests' keys.
pub(crate) fn key_file(name: &str) -> PathBuf {
    repository().join("tests/policy/keys").join(name)
}

/// Copies a private key of the tests with private permissions, as servers require.
pub(crate) fn private_key(name: &str, to: &Path) {
    // Made private before it is filled: a server may read it at any moment.
    let new = to.with_extension("new");
    std::fs::write(&new, bytes(name)).expect("a key");
    private(&new);
    std::fs::rename(&new, to).expect("renamed");
}

/// Makes a file readable by its owner alone.
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
    pub(crate) fn p256(kid: &str) -> Key {
        let key = EncodingKey::from_ec_pem(&bytes("ec.pem"));
        Key::new(kid, Algorithm::ES256, key.expect("a key"))
    }

    /// A key on the curve Ed25519.
    pub(crate) fn ed25519(kid: &str) -> Key {
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

    /// The public key as a JWK.
    pub(crate) fn public(&self) -> Value {
        let jwk = Jwk::from_encoding_key(&self.key, self.algorithm).expect("a public half");
        let mut jwk = serde_json::to_value(jwk).expect("JSON");
        jwk["kid"] = json!(self.kid);
        jwk
    }

    /// A token with these claims.
    pub(crate) fn sign(&self, claims: &Value) -> String {
        self.sign_as(self.algorithm, Some(&self.kid), claims)
    }

    /// A token with these claims and this key id.
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

/// Writes the public keys into a file.
pub(crate) fn publish(file: &Path, keys: &[&Key]) {
    let keys: Vec<Value> = keys.iter().map(|key| key.public()).collect();
    // By rename, so that nobody reads a partial file.
    let beside = file.with_extension("new");
    std::fs::write(&beside, json!({ "keys": keys }).to_string()).expect("the file can be written");
    std::fs::rename(beside, file).expect("the file can be replaced");
}

/// The claims of a valid token.
pub(crate) fn claims() -> Value {
    json!({
        "sub": "ana", "aud": AUDIENCE, "iss": ISSUER, "exp": now() + 600, "nbf": now() - 10,
        "scope": "openid read write",
    })
}

/// The same, with one claim changed.
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
