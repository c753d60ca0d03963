//! Line diffs of two contents, counted and rendered as unified diffs. Lines are compared once, when a change is made;
//! rendering reuses the result. All comparisons of a call share one time budget; whatever exceeds it is summarised:
//! everything between the first and the last difference counts as removed and added.

use std::{
    fmt::Write,
    ops::Range,
    sync::Arc,
    time::{Duration, Instant},
};

use similar::{Algorithm, DiffOp, TextDiff, group_diff_ops, udiff::UnifiedHunkHeader};

use crate::types::{ChangeKind, StagedChange};

/// The longest diff that is shown, in bytes.
const MAX_DIFF: usize = 256 << 10;
/// How long all comparisons of one call may take, and one of them.
const CALL_BUDGET: Duration = Duration::from_millis(1000);
const FILE_BUDGET: Duration = Duration::from_millis(300);
/// Files with more lines, on both sides together, are never compared line by line.
const MAX_COMPARED_LINES: usize = 200_000;
const CONTEXT: usize = 3;
/// What is added to a diff that is larger than it would have to be.
pub const SUMMARISED: &str = "… summarised: comparing all lines would take too long, so lines that did not change may be \
                                     shown as removed and added";
/// More than this is never written, also where it is cut afterwards.
const MAX_WRITTEN: usize = MAX_DIFF + (16 << 10);

/// What the comparisons of one call may still take.
pub(crate) struct DiffBudget {
    deadline: Instant,
}

impl DiffBudget {
    pub(crate) fn new() -> DiffBudget {
        DiffBudget {
            deadline: Instant::now() + CALL_BUDGET,
        }
    }

    /// Until when one file may be compared; `None` if nothing is left.
    fn next(&self) -> Option<Instant> {
        let now = Instant::now();
        (now < self.deadline).then(|| self.deadline.min(now + FILE_BUDGET))
    }

    #[cfg(test)]
    pub(crate) fn used_up() -> DiffBudget {
        DiffBudget {
            deadline: Instant::now(),
        }
    }
}

/// How the lines of two texts differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineDiff(Option<Arc<Compared>>);

#[derive(Debug, PartialEq, Eq)]
enum Compared {
    /// Line by line. `is_approximate` if the time ran out on the way.
    Lines {
        ops: Vec<DiffOp>,
        is_approximate: bool,
    },
    /// Only the bytes that both begin and end with are known to be the same; both end with a line.
    Summary { prefix: usize, suffix: usize },
}

impl LineDiff {
    /// Whether the diff is larger than it would have to be, because the smallest one is too expensive to find.
    pub fn is_summarised(&self) -> bool {
        match self.0.as_deref() {
            Some(Compared::Lines { is_approximate, .. }) => *is_approximate,
            Some(Compared::Summary { .. }) => true,
            None => false,
        }
    }
}

/// The lines added and removed, or bytes where one side is not text; and how the lines differ.
pub(crate) fn compare(
    before: Option<&[u8]>,
    after: Option<&[u8]>,
    budget: &DiffBudget,
) -> (u64, u64, LineDiff) {
    let (Some(old), Some(new)) = (text(before), text(after)) else {
        let length = |bytes: Option<&[u8]>| bytes.map_or(0, |bytes| bytes.len() as u64);
        return (length(after), length(before), LineDiff::default());
    };
    if old == new {
        return (0, 0, LineDiff::default());
    }
    if old.is_empty() || new.is_empty() {
        return (lines(new), lines(old), LineDiff::default());
    }
    let compared = compared(old, new, budget);
    let (added, removed) = match &compared {
        Compared::Lines { ops, .. } => {
            let changed = ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
            changed.fold((0, 0), |(added, removed), op| {
                (
                    added + op.new_range().len() as u64,
                    removed + op.old_range().len() as u64,
                )
            })
        }
        Compared::Summary { prefix, suffix } => {
            let middle = |text: &str| lines(&text[*prefix..text.len() - suffix]);
            (middle(new), middle(old))
        }
    };
    (added, removed, LineDiff(Some(Arc::new(compared))))
}

/// The diff of one file in parts.
pub struct FileDiff<'c> {
    /// The lines that name the file, and what is not shown of it.
    pub head: String,
    /// Where it differs, in order.
    pub hunks: Vec<DiffHunk<'c>>,
    /// Whether more is shown as different than is; see [`LineDiff::is_summarised`].
    pub is_summarised: bool,
}

/// One part of a file that differs, with the lines around it.
pub struct DiffHunk<'c> {
    /// `@@ -1,5 +1,2 @@`
    pub header: String,
    /// Whole lines that are removed (`-`), added (`+`) or the same in both (` `).
    pub parts: Vec<(char, &'c str)>,
}

/// Where a file differs. `name` writes its paths.
pub fn file_diff<'c>(change: &'c StagedChange, name: impl Fn(&str) -> String) -> FileDiff<'c> {
    let from = name(change.from.as_deref().unwrap_or(&change.path));
    let path = name(&change.path);
    let old_name = match change.kind {
        ChangeKind::Create => "/dev/null".to_owned(),
        _ => format!("a/{from}"),
    };
    let new_name = match change.kind {
        ChangeKind::Delete => "/dev/null".to_owned(),
        _ => format!("b/{path}"),
    };
    let mut diff = FileDiff {
        head: String::new(),
        hunks: Vec::new(),
        is_summarised: false,
    };
    let head = &mut diff.head;
    if change.from.is_some() {
        let _ = writeln!(head, "rename from {from}\nrename to {path}");
    }
    if change.before.is_none() && change.after.is_none() {
        if change.kind == ChangeKind::Delete {
            let _ = writeln!(
                head,
                "--- {old_name}\n+++ {new_name}\nthe file is too large to show"
            );
        }
        return diff;
    }
    let (Some(before), Some(after)) = (
        text(change.before.as_deref()),
        text(change.after.as_deref()),
    ) else {
        let _ = writeln!(head, "binary files {old_name} and {new_name} differ");
        return diff;
    };
    let is_unseen = change.etag_before.is_some() && change.before.is_none();
    if before == after && !is_unseen {
        return diff;
    }
    let _ = writeln!(head, "--- {old_name}\n+++ {new_name}");
    if is_unseen {
        let _ = writeln!(
            head,
            "the old content is too large to show; all of it is replaced"
        );
    }
    let made;
    let compared = match change.lines.0.as_deref() {
        Some(compared) => compared,
        // Made, removed, or never compared.
        None if before.is_empty() || after.is_empty() => &Compared::Summary {
            prefix: 0,
            suffix: 0,
        },
        None => {
            made = compared(before, after, &DiffBudget::new());
            &made
        }
    };
    diff.hunks = match compared {
        Compared::Lines { ops, .. } => hunks(before, after, ops),
        Compared::Summary { prefix, suffix } => {
            vec![summary_hunk(before, after, *prefix, *suffix)]
        }
    };
    diff.is_summarised = change.lines.is_summarised();
    diff
}

/// A change as a unified diff, for `dry_run` and the history. Line endings are shown as they are.
pub fn unified_diff(change: &StagedChange) -> String {
    let file = file_diff(change, str::to_owned);
    let mut diff = file.head;
    for hunk in &file.hunks {
        let _ = writeln!(diff, "{}", hunk.header);
        if file.hunks.len() == 1 && hunk.parts.len() <= 2 {
            // Both sides are shown in part, so that one cannot hide the other.
            let most = MAX_DIFF / hunk.parts.len().max(1);
            for (sign, text) in &hunk.parts {
                write_part(&mut diff, *sign, text, most);
            }
            break;
        }
        for (sign, text) in &hunk.parts {
            write_lines(&mut diff, *sign, text.split_inclusive('\n'));
        }
        if diff.len() > MAX_DIFF {
            cut(&mut diff);
            break;
        }
    }
    if file.is_summarised {
        let _ = writeln!(diff, "{SUMMARISED}");
    }
    diff
}

fn compared(before: &str, after: &str, budget: &DiffBudget) -> Compared {
    let is_small = || lines(before) + lines(after) <= MAX_COMPARED_LINES as u64;
    let Some(deadline) = budget.next().filter(|_| is_small()) else {
        return summary(before, after);
    };
    let (old, new) = (split(before), split(after));
    let lines = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .deadline(deadline)
        .newline_terminated(true)
        .diff_slices(&old, &new);
    Compared::Lines {
        ops: lines.ops().to_vec(),
        is_approximate: Instant::now() >= deadline,
    }
}

/// What both texts begin and end with, in whole lines.
fn summary(before: &str, after: &str) -> Compared {
    let same = before.bytes().zip(after.bytes());
    let prefix = same.take_while(|(old, new)| old == new).count();
    let prefix = memchr::memrchr(b'\n', &before.as_bytes()[..prefix]).map_or(0, |at| at + 1);
    let (old, new) = (&before[prefix..], &after[prefix..]);
    let same = old.bytes().rev().zip(new.bytes().rev());
    let length = same.take_while(|(old, new)| old == new).count();
    let tail = &old.as_bytes()[old.len() - length..];
    // Where a side is used up, its rest begins with a line; elsewhere the line before the first newline differs.
    let is_whole = length == old.len() || length == new.len();
    let is_line = is_whole && [old, new].iter().all(|text| begins_line(text, length));
    let suffix = match memchr::memchr(b'\n', tail) {
        _ if is_line => length,
        Some(at) => length - at - 1,
        None => 0,
    };
    Compared::Summary { prefix, suffix }
}

/// Whether the last bytes of a text begin with a line.
fn begins_line(text: &str, length: usize) -> bool {
    let at = text.len() - length;
    at == 0 || text.as_bytes()[at - 1] == b'\n'
}

fn hunks<'c>(before: &'c str, after: &'c str, ops: &[DiffOp]) -> Vec<DiffHunk<'c>> {
    let (old, new) = (starts(before), starts(after));
    let lines = |text: &'c str, starts: &[usize], range: Range<usize>| {
        &text[starts[range.start]..starts[range.end]]
    };
    let mut hunks = Vec::new();
    for group in group_diff_ops(ops.to_vec(), CONTEXT) {
        if group.is_empty() {
            continue;
        }
        let mut parts = Vec::new();
        for op in &group {
            let (removed, added) = (
                lines(before, &old, op.old_range()),
                lines(after, &new, op.new_range()),
            );
            match op {
                DiffOp::Equal { .. } => parts.push((' ', removed)),
                _ => parts.extend([('-', removed), ('+', added)]),
            }
        }
        parts.retain(|(_, text)| !text.is_empty());
        hunks.push(DiffHunk {
            header: UnifiedHunkHeader::new(&group).to_string(),
            parts,
        });
    }
    hunks
}

/// Where each line begins, and the end.
fn starts(text: &str) -> Vec<usize> {
    let mut starts = vec![0];
    starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
    if !text.is_empty() && !text.ends_with('\n') {
        starts.push(text.len());
    }
    starts
}

fn summary_hunk<'c>(before: &'c str, after: &'c str, prefix: usize, suffix: usize) -> DiffHunk<'c> {
    let old = &before[prefix..before.len() - suffix];
    let new = &after[prefix..after.len() - suffix];
    let start = lines(&before[..prefix]);
    let range = |text: &str| {
        let count = lines(text);
        match count {
            0 => format!("{start},0"),
            1 => format!("{}", start + 1),
            _ => format!("{},{count}", start + 1),
        }
    };
    let parts = [('-', old), ('+', new)];
    DiffHunk {
        header: format!("@@ -{} +{} @@", range(old), range(new)),
        parts: parts
            .into_iter()
            .filter(|(_, text)| !text.is_empty())
            .collect(),
    }
}

/// As many lines as take so many bytes.
fn write_part(diff: &mut String, sign: char, text: &str, most: usize) {
    let (mut shown, mut used) = (0, 0);
    for line in text.split_inclusive('\n') {
        used += line.len() + 1;
        if used > most {
            break;
        }
        write_lines(diff, sign, std::iter::once(line));
        shown += line.len();
    }
    // A single line may be too long.
    if shown == 0 && !text.is_empty() {
        shown = text.floor_char_boundary(most);
        let _ = writeln!(diff, "{sign}{}", &text[..shown]);
    }
    if shown < text.len() {
        let left = text.len() - shown;
        let _ = writeln!(diff, "… the diff continues for at least {left} bytes");
    }
}

fn write_lines<'text>(diff: &mut String, sign: char, lines: impl Iterator<Item = &'text str>) {
    for line in lines {
        // Of two parts that may be shown, neither is longer than this; a longer hunk is cut by its caller.
        if diff.len() > MAX_WRITTEN {
            return;
        }
        diff.push(sign);
        diff.push_str(line);
        if !line.ends_with('\n') {
            diff.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// Only a line feed ends a line: a lone carriage return is content, and CRLF stays with its line.
fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn lines(text: &str) -> u64 {
    let ended = memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
    ended + u64::from(!text.is_empty() && !text.ends_with('\n'))
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
    let end = diff.floor_char_boundary(MAX_DIFF);
    let end = diff[..end].rfind('\n').map_or(end, |line| line + 1);
    let left = diff.len() - end;
    diff.truncate(end);
    let _ = writeln!(diff, "… the diff continues for at least {left} bytes");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(before: &str, after: &str, budget: &DiffBudget) -> StagedChange {
        let (before, after) = (before.as_bytes(), after.as_bytes());
        let (added, removed, lines) = compare(Some(before), Some(after), budget);
        StagedChange {
            path: "a.md".into(),
            kind: ChangeKind::Modify,
            from: None,
            before: Some(before.into()),
            after: Some(after.into()),
            etag_before: None,
            etag: None,
            added,
            removed,
            lines,
        }
    }

    #[test]
    fn diffs_over_budget_are_summarised() {
        let before = "one\ntwo\nthree\nfour\nfive\n";
        let after = "one\n2\nthree\n4\nfive\n";
        let exact = change(before, after, &DiffBudget::new());
        assert_eq!((exact.added, exact.removed), (2, 2));
        assert!(!exact.lines.is_summarised());
        let rough = change(before, after, &DiffBudget::used_up());
        assert_eq!((rough.added, rough.removed), (3, 3));
        assert!(rough.lines.is_summarised());
        let shown = unified_diff(&rough);
        let hunk = "@@ -2,3 +2,3 @@\n-two\n-three\n-four\n+2\n+three\n+4\n… summarised";
        assert!(shown.contains(hunk), "{shown}");
    }

    #[test]
    fn a_summary_keeps_whole_lines() {
        for (before, after, counts, hunk) in [
            (
                "a\nb\nc",
                "a\nb\nc\nd",
                (2, 1),
                "-c\n\\ No newline at end of file\n+c\n+d\n",
            ),
            ("x\nsame\n", "y\nsame\n", (1, 1), "@@ -1 +1 @@\n-x\n+y\n"),
            ("ax\n", "bx\n", (1, 1), "-ax\n+bx\n"),
            ("b\n", "a\nb\n", (1, 0), "@@ -0,0 +1 @@\n+a\n"),
            ("a\nb\n", "a\n", (0, 1), "@@ -2 +1,0 @@\n-b\n"),
            ("a\nb\n", "a\nab\n", (1, 1), "-b\n+ab\n"),
            ("é\n", "è\n", (1, 1), "-é\n+è\n"),
            ("a\na\n", "a\na\na\n", (1, 0), "@@ -2,0 +3 @@\n+a\n"),
        ] {
            let rough = change(before, after, &DiffBudget::used_up());
            assert_eq!((rough.added, rough.removed), counts, "{before:?} {after:?}");
            let shown = unified_diff(&rough);
            assert!(shown.contains(hunk), "{before:?} {after:?}: {shown}");
        }
    }

    #[test]
    fn many_lines_are_never_compared_one_by_one() {
        let long = |word: &str| -> String {
            (0..MAX_COMPARED_LINES)
                .map(|line| format!("{word} {line}\n"))
                .collect()
        };
        let rough = change(&long("a"), &long("b"), &DiffBudget::new());
        assert!(rough.lines.is_summarised());
        let count = MAX_COMPARED_LINES as u64;
        assert_eq!((rough.added, rough.removed), (count, count));
        let shown = unified_diff(&rough);
        assert!(shown.len() < MAX_DIFF + 1000);
        assert!(shown.contains("\n-a 0\n") && shown.contains("\n+b 0\n"));
    }
}
