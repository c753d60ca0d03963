//! Notes taken out of the vault with what belongs to them: a zip of Markdown, or one HTML file.

mod bundle;
mod html;
mod links;
mod page;

use std::collections::{BTreeMap, HashSet};

use notehost_sdk::dates::Moment;
use notehost_sdk::prelude::*;
use notehost_sdk::{Code, Kind, parent_of, stem_of};

use crate::kinds::extension;
use crate::listing::readable_size;
use crate::places::{file_name, new_file, within};
use crate::writing::{IfExists, put};

/// How many notes one export holds.
const MOST_NOTES: usize = 1000;
/// How much an export may hold before it is packed.
pub(crate) const LARGEST: usize = 48 << 20;
/// How much of what is not in an export is told.
const MOST_LEFT_OUT: usize = 100;
/// Where exports go unless the caller says.
const FOLDER: &str = "Exports";

/// Export notes with their files: `markdown` is a zip, `html` one file with images inlined.
///
/// Example: `{"paths": ["Coffee"], "format": "html"}`
/// Example (one note with its files): `{"paths": ["Coffee/Gear"], "format": "markdown", "to": "Exports/Gear.zip"}`
#[args]
pub struct Export {
    /// Notes, or folders of notes.
    pub paths: Vec<String>,
    /// As what.
    pub format: Format,
    /// The file to write (default in `Exports`).
    pub to: Option<String>,
    /// If it is there already (default `fail`):
    pub if_exists: Option<IfExists>,
}

/// What an export is.
#[args]
#[derive(Copy, PartialEq, Eq)]
pub enum Format {
    /// a zip.
    Markdown,
    /// one page.
    Html,
}

impl Format {
    fn extension(self) -> &'static str {
        match self {
            Format::Markdown => "zip",
            Format::Html => "html",
        }
    }
}

/// An export.
#[reply]
pub struct Exported {
    /// The file that was written.
    pub path: String,
    /// Its etag.
    pub etag: String,
    /// In bytes.
    pub size: u64,
    /// How many notes are in it.
    pub notes: usize,
    /// How many other files are in it.
    pub files: usize,
    /// What its notes name and it does not hold; the first hundred.
    pub left_out: Vec<LeftOut>,
    /// How many there are.
    pub left_out_total: usize,
}

/// Something that an export does not hold.
#[reply]
#[derive(PartialEq, Eq, Hash)]
pub struct LeftOut {
    /// The note that names it.
    pub path: String,
    /// The line of the file, from 1.
    pub line: usize,
    /// What it names.
    pub target: String,
    /// Why it is not in the export.
    pub reason: String,
}

/// What was made, before it is written.
struct Made {
    bytes: Vec<u8>,
    notes: usize,
    files: usize,
    left_out: Vec<LeftOut>,
}

impl Action for Export {
    type Output = Exported;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Exported> {
        let notes = self.notes(vault)?;
        let to = self.destination(vault, &notes)?;
        let may_replace = self.if_exists == Some(IfExists::Overwrite);
        // Known before the work is done, not after it.
        if !may_replace && let Ok(entry) = vault.stat(&to) {
            return Err(Error::already_exists(format!(
                "`{}` is there already: choose another `to`, or replace it with `if_exists` `overwrite`",
                entry.path
            )));
        }
        let mut made = match self.format {
            Format::Markdown => bundle::make(vault, &notes)?,
            Format::Html => {
                let title = title(&self.paths, &notes);
                page::make(vault, &notes, &title)?
            }
        };
        let (path, _, etag) = put(vault, &to, &made.bytes, may_replace)?;
        let left_out_total = made.left_out.len();
        made.left_out.truncate(MOST_LEFT_OUT);
        Ok(Exported {
            path,
            etag,
            size: made.bytes.len() as u64,
            notes: made.notes,
            files: made.files,
            left_out: made.left_out,
            left_out_total,
        })
    }

    fn text(output: &Exported) -> String {
        let mut text = format!(
            "exported to `{}`, {}: {} notes, {} other files",
            output.path,
            readable_size(output.size),
            output.notes,
            output.files
        );
        for left in &output.left_out {
            text.push_str(&format!(
                "\nnot in it: {} ({}:{}): {}",
                left.target, left.path, left.line, left.reason
            ));
        }
        text
    }

    fn content(output: &Exported) -> Vec<Content> {
        vec![Content::Link(output.path.clone())]
    }
}

impl Export {
    /// The notes that are meant, each once, in the order in which they are named.
    fn notes(&self, vault: &Vault) -> Result<Vec<String>> {
        if self.paths.is_empty() {
            return Err(Error::validation(
                "`paths` is empty: name at least one note or folder",
            ));
        }
        let mut notes = Vec::new();
        let mut seen = HashSet::new();
        for name in &self.paths {
            for path in meant(vault, name)? {
                if seen.insert(path.clone()) {
                    notes.push(path);
                }
            }
        }
        match notes.len() {
            0 => Err(Error::not_found(
                "there are no notes in these folders: name notes, or other folders",
            )),
            count if count > MOST_NOTES => Err(Error::too_large(format!(
                "these are {count} notes, and {MOST_NOTES} is the most of one export: export folder by folder"
            ))),
            _ => Ok(notes),
        }
    }

    fn destination(&self, vault: &Vault, notes: &[String]) -> Result<String> {
        let wanted = self.format.extension();
        let Some(to) = self.to.as_deref().map(str::trim) else {
            let name = default_name(vault, &self.paths, notes);
            return Ok(format!("{FOLDER}/{name}.{wanted}"));
        };
        if let Some(folder) = to.strip_suffix('/') {
            let name = default_name(vault, &self.paths, notes);
            return Ok(within(folder, &format!("{name}.{wanted}")));
        }
        let to = new_file(to, "to")?;
        match extension(&to).as_deref() {
            Some("htm") if self.format == Format::Html => Ok(to),
            Some(extension) if extension == wanted => Ok(to),
            Some("zip" | "html" | "htm") => Err(Error::validation(format!(
                "`to` is `{to}`, and this format is written as `.{wanted}`"
            ))),
            _ => Ok(format!("{to}.{wanted}")),
        }
    }
}

/// The notes that a name means: one, or all of a folder.
fn meant(vault: &Vault, name: &str) -> Result<Vec<String>> {
    let folder = name.trim().trim_end_matches('/');
    let is_root = matches!(name.trim(), "/" | ".");
    if is_root
        || (!folder.is_empty()
            && matches!(vault.stat(folder), Ok(entry) if entry.kind == Kind::Folder))
    {
        let folder = match is_root {
            true => String::new(),
            false => vault.stat(folder)?.path,
        };
        let notes = vault.notes(&folder)?;
        return Ok(notes.into_iter().map(|entry| entry.path).collect());
    }
    let no_note = match vault.find_note(name) {
        Ok(path) => return Ok(vec![path]),
        Err(error) => error,
    };
    Err(match vault.find_file(name) {
        Ok(file) if no_note.kind() == Code::NotFound => Error::validation(format!(
            "`{file}` is no note: export the notes that use it, and it comes along"
        )),
        _ => no_note,
    })
}

/// What the export is about: the note, the folder, or the day.
fn default_name(vault: &Vault, paths: &[String], notes: &[String]) -> String {
    match title(paths, notes).as_str() {
        "" => format!("Export {}", Moment::now(vault).format("YYYY-MM-DD")),
        title => title.to_owned(),
    }
}

fn title(paths: &[String], notes: &[String]) -> String {
    if let [note] = notes {
        return stem_of(note).to_owned();
    }
    let Some(first) = notes.first() else {
        return String::new();
    };
    // One folder was named, or all notes are from one.
    let folder = match paths {
        [only] if !matches!(only.trim(), "/" | ".") => {
            // The caller may have spelt it in another way: it is the beginning of every path.
            let depth = only.trim().trim_matches('/').split('/').count();
            let end = first.match_indices('/').nth(depth - 1);
            end.map_or("", |(end, _)| &first[..end])
        }
        _ => {
            let folder = parent_of(first);
            match notes.iter().all(|note| parent_of(note) == folder) {
                true => folder,
                false => "",
            }
        }
    };
    file_name(folder).to_owned()
}

/// The files that notes show or name, and what they name that is not there.
#[derive(Default)]
struct Gathered {
    /// Notes by path, with their bytes.
    notes: BTreeMap<String, Vec<u8>>,
    /// Other files by path.
    files: BTreeMap<String, Vec<u8>>,
    left_out: Vec<LeftOut>,
    size: usize,
}

impl Gathered {
    fn add(&mut self, bytes: &[u8]) -> Result<()> {
        self.size += bytes.len();
        within_limit(self.size)
    }
}

/// Refuse an export that grows too large.
fn within_limit(size: usize) -> Result<()> {
    match size > LARGEST {
        true => Err(Error::too_large(format!(
            "the export would have over {}: export fewer notes at once",
            readable_size(LARGEST as u64)
        ))),
        false => Ok(()),
    }
}
