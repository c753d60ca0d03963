//! Journals that this machine did not write are never replayed.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::snapshot::Snapshot;

/// A folder with a vault, and an unrelated file beside the vault.
struct JournalSetup {
    place: tempfile::TempDir,
}

impl JournalSetup {
    fn new() -> JournalSetup {
        let place = tempfile::tempdir().expect("a folder");
        for folder in ["notes/Work", "notes/.git/hooks", "notes/.notehost/journal"] {
            std::fs::create_dir_all(place.path().join(folder)).expect("folders");
        }
        for (path, text) in [
            (".netrc", "machine example password secret"),
            ("notes/Work/payload.md", "#!/bin/sh\necho owned\n"),
            ("notes/Work/Plan.md", "a plan\n"),
        ] {
            std::fs::write(place.path().join(path), text).expect("a file");
        }
        JournalSetup { place }
    }

    fn at(&self, path: &str) -> std::path::PathBuf {
        self.place.path().join(path)
    }

    fn put_journal(&self, name: &str, journal: &Value) {
        let file = self.at("notes/.notehost/journal").join(name);
        std::fs::write(file, journal.to_string()).expect("a journal");
    }

    fn notehost(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_notehost"))
            .args(arguments)
            .arg("--state")
            .arg(self.at("state"))
            .env("HOME", self.at("home"))
            .env_remove("XDG_CONFIG_HOME")
            .output()
            .expect("the program runs")
    }

    fn list(&self) -> Output {
        let notes = self.at("notes");
        let notes = notes.to_str().expect("a path");
        self.notehost(&["call", "document", "list", "--vault", notes])
    }
}

fn digest_of(file: &Path) -> Value {
    let bytes = std::fs::read(file).expect("the file");
    json!(blake3_of(&bytes))
}

fn blake3_of(bytes: &[u8]) -> Vec<u8> {
    blake3::hash(bytes).as_bytes().to_vec()
}

/// Forged journals: one creates a git hook from a note, one moves a file of the parent folder into the vault.
fn forged_journals(setup: &JournalSetup) -> Value {
    json!({
        "id": "0123456789abcdef",
        "caller": "mallory",
        "steps": [
            {"create": {
                "temp": "Work/payload.md",
                "path": ".git/hooks/post-checkout",
                "new": {"digest": digest_of(&setup.at("notes/Work/payload.md")), "inode": 0},
            }},
            {"move": {
                "from": "../.netrc",
                "to": "Work/leak.md",
                "expected": {
                    "digest": digest_of(&setup.at(".netrc")),
                    "signature": {"inode": 0, "size": 0, "modified": 0, "changed": 0},
                    "is_racy": true,
                },
            }},
        ],
    })
}

#[test]
fn foreign_journal_in_the_vault_is_reported_and_not_replayed() {
    let setup = JournalSetup::new();
    for name in [
        "0123456789abcdef.json",
        "0123456789abcdef.back.json",
        "ffffffffffff-0123456789abcdef.json",
    ] {
        setup.put_journal(name, &forged_journals(&setup));
    }
    let notes = setup.at("notes");
    let work = notes.join("Work");
    let before = Snapshot::of(&[&work]);
    let listed = setup.list();
    assert!(listed.status.success(), "{listed:?}");
    let log = String::from_utf8_lossy(&listed.stderr).into_owned();
    assert!(log.contains("did not write"), "{log}");
    assert!(!notes.join(".git/hooks/post-checkout").exists());
    assert!(!notes.join("Work/leak.md").exists());
    assert!(setup.at(".netrc").exists());
    assert!(Snapshot::of(&[&work]) == before);

    let doctor = setup.notehost(&["doctor", notes.to_str().expect("a path"), "--json-output"]);
    let report = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(report.contains("not written by this machine"), "{report}");
    assert!(report.contains("set-aside"), "{report}");
    // A journal with another machine's id is kept: that machine may need it.
    assert!(
        notes
            .join(".notehost/journal/ffffffffffff-0123456789abcdef.json")
            .exists()
    );
}

#[test]
fn journal_with_our_id_needs_a_valid_authentication_code() {
    let setup = JournalSetup::new();
    assert!(setup.list().status.success());
    let created = setup.notehost(&[
        "call",
        "document",
        "create",
        "--path",
        "Work/New",
        "--content",
        "x",
        "--allow",
        "rw",
        "--vault",
        setup.at("notes").to_str().expect("a path"),
    ]);
    assert!(created.status.success(), "{created:?}");
    // The id is public: anybody who syncs the vault sees it in the names of temporary files.
    let state = std::fs::read_dir(setup.at("state"))
        .expect("the state folder")
        .flatten()
        .find(|entry| entry.path().join("journal.key").exists())
        .expect("the vault's state")
        .path();
    let key: [u8; 32] = std::fs::read(state.join("journal.key"))
        .expect("the key")
        .try_into()
        .expect("32 bytes");
    let id = blake3::Hash::from_bytes(blake3::derive_key(
        "notehost 2026-11 state id of a vault",
        &key,
    ))
    .to_hex();
    let name = format!("{}-0123456789abcdef.json", &id[..12]);
    std::fs::create_dir_all(setup.at("notes/.notehost/journal")).expect("a folder");
    setup.put_journal(&name, &forged_journals(&setup));
    let forged = setup.at("notes/.notehost/journal").join(&name);
    let body = forged_journals(&setup).to_string();
    let code = blake3::keyed_hash(&[0; 32], body.as_bytes()).to_hex();
    std::fs::write(&forged, format!("{code}\n{body}")).expect("a journal");
    assert!(setup.list().status.success());
    assert!(!forged.exists(), "it was set aside");
    assert!(!setup.at("notes/.git/hooks/post-checkout").exists());
    assert!(setup.at(".netrc").exists());

    // Even with the key, paths outside the vault are rejected.
    std::fs::create_dir_all(setup.at("notes/.notehost/journal")).expect("a folder");
    let code = blake3::keyed_hash(&key, body.as_bytes()).to_hex();
    std::fs::write(&forged, format!("{code}\n{body}")).expect("a journal");
    assert!(setup.list().status.success());
    assert!(!setup.at("notes/.git/hooks/post-checkout").exists());
    assert!(setup.at(".netrc").exists() && !setup.at("notes/Work/leak.md").exists());
}
