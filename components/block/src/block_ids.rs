//! Adding an id to a block, so that links can point to it: `identify`.

use notehost_sdk::prelude::*;
use notehost_sdk::text::blocks::{BlockKind, free_id, identify, is_id};
use notehost_sdk::{is_note, stem_of};

use crate::block_names::{handle, note_error};
use crate::session::{BlockChange, Session};

/// Give a block an id (`^id`) and return the link to it. An existing id is kept.
///
/// Example: `{"block": "Garden/Balcony plan#Water", "id": "water"}`
#[args]
pub struct Identify {
    /// The block.
    pub block: String,
    /// The id: letters, digits, `-` (default: generated).
    pub id: Option<String>,
}

/// A block with an id.
#[reply]
pub struct IdentifiedBlock {
    /// The block's new name.
    pub block: String,
    /// The note.
    pub path: String,
    /// Line in the file, 1-based.
    pub line: usize,
    /// The block type.
    #[serde(rename = "type")]
    pub kind: BlockKind,
    /// The block id, without `^`.
    pub id: String,
    /// The link to it.
    pub link: String,
    /// `true`: the id is new.
    pub created: bool,
}

impl Action for Identify {
    type Output = IdentifiedBlock;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<IdentifiedBlock> {
        self.commit(vault)
    }

    fn text(output: &IdentifiedBlock) -> String {
        match output.created {
            true => format!("{} links to line {}", output.link, output.line),
            false => format!(
                "{} links to line {}; the block already had this id",
                output.link, output.line
            ),
        }
    }
}

impl BlockChange for Identify {
    type Output = IdentifiedBlock;

    fn change(&self, session: &mut Session<'_>) -> Result<IdentifiedBlock> {
        let found = session.find(&self.block, None)?;
        let requested = match self.id.as_deref() {
            None => None,
            Some(id) => Some(parse_id(id)?),
        };
        give_id(session, found.note, found.block, requested)
    }
}

fn parse_id(id: &str) -> Result<&str> {
    let id = id.trim();
    let id = id.strip_prefix('^').unwrap_or(id);
    if is_id(id) {
        return Ok(id);
    }
    Err(Error::validation(format!(
        "invalid `id` `{id}`: only the letters a to z, digits and `-` are allowed"
    )))
}

/// Adds an id to a block that has none.
pub(crate) fn give_id(
    session: &mut Session<'_>,
    note: usize,
    block: usize,
    requested: Option<&str>,
) -> Result<IdentifiedBlock> {
    let path = session.path(note).to_owned();
    let (changed, had) = {
        let blocks = session.blocks(note)?;
        if let Some(id) = requested
            && let Some(other) = blocks.with_id(id).first()
            && blocks[block].id.is_none()
        {
            return Err(Error::already_exists(format!(
                "`{path}` already has a block `^{id}`, on line {}: pass another `id`",
                blocks[*other].line
            )));
        }
        let id = match requested {
            Some(id) => id.to_owned(),
            None => free_id(&blocks, block),
        };
        let changed = identify(&blocks, block, &id).map_err(|error| note_error(&path, error))?;
        let is_same = changed.text == blocks.note();
        (changed, is_same)
    };
    let start = changed.range.start;
    session.set(note, changed.text)?;
    let blocks = session.blocks(note)?;
    let named = (0..blocks.len())
        .find(|at| blocks[*at].range.start == start && blocks[*at].id.is_some())
        .ok_or_else(|| Error::conflict(format!("`{path}` has no id on this block")))?;
    let block = &blocks[named];
    let id = block
        .id
        .as_ref()
        .map(|id| id.name.clone())
        .unwrap_or_default();
    if let Some(requested) = requested.filter(|requested| !requested.eq_ignore_ascii_case(&id)) {
        return Err(Error::already_exists(format!(
            "the block already has the id `^{id}`, which links may use: omit `id`, or change `^{id}` to `^{requested}` with `edit`"
        )));
    }
    Ok(IdentifiedBlock {
        block: handle(&path, &blocks.names()[named].fragment),
        line: block.line,
        kind: block.kind,
        link: link_to(session.vault, &path, &format!("^{id}"))?,
        id,
        created: !had,
        path,
    })
}

/// The shortest link to a place in a note.
pub(crate) fn link_to(vault: &Vault, path: &str, fragment: &str) -> Result<String> {
    let stem = stem_of(path);
    let notes = vault.resolve(stem, None)?;
    let is_only = notes.iter().filter(|other| is_note(other)).count() == 1;
    let name = match is_only {
        true => stem,
        false => &path[..path.len() - ".md".len()],
    };
    Ok(format!("[[{name}#{fragment}]]"))
}
