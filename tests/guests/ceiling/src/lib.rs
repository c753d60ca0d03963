//! Shared code of the components with a manifest: three actions, one of each effect.

use notehost_sdk::prelude::*;

/// Whether a note exists.
#[args]
pub struct Look {
    /// The path of the note.
    pub path: String,
}

/// Write a note.
#[args]
pub struct Put {
    /// The path of the note.
    pub path: String,
}

/// Remove a note.
#[args]
pub struct Wipe {
    /// The path of the note.
    pub path: String,
}

/// The result.
#[reply]
pub struct PathReply {
    /// The path of the note.
    pub path: String,
}

impl Action for Look {
    type Output = PathReply;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<PathReply> {
        vault.stat(&self.path)?;
        Ok(PathReply { path: self.path })
    }
}

impl Action for Put {
    type Output = PathReply;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<PathReply> {
        vault.create(&self.path, b"put\n")?;
        Ok(PathReply { path: self.path })
    }
}

impl Action for Wipe {
    type Output = PathReply;
    const EFFECT: Effect = Effect::Delete;

    fn run(self, vault: &Vault) -> Result<PathReply> {
        vault.remove(&self.path)?;
        Ok(PathReply { path: self.path })
    }
}
