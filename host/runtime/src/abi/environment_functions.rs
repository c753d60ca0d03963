//! The functions of the contract's `host` and `progress` interfaces: information about the host and messages to
//! people. Messages are kept and shown after the commit; progress is reported at once.

use notehost_sdk::host::{About, CallerInfo, Conventions, LimitLeft, Now};
use tracing::instrument;
use wasmtime::component::Resource;

use super::super::call_environment::{Notice, Progress};
use super::super::state::Refusal;
use super::v1::bindings::notehost::domain::{host, log, progress, types};
use super::vault_view::{VaultHandle, VaultView, no_vault};
use notehost_vault::VaultError;

/// The longest message, in characters.
const MAX_NOTICE_CHARS: usize = 1000;
/// The number of messages that one call may show.
const MAX_NOTICES: usize = 20;
/// The longest message of a progress report, in characters. The rest is cut.
const MAX_PROGRESS_CHARS: usize = 200;

impl host::Host for VaultView<'_> {
    #[instrument(name = "host.now", level = "debug", skip_all)]
    async fn now(&mut self) -> wasmtime::Result<host::LocalTime> {
        self.step()?;
        let environment = self.environment.as_ref();
        let now = environment.map(|environment| environment.now());
        Ok(local_time(now.unwrap_or_default()))
    }

    #[instrument(name = "host.about", level = "debug", skip_all)]
    async fn about(&mut self, _: Resource<VaultHandle>) -> Result<host::HostInfo, Refusal> {
        self.step_or_refuse()?;
        let environment = self.environment.as_ref().ok_or_else(no_vault)?;
        Ok(host_info(environment.about()))
    }

    #[instrument(name = "host.caller", level = "debug", skip_all)]
    async fn caller(&mut self, _: Resource<VaultHandle>) -> Result<host::CallerInfo, Refusal> {
        self.step_or_refuse()?;
        let environment = self.environment.as_ref().ok_or_else(no_vault)?;
        Ok(caller_info(environment.caller()))
    }

    #[instrument(name = "host.conventions", level = "debug", skip_all)]
    async fn conventions(
        &mut self,
        _: Resource<VaultHandle>,
    ) -> Result<host::NoteConventions, Refusal> {
        let environment = self.environment.clone().ok_or_else(no_vault)?;
        let conventions = self
            .enter_long(move |transaction| Ok(environment.conventions(transaction)))
            .await?;
        Ok(note_conventions(conventions))
    }

    #[instrument(name = "host.notify", level = "debug", skip_all)]
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

fn local_time(now: Now) -> host::LocalTime {
    host::LocalTime {
        milliseconds: now.milliseconds,
        offset_minutes: now.offset_minutes,
        zone: now.zone,
    }
}

fn host_info(about: About) -> host::HostInfo {
    let domains = about.domains.into_iter().map(|domain| host::DomainInfo {
        name: domain.name,
        version: domain.version,
        actions: domain.actions,
    });
    host::HostInfo {
        version: about.version,
        vault: about.vault,
        vaults: about.vaults,
        surface: about.surface,
        read_only: about.read_only,
        started: about.started,
        tag_policy: match about.tag_policy.as_str() {
            "existing" => host::TagPolicy::Existing,
            _ => host::TagPolicy::Open,
        },
        domains: domains.collect(),
    }
}

fn caller_info(caller: CallerInfo) -> host::CallerInfo {
    host::CallerInfo {
        name: caller.name,
        scopes: caller.scopes,
        bound_to: caller.bound_to,
        calls: caller.calls,
        limits: caller.limits.into_iter().filter_map(rate_limit).collect(),
    }
}

fn rate_limit(limit: LimitLeft) -> Option<host::RateLimit> {
    Some(host::RateLimit {
        effect: match limit.effect.as_str() {
            "read" => types::Effect::Read,
            "write" => types::Effect::Write,
            "delete" => types::Effect::Delete,
            _ => return None,
        },
        per_minute: limit.per_minute,
        left: limit.left,
    })
}

fn note_conventions(conventions: Conventions) -> host::NoteConventions {
    let types = conventions.property_types.into_iter();
    let types = types.map(|(key, kind)| host::PropertyType { key, kind });
    host::NoteConventions {
        attachments: conventions.attachments,
        // From a file of the editor: another value is none.
        link_format: match conventions.link_format.as_deref() {
            Some("shortest") => Some(host::LinkFormat::Shortest),
            Some("relative") => Some(host::LinkFormat::Relative),
            Some("absolute") => Some(host::LinkFormat::Absolute),
            _ => None,
        },
        markdown_links: conventions.markdown_links,
        templates: conventions.templates,
        template_date: conventions.template_date,
        template_time: conventions.template_time,
        daily_notes: conventions.daily_notes,
        daily_format: conventions.daily_format,
        property_types: types.collect(),
    }
}
