//! Adds tags to notes and takes tags from notes.

use notehost_sdk::pages::counted;
use notehost_sdk::prelude::*;
use notehost_sdk::text;
use notehost_sdk::text::facts::facts;

use crate::inline_tags::{self, RemovalMode};
use crate::names::{TagMatcher, is_same, known_tag, new_tag, parse_tags};
use crate::notes::read_notes;
use crate::property_tags::{self, TagChange};

/// Add tags to notes, in their properties: to the existing `tags`, in the same style. A tag that a note already has,
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

/// The result of adding tags.
#[reply]
pub struct AddResult {
    /// The notes, in the order of `paths`.
    pub items: Vec<NoteAddResult>,
}

/// The tags added to a note.
#[reply]
pub struct NoteAddResult {
    /// The note.
    pub path: String,
    /// The added tags.
    pub added: Vec<String>,
    /// The tags that it already had.
    pub already: Vec<String>,
}

impl Action for Add {
    type Output = AddResult;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<AddResult> {
        let tags = parse_tags(&self.tags, new_tag)?;
        let mut items = Vec::new();
        for note in read_notes(vault, &self.paths)? {
            // An invalid frontmatter may already have the tags: the caller must fix it first.
            text::frontmatter::properties(&note.text).map_err(|error| error.in_note(&note.path))?;
            let existing = facts(&note.text).tags;
            let has = |tag: &String| existing.iter().any(|known| is_same(&known.tag, tag));
            let (already, added): (Vec<String>, Vec<String>) =
                tags.iter().cloned().partition(|tag| has(tag));
            if !added.is_empty() {
                let text = property_tags::add(&note.text, &added)
                    .map_err(|error| error.in_note(&note.path))?;
                vault.write_note(&note, &text)?;
            }
            items.push(NoteAddResult {
                path: note.path,
                added,
                already,
            });
        }
        Ok(AddResult { items })
    }

    fn text(output: &AddResult) -> String {
        let lines = output.items.iter().map(|item| {
            let added = tag_list(&item.added);
            match item.already.as_slice() {
                [] => format!("`{}`: added {added}", item.path),
                already => format!("`{}`: added {added}; had {}", item.path, tag_list(already)),
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Take tags from notes: remove them from the properties and the text of these notes.
///
/// Example: `{"paths": ["Garden/Compost"], "tags": ["mode-to"]}`
#[args]
pub struct Take {
    /// The notes: paths, unique names or `[[links]]`; up to 500.
    pub paths: Vec<String>,
    /// The tags, with or without `#`.
    pub tags: Vec<String>,
    /// Also nested tags such as `vc/project` for `vc` (default true).
    pub nested: Option<bool>,
    /// How to remove `#tag` from the text (default `delete`):
    pub inline: Option<Inline>,
}

/// How a tag is removed from the text.
#[args]
#[derive(Copy)]
pub enum Inline {
    /// delete it; where that would change the Markdown around it, only its `#`.
    Delete,
    /// delete only its `#`, keep the word.
    Word,
}

impl From<Inline> for RemovalMode {
    fn from(inline: Inline) -> RemovalMode {
        match inline {
            Inline::Delete => RemovalMode::Delete,
            Inline::Word => RemovalMode::KeepWord,
        }
    }
}

/// The result of taking tags.
#[reply]
pub struct TakeResult {
    /// The notes, in the order of `paths`.
    pub items: Vec<NoteTakeResult>,
}

/// The tags taken from a note.
#[reply]
pub struct NoteTakeResult {
    /// The note.
    pub path: String,
    /// Number of tags removed from its properties.
    pub properties: usize,
    /// Number of tags removed from its text.
    pub inline: usize,
    /// The requested tags that it did not have.
    pub missing: Vec<String>,
}

impl Action for Take {
    type Output = TakeResult;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<TakeResult> {
        let tags = parse_tags(&self.tags, known_tag)?;
        let nested = self.nested.unwrap_or(true);
        let matcher = TagMatcher {
            tags: &tags,
            nested,
        };
        let mode = self.inline.unwrap_or(Inline::Delete).into();
        let mut items = Vec::new();
        for note in read_notes(vault, &self.paths)? {
            text::frontmatter::properties(&note.text).map_err(|error| error.in_note(&note.path))?;
            let existing = facts(&note.text).tags;
            let lacks = |tag: &&String| {
                let one = TagMatcher {
                    tags: std::slice::from_ref(*tag),
                    nested,
                };
                !existing.iter().any(|known| one.matches(&known.tag))
            };
            let missing = tags.iter().filter(lacks).cloned().collect();
            let taken = take(&note, &matcher, mode)?;
            vault.write_note(&note, &taken.text)?;
            items.push(NoteTakeResult {
                path: note.path,
                properties: taken.properties,
                inline: taken.inline,
                missing,
            });
        }
        Ok(TakeResult { items })
    }

    fn text(output: &TakeResult) -> String {
        let lines = output.items.iter().map(|item| {
            let taken = format!(
                "`{}`: removed {} from the properties, {} from the text",
                item.path,
                counted(item.properties as u64, "tag"),
                item.inline
            );
            match item.missing.as_slice() {
                [] => taken,
                missing => format!("{taken}; it did not have {}", tag_list(missing)),
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// A note after the removal of tags.
pub(crate) struct TagsRemoved {
    pub(crate) text: String,
    pub(crate) properties: usize,
    pub(crate) inline: usize,
}

/// Removes tags from a note. An invalid frontmatter has no tags.
pub(crate) fn take(
    note: &Note,
    matcher: &TagMatcher<'_>,
    mode: RemovalMode,
) -> Result<TagsRemoved> {
    let prose = inline_tags::remove(&note.text, matcher, mode)
        .map_err(|error| error.in_note(&note.path))?;
    if text::frontmatter::properties(&prose.text).is_err() {
        return Ok(TagsRemoved {
            text: prose.text,
            properties: 0,
            inline: prose.count,
        });
    }
    let change = |tag: &str| match matcher.matches(tag) {
        true => TagChange::Remove,
        false => TagChange::Keep,
    };
    let properties =
        property_tags::change(&prose.text, change).map_err(|error| error.in_note(&note.path))?;
    Ok(TagsRemoved {
        text: properties.text,
        properties: properties.count,
        inline: prose.count,
    })
}

/// Formats tags for a sentence.
fn tag_list(tags: &[String]) -> String {
    match tags {
        [] => "nothing".to_owned(),
        tags => format!("#{}", tags.join(" #")),
    }
}
