//! The cost of a fresh, limited instance for one action of every domain, and of loading the components.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};
use notehost::config::LimitSettings;
use notehost::index::Index;
use notehost::registry::{EMBEDDED, Embedded};
use notehost::runtime::{Component, Job, RunError, Runtime};
use notehost::vault::{Access, Effect, Limits, Rules, Tier, Transaction, Vault, VaultSettings};
use notehost_sdk::Describes;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::native::{EmptyEnvironment, NativeVault};
use crate::statistics::Times;
use crate::vaults::{self, Notes};

const RUNS: usize = 2000;
/// Maximum overhead of the sandbox per call, in microseconds.
const MAX_OVERHEAD_US: f64 = 15.0;
/// Maximum time for building the index.
const INDEX_TIMEOUT: Duration = Duration::from_secs(120);

struct Everything;

impl Rules for Everything {
    fn tier(&self, _: &str) -> Tier {
        Tier::Delete
    }

    fn identity(&self) -> Option<u64> {
        Some(1)
    }
}

/// An action, as the component itself runs it.
type Native = fn(&notehost_sdk::Vault, &str, &str) -> notehost_sdk::Result<notehost_sdk::Reply>;

/// A call of a domain.
struct ActionCall {
    domain: &'static str,
    native: Native,
    action: &'static str,
    arguments: Value,
}

fn action_call<D: Describes>(
    domain: &'static str,
    action: &'static str,
    arguments: Value,
) -> ActionCall {
    ActionCall {
        domain,
        native: D::call,
        action,
        arguments,
    }
}

/// A short note with a card, a table of notes and a file, in addition to the existing ones.
const SHORT: &str = "Short.md";
const TABLE: &str = "Table.base";
const FILE: &str = "File.csv";

fn add_small_things(notes: &Notes) -> Result<()> {
    let put = |name: &str, text: &str| std::fs::write(notes.folder.join(name), text);
    put(
        SHORT,
        "A short note #flashcards\n\nA question::its answer\n",
    )?;
    put(TABLE, "views:\n  - type: table\n    name: All\n")?;
    put(FILE, "a,b\n1,2\n")?;
    Ok(())
}

/// Calls that every domain answers immediately.
fn quick_calls(note: &str) -> Vec<ActionCall> {
    let here = json!({ "path": note });
    let few = json!({ "path": note, "limit": 5 });
    let cards = json!({ "scope": "note", "path": SHORT, "limit": 5 });
    vec![
        action_call::<notehost_document::Domain>("document", "nothing", json!({})),
        action_call::<notehost_document::Domain>("document", "read", here.clone()),
        action_call::<notehost_notebook::Domain>(
            "notebook",
            "permissions",
            json!({ "notebook": "." }),
        ),
        action_call::<notehost_search::Domain>(
            "search",
            "text",
            json!({ "query": "things", "limit": 5 }),
        ),
        action_call::<notehost_link::Domain>("link", "backlinks", few),
        action_call::<notehost_tag::Domain>("tag", "of", json!({ "path": SHORT })),
        action_call::<notehost_block::Domain>("block", "count", json!({ "path": SHORT })),
        action_call::<notehost_flashcard::Domain>("flashcard", "list", cards),
        action_call::<notehost_file::Domain>("file", "read", json!({ "path": FILE })),
        action_call::<notehost_database::Domain>("database", "get", json!({ "database": TABLE })),
        action_call::<notehost_fs::Domain>("fs", "cat", here),
        action_call::<notehost_system::Domain>("system", "time", json!({})),
        action_call::<notehost_mascot::Domain>("mascot", "balance", json!({})),
    ]
}

/// CPU-bound calls, for which the speed of guest code matters.
fn cpu_bound_calls(note: &str, column: Option<(String, String)>) -> Vec<ActionCall> {
    let here = json!({ "path": note });
    let cards = json!({ "scope": "note", "path": note, "limit": 5 });
    let mut calls = vec![
        action_call::<notehost_document::Domain>("document", "outline", here.clone()),
        action_call::<notehost_tag::Domain>("tag", "of", here.clone()),
        action_call::<notehost_block::Domain>("block", "count", here.clone()),
        action_call::<notehost_flashcard::Domain>("flashcard", "list", cards),
        action_call::<notehost_file::Domain>("file", "of", here),
    ];
    if let Some((database, column)) = column {
        let column = json!({ "database": database, "column": column, "limit": 5 });
        calls.push(action_call::<notehost_database::Domain>(
            "database", "values", column,
        ));
    }
    calls
}

/// Measures the same actions natively and in the sandbox.
pub(crate) async fn measure(notes: &Notes, place: &Path) -> Result<()> {
    add_small_things(notes)?;
    let vault = Arc::new(Vault::open(
        "bench",
        &notes.folder,
        &place.join("sandbox"),
        VaultSettings::default(),
    )?);
    let runtime = Runtime::new(&LimitSettings::default(), &place.join("compiled"))?;
    let index = Index::open(&vault);
    index.start();
    ensure!(
        index.wait(Some(Instant::now() + INDEX_TIMEOUT)),
        "the index is not built"
    );
    let mut components = Vec::new();
    println!("component    size KiB   compile ms   load from compiled code ms");
    for embedded in EMBEDDED {
        components.push(loaded(&runtime, embedded).await?);
    }
    println!();
    let note = &notes.notes[notes.notes.len() / 2];
    println!(
        "answered at once        native µs   sandboxed µs   added µs (bar: {MAX_OVERHEAD_US:.0})"
    );
    for action_call in quick_calls(note) {
        let (natively, sandboxed) =
            both(&runtime, &components, &vault, &index, &action_call).await?;
        let added = sandboxed - natively;
        let mark = if added <= MAX_OVERHEAD_US {
            '✓'
        } else {
            '✗'
        };
        println!(
            "{:22} {natively:10.1} {sandboxed:14.1} {added:10.1} {mark}",
            action_call.name()
        );
    }
    println!("\nfirst computed          native µs   sandboxed µs   ratio");
    let column = vaults::largest_column(notes)?;
    for action_call in cpu_bound_calls(note, column) {
        let (natively, sandboxed) =
            both(&runtime, &components, &vault, &index, &action_call).await?;
        let ratio = sandboxed / natively;
        println!(
            "{:22} {natively:10.1} {sandboxed:14.1} {ratio:7.1} ×",
            action_call.name()
        );
    }
    Ok(())
}

impl ActionCall {
    fn name(&self) -> String {
        format!("{}.{}", self.domain, self.action)
    }
}

/// The time natively and in the sandbox, in microseconds.
async fn both(
    runtime: &Runtime,
    components: &[Component],
    vault: &Arc<Vault>,
    index: &Arc<Index>,
    action_call: &ActionCall,
) -> Result<(f64, f64)> {
    let component = components
        .iter()
        .find(|component| component.name() == action_call.domain)
        .ok_or_else(|| anyhow!("no component `{}`", action_call.domain))?;
    let text = action_call.arguments.to_string();
    let natively = Times::of(RUNS, || {
        let here = NativeVault::new(begin(vault, action_call.domain), index);
        let answered = (action_call.native)(&here, action_call.action, &text);
        check_outcome(action_call, answered.err().map(|error| error.to_string()))
    })?;
    let mut times = Vec::new();
    for run in 0..RUNS + RUNS / 10 {
        let began = Instant::now();
        let transaction = begin(vault, action_call.domain);
        let refused = one(
            runtime,
            component,
            index,
            transaction,
            action_call.action,
            &text,
        )
        .await?;
        check_outcome(action_call, refused)?;
        if run >= RUNS / 10 {
            times.push(began.elapsed());
        }
    }
    Ok((natively.p50(), Times::new(times).p50()))
}

/// Both sides must run the measured action; only an unknown action may be rejected.
fn check_outcome(action_call: &ActionCall, refused: Option<String>) -> Result<()> {
    match refused {
        Some(refused) if action_call.action != "nothing" => {
            Err(anyhow!("{}: {refused}", action_call.name()))
        }
        _ => Ok(()),
    }
}

/// A compiled component; prints the time of compilation.
async fn loaded(runtime: &Runtime, embedded: &'static Embedded) -> Result<Component> {
    let mut took = Vec::new();
    let mut component = None;
    // The first run compiles, the others load from the cache.
    for _ in 0..6 {
        let fresh = Component::embedded(embedded);
        let began = Instant::now();
        let prepared = fresh.prepare(runtime).await;
        prepared.map_err(|error| anyhow!("{error}"))?;
        took.push(began.elapsed().as_secs_f64() * 1e3);
        component = Some(fresh);
    }
    let compiled = took.remove(0);
    took.sort_by(f64::total_cmp);
    println!(
        "{:12} {:8} {compiled:12.0} {:10.2}",
        embedded.name,
        embedded.wasm().len() >> 10,
        took[took.len() / 2]
    );
    component.ok_or_else(|| anyhow!("nothing was loaded"))
}

async fn one(
    runtime: &Runtime,
    component: &Component,
    index: &Arc<Index>,
    transaction: Transaction,
    action: &str,
    arguments: &str,
) -> Result<Option<String>> {
    let job = Job {
        caller: Arc::from(""),
        domain: Arc::from(component.name()),
        action: action.to_owned(),
        arguments: Arc::from(arguments),
        transaction,
        index: index.clone(),
        environment: Arc::new(EmptyEnvironment),
        egress: Arc::new(notehost::runtime::DenyEgress),
        deadline: Instant::now() + Duration::from_secs(10),
        limits: LimitSettings::default(),
        cancelled: CancellationToken::new(),
        fault_injector: None,
    };
    match runtime.run(component, job).await {
        Ok(_) => Ok(None),
        Err(RunError::Refused { message, .. }) => Ok(Some(message)),
        Err(error) => Err(anyhow!("{error}")),
    }
}

fn begin(vault: &Arc<Vault>, domain: &str) -> Transaction {
    vault.begin(Access {
        rules: Arc::new(Everything),
        effect: Effect::Read,
        component: domain.into(),
        limits: Limits::default(),
    })
}
