//! A process that dies at each step of a commit: this test binary starts itself as the one that dies.

use std::process::Command;

use super::*;

const CHILD: &str = "NOTEHOST_TEST_CRASH_CHILD";

fn files() -> Vec<(&'static str, &'static str)> {
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
        _ => {}
    }
}

fn run_child(fixture: &Fixture, script: &str, fail_point: &str) -> bool {
    run_child_on_full_disk(fixture, script, fail_point, "")
}

/// Whether the child lived to its end.
fn run_child_on_full_disk(
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
fn a_commit_that_dies_is_wholly_there_or_wholly_absent() {
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
fn a_rollback_that_dies_goes_on_as_one() {
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
fn what_a_person_wrote_after_a_crash_stays_and_ours_is_in_the_trash() {
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
fn a_version_that_was_swapped_out_before_it_was_seen_comes_back() {
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
