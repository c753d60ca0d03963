//! Undoing a change while another process holds the vault: that process does it, for the caller of the command line.

use notehost_sdk::Code;
use serde_json::{Map, Value};

use super::Context;
use super::undo::Undone;
use crate::cli::options;
use crate::cli::reach;
use crate::cli::remote::{self, RemoteError};
use crate::cli::ui::failure::Failure;
use notehost_config::{Confirm, VaultEntry};
use notehost_pipeline::CallError;

impl Context {
    /// Undoes a change in the process that holds the vault. `None` if that process has ended meanwhile.
    pub(super) fn undo_there(
        &self,
        entry: &VaultEntry,
        change: &str,
    ) -> Result<Option<Undone>, CallError> {
        let files = self.undo(entry, change, true)?.files;
        let mut loaded = self.loaded.clone();
        loaded.settings.vaults = vec![entry.clone()];
        // The person at the terminal named the change: there is nothing to confirm.
        loaded.settings.confirm = Confirm::Never;
        let arguments = Map::from_iter([("change".to_owned(), Value::from(change))]);
        let called = options::block_on(async {
            match reach::for_command(&loaded, None).await {
                Ok(Ok(_)) => Ok(None),
                Ok(Err(client)) => {
                    let called = remote::call(&client, "document", "undo", &arguments, false).await;
                    called.map(Some).map_err(|error| match error {
                        RemoteError::Call(error) => error,
                        RemoteError::Client(error) => unavailable(&error.into()),
                    })
                }
                Err(failure) => Err(unavailable(&failure)),
            }
        });
        let reply = called.map_err(|failure| unavailable(&failure))??;
        Ok(reply.map(|reply| Undone {
            files,
            change: reply
                .structured
                .get("change")
                .and_then(Value::as_str)
                .map(str::to_owned),
            is_recorded: true,
        }))
    }
}

fn unavailable(failure: &Failure) -> CallError {
    let error = CallError::new(Code::Unavailable, failure.message());
    match failure.hint() {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}
