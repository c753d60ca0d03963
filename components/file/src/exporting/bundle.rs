//! Notes as a zip of Markdown. Every file keeps its path, so that links of any kind lead where they led: a link that
//! resolved among all files resolves among some of them to the same one.

use std::io::{Cursor, Write as _};

use notehost_sdk::prelude::*;
use notehost_sdk::text::links::{self, Kind, Names};
use notehost_sdk::{Code, is_note};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::{Gathered, LeftOut, Made};
use crate::kinds::{FileKind, by_name, known};

/// Make the zip.
pub(super) fn make(vault: &Vault, notes: &[String]) -> Result<Made> {
    let gathered = gather(vault, notes)?;
    let bytes = pack(&gathered).map_err(|error| {
        Error::new(
            Code::InternalError,
            format!("the zip could not be made: {error}"),
        )
    })?;
    Ok(Made {
        bytes,
        notes: gathered.notes.len(),
        files: gathered.files.len(),
        left_out: gathered.left_out,
    })
}

/// The notes, the notes that they show, and the files that any of these name.
fn gather(vault: &Vault, notes: &[String]) -> Result<Gathered> {
    let names = Names::new(vault.files()?);
    let mut gathered = Gathered::default();
    let mut waiting: Vec<String> = notes.iter().rev().cloned().collect();
    let mut steps = vault.steps(notes.len());
    while let Some(path) = waiting.pop() {
        if gathered.notes.contains_key(&path) {
            continue;
        }
        let bytes = vault.read(&path)?.bytes;
        gathered.add(&bytes)?;
        // What is no UTF-8 comes along as it is, and its links as far as they can be read.
        for link in links::parse(&String::from_utf8_lossy(&bytes)) {
            if link.external || link.target.is_empty() {
                continue;
            }
            match names.resolve(&path, &link.target) {
                Some(found) if is_note(found.path) && link.kind == Kind::Embed => {
                    waiting.push(found.path.to_owned());
                }
                // A note that is only linked to is not part of this one.
                Some(found) if is_note(found.path) => {}
                Some(found) if !gathered.files.contains_key(found.path) => {
                    let file = vault.read(found.path)?.bytes;
                    gathered.add(&file)?;
                    gathered.files.insert(found.path.to_owned(), file);
                }
                Some(_) => {}
                None if known(&link.target).is_some() => gathered.left_out.push(LeftOut {
                    path: path.clone(),
                    line: link.line,
                    target: link.target,
                    reason: "there is no such file".to_owned(),
                }),
                None => {}
            }
        }
        gathered.notes.insert(path, bytes);
        steps.done("notes gathered");
    }
    Ok(gathered)
}

fn pack(gathered: &Gathered) -> zip::result::ZipResult<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    // Without times: the same notes make the same bytes.
    let options = SimpleFileOptions::default()
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    for (path, bytes) in gathered.notes.iter().chain(&gathered.files) {
        // What is packed already gets no smaller.
        let method = match by_name(path).kind {
            FileKind::Image | FileKind::Audio | FileKind::Video | FileKind::Archive
                if !path.to_ascii_lowercase().ends_with(".svg") =>
            {
                CompressionMethod::Stored
            }
            _ => CompressionMethod::Deflated,
        };
        zip.start_file(path.as_str(), options.compression_method(method))?;
        zip.write_all(bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}
