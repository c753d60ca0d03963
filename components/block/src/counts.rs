//! Counting words, characters and tokens: `count`.

use notehost_sdk::pages::counted;
use notehost_sdk::prelude::*;
use notehost_sdk::text::{approx_tokens, body};
use notehost_sdk::words::{self, Form};

use crate::block_list::is_item_text;
use crate::session::Session;

/// Maximum number of blocks in one call.
const MAX_BLOCKS: usize = 500;

/// Count words, characters and tokens of blocks, or of a note without its properties. Pass `blocks` or `path`.
///
/// Example: `{"path": "Garden/Tomatoes"}`
#[args]
pub struct Count {
    /// The blocks.
    pub blocks: Option<Vec<String>>,
    /// The note.
    pub path: Option<String>,
}

/// Word, character and token counts.
#[reply]
#[derive(Default)]
pub struct Counts {
    /// Number of words; in Chinese, Japanese and similar scripts each character counts.
    pub words: usize,
    /// Number of characters, including invisible ones.
    pub characters: usize,
    /// Approximate number of model tokens.
    pub tokens: usize,
    /// Number of blocks.
    pub blocks: usize,
}

impl Action for Count {
    type Output = Counts;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Counts> {
        let mut session = Session::new(vault);
        match (&self.blocks, &self.path) {
            (None, Some(path)) => {
                let note = session.open(path)?;
                let mut counted = Counts::default();
                counted.add(body(session.text(note)));
                // A note that is too large to be parsed into blocks can still be counted.
                counted.blocks = session.blocks(note).map_or(0, |blocks| {
                    (0..blocks.len())
                        .filter(|at| !is_item_text(&blocks, *at))
                        .count()
                });
                Ok(counted)
            }
            (Some(names), None) => {
                if names.is_empty() {
                    return Err(Error::validation(
                        "`blocks` is empty: name at least one block",
                    ));
                }
                if names.len() > MAX_BLOCKS {
                    return Err(Error::too_large(format!(
                        "`blocks` has {} blocks, at most {MAX_BLOCKS} are allowed: use several calls",
                        names.len()
                    )));
                }
                let mut counted = Counts::default();
                for name in names {
                    let found = session.find(name, None)?;
                    counted.add(&session.blocks(found.note)?.text_of(found.block));
                    counted.blocks += 1;
                }
                Ok(counted)
            }
            (Some(_), Some(_)) => Err(Error::validation(
                "`blocks` and `path` are mutually exclusive: pass one of them",
            )),
            (None, None) => Err(Error::validation("`blocks` or `path` is required")),
        }
    }

    fn text(output: &Counts) -> String {
        format!(
            "{}, {}, about {} in {}",
            counted(output.words as u64, "word"),
            counted(output.characters as u64, "character"),
            counted(output.tokens as u64, "token"),
            counted(output.blocks as u64, "block")
        )
    }
}

impl Counts {
    fn add(&mut self, text: &str) {
        words::for_each_word(text, |word| {
            // Parts and pairs are additional forms of words that are already counted as a whole.
            if matches!(word.form, Form::Whole | Form::Single) {
                self.words += 1;
            }
        });
        self.characters += text.chars().count();
        self.tokens += approx_tokens(text);
    }
}
