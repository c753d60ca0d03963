//! Exports notes with their files: a zip of Markdown, or one HTML file.

mod bundle;
mod fragment;
mod html;
mod links;
mod page;

use std::collections::{BTreeMap, HashSet};

use notehost_sdk::dates::Moment;
use notehost_sdk::prelude::*;
use notehost_sdk::{Code, Kind, parent_of, stem_of};

use crate::file_type::extension;
use crate::list::readable_size;
use crate::paths::{file_name, join, new_file};
use crate::write::{IfExists, write_file};

/// The maximum number of notes in an export.
const MAX_NOTES: usize = 1000;
/// The maximum uncompressed size of an export.
pub(crate) const MAX_EXPORT_BYTES: usize = 48 << 20;
/// The maximum number of reported omissions.
const MAX_LEFT_OUT: usize = 100;
/// The default folder of exports.
const DEFAULT_FOLDER: &str = "Exports";

/// Export notes with their files: `markdown` is a zip, `html` one file with inlined images.
///
/// Example: `{"paths": ["Coffee"], "format": "html"}`
/// Example (one note with its files): `{"paths": ["Coffee/Gear"], "format": "markdown", "to": "Exports/Gear.zip"}`
#[args]
pub struct Export {
    /// Notes, or folders of notes.
    pub paths: Vec<String>,
    /// The format:
    pub format: Format,
    /// The file to write (default in `Exports`).
    pub to: Option<String>,
    /// If the file exists (default `fail`):
    pub if_exists: Option<IfExists>,
}

/// The format of an export.
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

/// The result of an export.
#[reply]
pub struct ExportResult {
    /// The written file.
    pub path: String,
    /// Its etag.
    pub etag: String,
    /// Size in bytes.
    pub size: u64,
    /// Number of notes in it.
    pub notes: usize,
    /// Number of other files in it.
    pub files: usize,
    /// What its notes reference but it does not contain; the first hundred.
    pub left_out: Vec<LeftOut>,
    /// Total number of these.
    pub left_out_total: usize,
}

/// A reference that is not in the export.
#[reply]
#[derive(PartialEq, Eq, Hash)]
pub struct LeftOut {
    /// The note that references it.
    pub path: String,
    /// The line number in the file, from 1.
    pub line: usize,
    /// The reference.
    pub target: String,
    /// The reason.
    pub reason: String,
}

/// An export before it is written.
struct ExportData {
    bytes: Vec<u8>,
    notes: usize,
    files: usize,
    left_out: Vec<LeftOut>,
}

impl Action for Export {
    type Output = ExportResult;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<ExportResult> {
        let notes = self.notes(vault)?;
        let to = self.destination(vault, &notes)?;
        let may_replace = self.if_exists == Some(IfExists::Overwrite);
        // Fail early, before the export is built.
        if !may_replace && let Ok(entry) = vault.stat(&to) {
            return Err(Error::already_exists(format!(
                "`{}` already exists: choose another `to`, or set `if_exists` to `overwrite`",
                entry.path
            )));
        }
        let mut export = match self.format {
            Format::Markdown => bundle::build(vault, &notes)?,
            Format::Html => {
                let title = title(&self.paths, &notes);
                page::build(vault, &notes, &title)?
            }
        };
        let (path, _, etag) = write_file(vault, &to, &export.bytes, may_replace)?;
        let left_out_total = export.left_out.len();
        export.left_out.truncate(MAX_LEFT_OUT);
        Ok(ExportResult {
            path,
            etag,
            size: export.bytes.len() as u64,
            notes: export.notes,
            files: export.files,
            left_out: export.left_out,
            left_out_total,
        })
    }

    fn text(output: &ExportResult) -> String {
        ReplyText::new(format!(
            "exported to `{}`, {}: {} notes, {} other files",
            output.path,
            readable_size(output.size),
            output.notes,
            output.files
        ))
        .lines(&output.left_out, |left| {
            format!(
                "left out: {} ({}:{}): {}",
                left.target, left.path, left.line, left.reason
            )
        })
        .into()
    }

    fn content(output: &ExportResult) -> Vec<Content> {
        vec![Content::Link(output.path.clone())]
    }
}

impl Export {
    /// The notes of `paths`, without duplicates, in order.
    fn notes(&self, vault: &Vault) -> Result<Vec<String>> {
        if self.paths.is_empty() {
            return Err(Error::validation(
                "`paths` is empty: give at least one note or folder",
            ));
        }
        let mut notes = Vec::new();
        let mut seen = HashSet::new();
        for name in &self.paths {
            for path in resolve_notes(vault, name)? {
                if seen.insert(path.clone()) {
                    notes.push(path);
                }
            }
        }
        match notes.len() {
            0 => Err(Error::not_found(
                "no notes in these folders: give notes or other folders",
            )),
            count if count > MAX_NOTES => Err(Error::too_large(format!(
                "the export has {count} notes; the limit is {MAX_NOTES}: export folder by folder"
            ))),
            _ => Ok(notes),
        }
    }

    fn destination(&self, vault: &Vault, notes: &[String]) -> Result<String> {
        let own_extension = self.format.extension();
        let Some(to) = self.to.as_deref().map(str::trim) else {
            let name = default_name(vault, &self.paths, notes);
            return Ok(format!("{DEFAULT_FOLDER}/{name}.{own_extension}"));
        };
        if let Some(folder) = to.strip_suffix('/') {
            let name = default_name(vault, &self.paths, notes);
            return Ok(join(folder, &format!("{name}.{own_extension}")));
        }
        let to = new_file(to, "to")?;
        match extension(&to).as_deref() {
            Some("htm") if self.format == Format::Html => Ok(to),
            Some(extension) if extension == own_extension => Ok(to),
            Some("zip" | "html" | "htm") => Err(Error::validation(format!(
                "`to` is `{to}`, but this format has the extension `.{own_extension}`"
            ))),
            _ => Ok(format!("{to}.{own_extension}")),
        }
    }
}

/// Resolves an item of `paths`: a note, or all notes of a folder.
fn resolve_notes(vault: &Vault, name: &str) -> Result<Vec<String>> {
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
    let error = match vault.find_note(name) {
        Ok(path) => return Ok(vec![path]),
        Err(error) => error,
    };
    Err(match vault.find_file(name) {
        Ok(file) if error.kind() == Code::NotFound => Error::validation(format!(
            "`{file}` is not a note: export the notes that use it, and the file is included"
        )),
        _ => error,
    })
}

/// The default name: the note, the folder, or the date.
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
    // A single folder was given, or all notes are in the same folder.
    let folder = match paths {
        [only] if !matches!(only.trim(), "/" | ".") => {
            // Take the spelling from the paths of the notes, not from the caller.
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

/// The notes and files of an export, and missing references.
#[derive(Default)]
struct Bundle {
    /// Notes by path, with their bytes.
    notes: BTreeMap<String, Vec<u8>>,
    /// Other files by path.
    files: BTreeMap<String, Vec<u8>>,
    left_out: Vec<LeftOut>,
    size: usize,
}

impl Bundle {
    fn add(&mut self, bytes: &[u8]) -> Result<()> {
        self.size += bytes.len();
        check_size(self.size)
    }
}

/// Returns an error if an export is too large.
fn check_size(size: usize) -> Result<()> {
    match size > MAX_EXPORT_BYTES {
        true => Err(Error::too_large(format!(
            "the export would exceed {}: export fewer notes at once",
            readable_size(MAX_EXPORT_BYTES as u64)
        ))),
        false => Ok(()),
    }
}
