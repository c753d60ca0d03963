//! What differs between two contents: counted in lines, and shown as a unified diff.

use std::{fmt::Write, time::Duration};

use similar::{ChangeTag, TextDiff};

use super::types::{ChangeKind, StagedChange};

/// The longest diff that is shown, in bytes.
const MAX_DIFF: usize = 256 << 10;
/// How long the search for the smallest diff may take; after that a larger one does.
const PATIENCE: Duration = Duration::from_millis(300);
const CONTEXT: usize = 3;

/// A change as a unified diff, for `dry_run` and confirmations. Line endings are shown as they are.
pub fn unified_diff(change: &StagedChange) -> String {
    let from = change.from.as_deref().unwrap_or(&change.path);
    let old_name = if change.kind == ChangeKind::Create {
        "/dev/null".to_owned()
    } else {
        format!("a/{from}")
    };
    let new_name = if change.kind == ChangeKind::Delete {
        "/dev/null".to_owned()
    } else {
        format!("b/{}", change.path)
    };
    let mut diff = String::new();
    if let Some(from) = &change.from {
        let _ = writeln!(diff, "rename from {from}\nrename to {}", change.path);
    }
    if change.before.is_none() && change.after.is_none() {
        if change.kind == ChangeKind::Delete {
            let _ = writeln!(
                diff,
                "--- {old_name}\n+++ {new_name}\nthe file is too large to show"
            );
        }
        return diff;
    }
    let (Some(before), Some(after)) = (
        text(change.before.as_deref()),
        text(change.after.as_deref()),
    ) else {
        let _ = writeln!(diff, "binary files {old_name} and {new_name} differ");
        return diff;
    };
    if before == after {
        return diff;
    }
    let _ = writeln!(diff, "--- {old_name}\n+++ {new_name}");
    let lines = line_diff(before, after);
    for hunk in lines.unified_diff().context_radius(CONTEXT).iter_hunks() {
        let _ = writeln!(diff, "{}", hunk.header());
        for line in hunk.iter_changes() {
            let sign = match line.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            diff.push(sign);
            diff.push_str(line.value());
            if !line.value().ends_with('\n') {
                diff.push_str("\n\\ No newline at end of file\n");
            }
        }
        if diff.len() > MAX_DIFF {
            cut(&mut diff);
            break;
        }
    }
    diff
}

/// Lines added and removed; bytes where one side is not text.
pub(super) fn count_lines(before: Option<&[u8]>, after: Option<&[u8]>) -> (u64, u64) {
    let (Some(old), Some(new)) = (text(before), text(after)) else {
        let length = |bytes: Option<&[u8]>| bytes.map_or(0, |bytes| bytes.len() as u64);
        return (length(after), length(before));
    };
    match (old.is_empty(), new.is_empty()) {
        (true, _) => (lines(new), 0),
        (_, true) => (0, lines(old)),
        _ => line_diff(old, new)
            .ops()
            .iter()
            .fold((0, 0), |(added, removed), op| match op {
                similar::DiffOp::Equal { .. } => (added, removed),
                op => (
                    added + op.new_range().len() as u64,
                    removed + op.old_range().len() as u64,
                ),
            }),
    }
}

fn line_diff<'text>(before: &'text str, after: &'text str) -> TextDiff<'text, 'text, str> {
    // Only a line feed ends a line: a lone carriage return is content, and CRLF stays with its line.
    let before: Vec<&str> = before.split_inclusive('\n').collect();
    let after: Vec<&str> = after.split_inclusive('\n').collect();
    TextDiff::configure()
        .timeout(PATIENCE)
        .newline_terminated(true)
        .diff_slices(&before, &after)
}

fn lines(text: &str) -> u64 {
    text.split_inclusive('\n').count() as u64
}

/// Content as text: none is empty text, and what is not UTF-8 or contains NUL is not text.
fn text(bytes: Option<&[u8]>) -> Option<&str> {
    let Some(bytes) = bytes else { return Some("") };
    if memchr::memchr(0, bytes).is_some() {
        None
    } else {
        std::str::from_utf8(bytes).ok()
    }
}

fn cut(diff: &mut String) {
    let mut end = MAX_DIFF;
    while !diff.is_char_boundary(end) {
        end -= 1;
    }
    let end = diff[..end].rfind('\n').map_or(end, |line| line + 1);
    let left = diff.len() - end;
    diff.truncate(end);
    let _ = writeln!(diff, "… the diff goes on for at least {left} bytes");
}
