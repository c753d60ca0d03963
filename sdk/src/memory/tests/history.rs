//! Trash, history and undo.

use super::vault;
use crate::{ChangeKind, RawVault as _, Tier, Vault};

#[test]
fn removed_files_can_be_restored_from_the_trash() {
    let vault = vault().at(5_000);
    let ids = vault.remove("Work").unwrap();
    assert_eq!(ids.len(), 3);
    let trash = vault.trash(None, 9).unwrap();
    assert_eq!((trash.len(), trash[0].removed), (3, 5_000));
    assert_eq!(vault.trash(Some(&trash[0].id), 1).unwrap(), trash[1..2]);
    let plan = trash
        .iter()
        .find(|item| item.path == "Work/Plan.md")
        .unwrap();
    assert_eq!(
        vault
            .restore(&plan.id, Some("Inbox.md"))
            .unwrap_err()
            .code(),
        "already_exists"
    );
    assert_eq!(vault.restore(&plan.id, None).unwrap(), "Work/Plan.md");
    assert_eq!(
        vault.restore(&plan.id, None).unwrap_err().code(),
        "not_found"
    );
    assert_eq!(vault.text("Work/Plan.md").unwrap(), "# Plan\n");
}

#[test]
fn history_follows_renames_and_has_earlier_content() {
    let vault = vault();
    vault.set_time(10);
    vault.create("New.md", b"one").unwrap();
    let made = vault.commit("document.create").unwrap();
    vault.write("New.md", b"two", None).unwrap();
    let changed = vault.commit("document.update").unwrap();
    vault.rename("New.md", "Work/Newer.md").unwrap();
    let renamed = vault.commit("document.rename").unwrap();
    assert_eq!(vault.commit("document.rename"), None);

    let history = vault.history(Some("work/newer.md"), None, 9).unwrap();
    let ids: Vec<_> = history.iter().map(|change| change.id.as_str()).collect();
    assert_eq!(ids, [&renamed, &changed, &made]);
    assert_eq!(history[0].files[0].kind, ChangeKind::Rename);
    assert_eq!(history[0].files[0].from.as_deref(), Some("New.md"));
    assert_eq!(
        (history[2].time, history[2].action.as_str()),
        (10, "document.create")
    );
    assert_eq!(
        vault.before("New.md", &changed).unwrap().unwrap().bytes,
        b"one"
    );
    assert_eq!(vault.before("New.md", &made).unwrap(), None);
    assert_eq!(
        vault.before("Inbox.md", &made).unwrap_err().code(),
        "not_found"
    );
    let rest = vault.history(None, Some(&renamed), 1).unwrap();
    assert_eq!(rest[0].id, changed);
}

#[test]
fn undo_is_exact_and_can_be_undone() {
    let vault = vault();
    let before = vault.paths();
    vault.rename("Work", "Job").unwrap();
    vault.write("Job/Plan.md", b"other", None).unwrap();
    vault.create("Job/New.md", b"new").unwrap();
    vault.remove("Inbox.md").unwrap();
    let change = vault.commit("test.much").unwrap();
    let after = vault.paths();

    vault.undo(&change).unwrap();
    assert_eq!(vault.paths(), before);
    assert_eq!(vault.text("Work/Plan.md").unwrap(), "# Plan\n");
    assert_eq!(vault.stat("Job").unwrap_err().code(), "not_found");
    let undo = vault.commit("document.undo").unwrap();
    let history = vault.history(None, None, 9).unwrap();
    assert_eq!(history[0].undoes.as_ref(), Some(&change));
    assert!(history[1].undone);
    assert_eq!(vault.undo(&change).unwrap_err().code(), "conflict");

    vault.undo(&undo).unwrap();
    vault.commit("document.undo").unwrap();
    assert_eq!(vault.paths(), after);
    assert_eq!(vault.text("Job/Plan.md").unwrap(), "other");
    assert!(!vault.history(None, None, 9).unwrap()[2].undone);
}

#[test]
fn undo_restores_deleted_files_and_deletes_created_ones() {
    let vault = vault();
    vault.remove("Inbox.md").unwrap();
    let removed = vault.commit("document.remove").unwrap();
    vault.undo(&removed).unwrap();
    assert_eq!(vault.trash(None, 9).unwrap(), []);
    vault.commit("document.undo");
    vault.create("New.md", b"new").unwrap();
    assert_eq!(vault.undo(&removed).unwrap_err().code(), "validation_error");
    let made = vault.commit("document.create").unwrap();
    vault.undo(&made).unwrap();
    assert_eq!(vault.trash(None, 9).unwrap()[0].path, "New.md");
}

#[test]
fn undo_rejects_files_that_changed_since() {
    let vault = vault();
    vault.write("Inbox.md", b"mine", None).unwrap();
    let change = vault.commit("document.update").unwrap();
    vault.write("Inbox.md", b"theirs", None).unwrap();
    vault.commit("document.update").unwrap();
    assert_eq!(vault.undo(&change).unwrap_err().code(), "conflict");
    assert_eq!(vault.text("Inbox.md").unwrap(), "theirs");
    assert_eq!(vault.undo("change-99").unwrap_err().code(), "not_found");
}

#[test]
fn undo_of_swapped_paths_swaps_them_back() {
    let vault = Vault::in_memory().with("a.md", "a").with("b.md", "b");
    vault.rename("a.md", "c.md").unwrap();
    vault.rename("b.md", "a.md").unwrap();
    vault.rename("c.md", "b.md").unwrap();
    let change = vault.commit("test.swap").unwrap();
    assert_eq!(vault.text("a.md").unwrap(), "b");
    vault.undo(&change).unwrap();
    assert_eq!(
        (vault.text("a.md").unwrap(), vault.text("b.md").unwrap()),
        ("a".into(), "b".into())
    );
}

#[test]
fn replacing_a_removed_file_is_a_modification_and_can_be_undone() {
    let vault = Vault::in_memory().with("a.md", "a").with("b.md", "b");
    vault.remove("b.md").unwrap();
    vault.rename("a.md", "b.md").unwrap();
    let change = vault.commit("test.replace").unwrap();
    vault.undo(&change).unwrap();
    assert_eq!(
        (vault.text("a.md").unwrap(), vault.text("b.md").unwrap()),
        ("a".into(), "b".into())
    );
}

#[test]
fn history_hides_invisible_paths() {
    let vault = vault();
    vault.rename("Diary/Plan.md", "Work/Diary plan.md").unwrap();
    let moved = vault.commit("document.move").unwrap();
    vault.create("Diary/New.md", b"").unwrap();
    let hidden = vault.commit("document.create").unwrap();
    let vault = vault.allow("Diary", Tier::None);
    let history = vault.history(None, None, 9).unwrap();
    assert_eq!(history.len(), 1);
    assert_eq!(
        (history[0].files[0].kind, &history[0].files[0].from),
        (ChangeKind::Create, &None)
    );
    assert_eq!(vault.undo(&hidden).unwrap_err().code(), "not_found");
    assert_eq!(vault.undo(&moved).unwrap(), []);
}

#[test]
fn versions_are_the_states_of_a_file() {
    let vault = Vault::in_memory().with("a.md", "1\n");
    vault.write("a.md", b"1\n2\n", None).unwrap();
    let second = vault.commit("test.write").unwrap();
    vault.rename("a.md", "N/b.md").unwrap();
    let moved = vault.commit("test.rename").unwrap();
    vault.remove("N/b.md").unwrap();
    let removed = vault.commit("test.remove").unwrap();
    let versions = vault.versions("N/b.md", None, 9).unwrap();
    let listed: Vec<_> = versions
        .iter()
        .map(|version| (version.id.as_str(), version.path.as_str(), version.added))
        .collect();
    let first = format!("before-{second}");
    assert_eq!(
        listed,
        [
            (removed.as_str(), "N/b.md", Some(0)),
            (moved.as_str(), "N/b.md", Some(0)),
            (second.as_str(), "a.md", Some(1)),
            (first.as_str(), "a.md", None),
        ]
    );
    assert_eq!(
        vault.versions("N/b.md", Some(&moved), 1).unwrap(),
        versions[2..3]
    );
    let text = |version: &str| vault.read_version("N/b.md", version).map(|blob| blob.bytes);
    assert_eq!(text(&moved).unwrap(), b"1\n2\n");
    assert_eq!(text(&first).unwrap(), b"1\n");
    assert!(text(&removed).unwrap_err().details().is_some());
    assert_eq!(text("nothing").unwrap_err().code(), "not_found");
    let vault = vault.allow("N", Tier::None);
    assert_eq!(vault.versions("N/b.md", None, 9).unwrap(), []);
}
