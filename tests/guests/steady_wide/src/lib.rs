//! The domain `steady`, version 3: it requests write access that has not been granted yet.

use notehost_sdk::prelude::*;

domain! {
    /// Reports the version that replies, and writes notes.
    "steady" {
        "say" => Say,
        "note" => Note,
    }
}

/// Return a text unchanged.
#[args]
pub struct Say {
    /// The text.
    pub text: String,
}

/// The echoed text.
#[reply]
pub struct SayReply {
    /// The version that replied.
    pub version: u32,
    /// The text.
    pub text: String,
}

impl Action for Say {
    type Output = SayReply;
    const EFFECT: Effect = Effect::Read;

    fn run(self, _: &Vault) -> Result<SayReply> {
        Ok(SayReply {
            version: 3,
            text: self.text,
        })
    }
}

/// Write a text to a new note.
#[args]
pub struct Note {
    /// The note.
    pub path: String,
    /// The text.
    pub text: String,
}

/// An empty result.
#[reply]
pub struct NoteReply {}

impl Action for Note {
    type Output = NoteReply;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<NoteReply> {
        vault.create(&self.path, self.text.as_bytes())?;
        Ok(NoteReply {})
    }
}
