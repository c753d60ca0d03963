//! Tests of the ledger of dropped content.

use std::cell::RefCell;
use std::sync::mpsc;
use std::time::Duration;

use super::*;
use notehost_records::Records;
use notehost_records::store::SlimUpdate;
use notehost_vault::{ChangeKind, StagedChange};

thread_local! {
    static WHILE_COUNTING: RefCell<Option<Box<dyn Fn()>>> = const { RefCell::new(None) };
}

/// Runs the test's hook while this thread counts words.
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

fn open(state: &tempfile::TempDir) -> Arc<dyn Records> {
    notehost_records::open(state.path()).expect("records")
}

fn rows(records: &dyn Records) -> u64 {
    records.dropped_content_count("phone").expect("counted")
}

/// Records that can fail.
struct Faulty {
    records: Arc<dyn Records>,
    /// Updates of this vault that store something fail.
    full: Mutex<Option<&'static str>>,
    /// Nothing can be read.
    is_lost: Mutex<bool>,
}

impl Faulty {
    fn new(records: Arc<dyn Records>, full: Option<&'static str>) -> Arc<Faulty> {
        Arc::new(Faulty {
            records,
            full: Mutex::new(full),
            is_lost: Mutex::new(false),
        })
    }

    fn readable(&self) -> Result<&dyn Records, RecordsError> {
        match *self.is_lost.lock() {
            true => Err(RecordsError::unavailable("here", "lost")),
            false => Ok(&*self.records),
        }
    }
}

impl DropRecords for Faulty {
    fn dropped_content(
        &self,
        caller: &str,
        vault: &str,
        paths: &[&str],
        since: i64,
    ) -> Result<Vec<Option<Vec<u8>>>, RecordsError> {
        self.readable()?
            .dropped_content(caller, vault, paths, since)
    }

    fn dropped_content_count(&self, caller: &str) -> Result<u64, RecordsError> {
        self.readable()?.dropped_content_count(caller)
    }

    fn update_dropped_content(&self, update: &DropUpdate<'_>) -> Result<(), RecordsError> {
        let stores = update.stored.iter().any(|record| record.ledger.is_some());
        match *self.full.lock() {
            Some(vault) if vault == update.vault && stores => {
                Err(RecordsError::unavailable("here", "full"))
            }
            _ => self.readable()?.update_dropped_content(update),
        }
    }

    fn excess_dropped_content(
        &self,
        caller: &str,
        max_records: usize,
        max_bytes: usize,
        limit: usize,
    ) -> Result<Vec<SlimUpdate>, RecordsError> {
        self.readable()?
            .excess_dropped_content(caller, max_records, max_bytes, limit)
    }

    fn slim_dropped_content(
        &self,
        caller: &str,
        updates: &[SlimUpdate],
    ) -> Result<usize, RecordsError> {
        self.readable()?.slim_dropped_content(caller, updates)
    }
}

#[test]
fn counts_survive_a_restart_and_go_with_a_rename() {
    let state = tempfile::tempdir().expect("a folder");
    let open = || open(&state);
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
    assert!(drops.meets_floor(&second).expect("checked"));
    assert!(!lands(&drops, &second));
    // Of another note, and by another caller, nothing was dropped yet.
    assert!(
        !drops
            .meets_floor(&count(change("a.md", "one two", "one")))
            .expect("checked")
    );
    let other = DropCount {
        caller: "desk".into(),
        ..second.clone()
    };
    assert!(!drops.meets_floor(&other).expect("checked"));
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
    let records = open(&state);
    let drops = DropLedger::new(records.clone());
    let (sender, counted) = mpsc::channel();
    let hook = move || {
        let (records, (done, version)) = (records.clone(), mpsc::channel());
        std::thread::spawn(move || done.send(records.records_version().is_ok()));
        let free = version.recv_timeout(Duration::from_secs(10));
        sender.send(free == Ok(true)).expect("received");
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
    let records = open(&state);
    let faulty = Faulty::new(records.clone(), Some("main"));
    let drops = DropLedger::new(faulty);
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
    assert_eq!((rows(&*records), drops.unwritten.lock().len()), (1, 1));
}

#[test]
fn failed_commits_are_not_counted() {
    let state = tempfile::tempdir().expect("a folder");
    let records = open(&state);
    let drops = DropLedger::new(records.clone());
    let half = count(change("a.md", "one two three four", "one two"));
    assert!(matches!(
        drops.land(&half, || Err::<(), ()>(()), |()| false),
        Ok(Err(()))
    ));
    assert_eq!(rows(&*records), 0);
}

#[test]
fn the_ledger_is_bounded() {
    let state = tempfile::tempdir().expect("a folder");
    let records = open(&state);
    let drops = DropLedger::new(records.clone());
    let many = |from: usize, to: usize, after: &str| {
        let changes: Vec<StagedChange> = (from..to)
            .map(|number| change(&format!("{number}.md"), "a b c d e", after))
            .collect();
        DropCount {
            weights: Arc::new(CallWeights::of(&changes)),
            ..count(change("", "", ""))
        }
    };
    // Those that still have words.
    let with_words = || {
        let found = records.excess_dropped_content("phone", 0, 0, usize::MAX);
        found.expect("counted").len()
    };
    assert!(lands(&drops, &many(0, MAX_NOTES_WITH_WORDS, "a b c d e f")));
    assert!(lands(
        &drops,
        &many(10_000, 10_000 + MAX_NOTES_WITH_WORDS, "a b c d")
    ));
    assert!(lands(&drops, &many(20_000, 20_100, "a b c d")));
    assert_eq!(rows(&*records), 2 * MAX_NOTES_WITH_WORDS as u64 + 100);
    assert_eq!(with_words(), MAX_NOTES_WITH_WORDS);
    // The sums of the oldest are still there.
    let again = count(change("10000.md", "a b c d", "a b"));
    assert!(drops.meets_floor(&again).expect("checked"));
    // A caller that changed very many notes needs a confirmation for those without a record.
    let slim = (0..MAX_NOTES).map(|number| DropRecord {
        path: format!("x{number}"),
        words: 0,
        ledger: Some(vec![0]),
    });
    let filled = records.update_dropped_content(&DropUpdate {
        caller: "phone",
        vault: "main",
        now: now_ms(),
        oldest: 0,
        forgotten: Vec::new(),
        renamed: Vec::new(),
        stored: slim.collect(),
    });
    filled.expect("filled");
    let kept = rows(&*records);
    assert!(lands(&drops, &many(30_000, 30_001, "a b c d e f")));
    assert_eq!(rows(&*records), kept);
    assert!(!lands(&drops, &many(30_000, 30_001, "a b c d")));
}

#[test]
fn renames_move_the_counts_of_all_callers() {
    let state = tempfile::tempdir().expect("a folder");
    let drops = DropLedger::new(open(&state));
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
    assert!(meets("b.md").expect("checked"));
    assert!(!meets("a.md").expect("checked"));
}

#[test]
fn unreadable_or_unwritable_counts_are_kept() {
    let state = tempfile::tempdir().expect("a folder");
    let records = open(&state);
    let faulty = Faulty::new(records, Some("main"));
    let drops = DropLedger::new(faulty.clone());
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
    *faulty.full.lock() = None;
    assert!(drops.meets_floor(&next).expect("checked"));
    *faulty.is_lost.lock() = true;
    let refused = drops.land(&next, || Ok::<(), ()>(()), |()| false);
    assert!(matches!(refused, Err(NotCounted::Unavailable(_))));
}
