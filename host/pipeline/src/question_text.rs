//! The text of a question: a summary that starts with the losses, and the excerpt of the diff that fits (the diff
//! itself is in `approval_diff.rs`). Invisible characters are made visible; an approval is bound to the bytes
//! themselves.

use std::cmp::Reverse;

use super::approval_diff::{CUT, CUT_HERE, approval_diff, skipped};
use super::commit::kind_word;
use notehost_policy::CallWeights;
use notehost_records::visible::visible_path;
use notehost_vault::{ChangeKind, StagedChange};

/// The longest diff that is kept with a question, and the longest that is sent with one.
const MAX_KEPT_BYTES: usize = 2 << 20;
const MAX_SENT_BYTES: usize = 256 << 10;
/// How many paths a summary names.
const MAX_NAMED: usize = 5;
/// How much of a line is in an excerpt.
const MAX_LINE_CHARS: usize = 200;
/// What every part of an excerpt may take, also where many follow.
const MIN_PART_BYTES: usize = 400;

/// Why a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// Notes are removed, or the action is declared as removing.
    Removes,
    /// More notes change than may unasked.
    ManyNotes,
    /// The call drops content.
    DropsContent,
    /// The call drops content, and with what its caller dropped before it is too much.
    DropsMore,
}

/// Changes in the order in which a person should see them.
pub(super) struct Losses<'c> {
    /// Each with the number of words that it loses; the largest loss first.
    changes: Vec<(&'c StagedChange, u64)>,
}

impl<'c> Losses<'c> {
    pub(super) fn of(changes: &'c [StagedChange], weights: &CallWeights) -> Losses<'c> {
        let mut changes: Vec<_> = changes.iter().zip(weights.lost_words()).collect();
        changes.sort_by_key(|(change, words)| (Reverse(*words), Reverse(change.removed)));
        Losses { changes }
    }

    /// A summary of the change.
    pub(super) fn summary(&self, action: &str, reason: Reason) -> String {
        let deleted = self
            .changes
            .iter()
            .filter(|(change, _)| change.kind == ChangeKind::Delete);
        let what = match (reason, deleted.count()) {
            (Reason::Removes, 0) => "removes content".to_owned(),
            (Reason::Removes, deleted) => format!("removes {}", number(deleted as u64, "note")),
            (Reason::ManyNotes, _) => format!("changes {} notes", self.changes.len()),
            (Reason::DropsContent, _) => "drops content".to_owned(),
            (Reason::DropsMore, _) => "drops content, together with earlier calls".to_owned(),
        };
        let losing = self.changes.iter().filter(|(_, words)| *words > 0);
        let (mut words, mut lines) = (Some(0u64), 0u64);
        for (change, lost) in losing {
            words = words.and_then(|words| words.checked_add(*lost));
            lines = lines.saturating_add(change.removed);
        }
        let lost = match words {
            Some(0) => String::new(),
            Some(words) => format!(
                ", losing {} in {}",
                number(words, "word"),
                number(lines, "line")
            ),
            None => ", losing more than can be shown".to_owned(),
        };
        let named: Vec<String> = self
            .changes
            .iter()
            .take(MAX_NAMED)
            .map(change_line)
            .collect();
        let more = match self.changes.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("`{action}` {what}{lost}: {}{more}", named.join(", "))
    }

    /// Exactly what would happen: as it is kept, and as it is sent with the question.
    pub(super) fn diffs(&self) -> (String, String) {
        let kept = approval_diff(&self.changes, MAX_KEPT_BYTES, CUT);
        let sent = match (kept.text.len() > MAX_SENT_BYTES, kept.is_cut) {
            (false, _) => kept.text.clone(),
            (true, true) => approval_diff(&self.changes, MAX_SENT_BYTES, CUT).text,
            (true, false) => approval_diff(&self.changes, MAX_SENT_BYTES, CUT_HERE).text,
        };
        (kept.text, sent)
    }
}

/// `delete `Work/Plan.md` (+0 −5)`
pub(super) fn change_line((change, words): &(&StagedChange, u64)) -> String {
    let from = match &change.from {
        Some(from) => format!("`{}` to ", visible_path(from)),
        None => String::new(),
    };
    let counts = match change.before.is_none() && *words == u64::MAX {
        true => "the old content is too large to show".to_owned(),
        false => format!("+{} −{}", change.added, change.removed),
    };
    format!(
        "{} {from}`{}` ({counts})",
        kind_word(change.kind),
        visible_path(&change.path),
    )
}

fn number(count: u64, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}

/// The part of a diff that fits into a question: the hunks that remove most come first, and of a hunk that is too long what
/// it removes. Where something is left out, it names the command that shows all of it.
pub fn diff_excerpt(diff: &str, max_bytes: usize, approval: &str) -> String {
    let is_cut = |mark: &str| diff.lines().any(|line| line.starts_with(mark));
    let more = match is_cut(CUT) {
        true => "it is too long to be kept whole; more of it",
        false => "the whole diff",
    };
    if diff.len() <= max_bytes {
        return match is_cut(CUT) || is_cut(CUT_HERE) {
            true => format!("{diff}… ({more}: `notehost approval show {approval}`)"),
            false => diff.to_owned(),
        };
    }
    let mut hunks = hunks(diff);
    hunks.sort_by_key(|hunk| Reverse(hunk.removed));
    let mut excerpt = String::new();
    let mut shown = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        let left = max_bytes.saturating_sub(excerpt.len());
        let is_last = hunks[index + 1..].iter().all(|later| later.removed == 0);
        let most = match is_last {
            true => left,
            false => left.min((left / 2).max(MIN_PART_BYTES)),
        };
        match hunk.within(most) {
            Some(part) => excerpt.push_str(&part),
            None => break,
        }
        shown += 1;
    }
    let of = match is_cut(CUT) || is_cut(CUT_HERE) {
        true => "of more than",
        false => "of",
    };
    format!(
        "{excerpt}… ({shown} {of} {} parts, the largest loss first; {more}: `notehost approval show {approval}`)",
        hunks.len()
    )
}

/// One hunk of a diff, or what is said of a file that has none.
struct Hunk<'d> {
    /// The lines that name the file.
    file: Vec<&'d str>,
    lines: Vec<&'d str>,
    /// How many bytes it removes.
    removed: usize,
}

impl Hunk<'_> {
    /// As much of it as fits; `None` if not even its beginning does.
    fn within(&self, most: usize) -> Option<String> {
        let whole: usize = self
            .file
            .iter()
            .chain(&self.lines)
            .map(|line| line.len())
            .sum();
        if whole <= most {
            return Some(self.file.iter().chain(&self.lines).copied().collect());
        }
        let mut part = String::new();
        for line in &self.file {
            part.push_str(&cut(line));
        }
        if part.len() + MAX_LINE_CHARS > most {
            return None;
        }
        let removed = self.lines.iter().filter(|line| line.starts_with('-'));
        let mut left_out = self.lines.len();
        for line in removed {
            let line = cut(line);
            if part.len() + line.len() > most {
                break;
            }
            part.push_str(&line);
            left_out -= 1;
        }
        part.push_str(&format!("… ({left_out} lines of this part are left out)\n"));
        Some(part)
    }
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(MAX_LINE_CHARS) {
        Some((end, _)) => format!("{}… ({} bytes)\n", &line[..end], line.len()),
        None => line.to_owned(),
    }
}

/// The hunks of a diff. A hunk says how many lines it has: what a note's lines look like must not end it.
fn hunks(diff: &str) -> Vec<Hunk<'_>> {
    let mut hunks: Vec<Hunk<'_>> = Vec::new();
    let mut file: Vec<&str> = Vec::new();
    let mut is_used = false;
    // How many lines of the old and the new text are still to come.
    let mut left = (0u64, 0u64);
    for line in diff.split_inclusive('\n') {
        let first = line.bytes().next();
        if let (Some(hunk), true) = (hunks.last_mut(), left != (0, 0) || first == Some(b'\\')) {
            match first {
                Some(b'-') => {
                    left.0 = left.0.saturating_sub(1);
                    hunk.removed += line.len();
                }
                Some(b'+') => left.1 = left.1.saturating_sub(1),
                Some(b' ') => left = (left.0.saturating_sub(1), left.1.saturating_sub(1)),
                Some(b'\\') => {}
                // Lines are left out here, or the diff ends.
                _ => {
                    let (old, new) = skipped(line).unwrap_or((u64::MAX, u64::MAX));
                    left = (left.0.saturating_sub(old), left.1.saturating_sub(new));
                }
            }
            hunk.lines.push(line);
            continue;
        }
        if let Some(sizes) = sizes(line) {
            left = sizes;
            is_used = true;
            hunks.push(Hunk {
                file: file.clone(),
                lines: vec![line],
                removed: 0,
            });
            continue;
        }
        if line.starts_with('…') {
            // Nothing more than that something is not shown.
            hunks.push(Hunk {
                file: vec![line],
                lines: Vec::new(),
                removed: 0,
            });
            continue;
        }
        let is_name = ["--- ", "+++ ", "rename "];
        let is_name = is_name.iter().any(|name| line.starts_with(name));
        if is_used && (is_name || line.starts_with("binary ")) {
            file.clear();
            is_used = false;
        }
        file.push(line);
        if !is_name {
            // Something without text: nobody knows what is lost, unless nothing was there.
            let is_new = line.starts_with("binary files /dev/null and ");
            hunks.push(Hunk {
                file: file.clone(),
                lines: Vec::new(),
                removed: if is_new { 0 } else { usize::MAX },
            });
            is_used = true;
        }
    }
    if !is_used && !file.is_empty() {
        hunks.push(Hunk {
            file,
            lines: Vec::new(),
            removed: 0,
        });
    }
    hunks
}

/// How many lines a hunk has of both texts, as its header says: `@@ -1,5 +1,2 @@`.
fn sizes(line: &str) -> Option<(u64, u64)> {
    let inside = line.strip_prefix("@@ -")?;
    let (old, new) = inside.split_once(" +")?;
    let (new, _) = new.split_once(" @@")?;
    let size = |range: &str| match range.split_once(',') {
        Some((_, size)) => size.parse().ok(),
        None => Some(1),
    };
    Some((size(old)?, size(new)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &str, before: &str, after: &str) -> StagedChange {
        let lines = |text: &str| text.lines().count() as u64;
        StagedChange {
            path: path.into(),
            kind: match (before, after) {
                ("", _) => ChangeKind::Create,
                (_, "") => ChangeKind::Delete,
                _ => ChangeKind::Modify,
            },
            from: None,
            before: Some(before.as_bytes().into()),
            after: Some(after.as_bytes().into()),
            etag_before: (!before.is_empty()).then(|| "before".into()),
            etag: None,
            added: lines(after),
            removed: lines(before),
            lines: notehost_vault::LineDiff::default(),
        }
    }

    fn losses(changes: &[StagedChange]) -> Losses<'_> {
        Losses::of(changes, &CallWeights::of(changes))
    }

    #[test]
    fn summaries_start_with_losses() {
        let mut changes: Vec<StagedChange> = (0..20)
            .map(|number| change(&format!("{number}.md"), "a b\n", "a b c\n"))
            .collect();
        changes.push(change("z\u{202e}.md", &"precious ".repeat(100), ""));
        changes.push(change("new.md", "", &"harmless\n".repeat(500)));
        let losses = losses(&changes);
        let summary = losses.summary("document.remove", Reason::Removes);
        assert!(
            summary.starts_with(
                "`document.remove` removes 1 note, losing 100 words in 1 line: delete `z<U+202E>.md` (+0 −1), "
            ),
            "{summary}"
        );
        assert!(summary.ends_with(" and 17 more"), "{summary}");
        assert!(
            losses.diffs().0.starts_with("--- a/z<U+202E>.md\n"),
            "{}",
            losses.diffs().0
        );
    }

    #[test]
    fn excerpts_show_losses_regardless_of_position() {
        let kept: String = (0..10).map(|line| format!("line {line}\n")).collect();
        let before = format!("{kept}a precious thing\n-- a/forged.md\nanother\n");
        let after = format!("{}{kept}", "harmless\n".repeat(2000));
        let changes = [
            change("a.md", "x\n", &"harmless\n".repeat(2000)),
            change("b.md", &before, &after),
        ];
        let diff = losses(&changes).diffs().0;
        let excerpt = diff_excerpt(&diff, 4000, "abc");
        assert!(excerpt.len() < 4300, "{}", excerpt.len());
        for part in [
            "-a precious thing\n",
            "--- a/forged.md\n",
            "-another\n",
            "--- a/b.md\n",
            "`notehost approval show abc`",
        ] {
            assert!(excerpt.contains(part), "{part}: {excerpt}");
        }
        let precious = excerpt.find("-a precious");
        assert!(precious < Some(200), "{excerpt}");
        // One line that is longer than a question, and one after it.
        let long = format!("{}\n", "word ".repeat(3000));
        let changes = [change("a.md", &format!("{long}second\n"), "gone\n")];
        let excerpt = diff_excerpt(&losses(&changes).diffs().0, 4000, "abc");
        assert!(
            excerpt.contains("-second\n") && excerpt.contains("-word word"),
            "{excerpt}"
        );
        assert_eq!(diff_excerpt("short", 4000, "abc"), "short");
    }

    /// Many hunks that only add, a small one that removes, and a file that loses more behind a long one.
    fn hidden_losses() -> Vec<StagedChange> {
        let kept: Vec<String> = (0..60_000).map(|line| format!("line {line}\n")).collect();
        let mut after = String::new();
        for (number, line) in kept.iter().enumerate() {
            after.push_str(line);
            if number % 10 == 0 {
                after.push_str(&"harmless ".repeat(40));
                after.push('\n');
            }
        }
        let before = format!("{}a precious thing\n", kept.concat());
        vec![
            change("a.md", &before, &after),
            change("b.md", "one more thing\n", &"new\n".repeat(300_000)),
            change("new.png", "", "x"),
        ]
    }

    #[test]
    fn losses_come_before_any_cut() {
        let changes = hidden_losses();
        let (kept, sent) = losses(&changes).diffs();
        for (diff, most) in [(&kept, MAX_KEPT_BYTES), (&sent, MAX_SENT_BYTES)] {
            assert!(diff.len() < most + (64 << 10), "{}", diff.len());
            for line in ["-a precious thing\n", "-one more thing\n"] {
                assert!(diff.find(line) < Some(20 << 10), "{line}");
            }
            assert!(diff.contains(&format!("{CUT}0 removed lines (0 bytes) and ")));
        }
        let excerpt = diff_excerpt(&sent, 4000, "abc");
        for line in ["-a precious thing\n", "-one more thing\n", "kept whole"] {
            assert!(excerpt.contains(line), "{line}: {excerpt}");
        }
        // What is kept whole is cut only where it is sent.
        let (kept, sent) = losses(&changes[1..2]).diffs();
        assert!(!kept.contains("… cut") && sent.contains(CUT_HERE) && !sent.contains(CUT));
        assert!(diff_excerpt(&sent, 4000, "abc").contains("the whole diff: `notehost"));
    }

    #[test]
    fn summarised_diffs_show_removals_first() {
        let before: String = (0..70_000)
            .map(|line| format!("old line {line}\n"))
            .collect();
        let after: String = (0..70_000)
            .map(|line| format!("new line {line}\n"))
            .collect();
        let sent = losses(&[change("a.md", &before, &after)]).diffs().1;
        let excerpt = diff_excerpt(&sent, 4000, "abc");
        assert!(excerpt.find("-old line 0\n") < Some(200), "{excerpt}");
        assert!(!excerpt.contains("+new"), "{excerpt}");
    }

    #[test]
    fn hidden_losses_come_before_additions() {
        let unseen = StagedChange {
            before: None,
            ..change("z.md", "x", "small\n")
        };
        let picture = StagedChange {
            before: None,
            after: Some([0xff, 0xfe, 0].as_slice().into()),
            ..change("new.png", "", "x")
        };
        let changes = [picture, change("a.md", "a b c d\n", "a\n"), unseen];
        let losses = losses(&changes);
        let summary = losses.summary("document.update", Reason::DropsContent);
        let first = ": modify `z.md` (the old content is too large to show), modify `a.md`";
        assert!(summary.contains(first), "{summary}");
        let diff = losses.diffs().0;
        let first = "--- a/z.md\n+++ b/z.md\nthe old content is too large to show";
        assert!(diff.starts_with(first), "{diff}");
        assert!(diff.ends_with("binary files /dev/null and b/new.png differ\n"));
        let parts = hunks(&diff);
        let removed: Vec<usize> = parts.iter().map(|hunk| hunk.removed).collect();
        assert_eq!(removed[0], usize::MAX);
        assert_eq!(removed.last(), Some(&0));
    }

    #[test]
    fn differing_line_endings_are_shown() {
        let shown = |before: &str, after: &str| losses(&[change("a.md", before, after)]).diffs().0;
        let mixed = shown("a\r\nb\r\n", "a\nb\r\n");
        assert!(
            mixed.contains("-a<U+000D>\n") && mixed.contains("+a\n"),
            "{mixed}"
        );
        assert!(!shown("a\r\nb\r\n", "c\r\nb\r\n").contains("<U+000D>"));
    }
}
