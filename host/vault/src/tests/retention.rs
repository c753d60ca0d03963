//! What the history keeps of long notes and of many callers, and that what it keeps comes back to the byte.

use notehost_sdk::Code;
use proptest::prelude::*;

use super::*;

/// Text that does not repeat itself.
fn text(seed: u64, bytes: usize) -> Vec<u8> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes());
    let mut random = vec![0; bytes];
    hasher.finalize_xof().fill(&mut random);
    random.into_iter().map(|byte| b'a' + byte % 26).collect()
}

fn by(caller: &str) -> CommitNote {
    CommitNote {
        caller: caller.into(),
        ..note()
    }
}

fn write(fixture: &Fixture, caller: &str, path: &str, bytes: &[u8]) -> String {
    let mut transaction = fixture.begin();
    transaction.write(path, bytes, None).unwrap();
    transaction.commit(by(caller)).unwrap().change.unwrap()
}

fn bounded(bytes: u64) -> VaultSettings {
    VaultSettings {
        history_max_bytes: bytes,
        ..VaultSettings::default()
    }
}

fn usage(fixture: &Fixture) -> BTreeMap<String, u64> {
    fixture.vault.as_ref().unwrap().files().history.usage()
}

fn content_before(fixture: &Fixture, path: &str, change: &str) -> Option<Vec<u8>> {
    let blob = fixture.begin().before(path, change).ok()?;
    blob.map(|blob| blob.bytes.to_vec())
}

#[test]
fn appends_to_a_large_note_store_only_changed_chunks() {
    let mut content = text(1, 3 << 20);
    let fixture = Fixture::new(&[("large.md", std::str::from_utf8(&content).unwrap())]);
    let mut versions = Vec::new();
    for round in 0..20 {
        let before = content.clone();
        // A line at the end and a date in the frontmatter: the two ends of the note.
        content.push(b'+');
        content[10] = b'0' + round % 10;
        versions.push((write(&fixture, "ana", "large.md", &content), before));
    }
    let used = usage(&fixture)["ana"];
    assert!(used < (3 << 20) + 20 * (200 << 10), "{used}");
    // The versions do not depend on what is in the note now.
    fixture.put("large.md", "written by hand");
    for (change, before) in &versions {
        assert!(content_before(&fixture, "large.md", change).as_ref() == Some(before));
    }
    fixture.put("large.md", std::str::from_utf8(&content).unwrap());
    for (change, before) in versions.iter().rev() {
        fixture.run(|t| t.undo(change));
        assert!(fixture.text("large.md").unwrap().into_bytes() == *before);
    }
}

#[test]
fn one_callers_volume_keeps_the_changes_of_others() {
    const BOUND: u64 = 1 << 20;
    let mut fixture = Fixture::new(&[("flood.md", ""), ("bob.md", "0"), ("cleo.md", "")]);
    fixture.open_with(bounded(BOUND));
    let bobs: Vec<String> = (1..4u8)
        .map(|round| write(&fixture, "bob", "bob.md", &[b'0' + round]))
        .collect();
    let cleos = text(77, 200 << 10);
    let cleo = [
        write(&fixture, "cleo", "cleo.md", &cleos),
        write(&fixture, "cleo", "cleo.md", b"short"),
    ];
    let mut latest = String::new();
    for round in 0..150 {
        // Some are kept whole, some in chunks.
        let length = if round % 2 == 0 { 20 << 10 } else { 90 << 10 };
        latest = write(&fixture, "mallory", "flood.md", &text(round, length));
        let used = usage(&fixture);
        let total: u64 = used.values().sum();
        assert!(total <= BOUND, "{round}: {used:?}");
    }
    let state = fixture.vault.as_ref().unwrap().state.clone();
    let length = |name: &str| fs::metadata(state.join(name)).map_or(0, |found| found.len());
    assert!(length("history.db") < 2 * BOUND, "{}", length("history.db"));
    for (round, change) in bobs.iter().enumerate().rev() {
        fixture.run(|t| t.undo(change));
        assert_eq!(fixture.text("bob.md").unwrap(), round.to_string());
    }
    fixture.run(|t| t.undo(&cleo[1]));
    assert!(fixture.text("cleo.md").unwrap().into_bytes() == cleos);
    fixture.run(|t| t.undo(&cleo[0]));
    assert_eq!(fixture.text("cleo.md").unwrap(), "");
    fixture.run(|t| t.undo(&latest));
    assert!(fixture.text("flood.md").unwrap().into_bytes() == text(148, 20 << 10));
}

#[test]
fn a_change_above_the_size_limit_is_kept_until_the_next_change() {
    let mut fixture = Fixture::new(&[("a.md", "0")]);
    fixture.open_with(bounded(10_000));
    let large = text(1, 40 << 10);
    let first = write(&fixture, "ana", "a.md", &large);
    let second = write(&fixture, "ana", "a.md", b"1");
    assert!(content_before(&fixture, "a.md", &second).as_ref() == Some(&large));
    assert_eq!(code(fixture.begin().undo(&first)), "not_found");
    fixture.run(|t| t.undo(&second));
    assert!(fixture.text("a.md").unwrap().into_bytes() == large);
    write(&fixture, "ana", "a.md", b"2");
    write(&fixture, "ana", "a.md", b"3");
    assert!(usage(&fixture)["ana"] <= 10_000, "{:?}", usage(&fixture));
}

#[test]
fn retention_applies_after_the_first_commit() {
    let mut fixture = Fixture::new(&[("a.md", "")]);
    for round in 0..20 {
        fixture.open_with(bounded(50_000));
        write(&fixture, "ana", "a.md", &text(round, 10_000));
        assert!(usage(&fixture)["ana"] <= 50_000);
    }
}

#[test]
fn a_database_of_an_earlier_version_is_read_and_pruned() {
    let mut fixture = Fixture::new(&[("a.md", "2"), ("b.md", "2")]);
    let state = fixture.vault.as_ref().unwrap().state.clone();
    fixture.vault = None;
    for name in ["history.db", "history.db-wal", "history.db-shm"] {
        let _ = fs::remove_file(state.join(name));
    }
    let digest = |text: &[u8]| Digest::of(text).as_bytes().to_vec();
    let connection = rusqlite::Connection::open(state.join("history.db")).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = wal;
             CREATE TABLE changes (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, time INTEGER NOT NULL,
                 caller TEXT NOT NULL, action TEXT NOT NULL, undoes TEXT, undoes_whole INTEGER NOT NULL DEFAULT 0,
                 undone INTEGER NOT NULL DEFAULT 0, done INTEGER NOT NULL DEFAULT 0);
             CREATE TABLE files (change INTEGER NOT NULL REFERENCES changes (number) ON DELETE CASCADE,
                 path TEXT NOT NULL, source TEXT, kind TEXT NOT NULL, before BLOB, after BLOB, mode_before INTEGER,
                 mode_after INTEGER, trash TEXT);
             CREATE TABLE blobs (number INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, size INTEGER NOT NULL,
                 bytes BLOB NOT NULL);",
        )
        .unwrap();
    let now = notehost_platform::clock::now_millis() as i64;
    for (number, path) in [(1, "a.md"), (2, "b.md")] {
        connection
            .execute(
                "INSERT INTO changes (id, time, caller, action, done) VALUES (?1, ?2, 'ana', 'x.y', 1)",
                rusqlite::params![format!("000000000000000{number}"), now],
            )
            .unwrap();
        connection
            .execute(
                "INSERT INTO files (change, path, kind, before, after) VALUES (?1, ?2, 'modify', ?3, ?4)",
                rusqlite::params![number, path, digest(b"1"), digest(b"2")],
            )
            .unwrap();
    }
    connection
        .execute(
            "INSERT INTO blobs (digest, size, bytes) VALUES (?1, 1000, ?2)",
            rusqlite::params![digest(b"1"), b"1"],
        )
        .unwrap();
    drop(connection);
    fixture.open();
    assert_eq!(usage(&fixture)["ana"], 1000);
    fixture.run(|t| t.undo("0000000000000002"));
    assert_eq!(fixture.text("b.md").unwrap(), "1");
    let history = &fixture.vault.as_ref().unwrap().files().history;
    history.prune_now(&bounded(1500)).unwrap();
    assert_eq!(code(fixture.begin().undo("0000000000000001")), "not_found");
    assert!(usage(&fixture)["ana"] < 1000, "{:?}", usage(&fixture));
}

#[test]
fn content_that_was_damaged_in_the_database_is_refused() {
    let fixture = Fixture::new(&[("a.md", "one"), ("long.md", "")]);
    let long = text(1, 100 << 10);
    fixture.put("long.md", std::str::from_utf8(&long).unwrap());
    let short_change = write(&fixture, "ana", "a.md", b"two");
    let long_change = write(&fixture, "ana", "long.md", b"two");
    let state = fixture.vault.as_ref().unwrap().state.clone();
    let other = rusqlite::Connection::open(state.join("history.db")).unwrap();
    other
        .execute_batch(
            "UPDATE contents SET bytes = x'00' WHERE bytes IS NOT NULL;
             DELETE FROM chunks WHERE number = 2;",
        )
        .unwrap();
    for change in [short_change, long_change] {
        assert_eq!(code(fixture.begin().undo(&change)), "not_found");
    }
    assert_eq!(fixture.text("long.md").unwrap(), "two");
}

/// An edit of a long note: at a place (in thousandths), so many bytes go and others come.
type Edit = (bool, bool, usize, usize, u64);

fn edit() -> impl Strategy<Value = Edit> {
    (
        any::<bool>(),
        any::<bool>(),
        0..=1000usize,
        0..60_000usize,
        0..40u64,
    )
}

fn edited(content: &[u8], (_, _, place, removed, added): &Edit) -> Vec<u8> {
    let from = content.len() * place / 1000;
    let to = (from + removed).min(content.len());
    let mut edited = content.to_vec();
    // Seldom much: else the note is soon all new.
    let new = text(*added, (*added as usize).pow(3));
    edited.splice(from..to, new);
    edited
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Two callers edit two notes; then each note is taken back, in whatever order between them.
    #[test]
    fn undo_restores_exact_bytes_after_random_edits(
        edits in proptest::collection::vec(edit(), 1..16),
        order in proptest::collection::vec(any::<bool>(), 32),
        bound in prop_oneof![Just(1u64 << 30), Just(400_000)],
    ) {
        let mut notes = [text(100, 150_000), text(101, 30_000)];
        let paths = ["a.md", "b.md"];
        let mut fixture = Fixture::new(&[
            (paths[0], std::str::from_utf8(&notes[0]).unwrap()),
            (paths[1], std::str::from_utf8(&notes[1]).unwrap()),
        ]);
        fixture.open_with(bounded(bound));
        let mut done = [Vec::new(), Vec::new()];
        for edit in &edits {
            let (note, caller) = (usize::from(edit.0), if edit.1 { "ana" } else { "bob" });
            let after = edited(&notes[note], edit);
            if after == notes[note] {
                continue;
            }
            let change = write(&fixture, caller, paths[note], &after);
            done[note].push((change, std::mem::replace(&mut notes[note], after)));
        }
        // What is kept is what was there; where it is bounded, it may be gone, and never wrong.
        for (path, changes) in paths.iter().zip(&done) {
            for (change, before) in changes {
                match content_before(&fixture, path, change) {
                    Some(kept) => prop_assert!(kept == *before),
                    None => prop_assert!(bound < 1 << 30),
                }
            }
        }
        for is_second in order.into_iter().chain([true; 16]).chain([false; 16]) {
            let note = usize::from(is_second);
            let Some((change, before)) = done[note].pop() else { continue };
            let mut transaction = fixture.begin();
            match transaction.undo(&change) {
                Ok(_) => {
                    transaction.commit(note_of(is_second)).unwrap();
                    prop_assert!(fs::read(fixture.folder().join(paths[note])).unwrap() == before);
                }
                Err(error) => {
                    prop_assert!(bound < 1 << 30 && error.code() == Code::NotFound, "{}", error);
                    done[note].clear();
                }
            }
        }
    }
}

fn note_of(is_second: bool) -> CommitNote {
    by(if is_second { "ana" } else { "bob" })
}
