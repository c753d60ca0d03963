//! Names of versions: unique, kept, bounded, and visible only where their version is.

use super::*;

fn change_of<T>(done: (T, Committed)) -> String {
    done.1.change.unwrap()
}

fn name(
    fixture: &Fixture,
    path: &str,
    version: &str,
    name: Option<&str>,
) -> Result<(), VaultError> {
    name_as(fixture, "ana", path, version, name)
}

fn name_as(
    fixture: &Fixture,
    caller: &str,
    path: &str,
    version: &str,
    name: Option<&str>,
) -> Result<(), VaultError> {
    let mut transaction = fixture.begin();
    transaction.name_version(path, version, name)?;
    assert!(!transaction.has_no_changes());
    let by = CommitNote {
        caller: caller.to_owned(),
        ..note()
    };
    match transaction.commit(by) {
        Ok(committed) => {
            assert!(committed.is_landed && committed.change.is_none());
            Ok(())
        }
        Err(CommitError::Failed(error)) => Err(error),
        Err(error) => panic!("{error:?}"),
    }
}

fn names(transaction: &mut Transaction, path: &str) -> Vec<Option<String>> {
    let versions = transaction.versions(path, None, 99).unwrap();
    versions.into_iter().map(|version| version.name).collect()
}

#[test]
fn names_follow_a_note_and_are_unique() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[]);
        let first = change_of(fixture.run(|t| t.create("a.md", b"1\n")));
        fixture.run(|t| t.write("a.md", b"2\n", None));
        name(&fixture, "a.md", &first, Some(" first ")).unwrap();
        name(&fixture, "a.md", "current", Some("second")).unwrap();
        assert_eq!(
            code(name(&fixture, "a.md", &first, Some("SECOND"))),
            "already_exists"
        );
        fixture.run(|t| t.rename("a.md", "F/b.md"));
        let shown = |name: &str| Some(name.to_owned());
        let listed = names(&mut fixture.begin(), "F/b.md");
        assert_eq!(listed, [None, shown("second"), shown("first")]);
        let read = |version: &str| fixture.begin().read_version("F/b.md", version);
        assert_eq!(&*read("First").unwrap().bytes, b"1\n");
        name(&fixture, "F/b.md", "first", Some("one")).unwrap();
        assert_eq!(code(read("first")), "not_found");
        name(&fixture, "F/b.md", "one", None).unwrap();
        assert_eq!(code(name(&fixture, "F/b.md", &first, None)), "not_found");
        for wrong in [
            "",
            " ",
            "current",
            "before-x",
            &first,
            "a\nb",
            &"n".repeat(81),
        ] {
            let refused = name(&fixture, "F/b.md", &first, Some(wrong));
            assert_eq!(code(refused), "validation_error", "{wrong:?}");
        }
        // A dry run, a reading action and a reader name nothing.
        let mut dry = fixture.begin();
        dry.name_version("F/b.md", &first, Some("dry")).unwrap();
        drop(dry);
        let mut reading = fixture.begin_as(&[("", Tier::Delete)], Effect::Read);
        assert_eq!(
            code(reading.name_version("F/b.md", &first, Some("x"))),
            "permission_denied"
        );
        let mut reader = fixture.begin_as(&[("", Tier::Read)], Effect::Write);
        assert_eq!(
            code(reader.name_version("F/b.md", &first, Some("x"))),
            "permission_denied"
        );
        let mut both = fixture.begin();
        both.create("c.md", b"").unwrap();
        assert_eq!(
            code(both.name_version("F/b.md", &first, Some("x"))),
            "validation_error"
        );
        let mut both = fixture.begin();
        both.name_version("F/b.md", &first, Some("x")).unwrap();
        both.create("c.md", b"").unwrap();
        assert!(both.commit(note()).is_err());
        assert_eq!(
            names(&mut fixture.begin(), "F/b.md"),
            [None, shown("second"), None]
        );
    });
}

#[test]
fn names_of_hidden_versions_do_not_exist() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[]);
        let secret = change_of(fixture.run(|t| t.create("Hidden/a.md", b"secret")));
        name(&fixture, "Hidden/a.md", &secret, Some("mine")).unwrap();
        fixture.run(|t| t.rename("Hidden/a.md", "Open/a.md"));
        fixture.run(|t| t.write("Open/a.md", b"public", None));
        let rules = [("", Tier::Delete), ("Hidden", Tier::None)];
        let bob = || fixture.begin_as(&rules, Effect::Write);
        assert!(names(&mut bob(), "Open/a.md").iter().all(Option::is_none));
        assert_eq!(code(bob().read_version("Open/a.md", "mine")), "not_found");
        // The same name is free for him.
        let mut naming = bob();
        naming
            .name_version("Open/a.md", "current", Some("mine"))
            .unwrap();
        naming.commit(note()).unwrap();
        assert_eq!(
            &*bob().read_version("Open/a.md", "mine").unwrap().bytes,
            b"public"
        );
        // A version named in the open is hidden with the note's stay in the hidden notebook.
        fixture.run(|t| t.rename("Open/a.md", "Hidden/a.md"));
        fixture.run(|t| t.rename("Hidden/a.md", "Open/a.md"));
        assert_eq!(code(bob().read_version("Open/a.md", "mine")), "not_found");
    });
}

#[test]
fn a_named_version_outlives_retention_within_bounds() {
    let mut fixture = Fixture::new(&[]);
    let settings = |age, bytes| VaultSettings {
        history_max_age: Duration::from_secs(age),
        history_max_bytes: bytes,
        ..VaultSettings::default()
    };
    let first = change_of(fixture.run(|t| t.create("a.md", b"kept")));
    fixture.run(|t| t.create("other.md", b""));
    name(&fixture, "a.md", &first, Some("keep")).unwrap();
    fixture.run(|t| t.write("a.md", b"later", None));
    fixture.run(|t| t.rename("a.md", "b.md"));
    std::thread::sleep(Duration::from_millis(5));
    let history = &fixture.vault.as_ref().unwrap().files().history;
    history.prune_now(&settings(0, 1 << 20)).unwrap();
    let mut t = fixture.begin();
    assert!(t.history(None, None, 9).unwrap().is_empty());
    let versions = t.versions("b.md", None, 9).unwrap();
    assert_eq!(versions.len(), 2);
    assert_eq!(
        (versions[1].id.as_str(), versions[1].path.as_str()),
        ("keep", "a.md")
    );
    assert_eq!(&*t.read_version("b.md", "keep").unwrap().bytes, b"kept");
    drop(t);

    // What a caller names is bounded in number and volume, and counts for the caller.
    fixture.open_with(settings(1000, 64 << 10));
    fixture.put("b.md", &"x".repeat(6 << 10));
    name_as(&fixture, "eve", "b.md", "current", Some("large")).unwrap();
    fixture.put("b.md", &"y".repeat(6 << 10));
    let refused = name_as(&fixture, "eve", "b.md", "current", Some("larger"));
    assert_eq!(code(refused), "too_large");
    let history = &fixture.vault.as_ref().unwrap().files().history;
    assert!(history.usage()["eve"] > 6 << 10);
    // Where nothing but names is left above the bound, they go: those of whoever has most.
    history.prune_now(&settings(1000, 4 << 10)).unwrap();
    assert!(!history.usage().contains_key("eve"));
    assert_eq!(
        code(fixture.begin().read_version("b.md", "large")),
        "not_found"
    );
    assert_eq!(
        &*fixture.begin().read_version("b.md", "keep").unwrap().bytes,
        b"kept"
    );
}
