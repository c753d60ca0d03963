//! A conforming guest: a third-party domain written as the SDK's documentation recommends. Tests load it from its file
//! where they need a component that is not embedded in the program.

use notehost_sdk::prelude::*;

domain! {
    /// Echoes texts.
    "echo" {
        "say" => Say,
        "remember" => Remember,
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
    /// The text.
    pub text: String,
}

impl Action for Say {
    type Output = SayReply;
    const EFFECT: Effect = Effect::Read;

    fn run(self, _: &Vault) -> Result<SayReply> {
        Ok(SayReply { text: self.text })
    }

    fn text(reply: &SayReply) -> String {
        reply.text.clone()
    }
}

/// Store a text in the domain's own store, and return the previous one.
#[args]
pub struct Remember {
    /// The text.
    pub text: String,
}

/// The stored text.
#[reply]
pub struct RememberReply {
    /// The previous text, if there was one.
    pub before: Option<String>,
}

impl Action for Remember {
    type Output = RememberReply;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<RememberReply> {
        let before = vault.store_get("text")?;
        vault.store_set("text", self.text.as_bytes())?;
        Ok(RememberReply {
            before: before.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        })
    }
}
