//! Tags of some notes: given to them, taken from them.

use notehost_sdk::prelude::*;
use notehost_sdk::text;
use notehost_sdk::text::facts::facts;

use crate::inline::{self, Taking};
use crate::listed::{self, Fate};
use crate::names::{Meant, is_same, known_tag, new_tag, several};
use crate::notes::{in_note, named};
use notehost_sdk::pages::counted;

/// Add tags to notes, in their properties: to the `tags` that are there, in their style. A tag that a note has already,
/// also in its text, is not added again.
///
/// Example: `{"paths": ["Garden/Compost"], "tags": ["soil"]}`
#[args]
pub struct Add {
    /// The notes: paths, unique names or `[[links]]`; up to 500.
    pub paths: Vec<String>,
    /// The tags, with or without `#`.
    pub tags: Vec<String>,
}

/// What was added.
#[reply]
pub struct Added {
    /// The notes, in the order asked for.
    pub items: Vec<AddedTo>,
}

/// What was added to a note.
#[reply]
pub struct AddedTo {
    /// The note.
    pub path: String,
    /// The tags that it has now.
    pub added: Vec<String>,
    /// The tags that it had before.
    pub already: Vec<String>,
}

impl Action for Add {
    type Output = Added;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Added> {
        let tags = several(&self.tags, new_tag)?;
        let mut items = Vec::new();
        for note in named(vault, &self.paths)? {
            // A frontmatter that cannot be read may have the tags: whoever adds to it must mend it first.
            text::frontmatter::properties(&note.text)
                .map_err(|error| in_note(&note.path, error))?;
            let there = facts(&note.text).tags;
            let has = |tag: &String| there.iter().any(|known| is_same(&known.tag, tag));
            let (already, added): (Vec<String>, Vec<String>) =
                tags.iter().cloned().partition(|tag| has(tag));
            if !added.is_empty() {
                let text =
                    listed::add(&note.text, &added).map_err(|error| in_note(&note.path, error))?;
                vault.write_note(&note, &text)?;
            }
            items.push(AddedTo {
                path: note.path,
                added,
                already,
            });
        }
        Ok(Added { items })
    }

    fn text(output: &Added) -> String {
        let lines = output.items.iter().map(|item| {
            let added = told(&item.added);
            match item.already.as_slice() {
                [] => format!("`{}`: added {added}", item.path),
                already => format!("`{}`: added {added}; had {}", item.path, told(already)),
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Take tags from notes, out of their properties and their text.
///
/// Example: `{"paths": ["Garden/Compost"], "tags": ["how-to"]}`
#[args]
pub struct Take {
    /// The notes: paths, unique names or `[[links]]`; up to 500.
    pub paths: Vec<String>,
    /// The tags, with or without `#`.
    pub tags: Vec<String>,
    /// Also tags below them, as `vc/project` is below `vc` (default true).
    pub nested: Option<bool>,
    /// What becomes of `#tag` in the text (default `delete`):
    pub inline: Option<Inline>,
}

/// What becomes of a tag in the text.
#[args]
#[derive(Copy)]
pub enum Inline {
    /// it goes; where that would change how the text around it is read, only its `#` goes.
    Delete,
    /// only its `#` goes, the word stays.
    Word,
}

impl From<Inline> for Taking {
    fn from(inline: Inline) -> Taking {
        match inline {
            Inline::Delete => Taking::Out,
            Inline::Word => Taking::Hash,
        }
    }
}

/// What was taken.
#[reply]
pub struct Taken {
    /// The notes, in the order asked for.
    pub items: Vec<TakenFrom>,
}

/// What was taken from a note.
#[reply]
pub struct TakenFrom {
    /// The note.
    pub path: String,
    /// How many tags went from its properties.
    pub properties: usize,
    /// How many went from its text.
    pub inline: usize,
    /// The tags that were asked for and that it did not have.
    pub missing: Vec<String>,
}

impl Action for Take {
    type Output = Taken;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Taken> {
        let tags = several(&self.tags, known_tag)?;
        let nested = self.nested.unwrap_or(true);
        let meant = Meant {
            tags: &tags,
            nested,
        };
        let how = self.inline.unwrap_or(Inline::Delete).into();
        let mut items = Vec::new();
        for note in named(vault, &self.paths)? {
            text::frontmatter::properties(&note.text)
                .map_err(|error| in_note(&note.path, error))?;
            let there = facts(&note.text).tags;
            let lacks = |tag: &&String| {
                let one = Meant {
                    tags: std::slice::from_ref(*tag),
                    nested,
                };
                !there.iter().any(|known| one.has(&known.tag))
            };
            let missing = tags.iter().filter(lacks).cloned().collect();
            let taken = take(&note, &meant, how)?;
            vault.write_note(&note, &taken.text)?;
            items.push(TakenFrom {
                path: note.path,
                properties: taken.properties,
                inline: taken.inline,
                missing,
            });
        }
        Ok(Taken { items })
    }

    fn text(output: &Taken) -> String {
        let lines = output.items.iter().map(|item| {
            let taken = format!(
                "`{}`: took {} from the properties, {} from the text",
                item.path,
                counted(item.properties as u64, "tag"),
                item.inline
            );
            match item.missing.as_slice() {
                [] => taken,
                missing => format!("{taken}; it did not have {}", told(missing)),
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// A note without some tags.
pub(crate) struct Without {
    pub(crate) text: String,
    pub(crate) properties: usize,
    pub(crate) inline: usize,
}

/// Take tags out of a note. A frontmatter that cannot be read has none.
pub(crate) fn take(note: &Note, meant: &Meant<'_>, how: Taking) -> Result<Without> {
    let prose = inline::take(&note.text, meant, how).map_err(|error| in_note(&note.path, error))?;
    if text::frontmatter::properties(&prose.text).is_err() {
        return Ok(Without {
            text: prose.text,
            properties: 0,
            inline: prose.count,
        });
    }
    let fate = |tag: &str| match meant.has(tag) {
        true => Fate::Goes,
        false => Fate::Stays,
    };
    let properties =
        listed::change(&prose.text, fate).map_err(|error| in_note(&note.path, error))?;
    Ok(Without {
        text: properties.text,
        properties: properties.count,
        inline: prose.count,
    })
}

/// Tags for a sentence.
fn told(tags: &[String]) -> String {
    match tags {
        [] => "nothing".to_owned(),
        tags => format!("#{}", tags.join(" #")),
    }
}
