//! Several callers, and somebody with an editor.

use std::{
    os::unix::fs::MetadataExt,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use super::*;

/// Appends a line as a component would, run again on conflict.
fn append(fixture: &Fixture, path: &str, line: &str) -> usize {
    for attempt in 0..10_000 {
        let mut transaction = fixture.begin();
        let Ok(blob) = transaction.read(path) else {
            continue;
        };
        let mut bytes = blob.bytes.to_vec();
        bytes.extend_from_slice(line.as_bytes());
        if transaction.write(path, &bytes, None).is_err() {
            continue;
        }
        match transaction.commit(note()) {
            Ok(_) => return attempt,
            Err(CommitError::Conflict { .. }) => thread::yield_now(),
            Err(CommitError::Failed(error) | CommitError::Unsettled(error)) => panic!("{error}"),
        }
    }
    panic!("never landed");
}

#[test]
fn callers_and_an_editor_append_and_nothing_is_lost() {
    const LINES: usize = 60;
    let fixture = Fixture::new(&[("a.md", "")]);
    let is_over = AtomicBool::new(false);
    let edited = thread::scope(|scope| {
        let editor = scope.spawn(|| {
            // Writes a new version and renames it over, checking like a careful editor that it saw the latest.
            let path = fixture.folder().join("a.md");
            let mut written = 0;
            while !is_over.load(Ordering::SeqCst) {
                let before = fs::read_to_string(&path).unwrap();
                let fresh = fixture.temp.path().join("fresh");
                fs::write(&fresh, format!("{before}editor {written}\n")).unwrap();
                // A lost race of the editor itself is not ours: it swaps, and looks at what came out.
                rustix::fs::renameat_with(
                    rustix::fs::CWD,
                    &fresh,
                    rustix::fs::CWD,
                    &path,
                    rustix::fs::RenameFlags::EXCHANGE,
                )
                .unwrap();
                if fs::read_to_string(&fresh).unwrap() == before {
                    written += 1;
                } else {
                    rustix::fs::renameat_with(
                        rustix::fs::CWD,
                        &fresh,
                        rustix::fs::CWD,
                        &path,
                        rustix::fs::RenameFlags::EXCHANGE,
                    )
                    .unwrap();
                }
                thread::sleep(Duration::from_millis(3));
            }
            written
        });
        let callers: Vec<_> = (0..2)
            .map(|caller| {
                let fixture = &fixture;
                scope.spawn(move || {
                    for line in 0..LINES {
                        append(fixture, "a.md", &format!("{caller} {line}\n"));
                    }
                })
            })
            .collect();
        callers
            .into_iter()
            .for_each(|caller| caller.join().unwrap());
        is_over.store(true, Ordering::SeqCst);
        editor.join().unwrap()
    });
    let text = fixture.text("a.md").unwrap();
    let count = |prefix: &str| text.lines().filter(|line| line.starts_with(prefix)).count();
    assert_eq!((count("0 "), count("1 ")), (LINES, LINES));
    for caller in 0..2 {
        for line in 0..LINES {
            assert_eq!(
                text.lines()
                    .filter(|have| *have == format!("{caller} {line}"))
                    .count(),
                1
            );
        }
    }
    assert!(edited > 0);
    assert!(fixture.leftovers().is_empty());
}

#[test]
fn an_edit_between_reading_and_committing_is_a_conflict() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("a.md", "1"), ("b.md", "1")]);
        let mut transaction = fixture.begin();
        transaction.read("a.md").unwrap();
        transaction.write("b.md", b"2", None).unwrap();
        // The same size, within the same tick of the clock.
        fixture.put("a.md", "2");
        assert_eq!(
            transaction.commit(note()).unwrap_err(),
            CommitError::Conflict {
                path: Some("a.md".into())
            }
        );
        assert_eq!(fixture.text("b.md").unwrap(), "1");

        let mut transaction = fixture.begin();
        transaction.create("c.md", b"ours").unwrap();
        fixture.put("c.md", "theirs");
        assert!(matches!(
            transaction.commit(note()),
            Err(CommitError::Conflict { .. })
        ));
        assert_eq!(fixture.text("c.md").unwrap(), "theirs");

        let mut transaction = fixture.begin();
        transaction.remove("a.md").unwrap();
        fixture.put("a.md", "3");
        assert!(matches!(
            transaction.commit(note()),
            Err(CommitError::Conflict { .. })
        ));
        assert_eq!(fixture.text("a.md").unwrap(), "3");
    });
}

/// A file that was found is read without another look at where its path leads.
#[test]
fn a_file_replaced_between_stat_and_read_is_never_followed() {
    let replacements: [fn(&Fixture); 4] = [
        |fixture| {
            std::os::unix::fs::symlink("../secret.md", fixture.folder().join("Work/a.md")).unwrap()
        },
        |fixture| std::fs::create_dir(fixture.folder().join("Work/a.md")).unwrap(),
        |fixture| {
            std::fs::remove_dir(fixture.folder().join("Work")).unwrap();
            std::os::unix::fs::symlink("Diary", fixture.folder().join("Work")).unwrap();
        },
        |_| {},
    ];
    for replace in replacements {
        let fixture = Fixture::new(&[
            ("Work/a.md", "found"),
            ("Diary/a.md", "hidden"),
            ("secret.md", "hidden"),
        ]);
        let mut transaction = fixture.begin();
        transaction.stat("Work/a.md").unwrap();
        std::fs::remove_file(fixture.folder().join("Work/a.md")).unwrap();
        replace(&fixture);
        assert_eq!(
            code(transaction.read_up_to("Work/a.md", 1 << 20)),
            "conflict"
        );
    }
    let fixture = Fixture::new(&[("a.md", "found")]);
    let mut transaction = fixture.begin();
    transaction.stat("a.md").unwrap();
    assert!(
        transaction.read_up_to("a.md", 4).unwrap().is_none(),
        "too large"
    );
    fixture.put("a.md", "edited");
    let read = transaction.read_up_to("a.md", 6).unwrap().unwrap();
    assert_eq!(&*read.bytes, b"edited");
}

#[test]
fn an_edit_after_validation_is_swapped_back_and_the_rest_undone() {
    let fixture = Fixture::new(&[("a.md", "1"), ("b.md", "1"), ("c.md", "1")]);
    let mut transaction = fixture.begin();
    transaction.write("a.md", b"2", None).unwrap();
    transaction.rename("c.md", "New/c.md").unwrap();
    transaction.write("b.md", b"2", None).unwrap();
    // The plan is made on what was validated; then somebody edits; then the steps are done.
    let root = Arc::clone(&fixture.vault.as_ref().unwrap().files().root);
    fixture
        .vault
        .as_ref()
        .unwrap()
        .files()
        .make_private_folders(false)
        .unwrap();
    let by = note();
    let changes = transaction.change_set(&by);
    let plan =
        crate::storage::files::commit::plan::plan(&changes, &root, ".notehost/tmp/x-").unwrap();
    let temps = root.descend(".notehost/tmp").unwrap();
    let mut steps = plan.steps;
    for (number, temp) in plan.temps.iter().enumerate() {
        let name = format!("x-{number}");
        let written = temps.write_new(&name, &temp.bytes, None, None).unwrap();
        let inode = written.metadata().unwrap().ino();
        if let crate::storage::files::commit::steps::Step::Replace { new, .. }
        | crate::storage::files::commit::steps::Step::Create { new, .. } = &mut steps[temp.step]
        {
            new.inode = inode;
        }
    }
    fixture.put("b.md", "edited");
    let halted = steps
        .iter()
        .position(|step| step.apply(&root).is_err())
        .unwrap();
    steps[..=halted]
        .iter()
        .rev()
        .for_each(|step| step.revert(&root).unwrap());
    assert_eq!(fixture.text("b.md").unwrap(), "edited");
    assert_eq!(
        (fixture.text("a.md").unwrap(), fixture.text("c.md").unwrap()),
        ("1".into(), "1".into())
    );
    assert!(!fixture.folder().join("New").exists());
}

#[test]
fn readers_never_see_half_a_commit() {
    let fixture = Fixture::new(&[("a.md", "0"), ("b.md", "0")]);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 1..80 {
                let text = round.to_string();
                fixture.run(|t| {
                    t.write("a.md", text.as_bytes(), None)?;
                    t.write("b.md", text.as_bytes(), None)
                });
            }
            is_over.store(true, Ordering::SeqCst);
        });
        let mut seen = 0;
        while !is_over.load(Ordering::SeqCst) {
            let mut transaction = fixture.begin();
            let (a, b) = (transaction.read("a.md"), transaction.read("b.md"));
            if transaction.validate().is_ok() {
                assert_eq!(a.unwrap().bytes, b.unwrap().bytes);
                seen += 1;
            }
        }
        assert!(seen > 0);
    });
}

#[test]
fn the_latest_save_of_an_editor_outlives_a_commit_between_two_of_them() {
    let mut fixture = Fixture::new(&[("a.md", "before")]);
    let folder = fixture.folder();
    fail::injected::act_at("apply-exchanged", move || {
        // As if an editor had saved just before the swap: its version is what came out. Then it saves again.
        let temps = fs::read_dir(folder.join(".notehost/tmp")).unwrap();
        let swapped = temps.flatten().next().unwrap().path();
        assert_eq!(fs::read(&swapped).unwrap(), b"before");
        fs::write(swapped, "first save").unwrap();
        fs::write(folder.join("saving"), "second save").unwrap();
        fs::rename(folder.join("saving"), folder.join("a.md")).unwrap();
    });
    // What was written was seen, and replaced by the editor: it happened.
    fixture.run(|t| t.write("a.md", b"ours", None));
    assert_eq!(fixture.text("a.md").unwrap(), "second save");
    let trash = fixture.begin().trash(None, 9).unwrap();
    assert_eq!(trash.len(), 1);
    fixture.run(|t| t.restore(&trash[0].id, Some("b.md")));
    assert_eq!(fixture.text("b.md").unwrap(), "first save");
    assert!(fixture.leftovers().is_empty());
    fixture.open();
    assert_eq!(fixture.text("a.md").unwrap(), "second save");
}
