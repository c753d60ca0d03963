//! The store data of one call: its meter, its transaction, and a WASI context without any access.

use std::sync::Arc;
use std::time::Instant;

use wasmtime::component::ResourceTable;
use wasmtime::{ResourceLimiter, StoreContextMut, UpdateDeadline};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

use super::call_environment::{CallEnvironment, Notice, Used};
use super::cpu_scheduler::Turn;
use super::egress::EgressPolicy;
use super::engine::MAX_MODULES;
use super::fair_permits::Permit;
use super::fault_injection::{Fault, FaultInjector};
use super::http::Outgoing;
use super::output::{GuestOutput, MAX_BYTES};
use super::repeatable;
use notehost_config::LimitSettings;
use notehost_index::Index;
use notehost_vault::{Transaction, VaultError};

/// How many handles a guest may hold at once; it needs a handful for its output streams.
const MAX_HANDLES: usize = 1024;
/// How much the headers of one request may take.
const MAX_HEADER_BYTES: usize = 64 << 10;
/// The first so many bytes of a guest's memory are not counted against what all guests share: every call gets them.
const UNCOUNTED_BYTES: usize = 8 << 20;

/// Why the host ends a guest.
#[derive(Debug, thiserror::Error)]
pub(super) enum Stopped {
    #[error("passed its deadline")]
    Deadline,
    #[error("was cancelled")]
    Cancelled,
    #[error("exceeded its {0} MiB of memory")]
    Memory(usize),
    #[error("exceeded the memory that is left for all calls")]
    SharedMemory,
    #[error("exceeded the table limit")]
    Table,
    #[error("exceeded its {0} host calls")]
    HostCalls(u64),
    #[error("lost its rights during the call: {0}")]
    Revoked(Box<VaultError>),
}

/// The data of a call's store.
pub(super) struct CallState {
    pub(super) domain: Arc<str>,
    pub(super) meter: Meter,
    /// `None` while a component describes itself, and while a long operation has it on another thread.
    pub(super) transaction: Option<Transaction>,
    /// `None` while a component describes itself.
    pub(super) index: Option<Arc<Index>>,
    /// `None` while a component describes itself.
    pub(super) environment: Option<Arc<dyn CallEnvironment>>,
    pub(super) notices: Vec<Notice>,
    pub(super) tally: UsageReport,
    wasi: WasiCtx,
    http: WasiHttpCtx,
    outgoing: Outgoing,
    table: ResourceTable,
}

/// What a call has used.
pub(super) struct Meter {
    host_calls_left: u64,
    host_calls: u64,
    deadline: Instant,
    memory_bytes: usize,
    pub(super) fault_injector: Option<Arc<dyn FaultInjector>>,
    /// The error that the fault injector wants this host call to fail with.
    refused: Option<VaultError>,
    /// The generation of the call's rights.
    pub(super) generation: u64,
    /// How much it may still log.
    pub(super) log_bytes_left: usize,
    turn: Turn,
    /// Counts its memory. `None` while a component describes itself.
    permit: Option<Arc<Permit>>,
}

/// The usage of a run. It is reported on drop, so also if the run is cancelled.
pub(super) struct UsageReport {
    pub(super) used: Used,
    environment: Option<Arc<dyn CallEnvironment>>,
}

impl Drop for UsageReport {
    fn drop(&mut self) {
        if let Some(environment) = self.environment.take() {
            environment.used(self.used);
        }
    }
}

impl CallState {
    pub(super) fn new(
        domain: Arc<str>,
        transaction: Option<Transaction>,
        index: Option<Arc<Index>>,
        environment: Option<Arc<dyn CallEnvironment>>,
        deadline: Instant,
        limits: &LimitSettings,
        turn: Turn,
    ) -> CallState {
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_HANDLES);
        CallState {
            wasi: nothing_ambient(&domain, environment.as_ref()),
            http: http_with_short_headers(),
            outgoing: Outgoing::nowhere(deadline),
            table,
            meter: Meter {
                host_calls_left: limits.host_calls,
                host_calls: limits.host_calls,
                deadline,
                memory_bytes: limits.memory_bytes,
                fault_injector: None,
                refused: None,
                generation: environment
                    .as_ref()
                    .map_or(0, |environment| environment.began()),
                log_bytes_left: MAX_BYTES,
                turn,
                permit: None,
            },
            tally: UsageReport {
                used: Used::default(),
                environment: environment.clone(),
            },
            transaction,
            index,
            environment,
            notices: Vec::new(),
            domain,
        }
    }

    /// The same, with its memory counted by a permit.
    pub(super) fn with_permit(mut self, permit: Arc<Permit>) -> CallState {
        self.meter.permit = Some(permit);
        self
    }

    /// The same, with requests to what `outside` permits.
    pub(super) fn with_egress(
        mut self,
        egress: Arc<dyn EgressPolicy>,
        limits: &LimitSettings,
    ) -> CallState {
        self.outgoing = Outgoing::through(egress, self.meter.deadline, limits);
        self
    }
}

fn http_with_short_headers() -> WasiHttpCtx {
    let mut http = WasiHttpCtx::new();
    http.set_field_size_limit(MAX_HEADER_BYTES);
    http
}

/// No files, no environment, no arguments, no network, closed input; what it prints goes to the log. Where a run can be
/// repeated, its clock stands and its random numbers follow from a seed.
fn nothing_ambient(domain: &Arc<str>, environment: Option<&Arc<dyn CallEnvironment>>) -> WasiCtx {
    let output = |stream| GuestOutput::new(domain.clone(), stream, environment.cloned());
    let mut builder = WasiCtx::builder();
    if let Some(repeatable) = environment.and_then(|environment| environment.repeatable()) {
        repeatable::freeze(&mut builder, &repeatable);
    }
    builder
        .stdout(output("stdout"))
        .stderr(output("stderr"))
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .build()
}

impl WasiView for CallState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl WasiHttpView for CallState {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView {
            ctx: &mut self.http,
            table: &mut self.table,
            hooks: &mut self.outgoing,
        }
    }
}

impl Meter {
    /// Count one host call. Host calls are under the same deadline as guest code.
    pub(super) fn enter(&mut self) -> Result<(), Stopped> {
        self.turn.let_go();
        self.host_calls_left = self
            .host_calls_left
            .checked_sub(1)
            .ok_or(Stopped::HostCalls(self.host_calls))?;
        if Instant::now() >= self.deadline {
            return Err(Stopped::Deadline);
        }
        match &self.fault_injector {
            None => Ok(()),
            Some(fault_injector) => {
                let fault = fault_injector.at(self.host_calls - self.host_calls_left);
                self.inject_fault(fault)
            }
        }
    }

    /// The error that the fault injector wants this host call to fail with.
    pub(super) fn refused(&mut self) -> Option<VaultError> {
        self.refused.take()
    }

    fn inject_fault(&mut self, fault: Fault) -> Result<(), Stopped> {
        self.refused = match fault {
            Fault::Nothing => None,
            Fault::Refuse(error) => Some(error),
            Fault::Cancel => return Err(Stopped::Cancelled),
        };
        Ok(())
    }

    /// What happens at each tick while guest code runs: others get a turn, and a guest past its deadline is ended.
    pub(super) fn tick(
        mut state: StoreContextMut<'_, CallState>,
    ) -> wasmtime::Result<UpdateDeadline> {
        let meter = &mut state.data_mut().meter;
        if Instant::now() >= meter.deadline {
            return Err(Stopped::Deadline.into());
        }
        Ok(UpdateDeadline::YieldCustom(
            1,
            Box::pin(meter.turn.pass_on()),
        ))
    }
}

impl ResourceLimiter for CallState {
    fn memory_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if desired > self.meter.memory_bytes {
            return Err(Stopped::Memory(self.meter.memory_bytes >> 20).into());
        }
        let counted = desired.saturating_sub(UNCOUNTED_BYTES);
        let permit = self.meter.permit.as_ref();
        if permit.is_some_and(|permit| !permit.count_bytes(counted)) {
            return Err(Stopped::SharedMemory.into());
        }
        let used = &mut self.tally.used;
        used.memory_bytes = used.memory_bytes.max(desired);
        Ok(true)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        // The pool gives each table this many places.
        if desired > 20_000 {
            return Err(Stopped::Table.into());
        }
        Ok(true)
    }

    fn instances(&self) -> usize {
        MAX_MODULES as usize
    }

    fn tables(&self) -> usize {
        20
    }

    fn memories(&self) -> usize {
        1
    }
}

/// Why a host function failed: with an error that the guest receives, or with the end of the guest.
#[derive(Debug)]
pub(super) enum Refusal {
    Error(VaultError),
    Stop(Stopped),
}

impl From<VaultError> for Refusal {
    fn from(error: VaultError) -> Self {
        Refusal::Error(error)
    }
}

impl From<Stopped> for Refusal {
    fn from(stopped: Stopped) -> Self {
        Refusal::Stop(stopped)
    }
}
