//! The domain `slow`: actions with a configurable duration that report progress and change something at the end.

use std::hash::{BuildHasher as _, RandomState};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use notehost_sdk::prelude::*;

domain! {
    /// Slow actions.
    "slow" {
        "work" => Work,
        "remove" => Remove,
        "stamp" => Stamp,
    }
}

/// Work for a while, then write a note.
#[args]
pub struct Work {
    /// The number of steps.
    pub steps: u32,
    /// The duration of each step in milliseconds.
    pub pause: u64,
    /// The note that is written at the end.
    pub path: Option<String>,
}

/// The completed work.
#[reply]
pub struct WorkReply {
    /// The number of steps.
    pub steps: u32,
}

impl Action for Work {
    type Output = WorkReply;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<WorkReply> {
        run_steps(vault, self.steps, self.pause);
        if let Some(path) = &self.path {
            vault.create(path, b"done\n")?;
        }
        Ok(WorkReply { steps: self.steps })
    }
}

/// Work for a while, then remove a note.
#[args]
pub struct Remove {
    /// The number of steps.
    pub steps: u32,
    /// The duration of each step in milliseconds.
    pub pause: u64,
    /// The note.
    pub path: String,
}

impl Action for Remove {
    type Output = WorkReply;
    const EFFECT: Effect = Effect::Delete;

    fn run(self, vault: &Vault) -> Result<WorkReply> {
        run_steps(vault, self.steps, self.pause);
        vault.remove(&self.path)?;
        Ok(WorkReply { steps: self.steps })
    }
}

/// Replace a note with the time, by both clocks, and random numbers.
#[args]
pub struct Stamp {
    /// The note.
    pub path: String,
}

impl Action for Stamp {
    type Output = WorkReply;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<WorkReply> {
        let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let text = format!(
            "{} {} {:016x}\n",
            vault.now().milliseconds,
            clock.map_or(0, |clock| clock.as_nanos()),
            RandomState::new().hash_one(0),
        );
        vault.write(&self.path, text.as_bytes(), None)?;
        Ok(WorkReply { steps: 1 })
    }
}

fn run_steps(vault: &Vault, steps: u32, pause: u64) {
    let total = u64::from(steps);
    for step in 1..=total {
        sleep(Duration::from_millis(pause));
        vault.progress(step, Some(total), "steps");
    }
}
