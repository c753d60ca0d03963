//! The time from process start to the first reply.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;

use crate::client::Pipes;
use crate::statistics::Times;
use crate::vaults::Notes;

/// Measures cold starts (nothing compiled) and warm starts.
pub(crate) fn measure(program: &Path, notes: &Notes, place: &Path) -> Result<()> {
    let state = place.join("starting");
    let began = Instant::now();
    let mut first = Pipes::start(program, &notes.folder, &state)?;
    first.initialize()?;
    println!(
        "cold: initialize                          {:.1} ms",
        began.elapsed().as_secs_f64() * 1e3
    );
    let message = crate::client::tool_call(
        1,
        "document__read",
        serde_json::json!({"path": notes.notes[0]}),
    );
    first.send(&message)?;
    first.receive()?;
    println!(
        "cold: first note read                     {:.1} ms",
        began.elapsed().as_secs_f64() * 1e3
    );
    drop(first);
    let mut reads = Vec::new();
    let initialize = Times::of(20, || {
        let began = Instant::now();
        let mut program = Pipes::start(program, &notes.folder, &state)?;
        program.initialize()?;
        reads.push({
            program.send(&message)?;
            program.receive()?;
            began.elapsed()
        });
        Ok(())
    })?;
    println!("warm: initialize, read and stop           {initialize}");
    println!(
        "warm: first note read                     {}",
        Times::new(reads)
    );
    Ok(())
}
