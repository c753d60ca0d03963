//! The latency of the disk itself: the lower bound of every durable change.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use anyhow::Result;

use crate::statistics::Times;

const RUNS: usize = 200;

/// The time of a durable file replacement without Notehost.
pub(crate) fn floor(place: &Path) -> Result<Times> {
    let folder = place.join("floor");
    fs::create_dir_all(&folder)?;
    let text = "a line of a note\n".repeat(200);
    Times::of(RUNS, || {
        let new = folder.join("new");
        let mut file = File::create(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, folder.join("note.md"))?;
        File::open(&folder)?.sync_all()?;
        Ok(())
    })
}
