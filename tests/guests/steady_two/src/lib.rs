//! The domain `steady`, version 2: another output format, one more argument and one more action.

use notehost_sdk::prelude::*;

domain! {
    /// Says which version answers, word by word.
    "steady" {
        "say" => Say,
        "count" => Count,
    }
}

/// Say a text back, word by word.
#[args]
pub struct Say {
    /// The text.
    pub text: String,
    /// In capitals.
    pub loud: Option<bool>,
}

/// What was said.
#[reply]
pub struct Said {
    /// Which version said it.
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

/// How many there are.
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
