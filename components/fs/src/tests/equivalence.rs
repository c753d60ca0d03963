//! Property tests: `fs` returns the same results as `document` and `search`, for random vaults and path spellings.

use super::*;
use notehost_sdk::testing::reply;
use proptest::prelude::*;

/// File names with collisions: same name in several folders, different case, different Unicode form, non-notes.
const FILES: [&str; 10] = [
    "Plan.md",
    "Work/Plan.md",
    "Work/Sub/plan.md",
    "Work/Budget.md",
    "Work/a.csv",
    "Work/Sub/Caf\u{e9}.md",
    "Deep/Er/Note.md",
    "Deep/pic.png",
    "Sub.md",
    "Work/Sub/Note.with.dots.md",
];

/// Paths to query.
const PATHS: [&str; 14] = [
    "",
    "Work",
    "work",
    "Work/Sub",
    "Deep/Er",
    "Plan.md",
    "Plan",
    "Budget",
    "Sub",
    "cafe\u{301}",
    "Note.with.dots",
    "Nothing",
    "Work/Plan",
    "Work/Budget.md",
];

fn any_vault() -> impl Strategy<Value = MemoryVault> {
    let text = "(TODO|todo|[ab]|é|中|\n|\r\n|# h\n|\\[\\[Plan\\]\\]| ){0,24}";
    let files = proptest::collection::vec(proptest::option::of(text), FILES.len());
    (files, any::<bool>()).prop_map(|(texts, hides)| {
        let mut vault = Vault::in_memory();
        for (path, text) in FILES.iter().zip(texts) {
            if let Some(text) = text {
                vault = vault.with(path, &text);
            }
        }
        if hides {
            vault = vault.allow("Deep", Tier::None);
        }
        vault
    })
}

/// Equivalent spellings of a path.
fn respell(path: &str, how: u8) -> String {
    match how {
        0 => path.to_owned(),
        1 => format!("{path}/"),
        2 => format!("x/../{path}"),
        _ => path.replace('/', "//"),
    }
}

/// The result of a call: its JSON, or its error code.
fn answer<D: notehost_sdk::Describes>(
    vault: &MemoryVault,
    action: &str,
    arguments: Value,
) -> Result<Value, String> {
    match reply::<D>(vault, action, &arguments) {
        Ok(reply) => Ok(reply.json()),
        Err(error) => Err(error.code().to_owned()),
    }
}

fn document(vault: &MemoryVault, action: &str, arguments: Value) -> Result<Value, String> {
    answer::<notehost_document::Domain>(vault, action, arguments)
}

fn fs(vault: &MemoryVault, action: &str, arguments: Value) -> Result<Value, String> {
    answer::<Domain>(vault, action, arguments)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn ls_and_tree_match_document(vault in any_vault(), path in 0..PATHS.len(), how in 0..4_u8, long: bool, limit in 1..4_usize, depth in 1..4_usize) {
        let (path, written) = (PATHS[path], respell(PATHS[path], how));
        let format = if long { "detailed" } else { "concise" };
        let listed = document(&vault, "list", json!({ "path": path, "format": format, "limit": limit }));
        let from_fs = fs(&vault, "ls", json!({ "path": written, "long": long, "limit": limit }));
        match listed {
            // `ls` also accepts a file.
            Err(code) if code == "validation_error" => prop_assert_eq!(from_fs.unwrap()["total"].clone(), 1),
            expected => prop_assert_eq!(from_fs, expected),
        }
        prop_assert_eq!(
            fs(&vault, "tree", json!({ "path": written, "depth": depth })),
            document(&vault, "tree", json!({ "path": path, "depth": depth }))
        );
    }

    #[test]
    fn cat_matches_document_read(vault in any_vault(), path in 0..PATHS.len(), first in 1..4_usize, count in 1..4_usize, is_part: bool) {
        let path = PATHS[path];
        let (read, lines) = match is_part {
            false => (json!({ "path": path }), json!({ "path": path })),
            true => (
                json!({ "path": path, "offset": first, "limit": count }),
                json!({ "path": path, "lines": format!("{first}-{}", first + count - 1) }),
            ),
        };
        let read = document(&vault, "read", read);
        let shown = fs(&vault, "cat", lines);
        match (&read, &shown) {
            (Ok(read), Ok(shown)) => {
                for field in ["path", "content", "etag", "lines", "truncated"] {
                    prop_assert_eq!(shown.get(field), read.get(field), "{}", field);
                }
            }
            // Where `document` finds no note, `fs` may report a folder.
            (Err(code), Err(_)) if code == "not_found" => {}
            _ => prop_assert_eq!(shown.err(), read.err()),
        }
    }

    #[test]
    fn grep_matches_search_regex(vault in any_vault(), path in 0..PATHS.len(), pattern in 0..6_usize, case: bool, limit in 1..6_usize) {
        let pattern = ["TODO", "^[ab]+$", "é|中", "^$", "(?i)h", "(a"][pattern];
        let path = PATHS[path];
        let arguments = |case_argument: &str, case: bool| {
            let mut arguments = json!({ "pattern": pattern, "path": path, "limit": limit });
            arguments[case_argument] = case.into();
            arguments
        };
        prop_assert_eq!(
            fs(&vault, "grep", arguments("ignore_case", !case)),
            answer::<notehost_search::Domain>(&vault, "regex", arguments("case", case))
        );
    }

    #[test]
    fn find_matches_recursive_list(vault in any_vault(), path in 0..PATHS.len(), how in 0..4_u8) {
        let (path, written) = (PATHS[path], respell(PATHS[path], how));
        let listed = document(&vault, "list", json!({ "path": path, "recursive": true }));
        let found = fs(&vault, "find", json!({ "path": written, "type": "file", "name": "*.md" }));
        match listed {
            Err(code) if code == "validation_error" => prop_assert_eq!(found.unwrap()["total"].clone(), 1),
            listed => prop_assert_eq!(found, listed),
        }
    }

    #[test]
    fn edits_and_moves_match_document(vault in any_vault(), path in 0..FILES.len(), old in "TODO|a|é", to in 0..2_usize) {
        let path = FILES[path];
        prop_assume!(path.ends_with(".md"));
        let (one, other) = (copy_of(&vault), copy_of(&vault));
        let edits = json!({ "path": path, "edits": [{ "old": old, "new": "x", "replace_all": true }] });
        prop_assert_eq!(fs(&one, "edit", edits.clone()), document(&other, "edit", edits));
        let to = ["Work/Sub/New.md", "New/Folder/plan.md"][to];
        prop_assert_eq!(
            fs(&one, "mv", json!({ "from": path, "to": to })),
            document(&other, "rename", json!({ "path": path, "to": to }))
        );
        prop_assert_eq!(contents(&one), contents(&other));
    }
}

/// The same files in another vault.
fn copy_of(vault: &MemoryVault) -> MemoryVault {
    let mut copy = Vault::in_memory();
    for (path, text) in contents(vault) {
        copy = copy.with(&path, &text);
    }
    copy
}

/// Every file with its text.
fn contents(vault: &MemoryVault) -> Vec<(String, String)> {
    let vault: &Vault = vault;
    let paths = vault.files().unwrap();
    let read = |path: String| {
        let text = vault.read_text(&path).unwrap().text;
        (path, text)
    };
    paths.into_iter().map(read).collect()
}
