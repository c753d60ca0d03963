//! `notehost component new`: the files it creates, and the names it rejects.

use super::tools::{author, bench, succeed};
use crate::support::repository;

fn new(arguments: &[&str], folder: &std::path::Path) -> (Option<i32>, String) {
    let mut command = author(crate::support::program(), folder);
    let result = command
        .args(["component", "new"])
        .args(arguments)
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&result.stdout) + String::from_utf8_lossy(&result.stderr);
    (result.status.code(), text.into_owned())
}

#[test]
fn existing_files_are_not_overwritten() {
    let folder = bench("overwriting");
    std::fs::create_dir(folder.join("weather")).expect("a folder");
    std::fs::write(folder.join("weather/Cargo.toml"), "mine").expect("a file");
    let (code, report) = new(&["weather"], &folder);
    assert_eq!(code, Some(2), "{report}");
    assert!(report.contains("is not overwritten"), "{report}");
    let entries = std::fs::read_dir(folder.join("weather"))
        .expect("the folder")
        .count();
    assert_eq!(entries, 1);
    assert_eq!(
        std::fs::read(folder.join("weather/Cargo.toml")).expect("the file"),
        b"mine"
    );
}

#[test]
fn invalid_tool_names_are_rejected() {
    let folder = bench("naming");
    for name in ["Weather", "a-b", "1a", "a__b", "../up", "document", "admin"] {
        let (code, report) = new(&[name], &folder);
        assert_eq!(code, Some(2), "{name}: {report}");
    }
    let (code, report) = new(&["weather", "--lang", "python", "--sdk", "."], &folder);
    assert_eq!(code, Some(2), "{report}");
    let (code, report) = new(&["weather", "--sdk", "."], &folder);
    assert!(code == Some(2) && report.contains("no SDK"), "{report}");
    assert_eq!(
        std::fs::read_dir(&folder).expect("the folder").count(),
        0,
        "nothing was made"
    );
}

#[test]
fn next_steps_are_printed_for_every_language() {
    let folder = bench("steps");
    for (language, name, step) in [
        ("rust", "one", "cargo test"),
        ("javascript", "two", "npm test"),
        ("python", "three", "python3 -m unittest"),
    ] {
        let mut command = author(crate::support::program(), &folder);
        let report = succeed(command.args(["component", "new", name, "--lang", language]));
        assert!(
            report.contains(step) && report.contains(&format!("cd ./{name}")),
            "{report}"
        );
        assert!(folder.join(name).join("README.md").exists());
    }
}

#[test]
fn lock_files_contain_no_registry_urls() {
    let lock =
        std::fs::read_to_string(repository().join("sdk/examples/javascript/package-lock.json"));
    assert!(
        !lock.expect("the lock file").contains("\"resolved\""),
        "npm's `omit-lockfile-registry-resolved` leaves it out"
    );
}
