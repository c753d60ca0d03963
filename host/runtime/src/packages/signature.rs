//! Signatures of components: detached minisign signatures, in a file `COMPONENT.wasm.minisig` or beside the component
//! in a registry. Trusted publishers are in the config (`[trust]`); embedded components need no signature.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minisign_verify::{Error, PublicKey, Signature};

use notehost_config::{PublisherSettings, TrustSettings};

/// The longest signature that is read: a real one has about 300 bytes, and its comment is free.
pub const MAX_BYTES: u64 = 16 << 10;

/// A signature that holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// Who signed, by the name that the config has.
    pub publisher: String,
    /// Names the key, as `minisign` prints it.
    pub key_id: String,
    /// What the publisher says of this file; signed with it.
    pub comment: String,
}

/// Why a component's signature does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// A signature is required and missing.
    #[error("it is not signed, but only signed components are accepted")]
    Unsigned,
    /// It was installed when none was kept, and there must be one.
    #[error(
        "no signature was stored when it was installed, but only signed components are accepted"
    )]
    NotKept,
    /// It is not a valid signature.
    #[error("its signature is not a valid minisign signature: {0}")]
    Malformed(&'static str),
    /// The key belongs to no trusted publisher.
    #[error("it is signed with the key `{key_id}`, which does not belong to a trusted publisher")]
    UnknownKey {
        /// The key's id.
        key_id: String,
    },
    /// The component is not the one that was signed, or the signature was changed.
    #[error(
        "the signature of `{publisher}` does not match: the component or its signature was modified"
    )]
    Tampered {
        /// Whose key it claims.
        publisher: String,
    },
    /// A name that its signer has no right to.
    #[error("it is signed by `{publisher}`, who may not sign a component named `{component}`")]
    OtherName {
        /// Who signed.
        publisher: String,
        /// The component's name.
        component: String,
    },
}

impl SignatureError {
    /// A hint for the person who can act.
    pub fn hint(&self) -> String {
        match self {
            SignatureError::Unsigned => {
                "put the publisher's `FILE.minisig` beside the file; an admin can allow unsigned ones: \
                 `require_signed = false` under `[trust]` in the config"
                    .into()
            }
            SignatureError::NotKept => {
                "install it again with its signature: `notehost component upgrade NAME FILE`, with `FILE.minisig` beside \
                 the file"
                    .into()
            }
            SignatureError::Malformed(_) => {
                "get the publisher's `.minisig` file again; it must have four lines of text".into()
            }
            SignatureError::UnknownKey { .. } => {
                "an admin who knows the publisher can add the key: `[[trust.publishers]]` in the config".into()
            }
            SignatureError::Tampered { .. } => {
                "get both from the publisher again; do not install this file".into()
            }
            SignatureError::OtherName { publisher, .. } => format!(
                "an admin can allow it: `components` of `{publisher}` under `[[trust.publishers]]` in the config"
            ),
        }
    }
}

/// Who signed these bytes, if one of the publishers did.
pub fn verify(
    bytes: &[u8],
    signature: &str,
    publishers: &[PublisherSettings],
) -> Result<Signed, SignatureError> {
    // Controlled by the author of the file: not trusted before the signature is verified.
    let (signature, key_id) = parse(signature)?;
    let known = publishers.iter().find_map(|publisher| {
        let key = PublicKey::from_base64(&publisher.key).ok()?;
        let is_theirs = id_in(&publisher.key).is_some_and(|theirs| theirs == key_id);
        is_theirs.then_some((publisher, key))
    });
    let Some((publisher, key)) = known else {
        return Err(SignatureError::UnknownKey { key_id });
    };
    // Signatures of minisign before 0.6 are over the bytes themselves, and are as good.
    match key.verify(bytes, &signature, true) {
        Ok(()) => Ok(Signed {
            publisher: publisher.name.clone(),
            key_id,
            comment: signature.trusted_comment().to_owned(),
        }),
        Err(_) => Err(SignatureError::Tampered {
            publisher: publisher.name.clone(),
        }),
    }
}

/// The same under an admin's policy: `None` is a component without a signature of a known key, where that is allowed. An
/// invalid signature is always rejected.
pub fn check(
    bytes: &[u8],
    signature: Option<&str>,
    trust: &TrustSettings,
) -> Result<Option<Signed>, SignatureError> {
    let verified = match signature {
        Some(signature) => verify(bytes, signature, &trust.publishers).map(Some),
        None => Err(SignatureError::Unsigned),
    };
    match verified {
        Err(SignatureError::Unsigned | SignatureError::UnknownKey { .. })
            if !trust.require_signed =>
        {
            Ok(None)
        }
        other => other,
    }
}

/// Whether the signer of a component may sign one of this name. Checked as soon as the name is known.
pub fn may_sign(
    signed: &Signed,
    component: &str,
    publishers: &[PublisherSettings],
) -> Result<(), SignatureError> {
    let publisher = publishers
        .iter()
        .find(|publisher| publisher.name == signed.publisher);
    let is_allowed = publisher.is_some_and(|publisher| match &publisher.components {
        None => true,
        Some(names) => names.iter().any(|name| name == component),
    });
    if is_allowed {
        return Ok(());
    }
    Err(SignatureError::OtherName {
        publisher: signed.publisher.clone(),
        component: component.to_owned(),
    })
}

/// Both at once, for a component whose name is known before it runs.
pub fn check_named(
    bytes: &[u8],
    signature: Option<&str>,
    component: &str,
    trust: &TrustSettings,
) -> Result<Option<Signed>, SignatureError> {
    let signed = check(bytes, signature, trust)?;
    if let Some(signed) = &signed {
        may_sign(signed, component, &trust.publishers)?;
    }
    Ok(signed)
}

/// The file in which a component's signature is looked for: `todo.wasm.minisig` for `todo.wasm`.
pub fn file_beside(component: &Path) -> PathBuf {
    let mut name = component.as_os_str().to_owned();
    name.push(".minisig");
    name.into()
}

/// The text of a signature's file; `None` if there is no such file.
pub fn read(file: &Path) -> std::io::Result<Option<String>> {
    let opened = match std::fs::File::open(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    let mut bytes = Vec::new();
    // One byte more than is taken, so that what is too long is seen to be.
    opened.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// The id of the key that a signature claims, if it is a signature. Nothing is verified.
pub fn claimed_key(signature: &str) -> Result<String, SignatureError> {
    parse(signature).map(|(_, key_id)| key_id)
}

fn parse(text: &str) -> Result<(Signature, String), SignatureError> {
    let malformed = |error: &Error| match error {
        Error::UnsupportedAlgorithm => SignatureError::Malformed("it uses an unknown algorithm"),
        _ => SignatureError::Malformed("it is damaged or has another format"),
    };
    if text.len() as u64 > MAX_BYTES {
        return Err(SignatureError::Malformed("it is too long"));
    }
    let signature = Signature::decode(text).map_err(|error| malformed(&error))?;
    let key_id = text
        .lines()
        .nth(1)
        .and_then(id_in)
        .ok_or(SignatureError::Malformed("it has no key id"))?;
    Ok((signature, key_id))
}

/// The key's id in a line of minisign: eight bytes after the two of the algorithm, written as `minisign` does.
fn id_in(line: &str) -> Option<String> {
    let bytes = STANDARD.decode(line.trim()).ok()?;
    let id: [u8; 8] = bytes.get(2..10)?.try_into().ok()?;
    Some(format!("{:016X}", u64::from_le_bytes(id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Made with Debian's `minisign`, once as it signs today and once with `-l`.
    const KEY: &str = "RWTLaRrpyqads4L2dO67cbIOyOT0Vlji8UxPy5ZeJG2g0fSOmwdEnmL+";
    const SIGNATURE: &str = "untrusted comment: a comment\n\
        RUTLaRrpyqads0VWoQb6mhiT+mBrFtQz/065//d/xUV/zgevufTrXX7vKzAcBfcVY/6xeF7EIY0FIhz8GcSrde6HvnhiZUUqVQw=\n\
        trusted comment: todo 1.0.0\n\
        XDs5JCGCmt96ctqyPy7xUGn+saP23bB/bDiOBi1ZPUrekp3qi4xOQ2aCds1h5vdzLEMrBzxw14qfwsHS1x/+AQ==\n";
    const OLD_SIGNATURE: &str = "untrusted comment: signature from minisign secret key\n\
        RWTLaRrpyqads2kG70A+qP3/4jcn2cHr6FWkJNm8ySvsJ2IU/D+2n0Z3yjcEwFKdOMQlZpIfE8dtJ4Lj/ghud9mnmLvuoRF+kAk=\n\
        trusted comment: old\n\
        TQiQ4C70Fs2VHstiMcQECAXDi6pToVCb5MaUuOSWIWwjdLZ2J4aOeiKppsGHfYBn+o6ni6W36R0QE9d418IADQ==\n";
    const COMPONENT: &[u8] = b"a component";

    fn publisher(components: Option<&[&str]>) -> PublisherSettings {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        PublisherSettings {
            name: "ana".into(),
            key: KEY.into(),
            components: components.map(names),
        }
    }

    fn trust(require_signed: bool, publishers: Vec<PublisherSettings>) -> TrustSettings {
        TrustSettings {
            require_signed,
            publishers,
        }
    }

    #[test]
    fn valid_signatures_name_their_publisher() {
        let signed = verify(COMPONENT, SIGNATURE, &[publisher(None)]).expect("it holds");
        assert_eq!(
            signed,
            Signed {
                publisher: "ana".into(),
                key_id: "B39DA6CAE91A69CB".into(),
                comment: "todo 1.0.0".into(),
            }
        );
        assert!(verify(COMPONENT, OLD_SIGNATURE, &[publisher(None)]).is_ok());
    }

    #[test]
    fn modified_components_fail_verification() {
        let publishers = [publisher(None)];
        let tampered = SignatureError::Tampered {
            publisher: "ana".into(),
        };
        assert_eq!(
            verify(b"a_component", SIGNATURE, &publishers),
            Err(tampered.clone())
        );
        for changed in [
            SIGNATURE.replace("todo 1.0.0", "todo 1.0.1"),
            SIGNATURE.replace("0VWoQb6", "0VWoQb7"),
            SIGNATURE.replace("XDs5JCG", "XDs5JCH"),
        ] {
            assert_ne!(changed, SIGNATURE);
            assert_eq!(
                verify(COMPONENT, &changed, &publishers),
                Err(tampered.clone()),
                "{changed}"
            );
        }
    }

    #[test]
    fn malformed_signatures_are_refused() {
        let long = format!("{SIGNATURE}{}", "x".repeat(20 << 10));
        for nonsense in ["", "\n\n\n\n", "hello", &SIGNATURE[..120], &long] {
            let error = verify(COMPONENT, nonsense, &[publisher(None)]).expect_err(nonsense);
            assert!(matches!(error, SignatureError::Malformed(_)), "{error}");
        }
    }

    #[test]
    fn unknown_keys_follow_the_trust_settings() {
        let unknown = SignatureError::UnknownKey {
            key_id: "B39DA6CAE91A69CB".into(),
        };
        assert_eq!(
            check(COMPONENT, Some(SIGNATURE), &trust(true, vec![])),
            Err(unknown)
        );
        assert_eq!(
            check(COMPONENT, Some(SIGNATURE), &trust(false, vec![])),
            Ok(None)
        );
        assert_eq!(
            check(COMPONENT, None, &trust(true, vec![publisher(None)])),
            Err(SignatureError::Unsigned)
        );
        assert_eq!(check(COMPONENT, None, &trust(false, vec![])), Ok(None));
        // Where no signature is requested, a wrong one is still refused.
        let known = trust(false, vec![publisher(None)]);
        assert!(check(b"other", Some(SIGNATURE), &known).is_err());
        assert!(check(COMPONENT, Some("nonsense"), &known).is_err());
    }

    #[test]
    fn publishers_sign_only_their_components() {
        let signed = verify(COMPONENT, SIGNATURE, &[publisher(None)]).expect("it holds");
        for (components, name, is_allowed) in [
            (None, "anything", true),
            (Some(&["todo"][..]), "todo", true),
            (Some(&["todo"][..]), "document", false),
        ] {
            let publishers = [publisher(components)];
            assert_eq!(may_sign(&signed, name, &publishers).is_ok(), is_allowed);
        }
        assert!(may_sign(&signed, "todo", &[]).is_err());
    }
}
