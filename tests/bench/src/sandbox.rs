//! What a fresh, limited instance adds to an action: one of every domain, and what loading the components costs.

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

use crate::native::{NativeVault, Nowhere};
use crate::statistics::Times;
use crate::vaults::Notes;

const RUNS: usize = 2000;
/// What the sandbox may add to a call, in microseconds.
const BAR: f64 = 60.0;
/// How long the index may take to be built.
const PATIENCE: Duration = Duration::from_secs(120);

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

/// Something to ask of a domain.
struct Asked {
    domain: &'static str,
    native: Native,
    action: &'static str,
    arguments: Value,
}

fn asked<D: Describes>(domain: &'static str, action: &'static str, arguments: Value) -> Asked {
    Asked {
        domain,
        native: D::call,
        action,
        arguments,
    }
}

/// A short note with a card, a table of notes and a file, beside those that are there.
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

/// What every domain answers at once.
fn at_once(note: &str) -> Vec<Asked> {
    let here = json!({ "path": note });
    let few = json!({ "path": note, "limit": 5 });
    let cards = json!({ "scope": "note", "path": SHORT, "limit": 5 });
    vec![
        asked::<notehost_document::Domain>("document", "nothing", json!({})),
        asked::<notehost_document::Domain>("document", "read", here.clone()),
        asked::<notehost_notebook::Domain>("notebook", "permissions", json!({ "notebook": "." })),
        asked::<notehost_search::Domain>(
            "search",
            "text",
            json!({ "query": "things", "limit": 5 }),
        ),
        asked::<notehost_link::Domain>("link", "backlinks", few),
        asked::<notehost_tag::Domain>("tag", "of", json!({ "path": SHORT })),
        asked::<notehost_block::Domain>("block", "count", json!({ "path": SHORT })),
        asked::<notehost_flashcard::Domain>("flashcard", "list", cards),
        asked::<notehost_file::Domain>("file", "read", json!({ "path": FILE })),
        asked::<notehost_database::Domain>("database", "get", json!({ "database": TABLE })),
        asked::<notehost_fs::Domain>("fs", "cat", here),
        asked::<notehost_system::Domain>("system", "time", json!({})),
        asked::<notehost_mascot::Domain>("mascot", "balance", json!({})),
    ]
}

/// What makes a domain compute: there it matters how fast guest code is.
fn computing(note: &str) -> Vec<Asked> {
    let here = json!({ "path": note });
    let cards = json!({ "scope": "note", "path": note, "limit": 5 });
    let column = json!({ "database": "Area 1", "column": "number", "limit": 5 });
    vec![
        asked::<notehost_document::Domain>("document", "outline", here.clone()),
        asked::<notehost_tag::Domain>("tag", "of", here.clone()),
        asked::<notehost_block::Domain>("block", "count", here.clone()),
        asked::<notehost_flashcard::Domain>("flashcard", "list", cards),
        asked::<notehost_file::Domain>("file", "of", here),
        asked::<notehost_database::Domain>("database", "values", column),
    ]
}

/// Measure the same actions natively and in the sandbox.
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
        index.wait(Some(Instant::now() + PATIENCE)),
        "the index is not built"
    );
    let mut components = Vec::new();
    println!("component    size KiB   compile ms   load from compiled code ms");
    for embedded in EMBEDDED {
        components.push(loaded(&runtime, embedded).await?);
    }
    println!();
    let note = &notes.notes[notes.notes.len() / 2];
    println!("answered at once        native µs   sandboxed µs   added µs (bar: 60)");
    for asked in at_once(note) {
        let (natively, sandboxed) = both(&runtime, &components, &vault, &index, &asked).await?;
        let added = sandboxed - natively;
        let mark = if added <= BAR { '✓' } else { '✗' };
        println!(
            "{:22} {natively:10.1} {sandboxed:14.1} {added:10.1} {mark}",
            asked.name()
        );
    }
    println!("\nfirst computed          native µs   sandboxed µs   ratio");
    // A folder of somebody's notes has no such table.
    let is_ours = notes.folder.join("Area 1").is_dir();
    for asked in computing(note) {
        if asked.domain == "database" && !is_ours {
            continue;
        }
        let (natively, sandboxed) = both(&runtime, &components, &vault, &index, &asked).await?;
        let ratio = sandboxed / natively;
        println!(
            "{:22} {natively:10.1} {sandboxed:14.1} {ratio:7.1} ×",
            asked.name()
        );
    }
    Ok(())
}

impl Asked {
    fn name(&self) -> String {
        format!("{}.{}", self.domain, self.action)
    }
}

/// How long the same takes natively and in the sandbox, in microseconds.
async fn both(
    runtime: &Runtime,
    components: &[Component],
    vault: &Arc<Vault>,
    index: &Arc<Index>,
    asked: &Asked,
) -> Result<(f64, f64)> {
    let component = components
        .iter()
        .find(|component| component.name() == asked.domain)
        .ok_or_else(|| anyhow!("no component `{}`", asked.domain))?;
    let text = asked.arguments.to_string();
    let natively = Times::of(RUNS, || {
        let here = NativeVault::new(begin(vault, asked.domain), index);
        let answered = (asked.native)(&here, asked.action, &text);
        told(asked, answered.err().map(|error| error.to_string()))
    })?;
    let mut times = Vec::new();
    for run in 0..RUNS + RUNS / 10 {
        let began = Instant::now();
        let transaction = begin(vault, asked.domain);
        let refused = one(runtime, component, index, transaction, asked.action, &text).await?;
        told(asked, refused)?;
        if run >= RUNS / 10 {
            times.push(began.elapsed());
        }
    }
    Ok((natively.p50(), Times::new(times).p50()))
}

/// Both sides must do what is measured; only an action that nobody has is refused.
fn told(asked: &Asked, refused: Option<String>) -> Result<()> {
    match refused {
        Some(refused) if asked.action != "nothing" => Err(anyhow!("{}: {refused}", asked.name())),
        _ => Ok(()),
    }
}

/// A component, compiled; printed with what that took.
async fn loaded(runtime: &Runtime, embedded: &'static Embedded) -> Result<Component> {
    let mut took = Vec::new();
    let mut component = None;
    // The first time it is compiled, then it is loaded from what was kept.
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
        environment: Arc::new(Nowhere),
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
