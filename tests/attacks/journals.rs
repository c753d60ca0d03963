//! Journals that this machine did not write are never replayed.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::snapshot::Snapshot;

/// A folder with a vault in it, and a file beside the vault that is nobody's affair.
struct Scene {
    place: tempfile::TempDir,
}

impl Scene {
    fn new() -> Scene {
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
        Scene { place }
    }

    fn at(&self, path: &str) -> std::path::PathBuf {
        self.place.path().join(path)
    }

    fn put_journal(&self, name: &str, journal: &Value) {
        let file = self.at("notes/.notehost/journal").join(name);
        std::fs::write(file, journal.to_string()).expect("a journal");
    }

    fn notehost(&self, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_notehost"))
            .args(words)
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
        let killed = Command::new(env!("CARGO_BIN_EXE_notehost"))
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

/// The journals of the report: one makes a git hook of a note, one moves a file of the parent folder into the vault.
fn hostile(scene: &Scene) -> Value {
    json!({
        "id": "0123456789abcdef",
        "caller": "mallory",
        "steps": [
            {"create": {
                "temp": "Work/payload.md",
                "path": ".git/hooks/post-checkout",
                "new": {"digest": digest_of(&scene.at("notes/Work/payload.md")), "inode": 0},
            }},
            {"move": {
                "from": "../.netrc",
                "to": "Work/leak.md",
                "expected": {
                    "digest": digest_of(&scene.at(".netrc")),
                    "signature": {"inode": 0, "size": 0, "modified": 0, "changed": 0},
                    "is_racy": true,
                },
            }},
        ],
    })
}

#[test]
fn a_journal_that_came_with_the_vault_does_nothing_and_is_reported() {
    let scene = Scene::new();
    for name in [
        "0123456789abcdef.json",
        "0123456789abcdef.back.json",
        "ffffffffffff-0123456789abcdef.json",
    ] {
        scene.put_journal(name, &hostile(&scene));
    }
    let notes = scene.at("notes");
    let work = notes.join("Work");
    let before = Snapshot::of(&[&work]);
    let listed = scene.list();
    assert!(listed.status.success(), "{listed:?}");
    let log = String::from_utf8_lossy(&listed.stderr).into_owned();
    assert!(log.contains("did not write"), "{log}");
    assert!(!notes.join(".git/hooks/post-checkout").exists());
    assert!(!notes.join("Work/leak.md").exists());
    assert!(scene.at(".netrc").exists());
    assert!(Snapshot::of(&[&work]) == before);

    let doctor = scene.notehost(&["doctor", notes.to_str().expect("a path"), "--json-output"]);
    let report = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(report.contains("not written by this machine"), "{report}");
    assert!(report.contains("set-aside"), "{report}");
    // A journal that carries another machine's id is left where it is: that machine may need it.
    assert!(
        notes
            .join(".notehost/journal/ffffffffffff-0123456789abcdef.json")
            .exists()
    );
}

#[test]
fn a_journal_under_the_name_of_ours_needs_our_key() {
    let scene = Scene::new();
    assert!(scene.list().status.success());
    let created = scene.notehost(&[
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
        scene.at("notes").to_str().expect("a path"),
    ]);
    assert!(created.status.success(), "{created:?}");
    // The id is public: whoever syncs the vault may have seen it in the name of a temporary file.
    let state = std::fs::read_dir(scene.at("state"))
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
    std::fs::create_dir_all(scene.at("notes/.notehost/journal")).expect("a folder");
    scene.put_journal(&name, &hostile(&scene));
    let forged = scene.at("notes/.notehost/journal").join(&name);
    let body = hostile(&scene).to_string();
    let code = blake3::keyed_hash(&[0; 32], body.as_bytes()).to_hex();
    std::fs::write(&forged, format!("{code}\n{body}")).expect("a journal");
    assert!(scene.list().status.success());
    assert!(!forged.exists(), "it was set aside");
    assert!(!scene.at("notes/.git/hooks/post-checkout").exists());
    assert!(scene.at(".netrc").exists());

    // Even the key does not open a way out: paths are checked as well.
    std::fs::create_dir_all(scene.at("notes/.notehost/journal")).expect("a folder");
    let code = blake3::keyed_hash(&key, body.as_bytes()).to_hex();
    std::fs::write(&forged, format!("{code}\n{body}")).expect("a journal");
    assert!(scene.list().status.success());
    assert!(!scene.at("notes/.git/hooks/post-checkout").exists());
    assert!(scene.at(".netrc").exists() && !scene.at("notes/Work/leak.md").exists());
}

#[test]
fn a_journal_of_an_open_commit_is_replayed_only_as_it_was_written() {
    // As it was written it is finished.
    let scene = Scene::new();
    scene.interrupted();
    assert!(scene.list().status.success());
    assert!(scene.at("notes/Deep/New.md").exists());

    for is_hostile in [false, true] {
        let scene = Scene::new();
        let (journal, state) = scene.interrupted();
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
                body["steps"] = hostile(&scene)["steps"].take();
                let body = body.to_string();
                let code = blake3::keyed_hash(&key, body.as_bytes()).to_hex();
                format!("{code}\n{body}")
            }
        };
        std::fs::write(&journal, forged).expect("a journal");
        let listed = scene.list();
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
            assert!(!scene.at(path).exists(), "{path}: {log}");
        }
        assert!(scene.at(".netrc").exists());
    }
}

#[test]
fn what_a_moved_vault_left_half_done_is_not_taken_for_that_of_another_machine() {
    let scene = Scene::new();
    let (_, state) = scene.interrupted();
    let moved = scene.at("moved");
    std::fs::rename(scene.at("notes"), &moved).expect("it can be moved");
    let moved = moved.to_str().expect("a path").to_owned();
    let listed = scene.notehost(&["call", "document", "list", "--vault", &moved]);
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
    let doctor = scene.notehost(&["doctor", &moved, "--json-output"]);
    let report = String::from_utf8_lossy(&doctor.stdout).into_owned();
    for words in ["left by this machine", &name, "remove nothing before"] {
        assert!(report.contains(words), "{words}: {report}");
    }
    assert!(!report.contains("not written by this machine"), "{report}");

    // Under its old path it is finished.
    std::fs::rename(&moved, scene.at("notes")).expect("it can be moved");
    assert!(scene.list().status.success());
    assert!(scene.at("notes/Deep/New.md").exists());
}
