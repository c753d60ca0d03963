//! The domain `steady`, version 2: another output format, one more argument and one more action.

use notehost_sdk::prelude::*;

domain! {
    /// Reports the version that replies, as words.
    "steady" {
        "say" => Say,
        "count" => Count,
    }
}

/// Return the words of a text.
#[args]
pub struct Say {
    /// The text.
    pub text: String,
    /// In capitals.
    pub loud: Option<bool>,
}

/// The words of the text.
#[reply]
pub struct SayReply {
    /// The version that replied.
    pub version: u32,
    /// The words.
    pub words: Vec<String>,
}

impl Action for Say {
    type Output = SayReply;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<SayReply> {
        for _ in 0..20 {
            vault.access("x.md");
        }
        let loud = self.loud.unwrap_or(false);
        let words = self.text.split_whitespace();
        Ok(SayReply {
            version: 2,
            words: words
                .map(|word| match loud {
                    true => word.to_uppercase(),
                    false => word.to_owned(),
                })
                .collect(),
        })
    }

    fn text(reply: &SayReply) -> String {
        reply.words.join(" ")
    }
}

/// Count the words of a text.
#[args]
pub struct Count {
    /// The text.
    pub text: String,
}

/// The result.
#[reply]
pub struct CountReply {
    /// The number of words.
    pub words: u32,
}

impl Action for Count {
    type Output = CountReply;
    const EFFECT: Effect = Effect::Read;

    fn run(self, _: &Vault) -> Result<CountReply> {
        let words = self.text.split_whitespace().count();
        Ok(CountReply {
            words: u32::try_from(words).unwrap_or(u32::MAX),
        })
    }
}
