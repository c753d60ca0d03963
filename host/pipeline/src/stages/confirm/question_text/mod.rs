//! The text of a question: a summary that starts with the losses, and the excerpt of the diff that fits (the diff
//! itself is in `approval_diff.rs`). Invisible characters are made visible; an approval is bound to the bytes
//! themselves.

use std::cmp::Reverse;

use super::approval_diff::{CUT, CUT_HERE, approval_diff, skipped};
use notehost_policy::CallWeights;
use notehost_records::visible::visible_path;
use notehost_vault::{ChangeKind, StagedChange};

/// The longest diff that is kept with a question, and the longest that is sent with one.
const MAX_KEPT_BYTES: usize = 2 << 20;
const MAX_SENT_BYTES: usize = 256 << 10;
/// How many bytes of a summary name paths, and how many paths it names at least.
const MAX_NAMED_BYTES: usize = 2 << 10;
const MIN_NAMED: usize = 5;
/// How much of a line is in an excerpt.
const MAX_LINE_CHARS: usize = 200;
/// What every part of an excerpt may take, also where many follow.
const MIN_PART_BYTES: usize = 400;

/// Why a change needs approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Notes are removed, or the action is declared as removing.
    Removes,
    /// More notes change than may without approval.
    ManyNotes,
    /// The call drops content.
    DropsContent,
    /// The call drops content, and with what its caller dropped before it is too much.
    DropsMore,
}

/// Changes in the order in which a person should see them.
pub(crate) struct Losses<'c> {
    /// Each with the number of words that it loses; the largest loss of what the caller did not write first.
    changes: Vec<(&'c StagedChange, u64)>,
}

impl<'c> Losses<'c> {
    /// `of_others` counts, for each change, what it loses of what its caller did not write: nobody hides a loss behind notes
    /// that it made itself.
    pub(crate) fn of(
        changes: &'c [StagedChange],
        weights: &CallWeights,
        of_others: &[u64],
    ) -> Losses<'c> {
        let changes = changes.iter().zip(weights.lost_words());
        let mut ranked: Vec<_> = changes.zip(of_others).collect();
        ranked.sort_by_key(|((change, words), of_others)| {
            let is_kept = change.kind != ChangeKind::Delete;
            (
                Reverse(**of_others),
                is_kept,
                Reverse(*words),
                Reverse(change.removed),
            )
        });
        Losses {
            changes: ranked.into_iter().map(|(change, _)| change).collect(),
        }
    }

    /// A summary of the change.
    pub(crate) fn summary(&self, action: &str, reason: Reason) -> String {
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
        let mut bytes = 0;
        let lines = self.changes.iter().map(change_line).enumerate();
        let named = lines.take_while(|(number, line)| {
            bytes += line.len();
            *number < MIN_NAMED || bytes <= MAX_NAMED_BYTES
        });
        let named: Vec<String> = named.map(|(_, line)| line).collect();
        let more = match self.changes.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("`{action}` {what}{lost}: {}{more}", named.join(", "))
    }

    /// Exactly what would happen: as it is kept, and as it is sent with the question.
    pub(crate) fn diffs(&self) -> (String, String) {
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
pub(crate) fn change_line((change, words): &(&StagedChange, u64)) -> String {
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
        change.kind.as_str(),
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
    // What loses something comes first. The files keep their order, which is that of the losses: by its size alone, what the
    // caller wrote itself would come before what others wrote.
    let mut file = 0;
    for at in 1..hunks.len() {
        file += usize::from(hunks[at].file != hunks[at - 1].file);
        hunks[at].rank = file;
    }
    hunks.sort_by_key(|hunk| (hunk.removed == 0, hunk.rank, Reverse(hunk.removed)));
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
    /// The place of its file among the files.
    rank: usize,
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
                rank: 0,
            });
            continue;
        }
        if line.starts_with('…') {
            // Nothing more than that something is not shown.
            hunks.push(Hunk {
                file: vec![line],
                lines: Vec::new(),
                removed: 0,
                rank: 0,
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
                rank: 0,
            });
            is_used = true;
        }
    }
    if !is_used && !file.is_empty() {
        hunks.push(Hunk {
            file,
            lines: Vec::new(),
            removed: 0,
            rank: 0,
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
mod tests;
