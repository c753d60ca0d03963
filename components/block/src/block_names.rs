//! How callers name blocks, and what they are told when a name fits none.

use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::Value;
use notehost_sdk::text::blocks::{BlockError, Blocks, Unfound, blocks};
use notehost_sdk::text::{outline, section};

/// How many ids or choices an error lists.
const LISTED: usize = 5;

/// What a caller wrote: a note, a place in it, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written<'w> {
    pub(crate) note: &'w str,
    pub(crate) place: Option<&'w str>,
}

/// The parts of a name: `Note#^id`, `[[Note#^id|text]]`, `Note#Heading`, `#^id`, `^id`.
pub(crate) fn parts(name: &str) -> Written<'_> {
    let name = name.trim();
    let link = name.strip_prefix('!').unwrap_or(name);
    let inner = link
        .strip_prefix("[[")
        .and_then(|rest| rest.strip_suffix("]]"))
        .map(|inner| inner.split('|').next().unwrap_or(inner));
    let name = inner.unwrap_or(name).trim();
    match name.split_once('#') {
        Some((note, place)) => Written {
            note: note.trim(),
            place: Some(place.trim()),
        },
        None if name.starts_with('^') => Written {
            note: "",
            place: Some(name),
        },
        None => Written {
            note: name,
            place: None,
        },
    }
}

/// The blocks of a note's text.
pub(crate) fn read<'t>(path: &str, text: &'t str) -> Result<Blocks<'t>> {
    blocks(text).map_err(|error| in_note(path, BlockError::from(error)))
}

/// An error of the text, told with its note.
pub(crate) fn in_note(path: &str, error: BlockError) -> Error {
    Error::new(error.code(), format!("`{path}`: {error}"))
}

/// The name of a block, as replies have it.
pub(crate) fn handle(path: &str, fragment: &str) -> String {
    format!("{path}#{fragment}")
}

/// The block of a note that a place means.
pub(crate) fn find(path: &str, blocks: &Blocks<'_>, place: &str) -> Result<usize> {
    match blocks.find(place) {
        Ok(found) => Ok(found),
        Err(Unfound::Malformed) => heading(path, blocks, place),
        Err(Unfound::NoId) => Err(no_id(path, blocks, place)),
        Err(Unfound::Changed { nearest }) => Err(changed(path, blocks, place, nearest)),
        Err(Unfound::Several(several)) => Err(many(path, blocks, place, &several)),
    }
}

/// The heading that a place names: `Heading`, `Heading#Below`, `Heading > Below`.
fn heading(path: &str, blocks: &Blocks<'_>, place: &str) -> Result<usize> {
    if place.is_empty() {
        return Err(Error::validation(format!(
            "`{path}#` does not name a block: use the `block` value of a reply, `{path}#^id` or `{path}#Heading`"
        )));
    }
    let outline = outline::outline(blocks.note())?;
    let wanted = place.replace('#', outline::PATH_SEPARATOR);
    let index = section::find(&outline, &wanted).map_err(|error| {
        let told = Error::from(error);
        let mended = Error::new(
            told.kind(),
            format!(
                "`{path}`: {}; name a block by the `block` value of a reply, `{path}#^id` or `{path}#Heading`",
                told.message()
            ),
        );
        match told.details() {
            Some(details) => mended.with_details(details.clone()),
            None => mended,
        }
    })?;
    let start = outline.headings[index].range.start;
    blocks
        .beginning_at(start)
        .ok_or_else(|| Error::not_found(format!("`{path}` has no block for the heading `{place}`")))
}

fn no_id(path: &str, blocks: &Blocks<'_>, place: &str) -> Error {
    let ids: Vec<String> = blocks
        .iter()
        .filter_map(|block| Some(format!("^{}", block.id.as_ref()?.name)))
        .take(LISTED)
        .collect();
    let there = match ids.is_empty() {
        true => "none of its blocks has an id".to_owned(),
        false => format!("existing ids: `{}`", ids.join("`, `")),
    };
    Error::not_found(format!("no block `{place}` in `{path}`; {there}"))
        .with_details(json!({ "nearest": ids }))
}

fn changed(
    path: &str,
    blocks: &Blocks<'_>,
    place: &str,
    nearest: Option<(usize, notehost_sdk::text::Passage)>,
) -> Error {
    let said = format!("the block `{place}` of `{path}` was changed or removed");
    match nearest {
        None => Error::conflict(format!("{said}: list the note's blocks again")),
        Some((index, passage)) => {
            let names = blocks.names();
            let now = handle(path, &names[index].fragment);
            Error::conflict(format!(
                "{said}; the closest match is `{now}`, line {}: `{}`",
                passage.line, passage.text
            ))
            .with_details(json!({
                "nearest": { "block": now, "line": passage.line, "text": passage.text }
            }))
        }
    }
}

fn many(path: &str, blocks: &Blocks<'_>, place: &str, several: &[usize]) -> Error {
    let names = blocks.names();
    let choices: Vec<Value> = several
        .iter()
        .take(LISTED)
        .map(|at| json!({ "block": handle(path, &names[*at].fragment), "line": blocks[*at].line }))
        .collect();
    let listed: Vec<String> = several
        .iter()
        .take(LISTED)
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
        // The name was for one of them, and the note changed since.
        false => Error::conflict(message),
    };
    error.with_details(json!({ "choices": choices }))
}
