//! Tests of `export`.

use std::io::{Cursor, Read as _};

use super::fixtures::GIF;
use crate::Domain;
use notehost_sdk::prelude::*;
use notehost_sdk::{MemoryVault, Tier, calls};
use proptest::prelude::*;

calls!(Domain);

fn garden() -> MemoryVault {
    Vault::in_memory()
        .at(1_767_261_845_000)
        .with(
            "Work/A.md",
            "\u{feff}# A\r\n![[pic.gif]] ![[B]] [[C]] ![[gone.png]]\r\n[doc](../F/d%20c.pdf)",
        )
        .with("Work/B.md", "b ![[A]] ![[song.mp3]]")
        .with("Work/Sub/D.md", "d")
        .with("C.md", "c")
        .with_bytes("F/pic.gif", GIF)
        .with("F/song.mp3", "ID3")
        .with("F/d c.pdf", "pdf")
}

/// The files of a zip.
fn unpacked(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).expect("a zip");
    (0..zip.len())
        .map(|number| {
            let mut file = zip.by_index(number).expect("an entry");
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).expect("its bytes");
            (file.name().expect("a name").into_owned(), bytes)
        })
        .collect()
}

#[test]
fn a_zip_contains_notes_with_embedded_notes_and_files() {
    let vault = garden();
    let exported = ok(
        &vault,
        "export",
        json!({"paths": ["A"], "format": "markdown"}),
    );
    assert_eq!(exported["path"], "Exports/A.zip");
    assert_eq!(
        (&exported["notes"], &exported["files"]),
        (&json!(2), &json!(3))
    );
    assert_eq!(
        exported["left_out"],
        json!([{"path": "Work/A.md", "line": 2, "target": "gone.png", "reason": "file not found"}])
    );
    let files = unpacked(&vault.bytes("Exports/A.zip").unwrap());
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "Work/A.md",
            "Work/B.md",
            "F/d c.pdf",
            "F/pic.gif",
            "F/song.mp3"
        ]
    );
    for (name, bytes) in &files {
        assert_eq!(vault.bytes(name).as_ref(), Some(bytes), "{name}");
    }
}

#[test]
fn exports_are_reproducible() {
    for format in ["markdown", "html"] {
        let made: Vec<_> = (0..2)
            .map(|hours| {
                let vault = garden();
                vault.set_time(1_767_261_845_000 + hours * 3_600_000);
                let exported = ok(
                    &vault,
                    "export",
                    json!({"paths": ["Work/", "C"], "format": format, "to": "x"}),
                );
                vault.bytes(exported["path"].as_str().unwrap()).unwrap()
            })
            .collect();
        assert_eq!(made[0], made[1]);
    }
}

#[test]
fn the_default_name_is_derived_from_the_content() {
    let path = |arguments| ok(&garden(), "export", arguments)["path"].clone();
    assert_eq!(
        path(json!({"paths": ["work"], "format": "html"})),
        "Exports/Work.html"
    );
    assert_eq!(
        path(json!({"paths": ["A", "B"], "format": "html"})),
        "Exports/Work.html"
    );
    assert_eq!(
        path(json!({"paths": ["A", "C"], "format": "markdown"})),
        "Exports/Export 2026-01-01.zip"
    );
    assert_eq!(
        path(json!({"paths": ["/"], "format": "markdown"})),
        "Exports/Export 2026-01-01.zip"
    );
    assert_eq!(
        path(json!({"paths": ["C"], "format": "html", "to": "Out/"})),
        "Out/C.html"
    );
    assert_eq!(
        path(json!({"paths": ["C"], "format": "html", "to": "Out/page"})),
        "Out/page.html"
    );
    assert_eq!(
        path(json!({"paths": ["C"], "format": "markdown", "to": "v1.2"})),
        "v1.2.zip"
    );
}

#[test]
fn failed_exports_change_nothing() {
    let vault = garden()
        .with("Exports/C.html", "mine")
        .with_folder("Empty")
        .with("R/x.txt", "")
        .with_bytes("Latin.md", b"\xff")
        .with("Hidden/H.md", "")
        .allow("R", Tier::Read)
        .allow("Hidden", Tier::None);
    let before = vault.paths();
    for (arguments, code) in [
        (json!({"paths": [], "format": "html"}), "validation_error"),
        (json!({"paths": ["Gone"], "format": "html"}), "not_found"),
        (json!({"paths": ["Hidden"], "format": "html"}), "not_found"),
        (json!({"paths": ["Empty"], "format": "html"}), "not_found"),
        (json!({"paths": [""], "format": "html"}), "validation_error"),
        (
            json!({"paths": ["pic.gif"], "format": "html"}),
            "validation_error",
        ),
        (json!({"paths": ["C"], "format": "pdf"}), "validation_error"),
        (json!({"paths": ["C"], "format": "html"}), "already_exists"),
        (
            json!({"paths": ["C"], "format": "html", "to": "a.zip"}),
            "validation_error",
        ),
        (
            json!({"paths": ["C"], "format": "html", "to": "a.md"}),
            "validation_error",
        ),
        (
            json!({"paths": ["C"], "format": "html", "to": "R/a.html"}),
            "permission_denied",
        ),
        (json!({"paths": ["Latin"], "format": "html"}), "unsupported"),
    ] {
        let error = refused(&vault, "export", arguments.clone());
        assert_eq!(error.code(), code, "{arguments}: {error}");
    }
    assert_eq!(vault.paths(), before);
    assert_eq!(vault.text("Exports/C.html").unwrap(), "mine");
    ok(
        &vault,
        "export",
        json!({"paths": ["C"], "format": "html", "if_exists": "overwrite"}),
    );
    assert!(
        vault
            .text("Exports/C.html")
            .unwrap()
            .starts_with("<!DOCTYPE html>")
    );
    let zip = ok(
        &vault,
        "export",
        json!({"paths": ["Latin"], "format": "markdown"}),
    );
    assert_eq!(
        unpacked(&vault.bytes(zip["path"].as_str().unwrap()).unwrap())[0].1,
        b"\xff"
    );
}

#[test]
fn an_export_that_explodes_in_size_is_rejected() {
    // Each note embeds the next one sixty times.
    let mut vault = Vault::in_memory();
    for depth in 0..6 {
        let inner = format!("![[N{}]]\n", depth + 1).repeat(60);
        vault = vault.with(
            &format!("N{depth}.md"),
            &format!("{inner}{}", "x".repeat(3000)),
        );
    }
    let error = refused(&vault, "export", json!({"paths": ["N0"], "format": "html"}));
    assert_eq!(error.code(), "too_large");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_zip_keeps_every_byte(notes in prop::collection::btree_map("[a-zé]{1,6}", prop::collection::vec(any::<u8>(), 0..200), 1..6)) {
        let mut vault = Vault::in_memory();
        for (name, bytes) in &notes {
            vault = vault.with_bytes(&format!("N/{name}.md"), bytes);
        }
        let exported = ok(&vault, "export", json!({"paths": ["N"], "format": "markdown", "to": "Out.zip"}));
        prop_assert_eq!(exported["notes"].as_u64(), Some(notes.len() as u64));
        let files = unpacked(&vault.bytes("Out.zip").unwrap());
        prop_assert_eq!(files.len(), notes.len());
        for (name, bytes) in files {
            prop_assert_eq!(vault.bytes(&name), Some(bytes));
        }
    }
}
