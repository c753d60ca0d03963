//! The cost of a durable change, compared with the disk itself.

use std::path::Path;
use std::time::Instant;

use anyhow::{Result, anyhow};
use notehost::auth::Caller;
use notehost::config::{PermissionSettings, Settings, VaultEntry};
use notehost::dispatch::{Host, Request, call};
use notehost::vault::Tier;
use serde_json::{Value, json};

use crate::disk;
use crate::statistics::Times;
use crate::vaults::Notes;

const RUNS: usize = 200;

/// Measures `document.append`, `document.edit` and `document.create` through the whole pipeline.
pub(crate) async fn measure(notes: &Notes, place: &Path) -> Result<()> {
    let floor = disk::floor(place)?;
    println!("the disk: write, fsync, rename, fsync     {floor}");
    let settings = Settings {
        vaults: vec![VaultEntry {
            id: "bench".into(),
            path: notes.folder.clone(),
            ..VaultEntry::default()
        }],
        permissions: PermissionSettings {
            default: Tier::Delete,
            ..PermissionSettings::default()
        },
        ..Settings::default()
    };
    let host = Host::start(settings, &place.join("writing")).await?;
    let path = &notes.notes[0];
    let caller = Caller::command_line(None);
    for (what, action) in [
        ("append a line", "append"),
        ("change a property", "set_properties"),
        ("create a note", "create"),
    ] {
        let mut times = Vec::new();
        for run in 0..RUNS + RUNS / 10 {
            let arguments = match action {
                "append" => json!({"path": path, "text": format!("line {run}")}),
                "set_properties" => json!({"path": path, "set": {"number": run}}),
                _ => json!({"path": format!("New/Note {run}.md"), "content": "# New\n\ntext\n"}),
            };
            let began = Instant::now();
            one(&host, &caller, action, arguments).await?;
            if run >= RUNS / 10 {
                times.push(began.elapsed());
            }
        }
        let times = Times::new(times);
        println!(
            "{what:<41} {times}   {:.2} × the disk (bar: 3)",
            times.p50() / floor.p50()
        );
    }
    Ok(())
}

async fn one(host: &Host, caller: &Caller, action: &str, arguments: Value) -> Result<()> {
    let Value::Object(arguments) = arguments else {
        return Err(anyhow!("no arguments"));
    };
    let request = Request::new("document", action, arguments);
    call(host, caller, request)
        .await
        .map_err(|error| anyhow!("{}: {}", error.code, error.message))?;
    Ok(())
}
