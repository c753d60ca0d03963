//! Creating notes: empty, with text, or from a template.

use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::{Map, Value};
use notehost_sdk::{Kind, stem_of, text};

use crate::changes::Lines;
use crate::naming::new_note;
use crate::read_actions::heading_line;
use notehost_sdk::text::templates::{self, Variables};

/// Create a note and its missing parent folders.
///
/// Example: `{"path": "Garden/Basil.md", "content": "# Basil\n\nNeeds sun.", "properties": {"tags": ["garden"]}}`
#[args]
pub struct Create {
    /// Path of the new note; `.md` is added if missing.
    pub path: String,
    /// Its Markdown text. Not with `template`.
    pub content: Option<String>,
    /// Its properties (YAML frontmatter), as an object.
    pub properties: Option<Map<String, Value>>,
    /// A note to copy, filling in `{{title}}`, `{{date}}`, `{{time}}` (`{{date:YYYY-MM}}`).
    pub template: Option<String>,
    /// If the note already exists (default `fail`):
    pub if_exists: Option<IfExists>,
}

/// What to do if the note already exists.
#[args]
pub enum IfExists {
    /// return an error.
    Fail,
    /// return it unchanged.
    Open,
}

/// A created or existing note.
#[reply]
pub struct CreatedNote {
    /// Its path.
    pub path: String,
    /// `false`: it already existed and is unchanged.
    pub created: bool,
    /// Its etag.
    pub etag: String,
    /// Its text, if it already existed.
    pub content: Option<String>,
    /// Its line range.
    pub lines: Lines,
}

impl Action for Create {
    type Output = CreatedNote;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<CreatedNote> {
        let path = new_note(&self.path)?;
        if matches!(self.if_exists, Some(IfExists::Open))
            && let Ok(entry) = vault.stat(&path)
            && entry.kind == Kind::File
        {
            let note = vault.read_text(&entry.path)?;
            return Ok(CreatedNote {
                path: note.path,
                created: false,
                etag: note.etag,
                lines: all_lines(&note.text),
                content: Some(note.text),
            });
        }
        let mut content = match (self.content, self.template) {
            (Some(_), Some(_)) => {
                return Err(Error::validation(
                    "`content` and `template` are mutually exclusive: create from the template, then append or edit",
                ));
            }
            (Some(content), None) => content,
            (None, Some(template)) => {
                let template = vault.read_note(&template)?;
                let variables = Variables::new(vault)?.titled(stem_of(&path));
                templates::fill(&template.text, &variables).text
            }
            (None, None) => String::new(),
        };
        if let Some(properties) = &self.properties {
            content = text::set_properties(&content, properties, &[])?;
        }
        let etag = vault.create(&path, content.as_bytes())?;
        // Use the spelling of the parent folders on disk.
        let path = vault.stat(&path)?.path;
        Ok(CreatedNote {
            path,
            created: true,
            etag,
            content: None,
            lines: all_lines(&content),
        })
    }

    fn text(output: &CreatedNote) -> String {
        match &output.content {
            None => format!("created `{}`", output.path),
            Some(content) => format!(
                "already exists, unchanged: {}\n{content}",
                heading_line(&output.path, output.lines, &output.etag)
            ),
        }
    }
}

fn all_lines(text: &str) -> Lines {
    let total = text::lines::count(text);
    Lines {
        from: 1,
        to: total,
        total,
    }
}
