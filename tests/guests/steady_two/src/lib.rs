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
pub struct Said {
    /// The version that replied.
    pub version: u32,
    /// The words.
    pub words: Vec<String>,
}

impl Action for Say {
    type Output = Said;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Said> {
        for _ in 0..20 {
            vault.access("x.md");
        }
        let loud = self.loud.unwrap_or(false);
        let words = self.text.split_whitespace();
        Ok(Said {
            version: 2,
            words: words
                .map(|word| match loud {
                    true => word.to_uppercase(),
                    false => word.to_owned(),
                })
                .collect(),
        })
    }

    fn text(said: &Said) -> String {
        said.words.join(" ")
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
pub struct Counted {
    /// The number of words.
    pub words: u32,
}

impl Action for Count {
    type Output = Counted;
    const EFFECT: Effect = Effect::Read;

    fn run(self, _: &Vault) -> Result<Counted> {
        let words = self.text.split_whitespace().count();
        Ok(Counted {
            words: u32::try_from(words).unwrap_or(u32::MAX),
        })
    }
}
