//! Commits that fail or die half way while somebody else edits the same files: nobody's text is lost, and the vault opens.

use super::crash::{files, run_child, run_child_on_full_disk};
use super::*;

fn trashed(fixture: &Fixture) -> Vec<String> {
    let items = fixture.begin().trash(None, 9).unwrap();
    items.into_iter().map(|item| item.path).collect()
}

fn journal(fixture: &Fixture) -> PathBuf {
    let journals = fixture.folder().join(".notehost/journal");
    let mut names = fs::read_dir(journals).unwrap().flatten();
    names.next().unwrap().path()
}

#[test]
fn a_note_that_is_written_again_while_its_removal_is_rolled_back_does_not_block_the_vault() {
    let mut fixture = Fixture::new(&files());
    let folder = fixture.folder();
    fail::injected::act_at("apply-moved", move || {
        fs::write(folder.join("a.md"), "saved again").unwrap();
        fs::write(folder.join("F/b.md"), "edited").unwrap();
    });
    let mut transaction = fixture.begin();
    transaction.remove("a.md").unwrap();
    transaction.write("F/b.md", b"ours", None).unwrap();
    let failed = transaction.commit(note()).unwrap_err();
    assert!(matches!(failed, CommitError::Conflict { .. }), "{failed:?}");
    for _ in 0..2 {
        assert_eq!(fixture.text("a.md").unwrap(), "saved again");
        assert_eq!(fixture.text("F/b.md").unwrap(), "edited");
        assert_eq!(trashed(&fixture), ["a.md"]);
        assert!(fixture.leftovers().is_empty());
        fixture.open();
    }
    fixture.run(|t| t.write("d.md", b"goes on", None));
}

#[test]
fn a_parked_note_whose_place_was_taken_after_a_crash_goes_to_the_trash() {
    for is_folder_gone in [false, true] {
        let mut fixture = Fixture::new(&files());
        fixture.vault = None;
        assert!(!run_child(&fixture, "swap", "apply-moved:2"));
        assert!(fixture.text("a.md").is_none() && fixture.text("F/b.md").is_none());
        match is_folder_gone {
            true => fs::remove_dir_all(fixture.folder().join("F")).unwrap(),
            false => fixture.put("F/b.md", "a person's"),
        }
        fixture.open();
        assert_eq!(fixture.text("a.md").as_deref(), Some("b"));
        assert_eq!(trashed(&fixture), ["F/b.md"], "{is_folder_gone}");
        let id = fixture.begin().trash(None, 9).unwrap().remove(0).id;
        fixture.run(|t| t.restore(&id, Some("back.md")));
        assert_eq!(fixture.text("back.md").as_deref(), Some("a"));
    }
}

#[test]
fn a_partial_commit_without_journal_can_be_undone() {
    let mut fixture = Fixture::new(&files());
    fixture.vault = None;
    assert!(!run_child(&fixture, "two", "apply-put:1"));
    assert_eq!(fixture.text("a.md").as_deref(), Some("new a"));
    assert_eq!(fixture.text("d.md").as_deref(), Some("d"));
    fs::remove_file(journal(&fixture)).unwrap();
    fixture.open();
    let change = fixture.begin().history(None, None, 9).unwrap().remove(0).id;
    let before = fixture.begin().before("a.md", &change).unwrap().unwrap();
    assert_eq!(&*before.bytes, b"a");
}

#[test]
fn an_edit_in_place_outlives_a_rollback_that_a_crash_interrupted() {
    let mut fixture = Fixture::new(&files());
    fixture.vault = None;
    assert!(!run_child_on_full_disk(
        &fixture,
        "two",
        "rollback-begin",
        "apply-put:2"
    ));
    assert_eq!(fixture.text("a.md").as_deref(), Some("new a"));
    // `fs::write` keeps the inode, as some editors do.
    fixture.put("a.md", "a person's");
    fixture.open();
    assert_eq!(fixture.text("a.md").as_deref(), Some("a person's"));
    assert_eq!(fixture.text("d.md").as_deref(), Some("d"));
    assert_eq!(trashed(&fixture), ["a.md"]);
    assert!(fixture.leftovers().is_empty());
}

#[test]
fn a_journal_of_an_earlier_commit_to_the_store_is_not_replayed() {
    let mut fixture = Fixture::new(&files());
    fixture.run(|t| t.store_set("key", b"value"));
    fixture.vault = None;
    assert!(!run_child(&fixture, "unset", "commit-journal-placed"));
    let journal = journal(&fixture);
    let copy = fs::read(&journal).unwrap();
    fixture.open();
    assert_eq!(fixture.begin().store_get("key").unwrap(), None);
    fixture.run(|t| t.store_set("key", b"value"));
    fixture.vault = None;
    fs::create_dir_all(journal.parent().unwrap()).unwrap();
    fs::write(&journal, &copy).unwrap();
    fixture.open();
    let value = fixture.begin().store_get("key").unwrap();
    assert_eq!(value.as_deref(), Some(&b"value"[..]));
}

#[test]
fn a_failed_rollback_blocks_commits_until_restart() {
    let mut fixture = Fixture::new(&files());
    let before = fixture.files();
    fail::injected::full_disk_at("apply-put", 2);
    fail::injected::act_at("rollback-begin", || {
        fail::injected::full_disk_at("rollback-step", 1);
    });
    let mut transaction = fixture.begin();
    transaction.write("a.md", b"new a", None).unwrap();
    transaction.write("d.md", b"new d", None).unwrap();
    let failed = transaction.commit(note()).unwrap_err();
    assert!(matches!(failed, CommitError::Unsettled(_)), "{failed:?}");
    let mut transaction = fixture.begin();
    transaction.write("s.md", b"2", None).unwrap();
    let Err(CommitError::Failed(refused)) = transaction.commit(note()) else {
        panic!("it was committed over a half state");
    };
    assert_eq!(refused.code(), "unavailable");
    fixture.open();
    assert_eq!(fixture.files(), before);
    fixture.run(|t| t.write("s.md", b"2", None));
}

#[test]
fn a_foreign_journal_that_cannot_be_set_aside_does_not_block_the_vault() {
    for is_link in [false, true] {
        let mut fixture = Fixture::new(&files());
        fixture.vault = None;
        fixture.put(".notehost/journal/evil.json", "{}");
        let place = fixture.folder().join(".notehost/set-aside");
        match is_link {
            true => std::os::unix::fs::symlink("/tmp", &place).unwrap(),
            false => fs::write(&place, "in the way").unwrap(),
        }
        // A folder where a temporary file of ours belongs.
        let state = fixture.state();
        let seal = fs::read_dir(&state).unwrap().flatten();
        let seal = seal.map(|entry| entry.path()).find(|path| path.is_dir());
        let seal = crate::storage::files::commit::journal::Seal::existing(&seal.unwrap()).unwrap();
        let prefix = seal.prefix("0123456789abcdef");
        fixture.put(&format!(".notehost/tmp/{prefix}/deep/er.md"), "x");
        fixture.open();
        assert!(
            fixture
                .folder()
                .join(".notehost/journal/evil.json")
                .exists()
        );
        fixture.run(|t| t.write("s.md", b"2", None));
    }
}

#[test]
fn changes_of_folders_and_the_store_are_found_by_key() {
    let mut fixture = Fixture::new(&files());
    let mut by = note();
    for (number, key) in ["folder", "store"].into_iter().enumerate() {
        by.key = Some(key.to_owned());
        let mut transaction = fixture.begin();
        match number {
            0 => transaction.create_folder("Empty").unwrap(),
            _ => transaction.store_set("a", b"1").unwrap(),
        }
        let committed = transaction.commit(by.clone()).unwrap();
        assert!(committed.is_landed && committed.change.is_some());
    }
    fixture.open();
    let vault = fixture.vault.as_ref().unwrap();
    for key in ["folder", "store"] {
        let landed = vault.landed(key).unwrap().unwrap();
        assert!(landed.is_landed && landed.change.is_some());
    }
    // Of data alone, only its caller sees the change.
    assert_eq!(fixture.begin().history(None, None, 9).unwrap().len(), 1);
}
