//! The latency of the disk itself: the lower bound of every durable change.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::statistics::Times;

const RUNS: usize = 200;

/// Replaces a file durably, without Notehost.
pub(crate) struct Disk {
    folder: PathBuf,
    text: String,
}

impl Disk {
    /// In a folder of its own.
    pub(crate) fn new(place: &Path) -> Result<Disk> {
        let folder = place.join("floor");
        fs::create_dir_all(&folder)?;
        let text = "a line of a note\n".repeat(200);
        Ok(Disk { folder, text })
    }

    /// Writes, syncs and renames a file, and syncs the folder; returns the time.
    pub(crate) fn replace(&self) -> Result<Duration> {
        let began = Instant::now();
        let new = self.folder.join("new");
        let mut file = File::create(&new)?;
        file.write_all(self.text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, self.folder.join("note.md"))?;
        File::open(&self.folder)?.sync_all()?;
        Ok(began.elapsed())
    }
}

/// The time of a durable file replacement without Notehost.
pub(crate) fn floor(place: &Path) -> Result<Times> {
    let disk = Disk::new(place)?;
    Times::of(RUNS, || disk.replace().map(drop))
}
