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
pub struct Said {
    /// The text.
    pub text: String,
}

impl Action for Say {
    type Output = Said;
    const EFFECT: Effect = Effect::Read;

    fn run(self, _: &Vault) -> Result<Said> {
        Ok(Said { text: self.text })
    }

    fn text(said: &Said) -> String {
        said.text.clone()
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
pub struct Remembered {
    /// The previous text, if there was one.
    pub before: Option<String>,
}

impl Action for Remember {
    type Output = Remembered;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Remembered> {
        let before = vault.store_get("text")?;
        vault.store_set("text", self.text.as_bytes())?;
        Ok(Remembered {
            before: before.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        })
    }
}
