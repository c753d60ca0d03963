//! Paths that should never reach anything, and rules that must hold everywhere.

use std::fs;

use proptest::prelude::*;

use super::*;

const TWINS: &[&str] = &[
    ".obsidian",
    ".OBSIDIAN",
    "\u{2024}obsidian",
    "\u{ff0e}obsidian",
    "\u{fe52}obsidian",
    "\u{200b}.obsidian",
    ".\u{200d}obsidian",
    "\u{202e}.obsidian",
    "\u{feff}.git",
    "\u{ad}.git",
    "\u{2060}\u{200e}.notehost",
    " .obsidian",
    "\u{e0001}.obsidian",
    "\u{fe0f}.obsidian",
    "\u{3002}obsidian",
    ".notehost",
    ".trash",
    "\u{2026}",
    "\u{200b}",
    "...",
];

#[test]
fn every_twin_of_a_dot_folder_is_closed() {
    let fixture = Fixture::new(&[
        (".obsidian/app.json", "{}"),
        (".notehost/trash/x", "t"),
        ("a.md", "a"),
    ]);
    let before = fixture.files();
    for twin in TWINS {
        let mut transaction = fixture.begin();
        for path in [
            twin.to_string(),
            format!("{twin}/app.json"),
            format!("Work/{twin}/x.md"),
        ] {
            assert!(transaction.read(&path).is_err(), "{path:?}");
            assert!(transaction.stat(&path).is_err(), "{path:?}");
            assert!(transaction.list(&path, true, None, 10).is_err(), "{path:?}");
            assert_eq!(
                code(transaction.create(&path, b"x")),
                "validation_error",
                "{path:?}"
            );
            assert_eq!(
                code(transaction.create_folder(&path)),
                "validation_error",
                "{path:?}"
            );
            assert_eq!(
                code(transaction.rename("a.md", &path)),
                "validation_error",
                "{path:?}"
            );
            assert_eq!(
                code(transaction.write(&path, b"x", None)),
                "not_found",
                "{path:?}"
            );
            assert_eq!(code(transaction.remove(&path)), "not_found", "{path:?}");
            assert_eq!(transaction.tier_at(&path), Tier::None, "{path:?}");
        }
        assert!(transaction.has_no_changes());
    }
    assert_eq!(fixture.files(), before);
    assert_eq!(fixture.text(".notehost/trash/x").unwrap(), "t");
}

/// A vault can be brought in with anything in the place of a folder that a commit needs.
#[test]
fn what_stands_in_the_way_of_the_store_is_a_failure_and_no_conflict() {
    for is_link in [true, false] {
        let fixture = Fixture::new(&[("a.md", "a")]);
        fs::create_dir_all(fixture.folder().join(".notehost")).unwrap();
        let store = fixture.folder().join(".notehost/store");
        let outside = fixture.temp.path().join("outside");
        fs::create_dir(&outside).unwrap();
        match is_link {
            true => std::os::unix::fs::symlink(&outside, &store).unwrap(),
            false => fs::write(&store, "a file").unwrap(),
        }
        let mut transaction = fixture.begin();
        transaction.store_set("key", b"value").unwrap();
        transaction.write("a.md", b"b", None).unwrap();
        let Err(CommitError::Failed(error)) = transaction.commit(note()) else {
            panic!("it cannot land, now or later");
        };
        assert_eq!(error.code(), "unavailable", "{error}");
        assert!(error.hint().unwrap().contains("`.notehost/store`"));
        assert_eq!(fixture.text("a.md").unwrap(), "a");
        let trash = fixture.folder().join(".notehost/trash");
        match is_link {
            true => std::os::unix::fs::symlink(&outside, &trash).unwrap(),
            false => fs::write(&trash, "a file").unwrap(),
        }
        let mut transaction = fixture.begin();
        transaction.remove("a.md").unwrap();
        let removed = transaction.commit(note());
        assert!(
            matches!(removed, Err(CommitError::Failed(_))),
            "{removed:?}"
        );
        assert_eq!(fixture.text("a.md").unwrap(), "a");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
        assert!(fixture.leftovers().is_empty());
    }
}

#[test]
fn malformed_paths_are_refused_with_a_reason() {
    let fixture = Fixture::new(&[("a.md", "a")]);
    let long = "x".repeat(256);
    let deep = "d/".repeat(2100) + "x";
    for path in [
        "../a.md",
        "/etc/passwd",
        "a//b",
        "a/",
        "./a.md",
        "a/../b",
        "a\\b",
        "a\0b",
        "a\nb",
        "\u{7f}",
        &long,
        &deep,
    ] {
        let mut transaction = fixture.begin();
        assert_eq!(code(transaction.read(path)), "validation_error", "{path:?}");
        assert_eq!(
            code(transaction.create(path, b"")),
            "validation_error",
            "{path:?}"
        );
        assert_eq!(transaction.tier_at(path), Tier::None);
    }
    let mut transaction = fixture.begin();
    for new in [
        "a?.md",
        "a:b.md",
        "a.md.",
        "a ",
        "con.md",
        "LPT1",
        "a\u{202e}b.md",
        "x<y",
    ] {
        assert_eq!(
            code(transaction.create(new, b"")),
            "validation_error",
            "{new:?}"
        );
    }
    fixture.put("odd?: name .md", "odd");
    assert_eq!(
        &*fixture.begin().read("odd?: name .md").unwrap().bytes,
        b"odd"
    );
}

#[test]
fn an_action_does_no_more_than_it_was_declared_to_do() {
    let fixture = Fixture::new(&[("a.md", "a")]);
    let mut reading = fixture.begin_as(&[("", Tier::Delete)], Effect::Read);
    assert_eq!(code(reading.write("a.md", b"", None)), "permission_denied");
    assert_eq!(code(reading.create("b.md", b"")), "permission_denied");
    assert_eq!(code(reading.rename("a.md", "b.md")), "permission_denied");
    assert_eq!(code(reading.create_folder("b")), "permission_denied");
    assert_eq!(code(reading.store_set("k", b"")), "permission_denied");
    assert_eq!(code(reading.undo("x")), "permission_denied");
    let mut writing = fixture.begin_as(&[("", Tier::Delete)], Effect::Write);
    assert_eq!(code(writing.remove("a.md")), "permission_denied");
    assert!(writing.has_no_changes());
}

#[test]
fn tiers_hold_and_say_what_an_admin_can_do() {
    let fixture = Fixture::new(&[("Work/a.md", "a"), ("Diary/s.md", "s"), ("Ro/r.md", "r")]);
    let rules = [
        ("", Tier::Read),
        ("Work", Tier::Write),
        ("Diary", Tier::None),
    ];
    let mut transaction = fixture.begin_as(&rules, Effect::Delete);
    let error = transaction.write("Ro/r.md", b"x", None).unwrap_err();
    assert_eq!(error.code(), "permission_denied");
    assert_eq!(
        error.hint().unwrap(),
        "an admin can allow it: `notehost permission set Ro rw`"
    );
    let error = transaction.remove("Work/a.md").unwrap_err();
    assert_eq!(
        error.hint().unwrap(),
        "an admin can allow it: `notehost permission set Work rwd`"
    );
    // There or not, a hidden place answers the same.
    let (there, not) = (
        transaction.create("Diary/s.md", b"").unwrap_err(),
        transaction.create("Diary/t.md", b"").unwrap_err(),
    );
    assert_eq!(
        (there.code().as_str(), not.code().as_str()),
        ("permission_denied", "permission_denied")
    );
    assert_eq!(there.message.replace("s.md", "t.md"), not.message);
    assert_eq!(
        code(transaction.create("diary/t.md", b"")),
        "permission_denied"
    );
    assert_eq!(
        code(transaction.write("Diary/s.md", b"", None)),
        "not_found"
    );
    assert_eq!(
        code(transaction.rename("Work/a.md", "Diary/a.md")),
        "permission_denied"
    );
    assert_eq!(
        code(transaction.rename("Diary/s.md", "Work/s.md")),
        "not_found"
    );
    assert!(transaction.has_no_changes());
}

#[test]
fn renaming_and_removing_a_folder_leaves_hidden_files_alone() {
    let files = [
        ("P/a.md", "a"),
        ("P/sub/b.md", "b"),
        ("P/Private/s.md", "s"),
        ("P/.hidden", "h"),
    ];
    let rules = [("", Tier::Delete), ("P/Private", Tier::None)];
    for act in ["rename", "remove"] {
        let fixture = Fixture::new(&files);
        let mut transaction = fixture.begin_as(&rules, Effect::Delete);
        if act == "rename" {
            transaction.rename("P", "Q").unwrap();
            assert_eq!(&*transaction.read("Q/sub/b.md").unwrap().bytes, b"b");
        } else {
            assert_eq!(transaction.remove("P").unwrap().len(), 2);
        }
        assert_eq!(code(transaction.read("P/a.md")), "not_found");
        assert_eq!(code(transaction.list("P", true, None, 10)), "not_found");
        let committed = transaction.commit(note()).unwrap();
        assert_eq!(committed.files.len(), 2);
        assert_eq!(fixture.text("P/Private/s.md").unwrap(), "s");
        assert_eq!(fixture.text("P/.hidden").unwrap(), "h");
        assert!(!fixture.folder().join("P/sub").exists());
        assert_eq!(fixture.text("Q/a.md").is_some(), act == "rename");
    }
}

#[test]
fn files_and_folders_that_are_read_only_on_disk_are_so_for_root_as_well() {
    let fixture = Fixture::new(&[("a.md", "a"), ("F/b.md", "b")]);
    fixture.set_mode("a.md", 0o444);
    fixture.set_mode("F", 0o555);
    let mut transaction = fixture.begin();
    assert_eq!(code(transaction.write("a.md", b"x", None)), "read_only");
    assert_eq!(code(transaction.remove("a.md")), "read_only");
    assert_eq!(code(transaction.write("F/b.md", b"x", None)), "read_only");
    assert_eq!(code(transaction.create("F/c.md", b"x")), "read_only");
    fixture.set_mode("F", 0o755);
}

#[test]
fn a_second_writer_learns_the_holder() {
    let fixture = Fixture::new(&[("a.md", "a")]);
    let error = Vault::open(
        "test",
        &fixture.folder(),
        &fixture.state(),
        VaultSettings::default(),
    )
    .unwrap_err();
    assert_eq!(error.code(), "unavailable");
    assert!(
        error
            .message
            .contains(&format!("process {}", std::process::id())),
        "{}",
        error.message
    );
    assert!(error.hint().is_some());
}

fn hostile_path() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("..".to_owned()),
        Just(".".to_owned()),
        Just(String::new()),
        Just("a".to_owned()),
        Just("link".to_owned()),
        Just("Diary".to_owned()),
        Just("secret.md".to_owned()),
        Just("outside".to_owned()),
        "\\PC{0,3}",
        "[.\\\\/\u{0}\u{200b}\u{2024}a]{1,4}",
        (0..TWINS.len()).prop_map(|index| TWINS[index].to_owned()),
    ];
    (proptest::collection::vec(part, 1..5), any::<bool>()).prop_map(|(parts, absolute)| {
        if absolute {
            format!("/{}", parts.join("/"))
        } else {
            parts.join("/")
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn no_path_touches_what_is_outside_or_closed(paths in proptest::collection::vec(hostile_path(), 1..8)) {
        let fixture = Fixture::new(&[("a/x.md", "x"), ("Diary/secret.md", "secret"), (".obsidian/app.json", "obsidian"), (".git/config", "git")]);
        let outside = fixture.temp.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("secret.md"), "secret").unwrap();
        std::os::unix::fs::symlink("../outside", fixture.folder().join("link")).unwrap();
        let rules = [("", Tier::Delete), ("Diary", Tier::None)];
        for path in &paths {
            let mut transaction = fixture.begin_as(&rules, Effect::Delete);
            if let Ok(blob) = transaction.read(path) {
                prop_assert_eq!(&*blob.bytes, b"x");
            }
            for page in [transaction.list(path, true, None, 100), transaction.list(path, false, None, 100)].into_iter().flatten() {
                for entry in page.entries {
                    prop_assert!(!entry.path.starts_with("Diary"));
                    prop_assert!(!entry.path.split('/').any(path::is_closed));
                }
            }
            let _ = transaction.write(path, b"x", None);
            let _ = transaction.create(path, b"x");
            let _ = transaction.rename("a/x.md", path);
            let _ = transaction.create_folder(path);
            let _ = transaction.restore(path, Some(path));
            let _ = transaction.store_set(path, b"x");
            let _ = transaction.resolve(path, Some(path));
            let _ = transaction.before(path, path);
            let _ = transaction.commit(note());
        }
        prop_assert_eq!(fs::read_dir(fixture.temp.path()).unwrap().count(), 3);
        prop_assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
        prop_assert_eq!(fixture.text("Diary/secret.md").unwrap(), "secret");
        prop_assert_eq!(fs::read_dir(fixture.folder().join("Diary")).unwrap().count(), 1);
        for (folder, file) in [(".obsidian", "app.json"), (".git", "config")] {
            prop_assert_eq!(fs::read_dir(fixture.folder().join(folder)).unwrap().count(), 1);
            prop_assert!(fixture.folder().join(folder).join(file).exists());
        }
        let dots: Vec<_> = fs::read_dir(fixture.folder()).unwrap().flatten()
            .filter(|entry| path::is_closed(entry.file_name().to_str().unwrap())).collect();
        prop_assert!(dots.len() <= 3, "{dots:?}");
        prop_assert!(fixture.leftovers().is_empty());
    }
}
