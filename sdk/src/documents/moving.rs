//! Moves files and folders with the links to them, and copies files.

use super::naming::{file_name, within};
use crate::prelude::*;
use crate::text::moving::{LinkLeft, move_with_links};

/// The result of a move.
#[reply(text = Moved::to_text)]
pub struct Moved {
    /// The new paths, in the order of the request.
    pub paths: Vec<String>,
    /// Number of rewritten links.
    pub links_rewritten: usize,
    /// Links that could not be updated.
    pub links_left: Vec<LinkLeft>,
}

/// The moves, from path to path, that bring files and folders into a folder.
pub fn into_folder(
    paths: impl IntoIterator<Item = String>,
    folder: &str,
) -> Result<Vec<(String, String)>> {
    let mut moves: Vec<(String, String)> = Vec::new();
    for from in paths {
        if moves.iter().any(|(known, _)| *known == from) {
            continue;
        }
        let to = within(folder, file_name(&from));
        if let Some((other, _)) = moves.iter().find(|(_, place)| *place == to) {
            return Err(Error::validation(format!(
                "`{other}` and `{from}` cannot both become `{to}`: rename one of them first"
            )));
        }
        moves.push((from, to));
    }
    Ok(moves)
}

/// Moves files and folders, from path to path, and rewrites the links to them. Skips moves to the same path.
pub fn relocate(vault: &Vault, moves: Vec<(String, String)>) -> Result<Moved> {
    let moving: Vec<(String, String)> = moves
        .iter()
        .filter(|(from, to)| from != to)
        .cloned()
        .collect();
    let moved = move_with_links(vault, &moving)?;
    let now = |from: &String, to: &String| {
        let mut files = moved.files.iter();
        files
            .find(|(old, _)| old == from)
            .map_or(to, |(_, new)| new)
            .clone()
    };
    Ok(Moved {
        paths: moves.iter().map(|(from, to)| now(from, to)).collect(),
        links_rewritten: moved.links_rewritten,
        links_left: moved.links_left,
    })
}

impl Moved {
    /// The text of a reply.
    pub fn to_text(&self) -> String {
        let text = format!(
            "moved to: {}\n{}",
            self.paths.join(", "),
            sentence(self.links_rewritten, &self.links_left)
        );
        text.trim_end().to_owned()
    }
}

/// The part of a reply's text about links.
pub fn sentence(rewritten: usize, left: &[LinkLeft]) -> String {
    let mut text = match rewritten {
        0 => String::new(),
        1 => "1 link was rewritten\n".to_owned(),
        several => format!("{several} links were rewritten\n"),
    };
    for LinkLeft {
        path,
        line,
        link,
        reason,
    } in left
    {
        text.push_str(&format!(
            "not updated: {link} in `{path}`, line {line}: {reason}\n"
        ));
    }
    text
}

/// A copy.
#[reply(text = Copied::to_text)]
pub struct Copied {
    /// The path of the copy.
    pub path: String,
    /// The file that was copied.
    pub from: String,
}

impl Copied {
    /// The text of a reply.
    pub fn to_text(&self) -> String {
        format!("copied `{}` to `{}`", self.from, self.path)
    }
}

/// Copies a file. Links keep pointing to the original.
pub fn copy(vault: &Vault, from: String, to: &str) -> Result<Copied> {
    let blob = vault.read(&from)?;
    vault.create(to, &blob.bytes)?;
    Ok(Copied {
        path: vault.stat(to)?.path,
        from,
    })
}
