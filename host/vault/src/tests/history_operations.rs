//! History, earlier versions, undo.

use super::*;

fn change_of<T>(done: (T, Committed)) -> String {
    done.1.change.unwrap()
}

#[test]
fn history_follows_a_note_through_renames() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[]);
        let first = change_of(fixture.run(|t| t.create("a.md", b"1")));
        let second = change_of(fixture.run(|t| t.write("a.md", b"2", None)));
        let third = change_of(fixture.run(|t| t.rename("a.md", "F/b.md")));
        let other = change_of(fixture.run(|t| t.create("other.md", b"")));
        let fourth = change_of(fixture.run(|t| t.write("F/b.md", b"3", None)));
        let mut transaction = fixture.begin();
        let ids = |changes: Vec<Change>| {
            changes
                .into_iter()
                .map(|change| change.id)
                .collect::<Vec<_>>()
        };
        let all = [fourth.clone(), third.clone(), second.clone(), first.clone()];
        assert_eq!(
            ids(transaction.history(Some("F/b.md"), None, 10).unwrap()),
            all
        );
        assert_eq!(
            ids(transaction
                .history(Some("F/b.md"), Some(&third), 10)
                .unwrap()),
            all[2..]
        );
        assert_eq!(
            ids(transaction.history(None, None, 2).unwrap()),
            [fourth.clone(), other.clone()]
        );
        assert_eq!(
            ids(transaction.history(None, Some(&other), 2).unwrap()),
            [third.clone(), second.clone()]
        );
        let change = &transaction.history(Some("f/B.md"), None, 2).unwrap()[1];
        assert_eq!(
            (change.files[0].kind, change.files[0].from.as_deref()),
            (ChangeKind::Rename, Some("a.md"))
        );
        assert_eq!(
            (change.caller.as_str(), change.action.as_str()),
            ("ana", "document.test")
        );
        assert_eq!(
            &*transaction
                .before("F/b.md", &fourth)
                .unwrap()
                .unwrap()
                .bytes,
            b"2"
        );
        assert_eq!(
            &*transaction.before("a.md", &second).unwrap().unwrap().bytes,
            b"1"
        );
        assert_eq!(transaction.before("a.md", &first).unwrap(), None);
        assert_eq!(code(transaction.before("other.md", &first)), "not_found");
        assert_eq!(code(transaction.before("F/b.md", "nonsense")), "not_found");
    });
}

#[test]
fn undo_and_redo_of_a_change() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("a.md", "a\r\n"), ("b.md", "b"), ("F/c.md", "c")]);
        fixture.set_mode("a.md", 0o600);
        let before = fixture.files();
        let change = change_of(fixture.run(|t| {
            t.write("a.md", b"changed", None)?;
            t.remove("b.md")?;
            t.rename("F", "G")?;
            t.write("G/c.md", b"also changed", None)?;
            t.create("new.md", b"new")
        }));
        let after = fixture.files();
        let undo = change_of(fixture.run(|t| t.undo(&change)));
        assert_eq!(fixture.files(), before);
        let history = fixture.begin().history(None, None, 9).unwrap();
        assert_eq!(
            (history[0].undoes.as_deref(), history[1].undone),
            (Some(change.as_str()), true)
        );
        assert_eq!(code(fixture.begin().undo(&change)), "conflict");
        fixture.run(|t| t.undo(&undo));
        assert_eq!(fixture.files(), after);
        let history = fixture.begin().history(None, None, 9).unwrap();
        assert_eq!(
            history
                .iter()
                .map(|change| change.undone)
                .collect::<Vec<_>>(),
            [false, true, false]
        );
        fixture.run(|t| t.undo(&change));
        assert_eq!(fixture.files(), before);
    });
}

#[test]
fn undo_restores_a_mode() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("a.md", "1")]);
        fixture.set_mode("a.md", 0o755);
        let change = change_of(fixture.run(|t| t.write("a.md", b"2", None)));
        fixture.set_mode("a.md", 0o644);
        fixture.run(|t| t.undo(&change));
        assert_eq!(fixture.mode("a.md"), 0o755);
    });
}

#[test]
fn undo_refuses_files_that_changed_since() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("a.md", "1"), ("b.md", "1")]);
        let change = change_of(fixture.run(|t| {
            t.write("a.md", b"2", None)?;
            t.write("b.md", b"2", None)
        }));
        fixture.put("b.md", "edited");
        let error = fixture.begin().undo(&change).unwrap_err();
        assert_eq!(error.code(), "conflict");
        assert_eq!(error.details.unwrap()["path"], "b.md");
        let removed = change_of(fixture.run(|t| t.remove("a.md")));
        fixture.put("a.md", "somebody else's");
        assert_eq!(code(fixture.begin().undo(&removed)), "already_exists");
    });
}

#[test]
fn undo_needs_the_same_rights_as_doing() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("Work/a.md", "1")]);
        let created = change_of(fixture.run(|t| t.create("Work/new.md", b"")));
        let written = change_of(fixture.run(|t| t.write("Work/a.md", b"2", None)));
        let write = |tier| fixture.begin_as(&[("", tier)], Effect::Write);
        assert_eq!(code(write(Tier::Write).undo(&created)), "permission_denied");
        assert_eq!(code(write(Tier::Read).undo(&written)), "permission_denied");
        assert_eq!(code(write(Tier::None).undo(&written)), "not_found");
        write(Tier::Write).undo(&written).unwrap();
        write(Tier::Delete).undo(&created).unwrap();
    });
}

#[test]
fn changes_omit_hidden_files() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[
            ("Diary/s.md", "secret"),
            ("Work/a.md", "a"),
            ("Diary/t.md", "t"),
        ]);
        let change = change_of(fixture.run(|t| {
            t.write("Diary/s.md", b"more secret", None)?;
            t.rename("Diary/t.md", "Work/t.md")?;
            t.write("Work/a.md", b"b", None)
        }));
        let only = change_of(fixture.run(|t| t.write("Diary/s.md", b"x", None)));
        let rules = [("", Tier::Delete), ("Diary", Tier::None)];
        let mut transaction = fixture.begin_as(&rules, Effect::Delete);
        let history = transaction.history(None, None, 9).unwrap();
        assert_eq!(history.len(), 1);
        assert!(!format!("{history:?}").contains("Diary"));
        let t = history[0]
            .files
            .iter()
            .find(|file| file.path == "Work/t.md")
            .unwrap();
        assert_eq!((t.kind, &t.before), (ChangeKind::Create, &None));
        assert_eq!(transaction.before("Work/t.md", &change).unwrap(), None);
        assert_eq!(code(transaction.before("Diary/s.md", &change)), "not_found");
        assert_eq!(code(transaction.undo(&only)), "not_found");
        assert_eq!(
            code(transaction.history(Some("Diary/s.md"), None, 9)),
            "not_found"
        );
        assert_eq!(
            transaction
                .history(Some("Work/t.md"), None, 9)
                .unwrap()
                .len(),
            1
        );
    });
}

#[test]
fn old_and_excess_changes_are_pruned() {
    let fixture = Fixture::new(&[("a.md", "0")]);
    let changes: Vec<String> = (1..20u8)
        .map(|round| change_of(fixture.run(|t| t.write("a.md", &[round; 1000], None))))
        .collect();
    let vault = fixture.vault.as_ref().unwrap();
    vault
        .files()
        .history
        .prune_now(&VaultSettings {
            history_max_bytes: 5000,
            ..VaultSettings::default()
        })
        .unwrap();
    let left = fixture.begin().history(None, None, 100).unwrap();
    assert!((1..=6).contains(&left.len()), "{}", left.len());
    assert_eq!(code(fixture.begin().undo(&changes[0])), "not_found");
    fixture.run(|t| t.undo(&changes[18]));
    assert_eq!(fixture.text("a.md").unwrap().into_bytes(), [18; 1000]);
    vault
        .files()
        .history
        .prune_now(&VaultSettings {
            history_max_age: Duration::ZERO,
            ..VaultSettings::default()
        })
        .unwrap();
    std::thread::sleep(Duration::from_millis(5));
    vault
        .files()
        .history
        .prune_now(&VaultSettings {
            history_max_age: Duration::ZERO,
            ..VaultSettings::default()
        })
        .unwrap();
    assert!(fixture.begin().history(None, None, 100).unwrap().is_empty());
}

#[test]
fn read_only_vaults_need_no_lock_and_refuse_writes() {
    let fixture = Fixture::new(&[]);
    let made = change_of(fixture.run(|t| t.create("a.md", b"one\n")));
    let changed = change_of(fixture.run(|t| t.write("a.md", b"two\n", None)));
    // The fixture holds the lock all the while.
    let looking = Vault::open_read_only("test", &fixture.folder(), &fixture.state()).unwrap();
    let looking = Arc::new(looking);
    let mut transaction = looking.begin(Access {
        rules: Arc::new(Prefixes(vec![(String::new(), Tier::Delete)])),
        effect: Effect::Delete,
        component: "test".into(),
        limits: Limits::default(),
    });
    let shown = |transaction: &mut Transaction, id: &str| {
        let (change, files) = transaction.past_change(id).unwrap();
        assert_eq!(change.id, id);
        let [file] = <[StagedChange; 1]>::try_from(files).unwrap();
        (file.kind, unified_diff(&file))
    };
    let (kind, diff) = shown(&mut transaction, &changed);
    assert_eq!(kind, ChangeKind::Modify);
    assert!(diff.contains("-one\n+two\n"), "{diff}");
    let (kind, diff) = shown(&mut transaction, &made);
    assert_eq!(kind, ChangeKind::Create);
    assert!(diff.contains("+one\n"), "{diff}");
    transaction.undo(&changed).unwrap();
    assert!(transaction.commit(note()).is_err());
    assert_eq!(fixture.text("a.md").as_deref(), Some("two\n"));
}
