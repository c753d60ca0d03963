//! The sandbox: components are compiled once, and each call gets a fresh instance with its limits and one vault
//! handle. Only `abi/` knows the generated WIT bindings. Which component may run, and what happens to its staged
//! changes, is decided elsewhere.

pub mod packages;

mod abi;
mod cache;
mod call_environment;
mod component;
mod contract;
mod cpu_scheduler;
mod description;
mod egress;
mod engine;
mod fair_permits;
mod fault_injection;
mod http;
mod imports;
mod inspect;
mod manifest;
mod output;
mod prompts;
mod repeatable;
mod state;

pub use call_environment::{CallEnvironment, CallRights, Notice, Progress, Repeatable, Used};
pub use component::{Component, LoadError};
pub use contract::{Contract, ContractError, SUPPORTED, Track};
pub use description::{ActionDescription, Description, DescriptionError, check_name};
pub use egress::{Denial, DenyEgress, EgressPolicy, Permit};
pub use fault_injection::{Fault, FaultInjector};
pub use inspect::{InspectError, Inspected, MAX_COMPONENT_BYTES, Producer, digest, inspect};
pub use manifest::{MANIFEST_SECTION, Manifest, ManifestError, ManifestLimits, with_manifest};
pub use prompts::{BadPrompt, Piece, pieces};

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use cache::CompiledCode;
use fair_permits::{FairPermits, Shares};
use notehost_config::LimitSettings;
use notehost_index::Index;
use notehost_vault::{Transaction, VaultError};
use state::CallState;

/// The calls that a caller may run at once as long as any slot is free; above it, no more than there are free slots.
const MIN_CALLS_PER_CALLER: usize = 4;
/// The number of calls with the maximum memory that fit into the shared memory. One caller may use half of it.
const FULL_SIZE_CALLS: usize = 8;

/// Everything that compiling and running components needs.
pub struct Runtime {
    sandbox: Arc<Sandbox>,
    /// One per slot of the instance pool; a call waits if none is free or its caller has its share.
    slots: Arc<FairPermits>,
    limits: LimitSettings,
    /// How many components are being compiled or loaded.
    compiling: AtomicUsize,
}

/// Compiles and links components.
struct Sandbox {
    engine: wasmtime::Engine,
    linker: wasmtime::component::Linker<CallState>,
    compiled: CompiledCode,
    /// CPU-bound guests share these, round-robin by caller.
    long_runners: Arc<FairPermits>,
}

/// One action to run.
pub struct Job {
    /// The caller: slots, processors and memory are shared between callers.
    pub caller: Arc<str>,
    /// The domain's name, for the log.
    pub domain: Arc<str>,
    /// The action.
    pub action: String,
    /// Its arguments, as JSON text.
    pub arguments: Arc<str>,
    /// What the action reads and writes through.
    pub transaction: Transaction,
    /// The index of the vault.
    pub index: Arc<Index>,
    /// The environment that it may query.
    pub environment: Arc<dyn CallEnvironment>,
    /// Decides about the requests that it wants to send.
    pub egress: Arc<dyn EgressPolicy>,
    /// When it is terminated.
    pub deadline: Instant,
    /// Its limits; of memory at most what the sandbox was created for.
    pub limits: LimitSettings,
    /// Terminates it at once.
    pub cancelled: CancellationToken,
    /// Injected faults; `None` for calls of real callers.
    pub fault_injector: Option<Arc<dyn FaultInjector>>,
}

/// The outcome of an action: its reply, and what it staged.
pub struct Outcome {
    /// The guest's reply. Untrusted until checked.
    pub reply: GuestReply,
    /// What was read and staged.
    pub transaction: Transaction,
    /// Messages to the operators, to be shown after the commit.
    pub notices: Vec<Notice>,
}

/// The reply of a guest.
#[derive(Debug)]
pub struct GuestReply {
    /// A short, human-readable text.
    pub text: String,
    /// JSON, an object according to the guest.
    pub structured: String,
    /// Images, audio and links.
    pub content: Vec<GuestContent>,
}

/// Non-text content of a reply. MIME types and paths are what the guest claims.
pub use notehost_sdk::Content as GuestContent;

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The guest returned an error.
    #[error("{message}")]
    Refused {
        /// One of the contract's codes, unless the guest ignores it.
        code: String,
        /// For the model.
        message: String,
        /// For a person.
        hint: Option<String>,
        /// JSON, unless the guest ignores the contract.
        details: Option<String>,
    },
    /// Interrupted: the vault changed during the run and the guest returned an error. To be run again.
    #[error("files that it has read were changed meanwhile")]
    Conflict,
    /// The deadline passed.
    #[error("it exceeded its time limit of {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// The deadline passed before a slot was free.
    #[error("it was not started within {} ms", .0.as_millis())]
    NotStarted(Duration),
    /// The guests of this caller, or of all callers, use all of the shared memory.
    #[error("too much memory is in use")]
    OutOfSharedMemory,
    /// The caller cancelled the call.
    #[error("the call was cancelled")]
    Cancelled,
    /// It exceeded a limit.
    #[error("it {0}")]
    OverLimit(String),
    /// Rights of the call were revoked while it ran.
    #[error("{0}")]
    Revoked(Box<VaultError>),
    /// The guest trapped. The reason is for the log: a trap never reaches a caller verbatim.
    #[error("it failed")]
    Failed(String),
    /// The component could not be loaded after all.
    #[error(transparent)]
    Load(Arc<LoadError>),
}

impl Runtime {
    /// An engine with its instance pool, its ticking clock and its folder of compiled code.
    pub fn new(limits: &LimitSettings, compiled: &Path) -> Result<Runtime, LoadError> {
        let (engine, room) = engine::start(limits).map_err(LoadError::engine)?;
        Ok(Runtime {
            sandbox: Arc::new(Sandbox {
                linker: abi::linker(&engine).map_err(LoadError::engine)?,
                compiled: CompiledCode::new(compiled, &engine, limits, room),
                long_runners: cpu_scheduler::long_runners(),
                engine,
            }),
            slots: FairPermits::new(
                limits.concurrent_calls,
                Shares {
                    min_permits: MIN_CALLS_PER_CALLER,
                    max_bytes: limits.memory_bytes.saturating_mul(FULL_SIZE_CALLS),
                },
            ),
            limits: limits.clone(),
            compiling: AtomicUsize::new(0),
        })
    }

    /// Whether a component is being compiled, so that work of low priority can wait.
    pub fn is_compiling(&self) -> bool {
        self.compiling.load(Ordering::Relaxed) > 0
    }

    /// Run one action on a fresh instance.
    pub async fn run(&self, component: &Component, mut job: Job) -> Result<Outcome, RunError> {
        // Settings that came after the start may allow more than there is room for.
        job.limits.memory_bytes = job.limits.memory_bytes.min(self.limits.memory_bytes);
        let ready = component.ready(self).await.map_err(RunError::Load)?;
        let cancelled = job.cancelled.clone();
        let deadline = job.deadline;
        let allowed = deadline.saturating_duration_since(Instant::now());
        let has_started = AtomicBool::new(false);
        let whole_run = async {
            // Dropped last: the slot is free when the instance has given back its memory.
            let waiting = tracing::debug_span!("guest.wait");
            let slot = self.slots.acquire(&job.caller).instrument(waiting).await;
            let slot = Arc::new(slot);
            has_started.store(true, Ordering::Relaxed);
            abi::call(&self.sandbox, &ready, job, slot.clone()).await
        };
        tokio::select! {
            biased;
            outcome = whole_run => outcome,
            // Guest code stops at its epoch; this ends a host call that hangs, and dropping the run stops both.
            () = tokio::time::sleep_until(deadline.into()) => Err(match has_started.load(Ordering::Relaxed) {
                true => RunError::TimedOut(allowed),
                false => RunError::NotStarted(allowed),
            }),
            () = cancelled.cancelled() => Err(RunError::Cancelled),
        }
    }

    /// The description of a component, from a sandbox where every vault function fails.
    pub async fn describe(&self, component: &Component) -> Result<Description, LoadError> {
        let ready = component.ready(self).await.map_err(LoadError::shared)?;
        let deadline = Instant::now() + Duration::from_millis(self.limits.call_ms);
        let description = abi::describe(&self.sandbox, &ready, deadline, &self.limits).await?;
        description.check()?;
        description.check_schemas()?;
        Ok(description)
    }
}
