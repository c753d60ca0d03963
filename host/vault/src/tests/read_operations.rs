//! Looking: stat, read, list, resolve, mentioning; what is spelt how, and what cannot be seen.

use notehost_sdk::Code;
use std::{fs, os::unix::fs::symlink};

use super::*;

fn paths(page: Page) -> Vec<String> {
    page.entries.into_iter().map(|entry| entry.path).collect()
}

#[test]
fn a_note_is_read_with_its_etag() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("Work/Plan.md", "hello\r\n")]);
        let mut transaction = fixture.begin();
        let blob = transaction.read("Work/Plan.md").unwrap();
        assert_eq!(&*blob.bytes, b"hello\r\n");
        assert_eq!(blob.etag, Digest::of(b"hello\r\n").etag());
        let entry = transaction.stat("Work").unwrap();
        assert_eq!((entry.kind, entry.size), (Kind::Folder, 0));
        assert_eq!(transaction.stat("Work/Plan.md").unwrap().size, 7);
        assert_eq!(code(transaction.read("Work")), "validation_error");
        assert!(transaction.has_no_changes());
        transaction.validate().unwrap();
    });
}

#[test]
fn reading_leaves_no_trace() {
    let mut fixture = Fixture::new(&[("a.md", "a")]);
    fixture.begin().read("a.md").unwrap();
    assert!(!fixture.folder().join(".notehost").exists());
    fixture.run(|transaction| transaction.write("a.md", b"b", None));
    fixture.open();
    assert!(!fixture.folder().join(".notehost").exists());
}

#[test]
fn what_is_not_there_is_told_with_the_nearest_names() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("Work/Meeting notes.md", ""), ("Diary/Meeting note.md", "")]);
        let mut transaction =
            fixture.begin_as(&[("", Tier::Read), ("Diary", Tier::None)], Effect::Read);
        let error = transaction.read("Work/Meeting note.md").unwrap_err();
        assert_eq!(error.code(), "not_found");
        assert_eq!(error.message, "no note `Work/Meeting note.md`");
        assert_eq!(
            error.details.unwrap()["nearest"][0],
            "Work/Meeting notes.md"
        );
        assert_eq!(
            transaction.read("x.png").unwrap_err().message,
            "no file `x.png`"
        );
        assert_eq!(
            transaction
                .list("Nope", false, None, 10)
                .unwrap_err()
                .message,
            "no folder `Nope`"
        );
        assert_eq!(
            transaction
                .read("Diar/Meeting note.md")
                .unwrap_err()
                .details,
            None
        );
    });
}

#[test]
fn names_are_found_in_any_normal_form_and_case() {
    on_each_storage(|| {
        let decomposed = "Cafe\u{301}.md";
        let fixture = Fixture::new(&[
            (decomposed, "x"),
            ("Work/Plan.md", "y"),
            ("twin.md", "1"),
            ("Twin.md", "2"),
        ]);
        let mut transaction = fixture.begin();
        assert_eq!(transaction.stat("Café.md").unwrap().path, decomposed);
        assert_eq!(transaction.stat("CAFÉ.MD").unwrap().path, decomposed);
        assert_eq!(
            transaction.stat("work/PLAN.md").unwrap().path,
            "Work/Plan.md"
        );
        assert_eq!(&*transaction.read("Twin.md").unwrap().bytes, b"2");
        assert_eq!(code(transaction.read("TWIN.md")), "not_found");
        assert_eq!(code(transaction.create("CAFÉ.md", b"")), "already_exists");
        let error = transaction.create("work/plan.md", b"").unwrap_err();
        assert_eq!(error.details.unwrap()["path"], "Work/Plan.md");
        transaction.create("work/New.md", b"").unwrap();
        assert_eq!(transaction.stat("work/new.MD").unwrap().path, "Work/New.md");
        assert_eq!(
            code(transaction.create("Work/NEW.md", b"")),
            "already_exists"
        );
    });
}

#[test]
fn lists_are_sorted_paged_and_hide_invisible_entries() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[
            ("a b.md", ""),
            ("a/x.md", ""),
            ("a/y/z.md", ""),
            ("Diary/secret.md", ""),
            (".obsidian/app.json", "{}"),
            ("b.md", ""),
        ]);
        let rules = [("", Tier::Read), ("Diary", Tier::None)];
        let mut transaction = fixture.begin_as(&rules, Effect::Read);
        assert_eq!(
            paths(transaction.list("", false, None, 100).unwrap()),
            ["a", "a b.md", "b.md"]
        );
        let all = ["a", "a b.md", "a/x.md", "a/y", "a/y/z.md", "b.md"];
        assert_eq!(paths(transaction.list("", true, None, 100).unwrap()), all);
        let mut collected = Vec::new();
        let mut after = None;
        loop {
            let page = transaction.list("", true, after.as_deref(), 2).unwrap();
            after = page.next.clone();
            collected.extend(paths(page));
            if after.is_none() {
                break;
            }
        }
        assert_eq!(collected, all);
        assert_eq!(
            code(transaction.list("Diary", false, None, 10)),
            "not_found"
        );
        assert_eq!(
            code(transaction.list(".obsidian", false, None, 10)),
            "not_found"
        );
        assert_eq!(transaction.tier_at("Diary/secret.md"), Tier::None);
        assert_eq!(transaction.tier_at("a/x.md"), Tier::Read);
    });
}

#[test]
fn links_inside_are_followed_and_links_outside_do_not_exist() {
    let fixture = Fixture::new(&[
        ("Work/Plan.md", "plan"),
        ("Diary/secret.md", "s"),
        (".git/config", "c"),
    ]);
    fs::write(fixture.temp.path().join("outside.md"), "outside").unwrap();
    let folder = fixture.folder();
    symlink("Work/Plan.md", folder.join("inside.md")).unwrap();
    symlink(folder.join("Work"), folder.join("absolute")).unwrap();
    symlink("../outside.md", folder.join("out.md")).unwrap();
    symlink("Diary", folder.join("Door")).unwrap();
    symlink(".git", folder.join("git")).unwrap();
    symlink("loop", folder.join("loop")).unwrap();
    symlink("nowhere.md", folder.join("dead.md")).unwrap();
    let rules = [("", Tier::Delete), ("Diary", Tier::None)];
    let mut transaction = fixture.begin_as(&rules, Effect::Delete);
    assert_eq!(&*transaction.read("inside.md").unwrap().bytes, b"plan");
    assert_eq!(
        &*transaction.read("absolute/Plan.md").unwrap().bytes,
        b"plan"
    );
    for absent in [
        "out.md",
        "Door/secret.md",
        "Door",
        "git/config",
        "git",
        "loop",
        "loop/x",
        "dead.md",
    ] {
        assert_eq!(code(transaction.read(absent)), "not_found", "{absent}");
    }
    assert_eq!(
        paths(transaction.list("", false, None, 100).unwrap()),
        ["Work", "absolute", "inside.md"]
    );
    assert_eq!(
        paths(transaction.list("absolute", false, None, 100).unwrap()),
        ["absolute/Plan.md"]
    );
    for refused in ["Door/new.md", "git/hooks.md", "out.md/x.md"] {
        assert!(transaction.create(refused, b"x").is_err(), "{refused}");
    }
    assert_eq!(code(transaction.remove("inside.md")), "unsupported");
    transaction.write("inside.md", b"new plan", None).unwrap();
    transaction.commit(note()).unwrap();
    assert!(
        fs::symlink_metadata(folder.join("inside.md"))
            .unwrap()
            .is_symlink()
    );
    assert_eq!(fixture.text("Work/Plan.md").unwrap(), "new plan");
}

#[test]
fn pipes_are_neither_opened_nor_listed() {
    let fixture = Fixture::new(&[("a.md", "")]);
    rustix::fs::mknodat(
        rustix::fs::CWD,
        fixture.folder().join("pipe.md"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o666),
        0,
    )
    .unwrap();
    let mut transaction = fixture.begin();
    assert_eq!(code(transaction.read("pipe.md")), "not_found");
    assert_eq!(
        paths(transaction.list("", true, None, 10).unwrap()),
        ["a.md"]
    );
    assert_eq!(
        transaction.mentioning(&["x".into()]).unwrap(),
        Vec::<String>::new()
    );
    assert_eq!(code(transaction.create("pipe.md", b"")), "already_exists");
}

#[test]
fn a_name_is_resolved_as_a_link_would_be() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[
            ("Plan.md", ""),
            ("Work/Plan.md", ""),
            ("Work/Deep/Plan.md", ""),
            ("Home/plan.md", ""),
            ("pic.png", ""),
            ("Diary/Plan.md", ""),
        ]);
        let mut transaction =
            fixture.begin_as(&[("", Tier::Delete), ("Diary", Tier::None)], Effect::Delete);
        assert_eq!(
            transaction.resolve("Plan", None).unwrap(),
            [
                "Plan.md",
                "Home/plan.md",
                "Work/Plan.md",
                "Work/Deep/Plan.md"
            ]
        );
        assert_eq!(
            transaction.resolve("Deep/Plan", None).unwrap(),
            ["Work/Deep/Plan.md"]
        );
        assert_eq!(
            transaction.resolve("work/plan", None).unwrap(),
            ["Work/Plan.md"]
        );
        transaction.rename("Plan.md", "Work/Other.md").unwrap();
        assert_eq!(
            transaction.resolve("plan", Some("Work/Deep/x.md")).unwrap()[0],
            "Work/Deep/Plan.md"
        );
        assert_eq!(
            transaction.resolve("Other", None).unwrap(),
            ["Work/Other.md"]
        );
        assert_eq!(transaction.resolve("pic.png", None).unwrap(), ["pic.png"]);
        for nothing in ["../x", "", "/etc/passwd", ".obsidian", "Diary/Plan"] {
            assert!(transaction.resolve(nothing, None).unwrap().is_empty());
        }
    });
}

#[test]
fn mentioning_is_case_insensitive() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[
            ("ascii.md", "see [[My Note]]"),
            ("german.md", "GRÜSSE"),
            ("nfd.md", "Cafe\u{301}"),
            ("chinese.md", "今天天气"),
            ("hidden/x.md", "my note"),
            ("not.txt", "my note"),
        ]);
        let mut transaction = fixture.begin_as(
            &[("", Tier::Delete), ("hidden", Tier::None)],
            Effect::Delete,
        );
        let mut find = |text: &str| transaction.mentioning(&[text.to_owned()]).unwrap();
        assert_eq!(find("MY NOTE"), ["ascii.md"]);
        assert_eq!(find("grüße"), ["german.md"]);
        assert_eq!(find("CAFÉ"), ["nfd.md"]);
        assert_eq!(find("天天"), ["chinese.md"]);
        assert!(find("").is_empty());
        transaction.rename("ascii.md", "moved.md").unwrap();
        transaction.create("new.md", b"also my NOTE").unwrap();
        transaction.write("german.md", b"nothing", None).unwrap();
        assert_eq!(
            transaction
                .mentioning(&["my note".into(), "grüsse".into()])
                .unwrap(),
            ["moved.md", "new.md"]
        );
    });
}

#[test]
fn a_read_that_changed_meanwhile_does_not_validate() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("a.md", "1"), ("b.md", "1")]);
        let mut reader = fixture.begin();
        reader.read("a.md").unwrap();
        fixture.run(|transaction| {
            transaction.write("a.md", b"2", None)?;
            transaction.write("b.md", b"2", None)
        });
        assert_eq!(
            &*reader.read("a.md").unwrap().bytes,
            b"1",
            "repeated reads agree"
        );
        let conflict = |path: &str| CommitError::Conflict {
            path: Some(path.to_owned()),
        };
        assert_eq!(reader.validate().unwrap_err(), conflict("a.md"));

        let mut lister = fixture.begin();
        lister.list("", true, None, 10).unwrap();
        fixture.run(|transaction| transaction.write("a.md", b"3", None));
        lister.validate().unwrap();
        fixture.run(|transaction| transaction.create("c.md", b""));
        lister.validate().unwrap_err();
    });
}

#[test]
fn a_check_before_the_commit_ends_when_its_time_is_up() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("a.md", "1")]);
        let mut asking = fixture.begin();
        // A query is held and checked once, however often it is repeated.
        for round in 0..3 {
            for name in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"] {
                asking.resolve(name, None).unwrap();
            }
            assert_eq!(asking.scans.len(), 10, "{round}");
        }
        let late = std::time::Instant::now() - std::time::Duration::from_millis(1);
        // Nothing landed since it began: no query is repeated.
        asking.check_read_set_until(late).unwrap();
        fixture.run(|transaction| transaction.create("k.md", b""));
        asking.validate().unwrap();
        let error = asking.check_read_set_until(late).unwrap_err();
        assert!(matches!(error, CommitError::Failed(error) if error.code() == Code::Timeout));
        let mut reading = fixture.begin();
        reading.read("a.md").unwrap();
        reading.check_read_set_until(late).unwrap_err();
    });
}

#[test]
fn walks_end_at_their_deadline_and_large_files_are_refused() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[("a/b.md", "12345")]);
        let mut transaction = fixture.begin();
        transaction.access.limits.deadline = Some(std::time::Instant::now());
        assert_eq!(code(transaction.list("", true, None, 10)), "timeout");
        assert_eq!(code(transaction.mentioning(&["x".into()])), "timeout");
        transaction.access.limits.max_file_bytes = 4;
        assert_eq!(code(transaction.read("a/b.md")), "too_large");
        assert_eq!(code(transaction.create("c.md", b"12345")), "too_large");
    });
}
