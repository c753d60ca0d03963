//! Binary files: their bytes come from other programs and are not trusted.

use std::io::{Cursor, Write as _};

use notehost_sdk::Vault;
use serde_json::json;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::{call, call_and_rollback};

/// Bytes under the name of each supported file type.
pub fn asset(input: &[u8]) {
    type File = notehost_file::Domain;
    let mut vault = Vault::in_memory().with("Work/N.md", "![[it.pdf]] ![[it.png]]\n");
    for kind in ["pdf", "png", "svg", "txt", "canvas", "bin"] {
        vault = vault.with_bytes(&format!("Work/it.{kind}"), input);
    }
    for kind in ["pdf", "png", "svg", "txt", "canvas", "bin"] {
        call::<File>(&vault, "read", json!({ "path": format!("Work/it.{kind}") }));
    }
    call::<File>(
        &vault,
        "read",
        json!({ "path": "Work/it.pdf", "pages": "2-" }),
    );
    call::<File>(&vault, "list", json!({ "path": "Work" }));
    call::<File>(&vault, "unused", json!({}));
    call_and_rollback::<File>(
        &vault,
        "rename",
        json!({ "path": "Work/it.png", "to": "other.png" }),
    );
}

/// An Anki package, or one file of it. A mutated zip is mostly rejected because of its checksums, so a file is packed
/// here.
pub fn package(input: &[u8]) {
    let package = match input {
        [b'P', b'K', ..] => input.to_vec(),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => packed(&[
            ("collection.anki21b", input),
            ("media", input),
            ("0", input),
        ]),
        [b'{', ..] => packed(&[
            ("collection.anki2", COLLECTION),
            ("media", input),
            ("0", input),
        ]),
        _ => packed(&[("collection.anki2", input)]),
    };
    let vault = Vault::in_memory().with_bytes("Decks/it.apkg", &package);
    let arguments = json!({ "path": "Decks/it.apkg", "to": "Flashcards" });
    call::<notehost_flashcard::Domain>(&vault, "import", arguments);
}

/// A collection with three notes.
const COLLECTION: &[u8] = include_bytes!("../seeds/package/old.db");

fn packed(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, bytes) in files {
        zip.start_file(*name, options).expect("a file of a zip");
        zip.write_all(bytes).expect("memory takes all");
    }
    zip.finish().expect("a zip").into_inner()
}
