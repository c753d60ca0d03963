//! Merging a note into another as a section: `merge`.

use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::{Map, Value};
use notehost_sdk::text::moving::LinkLeft;
use notehost_sdk::text::{self, Newline, Outline, Splice, section, splice};
use notehost_sdk::{fold_name, stem_of};

use crate::backlinks::{Backlinks, MergeRewrite};
use crate::lookup::unique_section_path;
use notehost_sdk::documents::moving::sentence;

/// The deepest heading level in Markdown.
const MAX_HEADING_LEVEL: u8 = 6;

/// Merge a note into another: its text becomes a section named after it, links to it are redirected, and the note goes
/// to the trash.
///
/// Example: `{"path": "Garden/Sowing calendar", "into": "Garden/Balcony plan"}`
#[args]
pub struct Merge {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// The target note.
    pub into: String,
    /// Insert below this heading path, `A > B` (default: at the end).
    pub section: Option<String>,
}

/// The result of a merge.
#[reply]
pub struct MergeResult {
    /// The target note.
    pub path: String,
    /// The merged note.
    pub from: String,
    /// The heading path of the new section.
    pub section: String,
    /// The line of its heading.
    pub line: usize,
    /// Trash ids, for `restore`.
    pub trash_ids: Vec<String>,
    /// Properties of the merged note that were not carried over; they remain in the trash.
    pub properties_left: Option<Map<String, Value>>,
    /// Number of rewritten links.
    pub links_rewritten: usize,
    /// Links that could not be rewritten.
    pub links_left: Vec<LinkLeft>,
}

impl Action for Merge {
    type Output = MergeResult;
    const EFFECT: Effect = Effect::Delete;

    fn run(self, vault: &Vault) -> Result<MergeResult> {
        let from = vault.read_note(&self.path)?;
        let into = vault.read_note(&self.into)?;
        if from.path == into.path {
            return Err(Error::validation(format!(
                "`path` and `into` both name `{}`: name two different notes",
                from.path
            )));
        }
        let name = stem_of(&from.path);
        let backlinks = Backlinks::to(vault, std::slice::from_ref(&from.path))?;
        let merged = MergeRewrite::new(&from.path, &into.path, name, backlinks.names());
        let own = backlinks.redirected(&into.path, &into.text, &merged);
        let own_links = own.splices.len();
        let whole = MergeTarget::new(&into, own.apply(&into.text), self.section.as_deref())?;
        let body = text::body(&from.text);
        let body = backlinks.redirected(&from.path, body, &merged).apply(body);
        let (text, line) = whole.with_section(name, &body)?;
        vault.write_note(&into, &text)?;
        let (links_rewritten, links_left) = backlinks.redirect_all(&merged)?;
        let trash_ids = vault.remove(&from.path)?;
        let properties = text::frontmatter::properties(&from.text).unwrap_or_default();
        Ok(MergeResult {
            section: section_at(&text, line).unwrap_or_else(|| name.to_owned()),
            path: into.path.clone(),
            from: from.path.clone(),
            line,
            trash_ids,
            properties_left: (!properties.is_empty()).then_some(properties),
            links_rewritten: links_rewritten + own_links,
            links_left,
        })
    }

    fn text(output: &MergeResult) -> String {
        let mut text = format!(
            "`{}` is now `{}` in `{}`, line {}\n",
            output.from, output.section, output.path, output.line
        );
        if let Some(properties) = &output.properties_left {
            let keys: Vec<&str> = properties.keys().map(String::as_str).collect();
            text.push_str(&format!(
                "its properties were not carried over (they remain in the trash): {}\n",
                keys.join(", ")
            ));
        }
        text.push_str(&sentence(output.links_rewritten, &output.links_left));
        text.trim_end().to_owned()
    }
}

fn section_at(text: &str, line: usize) -> Option<String> {
    let outline = text::outline(text).ok()?;
    let index = outline
        .headings
        .iter()
        .position(|heading| heading.line == line)?;
    Some(unique_section_path(&outline, index))
}

/// The target note and the position of the new section.
struct MergeTarget {
    text: String,
    /// The byte offset of the new section.
    at: usize,
    /// The level of its heading.
    level: u8,
}

impl MergeTarget {
    /// `text` is the note's text with rewritten links: it has the same headings, possibly spelled differently.
    fn new(note: &Note, text: String, section_path: Option<&str>) -> Result<MergeTarget> {
        let outline = text::outline(&text)?;
        let Some(section_path) = section_path else {
            return Ok(MergeTarget {
                at: text.len(),
                level: default_level(&outline),
                text,
            });
        };
        let before = text::outline(&note.text)?;
        let index = section::find(&before, section_path)?;
        let heading = &outline.headings[index];
        Ok(MergeTarget {
            at: heading.section.end,
            level: (heading.level + 1).min(MAX_HEADING_LEVEL),
            text,
        })
    }

    /// Returns the text with the new section, and the line of its heading.
    fn with_section(&self, name: &str, body: &str) -> Result<(String, usize), text::TextError> {
        let newline = Newline::of(&self.text)
            .or_else(|| Newline::of(body))
            .unwrap_or(Newline::Lf);
        let content = nested_under(body, name, self.level)?;
        let content = newline.convert(content.trim_matches(['\n', '\r']));
        let newline = newline.as_str();
        let (above, rest) = self.text.split_at(self.at);
        let gap = match above {
            _ if text::body(above).is_empty()
                && (above.is_empty() || above.ends_with(['\n', '\u{feff}'])) =>
            {
                ""
            }
            _ if above.ends_with(&format!("{newline}{newline}")) => "",
            _ if above.ends_with('\n') => newline,
            _ => &format!("{newline}{newline}"),
        };
        let mut part = format!("{gap}{} {name}", "#".repeat(self.level.into()));
        if !content.is_empty() {
            part.push_str(&format!("{newline}{newline}{content}"));
        }
        match rest {
            "" if above.is_empty() || above.ends_with('\n') => part.push_str(newline),
            "" => {}
            _ => part.push_str(&format!("{newline}{newline}")),
        }
        let line = text::line_of(&self.text, self.at) + gap.matches('\n').count();
        let text = splice::apply(&self.text, vec![Splice::insert(self.at, part)])?;
        Ok((text, line))
    }
}

/// The level of a section at the end: one below the title if the note has one, otherwise that of its sections.
fn default_level(outline: &Outline) -> u8 {
    let levels: Vec<u8> = outline
        .headings
        .iter()
        .map(|heading| heading.level)
        .collect();
    let Some(top) = levels.iter().copied().min() else {
        return 2;
    };
    let is_title = levels[0] == top && levels.iter().filter(|level| **level == top).count() == 1;
    (top + u8::from(is_title)).min(MAX_HEADING_LEVEL)
}

/// The text adapted for a section with this name and level: its headings are demoted, and a title equal to the section's
/// heading is dropped.
fn nested_under(body: &str, name: &str, level: u8) -> Result<String, text::TextError> {
    let outline = text::outline(body)?;
    let title = outline.headings.first().filter(|first| {
        body[..first.range.start].trim().is_empty() && fold_name(&first.text) == fold_name(name)
    });
    let others = &outline.headings[usize::from(title.is_some())..];
    let needed = others
        .iter()
        .map(|heading| (level + 1).saturating_sub(heading.level))
        .max()
        .unwrap_or(0);
    let beside_title = title.map_or(0, |title| level.saturating_sub(title.level));
    let deeper = needed.max(beside_title);
    let mut splices: Vec<Splice> = title
        .map(|title| Splice::delete(title.range.clone()))
        .into_iter()
        .collect();
    for heading in others.iter().filter(|_| deeper > 0) {
        let marks = "#".repeat((heading.level + deeper).min(MAX_HEADING_LEVEL).into());
        let line = &body[heading.range.clone()];
        splices.push(if heading.setext {
            let ending = &line[line.trim_end_matches(['\n', '\r']).len()..];
            Splice::replace(
                heading.range.clone(),
                format!("{marks} {}{ending}", heading.raw),
            )
        } else {
            let start = heading.range.start + (line.len() - line.trim_start().len());
            Splice::replace(start..start + usize::from(heading.level), marks)
        });
    }
    splice::apply(body, splices)
}
