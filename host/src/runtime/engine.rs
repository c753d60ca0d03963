//! The wasmtime engine: how guests are compiled and where their memory comes from.

use std::time::Duration;

use wasmtime::{Config, Enabled, Engine, OptLevel, PoolingAllocationConfig};

use crate::config::LimitSettings;

/// How often a running guest is looked at.
const TICK: Duration = Duration::from_millis(10);

/// What a fresh instance may find already zeroed instead of having to map it.
const KEEP_RESIDENT: usize = 4 << 20;

/// How many core modules one component may consist of. One in Rust has about five; Python brings its interpreter, its
/// libraries and a stub for each interface of WASI as modules of their own, 38 in all. The pool only counts them: what
/// costs are memories and tables, of which a component in Python has one and two.
pub(super) const MOST_MODULES: u32 = 64;

/// An engine whose epoch ticks on a thread of its own, until the engine is gone.
pub(super) fn start(limits: &LimitSettings) -> wasmtime::Result<Engine> {
    let slots = u32::try_from(limits.concurrent_calls)
        .unwrap_or(u32::MAX)
        .max(1);
    let mut pool = PoolingAllocationConfig::default();
    pool.total_component_instances(slots)
        .total_core_instances(slots.saturating_mul(MOST_MODULES))
        .total_memories(slots)
        .total_tables(slots.saturating_mul(4))
        .total_stacks(slots)
        .max_memories_per_component(1)
        .max_core_instances_per_component(MOST_MODULES)
        .max_tables_per_component(20)
        .max_memory_size(limits.memory_bytes)
        .linear_memory_keep_resident(KEEP_RESIDENT)
        .table_keep_resident(64 << 10)
        .pagemap_scan(Enabled::Auto);

    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .cranelift_opt_level(OptLevel::Speed)
        // No function of the contract is asynchronous on the guest's side: its bookkeeping can be left out.
        .concurrency_support(false)
        // A small reservation makes fresh instances cheap; bounds are checked instead.
        .memory_reservation(limits.memory_bytes as u64)
        .memory_guard_size(64 << 10)
        .allocation_strategy(pool);
    let engine = Engine::new(&config)?;

    let ticking = engine.weak();
    std::thread::Builder::new()
        .name("notehost-epoch".into())
        .spawn(move || {
            while let Some(engine) = ticking.upgrade() {
                engine.increment_epoch();
                drop(engine);
                std::thread::sleep(TICK);
            }
        })?;
    Ok(engine)
}
