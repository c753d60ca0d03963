//! What an interrupted commit leaves behind when its journal cannot be replayed: no note is lost.

use super::crash::{files, run_child};
use super::*;

fn journal(fixture: &Fixture) -> PathBuf {
    let journals = fixture.folder().join(".notehost/journal");
    let mut names = fs::read_dir(journals).unwrap().flatten();
    names.next().unwrap().path()
}

fn lose_history(fixture: &Fixture) {
    let folders = fs::read_dir(fixture.state()).unwrap().flatten();
    let vault = folders.map(|entry| entry.path()).find(|path| path.is_dir());
    for name in ["history.db", "history.db-wal", "history.db-shm"] {
        let _ = fs::remove_file(vault.as_ref().unwrap().join(name));
    }
}

fn damage(journal: &std::path::Path) {
    let mut bytes = fs::read(journal).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(journal, bytes).unwrap();
}

/// The contents of the files of a folder and the folders in it, sorted.
fn contents(folder: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(contents(&entry.path())),
            false => found.push(fs::read_to_string(entry.path()).unwrap()),
        }
    }
    found.sort();
    found
}

fn set_aside(fixture: &Fixture) -> PathBuf {
    fixture.folder().join(".notehost/set-aside")
}

#[test]
fn a_parked_note_is_in_the_trash_if_its_journal_cannot_be_replayed() {
    for lost in ["history", "journal damaged", "journal"] {
        let mut fixture = Fixture::new(&files());
        fixture.vault = None;
        assert!(!run_child(&fixture, "swap", "apply-moved:2"));
        assert!(fixture.text("a.md").is_none() && fixture.text("F/b.md").is_none());
        let journal = journal(&fixture);
        match lost {
            "history" => lose_history(&fixture),
            "journal damaged" => damage(&journal),
            _ => fs::remove_file(&journal).unwrap(),
        }
        for _ in 0..2 {
            fixture.open();
            let mut trash: Vec<(String, String)> = fixture
                .begin()
                .trash(None, 9)
                .unwrap()
                .into_iter()
                .map(|item| (item.path, item.id))
                .collect();
            trash.sort();
            let paths: Vec<&str> = trash.iter().map(|(path, _)| path.as_str()).collect();
            assert_eq!(paths, ["F/b.md", "a.md"], "{lost}");
            assert!(fixture.leftovers().is_empty(), "{lost}");
            let kept = set_aside(&fixture).join(journal.file_name().unwrap());
            assert_eq!(kept.exists(), lost != "journal", "{lost}");
        }
        let ids = fixture.begin().trash(None, 9).unwrap();
        for item in ids {
            fixture.run(|t| t.restore(&item.id, None));
        }
        assert_eq!(fixture.text("a.md").as_deref(), Some("a"), "{lost}");
        assert_eq!(fixture.text("F/b.md").as_deref(), Some("b"), "{lost}");
    }
}

#[test]
fn a_parked_note_whose_path_is_unknown_is_kept_where_no_caller_sees_it() {
    let mut fixture = Fixture::new(&files());
    fixture.vault = None;
    assert!(!run_child(&fixture, "swap", "apply-moved:2"));
    fs::remove_file(journal(&fixture)).unwrap();
    lose_history(&fixture);
    for _ in 0..2 {
        fixture.open();
        assert_eq!(contents(&set_aside(&fixture)), ["a", "b"]);
        assert!(fixture.begin().trash(None, 9).unwrap().is_empty());
        assert!(fixture.leftovers().is_empty());
    }
}

#[test]
fn temporary_files_of_a_journal_that_is_set_aside_go_along() {
    for (lost, is_kept) in [("history", true), ("journal damaged", true), ("", false)] {
        let mut fixture = Fixture::new(&files());
        fixture.vault = None;
        assert!(!run_child(&fixture, "two", "apply-put:1"));
        match lost {
            "history" => lose_history(&fixture),
            "journal damaged" => damage(&journal(&fixture)),
            _ => {}
        }
        fixture.open();
        let kept = contents(&set_aside(&fixture));
        // What was replaced, and what was still to be written.
        for content in ["a", "new d"] {
            let is_there = kept.iter().any(|found| found == content);
            assert_eq!(is_there, is_kept, "{lost}: {kept:?}");
        }
        assert!(fixture.leftovers().is_empty(), "{lost}");
    }
}

/// Its temporary file is in the folder that small commits share.
#[test]
fn a_parked_value_of_the_store_is_removed_only_if_its_commit_is_done() {
    for (fail_point, is_kept) in [("apply-moved:1", true), ("commit-history-done", false)] {
        let mut fixture = Fixture::new(&files());
        fixture.run(|t| t.store_set("key", b"value"));
        fixture.vault = None;
        assert!(!run_child(&fixture, "unset", fail_point));
        fs::remove_file(journal(&fixture)).unwrap();
        fixture.open();
        let kept = contents(&set_aside(&fixture));
        assert_eq!(kept == ["value"], is_kept, "{fail_point}: {kept:?}");
        // Callers do not see values of a component's store in the trash.
        assert!(fixture.begin().trash(None, 9).unwrap().is_empty());
        assert!(fixture.leftovers().is_empty(), "{fail_point}");
    }
}

#[test]
fn a_parked_note_that_cannot_be_rescued_waits_for_the_next_start() {
    let mut fixture = Fixture::new(&files());
    fixture.vault = None;
    assert!(!run_child(&fixture, "swap", "apply-moved:2"));
    fs::remove_file(journal(&fixture)).unwrap();
    let trash = fixture.folder().join(".notehost/trash");
    fs::write(&trash, "in the way").unwrap();
    // At the second start the history has the change as done.
    for _ in 0..2 {
        fixture.open();
        let temps = fixture.folder().join(".notehost/tmp");
        assert_eq!(contents(&temps), ["a", "b"]);
    }
    fixture.vault = None;
    fs::remove_file(&trash).unwrap();
    fixture.open();
    assert_eq!(fixture.begin().trash(None, 9).unwrap().len(), 2);
    assert!(fixture.leftovers().is_empty());
}

#[test]
fn a_crashed_recovery_still_rescues_parked_notes() {
    let mut fixture = Fixture::new(&files());
    fixture.vault = None;
    assert!(!run_child(&fixture, "swap", "apply-moved:2"));
    lose_history(&fixture);
    assert!(!run_child(&fixture, "nothing", "recover-history-settled"));
    fixture.open();
    assert_eq!(fixture.begin().trash(None, 9).unwrap().len(), 2);
    assert!(fixture.leftovers().is_empty());
}

#[test]
fn an_unreadable_journal_is_reported_with_a_hint() {
    use crate::storage::files::commit::recovery::unrecovered;
    let denied: std::io::Error = rustix::io::Errno::ACCESS.into();
    let journal = ".notehost/journal/0123456789ab-0123456789abcdef.json";
    let own = unrecovered("main", journal, &denied, Some(7), 7);
    assert_eq!(own.code(), "unavailable");
    assert!(own.message.contains(journal), "{}", own.message);
    assert!(!own.message.contains("belongs"), "{}", own.message);
    let hint = own.hint().unwrap();
    assert!(hint.contains("chmod -R u+rwX .notehost"), "{hint}");
    let other = unrecovered("main", ".notehost/journal", &denied, Some(1000), 7);
    let (message, hint) = (&other.message, other.hint().unwrap());
    assert!(message.contains("belongs to the user 1000"), "{message}");
    assert!(hint.contains("chown -R 7 .notehost"), "{hint}");
    // A note that a step cannot reach has nothing to do with the private folder.
    let note = unrecovered("main", "Work/Plan.md", &denied, Some(1000), 7);
    assert!(note.message.contains("`Work/Plan.md`"), "{}", note.message);
    assert!(!note.message.contains("belongs"), "{}", note.message);
    let full: std::io::Error = rustix::io::Errno::NOSPC.into();
    let full = unrecovered("main", ".notehost", &full, Some(7), 7);
    assert!(
        full.message.contains("the disk is full"),
        "{}",
        full.message
    );
}

#[test]
fn an_unreadable_journal_blocks_the_vault() {
    if rustix::process::geteuid().is_root() {
        eprintln!("skipped: root may read every file");
        return;
    }
    let fixture = Fixture::new(&files());
    let (folder, state) = (fixture.folder(), fixture.state());
    drop(fixture.vault);
    for target in ["journal", "file"] {
        assert!(fs::create_dir_all(folder.join(".notehost/journal")).is_ok());
        let vault = fs::read_dir(&state).unwrap().flatten();
        let vault = vault.map(|entry| entry.path()).find(|path| path.is_dir());
        let seal = crate::storage::files::commit::journal::Seal::existing(&vault.unwrap()).unwrap();
        let name = seal.journal_name(
            "0123456789abcdef",
            crate::storage::files::commit::journal::Direction::Forward,
        );
        let path = folder.join(".notehost/journal").join(&name);
        fs::write(&path, "").unwrap();
        let closed = match target {
            "file" => path,
            _ => folder.join(".notehost/journal"),
        };
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        let refused = Vault::open("test", &folder, &state, VaultSettings::default());
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
        let refused = refused.unwrap_err();
        assert!(
            refused.message.contains(".notehost/journal"),
            "{}",
            refused.message
        );
        assert!(refused.hint().unwrap().contains("chmod"), "{target}");
    }
}
