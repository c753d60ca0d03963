//! The links and headings of the repository's own Markdown files. A scanner for links, not a Markdown parser: code is
//! skipped, and links to other hosts are not followed.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use crate::support::repository;

/// Folders of notes and of files that are built or fetched. Their Markdown files are data.
const SKIPPED_NAMES: [&str; 7] = [
    "target",
    "node_modules",
    ".git",
    ".venv",
    "fixtures",
    "seeds",
    "findings",
];
const SKIPPED_FOLDERS: [&str; 2] = ["host/demo", "components"];

/// The Markdown files in a folder of the repository.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if path.is_dir() {
                let is_skipped = SKIPPED_NAMES.iter().any(|skipped| name == *skipped)
                    || SKIPPED_FOLDERS
                        .iter()
                        .any(|skipped| path == repository().join(skipped));
                if !is_skipped {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The targets of all relative links and pictures.
pub(super) fn links(text: &str) -> Vec<String> {
    let mut links = Vec::new();
    for line in prose_lines(text) {
        let line = without_code(line);
        for start in ["](", "src=\"", "srcset=\"", "href=\""] {
            let end = if start == "](" { ')' } else { '"' };
            for (at, _) in line.match_indices(start) {
                let rest = &line[at + start.len()..];
                if let Some((target, _)) = rest.split_once(end) {
                    // A title may follow the target.
                    links.extend(target.split_whitespace().next().map(str::to_owned));
                }
            }
        }
        let definition = line
            .strip_prefix('[')
            .and_then(|rest| rest.split_once("]: "));
        if let Some((_, target)) = definition {
            links.extend(target.split_whitespace().next().map(str::to_owned));
        }
    }
    links.retain(|link| !link.contains("://") && !link.starts_with("mailto:"));
    links
}

/// The lines outside fenced code.
fn prose_lines(text: &str) -> Vec<&str> {
    let mut fence: Option<&str> = None;
    let mut lines = Vec::new();
    for line in text.lines() {
        let trimmed = line.trim_start();
        let marks = trimmed.len() - trimmed.trim_start_matches('`').len();
        match fence {
            Some(open) => {
                if marks >= open.len() && trimmed[marks..].trim().is_empty() {
                    fence = None;
                }
            }
            None if marks >= 3 && !trimmed[marks..].contains('`') => {
                fence = Some(&trimmed[..marks]);
            }
            None => lines.push(line),
        }
    }
    lines
}

/// A line without its code spans.
fn without_code(line: &str) -> String {
    let mut kept = String::new();
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let after = &rest[start..];
        let marks = after.len() - after.trim_start_matches('`').len();
        let (fence, inside) = after.split_at(marks);
        kept.push_str(&rest[..start]);
        match inside.find(fence) {
            Some(end) => rest = &inside[end + marks..],
            None => rest = inside,
        }
    }
    kept.push_str(rest);
    kept
}

/// Why a link of a file is dead; `None` if it is not.
pub(super) fn problem(file: &Path, text: &str, link: &str) -> Option<String> {
    let (path, anchor) = match link.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor)),
        None => (link, None),
    };
    let target = match path {
        "" => file.to_owned(),
        path => normal(&file.parent().expect("a folder").join(path)),
    };
    if !target.starts_with(repository()) {
        return Some("leads out of the repository".to_owned());
    }
    if !target.exists() {
        return Some("no such file".to_owned());
    }
    let anchor = anchor?;
    let known = match path {
        "" => anchors(text),
        _ => anchors(&std::fs::read_to_string(&target).unwrap_or_default()),
    };
    (!known.iter().any(|known| known == anchor)).then(|| "no such heading".to_owned())
}

/// A path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

/// The anchors of all headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> Vec<String> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    let headings = prose_lines(text).into_iter().filter_map(|line| {
        let title = line.trim_start_matches('#');
        (title.len() < line.len()).then(|| title.strip_prefix(' '))?
    });
    headings
        .map(|title| {
            let slug = slug(title);
            let count = counts.entry(slug.clone()).or_default();
            *count += 1;
            match *count {
                1 => slug,
                more => format!("{slug}-{}", more - 1),
            }
        })
        .collect()
}

fn slug(title: &str) -> String {
    title
        .trim()
        .to_lowercase()
        .chars()
        .filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'))
        .map(|letter| if letter == ' ' { '-' } else { letter })
        .collect()
}

#[test]
fn links_and_headings_are_found() {
    let text = "# A `b`, c\n\n## Twice\n## Twice\n[x](a.md#b) `[y](no.md)` ![z](p.svg \"title\")\n\
                ```sh\n[w](no.md)\n```\n<img src=\"q.svg\"> [v](https://example.org)\n[u]: r.md\n";
    assert_eq!(links(text), ["a.md#b", "p.svg", "q.svg", "r.md"]);
    assert_eq!(anchors(text), ["a-b-c", "twice", "twice-1"]);
}
