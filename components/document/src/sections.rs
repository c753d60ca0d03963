//! Actions on one section of a note.

use notehost_sdk::prelude::*;
use notehost_sdk::text::{self, section::Extent};

use crate::changes::{Edited, edit, some_text, written};
use crate::read_actions::{NoteText, Read};

/// Read one section: its heading, content and subsections.
///
/// Example: `{"path": "Garden/Tomatoes", "section": "Log"}`
#[args]
pub struct ReadSection {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// A heading path: `A > B`.
    pub section: String,
}

impl Action for ReadSection {
    type Output = NoteText;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<NoteText> {
        let mut read = Read::whole(self.path, None);
        read.section = Some(self.section);
        read.run(vault)
    }

    fn text(output: &NoteText) -> String {
        Read::text(output)
    }
}

/// Add lines at the end of a section, before its subsections.
///
/// Example: `{"path": "Garden/Tomatoes", "section": "Log", "text": "- 2026-04-12: a leaf curled."}`
#[args]
pub struct AppendSection {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// A heading path: `A > B`.
    pub section: String,
    /// The lines to add.
    pub text: String,
}

impl Action for AppendSection {
    type Output = Edited;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Edited> {
        let text = some_text(&self.text)?;
        edit(vault, &self.path, |note| {
            text::section::append(note, &self.section, text)
        })
    }
}

/// Replace everything under a heading, including subsections. The heading stays.
///
/// Example: `{"path": "Garden/Tomatoes", "section": "Later", "text": "Out for good after the Ice Saints."}`
#[args]
pub struct ReplaceSection {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// A heading path: `A > B`.
    pub section: String,
    /// The new text of the section.
    pub text: String,
}

impl Action for ReplaceSection {
    type Output = Edited;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Edited> {
        let note = vault.read_note(&self.path)?;
        let changed =
            text::section::read(&note.text, &self.section, Extent::Whole).and_then(|found| {
                let text = without_heading(&self.text, found.heading.level, &found.heading.raw);
                text::section::replace(&note.text, &self.section, text, Extent::Whole)
            })?;
        written(vault, &note, &changed)
    }
}

/// The replacement without a repeated heading: the text from `read_section` starts with it, and models that edit that text
/// send it back.
fn without_heading<'a>(text: &'a str, level: u8, raw: &str) -> &'a str {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let marks = "#".repeat(level.into());
    let is_heading = first
        .trim()
        .strip_prefix(marks.as_str())
        .is_some_and(|name| name.starts_with(' ') && name.trim() == raw);
    if is_heading {
        rest.trim_start_matches(['\r', '\n'])
    } else {
        text
    }
}

/// Delete a section: its heading, content and subsections.
///
/// Example: `{"path": "Garden/Compost", "section": "When it smells"}`
#[args]
pub struct DeleteSection {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// A heading path: `A > B`.
    pub section: String,
}

impl Action for DeleteSection {
    type Output = Edited;
    const EFFECT: Effect = Effect::Delete;

    fn run(self, vault: &Vault) -> Result<Edited> {
        edit(vault, &self.path, |note| {
            text::section::delete(note, &self.section)
        })
    }
}
