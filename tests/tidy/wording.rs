//! The texts that people and models read use the terms of the field, not a private dialect.

use std::path::{Path, PathBuf};

use crate::support::repository;

/// Phrases that must not come back anywhere, in lower case: in texts, in messages and in comments.
const BANNED: [&str; 19] = [
    "whatever the case",
    " told ",
    " tells ",
    "stands in",
    "stand in ",
    "lies in",
    " lie in ",
    "whoever",
    "given a rest",
    "turns it round",
    "of another make",
    "asker",
    "condemn",
    "glimpse",
    "keeper",
    "meddl",
    "on the quiet",
    "says so",
    " is the most ",
];

/// Phrases that must not come back in texts and messages. Comments may say that something is no longer the case.
const BANNED_IN_TEXTS: [&str; 3] = [" it is no ", " that is no ", " which is no "];

/// Documents, WIT files and the config template: every line counts.
const TEXTS: [&str; 8] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs",
    "wit",
    "sdk/README.md",
    "host/config/src/template.toml",
];

/// Sources whose string literals are printed or sent.
const SOURCES: [&str; 3] = ["host", "sdk/src", "components"];

fn files(path: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let name = path.file_name().unwrap_or_default();
        if ["target", "tests", "node_modules", "demo", "vendor"]
            .iter()
            .any(|skip| name == *skip)
        {
            return;
        }
        let entries = std::fs::read_dir(path).expect("a folder");
        for entry in entries {
            files(&entry.expect("an entry").path(), extensions, found);
        }
    } else if path
        .extension()
        .and_then(|extension| extension.to_str())
        .is_some_and(|extension| extensions.contains(&extension))
    {
        found.push(path.to_owned());
    }
}

/// The string literals of a line of code. One that goes on in the next line begins there anew, which is good enough here.
fn literals(line: &str) -> String {
    let mut texts = String::new();
    let mut inside = false;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if inside => {
                letters.next();
            }
            '"' => {
                inside = !inside;
                texts.push('\n');
            }
            letter if inside => texts.push(letter),
            _ => {}
        }
    }
    texts
}

#[test]
fn literals_are_found() {
    assert_eq!(
        literals(r#"f("a \" b", x, "c")"#).replace('\n', "|"),
        "|a  b||c|"
    );
}

#[test]
fn texts_contain_no_banned_phrases() {
    let top = repository();
    let mut offences = Vec::new();
    let mut check = |path: &Path, number: usize, text: &str, is_comment: bool| {
        // A sentence that begins with the phrase, or ends with it, counts as well.
        let text = format!(" {} ", text.to_lowercase());
        let in_texts = BANNED_IN_TEXTS.iter().filter(|_| !is_comment);
        let banned = BANNED.iter().chain(in_texts);
        for phrase in banned.filter(|phrase| text.contains(**phrase)) {
            let path = path.strip_prefix(&top).unwrap_or(path);
            offences.push(format!("{}:{number}: `{}`", path.display(), phrase.trim()));
        }
    };
    let mut found = Vec::new();
    for text in TEXTS {
        files(&top.join(text), &["md", "wit", "toml", "json"], &mut found);
    }
    files(&top.join("components"), &["json"], &mut found);
    for path in &found {
        let text = std::fs::read_to_string(path).expect("a text");
        for (at, line) in text.lines().enumerate() {
            check(path, at + 1, line, false);
        }
    }
    let mut found = Vec::new();
    for folder in SOURCES {
        files(&top.join(folder), &["rs"], &mut found);
    }
    assert!(found.len() > 300, "the sources are found");
    for path in found.iter().filter(|path| !path.ends_with("tests.rs")) {
        let text = std::fs::read_to_string(path).expect("a source file");
        // The tests at the end of a file print only when they fail.
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for (at, line) in code.lines().enumerate() {
            match line.trim_start().strip_prefix("//") {
                Some(comment) => check(path, at + 1, comment, true),
                None => check(path, at + 1, &literals(line), false),
            }
        }
    }
    assert!(
        offences.is_empty(),
        "use the terms of the field instead (CONTRIBUTING.md, \"Words\"):\n{}",
        offences.join("\n")
    );
}
