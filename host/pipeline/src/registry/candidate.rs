//! A component on its way in: everything that is looked at before a version may run. Nothing is installed here, and a
//! candidate that is refused has changed nothing.

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
    /// What its bytes tell.
    pub inspected: Inspected,
    /// What it says of itself.
    pub description: Description,
    /// Who vouches for it.
    pub signed: Option<Signed>,
    /// What is different from the version that runs; `None` if none does.
    pub difference: Option<Difference>,
    /// The newest version that was installed under its name.
    newest: Option<String>,
    bytes: Vec<u8>,
    signature: Option<String>,
    source: String,
}

/// Why a component is not taken.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// It is another one than was meant.
    #[error("its digest is `{found}`, and `{expected}` was asked for")]
    OtherDigest {
        /// What was asked for.
        expected: String,
        /// What it is.
        found: String,
    },
    /// Nobody who may vouches for it.
    #[error(transparent)]
    Signature(#[from] SignatureError),
    /// It cannot be run.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// What it describes is no domain.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// It is another domain than the one whose place it should take.
    #[error("it calls itself `{found}`, not `{expected}`")]
    OtherName {
        /// What it says.
        found: String,
        /// What was asked for.
        expected: String,
    },
    /// The host's own domain has that name.
    #[error("the name `{0}` belongs to the host's own domain")]
    OfHost(String),
    /// It is older than a version that was installed, and may have faults that were mended since.
    #[error("its version is {found}, which is older than {newest}, the newest that was installed")]
    Older {
        /// What it says.
        found: String,
        /// What was installed.
        newest: String,
    },
    /// Nobody can tell which of two versions is the older one.
    #[error(
        "its version is `{found}`, which cannot be compared with `{newest}`, the newest that was installed"
    )]
    Incomparable {
        /// What it says.
        found: String,
        /// What was installed.
        newest: String,
    },
    /// It is not the same twice.
    #[error("it describes itself differently each time it is asked")]
    Fickle,
}

impl Refused {
    /// What a person can do about it.
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
                "`--allow-downgrade` takes it all the same; `notehost component rollback` goes back to the version of before"
                    .into(),
            ),
            _ => None,
        }
    }
}

impl Candidate {
    /// Look at what is offered: its digest, its signature, its bytes, its contract and imports; compile it, ask it what it
    /// is and whether it stands by that, and compare it with what runs under its name.
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
        if name == super::OWN {
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

    /// What it would be allowed that the version that runs is not, in words.
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

    /// Install it.
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

/// The version that runs under a name, also where its content is damaged.
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

/// What runs under a name, as far as a newcomer is compared with it.
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
