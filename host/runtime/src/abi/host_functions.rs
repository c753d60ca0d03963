//! The host functions of the contract: each counts itself and then calls the transaction. Access is decided by the
//! transaction.

use notehost_sdk::Code;
use std::sync::Arc;

use wasmtime::component::Resource;

use super::super::call_environment::{CallEnvironment, Notice};
use super::super::state::{CallState, Meter, Refusal, Stopped, UsageReport};
use super::v0_1::bindings::notehost::domain::{log, store, types, vault as wire};
use notehost_index::Index;
use notehost_vault::{self as vault, Transaction, VaultError};

/// Files of up to this size are read and staged on the async worker; larger ones on a thread that may block.
const QUICK_BYTES: usize = 256 << 10;

/// The longest log line that is taken from a guest.
const MAX_LINE_CHARS: usize = 1000;

#[allow(unreachable_pub, reason = "the generated bindings re-export it")]
/// What `vault` handles stand for on this side. A call has one transaction, so a handle needs to say nothing.
pub struct VaultHandle;

/// What the host functions may touch of a call: its transaction and its meter.
pub(super) struct VaultView<'a> {
    domain: &'a Arc<str>,
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

    /// Count a host call, and see what the call may still do: what was taken from it meanwhile is gone from here on.
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
        // Remembered before it is asked: what changes meanwhile is met at the next step.
        self.meter.generation = generation;
        let standing = environment
            .standing()
            .map_err(|reason| Stopped::Revoked(Box::new(reason)))?;
        if let Some(transaction) = self.transaction {
            transaction.narrow(standing.rules);
            transaction.close(standing.closed);
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

    /// Count the host call before this one as denied, if it went well but left out what the component is not granted.
    pub(super) fn count_hidden(&mut self) {
        if let Some(transaction) = self.transaction
            && transaction.terms().rules.grant_usage().hidden
        {
            self.tally.used.denials += 1;
        }
    }

    /// Count a host call that refused, if it did because of what the component is granted.
    fn count_denied(&mut self, error: &VaultError) {
        let Some(transaction) = self.transaction else {
            return;
        };
        let met = transaction.terms().rules.grant_usage();
        if met.hidden || met.narrowed && error.code() == Code::PermissionDenied {
            self.tally.used.denials += 1;
        }
    }

    /// Count a host call, and give the transaction to do it with.
    pub(super) fn enter(&mut self) -> Result<&mut Transaction, Refusal> {
        self.step_or_refuse()?;
        let transaction = self.transaction.as_mut();
        let transaction = transaction.ok_or_else(|| Refusal::Error(no_vault()))?;
        transaction.check_retained()?;
        Ok(transaction)
    }

    /// The same for what may take long: on a thread that may block.
    pub(super) async fn enter_long<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Transaction) -> Result<T, VaultError> + Send + 'static,
    ) -> Result<T, Refusal> {
        self.enter()?;
        self.continue_long(work).await
    }

    /// The same for a host call that was counted already.
    async fn continue_long<T: Send + 'static>(
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
    async fn enter_with<T: Send + 'static>(
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

impl types::Host for VaultView<'_> {
    fn convert_error(&mut self, refusal: Refusal) -> wasmtime::Result<types::Error> {
        match refusal {
            Refusal::Stop(stopped) => Err(stopped.into()),
            Refusal::Error(error) => {
                self.count_denied(&error);
                Ok(types::Error {
                    code: error.code().to_string(),
                    message: error.to_string(),
                    hint: error.hint(),
                    details: error.details.as_ref().map(ToString::to_string),
                })
            }
        }
    }
}

impl wire::Host for VaultView<'_> {}

impl wire::HostVault for VaultView<'_> {
    async fn stat(
        &mut self,
        _: Resource<VaultHandle>,
        path: String,
    ) -> Result<wire::Entry, Refusal> {
        Ok(entry(self.enter()?.stat(&path)?))
    }

    async fn read(
        &mut self,
        _: Resource<VaultHandle>,
        path: String,
    ) -> Result<wire::Blob, Refusal> {
        if let Some(small) = self.enter()?.read_up_to(&path, QUICK_BYTES as u64)? {
            return Ok(blob(small));
        }
        self.continue_long(move |transaction| transaction.read(&path).map(blob))
            .await
    }

    async fn list(
        &mut self,
        _: Resource<VaultHandle>,
        folder: String,
        recursive: bool,
        after: Option<String>,
        limit: u32,
    ) -> Result<wire::Page, Refusal> {
        let is_quick = match &self.transaction {
            Some(transaction) => transaction.is_quick_to_list(&folder, recursive),
            None => false,
        };
        let list = move |transaction: &mut Transaction| {
            transaction.list(&folder, recursive, after.as_deref(), limit)
        };
        let page = match is_quick {
            true => list(self.enter()?)?,
            false => self.enter_long(list).await?,
        };
        Ok(wire::Page {
            entries: page.entries.into_iter().map(entry).collect(),
            next: page.next,
        })
    }

    async fn resolve(
        &mut self,
        _: Resource<VaultHandle>,
        name: String,
        source: Option<String>,
    ) -> Result<Vec<String>, Refusal> {
        self.enter_long(move |transaction| transaction.resolve(&name, source.as_deref()))
            .await
    }

    async fn mentioning(
        &mut self,
        _: Resource<VaultHandle>,
        texts: Vec<String>,
    ) -> Result<Vec<String>, Refusal> {
        self.enter_long(move |transaction| transaction.mentioning(&texts))
            .await
    }

    async fn access(
        &mut self,
        _: Resource<VaultHandle>,
        path: String,
    ) -> wasmtime::Result<wire::Tier> {
        self.step()?;
        let tier = self
            .transaction
            .as_ref()
            .map_or(vault::Tier::None, |transaction| transaction.access(&path));
        Ok(match tier {
            vault::Tier::None => wire::Tier::None,
            vault::Tier::Read => wire::Tier::Read,
            vault::Tier::Write => wire::Tier::Write,
            vault::Tier::Delete => wire::Tier::Delete,
        })
    }

    async fn create(
        &mut self,
        _: Resource<VaultHandle>,
        path: String,
        bytes: Vec<u8>,
    ) -> Result<String, Refusal> {
        self.enter_with(bytes.len(), move |transaction| {
            transaction.create(&path, &bytes)
        })
        .await
    }

    async fn write(
        &mut self,
        _: Resource<VaultHandle>,
        path: String,
        bytes: Vec<u8>,
        if_match: Option<String>,
    ) -> Result<String, Refusal> {
        self.enter_with(bytes.len(), move |transaction| {
            transaction.write(&path, &bytes, if_match.as_deref())
        })
        .await
    }

    async fn create_folder(
        &mut self,
        _: Resource<VaultHandle>,
        path: String,
    ) -> Result<(), Refusal> {
        Ok(self.enter()?.create_folder(&path)?)
    }

    async fn rename(
        &mut self,
        _: Resource<VaultHandle>,
        from: String,
        to: String,
    ) -> Result<(), Refusal> {
        self.enter_long(move |transaction| transaction.rename(&from, &to))
            .await
    }

    async fn remove(
        &mut self,
        _: Resource<VaultHandle>,
        path: String,
    ) -> Result<Vec<String>, Refusal> {
        self.enter_long(move |transaction| transaction.remove(&path))
            .await
    }

    async fn trash(
        &mut self,
        _: Resource<VaultHandle>,
        after: Option<String>,
        limit: u32,
    ) -> Result<Vec<wire::Trashed>, Refusal> {
        let trashed = self
            .enter_long(move |transaction| transaction.trash(after.as_deref(), limit))
            .await?;
        Ok(trashed
            .into_iter()
            .map(|item| wire::Trashed {
                id: item.id,
                path: item.path,
                size: item.size,
                removed: item.removed,
            })
            .collect())
    }

    async fn restore(
        &mut self,
        _: Resource<VaultHandle>,
        id: String,
        to: Option<String>,
    ) -> Result<String, Refusal> {
        self.enter_long(move |transaction| transaction.restore(&id, to.as_deref()))
            .await
    }

    async fn history(
        &mut self,
        _: Resource<VaultHandle>,
        path: Option<String>,
        after: Option<String>,
        limit: u32,
    ) -> Result<Vec<wire::Change>, Refusal> {
        let changes = self
            .enter_long(move |transaction| {
                transaction.history(path.as_deref(), after.as_deref(), limit)
            })
            .await?;
        Ok(changes
            .into_iter()
            .map(|change| wire::Change {
                id: change.id,
                time: change.time,
                caller: change.caller,
                action: change.action,
                undoes: change.undoes,
                undone: change.undone,
                files: change.files.into_iter().map(file_change).collect(),
            })
            .collect())
    }

    async fn before(
        &mut self,
        _: Resource<VaultHandle>,
        path: String,
        change: String,
    ) -> Result<Option<wire::Blob>, Refusal> {
        self.enter_long(move |transaction| {
            let before = transaction.before(&path, &change)?;
            Ok(before.map(blob))
        })
        .await
    }

    async fn undo(
        &mut self,
        _: Resource<VaultHandle>,
        change: String,
    ) -> Result<Vec<wire::FileChange>, Refusal> {
        let files = self
            .enter_long(move |transaction| transaction.undo(&change))
            .await?;
        Ok(files.into_iter().map(file_change).collect())
    }

    async fn drop(&mut self, _: Resource<VaultHandle>) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl store::Host for VaultView<'_> {
    async fn get(&mut self, key: String) -> Result<Option<Vec<u8>>, Refusal> {
        let value = self.enter()?.store_get(&key)?;
        Ok(value.map(|bytes| bytes.to_vec()))
    }

    async fn set(&mut self, key: String, value: Vec<u8>) -> Result<(), Refusal> {
        self.enter_with(value.len(), move |transaction| {
            transaction.store_set(&key, &value)
        })
        .await
    }

    async fn remove(&mut self, key: String) -> Result<(), Refusal> {
        Ok(self.enter()?.store_remove(&key)?)
    }

    async fn keys(&mut self, prefix: String) -> Result<Vec<String>, Refusal> {
        Ok(self.enter()?.store_keys(&prefix)?)
    }
}

impl log::Host for VaultView<'_> {
    async fn write(&mut self, level: log::Level, message: String) -> wasmtime::Result<()> {
        self.step()?;
        // Controlled by the guest: bounded per line and per call, control characters shown.
        let line: String = message.chars().take(MAX_LINE_CHARS).collect();
        let left = self.meter.log_bytes_left.checked_sub(line.len());
        let Some(left) = left else {
            self.meter.log_bytes_left = 0;
            return Ok(());
        };
        self.meter.log_bytes_left = left;
        let domain = &**self.domain;
        let shown = line.escape_debug();
        let word = match level {
            log::Level::Debug => {
                tracing::debug!(domain, "{shown}");
                "debug"
            }
            log::Level::Info => {
                tracing::info!(domain, "{shown}");
                "info"
            }
            log::Level::Warn => {
                tracing::warn!(domain, "{shown}");
                "warn"
            }
            log::Level::Error => {
                tracing::error!(domain, "{shown}");
                "error"
            }
        };
        if let Some(environment) = self.environment {
            environment.said(word, &line);
        }
        Ok(())
    }
}

fn entry(entry: vault::Entry) -> wire::Entry {
    wire::Entry {
        path: entry.path,
        kind: match entry.kind {
            vault::Kind::File => wire::Kind::File,
            vault::Kind::Folder => wire::Kind::Folder,
        },
        size: entry.size,
        modified: entry.modified,
    }
}

fn blob(blob: vault::Blob) -> wire::Blob {
    wire::Blob {
        bytes: blob.bytes.to_vec(),
        etag: blob.etag,
    }
}

fn file_change(change: vault::FileChange) -> wire::FileChange {
    wire::FileChange {
        path: change.path,
        kind: match change.kind {
            vault::ChangeKind::Create => wire::ChangeKind::Create,
            vault::ChangeKind::Modify => wire::ChangeKind::Modify,
            vault::ChangeKind::Rename => wire::ChangeKind::Rename,
            vault::ChangeKind::Delete => wire::ChangeKind::Delete,
        },
        from: change.from,
        before: change.before,
        after: change.after,
    }
}
