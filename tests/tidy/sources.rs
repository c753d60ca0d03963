//! Rules about source files.

use std::path::{Path, PathBuf};

use crate::support::repository;

/// The crates of the host that each crate may depend on. A crate may only depend on crates listed before it.
const CRATES: [(&str, &[&str]); 14] = [
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
        "tools",
        &["platform", "vault", "config", "policy", "pipeline"],
    ),
    ("relay", &["platform", "config"]),
    (
        "transport",
        &[
            "platform", "vault", "config", "records", "policy", "pipeline", "tools", "relay",
        ],
    ),
    ("client", &["platform", "relay"]),
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
            "tools",
            "relay",
            "transport",
            "client",
        ],
    ),
];

/// Modules that may not use parts of their own crate: the module, and the paths that its code may not contain.
const MODULES: [(&str, &[&str]); 5] = [
    (
        "host/policy/src/auth/",
        &["crate::Approvals", "crate::Permissions", "crate::Rates"],
    ),
    (
        "host/runtime/src/packages/",
        &["crate::abi", "crate::engine"],
    ),
    (
        "host/pipeline/src/registry/",
        &["crate::application", "crate::conformance", "crate::stages"],
    ),
    // Everything uses the records through their seam.
    (
        "host/records/src/audit/",
        &["crate::sqlite", "crate::state_folder"],
    ),
    ("host/records/src/store/", &["crate::sqlite"]),
];

/// Dependencies that only these parts of the host may use: crates, or modules of them.
const RESTRICTED_CRATES: [(&str, &[&str]); 7] = [
    ("rmcp", &["host/transport/"]),
    ("wasmtime", &["host/runtime/"]),
    ("cap_std", &["host/vault/", "host/platform/src/folder/"]),
    ("tantivy", &["host/index/"]),
    ("oci_client", &["host/runtime/"]),
    // The history of a vault is in a file of its own.
    ("rusqlite", &["host/records/src/sqlite/", "host/vault/"]),
    ("getrandom", &["host/platform/"]),
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
fn crates_depend_only_on_allowed_crates() {
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
fn modules_use_only_allowed_modules() {
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
fn restricted_dependencies_are_used_where_they_belong() {
    let mut offences = Vec::new();
    for source in sources()
        .iter()
        .filter(|source| source.path.starts_with("host/"))
    {
        for (name, users) in RESTRICTED_CRATES {
            // As the beginning of a path: `rmcp::`, and not the word in a text.
            let path = format!("{name}::");
            let names = |line: &str| {
                line.match_indices(&path).any(|(at, _)| {
                    !line[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_')
                })
            };
            let is_user = users.iter().any(|user| source.path.starts_with(user));
            if !is_user && source.code().any(names) {
                let users = users.join(" and ");
                offences.push(format!("{}: only {users} may name `{name}`", source.path));
            }
        }
    }
    assert_none("a crate is named outside its users", &offences);
}

/// Tests may: most of them check modes and links of Unix.
#[test]
fn only_platform_names_an_operating_system() {
    const NAMES: [&str; 8] = [
        "cfg(unix",
        "cfg(not(unix",
        "cfg(windows",
        "target_os",
        "std::os::",
        "rustix::",
        "libc::",
        "landlock::",
    ];
    let mut offences = Vec::new();
    for source in sources().iter().filter(|source| {
        source.path.starts_with("host/")
            && !source.path.starts_with("host/platform/")
            && !source.is_tests()
    }) {
        let code = source
            .code()
            .take_while(|line| !line.starts_with("#[cfg(test)]"));
        let code = code.take_while(|line| !line.starts_with("#[cfg(all(test"));
        for line in code.filter(|line| NAMES.iter().any(|name| line.contains(name))) {
            offences.push(format!("{}: {}", source.path, line.trim()));
        }
    }
    assert_none("code of one system belongs in `host/platform`", &offences);
}

#[test]
fn only_the_cli_prints() {
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

/// One spelling in the host: a module with modules of its own is `name/mod.rs`, never `name.rs` beside `name/`.
#[test]
fn modules_with_children_are_folders() {
    let top = repository();
    let sources = sources();
    let host = sources
        .iter()
        .filter(|source| source.path.starts_with("host/") && source.path.contains("/src/"));
    let offences: Vec<String> = host
        .filter(|source| top.join(source.path.trim_end_matches(".rs")).is_dir())
        .map(|source| source.path.clone())
        .collect();
    assert_none("modules that belong in their folder as `mod.rs`", &offences);
}
