//! Undo of a run of changes by one caller, with another one who works in between.

use proptest::prelude::*;

use super::*;

const PATHS: &[&str] = &["a.md", "b.md", "F/c.md", "F/d.md", "G/e.md"];

#[derive(Clone, Debug)]
enum Act {
    Create(usize, Vec<u8>),
    Write(usize, Vec<u8>),
    Rename(usize, usize),
    Remove(usize),
    /// Undoes a change of anybody, counted from the latest.
    Undo(usize),
}

fn act() -> impl Strategy<Value = Act> {
    let path = 0..PATHS.len();
    let bytes = proptest::collection::vec(0u8..3, 0..4);
    prop_oneof![
        3 => (path.clone(), bytes.clone()).prop_map(|(path, bytes)| Act::Create(path, bytes)),
        4 => (path.clone(), bytes).prop_map(|(path, bytes)| Act::Write(path, bytes)),
        3 => (path.clone(), path.clone()).prop_map(|(from, to)| Act::Rename(from, to)),
        2 => path.prop_map(Act::Remove),
        1 => (0usize..4).prop_map(Act::Undo),
    ]
}

/// A commit of one to three acts. Acts that cannot be done are left out.
fn commit(fixture: &Fixture, caller: &str, acts: &[Act]) -> Option<String> {
    let mut transaction = fixture.begin();
    for act in acts {
        let done = match act {
            Act::Create(path, bytes) => transaction.create(PATHS[*path], bytes).map(drop),
            Act::Write(path, bytes) => transaction.write(PATHS[*path], bytes, None).map(drop),
            Act::Rename(from, to) => transaction.rename(PATHS[*from], PATHS[*to]),
            Act::Remove(path) => transaction.remove(PATHS[*path]).map(drop),
            Act::Undo(at) => {
                let changes = transaction.history(None, None, 9).unwrap();
                match changes.get(*at) {
                    Some(change) => transaction.undo(&change.id).map(drop),
                    None => Ok(()),
                }
            }
        };
        // An undo that failed half way leaves a transaction that must not be committed.
        if done.is_err() && matches!(act, Act::Undo(_)) {
            return None;
        }
    }
    let by = CommitNote {
        caller: caller.to_owned(),
        ..note()
    };
    transaction.commit(by).unwrap().change
}

fn selection(caller: &str) -> RunSelection {
    RunSelection {
        caller: caller.to_owned(),
        since: 0,
        until: None,
    }
}

fn undo_run(fixture: &Fixture, caller: &str) -> (RunUndo, Option<String>) {
    let mut transaction = fixture.begin();
    let undone = transaction.undo_run(&selection(caller)).unwrap();
    let by = CommitNote {
        caller: "cli".to_owned(),
        ..note()
    };
    let committed = transaction.commit(by).unwrap();
    (undone, committed.change)
}

type Steps = Vec<(bool, Vec<Act>)>;

fn check(steps: &Steps) -> Result<(), TestCaseError> {
    let fixture = Fixture::new(&[("a.md", "a"), ("F/c.md", "c")]);
    let first = fixture.files();
    let (mut is_alone, mut touched) = (true, BTreeMap::<String, u32>::new());
    for (is_ana, acts) in steps {
        let caller = if *is_ana { "ana" } else { "bob" };
        let before = fixture.files();
        let change = commit(&fixture, caller, acts);
        is_alone &= *is_ana || change.is_none();
        let after = fixture.files();
        for path in before.keys().chain(after.keys()) {
            if before.get(path) != after.get(path) {
                *touched.entry(path.clone()).or_default() |= if *is_ana { 1 } else { 2 };
            }
        }
    }
    let now = fixture.files();
    let (undone, change) = undo_run(&fixture, "ana");
    let then = fixture.files();
    // Whoever worked alone gets back exactly what was there before.
    if is_alone {
        prop_assert_eq!(&undone.conflicts, &[]);
        prop_assert_eq!(&then, &first);
    }
    for path in PATHS {
        let (first, now, then) = (first.get(*path), now.get(*path), then.get(*path));
        match touched.get(*path).copied().unwrap_or(0) {
            // Only ana touched the path: it is as before her run, or stays as it is. Or it is empty, because what she put
            // there goes and what was there before stays where she moved it: then that is reported.
            1 => {
                let is_left = then.is_none() && !undone.conflicts.is_empty();
                prop_assert!(
                    then == first || then == now || is_left,
                    "{} {:?}",
                    path,
                    undone
                );
            }
            // What she did not touch stays as it is, byte for byte.
            0 | 2 => prop_assert!(then == now, "{} {:?}", path, undone),
            _ => {}
        }
    }
    // The undo is one change: undoing it restores every byte, and the run can be undone again.
    if let Some(change) = change {
        // By somebody else: the run has no further change.
        let mut transaction = fixture.begin();
        transaction.undo(&change).unwrap();
        let by = CommitNote {
            caller: "cli".to_owned(),
            ..note()
        };
        transaction.commit(by).unwrap();
        prop_assert_eq!(&fixture.files(), &now);
        let (again, _) = undo_run(&fixture, "ana");
        prop_assert_eq!(again.conflicts.len(), undone.conflicts.len());
        prop_assert_eq!(&fixture.files(), &then);
    } else {
        prop_assert_eq!(&then, &now);
    }
    Ok(())
}

fn steps() -> impl Strategy<Value = Steps> {
    let acts = proptest::collection::vec(act(), 1..4);
    proptest::collection::vec((proptest::bool::weighted(0.7), acts), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_undo_of_a_run_is_exact(steps in steps()) {
        check(&steps)?;
    }

    #[test]
    fn the_undo_of_a_run_is_exact_in_memory(steps in steps()) {
        IS_IN_MEMORY.set(true);
        let checked = check(&steps);
        IS_IN_MEMORY.set(false);
        checked?;
    }
}

#[test]
fn a_run_is_undone_as_one_change_that_can_be_undone() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("a.md", "1\r\n"), ("b.md", "b")]);
        let first = fixture.files();
        commit(&fixture, "ana", &[Act::Write(0, b"2".to_vec())]);
        commit(&fixture, "ana", &[Act::Rename(0, 2), Act::Remove(1)]);
        commit(&fixture, "ana", &[Act::Create(1, b"new".to_vec())]);
        let now = fixture.files();
        let (undone, change) = undo_run(&fixture, "ana");
        assert_eq!((undone.changes.len(), undone.conflicts.len()), (3, 0));
        assert_eq!(fixture.files(), first);
        let change = change.unwrap();
        let history = fixture.begin().history(None, None, 9).unwrap();
        assert_eq!(history[0].caller, "cli");
        assert!(history[1..].iter().all(|change| change.undone));
        // Nothing is left of the run.
        assert!(undo_run(&fixture, "ana").1.is_none());
        fixture.run(|t| t.undo(&change));
        assert_eq!(fixture.files(), now);
        let history = fixture.begin().history(None, None, 9).unwrap();
        assert!(history[2..].iter().all(|change| !change.undone));
        assert_eq!(undo_run(&fixture, "nobody").0.changes, []);
    });
}

#[test]
fn files_that_others_changed_stay_and_are_reported() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("a.md", "1"), ("b.md", "1"), ("F/c.md", "1")]);
        for path in [0, 1, 2] {
            commit(&fixture, "ana", &[Act::Write(path, b"2".to_vec())]);
        }
        let edit = commit(&fixture, "bob", &[Act::Write(0, b"3".to_vec())]).unwrap();
        fixture.put("b.md", "by an editor");
        let (undone, _) = undo_run(&fixture, "ana");
        let reasons: Vec<(&str, &str)> = undone
            .conflicts
            .iter()
            .map(|conflict| (conflict.path.as_str(), conflict.reason.as_str()))
            .collect();
        let by_bob = format!("changed by `bob` with `document.test`, change {edit}");
        assert_eq!(
            reasons,
            [
                ("a.md", by_bob.as_str()),
                ("b.md", "changed by another program")
            ]
        );
        assert_eq!(fixture.text("a.md").unwrap(), "3");
        assert_eq!(fixture.text("b.md").unwrap(), "by an editor");
        assert_eq!(fixture.text("F/c.md").unwrap(), "1");
    });
}

#[test]
fn a_run_ends_where_its_time_ends_and_needs_the_rights() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("a.md", "1"), ("Hidden/b.md", "1")]);
        commit(&fixture, "ana", &[Act::Write(0, b"2".to_vec())]);
        let time = fixture.begin().history(None, None, 1).unwrap()[0].time;
        let later = RunSelection {
            since: time + 1,
            ..selection("ana")
        };
        let earlier = RunSelection {
            until: Some(time.saturating_sub(1)),
            ..selection("ana")
        };
        for run in [later, earlier] {
            let mut transaction = fixture.begin();
            assert_eq!(transaction.undo_run(&run).unwrap().changes, []);
            assert!(transaction.has_no_changes());
        }
        let as_tier = |tier| fixture.begin_as(&[("", tier)], Effect::Write);
        let run = selection("ana");
        assert_eq!(
            code(as_tier(Tier::Read).undo_run(&run)),
            "permission_denied"
        );
        assert_eq!(as_tier(Tier::None).undo_run(&run).unwrap().changes, []);
        let mut reading = fixture.begin_as(&[("", Tier::Delete)], Effect::Read);
        assert_eq!(code(reading.undo_run(&run)), "permission_denied");
        // What is hidden stays, and is not reported.
        let by = CommitNote {
            caller: "eve".into(),
            ..note()
        };
        let mut both = fixture.begin();
        both.write("a.md", b"3", None).unwrap();
        both.write("Hidden/b.md", b"2", None).unwrap();
        both.commit(by).unwrap();
        let rules = [("", Tier::Delete), ("Hidden", Tier::None)];
        let mut bob = fixture.begin_as(&rules, Effect::Write);
        let undone = bob.undo_run(&selection("eve")).unwrap();
        assert!(!format!("{undone:?}").contains("Hidden"));
        bob.commit(note()).unwrap();
        assert_eq!(fixture.text("a.md").unwrap(), "2");
        assert_eq!(fixture.text("Hidden/b.md").unwrap(), "2");
        assert!(!fixture.begin().history(None, None, 9).unwrap()[1].undone);
    });
}
