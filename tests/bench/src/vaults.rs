//! The vaults used for measuring.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

/// A folder of notes.
pub(crate) struct Notes {
    pub(crate) folder: PathBuf,
    /// Paths in it.
    pub(crate) notes: Vec<String>,
}

/// A copy of a folder of notes, or else a synthetic vault.
pub(crate) fn copied_or_synthetic(
    folder: Option<&Path>,
    count: usize,
    place: &Path,
) -> Result<Notes> {
    match folder {
        Some(folder) => copied(folder, place),
        None => synthetic(count, place),
    }
}

/// Notes of a realistic size, with headings, properties, tags and links.
pub(crate) fn synthetic(count: usize, place: &Path) -> Result<Notes> {
    let folder = place.join("vault");
    let mut notes = Vec::with_capacity(count);
    for number in 0..count {
        let path = format!("Area {}/Note {number}.md", number % 20);
        let mut text = format!(
            "---\ntags: [area/{}, bench]\nnumber: {number}\n---\n# Note {number}\n\n",
            number % 20
        );
        for section in 0..4 {
            text.push_str(&format!("## Section {section}\n\n"));
            for line in 0..8 {
                let other = (number * 7 + section * 31 + line * 13) % count;
                text.push_str(&format!(
                    "A line about things, with a link to [[Note {other}]] and some more words.\n"
                ));
            }
            text.push('\n');
        }
        let file = folder.join(&path);
        fs::create_dir_all(file.parent().unwrap_or(&folder))?;
        fs::write(file, text)?;
        notes.push(path);
    }
    Ok(Notes { folder, notes })
}

/// A copy of existing notes: the original is never written to.
pub(crate) fn copied(original: &Path, place: &Path) -> Result<Notes> {
    let mut copy = Notes {
        folder: place.join("vault"),
        notes: Vec::new(),
    };
    copy_folder(original, "", &mut copy)?;
    copy.notes.sort();
    anyhow::ensure!(!copy.notes.is_empty(), "there are no notes in that folder");
    Ok(copy)
}

fn copy_folder(original: &Path, below: &str, copy: &mut Notes) -> Result<()> {
    fs::create_dir_all(copy.folder.join(below))?;
    for entry in fs::read_dir(original.join(below))? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        if name.starts_with('.') {
            continue;
        }
        let path = if below.is_empty() {
            name
        } else {
            format!("{below}/{name}")
        };
        if entry.file_type()?.is_dir() {
            copy_folder(original, &path, copy)?;
        } else if entry.file_type()?.is_file() {
            fs::copy(entry.path(), copy.folder.join(&path))?;
            if path.ends_with(".md") && fs::read_to_string(entry.path()).is_ok() {
                copy.notes.push(path);
            }
        }
    }
    Ok(())
}

/// The folder that contains most of these notes, without those of its subfolders.
pub(crate) fn largest_folder(notes: &[String]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for path in notes {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        *counts.entry(folder).or_default() += 1;
    }
    let largest = counts.into_iter().max_by_key(|(_, count)| *count);
    largest.map_or_else(String::new, |(folder, _)| folder.to_owned())
}

/// The folder and property with the most values: the notes as a table with a column.
pub(crate) fn largest_column(notes: &Notes) -> Result<Option<(String, String)>> {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for path in &notes.notes {
        let Some((folder, _)) = path.rsplit_once('/') else {
            continue;
        };
        let text = fs::read_to_string(notes.folder.join(path))?;
        let Some(rest) = text.strip_prefix("---\n") else {
            continue;
        };
        let lines = rest.lines().take_while(|line| *line != "---");
        for (property, _) in lines.filter_map(|line| line.split_once(':')) {
            if property.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                *counts
                    .entry((folder.to_owned(), property.to_owned()))
                    .or_default() += 1;
            }
        }
    }
    let largest = counts.into_iter().max_by_key(|(_, count)| *count);
    Ok(largest.map(|(column, _)| column))
}

/// The paths of all notes in a folder, sorted.
pub(crate) fn notes_in(folder: &Path) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    let mut below = vec![String::new()];
    while let Some(place) = below.pop() {
        for entry in fs::read_dir(folder.join(&place))? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let path = if place.is_empty() {
                name.clone()
            } else {
                format!("{place}/{name}")
            };
            if name.starts_with('.') {
                continue;
            }
            if entry.file_type()?.is_dir() {
                below.push(path);
            } else if name.ends_with(".md") {
                notes.push(path);
            }
        }
    }
    notes.sort();
    Ok(notes)
}
