//! Files get other paths, or go.

use notehost_sdk::Tier;
use notehost_sdk::index::BacklinksQuery;
use notehost_sdk::prelude::*;
use notehost_sdk::text::links::{self, Names};
use notehost_sdk::text::moving::{LinkLeft, move_with_links};

use crate::canvas::{self, Value};
use crate::places::{asset, destination};

/// How many links to a file that goes are told.
const MOST_TOLD: u32 = 50;

/// Rename or move a file; embeds and links follow everywhere.
///
/// Example: `{"path": "Pictures/kettle.png", "to": "Pictures/gooseneck.png"}`
#[args]
pub struct Rename {
    /// The file.
    pub path: String,
    /// A name in its folder, a path, or a folder ending with `/`.
    pub to: String,
}

/// Where a file is now.
#[reply]
pub struct Renamed {
    /// Its path now.
    pub path: String,
    /// Its path before.
    pub from: String,
    /// How many links were rewritten.
    pub links_rewritten: usize,
    /// Links that could not follow.
    pub links_left: Vec<LinkLeft>,
}

impl Action for Rename {
    type Output = Renamed;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Renamed> {
        let from = asset(vault, &self.path, "rename")?;
        let to = destination(&from, &self.to)?;
        if from == to {
            return Ok(Renamed {
                path: to,
                from,
                links_rewritten: 0,
                links_left: Vec::new(),
            });
        }
        // Canvases are looked at while the file has its old path, and written when it has the new one. Only those that
        // name it are kept.
        let before = Names::new(vault.files()?);
        let mut left_in_canvases = Vec::new();
        let mut canvases = Vec::new();
        canvas::each(vault, |canvas| {
            left_in_canvases.extend(linking_texts(&canvas, &before, &from));
            if canvas::renamed(&canvas.text, &from, &to).is_none() || canvas.path == from {
                return;
            }
            match vault.access(&canvas.path) < Tier::Write {
                true => left_in_canvases.extend(named_in(&canvas, &from)),
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
        Ok(Renamed {
            path,
            from,
            links_rewritten: moved.links_rewritten,
            links_left: moved.links_left,
        })
    }

    fn text(output: &Renamed) -> String {
        let mut text = format!("`{}` is now `{}`", output.from, output.path);
        match output.links_rewritten {
            0 => {}
            1 => text.push_str("\n1 link was rewritten"),
            several => text.push_str(&format!("\n{several} links were rewritten")),
        }
        for left in &output.links_left {
            text.push_str(&format!(
                "\nleft as it is: {} in `{}`, line {}: {}",
                left.link, left.path, left.line, left.reason
            ));
        }
        text
    }
}

/// The cards of a canvas that name a file and may not be changed.
fn named_in(canvas: &Note, file: &str) -> Vec<LinkLeft> {
    let values = canvas::values(&canvas.text).into_iter();
    let naming = values.filter(|(_, value)| *value == Value::File(file.to_owned()));
    naming
        .map(|(range, _)| LinkLeft {
            path: canvas.path.clone(),
            line: notehost_sdk::text::line_of(&canvas.text, range.start),
            link: canvas.text[range].to_owned(),
            reason: "this caller may not write there".to_owned(),
        })
        .collect()
}

/// Links to a file in the texts of a canvas: they are Markdown within JSON, and stay as they are.
fn linking_texts(canvas: &Note, names: &Names, file: &str) -> Vec<LinkLeft> {
    let mut left = Vec::new();
    for (range, value) in canvas::values(&canvas.text) {
        let Value::Text(text) = value else {
            continue;
        };
        for link in links::parse(&text) {
            let is_meant = !link.external
                && names
                    .resolve(&canvas.path, &link.target)
                    .is_some_and(|found| found.path == file);
            if is_meant {
                left.push(LinkLeft {
                    path: canvas.path.clone(),
                    line: notehost_sdk::text::line_of(&canvas.text, range.start),
                    link: text[link.range.clone()].to_owned(),
                    reason: "it stands in the text of a canvas".to_owned(),
                });
            }
        }
    }
    left
}

/// Remove a file: to the trash, `document.restore` brings it back.
///
/// Example: `{"path": "Pictures/label.png"}`
#[args]
pub struct Remove {
    /// The file.
    pub path: String,
}

/// What was removed.
#[reply]
pub struct Removed {
    /// The file that went.
    pub path: String,
    /// For `document.restore`.
    pub trash_id: String,
    /// How many links led to it and lead nowhere now.
    pub links_broken: u64,
    /// Where some of them stand.
    pub links: Vec<LinkPlace>,
}

/// Where a link stands.
#[reply]
pub struct LinkPlace {
    /// The note.
    pub path: String,
    /// The line of the file, from 1.
    pub line: u32,
}

impl Action for Remove {
    type Output = Removed;
    const EFFECT: Effect = Effect::Delete;

    fn run(self, vault: &Vault) -> Result<Removed> {
        let path = asset(vault, &self.path, "remove")?;
        let links = vault.backlinks(&BacklinksQuery {
            path: path.clone(),
            offset: 0,
            limit: MOST_TOLD,
        })?;
        let trash_id = vault.remove(&path)?.into_iter().next().unwrap_or_default();
        Ok(Removed {
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

    fn text(output: &Removed) -> String {
        let mut text = format!(
            "removed `{}`; `document.restore` brings it back with `trash_id` {}",
            output.path, output.trash_id
        );
        if output.links_broken > 0 {
            text.push_str(&format!(
                "\n{} to it and lead nowhere now:",
                match output.links_broken {
                    1 => "1 link led".to_owned(),
                    several => format!("{several} links led"),
                }
            ));
            for link in &output.links {
                text.push_str(&format!("\n{}:{}", link.path, link.line));
            }
        }
        text
    }
}
