//! Resolving block names, and the errors for names that match no block or several.

use notehost_sdk::prelude::*;
use notehost_sdk::quoted;
use notehost_sdk::serde_json::Value;
use notehost_sdk::text::blocks::{BlockError, BlockLookupError, Blocks, blocks};
use notehost_sdk::text::{outline, section};

/// Maximum number of ids or choices listed in an error.
const MAX_LISTED: usize = 5;

/// A parsed block name: a note, a place in it, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BlockName<'n> {
    pub(crate) note: &'n str,
    pub(crate) place: Option<&'n str>,
}

/// Splits a block name into note and place: `Note#^id`, `[[Note#^id|text]]`, `Note#Heading`, `#^id`, `^id`.
pub(crate) fn parse_name(name: &str) -> BlockName<'_> {
    let name = name.trim();
    let link = name.strip_prefix('!').unwrap_or(name);
    let inner = link
        .strip_prefix("[[")
        .and_then(|rest| rest.strip_suffix("]]"))
        .map(|inner| inner.split('|').next().unwrap_or(inner));
    let name = inner.unwrap_or(name).trim();
    match name.split_once('#') {
        Some((note, place)) => BlockName {
            note: note.trim(),
            place: Some(place.trim()),
        },
        None if name.starts_with('^') => BlockName {
            note: "",
            place: Some(name),
        },
        None => BlockName {
            note: name,
            place: None,
        },
    }
}

/// The blocks of a note's text.
pub(crate) fn read<'t>(path: &str, text: &'t str) -> Result<Blocks<'t>> {
    blocks(text).map_err(|error| note_error(path, BlockError::from(error)))
}

/// A block error, prefixed with the note's path.
pub(crate) fn note_error(path: &str, error: BlockError) -> Error {
    Error::new(error.code(), format!("`{path}`: {error}"))
}

/// The name of a block, as returned in replies.
pub(crate) fn handle(path: &str, fragment: &str) -> String {
    format!("{path}#{fragment}")
}

/// The block of a note that a place refers to.
pub(crate) fn find(path: &str, blocks: &Blocks<'_>, place: &str) -> Result<usize> {
    match blocks.find(place) {
        Ok(found) => Ok(found),
        Err(BlockLookupError::Malformed) => heading(path, blocks, place),
        Err(BlockLookupError::NoId) => Err(unknown_id_error(path, blocks, place)),
        Err(BlockLookupError::Changed { nearest }) => {
            Err(changed_error(path, blocks, place, nearest))
        }
        Err(BlockLookupError::Several(several)) => {
            Err(ambiguous_error(path, blocks, place, &several))
        }
    }
}

/// The heading block that a place names: `Heading`, `Heading#Below`, `Heading > Below`.
fn heading(path: &str, blocks: &Blocks<'_>, place: &str) -> Result<usize> {
    if place.is_empty() {
        return Err(Error::validation(format!(
            "`{path}#` does not name a block: use the `block` value of a reply, `{path}#^id` or `{path}#Heading`"
        )));
    }
    let outline = outline::outline(blocks.note())?;
    let section_path = place.replace('#', outline::PATH_SEPARATOR);
    let index = section::find(&outline, &section_path).map_err(|error| {
        Error::from(error).map_message(|message| {
            format!(
                "`{path}`: {message}; name a block by the `block` value of a reply, `{path}#^id` or `{path}#Heading`"
            )
        })
    })?;
    let start = outline.headings[index].range.start;
    blocks
        .beginning_at(start)
        .ok_or_else(|| Error::not_found(format!("`{path}` has no block for the heading `{place}`")))
}

fn unknown_id_error(path: &str, blocks: &Blocks<'_>, place: &str) -> Error {
    let ids: Vec<String> = blocks
        .iter()
        .filter_map(|block| Some(format!("^{}", block.id.as_ref()?.name)))
        .take(MAX_LISTED)
        .collect();
    let known = match ids.is_empty() {
        true => "none of its blocks has an id".to_owned(),
        false => format!("existing ids: {}", quoted(&ids)),
    };
    Error::not_found(format!("no block `{place}` in `{path}`; {known}"))
        .with_details(json!({ "nearest": ids }))
}

fn changed_error(
    path: &str,
    blocks: &Blocks<'_>,
    place: &str,
    nearest: Option<(usize, notehost_sdk::text::Passage)>,
) -> Error {
    let message = format!("the block `{place}` of `{path}` was changed or removed");
    match nearest {
        None => Error::conflict(format!("{message}: list the note's blocks again")),
        Some((index, passage)) => {
            let names = blocks.names();
            let now = handle(path, &names[index].fragment);
            Error::conflict(format!(
                "{message}; the closest match is `{now}`, line {}: `{}`",
                passage.line, passage.text
            ))
            .with_details(json!({
                "nearest": { "block": now, "line": passage.line, "text": passage.text }
            }))
        }
    }
}

fn ambiguous_error(path: &str, blocks: &Blocks<'_>, place: &str, several: &[usize]) -> Error {
    let names = blocks.names();
    let choices: Vec<Value> = several
        .iter()
        .take(MAX_LISTED)
        .map(|at| json!({ "block": handle(path, &names[*at].fragment), "line": blocks[*at].line }))
        .collect();
    let listed: Vec<String> = several
        .iter()
        .take(MAX_LISTED)
        .map(|at| {
            format!(
                "`{}` (line {})",
                handle(path, &names[*at].fragment),
                blocks[*at].line
            )
        })
        .collect();
    let message = format!(
        "`{place}` matches {} blocks of `{path}`: use one of {}",
        several.len(),
        listed.join(", ")
    );
    let error = match place.starts_with('^') {
        true => Error::ambiguous(message),
        // The name was unique when it was returned; the note has changed since.
        false => Error::conflict(message),
    };
    error.with_details(json!({ "choices": choices }))
}
