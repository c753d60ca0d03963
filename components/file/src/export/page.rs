//! Exports notes as one HTML file: a table of contents for several notes, an article for each, a small stylesheet. The
//! output is reproducible, and its content security policy forbids scripts and external resources.

use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::{Map, Value};
use notehost_sdk::stem_of;
use notehost_sdk::text::{self, frontmatter};

use super::html::Renderer;
use super::{ExportData, check_size};
use notehost_sdk::text::html::escape;

const STYLE: &str = include_str!("page.css");

/// Builds the page.
pub(super) fn build(vault: &Vault, paths: &[String], title: &str) -> Result<ExportData> {
    let mut notes = Vec::new();
    let mut size = 0;
    let mut steps = vault.steps(2 * paths.len());
    for path in paths {
        steps.done("notes read");
        let note = vault.read_text(path)?;
        size += note.text.len();
        check_size(size)?;
        notes.push(note);
    }
    let mut renderer = Renderer::new(vault, &notes)?;
    let title = match title {
        "" => "Notes",
        title => title,
    };
    let mut page = head(title);
    if notes.len() > 1 {
        page.push_str("<nav>\n<ul>\n");
        for note in &notes {
            page.push_str(&format!(
                "<li><a href=\"#{}\">{}</a></li>\n",
                renderer.anchor(&note.path),
                escape(stem_of(&note.path))
            ));
        }
        page.push_str("</ul>\n</nav>\n");
    }
    for note in &notes {
        steps.done("notes rendered");
        page.push_str(&format!(
            "<article id=\"{}\">\n",
            renderer.anchor(&note.path)
        ));
        if !begins_with_title(&note.text) {
            page.push_str(&format!(
                "<h1 class=\"title\">{}</h1>\n",
                escape(stem_of(&note.path))
            ));
        }
        page.push_str(&properties(&note.text));
        page.push_str(&renderer.article(note)?);
        page.push_str("</article>\n");
        check_size(page.len())?;
    }
    page.push_str("</body>\n</html>\n");
    Ok(ExportData {
        bytes: page.into_bytes(),
        notes: notes.len(),
        files: renderer.files(),
        left_out: renderer.left_out,
    })
}

fn head(title: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; media-src data:; \
         style-src 'unsafe-inline'\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        escape(title)
    )
}

/// Whether the note starts with a level 1 heading.
fn begins_with_title(note: &str) -> bool {
    let start = text::body::start(note);
    let lead = note[start..].len() - note[start..].trim_start().len();
    text::outline(note).is_ok_and(|outline| {
        outline
            .headings
            .first()
            .is_some_and(|first| first.level == 1 && first.section.start <= start + lead)
    })
}

/// The properties as an HTML table; empty if there are none or they are invalid.
fn properties(note: &str) -> String {
    let properties = frontmatter::properties(note).unwrap_or_default();
    if properties.is_empty() {
        return String::new();
    }
    let mut table = String::from("<table class=\"properties\">\n");
    for (name, value) in &properties {
        table.push_str(&format!(
            "<tr><th>{}</th><td>{}</td></tr>\n",
            escape(name),
            escape(&plain(value))
        ));
    }
    table.push_str("</table>\n");
    table
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(plain).collect();
            items.join(", ")
        }
        Value::Object(map) => nested(map),
        value => value.to_string(),
    }
}

fn nested(map: &Map<String, Value>) -> String {
    let parts: Vec<String> = map
        .iter()
        .map(|(name, value)| format!("{name}: {}", plain(value)))
        .collect();
    parts.join("; ")
}
