//! Renames, moves and removes files.

use notehost_sdk::Tier;
use notehost_sdk::index::BacklinksQuery;
use notehost_sdk::prelude::*;
use notehost_sdk::text::links::{self, Names};
use notehost_sdk::text::moving::{LinkLeft, move_with_links};

use crate::canvas::{self, Value};
use crate::paths::{asset_path, destination};

/// The maximum number of broken links to report.
const MAX_REPORTED_LINKS: u32 = 50;

/// Rename or move a file; all embeds and links follow.
///
/// Example: `{"path": "Pictures/kettle.png", "to": "Pictures/gooseneck.png"}`
#[args]
pub struct Rename {
    /// The file.
    pub path: String,
    /// A name in the same folder, a path, or a folder ending with `/`.
    pub to: String,
}

/// The result of renaming a file.
#[reply]
pub struct RenameResult {
    /// The new path.
    pub path: String,
    /// The old path.
    pub from: String,
    /// Number of rewritten links.
    pub links_rewritten: usize,
    /// Links that could not be updated.
    pub links_left: Vec<LinkLeft>,
}

impl Action for Rename {
    type Output = RenameResult;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<RenameResult> {
        let from = asset_path(vault, &self.path, "rename")?;
        let to = destination(&from, &self.to)?;
        if from == to {
            return Ok(RenameResult {
                path: to,
                from,
                links_rewritten: 0,
                links_left: Vec::new(),
            });
        }
        // Canvases are read before the move and written after it. Only those that reference the file are kept.
        let before = Names::new(vault.files()?);
        let mut left_in_canvases = Vec::new();
        let mut canvases = Vec::new();
        canvas::each(vault, |canvas| {
            left_in_canvases.extend(links_in_texts(&canvas, &before, &from));
            if canvas::renamed(&canvas.text, &from, &to).is_none() || canvas.path == from {
                return;
            }
            match vault.access(&canvas.path) < Tier::Write {
                true => left_in_canvases.extend(references_in(&canvas, &from)),
                false => canvases.push(canvas),
            }
        })?;
        let mut moved = move_with_links(vault, &[(from.clone(), to.clone())])?;
        moved.links_left.extend(left_in_canvases);
        let path = moved.files.pop().map_or(to, |(_, path)| path);
        for canvas in canvases {
            if let Some((text, count)) = canvas::renamed(&canvas.text, &from, &path) {
                vault.write(&canvas.path, text.as_bytes(), Some(&canvas.etag))?;
                moved.links_rewritten += count;
            }
        }
        Ok(RenameResult {
            path,
            from,
            links_rewritten: moved.links_rewritten,
            links_left: moved.links_left,
        })
    }

    fn text(output: &RenameResult) -> String {
        let mut text = format!("`{}` is now `{}`", output.from, output.path);
        match output.links_rewritten {
            0 => {}
            1 => text.push_str("\n1 link was rewritten"),
            several => text.push_str(&format!("\n{several} links were rewritten")),
        }
        for left in &output.links_left {
            text.push_str(&format!(
                "\nnot updated: {} in `{}`, line {}: {}",
                left.link, left.path, left.line, left.reason
            ));
        }
        text
    }
}

/// The references to a file in a canvas that may not be changed.
fn references_in(canvas: &Note, file: &str) -> Vec<LinkLeft> {
    let values = canvas::values(&canvas.text).into_iter();
    let references = values.filter(|(_, value)| *value == Value::File(file.to_owned()));
    references
        .map(|(range, _)| LinkLeft {
            path: canvas.path.clone(),
            line: notehost_sdk::text::line_of(&canvas.text, range.start),
            link: canvas.text[range].to_owned(),
            reason: "no write permission".to_owned(),
        })
        .collect()
}

/// Links to a file in the text cards of a canvas: Markdown inside JSON, which is not updated.
fn links_in_texts(canvas: &Note, names: &Names, file: &str) -> Vec<LinkLeft> {
    let mut left = Vec::new();
    for (range, value) in canvas::values(&canvas.text) {
        let Value::Text(text) = value else {
            continue;
        };
        for link in links::parse(&text) {
            let is_match = !link.external
                && names
                    .resolve(&canvas.path, &link.target)
                    .is_some_and(|found| found.path == file);
            if is_match {
                left.push(LinkLeft {
                    path: canvas.path.clone(),
                    line: notehost_sdk::text::line_of(&canvas.text, range.start),
                    link: text[link.range.clone()].to_owned(),
                    reason: "links in the text of a canvas are not updated".to_owned(),
                });
            }
        }
    }
    left
}

/// Remove a file: moves it to the trash, undo with `document.restore`.
///
/// Example: `{"path": "Pictures/label.png"}`
#[args]
pub struct Remove {
    /// The file.
    pub path: String,
}

/// The result of removing a file.
#[reply]
pub struct RemoveResult {
    /// The removed file.
    pub path: String,
    /// For `document.restore`.
    pub trash_id: String,
    /// Number of links that are broken now.
    pub links_broken: u64,
    /// The places of some of them.
    pub links: Vec<LinkPlace>,
}

/// The place of a link.
#[reply]
pub struct LinkPlace {
    /// The note.
    pub path: String,
    /// The line number in the file, from 1.
    pub line: u32,
}

impl Action for Remove {
    type Output = RemoveResult;
    const EFFECT: Effect = Effect::Delete;

    fn run(self, vault: &Vault) -> Result<RemoveResult> {
        let path = asset_path(vault, &self.path, "remove")?;
        let links = vault.backlinks(&BacklinksQuery {
            path: path.clone(),
            offset: 0,
            limit: MAX_REPORTED_LINKS,
        })?;
        let trash_id = vault.remove(&path)?.into_iter().next().unwrap_or_default();
        Ok(RemoveResult {
            path,
            trash_id,
            links_broken: links.total,
            links: links
                .items
                .into_iter()
                .map(|link| LinkPlace {
                    path: link.path,
                    line: link.line,
                })
                .collect(),
        })
    }

    fn text(output: &RemoveResult) -> String {
        let mut text = format!(
            "removed `{}`; restore it with `document.restore`, `trash_id` {}",
            output.path, output.trash_id
        );
        if output.links_broken > 0 {
            text.push_str(&format!(
                "\n{} now:",
                match output.links_broken {
                    1 => "1 link to it is broken".to_owned(),
                    several => format!("{several} links to it are broken"),
                }
            ));
            for link in &output.links {
                text.push_str(&format!("\n{}:{}", link.path, link.line));
            }
        }
        text
    }
}
