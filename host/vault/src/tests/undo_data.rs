//! Undo of changes that touch no note: folders, and the data of components.

use super::*;

fn change_of<T>(done: (T, Committed)) -> String {
    done.1.change.unwrap()
}

fn value(fixture: &Fixture, key: &str) -> Option<Vec<u8>> {
    fixture.begin().store_get(key).unwrap()
}

/// A transaction of the caller who makes all changes here.
fn begin_as_ana(fixture: &Fixture) -> Transaction {
    let mut transaction = fixture.begin();
    transaction.show_data_changes(DataChanges::Of("ana".into()));
    transaction
}

fn undo(fixture: &Fixture, change: &str) -> String {
    let mut transaction = begin_as_ana(fixture);
    transaction.undo(change).unwrap();
    transaction.commit(note()).unwrap().change.unwrap()
}

#[test]
fn a_folder_comes_and_goes() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("a.md", "a")]);
        let made = change_of(fixture.run(|t| t.create_folder("New/Below")));
        let is_there = |path: &str| fixture.begin().stat(path).is_ok();
        let undone = undo(&fixture, &made);
        assert!(!is_there("New/Below"));
        undo(&fixture, &undone);
        assert!(is_there("New/Below"));
        let history = fixture.begin().history(None, None, 9).unwrap();
        assert_eq!(history.len(), 3);
        assert_eq!((&history[0].files[..], history[1].undone), (&[][..], true));
        // A folder that is used by now stays.
        let other = change_of(fixture.run(|t| t.create_folder("Used")));
        fixture.put("Used/note.md", "mine");
        let error = fixture.begin().undo(&other).unwrap_err();
        assert_eq!(error.code(), "conflict");
        assert!(error.to_string().contains("`Used`"), "{error}");
        let removed = change_of(fixture.run(|t| t.remove("Used")));
        undo(&fixture, &removed);
        assert_eq!(fixture.text("Used/note.md").unwrap(), "mine");
        // Who may not see a folder does not see the change, and who may not remove cannot undo it.
        let hidden = fixture.begin_as(&[("", Tier::Read), ("New", Tier::None)], Effect::Write);
        assert_eq!(code({ hidden }.undo(&made)), "not_found");
        let again = change_of(fixture.run(|t| t.create_folder("Again")));
        let mut writer = fixture.begin_as(&[("", Tier::Write)], Effect::Write);
        assert_eq!(code(writer.undo(&again)), "permission_denied");
    });
}

#[test]
fn a_renamed_folder_leaves_no_empty_one_when_it_goes_back() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("F/a.md", "a")]);
        let renamed = change_of(fixture.run(|t| t.rename("F", "G")));
        undo(&fixture, &renamed);
        assert!(fixture.begin().stat("G").is_err());
        assert_eq!(fixture.text("F/a.md").unwrap(), "a");
    });
}

#[test]
fn data_of_components_is_restored() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("a.md", "a")]);
        let made = change_of(fixture.run(|t| t.store_set("key", b"1")));
        let set = change_of(fixture.run(|t| t.store_set("key", b"2")));
        let both = change_of(fixture.run(|t| {
            t.store_remove("key")?;
            t.write("a.md", b"b", None)
        }));
        let error = begin_as_ana(&fixture).undo(&made).unwrap_err();
        assert_eq!(error.code(), "conflict");
        assert!(error.to_string().contains("component `test`"), "{error}");
        undo(&fixture, &both);
        assert_eq!(value(&fixture, "key").unwrap(), b"2");
        assert_eq!(fixture.text("a.md").unwrap(), "a");
        undo(&fixture, &set);
        assert_eq!(value(&fixture, "key").unwrap(), b"1");
        let undone = undo(&fixture, &made);
        assert_eq!(value(&fixture, "key"), None);
        undo(&fixture, &undone);
        assert_eq!(value(&fixture, "key").unwrap(), b"1");
    });
}

#[test]
fn changes_of_data_alone_are_seen_by_their_caller_and_the_owner() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[]);
        let change = change_of(fixture.run(|t| t.store_set("key", b"1")));
        for (shown, is_visible) in [
            (DataChanges::Hidden, false),
            (DataChanges::Of("bob".into()), false),
            (DataChanges::Of("ana".into()), true),
            (DataChanges::All, true),
        ] {
            let mut transaction = fixture.begin();
            transaction.show_data_changes(shown);
            let history = transaction.history(None, None, 9).unwrap();
            assert_eq!(history.len(), usize::from(is_visible));
            assert_eq!(transaction.undo(&change).is_ok(), is_visible);
        }
    });
}

#[test]
fn a_run_takes_back_folders_and_data_too() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[]);
        fixture.run(|t| t.store_set("key", b"before"));
        let run = RunSelection {
            caller: "eve".into(),
            since: 0,
            until: None,
        };
        let by = CommitNote {
            caller: "eve".into(),
            ..note()
        };
        for round in 0..2 {
            let mut transaction = fixture.begin();
            transaction
                .store_set("key", format!("{round}").as_bytes())
                .unwrap();
            transaction.store_set("other", b"new").unwrap();
            transaction.create_folder(&format!("F{round}")).unwrap();
            transaction.commit(by.clone()).unwrap();
        }
        fixture.put("F1/used.md", "mine");
        let mut transaction = fixture.begin();
        let undone = transaction.undo_run(&run).unwrap();
        let conflicts: Vec<&str> = undone.conflicts.iter().map(|c| c.path.as_str()).collect();
        assert_eq!(conflicts, ["F1"]);
        let change = transaction.commit(note()).unwrap().change.unwrap();
        assert_eq!(value(&fixture, "key").unwrap(), b"before");
        assert_eq!(value(&fixture, "other"), None);
        assert!(fixture.begin().stat("F0").is_err());
        assert_eq!(fixture.text("F1/used.md").unwrap(), "mine");
        undo(&fixture, &change);
        assert_eq!(value(&fixture, "key").unwrap(), b"1");
        assert!(fixture.begin().stat("F0").is_ok());
        // Data that somebody else changed since stays.
        fixture.run(|t| t.store_set("key", b"later"));
        let undone = fixture.begin().undo_run(&run).unwrap();
        let shown = "the data of the component `test`";
        let mut conflicts = undone.conflicts.iter();
        assert!(conflicts.any(|conflict| conflict.path == shown));
    });
}
