//! Every stage of a call except the transport, in one process: the cost of checks and records on top of the sandbox.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, anyhow};
use notehost::auth::Caller;
use notehost::config::{Settings, VaultEntry};
use notehost::dispatch::{self, Host, Request};
use serde_json::{Value, json};

use crate::client::wait_for_compiler;
use crate::statistics::Times;
use crate::vaults::Notes;

const CALLS: usize = 4000;

/// Measures a minimal call and reading a note.
pub(crate) async fn measure(notes: &Notes, place: &Path) -> Result<()> {
    let settings = Settings {
        vaults: vec![VaultEntry {
            id: "main".into(),
            path: notes.folder.clone(),
            ..VaultEntry::default()
        }],
        ..Settings::default()
    };
    let state = place.join("pipeline");
    let host = Host::start(settings, &state).await?;
    host.warm_up();
    tokio::task::spawn_blocking(move || wait_for_compiler(&state)).await??;
    let note = &notes.notes[notes.notes.len() / 2];
    for (domain, action, arguments) in [
        ("notebook", "permissions", json!({ "notebook": "." })),
        ("system", "time", json!({})),
        ("document", "read", json!({ "path": note })),
    ] {
        let times = calls(&host, domain, action, &arguments).await?;
        println!("{:38} {times}", format!("{domain}.{action}"));
    }
    Ok(())
}

async fn calls(host: &Arc<Host>, domain: &str, action: &str, arguments: &Value) -> Result<Times> {
    let caller = Caller::stdio();
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let request = Request::new(domain, action, arguments);
        let began = Instant::now();
        let answered = dispatch::call(host, &caller, request).await;
        times.push(began.elapsed());
        answered.map_err(|error| anyhow!("`{domain}.{action}`: {}", error.message))?;
    }
    Ok(Times::new(times))
}
