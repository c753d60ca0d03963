//! Rules about source files.

use std::path::{Path, PathBuf};

use crate::support::repository;

/// The rooms that each room may use. A room may only use rooms listed before it.
const ROOMS: [(&str, &[&str]); 13] = [
    ("vault", &[]),
    ("config", &["vault"]),
    ("index", &["vault"]),
    ("auth", &["vault", "config"]),
    ("audit", &["config"]),
    ("policy", &["vault", "config", "auth"]),
    ("runtime", &["vault", "index", "config"]),
    ("packages", &["vault", "config", "runtime"]),
    (
        "registry",
        &["vault", "config", "auth", "policy", "runtime", "packages"],
    ),
    (
        "dispatch",
        &[
            "vault", "index", "config", "auth", "audit", "policy", "packages", "registry",
            "runtime",
        ],
    ),
    (
        "kit",
        &[
            "vault", "index", "config", "registry", "runtime", "dispatch",
        ],
    ),
    (
        "transport",
        &["config", "auth", "audit", "registry", "dispatch", "vault"],
    ),
    (
        "cli",
        &[
            "vault",
            "index",
            "config",
            "auth",
            "audit",
            "policy",
            "runtime",
            "packages",
            "registry",
            "dispatch",
            "kit",
            "transport",
        ],
    ),
];

/// Crates that only one room may use.
const RESTRICTED_CRATES: [(&str, &str); 4] = [
    ("rmcp", "transport"),
    ("wasmtime", "runtime"),
    ("cap_std", "vault"),
    ("oci_client", "packages"),
];

const MAX_LINES: usize = 500;
/// Test files may be longer, because tests are read one at a time.
const MAX_TEST_LINES: usize = 700;

/// A source file: its path from the root of the repository, and its text.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// The lines without comments.
    fn code(&self) -> impl Iterator<Item = &str> {
        self.text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
    }

    /// Whether it contains only tests.
    fn is_tests(&self) -> bool {
        self.path.ends_with("tests.rs")
            || self.path.contains("/src/") && self.path.contains("/tests/")
    }

    /// The room of the host that it belongs to.
    fn room(&self) -> Option<&str> {
        let inside = self.path.strip_prefix("host/src/")?;
        let room = inside.split_once('/')?.0;
        Some(room)
    }
}

fn sources() -> Vec<Source> {
    let top = repository();
    let mut found = Vec::new();
    for folder in ["host", "sdk", "components", "tests"] {
        collect(&top.join(folder), &top, &mut found);
    }
    assert!(found.len() > 50, "the sources are found");
    found
}

fn collect(folder: &Path, top: &Path, found: &mut Vec<Source>) {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            if path
                .file_name()
                .is_some_and(|name| name != "target" && name != "node_modules")
            {
                collect(&path, top, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(Source {
                path: path
                    .strip_prefix(top)
                    .expect("it is in the repository")
                    .display()
                    .to_string(),
                text: std::fs::read_to_string(&path).expect("a source file"),
            });
        }
    }
}

#[track_caller]
fn assert_none(what: &str, offences: &[String]) {
    assert!(offences.is_empty(), "{what}:\n{}", offences.join("\n"));
}

#[test]
fn rooms_use_only_allowed_rooms() {
    let mut offences = Vec::new();
    for source in sources().iter().filter(|source| !source.is_tests()) {
        let Some(room) = source.room() else { continue };
        let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else {
            offences.push(format!(
                "{}: the room `{room}` is not in the table",
                source.path
            ));
            continue;
        };
        let code: Vec<&str> = source.code().collect();
        for used in used_rooms(&code.join("\n")) {
            if used != room
                && !allowed.contains(&used.as_str())
                && ROOMS.iter().any(|(name, _)| *name == used)
            {
                offences.push(format!("{}: `{room}` may not use `{used}`", source.path));
            }
        }
    }
    assert_none("a room uses a room that it may not use", &offences);
}

#[test]
fn room_dependencies_are_acyclic() {
    for (place, (room, allowed)) in ROOMS.iter().enumerate() {
        for used in *allowed {
            let found = ROOMS.iter().position(|(name, _)| name == used);
            assert!(
                found.is_some_and(|found| found < place),
                "`{room}` uses `{used}`, which is not listed before it"
            );
        }
    }
}

/// The first path segments after each `crate::`, also in `crate::{…}`.
fn used_rooms(code: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.trim_start()
            .chars()
            .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
            .collect()
    };
    let mut used = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let Some(group) = rest.strip_prefix('{') else {
            used.push(name(rest));
            continue;
        };
        let mut depth = 1;
        used.push(name(group));
        for (place, letter) in group.char_indices() {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => used.push(name(&group[place + 1..])),
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    used
}

#[test]
fn grouped_imports_are_parsed() {
    assert_eq!(
        used_rooms("use crate::{vault::{Tier, Rules}, auth};\ncrate::cli::x"),
        ["vault", "auth", "cli"]
    );
}

#[test]
fn restricted_crates_are_used_in_one_room() {
    let mut offences = Vec::new();
    for source in sources()
        .iter()
        .filter(|source| source.path.starts_with("host/src/"))
    {
        for (name, room) in RESTRICTED_CRATES {
            // As the start of a path: `rmcp::`, not the word in a text.
            let path = format!("{name}::");
            let names = |line: &str| {
                line.match_indices(&path).any(|(at, _)| {
                    !line[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_')
                })
            };
            if source.room() != Some(room) && source.code().any(names) {
                offences.push(format!("{}: only `{room}` may name `{name}`", source.path));
            }
        }
    }
    assert_none("a crate is named outside its room", &offences);
}

#[test]
fn only_the_cli_prints() {
    let mut offences = Vec::new();
    for source in sources()
        .iter()
        .filter(|source| source.path.starts_with("host/src/") && source.room() != Some("cli"))
    {
        let prints = |line: &&str| {
            let mut words = line.split(|letter: char| !letter.is_alphanumeric() && letter != '!');
            words.any(|word| word == "println!" || word == "print!")
        };
        for line in source.code().filter(prints) {
            offences.push(format!("{}: {}", source.path, line.trim()));
        }
    }
    assert_none("stdout belongs to the transport", &offences);
}

#[test]
fn files_are_short_and_open_with_module_docs() {
    let mut offences = Vec::new();
    for source in sources() {
        let lines = source.text.lines().count();
        let max_lines = if source.is_tests() {
            MAX_TEST_LINES
        } else {
            MAX_LINES
        };
        if lines >= max_lines {
            offences.push(format!(
                "{}: {lines} lines, and {max_lines} is too many",
                source.path
            ));
        }
        if !source.text.starts_with("//!") {
            offences.push(format!("{}: does not open with `//!`", source.path));
        }
    }
    assert_none("files that are too long or lack module docs", &offences);
}
