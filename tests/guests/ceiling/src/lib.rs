//! What the components with a manifest have in common: three actions, one of each effect.

use notehost_sdk::prelude::*;

/// Whether a note is there.
#[args]
pub struct Look {
    /// Which note.
    pub path: String,
}

/// Write a note.
#[args]
pub struct Put {
    /// Which note.
    pub path: String,
}

/// Remove a note.
#[args]
pub struct Wipe {
    /// Which note.
    pub path: String,
}

/// What was done.
#[reply]
pub struct Done {
    /// To which note.
    pub path: String,
}

impl Action for Look {
    type Output = Done;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Done> {
        vault.stat(&self.path)?;
        Ok(Done { path: self.path })
    }
}

impl Action for Put {
    type Output = Done;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Done> {
        vault.create(&self.path, b"put\n")?;
        Ok(Done { path: self.path })
    }
}

impl Action for Wipe {
    type Output = Done;
    const EFFECT: Effect = Effect::Delete;

    fn run(self, vault: &Vault) -> Result<Done> {
        vault.remove(&self.path)?;
        Ok(Done { path: self.path })
    }
}
