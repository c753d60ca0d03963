//! The host functions of the contract's `vault`, `store` and `log` interfaces. Access is decided by the transaction.

use tracing::instrument;
use wasmtime::component::Resource;

use super::super::state::Refusal;
use super::v1::bindings::notehost::domain::{log, store, types, vault as wire};
use super::vault_view::{QUICK_BYTES, VaultHandle, VaultView};
use notehost_vault::{self as vault, Transaction};

/// The longest log line of a guest. The rest is cut.
const MAX_LINE_CHARS: usize = 1000;

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
    #[instrument(name = "vault.stat", level = "debug", skip_all)]
    async fn stat(
        &mut self,
        _: Resource<VaultHandle>,
        path: String,
    ) -> Result<wire::Entry, Refusal> {
        Ok(entry(self.enter()?.stat(&path)?))
    }

    #[instrument(name = "vault.read", level = "debug", skip_all)]
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

    #[instrument(name = "vault.list", level = "debug", skip_all)]
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

    #[instrument(name = "vault.resolve", level = "debug", skip_all)]
    async fn resolve(
        &mut self,
        _: Resource<VaultHandle>,
        name: String,
        source: Option<String>,
    ) -> Result<Vec<String>, Refusal> {
        self.enter_long(move |transaction| transaction.resolve(&name, source.as_deref()))
            .await
    }

    #[instrument(name = "vault.mentioning", level = "debug", skip_all)]
    async fn mentioning(
        &mut self,
        _: Resource<VaultHandle>,
        texts: Vec<String>,
    ) -> Result<Vec<String>, Refusal> {
        self.enter_long(move |transaction| transaction.mentioning(&texts))
            .await
    }

    #[instrument(name = "vault.access", level = "debug", skip_all)]
    async fn access(
        &mut self,
        _: Resource<VaultHandle>,
        path: String,
    ) -> wasmtime::Result<wire::Tier> {
        self.step()?;
        let tier = self
            .transaction
            .as_ref()
            .map_or(vault::Tier::None, |transaction| transaction.tier_at(&path));
        Ok(match tier {
            vault::Tier::None => wire::Tier::None,
            vault::Tier::Read => wire::Tier::Read,
            vault::Tier::Write => wire::Tier::Write,
            vault::Tier::Delete => wire::Tier::Delete,
        })
    }

    #[instrument(name = "vault.create", level = "debug", skip_all)]
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

    #[instrument(name = "vault.write", level = "debug", skip_all)]
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

    #[instrument(name = "vault.create_folder", level = "debug", skip_all)]
    async fn create_folder(
        &mut self,
        _: Resource<VaultHandle>,
        path: String,
    ) -> Result<(), Refusal> {
        Ok(self.enter()?.create_folder(&path)?)
    }

    #[instrument(name = "vault.rename", level = "debug", skip_all)]
    async fn rename(
        &mut self,
        _: Resource<VaultHandle>,
        from: String,
        to: String,
    ) -> Result<(), Refusal> {
        self.enter_long(move |transaction| transaction.rename(&from, &to))
            .await
    }

    #[instrument(name = "vault.remove", level = "debug", skip_all)]
    async fn remove(
        &mut self,
        _: Resource<VaultHandle>,
        path: String,
    ) -> Result<Vec<String>, Refusal> {
        self.enter_long(move |transaction| transaction.remove(&path))
            .await
    }

    #[instrument(name = "vault.trash", level = "debug", skip_all)]
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

    #[instrument(name = "vault.restore", level = "debug", skip_all)]
    async fn restore(
        &mut self,
        _: Resource<VaultHandle>,
        id: String,
        to: Option<String>,
    ) -> Result<String, Refusal> {
        self.enter_long(move |transaction| transaction.restore(&id, to.as_deref()))
            .await
    }

    #[instrument(name = "vault.history", level = "debug", skip_all)]
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
        Ok(changes.into_iter().map(change).collect())
    }

    #[instrument(name = "vault.before", level = "debug", skip_all)]
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

    #[instrument(name = "vault.undo", level = "debug", skip_all)]
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

    #[instrument(name = "vault.versions", level = "debug", skip_all)]
    async fn versions(
        &mut self,
        _: Resource<VaultHandle>,
        path: String,
        after: Option<String>,
        limit: u32,
    ) -> Result<Vec<wire::Version>, Refusal> {
        let versions = self
            .enter_long(move |transaction| transaction.versions(&path, after.as_deref(), limit))
            .await?;
        Ok(versions.into_iter().map(version).collect())
    }

    #[instrument(name = "vault.read_version", level = "debug", skip_all)]
    async fn read_version(
        &mut self,
        _: Resource<VaultHandle>,
        path: String,
        version: String,
    ) -> Result<wire::Blob, Refusal> {
        self.enter_long(move |transaction| transaction.read_version(&path, &version).map(blob))
            .await
    }

    #[instrument(name = "vault.name_version", level = "debug", skip_all)]
    async fn name_version(
        &mut self,
        _: Resource<VaultHandle>,
        path: String,
        version: String,
        name: Option<String>,
    ) -> Result<(), Refusal> {
        self.enter_long(move |transaction| {
            transaction.name_version(&path, &version, name.as_deref())
        })
        .await
    }

    async fn drop(&mut self, _: Resource<VaultHandle>) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl store::Host for VaultView<'_> {
    #[instrument(name = "store.get", level = "debug", skip_all)]
    async fn get(&mut self, key: String) -> Result<Option<Vec<u8>>, Refusal> {
        let value = self.enter()?.store_get(&key)?;
        Ok(value.map(|bytes| bytes.to_vec()))
    }

    #[instrument(name = "store.set", level = "debug", skip_all)]
    async fn set(&mut self, key: String, value: Vec<u8>) -> Result<(), Refusal> {
        self.enter_with(value.len(), move |transaction| {
            transaction.store_set(&key, &value)
        })
        .await
    }

    #[instrument(name = "store.remove", level = "debug", skip_all)]
    async fn remove(&mut self, key: String) -> Result<(), Refusal> {
        Ok(self.enter()?.store_remove(&key)?)
    }

    #[instrument(name = "store.keys", level = "debug", skip_all)]
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

fn change(change: vault::Change) -> wire::Change {
    wire::Change {
        id: change.id,
        time: change.time,
        caller: change.caller,
        action: change.action,
        undoes: change.undoes,
        undone: change.undone,
        files: change.files.into_iter().map(file_change).collect(),
    }
}

fn version(version: vault::Version) -> wire::Version {
    wire::Version {
        id: version.id,
        path: version.path,
        change: version.change.map(change),
        etag: version.etag,
        name: version.name,
        added: version.added,
        removed: version.removed,
        kept: version.kept,
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
