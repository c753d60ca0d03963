//! The wasmtime engine: compilation settings and the memory pool of guests.

use std::time::Duration;

use wasmtime::{Config, Enabled, Engine, OptLevel, PoolingAllocationConfig};

use notehost_config::LimitSettings;

/// The interval of the epoch ticks of running guests.
const TICK: Duration = Duration::from_millis(10);

/// How much memory a slot of the pool keeps between two calls; the rest goes back to the system. Enough for a small call,
/// and no more: what was ever written to is zeroed after every call from then on, so with much of it each call would pay
/// for the largest one before it.
const KEEP_RESIDENT: usize = 256 << 10;

/// How many core modules one component may consist of. One in Rust has about five; Python brings its interpreter, its
/// libraries and a stub for each interface of WASI as modules of their own, 38 in all. The pool only counts them: what
/// costs are memories and tables, of which a component in Python has one and two.
pub(super) const MAX_MODULES: u32 = 64;

/// How much of the address space each instance is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// All that 32 bits can name: guest code needs no checks then, because whatever it names belongs to it or to nobody.
    Wide,
    /// What it may use. Guest code checks each address.
    Narrow,
}

/// An engine whose epoch ticks on a thread of its own, until the engine is gone; and what code for it is compiled for.
pub(super) fn start(limits: &LimitSettings) -> wasmtime::Result<(Engine, Room)> {
    let with = |room| -> wasmtime::Result<(Engine, Room)> {
        let engine = Engine::new(code(limits, room).allocation_strategy(pool(limits)))?;
        Ok((engine, room))
    };
    // Where the address space is limited (`ulimit -v`), there may be too little for the wide one.
    let (engine, room) = with(Room::Wide).or_else(|_| with(Room::Narrow))?;
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
    Ok((engine, room))
}

/// An engine that only compiles, for engines that were started with the same limits. It is for one use: an engine keeps
/// what its compiler worked with, which is ten times what comes of it.
pub(super) fn compiler(limits: &LimitSettings, room: Room) -> wasmtime::Result<Engine> {
    Engine::new(&code(limits, room))
}

/// What code is compiled for.
fn code(limits: &LimitSettings, room: Room) -> Config {
    let (reserved, guard) = match room {
        Room::Wide => (4 << 30, 32 << 20),
        Room::Narrow => (limits.memory_bytes as u64, 64 << 10),
    };
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .cranelift_opt_level(OptLevel::Speed)
        // A trap is reported by its kind; the addresses would take a third of the code's size.
        .generate_address_map(false)
        // No function of the contract is asynchronous on the guest's side: its bookkeeping can be left out.
        .concurrency_support(false)
        .memory_reservation(reserved)
        .memory_guard_size(guard);
    config
}

/// Where the memory of instances comes from.
fn pool(limits: &LimitSettings) -> PoolingAllocationConfig {
    let slots = u32::try_from(limits.concurrent_calls)
        .unwrap_or(u32::MAX)
        .max(1);
    let mut pool = PoolingAllocationConfig::default();
    pool.total_component_instances(slots)
        .total_core_instances(slots.saturating_mul(MAX_MODULES))
        .total_memories(slots)
        .total_tables(slots.saturating_mul(4))
        .total_stacks(slots)
        .max_memories_per_component(1)
        .max_core_instances_per_component(MAX_MODULES)
        .max_tables_per_component(20)
        .max_memory_size(limits.memory_bytes)
        .linear_memory_keep_resident(KEEP_RESIDENT)
        .table_keep_resident(64 << 10)
        .pagemap_scan(Enabled::Auto);
    pool
}
