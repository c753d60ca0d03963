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

/// What is asked of each domain: something that it answers at once.
fn questions(note: &str) -> Vec<(&'static str, Native, &'static str, Value)> {
    fn of<D: Describes>() -> Native {
        D::call
    }
    let here = json!({ "path": note });
    vec![
        (
            "document",
            of::<notehost_document::Domain>(),
            "nothing",
            json!({}),
        ),
        (
            "document",
            of::<notehost_document::Domain>(),
            "read",
            here.clone(),
        ),
        (
            "document",
            of::<notehost_document::Domain>(),
            "outline",
            here.clone(),
        ),
        (
            "notebook",
            of::<notehost_notebook::Domain>(),
            "permissions",
            json!({}),
        ),
        (
            "search",
            of::<notehost_search::Domain>(),
            "text",
            json!({ "query": "things", "limit": 5 }),
        ),
        (
            "link",
            of::<notehost_link::Domain>(),
            "backlinks",
            json!({ "path": note, "limit": 5 }),
        ),
        ("tag", of::<notehost_tag::Domain>(), "of", here.clone()),
        (
            "block",
            of::<notehost_block::Domain>(),
            "count",
            here.clone(),
        ),
        (
            "flashcard",
            of::<notehost_flashcard::Domain>(),
            "list",
            json!({ "scope": "note", "path": note, "limit": 5 }),
        ),
        ("file", of::<notehost_file::Domain>(), "of", here.clone()),
        (
            "database",
            of::<notehost_database::Domain>(),
            "values",
            json!({ "database": "Area 1", "column": "number", "limit": 5 }),
        ),
        (
            "fs",
            of::<notehost_fs::Domain>(),
            "cat",
            json!({ "path": note }),
        ),
        ("system", of::<notehost_system::Domain>(), "time", json!({})),
        (
            "mascot",
            of::<notehost_mascot::Domain>(),
            "balance",
            json!({}),
        ),
    ]
}

/// Measure the same actions natively and in the sandbox.
pub(crate) async fn measure(notes: &Notes, place: &Path) -> Result<()> {
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
    println!("action                  native µs   sandboxed µs   added µs (bar: 60)");
    for (domain, native, action, arguments) in questions(note) {
        let component = components
            .iter()
            .find(|component| component.name() == domain)
            .ok_or_else(|| anyhow!("no component `{domain}`"))?;
        let text = arguments.to_string();
        let begin = || begin(&vault, domain);
        let natively = Times::of(RUNS, || {
            let _ = native(&NativeVault::new(begin(), &index), action, &text);
            Ok(())
        })?;
        let mut times = Vec::new();
        for run in 0..RUNS + RUNS / 10 {
            let began = Instant::now();
            one(&runtime, component, &index, begin(), action, &text).await?;
            if run >= RUNS / 10 {
                times.push(began.elapsed());
            }
        }
        let sandboxed = Times::new(times).p50();
        println!(
            "{:22} {:10.1} {:14.1} {:10.1}",
            format!("{domain}.{action}"),
            natively.p50(),
            sandboxed,
            sandboxed - natively.p50()
        );
    }
    Ok(())
}

/// A component, compiled; printed with what that took.
async fn loaded(runtime: &Runtime, embedded: &Embedded) -> Result<Component> {
    let mut took = Vec::new();
    let mut component = None;
    // The first time it is compiled, then it is loaded from what was kept.
    for _ in 0..6 {
        let fresh = Component::embedded(embedded.name, embedded.wasm, embedded.digest)?;
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
        embedded.wasm.len() >> 10,
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
) -> Result<()> {
    let job = Job {
        domain: Arc::from(component.name()),
        action: action.to_owned(),
        arguments: arguments.to_owned(),
        transaction,
        index: index.clone(),
        surroundings: Arc::new(Nowhere),
        outside: Arc::new(notehost::runtime::Nowhere),
        deadline: Instant::now() + Duration::from_secs(10),
        limits: LimitSettings::default(),
        cancelled: CancellationToken::new(),
    };
    match runtime.run(component, job).await {
        Ok(_) | Err(RunError::Refused { .. }) => Ok(()),
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
