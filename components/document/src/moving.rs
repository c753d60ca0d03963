//! Notes get other paths, and copies.

use notehost_sdk::prelude::*;
use notehost_sdk::text::moving::{LinkLeft, move_with_links};

use crate::backlinks::sentence;
use crate::naming::{destination, file_name, folder, within};

/// Rename a note; links to it follow everywhere.
#[args]
pub struct Rename {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// A new name in its folder, or a whole new path.
    pub to: String,
}

/// Move notes into a folder, made if missing; links follow everywhere.
#[args]
pub struct Move {
    /// The notes: paths, unique names or `[[links]]`.
    pub paths: Vec<String>,
    /// The folder; `/` is the vault itself.
    pub to: String,
}

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

impl Action for Rename {
    type Output = Moved;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Moved> {
        let from = vault.find_note(&self.path)?;
        let to = destination(&from, &self.to)?;
        relocate(vault, vec![(from, to)])
    }

    fn text(output: &Moved) -> String {
        told(output)
    }
}

impl Action for Move {
    type Output = Moved;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Moved> {
        if self.paths.is_empty() {
            return Err(Error::validation(
                "`paths` is empty: name at least one note",
            ));
        }
        let folder = folder(Some(&self.to));
        let mut moves: Vec<(String, String)> = Vec::new();
        for name in &self.paths {
            let from = vault.find_note(name)?;
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
        relocate(vault, moves)
    }

    fn text(output: &Moved) -> String {
        told(output)
    }
}

/// Give notes other paths. One that is where it is to go stays.
fn relocate(vault: &Vault, moves: Vec<(String, String)>) -> Result<Moved> {
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

fn told(output: &Moved) -> String {
    let text = format!(
        "now at: {}\n{}",
        output.paths.join(", "),
        sentence(output.links_rewritten, &output.links_left)
    );
    text.trim_end().to_owned()
}

/// Copy a note. Links to the original stay.
#[args]
pub struct Copy {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// A name in its folder, a whole path, or a folder ending with `/`.
    pub to: String,
}

/// A copy.
#[reply]
pub struct Copied {
    /// Where the copy is.
    pub path: String,
    /// What was copied.
    pub from: String,
}

impl Action for Copy {
    type Output = Copied;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Copied> {
        let from = vault.find_note(&self.path)?;
        let to = destination(&from, &self.to)?;
        let blob = vault.read(&from)?;
        vault.create(&to, &blob.bytes)?;
        Ok(Copied {
            path: vault.stat(&to)?.path,
            from,
        })
    }

    fn text(output: &Copied) -> String {
        format!("copied `{}` to `{}`", output.from, output.path)
    }
}
