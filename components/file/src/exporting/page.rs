//! Notes as one HTML file: a table of contents where there are several, an article for each, a small stylesheet. The
//! same notes make the same bytes, and a browser is told to run and load nothing.

use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::{Map, Value};
use notehost_sdk::stem_of;
use notehost_sdk::text::{self, frontmatter};

use super::html::Renderer;
use super::links::escaped;
use super::{Made, within_limit};

const STYLE: &str = include_str!("page.css");

/// Make the page.
pub(super) fn make(vault: &Vault, paths: &[String], title: &str) -> Result<Made> {
    let mut notes = Vec::new();
    let mut size = 0;
    let mut steps = vault.steps(2 * paths.len());
    for path in paths {
        steps.done("notes read");
        let note = vault.read_text(path)?;
        size += note.text.len();
        within_limit(size)?;
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
                escaped(stem_of(&note.path))
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
                escaped(stem_of(&note.path))
            ));
        }
        page.push_str(&properties(&note.text));
        page.push_str(&renderer.article(note)?);
        page.push_str("</article>\n");
        within_limit(page.len())?;
    }
    page.push_str("</body>\n</html>\n");
    Ok(Made {
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
        escaped(title)
    )
}

/// Whether the first thing that the note says is a heading of the first level.
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

/// The properties as a table; nothing where there are none or they cannot be read.
fn properties(note: &str) -> String {
    let properties = frontmatter::properties(note).unwrap_or_default();
    if properties.is_empty() {
        return String::new();
    }
    let mut table = String::from("<table class=\"properties\">\n");
    for (name, value) in &properties {
        table.push_str(&format!(
            "<tr><th>{}</th><td>{}</td></tr>\n",
            escaped(name),
            escaped(&plain(value))
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
