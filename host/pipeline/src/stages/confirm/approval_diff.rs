//! The diff shown for an approval. If it does not fit, losses come first: every hunk that removes something, with few
//! of its added lines, before any hunk that only adds. Whatever is left out is counted.

use std::cmp::Reverse;
use std::fmt::Write as _;

use super::question_text::change_line;
use notehost_records::visible::{visible, visible_name, visible_with_line_ends};
use notehost_vault::{DiffHunk, FileDiff, SUMMARISED, StagedChange, file_diff};

/// The marks of a cut diff: with more of it stored, and without.
pub(crate) const CUT_HERE: &str = "… cut here: ";
pub(crate) const CUT: &str = "… cut: ";
/// How much is shown of lines that are added, or the same, beside lines that are removed.
const MAX_RUN_BYTES: usize = 2 << 10;
/// What every file with losses may take, also where many follow.
const MIN_FILE_BYTES: usize = 16 << 10;
/// How much of a long line is shown at least.
const MIN_LINE_BYTES: usize = 1 << 10;
/// How many files are named whose diff is not shown.
const MAX_LISTED: usize = 2000;

/// A diff, and whether something is missing.
pub(crate) struct ShownDiff {
    pub(crate) text: String,
    pub(crate) is_cut: bool,
}

/// The diff of changes with the words that each loses, the largest loss first. About `max_bytes` are written; if that is
/// not all, `mark` begins the line that states what is missing.
pub(crate) fn approval_diff(
    changes: &[(&StagedChange, u64)],
    max_bytes: usize,
    mark: &str,
) -> ShownDiff {
    let files: Vec<File<'_>> = changes.iter().map(File::of).collect();
    let size: usize = files.iter().map(File::size).sum();
    if size <= max_bytes {
        let mut writer = Writer::default();
        for file in &files {
            writer.text.push_str(&file.diff.head);
            for hunk in &file.diff.hunks {
                writer.hunk(file, hunk, usize::MAX, usize::MAX);
            }
            writer.summarised(file);
        }
        // Characters that are made visible take more room.
        if writer.text.len() <= max_bytes {
            return ShownDiff {
                text: writer.text,
                is_cut: false,
            };
        }
    }
    let mut writer = Writer::default();
    let mut shown = vec![false; files.len()];
    writer.losses(&files, max_bytes, &mut shown);
    writer.rest(&files, max_bytes, &mut shown);
    writer.end(changes, &shown, mark)
}

/// One file, in whose text nothing is hidden any more.
struct File<'c> {
    diff: FileDiff<'c>,
    /// Whether its lines end in different ways, so that the ends are shown.
    has_mixed_ends: bool,
    /// Whether something is lost that no hunk shows.
    is_unseen: bool,
}

impl<'c> File<'c> {
    fn of((change, words): &(&'c StagedChange, u64)) -> File<'c> {
        let texts = [&change.before, &change.after];
        let texts = || texts.into_iter().flatten();
        let has = |wanted: bool| {
            texts().any(|bytes| {
                let mut ends = memchr::memchr_iter(b'\n', bytes);
                ends.any(|at| (at > 0 && bytes[at - 1] == b'\r') == wanted)
            })
        };
        File {
            diff: file_diff(change, visible_name),
            has_mixed_ends: has(true) && has(false),
            is_unseen: *words == u64::MAX,
        }
    }

    /// How many bytes it takes at least.
    fn size(&self) -> usize {
        let hunks = self.diff.hunks.iter();
        let parts = hunks.flat_map(|hunk| hunk.parts.iter().map(|(_, text)| text.len() + 1));
        self.diff.head.len() + parts.sum::<usize>()
    }

    /// Its hunks that remove something, the largest loss first.
    fn losing(&self) -> Vec<&DiffHunk<'c>> {
        let hunks = self.diff.hunks.iter();
        let mut losing: Vec<_> = hunks.filter(|hunk| removed(hunk) > 0).collect();
        losing.sort_by_key(|hunk| Reverse(removed(hunk)));
        losing
    }
}

/// How many bytes a hunk removes, without white space.
fn removed(hunk: &DiffHunk<'_>) -> usize {
    let parts = hunk.parts.iter().filter(|(sign, _)| *sign == '-');
    let words = parts.flat_map(|(_, text)| text.split_whitespace());
    words.map(str::len).sum()
}

/// Lines that are not shown.
#[derive(Default)]
struct Missing {
    lines: u64,
    bytes: usize,
}

impl Missing {
    fn add(&mut self, text: &str) {
        self.lines += text.split_inclusive('\n').count() as u64;
        self.bytes += text.len();
    }
}

#[derive(Default)]
struct Writer {
    text: String,
    removed: Missing,
    added: Missing,
}

impl Writer {
    /// Every hunk that removes something.
    fn losses(&mut self, files: &[File<'_>], max_bytes: usize, shown: &mut [bool]) {
        let losing = |file: &File<'_>| file.is_unseen || !file.losing().is_empty();
        let mut left_files = files.iter().filter(|file| losing(file)).count();
        for (file, is_shown) in files.iter().zip(shown) {
            if !losing(file) {
                continue;
            }
            left_files -= 1;
            let left = max_bytes.saturating_sub(self.text.len());
            let most = match left_files {
                0 => left,
                _ => left.min((left / 2).max(MIN_FILE_BYTES)),
            };
            let end = self.text.len() + most;
            let hunks = file.losing();
            if file.diff.head.len() + MIN_LINE_BYTES > most {
                hunks.into_iter().for_each(|hunk| self.miss(hunk));
                continue;
            }
            *is_shown = true;
            self.text.push_str(&file.diff.head);
            for hunk in hunks {
                let left = end.saturating_sub(self.text.len());
                if left < MIN_LINE_BYTES {
                    self.miss(hunk);
                    continue;
                }
                let runs = hunk.parts.iter().filter(|(sign, _)| *sign != '-').count();
                let beside = left.saturating_sub(removed(hunk)) / runs.max(1);
                self.hunk(file, hunk, left, beside.min(MAX_RUN_BYTES));
            }
            self.summarised(file);
        }
    }

    /// Every hunk that only adds, and files without hunks.
    fn rest(&mut self, files: &[File<'_>], max_bytes: usize, shown: &mut [bool]) {
        for (file, is_shown) in files.iter().zip(shown) {
            let mut adding = file.diff.hunks.iter().filter(|hunk| removed(hunk) == 0);
            let Some(first) = adding.next() else {
                if !*is_shown && file.losing().is_empty() && self.text.len() < max_bytes {
                    self.text.push_str(&file.diff.head);
                    *is_shown = true;
                }
                continue;
            };
            let fits = |writer: &Writer| writer.text.len() + MIN_LINE_BYTES < max_bytes;
            if fits(self) {
                self.text.push_str(&file.diff.head);
                *is_shown = true;
            }
            for hunk in std::iter::once(first).chain(adding) {
                match fits(self) && *is_shown {
                    true => {
                        let left = max_bytes - self.text.len();
                        self.hunk(file, hunk, left, left);
                    }
                    false => self.miss(hunk),
                }
            }
            if *is_shown {
                self.summarised(file);
            }
        }
    }

    /// A hunk of so many bytes, and lines that are not removed of so many bytes in a row.
    fn hunk(&mut self, file: &File<'_>, hunk: &DiffHunk<'_>, most: usize, beside: usize) {
        let _ = writeln!(self.text, "{}", hunk.header);
        let end = self.text.len().saturating_add(most);
        for (sign, text) in &hunk.parts {
            let left = end.saturating_sub(self.text.len());
            let most = match sign {
                '-' => left,
                _ => left.min(beside),
            };
            self.part(file, *sign, text, most);
        }
    }

    fn part(&mut self, file: &File<'_>, sign: char, text: &str, most: usize) {
        let end = self.text.len().saturating_add(most);
        let mut rest = text;
        while let Some(line) = rest.split_inclusive('\n').next() {
            let left = end.saturating_sub(self.text.len());
            let shown = match file.has_mixed_ends {
                true => visible_with_line_ends(line),
                false => visible(line),
            };
            if shown.len() <= left {
                self.text.push(sign);
                self.text.push_str(&shown);
                if !line.ends_with('\n') {
                    self.text.push_str("\n\\ No newline at end of file\n");
                }
            } else if left >= MIN_LINE_BYTES {
                // A long line leaves room for those after it.
                let kept = shown.floor_char_boundary(left / 2);
                let missing = shown.len() - kept;
                let _ = writeln!(
                    self.text,
                    "{sign}{}… ({missing} bytes of this line are not shown)",
                    &shown[..kept]
                );
                self.missing(sign).bytes += missing;
            } else {
                break;
            }
            rest = &rest[line.len()..];
        }
        if !rest.is_empty() {
            let lines = rest.split_inclusive('\n').count();
            let _ = writeln!(
                self.text,
                "… {lines} {} lines ({} bytes) are not shown",
                kind(sign),
                rest.len()
            );
            self.missing(sign).add(rest);
        }
    }

    fn missing(&mut self, sign: char) -> &mut Missing {
        match sign {
            '-' => &mut self.removed,
            _ => &mut self.added,
        }
    }

    fn miss(&mut self, hunk: &DiffHunk<'_>) {
        for (sign, text) in hunk.parts.iter().filter(|(sign, _)| *sign != ' ') {
            self.missing(*sign).add(text);
        }
    }

    fn summarised(&mut self, file: &File<'_>) {
        if file.diff.is_summarised {
            let _ = writeln!(self.text, "{SUMMARISED}");
        }
    }

    /// States what is missing.
    fn end(mut self, changes: &[(&StagedChange, u64)], shown: &[bool], mark: &str) -> ShownDiff {
        let _ = writeln!(
            self.text,
            "{mark}{} removed lines ({} bytes) and {} other lines ({} bytes) are missing",
            self.removed.lines, self.removed.bytes, self.added.lines, self.added.bytes
        );
        let hidden = || {
            changes
                .iter()
                .zip(shown)
                .filter(|(_, is_shown)| !**is_shown)
        };
        let count = hidden().count();
        if count > 0 {
            let _ = writeln!(self.text, "… nothing is shown of {count} files:");
            for (change, _) in hidden().take(MAX_LISTED) {
                let _ = writeln!(self.text, "… {}", change_line(change));
            }
        }
        ShownDiff {
            text: self.text,
            is_cut: true,
        }
    }
}

/// The word for a kind of lines, as [`skipped`] reads it.
fn kind(sign: char) -> &'static str {
    match sign {
        '-' => "removed",
        '+' => "added",
        _ => "unchanged",
    }
}

/// How many lines of the old and the new text a line stands for that states what is left out of a hunk.
pub(crate) fn skipped(line: &str) -> Option<(u64, u64)> {
    let mut words = line.strip_prefix("… ")?.split(' ');
    let count = words.next()?.parse().ok()?;
    match words.next()? {
        "removed" => Some((count, 0)),
        "added" => Some((0, count)),
        "unchanged" => Some((count, count)),
        _ => None,
    }
}
