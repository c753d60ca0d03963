//! Changing a note's text: `update`, `append`, `prepend`, `insert`, `edit`. The edits are implemented in
//! `notehost_sdk::text`.

use notehost_sdk::prelude::*;
use notehost_sdk::text::{self, Edit, Newline, Place};

use crate::changes::{Edited, edit, replaced, some_text, written};

/// Replace a note's whole text; its properties (frontmatter) stay.
///
/// Example: `{"path": "Garden/Compost", "content": "# Compost\n\nThe worms moved out."}`
#[args]
pub struct Update {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// The new text, without frontmatter.
    pub content: String,
}

impl Action for Update {
    type Output = Edited;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Edited> {
        let note = vault.read_note(&self.path)?;
        let body = without_frontmatter(&note.text, &self.content)?;
        written(vault, &note, &text::replace_body(&note.text, body)?)
    }
}

/// The new text without repeated frontmatter: the text that was read starts with it, and models that edit that text send
/// it back. Different frontmatter is rejected, because it would become body text.
fn without_frontmatter<'a>(note: &str, content: &'a str) -> Result<&'a str> {
    let block = |text: &str| text::frontmatter::locate(text).map(|found| found.block);
    let Some(repeated) = block(content) else {
        return Ok(content);
    };
    let plain = |text: &str| Newline::Lf.convert(text).trim_end().to_owned();
    if block(note).is_some_and(|kept| plain(&note[kept]) == plain(&content[repeated.clone()])) {
        return Ok(&content[repeated.end..]);
    }
    Err(Error::validation(
        "`content` begins with frontmatter: omit it (the note keeps its own) and use `set_properties` to change it",
    ))
}

/// Add lines at the end of a note, or of a section (before its subsections).
///
/// Example: `{"path": "Journal/2026-04-12", "text": "- 21:00 Watered everything."}`
/// Example (to a section): `{"path": "Coffee/Beans", "section": "To buy", "text": "- [ ] Oat milk"}`
#[args]
pub struct Append {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// The lines to add.
    pub text: String,
    /// A heading path: `A > B`.
    pub section: Option<String>,
}

impl Action for Append {
    type Output = Edited;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Edited> {
        let text = some_text(&self.text)?;
        edit(vault, &self.path, |note| match &self.section {
            None => text::append(note, text),
            Some(section) => text::section::append(note, section, text),
        })
    }
}

/// Add lines at the top of a note (below its properties), or directly below a section's heading.
///
/// Example: `{"path": "Coffee/Beans", "section": "To buy", "text": "- [ ] Oat milk"}`
#[args]
pub struct Prepend {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// The lines to add.
    pub text: String,
    /// A heading path: `A > B`.
    pub section: Option<String>,
}

impl Action for Prepend {
    type Output = Edited;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Edited> {
        let text = some_text(&self.text)?;
        edit(vault, &self.path, |note| match &self.section {
            None => text::prepend(note, text),
            Some(section) => text::section::prepend(note, section, text),
        })
    }
}

/// Insert lines before or after a line of a note. Pass either `before` or `after`.
///
/// Example: `{"path": "Coffee/The morning cup", "before": "Notes to self", "text": "Drink it while it is hot.\n"}`
#[args]
pub struct Insert {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// The lines to add.
    pub text: String,
    /// Text that occurs exactly once, or a heading path: insert above its line.
    pub before: Option<String>,
    /// Text or heading path: insert below its line.
    pub after: Option<String>,
}

impl Action for Insert {
    type Output = Edited;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Edited> {
        let text = some_text(&self.text)?;
        let place = match (&self.before, &self.after) {
            (Some(anchor), None) => Place::Before(anchor),
            (None, Some(anchor)) => Place::After(anchor),
            (Some(_), Some(_)) => {
                return Err(Error::validation(
                    "`before` and `after` are mutually exclusive: pass one of them",
                ));
            }
            (None, None) => {
                return Err(Error::validation("`before` or `after` is required"));
            }
        };
        edit(vault, &self.path, |note| text::insert(note, text, place))
    }
}

/// Edit a note by exact text: each `old` must occur exactly once (or `replace_all`). All edits are made, or none.
///
/// Example: `{"path": "Garden/Compost", "edits": [{"old": "about four months", "new": "about five months"}]}`
#[args]
pub struct EditNote {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// The edits, applied in order.
    pub edits: Vec<Edit>,
}

impl Action for EditNote {
    type Output = Edited;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Edited> {
        replaced(vault, &vault.read_note(&self.path)?, &self.edits)
    }
}
