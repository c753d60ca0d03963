//! The conformance kit: does a component keep the contract? It is run in a sandbox of its own, on a vault made for it,
//! and met with everything that happens to a component sooner or later: odd input, nothing to see, a refusal or a caller
//! who gives up at any host call, notes that change under its hands.
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

/// How long one call may take, in milliseconds. Far longer than any honest one on a busy machine.
const CALL_MS: u64 = 10_000;

/// Why the kit could not judge.
#[derive(Debug, thiserror::Error)]
pub enum ConformanceError {
    /// There is no room for a vault.
    #[error("the test vault cannot be created: {0}")]
    Folder(#[from] std::io::Error),
    /// The vault cannot be used.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The sandbox cannot be made.
    #[error(transparent)]
    Runtime(#[from] LoadError),
}

/// Put a component through everything. `compiled` is the folder of compiled code.
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

    let ground = TestVault::new(&runtime, component, &description, limits)?;
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

/// Whether it can be loaded, and says what it is.
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
