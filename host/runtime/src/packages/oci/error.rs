//! Errors of registries, worded for the person who installs a component.

use oci_client::errors::{DigestError, OciDistributionError, OciErrorCode};

use super::MAX_BYTES;

/// Why nothing came from a registry, or went to it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OciError {
    /// No machine has that name.
    #[error("cannot resolve the host `{0}`")]
    NoSuchHost(String),
    /// Nobody listens there.
    #[error("`{0}` refused the connection")]
    Refused(String),
    /// It cannot be spoken to for another reason.
    #[error("`{registry}` cannot be reached: {reason}")]
    Unreachable {
        /// Which registry.
        registry: String,
        /// What went wrong.
        reason: String,
    },
    /// It took too long.
    #[error("`{0}` did not respond in time")]
    TimedOut(String),
    /// The registry denied access.
    #[error("`{0}` denied access")]
    NotAllowed(String),
    /// The reference does not exist.
    #[error("`{0}` was not found")]
    NotFound(String),
    /// The reference exists but is not a component.
    #[error("`{reference}` is not a wasm artifact: {reason}")]
    NotWasm {
        /// The requested reference.
        reference: String,
        /// What it is instead.
        reason: String,
    },
    /// Something else came than what its digest says.
    #[error("the content of `{reference}` has the digest `{found}`, expected `{expected}`")]
    DigestDiffers {
        /// The requested reference.
        reference: String,
        /// The expected digest.
        expected: String,
        /// The digest of what came.
        found: String,
    },
    /// It is larger than anything that is taken.
    #[error("`{0}` is larger than the limit of {MAX_BYTES} bytes")]
    TooLarge(String),
    /// A push cannot choose a digest.
    #[error("`{0}` has a digest, but a push needs a tag")]
    NeedsTag(String),
    /// Anything else that the registry said.
    #[error("`{registry}` failed: {reason}")]
    Failed {
        /// Which registry.
        registry: String,
        /// What it said.
        reason: String,
    },
}

impl OciError {
    /// A hint for the person who can act.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            OciError::NoSuchHost(_) => {
                "check the spelling of the host, and whether this machine is online"
            }
            OciError::Refused(_) => "check the port, and whether the registry is running",
            OciError::Unreachable { .. } => {
                "registries are accessed over https; only a registry on this machine may use plain http"
            }
            OciError::NotAllowed(_) => {
                "log in to the registry with `docker login HOST`: the credentials are read from `~/.docker/config.json`"
            }
            OciError::NotFound(_) => "check the name and the tag",
            OciError::NotWasm { .. } => {
                "push components with `notehost component push FILE oci://…`"
            }
            OciError::DigestDiffers { .. } => {
                "the registry serves other content than was requested: do not install it, and contact the publisher"
            }
            OciError::NeedsTag(_) => {
                "use a reference like `oci://registry.example.org/team/todo:1.0.0`"
            }
            OciError::TimedOut(_) | OciError::TooLarge(_) | OciError::Failed { .. } => return None,
        };
        Some(hint.to_owned())
    }

    /// What the client of registries said about a reference.
    pub(super) fn of(error: OciDistributionError, registry: &str, reference: &str) -> OciError {
        let failed = |reason: String| OciError::Failed {
            registry: registry.to_owned(),
            reason: bounded(&reason),
        };
        match error {
            OciDistributionError::RequestError(error) => {
                unreachable(&error, error.is_timeout(), registry)
            }
            OciDistributionError::UnauthorizedError { .. }
            | OciDistributionError::AuthenticationFailure(_) => {
                OciError::NotAllowed(registry.to_owned())
            }
            OciDistributionError::ImageManifestNotFoundError(_)
            | OciDistributionError::ServerError { code: 404, .. } => {
                OciError::NotFound(reference.to_owned())
            }
            OciDistributionError::ServerError {
                code: 401 | 403, ..
            } => OciError::NotAllowed(registry.to_owned()),
            OciDistributionError::ServerError { code, .. } => failed(format!("status {code}")),
            OciDistributionError::RegistryError { envelope, .. } => {
                let first = envelope.errors.into_iter().next();
                match first.as_ref().map(|error| &error.code) {
                    Some(
                        OciErrorCode::ManifestUnknown
                        | OciErrorCode::NameUnknown
                        | OciErrorCode::BlobUnknown
                        | OciErrorCode::NotFound,
                    ) => OciError::NotFound(reference.to_owned()),
                    Some(OciErrorCode::Unauthorized | OciErrorCode::Denied) => {
                        OciError::NotAllowed(registry.to_owned())
                    }
                    _ => failed(
                        first.map_or_else(|| "no reason given".to_owned(), |error| error.message),
                    ),
                }
            }
            OciDistributionError::DigestError(error) => {
                OciError::of_digest(&error, registry, reference)
            }
            other => failed(other.to_string()),
        }
    }

    pub(super) fn of_digest(error: &DigestError, registry: &str, reference: &str) -> OciError {
        match error {
            DigestError::VerificationError { expected, actual } => OciError::DigestDiffers {
                reference: reference.to_owned(),
                expected: expected.clone(),
                found: actual.clone(),
            },
            other => OciError::Failed {
                registry: registry.to_owned(),
                reason: bounded(&other.to_string()),
            },
        }
    }
}

/// Why a connection came to nothing, from what the layers below said.
fn unreachable(
    error: &(dyn std::error::Error + 'static),
    is_timeout: bool,
    registry: &str,
) -> OciError {
    let mut reason = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        reason = inner.to_string();
        if let Some(io) = inner.downcast_ref::<std::io::Error>()
            && io.kind() == std::io::ErrorKind::ConnectionRefused
        {
            return OciError::Refused(registry.to_owned());
        }
        // The layer that resolves names has no error type of its own.
        if reason.starts_with("dns error") || reason.contains("failed to lookup address") {
            return OciError::NoSuchHost(registry.to_owned());
        }
        cause = inner.source();
    }
    if is_timeout {
        return OciError::TimedOut(registry.to_owned());
    }
    OciError::Unreachable {
        registry: registry.to_owned(),
        reason: bounded(&reason),
    }
}

/// Controlled by the registry: one line of bounded length.
fn bounded(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().filter(|c| !c.is_control()).take(300).collect()
}
