//! Staging and landing: what a call sees of its own writes, and what is on disk afterwards.

use super::*;

fn kinds(changes: &[StagedChange]) -> Vec<(String, ChangeKind)> {
    changes
        .iter()
        .map(|change| (change.path.clone(), change.kind))
        .collect()
}

#[test]
fn staged_writes_are_visible_only_to_their_call() {
    let fixture = Fixture::new(&[("a.md", "one\n"), ("b.md", "two\n")]);
    let mut transaction = fixture.begin();
    transaction.write("a.md", b"one\nmore\n", None).unwrap();
    transaction.create("New/Folder/c.md", b"c\n").unwrap();
    transaction.rename("b.md", "New/d.md").unwrap();
    transaction.create_folder("Empty").unwrap();
    assert_eq!(&*transaction.read("a.md").unwrap().bytes, b"one\nmore\n");
    assert_eq!(&*transaction.read("New/d.md").unwrap().bytes, b"two\n");
    assert_eq!(code(transaction.read("b.md")), "not_found");
    assert_eq!(transaction.stat("New/Folder").unwrap().kind, Kind::Folder);
    let listed: Vec<_> = transaction
        .list("", true, None, 100)
        .unwrap()
        .entries
        .into_iter()
        .map(|e| (e.path, e.size))
        .collect();
    let expected = [
        ("Empty", 0),
        ("New", 0),
        ("New/Folder", 0),
        ("New/Folder/c.md", 2),
        ("New/d.md", 4),
        ("a.md", 9),
    ];
    assert_eq!(listed, expected.map(|(path, size)| (path.to_owned(), size)));
    let changes = transaction.changes();
    assert_eq!(
        kinds(&changes),
        [
            ("New/Folder/c.md", ChangeKind::Create),
            ("New/d.md", ChangeKind::Rename),
            ("a.md", ChangeKind::Modify)
        ]
        .map(|(path, kind)| (path.to_owned(), kind))
    );
    assert_eq!((changes[2].added, changes[2].removed), (1, 0));
    assert_eq!(fixture.text("a.md").unwrap(), "one\n");
    let committed = transaction.commit(note()).unwrap();
    assert_eq!(committed.files.len(), 3);
    assert_eq!(fixture.text("New/Folder/c.md").unwrap(), "c\n");
    assert_eq!(fixture.text("New/d.md").unwrap(), "two\n");
    assert!(fixture.folder().join("Empty").is_dir());
    assert!(fixture.leftovers().is_empty());
}

#[test]
fn changes_without_net_effect_are_dropped() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("a.md", "a")]);
        let mut transaction = fixture.begin();
        transaction.rename("a.md", "b.md").unwrap();
        transaction.rename("b.md", "a.md").unwrap();
        transaction.write("a.md", b"b", None).unwrap();
        transaction.write("a.md", b"a", None).unwrap();
        transaction.create("c.md", b"c").unwrap();
        assert!(transaction.remove("c.md").unwrap().is_empty());
        assert!(transaction.changes().is_empty());
        assert_eq!(transaction.commit(note()).unwrap().change, None);
    });
}

#[test]
fn modes_are_kept_and_new_files_get_the_default_mode() {
    let fixture = Fixture::new(&[("a.md", "a"), ("b.md", "b")]);
    fixture.set_mode("a.md", 0o640);
    fixture.set_mode("b.md", 0o755);
    fixture.run(|transaction| {
        transaction.write("a.md", b"x", None)?;
        transaction.rename("b.md", "c.md")?;
        transaction.write("c.md", b"y", None)?;
        transaction.create("new.md", b"")
    });
    assert_eq!((fixture.mode("a.md"), fixture.mode("c.md")), (0o640, 0o755));
    let plain = fixture.temp.path().join("plain");
    fs::write(&plain, "").unwrap();
    assert_eq!(
        fixture.mode("new.md"),
        fs::metadata(plain).unwrap().permissions().mode() & 0o7777
    );
}

#[test]
fn etags_guard_a_write() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("a.md", "a")]);
        let mut transaction = fixture.begin();
        let etag = transaction.read("a.md").unwrap().etag;
        let next = transaction.write("a.md", b"b", Some(&etag)).unwrap();
        assert_eq!(
            code(transaction.write("a.md", b"c", Some(&etag))),
            "conflict"
        );
        transaction.write("a.md", b"c", Some(&next)).unwrap();
    });
}

#[test]
fn two_files_can_change_places_in_one_commit() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("a.md", "a"), ("b.md", "b"), ("c", "c")]);
        let (_, committed) = fixture.run(|transaction| {
            transaction.rename("a.md", "t.md")?;
            transaction.rename("b.md", "a.md")?;
            transaction.rename("t.md", "b.md")?;
            // A file makes room for a folder of its name, and moves into it.
            transaction.rename("c", "t")?;
            transaction.rename("t", "c/c.md")
        });
        assert_eq!(
            (fixture.text("a.md").unwrap(), fixture.text("b.md").unwrap()),
            ("b".into(), "a".into())
        );
        assert_eq!(fixture.text("c/c.md").unwrap(), "c");
        let change = committed.change.unwrap();
        // Back again the folder would be in the file's way, and folders are not part of a change: it is reported, not forced.
        assert_eq!(code(fixture.begin().undo(&change)), "already_exists");
        let (_, committed) = fixture.run(|transaction| {
            transaction.rename("a.md", "t.md")?;
            transaction.rename("b.md", "a.md")?;
            transaction.rename("t.md", "b.md")
        });
        fixture.run(|transaction| transaction.undo(&committed.change.clone().unwrap()));
        assert_eq!(
            (fixture.text("a.md").unwrap(), fixture.text("b.md").unwrap()),
            ("b".into(), "a".into())
        );
    });
}

#[test]
fn case_only_renames_work() {
    let fixture = Fixture::new(&[("plan.md", "p"), ("work/x.md", "x")]);
    fixture.run(|transaction| {
        transaction.rename("plan.md", "Plan.md")?;
        transaction.rename("work", "Work")
    });
    assert_eq!(
        fixture.files().into_keys().collect::<Vec<_>>(),
        ["Plan.md", "Work/x.md"]
    );
    assert!(!fixture.folder().join("work").exists());
}

#[test]
fn occupied_and_impossible_places_are_refused() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("a.md", "a"), ("F/b.md", "b")]);
        let mut transaction = fixture.begin();
        assert_eq!(code(transaction.create("a.md", b"")), "already_exists");
        assert_eq!(code(transaction.create("F", b"")), "already_exists");
        assert_eq!(code(transaction.create_folder("F")), "already_exists");
        assert_eq!(code(transaction.rename("a.md", "F/b.md")), "already_exists");
        assert_eq!(code(transaction.rename("F", "F/sub")), "validation_error");
        assert_eq!(
            code(transaction.create("a.md/x.md", b"")),
            "validation_error"
        );
        assert_eq!(code(transaction.write("F", b"", None)), "validation_error");
        assert_eq!(code(transaction.remove("")), "validation_error");
        transaction.access.limits.max_staged_files = 1;
        transaction.create("c.md", b"").unwrap();
        assert_eq!(code(transaction.create("d.md", b"")), "too_large");
        assert_eq!(code(transaction.create_folder("G")), "too_large");
        transaction.access.limits.max_staged_files = 10;
        transaction.access.limits.max_staged_bytes = 10;
        assert_eq!(
            code(transaction.create("e.md", b"12345678901")),
            "too_large"
        );
    });
}

#[test]
fn removed_files_are_in_the_trash_and_can_be_restored() {
    let fixture = Fixture::new(&[("Work/a.md", "a"), ("Diary/s.md", "s")]);
    fixture.set_mode("Work/a.md", 0o600);
    let (ids, _) = fixture.run(|transaction| {
        transaction.remove("Diary/s.md")?;
        transaction.remove("Work")
    });
    assert_eq!(ids.len(), 1);
    assert!(!fixture.folder().join("Work").exists());
    let rules = [("", Tier::Delete), ("Diary", Tier::None)];
    let mut transaction = fixture.begin_as(&rules, Effect::Delete);
    let trash = transaction.trash(None, 10).unwrap();
    assert_eq!(trash.len(), 1);
    assert_eq!((trash[0].path.as_str(), trash[0].size), ("Work/a.md", 1));
    let hidden = fixture
        .begin()
        .trash(None, 10)
        .unwrap()
        .into_iter()
        .find(|item| item.path == "Diary/s.md")
        .unwrap();
    assert_eq!(code(transaction.restore(&hidden.id, None)), "not_found");
    assert_eq!(code(transaction.restore("../../../etc", None)), "not_found");
    transaction.create("Work/a.md", b"other").unwrap();
    assert_eq!(code(transaction.restore(&ids[0], None)), "already_exists");
    assert_eq!(
        transaction.restore(&ids[0], Some("Work/b.md")).unwrap(),
        "Work/b.md"
    );
    assert!(transaction.trash(None, 10).unwrap().is_empty());
    transaction.commit(note()).unwrap();
    assert_eq!(fixture.text("Work/b.md").unwrap(), "a");
    assert_eq!(fixture.mode("Work/b.md"), 0o600);
    assert_eq!(fixture.begin().trash(None, 10).unwrap().len(), 1);
    assert_eq!(
        fs::read_dir(fixture.folder().join(".notehost/trash"))
            .unwrap()
            .count(),
        2
    );
}

#[test]
fn removing_and_restoring_in_one_call_is_nothing() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("a.md", "a")]);
        let mut transaction = fixture.begin();
        let ids = transaction.remove("a.md").unwrap();
        assert_eq!(transaction.trash(None, 10).unwrap().len(), 1);
        transaction.restore(&ids[0], None).unwrap();
        assert!(transaction.changes().is_empty());
        assert_eq!(transaction.commit(note()).unwrap().change, None);
        assert_eq!(fixture.text("a.md").unwrap(), "a");
    });
}

#[test]
fn a_removed_name_can_be_used_again_in_the_same_call() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("a.md", "old\n")]);
        let mut transaction = fixture.begin();
        transaction.remove("a.md").unwrap();
        transaction.create("a.md", b"new\n").unwrap();
        let changes = transaction.changes();
        assert_eq!(
            (changes[0].kind, changes[0].added, changes[0].removed),
            (ChangeKind::Modify, 1, 1)
        );
        let change = transaction.commit(note()).unwrap().change.unwrap();
        assert_eq!(fixture.text("a.md").unwrap(), "new\n");
        assert_eq!(fixture.begin().trash(None, 9).unwrap().len(), 1);
        fixture.run(|transaction| transaction.undo(&change));
        assert_eq!(fixture.text("a.md").unwrap(), "old\n");
    });
}

#[test]
fn the_store_is_private_transactional_and_bounded() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("a.md", "a")]);
        let long = "Ä/".repeat(60);
        let (_, committed) = fixture.run(|transaction| {
            transaction.store_set("cards/1", b"one")?;
            transaction.store_set("Cards/1", b"other")?;
            transaction.store_set(&long, b"long")?;
            assert_eq!(transaction.store_get("cards/1")?.unwrap(), b"one");
            transaction.write("a.md", b"b", None)
        });
        assert_eq!(
            committed.files.len(),
            1,
            "the store is not part of the notes"
        );
        let mut transaction = fixture.begin();
        assert_eq!(
            transaction.store_keys("").unwrap(),
            ["Cards/1", "cards/1", &long]
        );
        assert_eq!(transaction.store_keys("cards").unwrap(), ["cards/1"]);
        assert_eq!(transaction.store_get(&long).unwrap().unwrap(), b"long");
        transaction.store_remove("cards/1").unwrap();
        assert_eq!(transaction.store_get("cards/1").unwrap(), None);
        transaction.access.limits.store_quota = 20;
        assert_eq!(code(transaction.store_set("x", &[0; 12])), "too_large");
        transaction.store_set("x", &[0; 11]).unwrap();
        assert_eq!(
            code(transaction.store_set(&"k".repeat(201), b"")),
            "validation_error"
        );
        assert!(transaction.changes().is_empty());
        assert!(transaction.commit(note()).unwrap().files.is_empty());
        let mut transaction = fixture.begin();
        assert_eq!(transaction.store_keys("").unwrap(), ["Cards/1", "x", &long]);
        transaction.access.component = "other".into();
        assert!(transaction.store_keys("").unwrap().is_empty());
        assert_eq!(
            code(transaction.list(".notehost", true, None, 10)),
            "not_found"
        );
        assert!(fixture.leftovers().is_empty());
    });
}

#[test]
fn listeners_are_notified_of_commits() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("a.md", "a")]);
        let received = Arc::new(std::sync::Mutex::new(Vec::new()));
        let sink = Arc::clone(&received);
        let vault = fixture.vault.as_ref().unwrap();
        vault.on_commit(Box::new(move |committed| {
            sink.lock().unwrap().push(committed.clone())
        }));
        fixture.run(|transaction| transaction.store_set("k", b"v"));
        let (_, committed) = fixture.run(|transaction| transaction.write("a.md", b"b", None));
        assert_eq!(*received.lock().unwrap(), [committed]);
    });
}

#[test]
fn a_full_disk_at_any_step_changes_nothing() {
    let build = || {
        Fixture::new(&[
            ("a.md", "a"),
            ("F/b.md", "b"),
            ("F/c.md", "c"),
            ("d.md", "d"),
        ])
    };
    let act = |transaction: &mut Transaction| -> Result<(), VaultError> {
        transaction.write("a.md", b"changed", None)?;
        transaction.rename("F", "G/H")?;
        transaction.remove("d.md")?;
        transaction.create("New/n.md", b"n")?;
        transaction.store_set("key", b"value")
    };
    let mut failed = 0;
    for name in FAIL_POINTS
        .iter()
        .filter(|name| name.starts_with("commit") || name.starts_with("apply"))
    {
        for nth in 1..4 {
            let mut fixture = build();
            let before = fixture.files();
            let mut transaction = fixture.begin();
            act(&mut transaction).unwrap();
            fail::injected::full_disk_at(name, nth);
            let result = transaction.commit(note());
            let was_reached = !fail::injected::clear();
            match result {
                Err(CommitError::Failed(error)) => {
                    assert!(was_reached);
                    assert_eq!(
                        (error.code().as_str(), error.message.as_str()),
                        ("unavailable", "the disk is full; nothing was changed")
                    );
                    assert_eq!(fixture.files(), before, "{name}:{nth}");
                    assert!(!fixture.folder().join("New").exists(), "{name}:{nth}");
                    assert!(!fixture.folder().join("G").exists(), "{name}:{nth}");
                    assert!(fixture.begin().trash(None, 9).unwrap().is_empty());
                    assert!(fixture.begin().history(None, None, 9).unwrap().is_empty());
                    failed += 1;
                }
                Err(CommitError::Conflict { path }) => panic!("{name}:{nth}: conflict at {path:?}"),
                Err(CommitError::Unsettled(error)) => panic!("{name}:{nth}: {error}"),
                // Past the point of no return a failure is only logged.
                Ok(_) => assert_eq!(fixture.text("G/H/b.md").unwrap(), "b", "{name}:{nth}"),
            }
            fixture.open();
            assert!(fixture.leftovers().is_empty(), "{name}:{nth}");
            if fixture.files() == before {
                let mut transaction = fixture.begin();
                act(&mut transaction).unwrap();
                transaction.commit(note()).unwrap();
            }
        }
    }
    assert!(failed > 20, "{failed}");
}

#[test]
fn diffs_show_what_would_change() {
    let fixture = Fixture::new(&[
        ("a.md", "one\r\ntwo\r\nthree"),
        ("b.md", "x\n"),
        ("d.md", "gone\n"),
    ]);
    fs::write(fixture.folder().join("pic.png"), [0u8, 1]).unwrap();
    let mut transaction = fixture.begin();
    transaction
        .write("a.md", b"one\r\n2\r\nthree", None)
        .unwrap();
    transaction.write("pic.png", &[0, 2], None).unwrap();
    transaction.rename("b.md", "c.md").unwrap();
    transaction.remove("d.md").unwrap();
    transaction.create("e.md", b"new").unwrap();
    let diffs: Vec<String> = transaction.changes().iter().map(unified_diff).collect();
    assert_eq!(
        diffs[0],
        "--- a/a.md\n+++ b/a.md\n@@ -1,3 +1,3 @@\n one\r\n-two\r\n+2\r\n three\n\\ No newline at end of file\n"
    );
    assert_eq!(diffs[1], "rename from b.md\nrename to c.md\n");
    assert_eq!(
        diffs[2],
        "--- a/d.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
    );
    assert_eq!(
        diffs[3],
        "--- /dev/null\n+++ b/e.md\n@@ -0,0 +1 @@\n+new\n\\ No newline at end of file\n"
    );
    assert_eq!(diffs[4], "binary files a/pic.png and b/pic.png differ\n");
    let long: String = (0..200_000).map(|line| format!("line {line}\n")).collect();
    transaction.create("long.md", long.as_bytes()).unwrap();
    let change = transaction
        .changes()
        .into_iter()
        .find(|change| change.path == "long.md")
        .unwrap();
    assert_eq!(change.added, 200_000);
    assert!(unified_diff(&change).len() < 300_000);
}
