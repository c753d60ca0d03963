//! The functions of the contract's `host` and `progress` interfaces: information about the host and messages to
//! people. Messages are kept and shown after the commit; progress is reported at once.

use serde::Serialize;
use wasmtime::component::Resource;

use super::super::call_environment::{Notice, Progress};
use super::super::state::Refusal;
use super::host_functions::{VaultHandle, VaultView, no_vault};
use super::v0_1::bindings::notehost::domain::{host, log, progress};
use notehost_vault::VaultError;

/// The longest message that is shown, in characters.
const MAX_NOTICE_CHARS: usize = 1000;
/// How many one call may show.
const MAX_NOTICES: usize = 20;
/// The longest words about how far a call is, in characters. The rest is left out.
const MAX_PROGRESS_CHARS: usize = 200;

impl host::Host for VaultView<'_> {
    async fn now(&mut self) -> wasmtime::Result<String> {
        self.step()?;
        let now = self
            .environment
            .as_ref()
            .map(|environment| environment.now());
        Ok(serde_json::to_string(&now.unwrap_or_default()).unwrap_or_default())
    }

    async fn about(&mut self, _: Resource<VaultHandle>) -> Result<String, Refusal> {
        self.step_or_refuse()?;
        let environment = self.environment.as_ref().ok_or_else(no_vault)?;
        told(&environment.about())
    }

    async fn caller(&mut self, _: Resource<VaultHandle>) -> Result<String, Refusal> {
        self.step_or_refuse()?;
        let environment = self.environment.as_ref().ok_or_else(no_vault)?;
        told(&environment.caller())
    }

    async fn conventions(&mut self, _: Resource<VaultHandle>) -> Result<String, Refusal> {
        let environment = self.environment.clone().ok_or_else(no_vault)?;
        let conventions = self
            .enter_long(move |transaction| Ok(environment.conventions(transaction)))
            .await?;
        told(&conventions)
    }

    async fn notify(&mut self, level: log::Level, message: String) -> Result<(), Refusal> {
        self.step_or_refuse()?;
        if message.trim().is_empty() {
            return Err(VaultError::invalid("a message must not be empty").into());
        }
        let length = message.chars().count();
        if length > MAX_NOTICE_CHARS {
            return Err(VaultError::too_large(format!(
                "a message may have {MAX_NOTICE_CHARS} characters at most; this one has {length}"
            ))
            .into());
        }
        if self.notices.len() >= MAX_NOTICES {
            return Err(VaultError::too_large(format!(
                "one call may show at most {MAX_NOTICES} messages"
            ))
            .into());
        }
        let level = match level {
            log::Level::Debug => "debug",
            log::Level::Info => "info",
            log::Level::Warn => "warn",
            log::Level::Error => "error",
        };
        self.notices.push(Notice { level, message });
        Ok(())
    }
}

impl progress::Host for VaultView<'_> {
    async fn report(
        &mut self,
        done: u64,
        total: Option<u64>,
        message: String,
    ) -> wasmtime::Result<()> {
        self.step()?;
        if let Some(environment) = self.environment {
            let words = message.chars().filter(|letter| !letter.is_control());
            environment.progress(Progress {
                done,
                total,
                message: words.take(MAX_PROGRESS_CHARS).collect(),
            });
        }
        Ok(())
    }
}

fn told(answer: &impl Serialize) -> Result<String, Refusal> {
    serde_json::to_string(answer)
        .map_err(|error| VaultError::broken(&format!("cannot serialize an answer: {error}")).into())
}
