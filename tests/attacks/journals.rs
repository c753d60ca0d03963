//! Journals that this machine did not write are never replayed.

use std::path::{Path, PathBuf};
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
        Command::new(crate::support::program())
            .args(arguments)
            .arg("--state")
            .arg(self.at("state"))
            .env("HOME", self.at("home"))
            .env_remove("XDG_CONFIG_HOME")
            .output()
            .expect("the program runs")
    }

    /// The journal of a note that a killed process was about to make, and the vault's state folder.
    fn interrupted(&self) -> (PathBuf, PathBuf) {
        let notes = self.at("notes");
        let killed = Command::new(crate::support::program())
            .args(["call", "document", "create", "--path", "Deep/New"])
            .args(["--content", "x", "--allow", "rw", "--vault"])
            .arg(&notes)
            .arg("--state")
            .arg(self.at("state"))
            .env("HOME", self.at("home"))
            .env_remove("XDG_CONFIG_HOME")
            .env("NOTEHOST_FAIL_POINT", "commit-journal-placed")
            .output()
            .expect("the program runs");
        assert!(!killed.status.success(), "{killed:?}");
        let journals = std::fs::read_dir(notes.join(".notehost/journal")).expect("a folder");
        let journal = journals.flatten().next().expect("a journal").path();
        let states = std::fs::read_dir(self.at("state")).expect("a folder");
        let mut states = states.flatten().map(|entry| entry.path());
        let state = states.find(|state| state.join("journal.key").exists());
        (journal, state.expect("the vault's state"))
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
    assert!(log.contains("of another machine or state folder"), "{log}");
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

#[test]
fn a_journal_of_an_open_commit_is_replayed_only_as_it_was_written() {
    // As it was written it is finished.
    let setup = JournalSetup::new();
    setup.interrupted();
    assert!(setup.list().status.success());
    assert!(setup.at("notes/Deep/New.md").exists());

    for is_hostile in [false, true] {
        let setup = JournalSetup::new();
        let (journal, state) = setup.interrupted();
        let written = std::fs::read_to_string(&journal).expect("a journal");
        let (code, body) = written.split_once('\n').expect("a code and a body");
        let forged = match is_hostile {
            // Paths that a commit may touch, and a code that is not that of this body.
            false => {
                let body = body.replace("Deep/New.md", "Deep/Bad.md");
                assert!(body.contains("Deep/Bad.md"), "{body}");
                format!("{code}\n{body}")
            }
            // The right code, and paths that no commit may touch.
            true => {
                let key: [u8; 32] = std::fs::read(state.join("journal.key"))
                    .expect("the key")
                    .try_into()
                    .expect("32 bytes");
                let mut body: Value = serde_json::from_str(body).expect("JSON");
                body["steps"] = forged_journals(&setup)["steps"].take();
                let body = body.to_string();
                let code = blake3::keyed_hash(&key, body.as_bytes()).to_hex();
                format!("{code}\n{body}")
            }
        };
        std::fs::write(&journal, forged).expect("a journal");
        let listed = setup.list();
        assert!(listed.status.success(), "{listed:?}");
        let log = String::from_utf8_lossy(&listed.stderr).into_owned();
        assert!(log.contains("set aside"), "{log}");
        assert!(!journal.exists(), "it was set aside");
        for path in [
            "notes/Deep/New.md",
            "notes/Deep/Bad.md",
            "notes/.git/hooks/post-checkout",
            "notes/Work/leak.md",
        ] {
            assert!(!setup.at(path).exists(), "{path}: {log}");
        }
        assert!(setup.at(".netrc").exists());
    }
}

#[test]
fn what_a_moved_vault_left_half_done_is_not_taken_for_that_of_another_machine() {
    let setup = JournalSetup::new();
    let (_, state) = setup.interrupted();
    let moved = setup.at("moved");
    std::fs::rename(setup.at("notes"), &moved).expect("it can be moved");
    let moved = moved.to_str().expect("a path").to_owned();
    let listed = setup.notehost(&["call", "document", "list", "--vault", &moved]);
    assert!(listed.status.success(), "{listed:?}");
    let name = state
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let log = String::from_utf8_lossy(&listed.stderr).into_owned();
    assert!(
        log.contains("another id or path") && log.contains(&name),
        "{log}"
    );
    let doctor = setup.notehost(&["doctor", &moved, "--json-output"]);
    let report = String::from_utf8_lossy(&doctor.stdout).into_owned();
    for words in ["left by this machine", &name, "remove nothing before"] {
        assert!(report.contains(words), "{words}: {report}");
    }
    assert!(!report.contains("not written by this machine"), "{report}");

    // Under its old path it is finished.
    std::fs::rename(&moved, setup.at("notes")).expect("it can be moved");
    assert!(setup.list().status.success());
    assert!(setup.at("notes/Deep/New.md").exists());
}
