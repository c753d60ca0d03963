//! A tag in all notes: another name for it, or none.

use notehost_sdk::prelude::*;
use notehost_sdk::text;

use crate::adding::{Inline, take};
use crate::inline;
use crate::listed::{self, Fate};
use crate::names::{Meant, common, known_tag, new_tag};
use crate::notes::{NoteLeft, Tagged, in_note, no_tag, tagged};
use notehost_sdk::pages::counted;

/// Rename a tag in all notes, in text and properties; tags below it follow. If there is a tag of the new name, the two
/// become one.
///
/// Example: `{"from": "errand", "to": "todo/errand"}`
#[args]
pub struct Rename {
    /// The tag, with or without `#`.
    pub from: String,
    /// Its new name.
    pub to: String,
}

/// Remove a tag and those below it from all notes, from text and properties. The notes stay.
///
/// Example: `{"tag": "shopping"}`
#[args]
pub struct Remove {
    /// The tag, with or without `#`.
    pub tag: String,
    /// Also tags below it, as `vc/project` is below `vc` (default true).
    pub nested: Option<bool>,
    /// What becomes of `#tag` in the text (default `delete`):
    pub inline: Option<Inline>,
}

/// A tag that was changed everywhere.
#[reply]
pub struct ChangedTag {
    /// The tag as it was.
    pub tag: String,
    /// Its new name.
    pub to: Option<String>,
    /// In how many notes it was changed.
    pub notes: usize,
    /// How many places in the text of notes.
    pub inline: usize,
    /// How many entries of properties.
    pub properties: usize,
    /// Notes that have the tag and were left as they are.
    pub notes_left: Vec<NoteLeft>,
}

impl ChangedTag {
    fn new(tag: String, to: Option<String>, notes_left: Vec<NoteLeft>) -> ChangedTag {
        ChangedTag {
            tag,
            to,
            notes: 0,
            inline: 0,
            properties: 0,
            notes_left,
        }
    }

    /// Whether a note may be written; if not, it is told.
    fn may_write(&mut self, vault: &Vault, path: &str) -> bool {
        let may = vault.access(path) >= Tier::Write;
        if !may {
            self.notes_left.push(NoteLeft {
                path: path.to_owned(),
                reason: "this caller may not write there".to_owned(),
            });
        }
        may
    }

    fn count(&mut self, inline: usize, properties: usize) {
        self.notes += usize::from(inline + properties > 0);
        self.inline += inline;
        self.properties += properties;
    }

    fn sentence(&self, done: &str) -> String {
        let mut text = format!(
            "{done} in {}: {} in the text, {} in properties",
            counted(self.notes as u64, "note"),
            self.inline,
            self.properties
        );
        for left in &self.notes_left {
            text.push_str(&format!(
                "\nleft as it is: `{}`: {}",
                left.path, left.reason
            ));
        }
        text
    }
}

impl Action for Rename {
    type Output = ChangedTag;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<ChangedTag> {
        let from = known_tag(&self.from)?;
        let to = new_tag(&self.to)?;
        if from == to {
            return Err(Error::validation(format!(
                "`from` and `to` are both `{to}`: give another name"
            )));
        }
        let Tagged { notes, left } = tagged(vault, &from)?;
        if notes.is_empty() && left.is_empty() {
            return Err(no_tag(vault, &from)?);
        }
        let mut changed = ChangedTag::new(from.clone(), Some(to.clone()), left);
        let mut steps = vault.steps(notes.len());
        for note in notes {
            steps.done("notes looked through");
            if !changed.may_write(vault, &note.path) {
                continue;
            }
            let prose = inline::rename(&note.text, &from, &to)
                .map_err(|error| in_note(&note.path, error))?;
            // A frontmatter that cannot be read has no tags.
            let (text, properties) = match text::frontmatter::properties(&prose.text) {
                Err(_) => (prose.text, 0),
                Ok(_) => {
                    let changed = listed::change(&prose.text, |tag| renamed(tag, &from, &to))
                        .map_err(|error| in_note(&note.path, error))?;
                    (changed.text, changed.count)
                }
            };
            vault.write_note(&note, &text)?;
            changed.count(prose.count, properties);
        }
        Ok(changed)
    }

    fn text(output: &ChangedTag) -> String {
        let to = output.to.as_deref().unwrap_or_default();
        output.sentence(&format!("`#{}` is now `#{to}`", output.tag))
    }
}

/// What becomes of a tag when one is renamed.
fn renamed(tag: &str, from: &str, to: &str) -> Fate {
    match common(tag, from) {
        Some(length) => Fate::Becomes(format!("{to}{}", &tag[length..])),
        None => Fate::Stays,
    }
}

impl Action for Remove {
    type Output = ChangedTag;
    const EFFECT: Effect = Effect::Delete;

    fn run(self, vault: &Vault) -> Result<ChangedTag> {
        let tag = known_tag(&self.tag)?;
        let tags = [tag.clone()];
        let meant = Meant {
            tags: &tags,
            nested: self.nested.unwrap_or(true),
        };
        let Tagged { mut notes, left } = tagged(vault, &tag)?;
        notes.retain(|note| {
            let mut tags = text::tags(&note.text).into_iter();
            tags.any(|found| meant.has(&found.name))
        });
        if notes.is_empty() && left.is_empty() {
            return Err(no_tag(vault, &tag)?);
        }
        let how = self.inline.unwrap_or(Inline::Delete).into();
        let mut changed = ChangedTag::new(tag, None, left);
        let mut steps = vault.steps(notes.len());
        for note in notes {
            steps.done("notes looked through");
            if !changed.may_write(vault, &note.path) {
                continue;
            }
            let without = take(&note, &meant, how)?;
            vault.write_note(&note, &without.text)?;
            changed.count(without.inline, without.properties);
        }
        Ok(changed)
    }

    fn text(output: &ChangedTag) -> String {
        output.sentence(&format!("removed `#{}`", output.tag))
    }
}
