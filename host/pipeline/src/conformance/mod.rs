//! The conformance suite: does a component keep the contract? The component runs in its own sandbox on a test vault and
//! meets unusual input, missing permissions, a refusal or cancellation at any host call, and notes that change
//! concurrently.
//!
//! ```text
//! description ─ schemas, words          what it says of itself, without a call
//! arguments ── calls ─┬─ manners        what it answers to all kinds of input
//!                     └─ trials         what it does when things go wrong
//! ground                                the vault, and one run on it
//! ```
//!
//! Nothing is committed: a call that writes is judged by what it staged.

mod arguments;
mod calls;
mod description;
mod fault_checks;
mod fault_injection;
mod reply_checks;
mod report;
mod test_vault;

pub use report::{Check, Finding, Report, Verdict};

use std::path::Path;

use calls::Calls;
use notehost_config::LimitSettings;
use notehost_runtime::{Component, Description, LoadError, Runtime};
use notehost_vault::VaultError;
use report::Findings;
use test_vault::TestVault;

/// The time limit of one call, in milliseconds. Far longer than a correct call takes on a busy machine.
const CALL_MS: u64 = 10_000;

/// Why the conformance suite could not run.
#[derive(Debug, thiserror::Error)]
pub enum ConformanceError {
    /// The test vault cannot be created.
    #[error("the test vault cannot be created: {0}")]
    Folder(#[from] std::io::Error),
    /// The vault cannot be used.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The sandbox cannot be created.
    #[error(transparent)]
    Runtime(#[from] LoadError),
}

/// Runs all checks on a component. `compiled` is the folder of compiled code.
pub async fn test(component: &Component, compiled: &Path) -> Result<Report, ConformanceError> {
    let limits = LimitSettings {
        call_ms: CALL_MS,
        concurrent_calls: 4,
        ..LimitSettings::default()
    };
    let runtime = Runtime::new(&limits, compiled)?;
    let mut report = Report::of(component);
    let Some(description) = describe(&runtime, component, &mut report).await else {
        report.skip_the_rest();
        return Ok(report);
    };
    description::schemas(&description, &mut report);
    description::words(&description, &mut report);

    let test_vault = TestVault::new(&runtime, component, &description, limits)?;
    let calls = Calls::find(&test_vault, &description).await;
    description::examples(&test_vault, &description, &mut report).await;
    let over_limits = reply_checks::judge(&test_vault, &calls, &mut report).await;
    fault_checks::limits(&test_vault, &calls, over_limits, &mut report).await;
    fault_checks::repetition(&test_vault, &calls, &mut report).await;
    fault_checks::denial(&test_vault, &calls, &mut report).await;
    fault_checks::cancellation(&test_vault, &calls, &mut report).await;
    // Last, because it changes the vault.
    fault_checks::conflict(&test_vault, &calls, &mut report).await;
    report.calls = test_vault.runs();
    Ok(report)
}

/// Checks that it can be loaded and describes itself.
async fn describe(
    runtime: &Runtime,
    component: &Component,
    report: &mut Report,
) -> Option<Description> {
    let mut findings = Findings::default();
    let described = match runtime.describe(component).await {
        Ok(description) => Some(description),
        Err(error) => {
            findings.add(error.to_string());
            None
        }
    };
    if let Some(first) = &described {
        description::identity(first, &mut findings);
        match runtime.describe(component).await {
            Ok(second) if second == *first => {}
            Ok(_) => findings.add(
                "its second description differs from the first: a description must be constant",
            ),
            Err(error) => findings.add(format!(
                "its description cannot be read a second time: {error}"
            )),
        }
    }
    if let Some(description) = &described {
        report.name = description.name.clone();
        report.version = description.version.clone();
    }
    report.check(
        "describe",
        "it describes itself, the same way each time",
        findings,
    );
    described
}
