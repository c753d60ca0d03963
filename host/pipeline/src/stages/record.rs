//! The audit record of every call, including refused and failed ones: who, what, how long, which outcome. Never the
//! content of notes.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::authorize::Allowed;
use super::commit::Landed;
use super::stage_clock::StageClock;
use crate::capabilities::live_rights::LiveRights;
use crate::registry::Domain;
use crate::{CallError, Host, Reply, Request};
use notehost_platform::clock::now_ms;
use notehost_policy::Confirmed;
use notehost_policy::auth::Caller;
use notehost_records::audit::{Entry, InFlight, Usage};

/// The maximum number of recorded paths of a call, and the maximum length of each.
const MAX_PATHS: usize = 20;
const MAX_PATH_CHARS: usize = 256;

/// A call in progress. A cancelled call is recorded as well, when this is dropped.
pub struct Record<'h> {
    host: &'h Host,
    clock: StageClock,
    entry: Entry,
    /// The resources its component used, and how it failed.
    component_call: Option<(Arc<LiveRights>, Arc<Domain>)>,
    _in_flight: InFlight,
}

impl<'h> Record<'h> {
    pub(crate) fn begin(host: &'h Host, caller: &Caller, request: &Request) -> Record<'h> {
        let arguments = serde_json::to_vec(&request.arguments).unwrap_or_default();
        let mut hash = blake3::hash(&arguments).to_hex().to_string();
        hash.truncate(16);
        let domains = host.registry().snapshot();
        let domain = domains.domain(&request.domain);
        Record {
            host,
            clock: StageClock::start(host.audit().is_traced()),
            entry: Entry {
                time: now_ms(),
                caller: caller.audit_name(),
                transport: caller.entrance().as_str(),
                domain: shortened(&request.domain),
                action: shortened(&request.action),
                is_known: domain.is_some_and(|domain| domain.action(&request.action).is_some()),
                version: domain.map(|domain| domain.version.clone()),
                paths: requested_paths(&request.arguments),
                traceparent: request.traceparent.clone(),
                outcome: "cancelled",
                arguments: hash,
                tokens_in: tokens(arguments.len()),
                ..Entry::default()
            },
            component_call: None,
            _in_flight: InFlight::begin(),
        }
    }

    /// Measures the stages of the call.
    pub(crate) fn clock(&self) -> StageClock {
        self.clock.clone()
    }

    /// The call may run.
    pub(crate) fn allowed(&mut self, allowed: &Allowed) {
        self.entry.vault = Some(allowed.vault.id().to_owned());
        let domain = &allowed.checked.found.domain;
        self.entry.version = Some(domain.version.clone());
        self.component_call = Some((allowed.live_rights.clone(), domain.clone()));
    }

    /// The resources the component used, if it ran.
    fn usage(&self) -> Option<Usage> {
        let (live_rights, domain) = self.component_call.as_ref()?;
        let outcome = live_rights.guest_outcome();
        let used = outcome.used?;
        Some(Usage {
            digest: Arc::from(domain.component.as_ref()?.digest()),
            failure: outcome.failure,
            denials: used.denials,
            memory_bytes: used.memory_bytes as u64,
        })
    }

    /// Its reply exists.
    pub(crate) fn landed(&mut self, landed: &Landed, confirmed: Option<&Confirmed>) {
        self.entry.confirmed = confirmed.map(|confirmed| confirmed.via.as_str());
        self.entry.confirmed_by = confirmed.and_then(|confirmed| confirmed.by.clone());
        if !landed.footprint.paths.is_empty() {
            self.entry.paths = landed.footprint.paths.clone();
        }
        self.entry.bytes_added = landed.footprint.bytes_added;
        self.entry.bytes_removed = landed.footprint.bytes_removed;
        self.entry.bytes_written = landed.footprint.bytes_written;
        self.entry.change = landed.footprint.change.clone();
    }

    pub(crate) fn end(mut self, outcome: &Result<Reply, CallError>) {
        match outcome {
            Ok(reply) => {
                self.entry.outcome = "ok";
                // The path as the disk spells it.
                if let (None, Some(path)) = (
                    &self.entry.change,
                    reply.structured.get("path").and_then(Value::as_str),
                ) {
                    self.entry.paths = vec![shortened_path(path)];
                }
                self.entry.tokens_out = tokens(reply.text.len());
            }
            Err(error) => {
                self.entry.outcome = error.code.as_str();
                self.entry.tokens_out = tokens(error.message.len());
            }
        }
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        let usage = self.usage();
        let mut entry = std::mem::take(&mut self.entry);
        entry.usage = usage;
        entry.stages = self.clock.take();
        entry.microseconds =
            u64::try_from(self.clock.began().elapsed().as_micros()).unwrap_or(u64::MAX);
        self.host.audit().write(entry);
    }
}

/// Shortens a name sent by a caller, which may be anything.
fn shortened(name: &str) -> String {
    name.chars().take(64).collect()
}

/// The paths in the call's arguments, as spelled by the caller.
fn requested_paths(arguments: &Map<String, Value>) -> Vec<String> {
    let several = arguments.get("paths").and_then(Value::as_array);
    arguments
        .get("path")
        .into_iter()
        .chain(several.into_iter().flatten())
        .filter_map(Value::as_str)
        .take(MAX_PATHS)
        .map(shortened_path)
        .collect()
}

fn shortened_path(path: &str) -> String {
    path.chars().take(MAX_PATH_CHARS).collect()
}

/// Four bytes are about a token.
fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}
