//! The public keys of issuers: a JWKS file, reloaded when it changes, so that keys can be rotated at run time.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use notehost_platform::files::Stamp;
use parking_lot::Mutex;
use serde_json::Value;

/// The minimum size of RSA keys in bytes (2048 bits).
const RSA_BYTES: usize = 256;

/// The largest file that is read. A key has a few hundred bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// A verification key with its one algorithm, which follows from the key, never from a token.
pub(super) struct PublicKey {
    pub(super) algorithm: Algorithm,
    pub(super) key: DecodingKey,
}

/// Keys by their `kid`.
pub(super) type Keys = HashMap<String, PublicKey>;

/// A JWKS file.
pub(super) struct KeyFile {
    path: PathBuf,
    read: Mutex<Read>,
}

/// The parsed keys, and the time of the last check.
struct Read {
    stamp: Option<Stamp>,
    keys: Arc<Keys>,
}

impl KeyFile {
    /// Reads a file; the error states what is wrong with it.
    pub(super) fn open(path: &Path) -> Result<KeyFile, String> {
        let stamp = Stamp::of(path);
        let keys = read(path)?;
        if keys.is_empty() {
            tracing::warn!(file = %path.display(), "no key in the JWKS file can be used");
        }
        Ok(KeyFile {
            path: path.to_owned(),
            read: Mutex::new(Read {
                stamp,
                keys: Arc::new(keys),
            }),
        })
    }

    /// The current keys by `kid`. An unreadable file is ignored: one that is being written or has a mistake locks out
    /// no caller.
    pub(super) fn keys(&self) -> Arc<Keys> {
        let mut known = self.read.lock();
        let now = Stamp::of(&self.path);
        if known.stamp != now {
            known.stamp = now;
            match read(&self.path) {
                Ok(keys) => {
                    tracing::info!(file = %self.path.display(), keys = keys.len(), "the JWKS file was reloaded");
                    known.keys = Arc::new(keys);
                }
                Err(reason) => {
                    tracing::warn!(file = %self.path.display(), reason, "the JWKS file cannot be used, the previous \
                        keys stay in use");
                }
            }
        }
        known.keys.clone()
    }
}

fn read(path: &Path) -> Result<Keys, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut text = String::new();
    file.take(MAX_FILE_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|error| error.to_string())?;
    match text.len() as u64 > MAX_FILE_BYTES {
        true => Err(format!("it has more than {MAX_FILE_BYTES} bytes")),
        false => parse(&text),
    }
}

/// What the fuzzer calls.
#[cfg(fuzzing)]
#[doc(hidden)]
pub fn fuzz_keys(input: &[u8]) {
    let _ = parse(&String::from_utf8_lossy(input));
}

/// The usable keys by `kid`. Keys of other kinds are skipped, but a secret among public keys is an error.
fn parse(text: &str) -> Result<Keys, String> {
    let set: Value =
        serde_json::from_str(text).map_err(|error| format!("it is not valid JSON: {error}"))?;
    let listed = set["keys"]
        .as_array()
        .ok_or("it has no array `keys`: expected a JSON Web Key Set")?;
    let mut keys = HashMap::new();
    for listed in listed {
        if listed["kty"] == "oct" || !listed["k"].is_null() {
            return Err(
                "it contains a symmetric key; a shared secret belongs in `auth.jwt.secret_file`"
                    .into(),
            );
        }
        let Ok(jwk) = serde_json::from_value::<Jwk>(listed.clone()) else {
            continue;
        };
        let Some(kid) = jwk.common.key_id.clone() else {
            continue;
        };
        let Some(algorithm) = algorithm(&jwk) else {
            continue;
        };
        let key = DecodingKey::from_jwk(&jwk)
            .map_err(|error| format!("its key `{kid}` cannot be read: {error}"))?;
        if keys
            .insert(kid.clone(), PublicKey { algorithm, key })
            .is_some()
        {
            return Err(format!("two of its keys have the `kid` `{kid}`"));
        }
    }
    Ok(keys)
}

/// The algorithm of a key, if it is supported.
fn algorithm(jwk: &Jwk) -> Option<Algorithm> {
    if !matches!(
        jwk.common.public_key_use,
        None | Some(PublicKeyUse::Signature)
    ) {
        return None;
    }
    let (algorithm, word) = match &jwk.algorithm {
        AlgorithmParameters::RSA(key) => {
            let modulus = URL_SAFE_NO_PAD.decode(&key.n).ok()?;
            let is_long = modulus.iter().skip_while(|byte| **byte == 0).count() >= RSA_BYTES;
            is_long.then_some((Algorithm::RS256, KeyAlgorithm::RS256))?
        }
        AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => {
            (Algorithm::ES256, KeyAlgorithm::ES256)
        }
        AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => {
            (Algorithm::EdDSA, KeyAlgorithm::EdDSA)
        }
        _ => return None,
    };
    let stated = jwk.common.key_algorithm;
    stated
        .is_none_or(|stated| stated == word)
        .then_some(algorithm)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn edwards(kid: &str) -> Value {
        json!({ "kty": "OKP", "crv": "Ed25519", "kid": kid, "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" })
    }

    fn rsa(bytes: usize, algorithm: &str) -> Value {
        let modulus = URL_SAFE_NO_PAD.encode(vec![0xc5; bytes]);
        json!({ "kty": "RSA", "kid": "r", "alg": algorithm, "n": modulus, "e": "AQAB" })
    }

    fn parsed(keys: &[Value]) -> Result<Keys, String> {
        parse(&json!({ "keys": keys }).to_string())
    }

    #[test]
    fn the_algorithm_follows_from_the_key() {
        let keys = parsed(&[edwards("e"), rsa(256, "RS256")]).expect("keys");
        assert_eq!(keys["e"].algorithm, Algorithm::EdDSA);
        assert_eq!(keys["r"].algorithm, Algorithm::RS256);
    }

    #[test]
    fn unsupported_keys_are_skipped() {
        let mut encrypts = edwards("a");
        encrypts["use"] = json!("enc");
        let mut nameless = edwards("b");
        nameless["kid"] = Value::Null;
        let strange = json!({ "kty": "strange", "kid": "s" });
        for key in [
            rsa(128, "RS256"),
            rsa(256, "RS512"),
            rsa(256, "PS256"),
            encrypts,
            nameless,
            strange,
        ] {
            assert!(
                parsed(std::slice::from_ref(&key)).expect("keys").is_empty(),
                "{key}"
            );
        }
    }

    #[test]
    fn key_sets_with_mistakes_are_rejected() {
        let secret = json!({ "kty": "oct", "kid": "o", "k": "c2VjcmV0" });
        for (keys, words) in [
            (vec![edwards("e"), secret], "symmetric"),
            (vec![edwards("e"), edwards("e")], "two of its keys"),
        ] {
            let refused = parsed(&keys).err().expect("refused");
            assert!(refused.contains(words), "{refused}");
        }
        assert!(parse("{").is_err());
        assert!(parse("[]").is_err());
    }
}
