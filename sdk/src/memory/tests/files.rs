//! Lookup, visibility, permissions and changes.

use super::{listed, vault};
use crate::{Code, Effect, Kind, RawVault as _, Tier, Vault};

#[test]
fn invalid_paths_are_rejected() {
    let vault = vault();
    for path in [
        "/etc/passwd",
        "../up.md",
        "Work/../Inbox.md",
        "Work/./Plan.md",
        "Work//Plan.md",
        "Work/",
        "Work\\Plan.md",
        "a\0b.md",
        "a\nb.md",
    ] {
        assert_eq!(
            vault.read(path).unwrap_err().kind(),
            Code::ValidationError,
            "{path:?}"
        );
        assert_eq!(
            vault.create(path, b"").unwrap_err().kind(),
            Code::ValidationError,
            "{path:?}"
        );
        assert_eq!(vault.access(path), Tier::None, "{path:?}");
    }
}

#[test]
fn dot_folders_and_lookalikes_are_absent() {
    let vault = vault().with(".obsidian/app.json", "{}");
    for path in [
        ".obsidian/app.json",
        ".Obsidian/app.json",
        "\u{ff0e}obsidian/app.json",
        "\u{2024}obsidian/app.json",
        "\u{200b}.obsidian/app.json",
    ] {
        assert_eq!(
            vault.read(path).unwrap_err().kind(),
            Code::NotFound,
            "{path:?}"
        );
        assert_eq!(
            vault.create(path, b"").unwrap_err().kind(),
            Code::ValidationError,
            "{path:?}"
        );
    }
    assert!(
        !listed(&vault, "", true)
            .iter()
            .any(|path| path.contains("obsidian"))
    );
    assert!(vault.resolve("app.json", None).unwrap().is_empty());
}

#[test]
fn lookup_ignores_case_and_unicode_normalization() {
    let vault = vault();
    assert_eq!(vault.stat("work/plan.md").unwrap().path, "Work/Plan.md");
    assert_eq!(
        vault.stat("Work/Ideas/Cafe\u{301}.md").unwrap().path,
        "Work/Ideas/Café.md"
    );
    assert_eq!(vault.stat("WORK").unwrap().kind, Kind::Folder);
    assert_eq!(
        vault.read("work/ideas/CAFE\u{301}.MD").unwrap().bytes,
        b"coffee\n"
    );
}

#[test]
fn exact_spelling_wins_and_ambiguous_spellings_match_nothing() {
    let vault = Vault::in_memory().with("a.md", "1").with("A.md", "2");
    assert_eq!(vault.read("a.md").unwrap().bytes, b"1");
    let vault = vault.with("é.md", "3").with("e\u{301}.md", "4");
    assert_eq!(vault.read("é.md").unwrap().bytes, b"3");
    assert_eq!(vault.read("É.md").unwrap_err().code(), "not_found");
}

#[test]
fn new_names_must_be_unique_and_use_existing_folders() {
    let vault = vault();
    assert_eq!(
        vault.create("Work/plan.md", b"").unwrap_err().code(),
        "already_exists"
    );
    assert_eq!(
        vault.create_folder("work").unwrap_err().code(),
        "already_exists"
    );
    assert_eq!(
        vault.create("Inbox.md/x.md", b"").unwrap_err().code(),
        "validation_error"
    );
    vault.create("work/ideas/deep/New.md", b"new").unwrap();
    assert_eq!(vault.text("Work/Ideas/deep/New.md").unwrap(), "new");
    assert_eq!(vault.stat("Work/Ideas/deep").unwrap().kind, Kind::Folder);
}

#[test]
fn new_names_must_be_portable() {
    let vault = vault();
    for name in [
        "a:b.md",
        "what?.md",
        "Work/end. ",
        "con.md",
        "Work/COM1/x.md",
    ] {
        let error = vault.create(name, b"").unwrap_err();
        assert_eq!(error.code(), "validation_error", "{name}");
    }
    vault.create("Cafe\u{301}.md", b"").unwrap();
    assert!(vault.text("Café.md").is_some(), "new names are composed");
}

#[test]
fn invisible_files_appear_in_no_result() {
    let vault = vault()
        .allow("Diary", Tier::None)
        .allow("Work/Ideas", Tier::None);
    assert_eq!(
        listed(&vault, "", true),
        ["Inbox.md", "Work", "Work/Plan.md", "Work/photo.png"]
    );
    let absent = vault.read("Nothing/Plan.md").unwrap_err();
    let hidden = vault.read("Diary/Plan.md").unwrap_err();
    assert_eq!(
        hidden.message(),
        absent.message().replace("Nothing", "Diary")
    );
    assert_eq!(vault.stat("Diary").unwrap_err().code(), "not_found");
    assert_eq!(
        vault.list("diary", false, None, 9).unwrap_err().code(),
        "not_found"
    );
    assert_eq!(vault.resolve("Plan", None).unwrap(), ["Work/Plan.md"]);
    assert!(vault.mentioning(&["secret".into()]).unwrap().is_empty());
    assert_eq!(vault.access("Diary/Plan.md"), Tier::None);
    assert_eq!(vault.access("Work/Ideas/x.md"), Tier::None);
    assert_eq!(
        vault.create("diary/x.md", b"").unwrap_err().code(),
        "permission_denied"
    );
    vault.remove("Work").unwrap();
    assert_eq!(
        vault.paths(),
        ["Diary/Plan.md", "Inbox.md", "Work/Ideas/Café.md"]
    );
}

#[test]
fn tiers_are_enforced_with_a_hint_for_an_admin() {
    let vault = vault().default_tier(Tier::Read).allow("Work", Tier::Write);
    let error = vault.write("Inbox.md", b"", None).unwrap_err();
    assert_eq!(error.code(), "permission_denied");
    assert_eq!(
        error.hint().unwrap(),
        "an admin can allow it: `notehost permission set . rw`"
    );
    let error = vault.remove("Work/Plan.md").unwrap_err();
    assert_eq!(
        error.hint().unwrap(),
        "an admin can allow it: `notehost permission set Work rwd`"
    );
    let error = vault.rename("Work/Plan.md", "Diary/New.md").unwrap_err();
    assert_eq!(
        error.hint().unwrap(),
        "an admin can allow it: `notehost permission set Diary rw`"
    );
    let error = vault.create_folder("New one").unwrap_err();
    assert_eq!(
        error.hint().unwrap(),
        "an admin can allow it: `notehost permission set 'New one' rw`"
    );
    vault.rename("Work/Plan.md", "Work/New.md").unwrap();
}

#[test]
fn effects_are_enforced() {
    let reads = vault().as_effect(Effect::Read);
    assert_eq!(
        reads.write("Inbox.md", b"", None).unwrap_err().code(),
        "permission_denied"
    );
    assert_eq!(
        reads.remove("Inbox.md").unwrap_err().code(),
        "permission_denied"
    );
    assert_eq!(
        reads.store_set("key", b"").unwrap_err().code(),
        "permission_denied"
    );
    let writes = vault().as_effect(Effect::Write);
    writes.write("Inbox.md", b"", None).unwrap();
    assert_eq!(
        writes.remove("Inbox.md").unwrap_err().code(),
        "permission_denied"
    );
}

#[test]
fn if_match_rejects_changed_files() {
    let vault = vault();
    let etag = vault.read("Inbox.md").unwrap().etag;
    assert_eq!(etag.len(), 24);
    let newer = vault.write("Inbox.md", b"other", Some(&etag)).unwrap();
    assert_eq!(vault.read("Inbox.md").unwrap().etag, newer);
    assert_eq!(
        vault
            .write("Inbox.md", b"", Some(&etag))
            .unwrap_err()
            .code(),
        "conflict"
    );
    assert_eq!(
        vault.write("Nothing.md", b"", None).unwrap_err().code(),
        "not_found"
    );
    assert_eq!(
        vault.write("Work", b"", None).unwrap_err().code(),
        "validation_error"
    );
}

#[test]
fn lists_are_paged_in_order_of_path() {
    let vault = vault();
    let first = vault.list("Work", true, None, 2).unwrap();
    assert_eq!(first.next.as_deref(), Some("Work/Ideas/Café.md"));
    let second = vault.list("Work", true, first.next.as_deref(), 2).unwrap();
    let paths: Vec<_> = second
        .entries
        .iter()
        .map(|entry| entry.path.as_str())
        .collect();
    assert_eq!(
        (paths.as_slice(), second.next),
        (["Work/Plan.md", "Work/photo.png"].as_slice(), None)
    );
    assert_eq!(
        listed(&vault, "Work", false),
        ["Work/Ideas", "Work/Plan.md", "Work/photo.png"]
    );
}

#[test]
fn names_resolve_as_in_obsidian() {
    let vault = Vault::in_memory()
        .with("Z/Long/Note.md", "")
        .with("Alpha/Note.md", "")
        .with("B/Note.md", "")
        .with("B/Other.md", "")
        .with("image.png", "");
    let resolve = |name: &str, source: Option<&str>| vault.resolve(name, source).unwrap();
    assert_eq!(
        resolve("note", None),
        ["B/Note.md", "Alpha/Note.md", "Z/Long/Note.md"]
    );
    assert_eq!(resolve("Note", Some("Alpha/x.md"))[0], "Alpha/Note.md");
    assert_eq!(resolve("alpha/note", Some("B/Other.md")), ["Alpha/Note.md"]);
    assert_eq!(resolve("Long/Note.md", None), ["Z/Long/Note.md"]);
    assert_eq!(
        resolve("../Alpha/Note", Some("B/Other.md")),
        ["Alpha/Note.md"]
    );
    assert_eq!(resolve("image.png", None), ["image.png"]);
    assert!(resolve("ote", None).is_empty());
    assert!(resolve("../../up", Some("B/Other.md")).is_empty());
    let vault = vault.with("Note.md", "");
    assert_eq!(
        vault.resolve("Note", Some("B/Other.md")).unwrap()[0],
        "Note.md"
    );
}

#[test]
fn mentions_are_case_insensitive() {
    let vault = Vault::in_memory()
        .with("A.md", "see [[PLÁN]]")
        .with("b.txt", "[[plán]]")
        .with("C.md", "nothing");
    assert_eq!(vault.mentioning(&["[[plán".into()]).unwrap(), ["A.md"]);
}

#[test]
fn renaming_a_folder_moves_its_content() {
    let vault = vault();
    vault.rename("work", "Job").unwrap();
    assert_eq!(
        listed(&vault, "Job", true),
        [
            "Job/Ideas",
            "Job/Ideas/Café.md",
            "Job/Plan.md",
            "Job/photo.png"
        ]
    );
    assert_eq!(vault.stat("Work").unwrap_err().code(), "not_found");
    assert_eq!(
        vault.rename("Job", "Job/Inner").unwrap_err().code(),
        "validation_error"
    );
    assert_eq!(
        vault.rename("Job", "Diary").unwrap_err().code(),
        "already_exists"
    );
    vault.rename("Job", "JOB").unwrap();
    vault.rename("JOB/Plan.md", "JOB/plan.md").unwrap();
    assert!(vault.text("JOB/plan.md").is_some());
}

#[test]
fn a_failed_change_has_no_effect() {
    let vault = vault().allow("Work/Plan.md", Tier::Read);
    assert_eq!(
        vault.rename("Work", "Job").unwrap_err().code(),
        "permission_denied"
    );
    assert_eq!(
        vault.remove("Work").unwrap_err().code(),
        "permission_denied"
    );
    assert_eq!(vault.paths().len(), 5);
    assert_eq!(vault.trash(None, 9).unwrap(), []);
}

#[test]
fn store_writes_are_part_of_the_transaction() {
    let vault = vault();
    vault.store_set("icon/Work", b"x").unwrap();
    vault.store_set("icon/Diary", b"y").unwrap();
    vault.store_set("other", b"z").unwrap();
    assert_eq!(
        vault.store_keys("icon/").unwrap(),
        ["icon/Diary", "icon/Work"]
    );
    vault.commit("test.set");
    vault.store_remove("other").unwrap();
    vault.rollback();
    assert_eq!(vault.store_get("other").unwrap().unwrap(), b"z");
    assert_eq!(
        vault.store_set("", b"").unwrap_err().code(),
        "validation_error"
    );
    assert_eq!(
        vault.store_set(&"k".repeat(201), b"").unwrap_err().code(),
        "validation_error"
    );
    let much = vec![0; 16 * 1024 * 1024];
    assert_eq!(
        vault.store_set("much", &much).unwrap_err().code(),
        "too_large"
    );
    assert_eq!(vault.store_get("much").unwrap(), None);
}
