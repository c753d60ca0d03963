//! Renames or removes a tag in all notes.

use notehost_sdk::pages::counted;
use notehost_sdk::prelude::*;
use notehost_sdk::text;

use crate::add_take::{Inline, take};
use crate::inline_tags;
use crate::names::{TagMatcher, known_tag, new_tag, prefix_length};
use crate::notes::{NoteLeft, TaggedNotes, tag_not_found, tagged_notes};
use crate::property_tags::{self, TagChange};

/// Rename a tag in all notes, in text and properties, with its nested tags. If the new name is already a tag, the two
/// are merged.
///
/// Example: `{"from": "errand", "to": "todo/errand"}`
#[args]
pub struct Rename {
    /// The tag, with or without `#`.
    pub from: String,
    /// Its new name.
    pub to: String,
}

/// Remove a tag and its nested tags from all notes, from text and properties. The notes stay.
///
/// Example: `{"tag": "shopping"}`
#[args]
pub struct Remove {
    /// The tag, with or without `#`.
    pub tag: String,
    /// Also nested tags such as `vc/project` for `vc` (default true).
    pub nested: Option<bool>,
    /// How to remove `#tag` from the text (default `delete`):
    pub inline: Option<Inline>,
}

/// The result of changing a tag everywhere.
#[reply]
pub struct TagEditResult {
    /// The old tag.
    pub tag: String,
    /// Its new name.
    pub to: Option<String>,
    /// Number of changed notes.
    pub notes: usize,
    /// Number of changes in text.
    pub inline: usize,
    /// Number of changes in properties.
    pub properties: usize,
    /// Notes that have the tag and were not changed.
    pub notes_left: Vec<NoteLeft>,
}

impl TagEditResult {
    fn new(tag: String, to: Option<String>, notes_left: Vec<NoteLeft>) -> TagEditResult {
        TagEditResult {
            tag,
            to,
            notes: 0,
            inline: 0,
            properties: 0,
            notes_left,
        }
    }

    /// Whether a note may be written; if not, records it in `notes_left`.
    fn may_write(&mut self, vault: &Vault, path: &str) -> bool {
        let may = vault.access(path) >= Tier::Write;
        if !may {
            self.notes_left.push(NoteLeft {
                path: path.to_owned(),
                reason: "no write permission".to_owned(),
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
            text.push_str(&format!("\nnot changed: `{}`: {}", left.path, left.reason));
        }
        text
    }
}

impl Action for Rename {
    type Output = TagEditResult;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<TagEditResult> {
        let from = known_tag(&self.from)?;
        let to = new_tag(&self.to)?;
        if from == to {
            return Err(Error::validation(format!(
                "`from` and `to` are both `{to}`: give a different name"
            )));
        }
        let TaggedNotes { notes, left } = tagged_notes(vault, &from)?;
        if notes.is_empty() && left.is_empty() {
            return Err(tag_not_found(vault, &from)?);
        }
        let mut changed = TagEditResult::new(from.clone(), Some(to.clone()), left);
        let mut steps = vault.steps(notes.len());
        for note in notes {
            steps.done("notes searched");
            if !changed.may_write(vault, &note.path) {
                continue;
            }
            let prose = inline_tags::rename(&note.text, &from, &to)
                .map_err(|error| error.in_note(&note.path))?;
            // An invalid frontmatter has no tags.
            let (text, properties) = match text::frontmatter::properties(&prose.text) {
                Err(_) => (prose.text, 0),
                Ok(_) => {
                    let changed =
                        property_tags::change(&prose.text, |tag| rename_change(tag, &from, &to))
                            .map_err(|error| error.in_note(&note.path))?;
                    (changed.text, changed.count)
                }
            };
            vault.write_note(&note, &text)?;
            changed.count(prose.count, properties);
        }
        Ok(changed)
    }

    fn text(output: &TagEditResult) -> String {
        let to = output.to.as_deref().unwrap_or_default();
        output.sentence(&format!("`#{}` is now `#{to}`", output.tag))
    }
}

/// The change of a tag when `from` is renamed.
fn rename_change(tag: &str, from: &str, to: &str) -> TagChange {
    match prefix_length(tag, from) {
        Some(length) => TagChange::Rename(format!("{to}{}", &tag[length..])),
        None => TagChange::Keep,
    }
}

impl Action for Remove {
    type Output = TagEditResult;
    const EFFECT: Effect = Effect::Delete;

    fn run(self, vault: &Vault) -> Result<TagEditResult> {
        let tag = known_tag(&self.tag)?;
        let tags = [tag.clone()];
        let matcher = TagMatcher {
            tags: &tags,
            nested: self.nested.unwrap_or(true),
        };
        let TaggedNotes { mut notes, left } = tagged_notes(vault, &tag)?;
        notes.retain(|note| {
            let mut tags = text::tags(&note.text).into_iter();
            tags.any(|found| matcher.matches(&found.name))
        });
        if notes.is_empty() && left.is_empty() {
            return Err(tag_not_found(vault, &tag)?);
        }
        let mode = self.inline.unwrap_or(Inline::Delete).into();
        let mut changed = TagEditResult::new(tag, None, left);
        let mut steps = vault.steps(notes.len());
        for note in notes {
            steps.done("notes searched");
            if !changed.may_write(vault, &note.path) {
                continue;
            }
            let without = take(&note, &matcher, mode)?;
            vault.write_note(&note, &without.text)?;
            changed.count(without.inline, without.properties);
        }
        Ok(changed)
    }

    fn text(output: &TagEditResult) -> String {
        output.sentence(&format!("removed `#{}`", output.tag))
    }
}
