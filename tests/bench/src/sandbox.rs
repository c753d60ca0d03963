//! What a fresh, limited instance adds to an action.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use notehost::config::LimitSettings;
use notehost::index::Index;
use notehost::registry::EMBEDDED;
use notehost::runtime::{Component, Job, RunError, Runtime};
use notehost::vault::{Access, Effect, Limits, Rules, Tier, Transaction, Vault, VaultSettings};
use notehost_sdk::Describes as _;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::native::NativeVault;
use crate::statistics::Times;
use crate::vaults::Notes;

const RUNS: usize = 3000;

struct Everything;

impl Rules for Everything {
    fn tier(&self, _: &str) -> Tier {
        Tier::Delete
    }
}

/// Measure the same actions of the document component natively and in the sandbox.
pub(crate) async fn measure(notes: &Notes, place: &Path) -> Result<()> {
    let vault = Arc::new(Vault::open(
        "bench",
        &notes.folder,
        &place.join("sandbox"),
        VaultSettings::default(),
    )?);
    let runtime = Runtime::new(&LimitSettings::default(), &place.join("compiled"))?;
    let embedded = EMBEDDED
        .iter()
        .find(|component| component.name == "document")
        .context("no document component")?;
    let document = Component::new("document", embedded.wasm)?;
    let began = Instant::now();
    document
        .prepare(&runtime)
        .await
        .map_err(|error| anyhow!("{error}"))?;
    println!(
        "compile the document component ({} KiB)   {:.0} ms",
        document.size() >> 10,
        began.elapsed().as_secs_f64() * 1e3
    );
    let again = Component::new("document", embedded.wasm)?;
    let began = Instant::now();
    again
        .prepare(&runtime)
        .await
        .map_err(|error| anyhow!("{error}"))?;
    println!(
        "load it from compiled code                {:.2} ms",
        began.elapsed().as_secs_f64() * 1e3
    );

    let index = Index::open(&vault);
    let path = &notes.notes[notes.notes.len() / 2];
    for (what, action, arguments) in [
        ("fresh instance, nothing done", "nothing", json!({})),
        ("outline of a note", "outline", json!({ "path": path })),
        ("read a note", "read", json!({ "path": path })),
    ] {
        let native = Times::of(RUNS, || {
            let vault = NativeVault(RefCell::new(begin(&vault)));
            let _ = notehost_document::Domain::call(&vault, action, &arguments.to_string());
            Ok(())
        })?;
        let mut times = Vec::new();
        for run in 0..RUNS + RUNS / 10 {
            let began = Instant::now();
            one(
                &runtime,
                &document,
                &index,
                begin(&vault),
                action,
                &arguments,
            )
            .await?;
            if run >= RUNS / 10 {
                times.push(began.elapsed());
            }
        }
        let sandboxed = Times::new(times);
        println!(
            "{what}\n    native    {native}\n    sandboxed {sandboxed}\n    added     p50 {:8.1} µs (bar: 60)",
            sandboxed.p50() - native.p50()
        );
    }
    Ok(())
}

async fn one(
    runtime: &Runtime,
    component: &Component,
    index: &Arc<Index>,
    transaction: Transaction,
    action: &str,
    arguments: &Value,
) -> Result<()> {
    let job = Job {
        domain: Arc::from("document"),
        action: action.to_owned(),
        arguments: arguments.to_string(),
        transaction,
        index: index.clone(),
        deadline: Instant::now() + Duration::from_secs(10),
        limits: LimitSettings::default(),
        cancelled: CancellationToken::new(),
    };
    match runtime.run(component, job).await {
        Ok(_) | Err(RunError::Refused { .. }) => Ok(()),
        Err(error) => Err(anyhow!("{error}")),
    }
}

fn begin(vault: &Arc<Vault>) -> Transaction {
    vault.begin(Access {
        rules: Arc::new(Everything),
        effect: Effect::Read,
        component: "document".into(),
        limits: Limits::default(),
    })
}
