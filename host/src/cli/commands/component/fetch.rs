//! Shared code of `add` and `upgrade`: fetching a component, inspecting it, and describing it.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use crate::cli::options;
use crate::cli::ui::failure::Failure;
use crate::cli::ui::terminal::Terminal;
use notehost_config::{GrantSettings, Loaded};
use notehost_pipeline::registry::{Candidate, Offer, OfferError, Refused};
use notehost_runtime::packages::PackagesError;
use notehost_runtime::{Inspected, Runtime};

/// The requirements of a fetched component.
#[derive(Debug, Clone, Args)]
pub(super) struct Requirements {
    /// The required digest, `sha256:…`
    #[arg(long, value_name = "DIGEST")]
    digest: Option<String>,
    /// Its minisign signature [FILE.minisig, if it exists]
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
    /// Refuse it unless it is signed by a publisher of the config
    #[arg(long)]
    pub(super) require_signed: bool,
}

/// The flags of a grant.
#[derive(Debug, Clone, Args)]
pub(super) struct GrantFlags {
    /// Paths it may read, such as `Work/**`; can be repeated
    #[arg(long, value_name = "GLOB")]
    read: Vec<String>,
    /// Paths where it may also create, edit and rename
    #[arg(long, value_name = "GLOB")]
    write: Vec<String>,
    /// Paths where it may also delete
    #[arg(long, value_name = "GLOB")]
    delete: Vec<String>,
    /// Hosts it may send requests to, such as `api.example.com`
    #[arg(long, value_name = "HOST")]
    http: Vec<String>,
    /// The size limit of its store in bytes, per vault
    #[arg(long, value_name = "BYTES")]
    store_bytes: Option<u64>,
}

impl GrantFlags {
    /// The grant as settings.
    pub(super) fn settings(self) -> GrantSettings {
        GrantSettings {
            read: self.read,
            write: self.write,
            delete: self.delete,
            http: self.http,
            store_bytes: self.store_bytes,
        }
    }
}

/// Fetches and inspects a component. Nothing is installed yet.
pub(super) fn examine(
    loaded: &Loaded,
    from: &str,
    expected: Option<&str>,
    terms: &Requirements,
) -> Result<Candidate, Failure> {
    let state = &loaded.running.state;
    options::block_on(async {
        let mut offer = Offer::fetch(from, terms.signature.as_deref()).await?;
        offer.digest = terms.digest.clone();
        let runtime = Runtime::new(&loaded.settings.limits, &state.join("compiled"))?;
        let trust = &loaded.settings.trust;
        let examined = Candidate::examine(offer, expected, trust, &runtime, state).await;
        examined.map_err(|error| refused(from, &error))
    })?
}

/// The inspected component as JSON.
pub(super) fn to_json(inspected: &Inspected) -> Value {
    let contract = inspected.contract().map(|contract| contract.to_string());
    let producers: Vec<String> = inspected
        .producers
        .iter()
        .map(|producer| format!("{} {}", producer.name, producer.version))
        .collect();
    json!({
        "digest": format!("sha256:{}", inspected.digest),
        "size": inspected.size,
        "contract": contract,
        "imports": inspected.imports,
        "exports": inspected.exports,
        "manifest": inspected.manifest,
        "made_with": producers,
    })
}

/// The differences to the previous version, one line each; those that widen its access are marked.
pub(super) fn difference(terminal: &Terminal, candidate: &Candidate) -> String {
    let changes = candidate
        .difference
        .iter()
        .flat_map(|found| found.changes());
    changes
        .map(|change| match change.widens {
            true => format!("  {} {}\n", terminal.bad("!"), terminal.safe(&change.words)),
            false => format!("    {}\n", terminal.safe(&change.words)),
        })
        .collect()
}

/// The failure of a refused component.
pub(super) fn refused(from: &str, error: &Refused) -> Failure {
    let name = Path::new(from).file_name().unwrap_or_default();
    Failure::call(format!(
        "`{}` was refused, and nothing was changed: {error}",
        name.to_string_lossy()
    ))
    .with_any_hint(error.hint())
}

impl From<OfferError> for Failure {
    fn from(error: OfferError) -> Self {
        Failure::call(error.to_string()).with_any_hint(error.hint())
    }
}

impl From<PackagesError> for Failure {
    fn from(error: PackagesError) -> Self {
        let hint = match &error {
            PackagesError::Tampered { .. } => {
                Some("install it again: `notehost component upgrade NAME FILE`".to_owned())
            }
            PackagesError::Newer { .. } => {
                Some("upgrade Notehost, or use another `--state`".to_owned())
            }
            PackagesError::Untrusted { reason, .. } => Some(reason.hint()),
            _ => None,
        };
        Failure::call(error.to_string()).with_any_hint(hint)
    }
}
