//! A process that dies at each step of a commit: this test binary starts itself as the one that dies.

use std::process::Command;

use super::*;

const CHILD: &str = "NOTEHOST_TEST_CRASH_CHILD";

pub(super) fn files() -> Vec<(&'static str, &'static str)> {
    vec![
        ("a.md", "a"),
        ("F/b.md", "b"),
        ("F/c.md", "c"),
        ("d.md", "d"),
        ("s.md", "1"),
        ("g.md", "g"),
    ]
}

fn many(transaction: &mut Transaction) -> Result<(), VaultError> {
    transaction.write("a.md", b"changed", None)?;
    transaction.rename("F", "G/H")?;
    transaction.write("G/H/b.md", b"changed too", None)?;
    transaction.remove("d.md")?;
    transaction.create("New/n.md", b"n")?;
    transaction.store_set("key", b"value")
}

fn open(folder: &str) -> Fixture {
    let folder = PathBuf::from(folder);
    // The folder belongs to the parent process: it must not vanish with this fixture.
    let temp = tempfile::Builder::new()
        .disable_cleanup(true)
        .tempdir()
        .unwrap();
    let vault = Vault::open(
        "test",
        &folder.join("notes"),
        &folder.join("state"),
        VaultSettings::default(),
    )
    .unwrap();
    fs::remove_dir(temp.path()).unwrap();
    Fixture {
        temp,
        vault: Some(Arc::new(vault)),
        memory: None,
    }
}

/// What the dying process does. Run by itself it does nothing.
#[test]
fn child() {
    let Ok(folder) = std::env::var(CHILD) else {
        return;
    };
    let fixture = open(&folder);
    match std::env::var("NOTEHOST_TEST_SCRIPT").unwrap().as_str() {
        "many" => drop(fixture.run(many)),
        "write" => drop(fixture.run(|t| t.write("s.md", b"2", None))),
        "remove" => drop(fixture.run(|t| t.remove("g.md"))),
        "folders" => drop(fixture.run(|t| {
            t.create_folder("Empty/Deep")?;
            t.store_set("a", b"1")?;
            t.store_set("b", b"2")
        })),
        "rename" => drop(fixture.run(|t| t.rename("d.md", "moved.md"))),
        "swap" => drop(fixture.run(|t| {
            t.rename("a.md", "aside.md")?;
            t.rename("F/b.md", "a.md")?;
            t.rename("aside.md", "F/b.md")
        })),
        "two" => drop(fixture.run(|t| {
            t.write("a.md", b"new a", None)?;
            t.write("d.md", b"new d", None)
        })),
        "unset" => drop(fixture.run(|t| t.store_remove("key"))),
        _ => {}
    }
}

pub(super) fn run_child(fixture: &Fixture, script: &str, fail_point: &str) -> bool {
    run_child_on_full_disk(fixture, script, fail_point, "")
}

/// Whether the child lived to its end.
pub(super) fn run_child_on_full_disk(
    fixture: &Fixture,
    script: &str,
    fail_point: &str,
    full_disk: &str,
) -> bool {
    let status = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            &format!("{}::child", module_path!().split_once("::").unwrap().1),
            "--nocapture",
        ])
        .env(CHILD, fixture.temp.path())
        .env("NOTEHOST_TEST_SCRIPT", script)
        .env("NOTEHOST_FAIL_POINT", fail_point)
        .env("NOTEHOST_FAIL_ENOSPC", full_disk)
        .output()
        .unwrap()
        .status;
    status.success()
}

fn outcome(fixture: &mut Fixture, script: &str) -> BTreeMap<String, (Vec<u8>, u32)> {
    fixture.open();
    assert!(
        fixture.leftovers().is_empty(),
        "{script}: {:?}",
        fixture.leftovers()
    );
    fixture.files()
}

#[test]
fn a_crashed_commit_is_atomic() {
    let (mut died, mut landed, mut absent) = (0, 0, 0);
    for script in ["many", "write", "remove"] {
        let before = Fixture::new(&files()).files();
        let mut whole = Fixture::new(&files());
        whole.vault = None;
        assert!(run_child(&whole, script, ""));
        let after = outcome(&mut whole, script);
        assert_ne!(before, after);
        for name in FAIL_POINTS {
            for nth in 1..=(if name.starts_with("apply") { 4 } else { 1 }) {
                let mut fixture = Fixture::new(&files());
                fixture.vault = None;
                if run_child(&fixture, script, &format!("{name}:{nth}")) {
                    break;
                }
                died += 1;
                // The start after the crash may crash as well.
                let _ = run_child(&fixture, "nothing", "recover-step:2");
                let now = outcome(&mut fixture, script);
                assert!(
                    now == before || now == after,
                    "{script} {name}:{nth}: {:?}",
                    now.keys()
                );
                let changes = fixture.begin().history(None, None, 9).unwrap();
                assert_eq!(
                    changes.len(),
                    usize::from(now == after),
                    "{script} {name}:{nth}"
                );
                assert_eq!(
                    fixture.folder().join("New").exists(),
                    now.contains_key("New/n.md"),
                    "{script} {name}:{nth}"
                );
                if now == after {
                    landed += 1;
                    let change = changes[0].id.clone();
                    fixture.run(|t| t.undo(&change));
                    assert_eq!(fixture.files(), before, "{script} {name}:{nth}");
                } else {
                    absent += 1;
                    assert!(fixture.begin().trash(None, 9).unwrap().is_empty());
                    assert!(fixture.begin().store_keys("").unwrap().is_empty());
                }
            }
        }
    }
    assert!(
        died > 40 && landed > 10 && absent > 10,
        "{died} {landed} {absent}"
    );
}

#[test]
fn a_crashed_rollback_is_continued() {
    for fail_point in [
        "rollback-begin",
        "rollback-step:1",
        "rollback-step:4",
        "rollback-end",
    ] {
        let mut fixture = Fixture::new(&files());
        let before = fixture.files();
        fixture.vault = None;
        assert!(!run_child_on_full_disk(
            &fixture,
            "many",
            fail_point,
            "apply-put:2"
        ));
        let _ = run_child(&fixture, "nothing", "recover-step:2");
        assert_eq!(outcome(&mut fixture, fail_point), before, "{fail_point}");
        assert!(!fixture.folder().join("New").exists(), "{fail_point}");
        assert!(fixture.begin().history(None, None, 9).unwrap().is_empty());
        assert!(fixture.begin().trash(None, 9).unwrap().is_empty());
    }
}

#[test]
fn edits_after_a_crash_stay_and_the_commits_version_is_trashed() {
    let mut fixture = Fixture::new(&files());
    fixture.vault = None;
    assert!(!run_child(&fixture, "many", "commit-journal-placed"));
    fixture.put("a.md", "a person's");
    fixture.put("New/n.md", "a person's too");
    fixture.put("d.md", "not to be removed");
    fixture.open();
    assert_eq!(fixture.text("a.md").unwrap(), "a person's");
    assert_eq!(fixture.text("New/n.md").unwrap(), "a person's too");
    assert_eq!(fixture.text("d.md").unwrap(), "not to be removed");
    assert_eq!(fixture.text("G/H/b.md").unwrap(), "changed too");
    let trash: Vec<String> = fixture
        .begin()
        .trash(None, 9)
        .unwrap()
        .into_iter()
        .map(|item| item.path)
        .collect();
    assert_eq!(trash.len(), 2, "{trash:?}");
    assert!(fixture.leftovers().is_empty());
}

#[test]
fn a_swapped_out_version_is_restored_after_a_crash() {
    let mut fixture = Fixture::new(&files());
    fixture.vault = None;
    assert!(!run_child(&fixture, "write", "apply-exchanged"));
    // As if an editor had saved between validation and the swap: its version is what was swapped out.
    let temps = fixture.folder().join(".notehost/tmp");
    let swapped = fs::read_dir(temps)
        .unwrap()
        .flatten()
        .next()
        .unwrap()
        .path();
    fs::write(swapped, "the editor's").unwrap();
    fixture.open();
    assert_eq!(fixture.text("s.md").unwrap(), "the editor's");
    assert!(fixture.begin().history(None, None, 9).unwrap().is_empty());
    assert!(fixture.leftovers().is_empty());
}

#[test]
fn edits_after_a_crash_do_not_complete_an_aborted_change() {
    for (script, edited) in [("write", "s.md"), ("remove", "g.md"), ("rename", "d.md")] {
        let mut fixture = Fixture::new(&files());
        fixture.vault = None;
        assert!(!run_child(&fixture, script, "commit-history-pending"));
        fixture.put(edited, "a person's");
        fixture.open();
        assert_eq!(fixture.text(edited).unwrap(), "a person's", "{script}");
        let history = fixture.begin().history(None, None, 9).unwrap();
        assert!(history.is_empty(), "{script}: {history:?}");
        assert!(fixture.leftovers().is_empty());
    }
}

#[test]
fn edits_after_a_crash_do_not_hide_a_completed_change() {
    for (script, edited) in [
        ("write", "s.md"),
        ("remove", "g.md"),
        ("rename", "moved.md"),
    ] {
        let mut fixture = Fixture::new(&files());
        fixture.vault = None;
        assert!(!run_child(&fixture, script, "commit-applied"));
        fixture.put(edited, "a person's");
        fixture.open();
        assert_eq!(fixture.text(edited).unwrap(), "a person's", "{script}");
        let history = fixture.begin().history(None, None, 9).unwrap();
        assert_eq!(history.len(), 1, "{script}");
    }
}

#[test]
fn a_stale_journal_is_not_replayed_over_later_changes() {
    let mut fixture = Fixture::new(&files());
    fixture.run(|t| {
        t.rename("a.md", "moved.md")?;
        t.rename("d.md", "moved too.md")
    });
    fail::injected::full_disk_at("commit-history-done", 1);
    fixture.run(|t| {
        t.rename("moved.md", "a.md")?;
        t.rename("moved too.md", "d.md")
    });
    assert!(!fail::injected::clear());
    fixture.run(|t| {
        t.rename("a.md", "moved.md")?;
        t.rename("d.md", "moved too.md")
    });
    let before = fixture.files();
    fixture.open();
    assert_eq!(fixture.files(), before);
    assert!(fixture.leftovers().is_empty());
}

#[test]
fn a_commit_without_history_entry_is_finished() {
    let mut fixture = Fixture::new(&files());
    fixture.vault = None;
    assert!(!run_child(&fixture, "folders", "commit-journal-placed"));
    fixture.open();
    assert!(fixture.folder().join("Empty/Deep").is_dir());
    assert!(!fixture.folder().join(".notehost/set-aside").exists());
    let keys = fixture.begin().store_keys("").unwrap();
    assert_eq!(keys, ["a", "b"]);
    assert_eq!(fixture.begin().history(None, None, 9).unwrap().len(), 1);
}

#[test]
fn a_journal_of_an_earlier_commit_is_not_replayed() {
    let mut fixture = Fixture::new(&files());
    fixture.vault = None;
    assert!(!run_child(&fixture, "many", "commit-journal-placed"));
    let journals = fixture.folder().join(".notehost/journal");
    let journal = fs::read_dir(&journals)
        .unwrap()
        .flatten()
        .next()
        .unwrap()
        .path();
    let copy = fs::read(&journal).unwrap();
    fixture.open();
    let change = fixture.begin().history(None, None, 1).unwrap().remove(0).id;
    fixture.run(|t| t.undo(&change));
    let before = fixture.files();
    // It has our authentication code, and comes back: a sync tool kept it, or somebody who can write to the vault.
    for is_forgotten in [false, true] {
        fixture.vault = None;
        fs::create_dir_all(&journals).unwrap();
        fs::write(&journal, &copy).unwrap();
        fixture.open();
        assert_eq!(fixture.files(), before);
        assert!(fixture.leftovers().is_empty());
        let set_aside = fixture.folder().join(".notehost/set-aside");
        assert_eq!(set_aside.exists(), is_forgotten);
        let history = &fixture.vault.as_ref().unwrap().files().history;
        history
            .prune_now(&VaultSettings {
                history_max_bytes: 0,
                ..VaultSettings::default()
            })
            .unwrap();
    }
}

/// Everybody who can write to the vault knows how our journals are named.
#[test]
fn an_unreadable_journal_stops_the_start_only_if_a_commit_waits_for_it() {
    for is_pending in [false, true] {
        let mut fixture = Fixture::new(&files());
        let seal = |fixture: &Fixture| {
            let vault = fixture.vault.as_ref().unwrap();
            let lock = vault.files().lock.as_ref().unwrap();
            lock.seal.journal_name(
                "0123456789abcdef",
                crate::storage::files::commit::journal::Direction::Forward,
            )
        };
        let journals = fixture.folder().join(".notehost/journal");
        let journal = match is_pending {
            false => {
                let name = seal(&fixture);
                fixture.vault = None;
                fs::create_dir_all(&journals).unwrap();
                fs::write(journals.join(&name), "x").unwrap();
                journals.join(name)
            }
            true => {
                fixture.vault = None;
                assert!(!run_child(&fixture, "many", "commit-journal-placed"));
                let mut names = fs::read_dir(&journals).unwrap().flatten();
                names.next().unwrap().path()
            }
        };
        fs::set_permissions(&journal, fs::Permissions::from_mode(0o000)).unwrap();
        if fs::read(&journal).is_ok() {
            // Root may read everything: then there is nothing to see here.
            return;
        }
        let opened = Vault::open(
            "test",
            &fixture.folder(),
            &fixture.state(),
            VaultSettings::default(),
        );
        assert_eq!(opened.is_err(), is_pending);
    }
}

#[test]
fn rollback_works_without_atomic_exchange() {
    let mut fixture = Fixture::new(&files());
    let before = fixture.files();
    fail::injected::switch_exchange_off(true);
    for nth in 1..4 {
        fail::injected::full_disk_at("apply-put", nth);
        let mut transaction = fixture.begin();
        many(&mut transaction).unwrap();
        assert!(transaction.commit(note()).is_err(), "{nth}");
        assert_eq!(fixture.files(), before, "{nth}");
        assert!(fixture.leftovers().is_empty(), "{nth}");
    }
    fixture.run(many);
    assert_eq!(fixture.text("a.md").unwrap(), "changed");
    assert!(fixture.leftovers().is_empty());
    let change = fixture.begin().history(None, None, 1).unwrap().remove(0).id;
    fixture.run(|t| t.undo(&change));
    fail::injected::switch_exchange_off(false);
    fixture.open();
    assert_eq!(fixture.files(), before);
}

#[test]
fn a_trash_note_of_another_machine_waits_for_its_file() {
    let mut fixture = Fixture::new(&files());
    fixture.run(|t| t.remove("a.md"));
    let trash = fixture.folder().join(".notehost/trash");
    let put = |id: &str, state: &str| {
        let note = format!(r#"{{"path":"x.md","removed":1,"size":1,"caller":"x"{state}}}"#);
        fs::write(trash.join(format!("{id}.json")), note).unwrap();
    };
    put("0000000000000001", r#","state":"ffffffffffff""#);
    put("0000000000000002", "");
    fixture.open();
    assert!(trash.join("0000000000000001.json").exists());
    // Which machine wrote it is not known.
    assert!(trash.join("0000000000000002.json").exists());
    assert_eq!(fixture.begin().trash(None, 9).unwrap().len(), 1);
}

#[test]
fn modes_are_kept_and_the_private_folder_is_closed() {
    let mut fixture = Fixture::new(&files());
    fixture.set_mode("a.md", 0o644);
    fixture.run(|t| t.remove("a.md"));
    let private = fixture.folder().join(".notehost");
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let kept = private.join("store/x/kept");
    fs::create_dir_all(kept.parent().unwrap()).unwrap();
    fs::write(&kept, "").unwrap();
    for path in [kept.as_path(), kept.parent().unwrap(), &private] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    // A folder that a group shares.
    fs::set_permissions(fixture.folder(), fs::Permissions::from_mode(0o2775)).unwrap();
    fixture.open();
    assert_eq!(mode(&private), 0o700);
    assert_eq!((mode(&kept), mode(kept.parent().unwrap())), (0o700, 0o700));
    let trashed = fixture.begin().trash(None, 9).unwrap().remove(0).id;
    assert_eq!(mode(&private.join("trash").join(&trashed)), 0o644);
    fixture.set_mode("d.md", 0o644);
    fixture.set_mode("s.md", 0o640);
    fixture.run(|t| {
        t.write("d.md", b"d2", None)?;
        t.write("s.md", b"s2", None)?;
        t.create("Shared/Deep/new.md", b"")
    });
    assert_eq!((fixture.mode("d.md"), fixture.mode("s.md")), (0o644, 0o640));
    for path in ["Shared", "Shared/Deep"] {
        assert_eq!(
            mode(&fixture.folder().join(path)) & 0o2000,
            0o2000,
            "{path}"
        );
    }
}
