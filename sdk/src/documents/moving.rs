//! Files and folders get other paths, with their links, and files get copies.

use super::naming::{file_name, within};
use crate::prelude::*;
use crate::text::moving::{LinkLeft, move_with_links};

/// Where notes are now.
#[reply]
pub struct Moved {
    /// Their paths now, in the order asked for.
    pub paths: Vec<String>,
    /// How many links were rewritten.
    pub links_rewritten: usize,
    /// Links that could not follow.
    pub links_left: Vec<LinkLeft>,
}

/// Where files and folders are to be that go into a folder, from path to path.
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

/// Give files and folders other paths, from path to path; links follow. One that is where it is to go stays.
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
    /// What a reply's text says.
    pub fn told(&self) -> String {
        let text = format!(
            "now at: {}\n{}",
            self.paths.join(", "),
            sentence(self.links_rewritten, &self.links_left)
        );
        text.trim_end().to_owned()
    }
}

/// What a reply's text says about links.
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
            "left as it is: {link} in `{path}`, line {line}: {reason}\n"
        ));
    }
    text
}

/// A copy.
#[reply]
pub struct Copied {
    /// Where the copy is.
    pub path: String,
    /// What was copied.
    pub from: String,
}

impl Copied {
    /// What a reply's text says.
    pub fn told(&self) -> String {
        format!("copied `{}` to `{}`", self.from, self.path)
    }
}

/// Copy a file; links to it stay.
pub fn copy(vault: &Vault, from: String, to: &str) -> Result<Copied> {
    let blob = vault.read(&from)?;
    vault.create(to, &blob.bytes)?;
    Ok(Copied {
        path: vault.stat(to)?.path,
        from,
    })
}
