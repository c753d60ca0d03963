//! Tests of the ledger of dropped content.

use std::cell::RefCell;
use std::sync::mpsc;
use std::time::Duration;

use super::*;
use notehost_vault::{ChangeKind, StagedChange};

thread_local! {
    static WHILE_COUNTING: RefCell<Option<Box<dyn Fn()>>> = const { RefCell::new(None) };
}

/// What a test wants to happen while this thread counts words.
pub(super) fn while_counting() {
    WHILE_COUNTING.with_borrow(|hook| hook.iter().for_each(|hook| hook()));
}

fn change(path: &str, before: &str, after: &str) -> StagedChange {
    let lines = |text: &str| text.lines().count() as u64;
    StagedChange {
        path: path.into(),
        kind: match before {
            "" => ChangeKind::Create,
            _ => ChangeKind::Modify,
        },
        from: None,
        before: Some(before.as_bytes().into()),
        after: Some(after.as_bytes().into()),
        etag_before: Some("before".into()),
        etag: None,
        added: lines(after),
        removed: lines(before),
        lines: notehost_vault::LineDiff::default(),
    }
}

fn count(change: StagedChange) -> DropCount {
    DropCount {
        caller: "phone".into(),
        vault: "main".into(),
        weights: Arc::new(CallWeights::of(&[change])),
        is_approved: false,
    }
}

fn lands(drops: &DropLedger, count: &DropCount) -> bool {
    drops.land(count, || Ok::<(), ()>(()), |()| false).is_ok()
}

fn rows(database: &Database) -> i64 {
    database
        .with(|connection| {
            connection.query_row("SELECT count(*) FROM dropped_content", [], |row| row.get(0))
        })
        .expect("counted")
}

#[test]
fn counts_survive_a_restart_and_go_with_a_rename() {
    let state = tempfile::tempdir().expect("a folder");
    let open = || Arc::new(crate::open_records(state.path()).expect("records"));
    let first = count(change("a.md", "one two three four", "one two"));
    assert!(lands(&DropLedger::new(open()), &first));
    let renamed = count(StagedChange {
        kind: ChangeKind::Rename,
        from: Some("a.md".into()),
        before: None,
        after: None,
        added: 0,
        removed: 0,
        ..change("b.md", "", "")
    });
    assert!(lands(&DropLedger::new(open()), &renamed));
    let drops = DropLedger::new(open());
    let second = count(change("b.md", "one two", "one"));
    assert!(drops.meets_floor(&second).expect("asked"));
    assert!(!lands(&drops, &second));
    // Of another note, and by another caller, nothing was dropped yet.
    assert!(
        !drops
            .meets_floor(&count(change("a.md", "one two", "one")))
            .expect("asked")
    );
    let other = DropCount {
        caller: "desk".into(),
        ..second.clone()
    };
    assert!(!drops.meets_floor(&other).expect("asked"));
    let approved = DropCount {
        is_approved: true,
        ..second
    };
    assert!(lands(&drops, &approved));
    assert!(lands(&drops, &count(change("b.md", "one", "one more"))));
}

#[test]
fn the_records_can_be_used_while_words_are_counted() {
    let state = tempfile::tempdir().expect("a folder");
    let database = Arc::new(crate::open_records(state.path()).expect("records"));
    let drops = DropLedger::new(database.clone());
    let (sender, counted) = mpsc::channel();
    let hook = move || {
        let (database, (done, version)) = (database.clone(), mpsc::channel());
        std::thread::spawn(move || done.send(database.version().is_ok()));
        let free = version.recv_timeout(Duration::from_secs(10));
        sender.send(free == Ok(true)).expect("heard");
    };
    WHILE_COUNTING.set(Some(Box::new(hook)));
    let landed = lands(&drops, &count(change("a.md", "one two three", "one two")));
    WHILE_COUNTING.set(None);
    assert!(landed);
    let free: Vec<bool> = counted.iter().collect();
    assert!(free.len() >= 2 && free.iter().all(|free| *free), "{free:?}");
}

#[test]
fn unwritten_changes_do_not_block_other_vaults() {
    let state = tempfile::tempdir().expect("a folder");
    let database = Arc::new(crate::open_records(state.path()).expect("records"));
    let drops = DropLedger::new(database.clone());
    let run = |statement: &str| {
        let done = database.with(|connection| connection.execute_batch(statement));
        done.expect("changed");
    };
    run(
        "CREATE TRIGGER full BEFORE INSERT ON dropped_content WHEN NEW.vault = 'main'
             BEGIN SELECT RAISE(ABORT, 'full'); END",
    );
    let other = (0..).map(|number| format!("other{number}"));
    let other = other
        .clone()
        .find(|vault| lock_of(vault) != lock_of("main"));
    let elsewhere = DropCount {
        vault: other.expect("a vault"),
        ..count(change("a.md", "one two three four", "one two"))
    };
    assert!(lands(&drops, &count(change("a.md", "one", "one two"))));
    assert!(lands(&drops, &elsewhere));
    assert_eq!((rows(&database), drops.unwritten().len()), (1, 1));
}

#[test]
fn failed_commits_are_not_counted() {
    let state = tempfile::tempdir().expect("a folder");
    let database = Arc::new(crate::open_records(state.path()).expect("records"));
    let drops = DropLedger::new(database.clone());
    let half = count(change("a.md", "one two three four", "one two"));
    assert!(matches!(
        drops.land(&half, || Err::<(), ()>(()), |()| false),
        Ok(Err(()))
    ));
    assert_eq!(rows(&database), 0);
}

#[test]
fn the_ledger_is_bounded() {
    let state = tempfile::tempdir().expect("a folder");
    let database = Arc::new(crate::open_records(state.path()).expect("records"));
    let drops = DropLedger::new(database.clone());
    let many = |from: i64, to: i64, after: &str| {
        let changes: Vec<StagedChange> = (from..to)
            .map(|number| change(&format!("{number}.md"), "a b c d e", after))
            .collect();
        DropCount {
            weights: Arc::new(CallWeights::of(&changes)),
            ..count(change("", "", ""))
        }
    };
    let fat = || -> i64 {
        let query = "SELECT count(*) FROM dropped_content WHERE is_slim = 0";
        let counted = database.with(|connection| connection.query_row(query, [], |row| row.get(0)));
        counted.expect("counted")
    };
    assert!(lands(&drops, &many(0, MAX_NOTES_WITH_WORDS, "a b c d e f")));
    assert!(lands(
        &drops,
        &many(10_000, 10_000 + MAX_NOTES_WITH_WORDS, "a b c d")
    ));
    assert!(lands(&drops, &many(20_000, 20_100, "a b c d")));
    assert_eq!(rows(&database), 2 * MAX_NOTES_WITH_WORDS + 100);
    assert_eq!(fat(), MAX_NOTES_WITH_WORDS);
    // The sums of the oldest are still there.
    let again = count(change("10000.md", "a b c d", "a b"));
    assert!(drops.meets_floor(&again).expect("asked"));
    // Who changed very many is asked about those that are not remembered.
    let filled = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
        INSERT INTO dropped_content SELECT 'phone', 'main', 'x' || i, ?2, 0, 1, x'00' FROM n";
    let filling =
        database.with(|connection| connection.execute(filled, params![MAX_NOTES, now_ms()]));
    filling.expect("filled");
    let kept = rows(&database);
    assert!(lands(&drops, &many(30_000, 30_001, "a b c d e f")));
    assert_eq!(rows(&database), kept);
    assert!(!lands(&drops, &many(30_000, 30_001, "a b c d")));
}

#[test]
fn renames_move_the_counts_of_all_callers() {
    let state = tempfile::tempdir().expect("a folder");
    let drops = DropLedger::new(Arc::new(
        crate::open_records(state.path()).expect("records"),
    ));
    assert!(lands(
        &drops,
        &count(change("a.md", "one two three four", "one two"))
    ));
    let rename = |from: &str, to: &str| StagedChange {
        kind: ChangeKind::Rename,
        from: Some(from.into()),
        before: None,
        after: None,
        ..change(to, "", "")
    };
    // Two notes take each other's names.
    let swapped = CallWeights::of(&[rename("a.md", "b.md"), rename("b.md", "a.md")]);
    let other = DropCount {
        caller: "desk".into(),
        weights: Arc::new(swapped),
        ..count(change("", "", ""))
    };
    assert!(lands(&drops, &other));
    let meets = |path: &str| drops.meets_floor(&count(change(path, "one two", "one")));
    assert!(meets("b.md").expect("asked"));
    assert!(!meets("a.md").expect("asked"));
}

#[test]
fn unreadable_or_unwritable_counts_are_kept() {
    let state = tempfile::tempdir().expect("a folder");
    let database = Arc::new(crate::open_records(state.path()).expect("records"));
    let drops = DropLedger::new(database.clone());
    let run = |statement: &str| {
        let done = database.with(|connection| connection.execute_batch(statement));
        done.expect("changed");
    };
    run(
        "CREATE TRIGGER full BEFORE INSERT ON dropped_content BEGIN SELECT RAISE(ABORT, 'full'); END",
    );
    let half = count(change("a.md", "one two three four", "one two"));
    assert!(matches!(
        drops.land(&half, || Ok::<(), ()>(()), |()| false),
        Ok(Ok(()))
    ));
    // It is not written yet: nothing more is dropped, and adding goes on for a while.
    let next = count(change("a.md", "one two", "one"));
    let refused = drops.land(&next, || Ok::<(), ()>(()), |()| false);
    assert!(matches!(refused, Err(NotCounted::Unavailable(_))));
    let adds = count(change("b.md", "one", "one two"));
    let landed = (0..100).take_while(|_| lands(&drops, &adds)).count();
    assert_eq!(landed, MAX_UNWRITTEN - 1);
    run("DROP TRIGGER full");
    assert!(drops.meets_floor(&next).expect("asked"));
    run("DROP TABLE dropped_content");
    let refused = drops.land(&next, || Ok::<(), ()>(()), |()| false);
    assert!(matches!(refused, Err(NotCounted::Unavailable(_))));
}
