//! The view of a call that is lent to the host functions: each function enters through it, which counts the call, checks
//! its deadline and updates its rights.

use notehost_sdk::Code;
use std::sync::Arc;

use super::super::call_environment::{CallEnvironment, Notice};
use super::super::state::{CallState, Meter, Refusal, Stopped, UsageReport};
use notehost_index::Index;
use notehost_vault::{Transaction, VaultError};

/// Files of up to this size are read and staged on the async worker; larger ones on a thread that may block.
pub(super) const QUICK_BYTES: usize = 256 << 10;

#[allow(unreachable_pub, reason = "the generated bindings re-export it")]
/// The host's side of a `vault` handle. A call has one transaction, so a handle has no data.
pub struct VaultHandle;

/// The parts of a call that host functions may use: its transaction and its meter.
pub(super) struct VaultView<'a> {
    pub(super) domain: &'a Arc<str>,
    pub(super) meter: &'a mut Meter,
    pub(super) transaction: &'a mut Option<Transaction>,
    pub(super) index: &'a Option<Arc<Index>>,
    pub(super) environment: &'a Option<Arc<dyn CallEnvironment>>,
    pub(super) notices: &'a mut Vec<Notice>,
    tally: &'a mut UsageReport,
}

impl VaultView<'_> {
    pub(super) fn of(state: &mut CallState) -> VaultView<'_> {
        VaultView {
            domain: &state.domain,
            meter: &mut state.meter,
            transaction: &mut state.transaction,
            index: &state.index,
            environment: &state.environment,
            notices: &mut state.notices,
            tally: &mut state.tally,
        }
    }

    /// Counts a host call, and updates what the call may still do: a right that was revoked is gone from here on.
    pub(super) fn step(&mut self) -> Result<(), Stopped> {
        self.meter.enter()?;
        self.count_hidden();
        let Some(environment) = self.environment else {
            return Ok(());
        };
        let generation = environment.generation();
        if generation == self.meter.generation {
            return Ok(());
        }
        // Stored before the rights are read: a change in between is noticed at the next step.
        self.meter.generation = generation;
        let rights = environment
            .standing()
            .map_err(|reason| Stopped::Revoked(Box::new(reason)))?;
        if let Some(transaction) = self.transaction {
            transaction.narrow(rights.rules);
            transaction.close(rights.closed);
        }
        Ok(())
    }

    /// The same, for functions that can return an injected error.
    pub(super) fn step_or_refuse(&mut self) -> Result<(), Refusal> {
        self.step()?;
        match self.meter.refused() {
            None => Ok(()),
            Some(error) => Err(error.into()),
        }
    }

    /// Counts the previous host call as denied, if it succeeded but left out what the component is not granted.
    pub(super) fn count_hidden(&mut self) {
        if let Some(transaction) = self.transaction
            && transaction.access().rules.grant_usage().hidden
        {
            self.tally.used.denials += 1;
        }
    }

    /// Counts a host call that failed, if the cause is the grant of the component.
    pub(super) fn count_denied(&mut self, error: &VaultError) {
        let Some(transaction) = self.transaction else {
            return;
        };
        let met = transaction.access().rules.grant_usage();
        if met.hidden || met.narrowed && error.code() == Code::PermissionDenied {
            self.tally.used.denials += 1;
        }
    }

    /// Counts a host call, and returns the transaction.
    pub(super) fn enter(&mut self) -> Result<&mut Transaction, Refusal> {
        self.step_or_refuse()?;
        let transaction = self.transaction.as_mut();
        let transaction = transaction.ok_or_else(|| Refusal::Error(no_vault()))?;
        transaction.check_retained()?;
        Ok(transaction)
    }

    /// The same for work that may take long: on a thread that may block.
    pub(super) async fn enter_long<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Transaction) -> Result<T, VaultError> + Send + 'static,
    ) -> Result<T, Refusal> {
        self.enter()?;
        self.continue_long(work).await
    }

    /// The same for a host call that was counted already.
    pub(super) async fn continue_long<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Transaction) -> Result<T, VaultError> + Send + 'static,
    ) -> Result<T, Refusal> {
        let mut transaction = self
            .transaction
            .take()
            .ok_or_else(|| Refusal::Error(no_vault()))?;
        let done = tokio::task::spawn_blocking(move || {
            let result = work(&mut transaction);
            (transaction, result)
        })
        .await;
        match done {
            Ok((transaction, result)) => {
                *self.transaction = Some(transaction);
                Ok(result?)
            }
            Err(error) => {
                tracing::error!("a host function failed: {error}");
                Err(Refusal::Error(VaultError::broken("a host function failed")))
            }
        }
    }

    /// Does something with so many bytes: here if they are few, else on a thread that may block.
    pub(super) async fn enter_with<T: Send + 'static>(
        &mut self,
        bytes: usize,
        work: impl FnOnce(&mut Transaction) -> Result<T, VaultError> + Send + 'static,
    ) -> Result<T, Refusal> {
        match bytes <= QUICK_BYTES {
            true => Ok(work(self.enter()?)?),
            false => self.enter_long(work).await,
        }
    }
}

pub(super) fn no_vault() -> VaultError {
    VaultError::broken("no vault is available while a component describes itself")
}
