//! Opens databases by the name a caller passes: `.base` files, `base` code blocks of notes, folders. A name must
//! resolve to exactly one database.

use crate::base::Base;
use crate::filter::Filter;
use notehost_sdk::prelude::*;
use notehost_sdk::text::{self, frontmatter};
use notehost_sdk::{Kind, is_note, quoted};
use std::ops::Range;

/// The maximum number of databases in an error.
const MAX_LISTED: usize = 5;

/// The kind of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A `.base` file.
    File,
    /// A code block of a note.
    Block,
    /// A folder of notes.
    Folder,
}

impl Form {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Form::File => "base",
            Form::Block => "block",
            Form::Folder => "folder",
        }
    }
}

/// An opened database.
pub(crate) struct Database {
    /// Its unambiguous name.
    pub(crate) name: String,
    pub(crate) form: Form,
    /// The file, or the folder.
    pub(crate) path: String,
    /// The location of its YAML; `None` for a folder.
    pub(crate) source: Option<Source>,
    pub(crate) base: Base,
}

/// YAML in a file.
pub(crate) struct Source {
    pub(crate) note: Note,
    pub(crate) yaml: Range<usize>,
    /// Its first line in the file.
    pub(crate) line: usize,
}

impl Source {
    pub(crate) fn yaml(&self) -> &str {
        &self.note.text[self.yaml.clone()]
    }
}

/// A `base` code block of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    /// The range between the fences.
    pub(crate) yaml: Range<usize>,
    /// The line of the opening fence, 1-based.
    pub(crate) line: usize,
}

/// Whether a path has the extension `.base`.
pub(crate) fn is_base(path: &str) -> bool {
    let length = path.len();
    length > 5
        && path.is_char_boundary(length - 5)
        && path[length - 5..].eq_ignore_ascii_case(".base")
}

/// Opens the database that a caller named.
pub(crate) fn open(vault: &Vault, name: &str) -> Result<Database> {
    let name = unbracketed(name);
    if name.is_empty() {
        return Err(Error::validation(
            "`database` is empty: pass a `.base` file, a note with a `base` code block, or a folder (`.` is the vault)",
        ));
    }
    if let Some((note, number)) = block_number(name) {
        let path = vault.find_note(note)?;
        return open_block(vault, &path, Some(number));
    }
    if let Some(folder) = as_folder(name) {
        return open_folder(vault, folder);
    }
    if is_base(name) {
        return open_file(vault, &find_base(vault, name)?);
    }
    if is_note(name) {
        let path = vault.find_note(name)?;
        return open_block(vault, &path, None);
    }
    open_by_name(vault, name)
}

/// Opens a database by a bare name, which may match a file, a note or a folder but only one of them.
fn open_by_name(vault: &Vault, name: &str) -> Result<Database> {
    let folder = vault
        .stat(name)
        .ok()
        .filter(|entry| entry.kind == Kind::Folder);
    let bases = bases_named(vault, &format!("{name}.base"))?;
    let note = vault.find_note(name).ok().filter(|path| {
        let text = vault.read_text(path);
        text.is_ok_and(|note| !blocks(&note.text).is_empty())
    });
    let mut choices: Vec<String> = folder
        .iter()
        .map(|entry| format!("{}/", entry.path))
        .collect();
    choices.extend(bases.iter().cloned());
    choices.extend(note.iter().cloned());
    match (choices.len(), folder, bases.first(), note) {
        (0, ..) => Err(no_database(vault, name)),
        (1, Some(folder), ..) => open_folder(vault, &folder.path),
        (1, _, Some(path), _) => open_file(vault, path),
        (1, _, _, Some(path)) => open_block(vault, &path, None),
        _ => Err(ambiguous(name, &choices)),
    }
}

fn find_base(vault: &Vault, name: &str) -> Result<String> {
    match bases_named(vault, name)?.as_slice() {
        [] => Err(no_database(vault, name)),
        [only] => Ok(only.clone()),
        several => Err(ambiguous(name, several)),
    }
}

/// The `.base` file at a path, or else the `.base` files with that name.
fn bases_named(vault: &Vault, name: &str) -> Result<Vec<String>> {
    if let Ok(entry) = vault.stat(name)
        && entry.kind == Kind::File
    {
        return Ok(vec![entry.path]);
    }
    let found = vault.resolve(name, None)?;
    Ok(found.into_iter().filter(|path| is_base(path)).collect())
}

fn no_database(vault: &Vault, name: &str) -> Error {
    let known = base_files(vault).unwrap_or_default();
    let message = match known.is_empty() {
        true => format!(
            "no database `{name}`: pass a `.base` file, a note with a `base` code block, or a folder"
        ),
        false => format!(
            "no database `{name}`; known databases: {}; a folder is also valid",
            quoted(known.iter().take(MAX_LISTED))
        ),
    };
    Error::not_found(message)
}

fn ambiguous(name: &str, choices: &[String]) -> Error {
    Error::ambiguous(format!(
        "`{name}` matches {} databases: use one of {}",
        choices.len(),
        quoted(choices.iter().take(MAX_LISTED))
    ))
    .with_details(json!({ "choices": choices }))
}

/// Every `.base` file visible to the caller.
pub(crate) fn base_files(vault: &Vault) -> Result<Vec<String>> {
    Ok(vault
        .files()?
        .into_iter()
        .filter(|path| is_base(path))
        .collect())
}

/// Opens the database in a `.base` file.
pub(crate) fn open_file(vault: &Vault, path: &str) -> Result<Database> {
    let note = vault.read_text(path)?;
    let start = if note.text.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    };
    let yaml = start..note.text.len();
    let base = Base::read(&note.text[yaml.clone()], path, 1)?;
    Ok(Database {
        name: path.to_owned(),
        form: Form::File,
        path: path.to_owned(),
        source: Some(Source {
            note,
            yaml,
            line: 1,
        }),
        base,
    })
}

/// Opens the database in a code block of a note: the block with this number, or the only one.
pub(crate) fn open_block(vault: &Vault, path: &str, number: Option<usize>) -> Result<Database> {
    let note = vault.read_text(path)?;
    let all = blocks(&note.text);
    let name = |number: usize| format!("{path}#base-{number}");
    let number = match (number, all.len()) {
        (_, 0) => {
            return Err(Error::not_found(format!(
                "`{path}` is not a database: it has no ```` ```base ```` code block"
            )));
        }
        (None, 1) => 1,
        (None, count) => {
            let choices: Vec<String> = (1..=count).map(name).collect();
            return Err(ambiguous(path, &choices));
        }
        (Some(number), count) if (1..=count).contains(&number) => number,
        (Some(number), count) => {
            return Err(Error::not_found(format!(
                "`{path}` has no block `base-{number}`: it has {count}, starting at `{}`",
                name(1)
            )));
        }
    };
    let block = all[number - 1].clone();
    let place = name(number);
    let base = Base::read(&note.text[block.yaml.clone()], &place, block.line + 1)?;
    Ok(Database {
        name: if all.len() == 1 {
            path.to_owned()
        } else {
            place
        },
        form: Form::Block,
        path: path.to_owned(),
        source: Some(Source {
            note,
            yaml: block.yaml,
            line: block.line + 1,
        }),
        base,
    })
}

fn open_folder(vault: &Vault, folder: &str) -> Result<Database> {
    let entry = match folder {
        "" => None,
        folder => {
            let entry = vault
                .stat(folder)
                .ok()
                .filter(|entry| entry.kind == Kind::Folder);
            Some(entry.ok_or_else(|| Error::not_found(format!("no folder `{folder}`")))?)
        }
    };
    let path = entry.map(|entry| entry.path).unwrap_or_default();
    let filters = in_folder(&path);
    Ok(Database {
        name: if path.is_empty() {
            ".".to_owned()
        } else {
            format!("{path}/")
        },
        form: Form::Folder,
        base: Base {
            filters: Some(Filter::of_text(&filters).map_err(Error::validation)?),
            ..Base::default()
        },
        path,
        source: None,
    })
}

/// The filter expression that matches the notes of a folder.
pub(crate) fn in_folder(folder: &str) -> String {
    let escaped = folder.replace('\\', "\\\\").replace('"', "\\\"");
    format!("file.inFolder(\"{escaped}\")")
}

/// The folder that a name denotes by its syntax: `.`, or a trailing `/`.
fn as_folder(name: &str) -> Option<&str> {
    match name {
        "." | "/" | "./" => Some(""),
        name => name.strip_suffix('/'),
    }
}

/// The note and the block number of `Note.md#base-2`; `#base` is block 1.
fn block_number(name: &str) -> Option<(&str, usize)> {
    let (note, fragment) = name.rsplit_once('#')?;
    let rest = fragment.strip_prefix("base")?;
    let number = match rest {
        "" => 1,
        rest => rest.strip_prefix('-')?.parse().ok()?,
    };
    Some((note, number))
}

fn unbracketed(name: &str) -> &str {
    let name = name.trim();
    let inner = name
        .strip_prefix("[[")
        .and_then(|rest| rest.strip_suffix("]]"));
    inner.map_or(name, |inner| {
        inner.split('|').next().unwrap_or(inner).trim()
    })
}

/// The `base` code blocks of a note, in order.
pub(crate) fn blocks(note: &str) -> Vec<Block> {
    let start = frontmatter::locate(note).map_or(0, |found| found.block.end);
    let mut found = Vec::new();
    let mut open: Option<Fence> = None;
    let mut at = start;
    let first_line = text::line_of(note, start);
    for (number, line) in note[start..].split_inclusive('\n').enumerate() {
        let end = at + line.len();
        match &open {
            Some(fence) if fence.is_closed_by(line) => {
                if fence.is_base {
                    found.push(Block {
                        yaml: fence.inside..at,
                        line: fence.line,
                    });
                }
                open = None;
            }
            Some(_) => {}
            None => open = Fence::opened_by(line, end, first_line + number),
        }
        at = end;
    }
    found
}

/// The opening fence of a code block.
struct Fence {
    mark: char,
    length: usize,
    is_base: bool,
    inside: usize,
    line: usize,
}

impl Fence {
    fn opened_by(line: &str, inside: usize, number: usize) -> Option<Fence> {
        let trimmed = line.trim_start_matches(' ');
        if line.len() - trimmed.len() > 3 {
            return None;
        }
        let mark = trimmed
            .chars()
            .next()
            .filter(|mark| matches!(mark, '`' | '~'))?;
        let length = trimmed.chars().take_while(|letter| *letter == mark).count();
        let info = trimmed[length..].trim();
        if length < 3 || (mark == '`' && info.contains('`')) {
            return None;
        }
        Some(Fence {
            mark,
            length,
            // An indented block cannot be edited without changing its indentation.
            is_base: info.split_whitespace().next() == Some("base") && trimmed.len() == line.len(),
            inside,
            line: number,
        })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let trimmed = line.trim_start_matches(' ');
        let length = trimmed
            .chars()
            .take_while(|letter| *letter == self.mark)
            .count();
        line.len() - trimmed.len() <= 3
            && length >= self.length
            && trimmed[length..].trim().is_empty()
    }
}
