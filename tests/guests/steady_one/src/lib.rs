//! The domain `steady`, version 1, which other versions replace while calls are in flight.

use notehost_sdk::prelude::*;

domain! {
    /// Reports the version that replies.
    "steady" {
        "say" => Say,
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

    fn run(self, vault: &Vault) -> Result<SayReply> {
        // Long enough for hot swaps to happen during calls.
        for _ in 0..20 {
            vault.access("x.md");
        }
        Ok(SayReply {
            version: 1,
            text: self.text,
        })
    }

    fn text(reply: &SayReply) -> String {
        reply.text.clone()
    }
}
