//! Versions of a file: listing them, reading them, and what of them is visible.

use super::*;

fn change_of<T>(done: (T, Committed)) -> String {
    done.1.change.unwrap()
}

fn ids(versions: &[Version]) -> Vec<&str> {
    versions.iter().map(|version| version.id.as_str()).collect()
}

fn text_of(transaction: &mut Transaction, path: &str, version: &str) -> String {
    let blob = transaction.read_version(path, version).unwrap();
    assert_eq!(blob.etag, etag_of(&blob.bytes));
    String::from_utf8(blob.bytes.to_vec()).unwrap()
}

#[test]
fn every_state_of_a_note_is_a_version() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("a.md", "first\n")]);
        let second = change_of(fixture.run(|t| t.write("a.md", b"first\nsecond\n", None)));
        let moved = change_of(fixture.run(|t| t.rename("a.md", "F/b.md")));
        let third = change_of(fixture.run(|t| t.write("F/b.md", b"third\n", None)));
        fixture.put("F/b.md", "by an editor\n");
        let fourth = change_of(fixture.run(|t| t.write("F/b.md", b"fourth\n", None)));
        let mut t = fixture.begin();
        let versions = t.versions("F/b.md", None, 50).unwrap();
        let outside = [format!("before-{fourth}"), format!("before-{second}")];
        let listed: Vec<_> = versions
            .iter()
            .map(|version| {
                (
                    version.id.as_str(),
                    version.path.as_str(),
                    version.added.zip(version.removed),
                    version.kept,
                )
            })
            .collect();
        assert_eq!(
            listed,
            [
                (fourth.as_str(), "F/b.md", Some((1, 1)), true),
                (outside[0].as_str(), "F/b.md", None, true),
                // The editor replaced it before another change kept it.
                (third.as_str(), "F/b.md", None, false),
                (moved.as_str(), "F/b.md", Some((0, 0)), true),
                (second.as_str(), "a.md", Some((1, 0)), true),
                (outside[1].as_str(), "a.md", None, true),
            ]
        );
        assert!(versions[1].change.is_none());
        assert_eq!(versions[0].change.as_ref().unwrap().action, "document.test");
        let mut texts = Vec::new();
        for version in versions.iter().filter(|version| version.kept) {
            texts.push(text_of(&mut t, "F/b.md", &version.id));
        }
        let both = "first\nsecond\n";
        assert_eq!(texts, ["fourth\n", "by an editor\n", both, both, "first\n"]);
        // A version that a change left has a second id: the one before the next change.
        assert_eq!(text_of(&mut t, "F/b.md", &format!("before-{moved}")), both);
        assert_eq!(text_of(&mut t, "F/b.md", "current"), "fourth\n");
        // Pages of one.
        let mut paged = Vec::new();
        let mut after: Option<String> = None;
        while let Some(version) = t.versions("F/b.md", after.as_deref(), 1).unwrap().pop() {
            after = Some(version.id.clone());
            paged.push(version);
        }
        assert_eq!(paged, versions);
        for unknown in ["nothing", "before-nothing", "", "0000000000000000"] {
            assert_eq!(code(t.read_version("F/b.md", unknown)), "not_found");
        }
        assert_eq!(code(t.read_version("other.md", "current")), "not_found");
    });
}

#[test]
fn versions_of_a_removed_note_remain() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[]);
        let made = change_of(fixture.run(|t| t.create("a.md", b"1\n")));
        let removed = change_of(fixture.run(|t| t.remove("a.md")));
        let mut t = fixture.begin();
        let versions = t.versions("a.md", None, 9).unwrap();
        assert_eq!(ids(&versions), [&removed, &made]);
        assert_eq!((versions[0].etag.clone(), versions[0].kept), (None, false));
        assert_eq!((versions[0].added, versions[0].removed), (Some(0), Some(1)));
        assert_eq!((versions[1].added, versions[1].removed), (Some(1), Some(0)));
        assert_eq!(text_of(&mut t, "a.md", &made), "1\n");
        assert_eq!(code(t.read_version("a.md", &removed)), "not_found");
        assert_eq!(
            code(t.read_version("a.md", &format!("before-{made}"))),
            "not_found"
        );
    });
}

#[test]
fn content_that_is_no_longer_kept_is_listed_but_cannot_be_read() {
    let mut fixture = Fixture::new(&[]);
    let made = change_of(fixture.run(|t| t.create("a.md", b"1\n")));
    // Another program replaced what the change left before any other change kept it.
    fixture.put("a.md", "2\n");
    let mut t = fixture.begin();
    let versions = t.versions("a.md", None, 9).unwrap();
    assert_eq!(ids(&versions), ["current", &made]);
    assert!(versions[0].kept && !versions[1].kept);
    let error = t.read_version("a.md", &made).unwrap_err();
    assert_eq!(error.code(), "not_found");
    assert!(error.hint().is_some());
    fixture.vault = None;
}

#[test]
fn versions_from_a_hidden_notebook_do_not_exist() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[]);
        let secret = change_of(fixture.run(|t| t.create("Hidden/plan.md", b"secret\n")));
        let shown = change_of(fixture.run(|t| t.rename("Hidden/plan.md", "Open/plan.md")));
        let edited = change_of(fixture.run(|t| t.write("Open/plan.md", b"public\n", None)));
        let hidden = change_of(fixture.run(|t| t.rename("Open/plan.md", "Hidden/plan.md")));
        fixture.run(|t| t.write("Hidden/plan.md", b"secret again\n", None));
        let back = change_of(fixture.run(|t| t.rename("Hidden/plan.md", "Open/plan.md")));
        let rules = [("", Tier::Read), ("Hidden", Tier::None)];
        let mut bob = fixture.begin_as(&rules, Effect::Read);
        let versions = bob.versions("Open/plan.md", None, 9).unwrap();
        // What came back from the hidden notebook looks new; what it was there, and before, is not shown.
        assert_eq!(ids(&versions), [&back]);
        assert_eq!((versions[0].added, versions[0].removed), (Some(1), Some(0)));
        let change = versions[0].change.as_ref().unwrap();
        assert_eq!(
            (change.files[0].kind, &change.files[0].from),
            (ChangeKind::Create, &None)
        );
        assert!(!format!("{versions:?}").contains("Hidden"));
        for version in [&secret, &shown, &edited, &hidden] {
            assert_eq!(code(bob.read_version("Open/plan.md", version)), "not_found");
        }
        let before = format!("before-{back}");
        assert_eq!(code(bob.read_version("Open/plan.md", &before)), "not_found");
        assert_eq!(
            code(bob.read_version("Hidden/plan.md", &secret)),
            "not_found"
        );
        // Who sees both notebooks sees all of it.
        assert_eq!(
            fixture
                .begin()
                .versions("Open/plan.md", None, 9)
                .unwrap()
                .len(),
            6
        );
        // Of a note that has left, only what it was in the open is there.
        fixture.run(|t| t.rename("Open/plan.md", "Hidden/again.md"));
        let versions = bob_again(&fixture, &rules)
            .versions("Open/plan.md", None, 9)
            .unwrap();
        assert_eq!(versions[0].etag, None);
        assert!(!format!("{versions:?}").contains("Hidden"));
    });
}

fn bob_again(fixture: &Fixture, rules: &[(&str, Tier)]) -> Transaction {
    fixture.begin_as(rules, Effect::Read)
}

#[test]
fn an_old_version_is_written_back_as_a_change_that_can_be_undone() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[]);
        let first = change_of(fixture.run(|t| t.create("a.md", b"1\r\n")));
        fixture.run(|t| t.write("a.md", b"2\n", None));
        fixture.run(|t| t.write("a.md", b"3\n", None));
        let restored = change_of(fixture.run(|t| {
            let old = t.read_version("a.md", &first)?;
            t.write("a.md", &old.bytes, None)
        }));
        assert_eq!(fixture.text("a.md").unwrap(), "1\r\n");
        fixture.run(|t| t.undo(&restored));
        assert_eq!(fixture.text("a.md").unwrap(), "3\n");
    });
}
