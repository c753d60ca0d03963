//! Export to and import from Anki packages.

use super::*;

/// Three notes in two decks (one a cloze with a picture) in the oldest format of Anki, written by SQLite and zip.
const OLD: &[u8] = include_bytes!("../../tests/fixtures/old.apkg");
/// The same in the newest format: a table of decks, Zstandard, and a list of media in protobuf.
const NEW: &[u8] = include_bytes!("../../tests/fixtures/new.apkg");

/// Exported by Anki 26.09, for older and newer versions: three notes, one in both directions. The empty collection that
/// Anki adds for its oldest versions was removed to keep the files small.
const BY_ANKI: [(&str, &[u8]); 2] = [
    (
        "anki21.apkg",
        include_bytes!("../../tests/fixtures/anki21.apkg"),
    ),
    (
        "anki21b.apkg",
        include_bytes!("../../tests/fixtures/anki21b.apkg"),
    ),
];

fn library() -> MemoryVault {
    Vault::in_memory()
        .at(NOON)
        .with("A.md", "#flashcards/lang/es\n\nuno::one ![[p.png]]\n\ndos:::two **bold** $x^2$\n\nfoo ==bar== baz ==qux==\n<!--SR:!2026-01-05,4,270-->\n")
        .with("B.md", "#flashcards/other\n\nsay ![[s.mp3]] and [[A|this]]\n?\n- one\n- ![](missing.png)\n")
        .with_bytes("media/p.png", &[1, 2, 3])
        .with_bytes("s.mp3", &[4; 5000])
}

#[test]
fn exported_packages_can_be_imported() {
    let vault = library();
    let exported = ok(&vault, "export", json!({ "path": "Out/all.apkg" }));
    assert_eq!(
        exported,
        json!({"path": "Out/all.apkg", "notes": 4, "cards": 6, "media": 2, "missing": ["missing.png"]})
    );
    let bytes = vault.bytes("Out/all.apkg").unwrap();
    let other = Vault::in_memory().at(NOON).with_bytes("all.apkg", &bytes);
    let imported = ok(&other, "import", json!({ "path": "all.apkg", "to": "In" }));
    assert_eq!(imported["notes"], json!(["In/lang/es.md", "In/other.md"]));
    assert_eq!(
        (
            &imported["cards"],
            &imported["media"],
            &imported["left_out_total"]
        ),
        (&json!(4), &json!(2), &json!(0))
    );
    assert_eq!(
        other.text("In/lang/es.md").unwrap(),
        "---\ntags:\n  - flashcards/lang/es\n---\nuno::one ![[p.png]]\n\ndos:::two **bold** $x^2$\n\nfoo {{c1::bar}} baz {{c2::qux}}\n"
    );
    assert_eq!(
        other.text("In/other.md").unwrap(),
        "---\ntags:\n  - flashcards/other\n---\nsay ![[s.mp3]] and this\n?\n- one\n- missing.png\n"
    );
    assert_eq!(other.bytes("In/media/p.png").unwrap(), [1, 2, 3]);
    assert_eq!(other.bytes("In/media/s.mp3").unwrap().len(), 5000);
    assert_eq!(ok(&other, "list", json!({}))["total"], 6);
}

#[test]
fn export_of_one_deck_requires_overwrite_to_replace() {
    let vault = library();
    let one = ok(
        &vault,
        "export",
        json!({ "path": "es.apkg", "deck": "lang" }),
    );
    assert_eq!((&one["notes"], &one["media"]), (&json!(3), &json!(1)));
    assert_eq!(
        refused(&vault, "export", json!({ "path": "es.apkg" })).code(),
        "already_exists"
    );
    ok(
        &vault,
        "export",
        json!({ "path": "es.apkg", "overwrite": true }),
    );
    for (arguments, code) in [
        (json!({ "path": "es.zip" }), "validation_error"),
        (json!({ "path": ".apkg" }), "validation_error"),
        (json!({ "path": "x.apkg", "deck": "nothing" }), "not_found"),
    ] {
        assert_eq!(
            refused(&vault, "export", arguments.clone()).code(),
            code,
            "{arguments}"
        );
    }
    let error = refused(&Vault::in_memory(), "export", json!({ "path": "x.apkg" }));
    assert_eq!(error.message(), "there are no cards to export");
}

#[test]
fn old_and_new_package_formats_are_imported() {
    for (name, bytes) in [("old.apkg", OLD), ("new.apkg", NEW)] {
        let vault = Vault::in_memory().at(NOON).with_bytes(name, bytes);
        let imported = ok(&vault, "import", json!({ "path": name, "to": "In" }));
        assert_eq!(
            imported["notes"],
            json!(["In/Geo/Europe.md", "In/Maths.md"]),
            "{name}"
        );
        let geography = vault.text("In/Geo/Europe.md").unwrap();
        assert!(
            geography.contains("\nCapital of **France**::Paris & more\n"),
            "{geography}"
        );
        let maths = vault.text("In/Maths.md").unwrap();
        assert!(
            maths.contains("{{c1::two}} plus {{c2::two::number}} ![[pic.png]]"),
            "{maths}"
        );
        assert_eq!(vault.bytes("In/media/pic.png").unwrap(), b"\x89PNG fixture");
        assert_eq!(ok(&vault, "list", json!({}))["total"], 4, "{name}");
    }
}

#[test]
fn packages_written_by_anki_are_imported() {
    for (name, bytes) in BY_ANKI {
        let vault = Vault::in_memory().at(NOON).with_bytes(name, bytes);
        ok(&vault, "import", json!({ "path": name, "to": "In" }));
        assert_eq!(
            vault.text("In/Geo/Europe.md").unwrap(),
            "---\ntags:\n  - flashcards/Geo/Europe\n---\nCapital of **France**::Paris & more\n\nuno:::one\n",
            "{name}"
        );
        let maths = vault.text("In/Maths.md").unwrap();
        assert!(
            maths.ends_with("---\n{{c1::two}} plus {{c2::two::number}} ![[pic.png]]\n"),
            "{maths}"
        );
        assert_eq!(vault.bytes("In/media/pic.png").unwrap(), b"\x89PNG fixture");
        assert_eq!(ok(&vault, "list", json!({}))["total"], 5);
    }
}

#[test]
fn import_never_overwrites_media() {
    let vault = Vault::in_memory()
        .at(NOON)
        .with_bytes("old.apkg", OLD)
        .with_bytes("In/media/pic.png", b"another");
    ok(&vault, "import", json!({ "path": "old.apkg", "to": "In" }));
    assert_eq!(vault.bytes("In/media/pic.png").unwrap(), b"another");
    assert_eq!(
        vault.bytes("In/media/pic-1.png").unwrap(),
        b"\x89PNG fixture"
    );
    assert!(
        vault
            .text("In/Maths.md")
            .unwrap()
            .contains("![[pic-1.png]]")
    );
}

#[test]
fn invalid_packages_are_rejected_without_changes() {
    let vault = Vault::in_memory()
        .at(NOON)
        .with_bytes("old.apkg", OLD)
        .with_bytes("bad.apkg", b"not a zip")
        .with_bytes("cut.apkg", &OLD[..OLD.len() / 2])
        .with("Taken/Maths.md", "x");
    for (arguments, code) in [
        (json!({ "path": "bad.apkg", "to": "In" }), "unsupported"),
        (json!({ "path": "cut.apkg", "to": "In" }), "unsupported"),
        (json!({ "path": "none.apkg", "to": "In" }), "not_found"),
        (json!({ "path": "N.md", "to": "In" }), "validation_error"),
        (json!({ "path": "old.apkg", "to": "" }), "validation_error"),
        (
            json!({ "path": "old.apkg", "to": "../out" }),
            "validation_error",
        ),
        (
            json!({ "path": "old.apkg", "to": "Taken" }),
            "already_exists",
        ),
    ] {
        let error = refused(&vault, "import", arguments.clone());
        assert_eq!(error.code(), code, "{arguments}: {error}");
        vault.rollback();
    }
}
