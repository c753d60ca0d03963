//! A vault has one writer, its records belong to that vault alone, and nobody else on the machine can read them.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::json;

use crate::support::client::{Client, error_code};
use crate::support::place::share_compiled_code;

fn config(place: &Path, notes: &str) -> PathBuf {
    let file = place.join(format!("{notes}.toml"));
    let text = format!(
        "[[vaults]]\nid = \"main\"\npath = {:?}\n[permissions]\ndefault = \"rwd\"\n",
        place.join(notes)
    );
    std::fs::write(&file, text).expect("a config");
    file
}

fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().expect("a folder");
    for folder in ["a", "b"] {
        std::fs::create_dir(place.path().join(folder)).expect("a vault");
        std::fs::write(place.path().join(folder).join("Note.md"), "text\n").expect("a note");
    }
    place
}

fn call(
    place: &Path,
    notes: &str,
    state: &str,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> Output {
    if !place.join(state).exists() {
        share_compiled_code(&place.join(state));
    }
    let mut command = Command::new(crate::support::program());
    command.args(["call"]).args(arguments).arg("--config");
    command
        .arg(config(place, notes))
        .arg("--state")
        .arg(place.join(state));
    command.envs(variables.iter().copied());
    command.output().expect("the program runs")
}

#[test]
fn second_process_with_another_state_folder_is_locked_out() {
    let place = place();
    let mut first = Client::start(&config(place.path(), "a"), &place.path().join("one"));
    let second = call(place.path(), "a", "two", &["document", "list"], &[]);
    assert_eq!(second.status.code(), Some(3), "{second:?}");
    let text = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(text.contains("already served by process"), "{text}");
    assert!(
        !place.path().join("a/.notehost").exists(),
        "a vault that was only read shows no trace"
    );
    let doctor = Command::new(crate::support::program())
        .args(["doctor", "--json-output", "--config"])
        .arg(config(place.path(), "a"))
        .arg("--state")
        .arg(place.path().join("two"))
        .output()
        .expect("the program runs");
    let report = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(report.contains("in use by process"), "{report}");
    let read = first.call("document.read", json!({"path": "Note"}));
    assert_eq!(error_code(&read), None, "{read}");
    first.disconnect();
    let third = call(place.path(), "a", "two", &["document", "list"], &[]);
    assert!(third.status.success(), "{third:?}");
}

#[test]
fn temporary_files_of_another_state_folder_are_kept() {
    let place = place();
    let private = place.path().join("a/.notehost/tmp");
    std::fs::create_dir_all(&private).expect("a folder");
    let other = private.join("ffffffffffff-0123456789abcdef-0");
    std::fs::write(&other, "of another machine").expect("a file");
    let written = call(
        place.path(),
        "a",
        "one",
        &["document", "append", "--path", "Note", "--text", "more"],
        &[],
    );
    assert!(written.status.success(), "{written:?}");
    assert_eq!(
        std::fs::read_to_string(&other).expect("still there"),
        "of another machine"
    );
}

#[test]
fn idempotency_keys_are_scoped_to_one_vault() {
    let place = place();
    for notes in ["a", "b"] {
        let arguments = [
            "document",
            "create",
            "--path",
            "New",
            "--content",
            "x",
            "--idempotency_key",
            "k1",
        ];
        let created = call(place.path(), notes, "state", &arguments, &[]);
        assert!(created.status.success(), "{notes}: {created:?}");
        assert!(
            place.path().join(notes).join("New.md").exists(),
            "{notes}: {created:?}"
        );
    }
}

#[test]
fn a_question_about_one_folder_is_not_seen_or_decided_in_another() {
    let place = place();
    let said = |output: &Output| {
        let both = [&output.stdout[..], &output.stderr[..]].concat();
        String::from_utf8_lossy(&both).into_owned()
    };
    let remove = ["document", "remove", "--paths", "Note"];
    let refused = call(place.path(), "a", "state", &remove, &[]);
    assert!(
        said(&refused).contains("confirmation_required"),
        "{refused:?}"
    );
    let listed = Command::new(crate::support::program())
        .args(["approval", "list", "--state"])
        .arg(place.path().join("state"))
        .output()
        .expect("the program runs");
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    let id = listed["items"][0]["id"].as_str().expect("an id").to_owned();
    assert_eq!(listed["items"][0]["folder"], "a", "{listed}");
    for (notes, is_known) in [("a", true), ("b", false)] {
        let listed = call(place.path(), notes, "state", &["admin", "approvals"], &[]);
        assert!(listed.status.success(), "{listed:?}");
        assert_eq!(said(&listed).contains(&id), is_known, "{notes}: {listed:?}");
    }
    for decide in ["approve", "deny"] {
        let decide = ["admin", decide, "--id", &id];
        let refused = call(place.path(), "b", "state", &decide, &[]);
        assert!(said(&refused).contains("no approval"), "{refused:?}");
    }
}

/// A panic at each step from where something is visible to where the reply is sent: the answer is the truth, and the same
/// call sent again changes nothing twice.
#[test]
fn panic_after_a_commit_still_reports_success() {
    let append = &["document", "append", "--path", "Note", "--text", "more"][..];
    // Two steps, so it has a journal: the folder and the note.
    let create = &[
        "document",
        "create",
        "--path",
        "Deep/New.md",
        "--content",
        "more",
    ][..];
    let points = notehost::vault::FAIL_POINTS
        .iter()
        .skip_while(|point| **point != "commit-applied")
        .filter(|point| point.starts_with("commit"))
        .chain(notehost::vault::REPLY_POINTS);
    let after = points.map(|point| (*point, append, "a/Note.md"));
    let with_journal = [
        "commit-journal-placed",
        "apply-folder-made",
        "apply-put",
        "commit-applied",
        "commit-history-done",
        "commit-journal-removed",
    ];
    let with_journal = with_journal.map(|point| (point, create, "a/Deep/New.md"));
    let mut landed = Vec::new();
    for (point, arguments, note) in after.chain(with_journal) {
        let place = place();
        let count = || {
            let text = std::fs::read_to_string(place.path().join(note)).unwrap_or_default();
            text.matches("more").count()
        };
        let arguments = &[arguments, &["--idempotency_key", "k"]].concat();
        let panic = [("NOTEHOST_FAIL_PANIC", point)];
        let done = call(place.path(), "a", "state", arguments, &panic);
        let errors = String::from_utf8_lossy(&done.stderr).into_owned();
        let is_reached = errors.contains("a test asked for a panic");
        assert!(is_reached || arguments[1] == "append", "{point}: {errors}");
        assert_eq!(
            done.status.success(),
            count() == 1,
            "{point}: the answer and the note differ: {done:?}"
        );
        let again = call(place.path(), "a", "state", arguments, &[]);
        assert!(again.status.success(), "{point}: {again:?}");
        assert_eq!(count(), 1, "{point}, sent again: {again:?}");
        if is_reached && done.status.success() {
            landed.push(point);
        }
    }
    // Steps before the commit point are rolled back.
    for point in ["commit-history-done", "commit-temps-removed"]
        .iter()
        .chain(notehost::vault::REPLY_POINTS)
    {
        assert!(landed.contains(point), "{point}: {landed:?}");
    }
}

#[test]
fn damaged_key_file_fails_startup_with_a_reason() {
    let place = place();
    let append = ["document", "append", "--path", "Note", "--text", "more"];
    let first = call(place.path(), "a", "state", &append, &[]);
    assert!(first.status.success(), "{first:?}");
    let key = std::fs::read_dir(place.path().join("state"))
        .expect("the state folder")
        .flatten()
        .map(|entry| entry.path().join("journal.key"))
        .find(|key| key.exists())
        .expect("a key");
    // A truncated file, as after a power loss.
    std::fs::write(&key, "").expect("written");
    let refused = call(place.path(), "a", "state", &append, &[]);
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    let stderr_text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(stderr_text.contains("`journal.key`"), "{stderr_text}");
    assert!(
        std::fs::read(&key).expect("the key").is_empty(),
        "no other key was made"
    );
    let text = std::fs::read_to_string(place.path().join("a/Note.md")).expect("the note");
    assert_eq!(text.matches("more").count(), 1);
    std::fs::remove_file(&key).expect("removed");
    let again = call(place.path(), "a", "state", &append, &[]);
    assert!(again.status.success(), "{again:?}");
}

/// Everything below a folder, with its mode.
fn modes(folder: &Path, found: &mut Vec<(PathBuf, u32)>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let metadata = entry.metadata().expect("there");
        found.push((entry.path(), metadata.permissions().mode() & 0o777));
        if metadata.is_dir() {
            modes(&entry.path(), found);
        }
    }
}

#[test]
fn state_and_private_folders_are_readable_only_by_the_owner() {
    let place = place();
    let state = place.path().join("state");
    // A folder as an earlier version created it.
    std::fs::create_dir(&state).expect("a folder");
    std::fs::write(state.join("records.sqlite"), "").expect("a file");
    for (path, mode) in [
        (state.clone(), 0o755),
        (state.join("records.sqlite"), 0o644),
    ] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
    }
    let mut client = Client::start(&config(place.path(), "a"), &state);
    for arguments in [
        json!({"path": "Work/Deep/New", "content": "x"}),
        json!({"path": "Other", "content": "y"}),
    ] {
        let created = client.call("document.create", arguments);
        assert_eq!(error_code(&created), None, "{created}");
    }
    client.disconnect();
    let removed = call(
        place.path(),
        "a",
        "state",
        &["document", "remove", "--paths", "Other", "--yes"],
        &[],
    );
    assert!(removed.status.success(), "{removed:?}");
    let mut found = Vec::new();
    modes(&state, &mut found);
    modes(&place.path().join("a/.notehost"), &mut found);
    let trash = place.path().join("a/.notehost/trash");
    let open: Vec<_> = found
        .iter()
        // A note in the trash keeps the mode that it gets back when restored; the trash folder itself is private.
        .filter(|(path, mode)| mode & 0o077 != 0 && path.parent() != Some(&trash))
        .collect();
    assert!(open.is_empty(), "{open:?}");
    assert!(found.len() > 5, "{found:?}");
    let root = std::fs::metadata(&state)
        .expect("there")
        .permissions()
        .mode()
        & 0o777;
    assert_eq!(root, 0o700);
    // A note and its folders have the modes that any program would give them.
    for (path, usual) in [("a/Work/Deep/New.md", "a/Note.md"), ("a/Work/Deep", "a")] {
        let mode = |path: &str| {
            let metadata = std::fs::metadata(place.path().join(path)).expect("there");
            metadata.permissions().mode() & 0o777
        };
        assert_eq!(mode(path), mode(usual), "{path}");
    }
}

/// A change without notes, only in folders or in a component's store, is reported and repeated correctly too.
#[test]
fn panic_after_a_commit_without_notes_still_reports_success() {
    let create = &["notebook", "create", "--notebook", "Empty"][..];
    let configure = &["notebook", "configure", "--notebook", "Work", "--icon", "x"][..];
    for point in ["commit-history-done", "commit-journal-removed"]
        .iter()
        .chain(notehost::vault::REPLY_POINTS)
    {
        let place = place();
        std::fs::create_dir(place.path().join("a/Work")).expect("a notebook");
        for arguments in [create, configure] {
            let arguments = &[arguments, &["--idempotency_key", arguments[1]]].concat();
            let panic = [("NOTEHOST_FAIL_PANIC", *point)];
            let done = call(place.path(), "a", "state", arguments, &panic);
            let errors = String::from_utf8_lossy(&done.stderr).into_owned();
            assert!(
                errors.contains("a test asked for a panic"),
                "{point}: {errors}"
            );
            assert!(done.status.success(), "{point}: {done:?}");
            let again = call(place.path(), "a", "state", arguments, &[]);
            assert!(again.status.success(), "{point}, sent again: {again:?}");
        }
        assert!(place.path().join("a/Empty").is_dir(), "{point}");
    }
}
