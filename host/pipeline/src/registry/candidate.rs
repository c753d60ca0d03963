//! A candidate for installation: everything that is checked before a version may run. Nothing is installed here, and a
//! refused candidate changes nothing.

use std::path::Path;

use super::EMBEDDED;
use super::descriptions::Descriptions;
use super::difference::Difference;
use super::domain::{Domain, DomainError};
use super::offer::Offer;
use notehost_config::TrustSettings;
use notehost_policy::Grant;
use notehost_runtime::packages::signature::{self, SignatureError, Signed};
use notehost_runtime::packages::{Packages, Version, is_older};
use notehost_runtime::{Component, Description, Inspected, LoadError, Runtime, inspect};

/// A component that could be installed.
pub struct Candidate {
    /// What inspecting its bytes found.
    pub inspected: Inspected,
    /// Its description.
    pub description: Description,
    /// Its signature.
    pub signed: Option<Signed>,
    /// The differences from the running version; `None` if there is none.
    pub difference: Option<Difference>,
    /// The newest version that was installed under its name.
    newest: Option<String>,
    bytes: Vec<u8>,
    signature: Option<String>,
    source: String,
}

/// Why a candidate is refused.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// Its digest is not the expected one.
    #[error("its digest is `{found}`, not the requested `{expected}`")]
    OtherDigest {
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
    },
    /// It has no trusted signature.
    #[error(transparent)]
    Signature(#[from] SignatureError),
    /// It cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Its description is not a valid domain.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// Its name is not that of the component to replace.
    #[error("its name is `{found}`, not `{expected}`")]
    OtherName {
        /// What was found.
        found: String,
        /// What was expected.
        expected: String,
    },
    /// The host's own domain has that name.
    #[error("the name `{0}` is reserved for the host's own domain")]
    OfHost(String),
    /// It is older than a version that was installed, and may have faults that were mended since.
    #[error("its version is {found}, which is older than {newest}, the newest that was installed")]
    Older {
        /// What was found.
        found: String,
        /// What was installed.
        newest: String,
    },
    /// It cannot be decided which of two versions is older.
    #[error(
        "its version is `{found}`, which cannot be compared with `{newest}`, the newest that was installed"
    )]
    Incomparable {
        /// What was found.
        found: String,
        /// What was installed.
        newest: String,
    },
    /// Its description is not constant.
    #[error("its description differs between two reads")]
    Fickle,
}

impl Refused {
    /// A hint for the operator.
    pub fn hint(&self) -> Option<String> {
        match self {
            Refused::Signature(error) => Some(error.hint()),
            Refused::OtherDigest { .. } => {
                Some("the file was changed, or the digest is of another version".into())
            }
            Refused::OtherName { .. } => {
                Some("`notehost component add` installs it under its own name".into())
            }
            Refused::Older { .. } | Refused::Incomparable { .. } => Some(
                "`--allow-downgrade` installs it anyway; `notehost component rollback` returns to the previous version"
                    .into(),
            ),
            _ => None,
        }
    }
}

impl Candidate {
    /// Inspects an offer: digest, signature, bytes, contract and imports. Compiles it, reads its description twice, and
    /// compares it with the running version.
    pub async fn examine(
        offer: Offer,
        expected: Option<&str>,
        trust: &TrustSettings,
        runtime: &Runtime,
        state: &Path,
    ) -> Result<Candidate, Refused> {
        let Offer {
            called,
            bytes,
            source,
            signature,
            digest,
        } = offer;
        let found = format!("sha256:{}", notehost_runtime::digest(&bytes));
        if let Some(expected) = digest.filter(|expected| *expected != found) {
            return Err(Refused::OtherDigest { expected, found });
        }
        let signed = signature::check(&bytes, signature.as_deref(), trust)?;
        let component = Component::new(&called, bytes.clone())?;
        let inspected = component.inspect()?;
        let description = runtime.describe(&component).await?;
        let name = description.name.clone();
        if let Some(expected) = expected.filter(|expected| *expected != name) {
            return Err(Refused::OtherName {
                found: name,
                expected: expected.to_owned(),
            });
        }
        if name == crate::admin::NAME {
            return Err(Refused::OfHost(name));
        }
        if let Some(signed) = &signed {
            signature::may_sign(signed, &name, &trust.publishers)?;
        }
        // The smallest test of itself: another instance says the same.
        if runtime.describe(&component).await? != description {
            return Err(Refused::Fickle);
        }
        let manifest = inspected.manifest.clone().unwrap_or_default();
        Domain::new(
            description.clone(),
            component,
            manifest,
            Grant::nothing(),
            false,
        )?;
        Descriptions::of_state(state).remember(&inspected.digest, &description);
        let difference = Running::of(&name, state).map(|running| {
            Difference::between(&running.description, &description)
                .with_capabilities(&running.inspected, &inspected)
        });
        Ok(Candidate {
            inspected,
            description,
            signed,
            difference,
            newest: newest_version(&name, state),
            bytes,
            signature,
            source,
        })
    }

    /// What it may do beyond the running version, in words.
    pub fn widening(&self) -> Vec<String> {
        let difference = self.difference.iter();
        difference
            .flat_map(Difference::widening)
            .map(|change| change.words.clone())
            .collect()
    }

    /// Refuse it if it is older than the newest version that was installed, also if that one was removed: a signature does
    /// not become invalid with age.
    pub fn check_not_older(&self) -> Result<(), Refused> {
        let found = &self.description.version;
        let Some(newest) = &self.newest else {
            return Ok(());
        };
        let (found, newest) = (found.clone(), newest.clone());
        match is_older(&found, &newest) {
            Some(false) => Ok(()),
            Some(true) => Err(Refused::Older { found, newest }),
            None => Err(Refused::Incomparable { found, newest }),
        }
    }

    /// Installs it.
    pub fn install(
        self,
        packages: &Packages,
        now: i64,
    ) -> Result<Version, notehost_runtime::packages::PackagesError> {
        let contract = self.inspected.contract();
        let version = Version {
            version: self.description.version,
            digest: format!("sha256:{}", self.inspected.digest),
            size: self.bytes.len() as u64,
            contract: contract
                .map(|contract| contract.to_string())
                .unwrap_or_default(),
            source: self.source,
            publisher: self.signed.as_ref().map(|signed| signed.publisher.clone()),
            installed: now,
        };
        // The signature of a stranger does not take the place of one that holds: the publisher may become known later.
        let is_kept = packages
            .signature(&version)
            .is_ok_and(|kept| kept.is_some());
        let signature = self.signature.as_deref();
        let signature = signature.filter(|_| self.signed.is_some() || !is_kept);
        packages.put(
            &self.description.name,
            &self.bytes,
            signature,
            version.clone(),
        )?;
        Ok(version)
    }
}

/// The running version of a name, even if its content is damaged.
fn newest_version(name: &str, state: &Path) -> Option<String> {
    let installed = Packages::of(state).installed().ok();
    let installed = installed.and_then(|lock| lock.newest(name).map(str::to_owned));
    if installed.is_some() {
        return installed;
    }
    let embedded = EMBEDDED.iter().find(|embedded| embedded.name == name)?;
    let description = Description::parse(embedded.description).ok()?;
    Some(description.version)
}

/// The running component of a name, for comparison.
struct Running {
    description: Description,
    inspected: Inspected,
}

impl Running {
    fn of(name: &str, state: &Path) -> Option<Running> {
        let packages = Packages::of(state);
        let installed = packages.installed().ok()?;
        if let Some(installed) = installed.components.get(name) {
            let bytes = packages.content(name, &installed.current).ok()?;
            let inspected = inspect(&bytes).ok()?;
            let description = Descriptions::of_state(state).kept(&inspected.digest)?;
            return Some(Running {
                description,
                inspected,
            });
        }
        let embedded = EMBEDDED.iter().find(|embedded| embedded.name == name)?;
        Some(Running {
            description: Description::parse(embedded.description).ok()?,
            inspected: inspect(&embedded.wasm()).ok()?,
        })
    }
}
