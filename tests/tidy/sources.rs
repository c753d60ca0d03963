//! Rules about source files.

use std::path::{Path, PathBuf};

use crate::support::repository;

/// Which crate of the host may depend on which, in an order in which nobody depends on a later one.
const CRATES: [(&str, &[&str]); 11] = [
    ("platform", &[]),
    ("vault", &["platform"]),
    ("index", &["platform", "vault"]),
    ("config", &["platform", "vault"]),
    ("records", &["platform", "config"]),
    ("policy", &["platform", "vault", "config", "records"]),
    ("embedded", &[]),
    (
        "runtime",
        &["platform", "vault", "index", "config", "embedded"],
    ),
    (
        "pipeline",
        &[
            "platform", "vault", "index", "config", "records", "policy", "embedded", "runtime",
        ],
    ),
    (
        "transport",
        &[
            "platform", "vault", "config", "records", "policy", "pipeline",
        ],
    ),
    (
        "src",
        &[
            "platform",
            "vault",
            "index",
            "config",
            "records",
            "policy",
            "embedded",
            "runtime",
            "pipeline",
            "transport",
        ],
    ),
];

/// Modules of a crate that may not use others of it: the module, and what its code may not name.
const MODULES: [(&str, &[&str]); 5] = [
    ("host/policy/src/auth/", &["crate::"]),
    (
        "host/runtime/src/packages/",
        &["crate::abi", "crate::engine"],
    ),
    (
        "host/pipeline/src/registry/",
        &["crate::conformance", "crate::host"],
    ),
    ("host/records/src/audit/", &["crate::state_folder"]),
    ("host/records/src/database.rs", &["crate::audit"]),
];

/// Crates of others that only one of ours may name.
const ALONE: [(&str, &str); 5] = [
    ("rmcp", "transport"),
    ("wasmtime", "runtime"),
    ("cap_std", "vault"),
    ("tantivy", "index"),
    ("oci_client", "runtime"),
];

const MOST_LINES: usize = 500;
/// A file that holds only tests is read one test at a time.
const MOST_LINES_OF_TESTS: usize = 700;

/// A source file: its path from the top of the repository, and its text.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// The lines that are code.
    fn code(&self) -> impl Iterator<Item = &str> {
        self.text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
    }

    /// Whether it holds only tests.
    fn is_tests(&self) -> bool {
        self.path.ends_with("tests.rs")
            || self.path.contains("/src/") && self.path.contains("/tests/")
    }

    /// The crate of the host that it is in; `src` is the program.
    fn crate_name(&self) -> Option<&str> {
        let inside = self.path.strip_prefix("host/")?;
        Some(inside.split_once('/')?.0)
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
                    .expect("it lies there")
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
fn crates_depend_only_on_what_they_may() {
    let mut offences = Vec::new();
    for (at, (name, allowed)) in CRATES.iter().enumerate() {
        for used in *allowed {
            let before = CRATES[..at].iter().any(|(earlier, _)| earlier == used);
            assert!(before, "`{name}` may use `{used}`, which is not before it");
        }
        let file = match *name {
            "src" => "host/Cargo.toml".to_owned(),
            name => format!("host/{name}/Cargo.toml"),
        };
        let manifest = std::fs::read_to_string(repository().join(&file)).expect("a manifest");
        for line in manifest.lines() {
            let Some(used) = line.strip_prefix("notehost-") else {
                continue;
            };
            let used = used.split(['.', ' ']).next().unwrap_or_default();
            if used != "sdk" && !allowed.contains(&used) {
                offences.push(format!("{file}: `{name}` may not depend on `{used}`"));
            }
        }
    }
    assert_none("a crate depends on what it may not", &offences);
}

#[test]
fn modules_use_only_what_they_may() {
    let mut offences = Vec::new();
    for source in sources().iter().filter(|source| !source.is_tests()) {
        for (module, forbidden) in MODULES {
            let inside = source.path.starts_with(module);
            for word in forbidden.iter().filter(|_| inside) {
                if source.code().any(|line| line.contains(word)) {
                    offences.push(format!("{}: may not use `{word}`", source.path));
                }
            }
        }
    }
    assert_none("a module uses what it may not", &offences);
}

#[test]
fn some_crates_have_one_user() {
    let mut offences = Vec::new();
    for source in sources()
        .iter()
        .filter(|source| source.path.starts_with("host/"))
    {
        for (name, user) in ALONE {
            // As the beginning of a path: `rmcp::`, and not the word in a text.
            let path = format!("{name}::");
            let names = |line: &str| {
                line.match_indices(&path).any(|(at, _)| {
                    !line[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_')
                })
            };
            if source.crate_name() != Some(user) && source.code().any(names) {
                offences.push(format!("{}: only `{user}` may name `{name}`", source.path));
            }
        }
    }
    assert_none("a crate is named outside its only user", &offences);
}

#[test]
fn only_the_command_line_prints() {
    let mut offences = Vec::new();
    for source in sources().iter().filter(|source| {
        source.path.starts_with("host/")
            && !source.path.starts_with("host/src/cli/")
            && !source.path.ends_with("build.rs")
    }) {
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
fn files_are_short_and_say_what_they_are() {
    let mut offences = Vec::new();
    for source in sources() {
        let lines = source.text.lines().count();
        let most = if source.is_tests() {
            MOST_LINES_OF_TESTS
        } else {
            MOST_LINES
        };
        if lines >= most {
            offences.push(format!(
                "{}: {lines} lines, and {most} is too many",
                source.path
            ));
        }
        if !source.text.starts_with("//!") {
            offences.push(format!("{}: does not open with `//!`", source.path));
        }
    }
    assert_none("files that a reader would not like", &offences);
}
