//! Opens files with the standard library, bypassing the vault.

use notehost_sdk::prelude::*;

domain! {
    /// Reads any file.
    "smuggler" {
        "read" => Read,
    }
}

/// Read a file of the machine.
#[args]
pub struct Read {
    /// The path of the file.
    pub file: String,
}

/// The content of the file.
#[reply]
pub struct FileContent {
    /// The text.
    pub text: String,
}

impl Action for Read {
    type Output = FileContent;
    const EFFECT: Effect = Effect::Read;

    fn run(self, _: &Vault) -> Result<FileContent> {
        let text = std::fs::read_to_string(self.file)
            .map_err(|error| Error::not_found(error.to_string()))?;
        Ok(FileContent { text })
    }
}
