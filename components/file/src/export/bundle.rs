//! Exports notes as a zip of Markdown. Every file keeps its path, so that links still work: a link that resolves among
//! all files resolves to the same file among a subset that contains it.

use std::io::{Cursor, Write as _};

use notehost_sdk::prelude::*;
use notehost_sdk::text::links::{self, Kind, Names};
use notehost_sdk::{Code, is_note};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::{Bundle, ExportData, LeftOut};
use crate::file_type::{FileKind, by_name, known};

/// Builds the zip.
pub(super) fn build(vault: &Vault, notes: &[String]) -> Result<ExportData> {
    let bundle = collect(vault, notes)?;
    let bytes = pack(&bundle).map_err(|error| {
        Error::new(
            Code::InternalError,
            format!("failed to build the zip: {error}"),
        )
    })?;
    Ok(ExportData {
        bytes,
        notes: bundle.notes.len(),
        files: bundle.files.len(),
        left_out: bundle.left_out,
    })
}

/// Collects the notes, the notes that they embed, and the files that any of these reference.
fn collect(vault: &Vault, notes: &[String]) -> Result<Bundle> {
    let names = Names::new(vault.files()?);
    let mut bundle = Bundle::default();
    let mut queue: Vec<String> = notes.iter().rev().cloned().collect();
    let mut steps = vault.steps(notes.len());
    while let Some(path) = queue.pop() {
        if bundle.notes.contains_key(&path) {
            continue;
        }
        let bytes = vault.read(&path)?.bytes;
        bundle.add(&bytes)?;
        // Notes that are not UTF-8 are included unchanged; their links are parsed lossily.
        for link in links::parse(&String::from_utf8_lossy(&bytes)) {
            if link.external || link.target.is_empty() {
                continue;
            }
            match names.resolve(&path, &link.target) {
                Some(found) if is_note(found.path) && link.kind == Kind::Embed => {
                    queue.push(found.path.to_owned());
                }
                // Notes that are only linked to are not included.
                Some(found) if is_note(found.path) => {}
                Some(found) if !bundle.files.contains_key(found.path) => {
                    let file = vault.read(found.path)?.bytes;
                    bundle.add(&file)?;
                    bundle.files.insert(found.path.to_owned(), file);
                }
                Some(_) => {}
                None if known(&link.target).is_some() => bundle.left_out.push(LeftOut {
                    path: path.clone(),
                    line: link.line,
                    target: link.target,
                    reason: "file not found".to_owned(),
                }),
                None => {}
            }
        }
        bundle.notes.insert(path, bytes);
        steps.done("notes collected");
    }
    Ok(bundle)
}

fn pack(bundle: &Bundle) -> zip::result::ZipResult<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    // Without timestamps, so that the output is reproducible.
    let options = SimpleFileOptions::default()
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    for (path, bytes) in bundle.notes.iter().chain(&bundle.files) {
        // These formats are already compressed.
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
